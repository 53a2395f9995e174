import { writeFileSync } from 'node:fs';
import test from 'ava';
import { verifyFiles } from '../../../commands/verify.ts';
import { signFile } from '../../../crypto/engine.ts';
import { certificatePem } from '../../../crypto/keys/pem.ts';
import type { SignatureFormat, XadesForm } from '../../../crypto/types.ts';
import { validateFile } from '../../../crypto/validation/validate.ts';
import { pki } from '../../pki/pki.ts';
import { bytes, file } from '../cades/room.ts';
import { classicPdf, documentObjects } from '../pdf/build.ts';

const XML = Buffer.from('<order><item n="1">barrels</item></order>');

function signed(format: SignatureFormat, input: string, xades: XadesForm = {}): string {
  const output = file();
  signFile({ format, input, output, signer: pki().signer('p-256'), at: Date.now(), xades });
  return output;
}

/** What `sealwright verify --content` says. */
async function said(
  format: SignatureFormat,
  path: string,
  content: string | undefined,
): Promise<{ readonly code: number; readonly text: string }> {
  const root = file();
  writeFileSync(root, certificatePem(pki().root.certificate));
  let text = '';
  const out = (part: string) => {
    text += part;
  };
  const code = await verifyFiles(
    [path],
    validateFile,
    {
      ...{ json: false, format, trust: [root], intermediates: [], content, chain: true },
      ...{ revocation: 'none' as const, at: Date.now() },
    },
    { out, err: out, colors: false },
  );
  return { code, text };
}

test('a content named beside a file that holds what it signs is refused with the reason, whatever the content', async (t) => {
  const pdf = file(classicPdf(documentObjects()));
  const xml = file(XML);
  const files = [
    ['Pades', signed('Pades', pdf), pdf],
    ['Xades', signed('Xades', xml), xml],
    ['Xades', signed('Xades', xml, { packaging: 'enveloping' }), xml],
  ] as const;
  for (const [format, path, content] of files) {
    t.is((await said(format, path, undefined)).code, 0);
    const { code, text } = await said(format, path, content);
    t.is(code, 1);
    t.regex(text, /the content given beside it plays no part/);
  }
});

test('the content of a detached signature is taken, and that inside a CMS signature compared', async (t) => {
  const xml = file(XML);
  const detached = signed('Xades', xml, { packaging: 'detached', uri: 'order.xml' });
  t.is((await said('Xades', detached, xml)).code, 0);
  t.is((await said('Xades', detached, file(bytes(10)))).code, 1);
  const content = file(bytes(100));
  const enveloping = signed('Cades', content);
  t.is((await said('Cades', enveloping, content)).code, 0);
  t.regex((await said('Cades', enveloping, xml)).text, /holds other content than the given one/);
});
