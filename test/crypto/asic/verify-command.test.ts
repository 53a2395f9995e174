import { writeFileSync } from 'node:fs';
import { formatOf, verifyFiles } from '@sealwright/signatures/command-line';
import test from 'ava';
import { validateFile } from '#crypto/files/validate-file.js';
import { certificatePem } from '#crypto/x509/certificate.js';
import { authority, file, made, NOW, remade } from './container-harness.ts';

/** Returns the output of `sealwright verify` for these files, and its exit code. */
async function printed(
  files: readonly string[],
  more: { readonly json?: boolean } = {},
): Promise<{ readonly code: number; readonly text: string }> {
  const { pki } = await authority();
  const root = file(undefined, 'pem');
  writeFileSync(root, certificatePem(pki.root.certificate));
  let text = '';
  const terminal = {
    out: (part: string) => (text += part),
    err: (part: string) => (text += part),
    colors: false,
  };
  const options = {
    json: false,
    format: undefined,
    trust: [root],
    intermediates: [],
    content: undefined,
    chain: true,
    revocation: 'soft' as const,
    at: NOW + 3_600_000,
    ...more,
  };
  const code = await verifyFiles(files, options, terminal, { validate: validateFile });
  return { code, text };
}

test('verify reports on a container of any name, and lists the files that each signature covers', async (t) => {
  const path = await made('E', 'Cades');
  const { code, text } = await printed([path, remade(path, (members) => members), await made('S', 'Xades')]);
  t.is(code, 0, text);
  t.regex(text, /Asic, 1 signature {2}TOTAL-PASSED/);
  t.regex(text, /covers +report & more\.txt, bestellungen\/größe\.xml/);
  const json = await printed([path], { json: true });
  const { files } = JSON.parse(json.text) as { files: { format: string; report: { format: string } }[] };
  t.deepEqual(
    files.map(({ format, report }) => [format, report.format]),
    [['Asic', 'Asic']],
  );
});

test('verify fails for a container with an unsigned file, and names the file', async (t) => {
  const path = remade(await made('E', 'Xades'), (members) => [
    ...members,
    { name: 'annex.txt', bytes: Buffer.from('And my house.\n') },
  ]);
  const { code, text } = await printed([path]);
  t.is(code, 1);
  t.regex(text, /^BAD /);
  t.regex(text, /No signature is over some of the files\. +annex\.txt/);
});

test('a file counts as a container by its extension', (t) => {
  const names = ['a.asics', 'b.ASICE', 'c.sce', 'd.scs', 'e.bdoc', 'f.zip', 'g.xml'];
  t.deepEqual(names.map(formatOf), ['Asic', 'Asic', 'Asic', 'Asic', 'Asic', 'Cades', 'Xades']);
});
