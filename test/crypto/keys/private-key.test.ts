import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { octetString, oid, sequence, unsigned } from '#crypto/asn1/write.js';
import { readPrivateKey } from '#crypto/keys/load.js';
import { keyPemOf, pki } from '../../pki/pki.ts';
import { runTool, withTools } from '../../verifiers/index.ts';

const toolTest = withTools(test, 'openssl');

const folder = mkdtempSync(join(tmpdir(), 'sealwright-private-key-'));
test.after.always(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;

/** The key as the openssl program writes it. */
async function written(command: string, plain: string, ...options: readonly string[]): Promise<string> {
  const input = join(folder, `key-${++files}.pem`);
  writeFileSync(input, plain);
  const output = `${input}.out`;
  const all = [command, '-in', input, '-out', output, '-passout', 'pass:öpen', ...options];
  const { exit, stderr } = await runTool('openssl', all);
  if (exit !== 0) throw new Error(`openssl ${all.join(' ')}: ${stderr}`);
  return readFileSync(output, 'latin1');
}

async function codeOf(pem: string, password?: string): Promise<string> {
  try {
    await readPrivateKey(pem, password);
    return 'read';
  } catch (error) {
    return (error as { code: string }).code;
  }
}

const LEGACY = ['-provider', 'legacy', '-provider', 'default'];

/** Ciphers, hashes and key derivations that openssl writes into encrypted PKCS#8 and that are in use. */
const WAYS: readonly (readonly string[])[] = [
  ['-v2', 'aes-128-cbc'],
  ['-v2', 'aes-192-cbc'],
  ['-v2', 'aes-256-cbc'],
  ['-v2', 'aes-256-cbc', '-v2prf', 'hmacWithSHA1'],
  ['-v2', 'aes-256-cbc', '-v2prf', 'hmacWithSHA512', '-iter', '20000'],
  ['-v2', 'des3'],
  ['-v2', 'camellia-256-cbc'],
  ['-v2', 'aria-256-cbc'],
  ['-scrypt'],
  ['-v1', 'PBE-SHA1-3DES'],
  ['-v1', 'PBE-SHA1-RC2-128', ...LEGACY],
  ['-v1', 'PBE-SHA1-RC2-40', ...LEGACY],
];

toolTest(
  'encrypted PKCS#8 opens in every common cipher with its password, and a wrong password has its own code',
  async (t) => {
    for (const [index, way] of WAYS.entries()) {
      const key = pki().signer(index % 2 === 0 ? 'p-256' : 'rsa-2048').key.keyObject;
      const pem = await written('pkcs8', keyPemOf(key), '-topk8', ...way, '-passout', 'pass:open');
      t.true((await readPrivateKey(pem, 'open')).equals(key), way.join(' '));
      t.is(await codeOf(pem, 'shut'), 'key.password', way.join(' '));
      t.is(await codeOf(pem), 'key.password');
    }
  },
);

toolTest('a password with letters outside ASCII decrypts the key that it encrypted', async (t) => {
  const key = pki().signer('p-256').key.keyObject;
  for (const way of [['-v2', 'aes-256-cbc'], ['-scrypt']]) {
    const pem = await written('pkcs8', keyPemOf(key), '-topk8', ...way);
    t.true((await readPrivateKey(pem, 'öpen')).equals(key));
    t.is(await codeOf(pem, 'open'), 'key.password');
  }
});

toolTest('the older forms of encrypted RSA and EC keys are opened', async (t) => {
  for (const [command, kind] of [
    ['rsa', 'rsa-2048'],
    ['ec', 'p-256'],
  ] as const) {
    const key = pki().signer(kind).key.keyObject;
    for (const cipher of ['-des3', '-aes128', '-aes256']) {
      const options = command === 'rsa' ? ['-traditional', cipher] : [cipher];
      const pem = await written(command, keyPemOf(key), ...options);
      t.regex(pem, /Proc-Type: 4,ENCRYPTED/);
      t.true((await readPrivateKey(pem, 'öpen')).equals(key));
      t.is(await codeOf(pem, 'open'), 'key.password');
    }
  }
});

toolTest('an obsolete encryption and a wrong password have different codes', async (t) => {
  const plain = keyPemOf(pki().signer('p-256').key.keyObject);
  for (const way of ['PBE-MD5-DES', 'PBE-SHA1-RC4-128']) {
    const pem = await written('pkcs8', plain, '-topk8', '-v1', way, ...LEGACY);
    t.is(await codeOf(pem, 'öpen'), 'key.unreadable', way);
  }
});

function number(value: number): Buffer {
  return unsigned(Buffer.from(value.toString(16).padStart(8, '0'), 'hex'));
}

/** Encrypted PKCS#8 with scrypt and nonsense inside. */
function scrypted(cost: number, blockSize: number, lanes: number): string {
  const derivation = sequence(
    oid('1.3.6.1.4.1.11591.4.11'),
    sequence(octetString(Buffer.alloc(8)), number(cost), number(blockSize), number(lanes)),
  );
  const cipher = sequence(oid('2.16.840.1.101.3.4.1.42'), octetString(Buffer.alloc(16)));
  const scheme = sequence(oid('1.2.840.113549.1.5.13'), sequence(derivation, cipher));
  const der = sequence(scheme, octetString(Buffer.alloc(32)));
  return `-----BEGIN ENCRYPTED PRIVATE KEY-----\n${der.toString('base64')}\n-----END ENCRYPTED PRIVATE KEY-----\n`;
}

test('scrypt with too much memory or time is refused, and a large permitted one is not', async (t) => {
  t.is(await codeOf(scrypted(1 << 28, 8, 1), 'x'), 'key.unreadable');
  t.is(await codeOf(scrypted(1 << 14, 8, 10_000), 'x'), 'key.unreadable');
  t.is(await codeOf(scrypted(12_345, 8, 1), 'x'), 'key.unreadable', 'no power of two');
  t.is(await codeOf(scrypted(1 << 17, 8, 1), 'x'), 'key.password');
});

test('an unencrypted key is read with and without a password', async (t) => {
  const { privateKey } = generateKeyPairSync('ed25519');
  t.true((await readPrivateKey(keyPemOf(privateKey), undefined)).equals(privateKey));
  t.true((await readPrivateKey(keyPemOf(privateKey), 'any')).equals(privateKey));
  t.is(await codeOf('-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n'), 'key.unreadable');
});

test('keys in DER of every form, and PEM after a byte order mark, are read', async (t) => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const options = { cipher: 'aes-256-cbc', passphrase: 'open' } as const;
  const forms = [
    privateKey.export({ type: 'pkcs8', format: 'der' }),
    privateKey.export({ type: 'sec1', format: 'der' }),
    privateKey.export({ type: 'pkcs8', format: 'der', ...options }),
    Buffer.concat([Buffer.from('efbbbf', 'hex'), Buffer.from(keyPemOf(privateKey))]),
  ];
  for (const form of forms)
    t.true((await readPrivateKey(form.toString('latin1'), 'open')).equals(privateKey));
  t.is(await codeOf(forms[2]?.toString('latin1') ?? '', 'wrong'), 'key.password');
  t.is(await codeOf(forms[0]?.subarray(0, -1).toString('latin1') ?? '', undefined), 'key.unreadable');
});
