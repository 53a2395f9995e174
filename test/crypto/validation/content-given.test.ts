import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { verifyFiles } from '@sealwright/signatures/command-line';
import test from 'ava';
import type { SignatureFormat, XadesFormat } from '#crypto/core/types.js';
import { signFile } from '#crypto/files/sign-file.js';
import { validateFile } from '#crypto/files/validate-file.js';
import { certificatePem } from '#crypto/x509/certificate.js';
import { pki } from '../../pki/pki.ts';
import { bytes, file } from '../cades/cades-harness.ts';
import { classicPdf, documentObjects } from '../pdf/build.ts';
import { forge } from '../xades/forging.ts';

const XML = Buffer.from('<order><item n="1">barrels</item></order>');

function signed(format: SignatureFormat, input: string, xades: XadesFormat = {}): string {
  const output = file();
  signFile({ format, input, output, signer: pki().signer('p-256'), at: Date.now(), xades });
  return output;
}

/** Returns the output of `sealwright verify --content`. */
async function said(
  format: SignatureFormat,
  path: string,
  content: string | readonly string[] | undefined,
): Promise<{ readonly code: number; readonly text: string }> {
  const root = file();
  writeFileSync(root, certificatePem(pki().root.certificate));
  const contents = typeof content === 'string' ? [content] : content;
  let text = '';
  const out = (part: string) => {
    text += part;
  };
  const code = await verifyFiles(
    [path],
    {
      json: false,
      format,
      trust: [root],
      intermediates: [],
      content: contents,
      chain: true,
      revocation: 'none' as const,
      at: Date.now(),
    },
    { out, err: out, colors: false },
    { validate: validateFile },
  );
  return { code, text };
}

test('content supplied beside a file that embeds its content is refused with the reason', async (t) => {
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

test('the content of a detached signature is used, and compared with embedded content in CMS', async (t) => {
  const xml = file(XML);
  const detached = signed('Xades', xml, { packaging: 'detached', uri: 'order.xml' });
  t.is((await said('Xades', detached, xml)).code, 0);
  t.is((await said('Xades', detached, file(bytes(10)))).code, 1);
  const content = file(bytes(100));
  const enveloping = signed('Cades', content);
  t.is((await said('Cades', enveloping, content)).code, 0);
  t.regex((await said('Cades', enveloping, xml)).text, /holds other content than the given one/);
});

test('each of several contents is matched by name in XML and by digest in CMS, and an extra one is refused', async (t) => {
  const names = ['first.txt', 'second.txt'];
  const folder = dirname(file(''));
  const contents = names.map((name, index) => {
    const path = join(folder, name);
    writeFileSync(path, `content ${index}`);
    return path;
  });
  const other = file('another');
  const references = names.map((uri, index) => ({ uri, transforms: '', data: `content ${index}` }));
  const xml = file(forge({ references }));
  t.is((await said('Xades', xml, contents)).code, 0);
  t.is((await said('Xades', xml, contents.toReversed())).code, 0);
  t.is((await said('Xades', xml, contents.slice(0, 1))).code, 1);
  t.regex((await said('Xades', xml, [...contents, other])).text, /No signature is over 1 of the files/);
  writeFileSync(contents[1] ?? '', 'changed');
  t.is((await said('Xades', xml, contents)).code, 1);

  const cms = file();
  const input = contents[0] ?? '';
  const cades = { detached: true };
  signFile({ format: 'Cades', input, output: cms, signer: pki().signer('p-256'), at: Date.now(), cades });
  t.is((await said('Cades', cms, input)).code, 0);
  const two = await said('Cades', cms, [other, input]);
  t.is(two.code, 1);
  t.regex(two.text, /No signature is over 1 of the files/);
  t.notRegex(two.text, /another digest/);
});
