import { readFileSync } from 'node:fs';
import ava from 'ava';
import { certificateFile, type FileShape } from '../../browser/certificate-files.ts';
import { withPbmac1 } from '../../crypto/keys/pbmac1.ts';
import { withTools } from '../../verifiers/index.ts';
import { flaws, open } from './opened-file.ts';

const test = withTools(ava, 'openssl');

const OLD = ['-keypbe', 'PBE-SHA1-3DES', '-certpbe', 'PBE-SHA1-3DES', '-macalg', 'sha1'];
const SHAPES: readonly (Omit<FileShape, 'name'> & { readonly what: string })[] = [
  { what: 'RSA, as programs write it today', kind: 'rsa-2048', password: 'a password' },
  { what: 'RSA, as programs wrote it for twenty years', kind: 'rsa-3072', password: 'old', options: OLD },
  {
    what: 'RC2 with 40 and triple DES with 112 bits',
    kind: 'rsa-2048',
    password: 'pässwörd 中',
    options: ['-legacy', '-keypbe', 'PBE-SHA1-2DES', '-certpbe', 'PBE-SHA1-RC2-40', '-macalg', 'sha1'],
  },
  {
    what: 'RC2 with 128 bits',
    kind: 'p-256',
    password: 'x',
    options: ['-legacy', '-keypbe', 'PBE-SHA1-RC2-128', '-certpbe', 'PBE-SHA1-RC2-128'],
  },
  { what: 'P-256', kind: 'p-256', password: 'pässwörd' },
  { what: 'P-384, in the old way', kind: 'p-384', password: 'x', options: OLD },
  { what: 'P-521', kind: 'p-521', password: 'x' },
  { what: 'Ed25519', kind: 'ed25519', password: 'x' },
  { what: 'a file without a password', kind: 'p-256', password: '' },
  {
    what: 'SHA-512 and half a million rounds',
    kind: 'p-256',
    password: 'x',
    options: ['-macalg', 'sha512', '-iter', '500000'],
  },
  {
    what: 'AES with 128 and 192 bits, and SHA-384',
    kind: 'p-256',
    password: 'x',
    options: ['-keypbe', 'AES-128-CBC', '-certpbe', 'AES-192-CBC', '-macalg', 'sha384'],
  },
  {
    what: 'certificates that are not encrypted',
    kind: 'p-256',
    password: 'x',
    options: ['-keypbe', 'DES-EDE3-CBC', '-certpbe', 'NONE'],
  },
];

for (const { what, ...shape } of SHAPES) {
  test(`the page opens a certificate file: ${what}`, async (t) => {
    const made = certificateFile({ ...shape, name: 'Zoë 中 Müller' });
    const opened = await open(readFileSync(made.path), shape.password);
    t.is(opened.holder, 'Zoë 中 Müller');
    t.deepEqual(flaws(opened, made), []);
    t.is(opened.curve === undefined, !shape.kind.startsWith('p-'));
  });
}

test('the page opens files with a PBMAC1 integrity value and reports a wrong password for them', async (t) => {
  const made = certificateFile({ kind: 'p-256', password: 'secret', name: 'Ana' });
  const plain = readFileSync(made.path);
  for (const [hash, length] of [
    ['sha256', 32],
    ['sha512', 64],
  ] as const) {
    const bytes = withPbmac1(plain, 'secret', hash, length);
    t.deepEqual(flaws(await open(bytes, 'secret'), made), [], hash);
    t.is(await troubleOf(bytes, 'Secret'), 'password-wrong');
    t.is(await troubleOf(withPbmac1(plain, 'other', hash, length), 'secret'), 'file-damaged');
  }
});

test('a wrong password, a damaged file, another file type, a missing key and unsupported encryption have errors of their own', async (t) => {
  const bytes = readFileSync(certificateFile({ kind: 'p-256', password: 'right', name: 'Ana' }).path);
  t.is(await troubleOf(bytes, 'wrong'), 'password-wrong');
  t.is(await troubleOf(bytes, ''), 'password-wrong');
  t.is(await troubleOf(Buffer.from('not a file of that kind'), 'right'), 'file-unreadable');
  t.is(await troubleOf(Buffer.alloc(0), 'right'), 'file-unreadable');
  t.is(await troubleOf(bytes.subarray(0, 200), 'right'), 'file-damaged');
  const bent = Buffer.from(bytes);
  // Inside the encrypted certificates, which come first; the key after them still decrypts.
  bent[400] = (bent[400] ?? 0) ^ 1;
  t.is(await troubleOf(bent, 'right'), 'file-damaged');
  const other = (...options: readonly string[]) =>
    readFileSync(certificateFile({ kind: 'p-256', password: 'right', name: 'Ana', options }).path);
  t.is(await troubleOf(other('-nokeys'), 'right'), 'key-missing');
  t.is(await troubleOf(other('-keypbe', 'CAMELLIA-256-CBC'), 'right'), 'file-unsupported');
});

async function troubleOf(bytes: Buffer, password: string): Promise<string> {
  return open(bytes, password).then(
    () => 'opened',
    (error: Error) => error.message,
  );
}
