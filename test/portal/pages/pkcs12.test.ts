import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import test from 'ava';
import { type Forge, openPkcs12 } from '../../../http/portal/pages/client/pkcs12.ts';
import { certificateFile, type FileShape } from '../../browser/certificate-files.ts';
import { requireTool } from '../../verifiers/index.ts';

/** The very file that browsers get; it was written for pages. */
Object.assign(globalThis, { window: globalThis });
const forge = createRequire(import.meta.url)('node-forge/dist/forge.min.js') as Forge;

const OLD = ['-keypbe', 'PBE-SHA1-3DES', '-certpbe', 'PBE-SHA1-3DES', '-macalg', 'sha1'];
const SHAPES: readonly (Omit<FileShape, 'name'> & { readonly what: string })[] = [
  { what: 'RSA, as programs write it today', kind: 'rsa-2048', password: 'a password' },
  { what: 'RSA, as programs wrote it for twenty years', kind: 'rsa-3072', password: 'old', options: OLD },
  { what: 'P-256', kind: 'p-256', password: 'pässwörd' },
  { what: 'P-384, in the old way', kind: 'p-384', password: 'x', options: OLD },
  { what: 'P-521', kind: 'p-521', password: 'x' },
  { what: 'a file without a password', kind: 'p-256', password: '' },
  {
    what: 'SHA-512 and many rounds',
    kind: 'p-256',
    password: 'x',
    options: ['-macalg', 'sha512', '-iter', '10000'],
  },
];

for (const { what, ...shape } of SHAPES) {
  test(`the page opens a certificate file: ${what}`, (t) => {
    if (!requireTool(t, 'openssl')) return;
    const { path, privateKey } = certificateFile({ ...shape, name: 'Zoë 中 Müller' });
    const opened = openPkcs12(forge, readFileSync(path, 'latin1'), shape.password);
    t.is(opened.holder, 'Zoë 中 Müller');
    const certificate = new X509Certificate(Buffer.from(opened.certificate, 'latin1'));
    t.true(certificate.checkPrivateKey(privateKey), 'the certificate is not that of the key');
    const key = createPrivateKey({
      key: Buffer.from(opened.privateKey, 'latin1'),
      format: 'der',
      type: 'pkcs8',
    });
    t.true(key.equals(privateKey));
    t.is(opened.curve === undefined, shape.kind.startsWith('rsa'));
  });
}

test('a certificate file with a wrong password, without a key, or of another kind is told apart', (t) => {
  if (!requireTool(t, 'openssl')) return;
  const { path } = certificateFile({ kind: 'p-256', password: 'right', name: 'Ana' });
  const bytes = readFileSync(path, 'latin1');
  const trouble = (given: string, password: string) =>
    t.throws(() => openPkcs12(forge, given, password))?.message;
  t.is(trouble(bytes, 'wrong'), 'password-wrong');
  t.is(trouble(bytes, ''), 'password-wrong');
  t.is(trouble('not a file of that kind', 'right'), 'file-unreadable');
  t.is(trouble('', 'right'), 'file-unreadable');
  t.is(trouble(bytes.slice(0, 200), 'right'), 'file-unreadable');
  const keyless = certificateFile({ kind: 'p-256', password: 'right', name: 'Ana', options: ['-nokeys'] });
  t.is(trouble(readFileSync(keyless.path, 'latin1'), 'right'), 'key-missing');
});
