/** Containers as three makers of software write them: openssl (in load.test.ts too), NSS and Java. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { loadSigner } from '#crypto/keys/load.js';
import { certificatePem } from '#crypto/x509/certificate.js';
import { keyPemOf, pki, type TestSigner } from '../../pki/pki.ts';
import { runTool, type ToolName, withTools } from '../../verifiers/index.ts';
import { withPbmac1 } from './pbmac1.ts';
import { thumbprint } from './softhsm.ts';

const toolTest = withTools(test, 'openssl', 'certutil', 'pk12util');

const folder = mkdtempSync(join(tmpdir(), 'sealwright-pfx-'));
test.after.always(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;

function fresh(extension = ''): string {
  return join(folder, `file-${++files}${extension}`);
}

function file(content: string): string {
  const path = fresh();
  writeFileSync(path, content);
  return path;
}

async function must(tool: ToolName, ...args: readonly string[]): Promise<void> {
  const { exit, stdout, stderr } = await runTool(tool, args);
  if (exit !== 0) throw new Error(`${tool} ${args.join(' ')}: ${stdout}\n${stderr}`);
}

/** With all of the chain, made by openssl; what the other programs take in. */
async function container(signer: TestSigner, name: string, ...options: readonly string[]): Promise<string> {
  const out = fresh('.p12');
  const chain = [...signer.chain, pki().root.certificate].map(certificatePem).join('');
  const inputs = [
    ['-inkey', file(keyPemOf(signer.key.keyObject))],
    ['-in', file(certificatePem(signer.certificate))],
    ['-certfile', file(chain)],
  ].flat();
  const output = ['-name', name, '-passout', 'pass:secret', '-out', out];
  await must('openssl', 'pkcs12', '-export', ...inputs, ...output, ...options);
  return out;
}

/** Opens the container and gives what is amiss with what is found. */
async function flaws(path: string, signer: TestSigner): Promise<string[]> {
  const found: string[] = [];
  const loaded = await loadSigner({
    source: 'Pfx',
    path,
    password: 'secret',
    thumbprint: thumbprint(signer),
  });
  const { key } = loaded;
  if (key.where !== 'memory' || !key.keyObject.equals(signer.key.keyObject)) found.push('another key');
  if (!loaded.certificate.equals(signer.certificate)) found.push('another certificate');
  if (!loaded.root?.equals(pki().root.certificate)) found.push('no root');
  if (loaded.chain.length !== signer.chain.length) found.push('no chain');
  return found;
}

async function codeOf(path: string, password: string, named?: string): Promise<string> {
  try {
    await loadSigner({ source: 'Pfx', path, password, ...(named && { thumbprint: named }) });
    return 'loaded';
  } catch (error) {
    return (error as { code: string }).code;
  }
}

toolTest('containers of NSS are opened, with old and new ciphers', async (t) => {
  const signer = pki().signer('p-256');
  const database = fresh();
  mkdirSync(database);
  const at = ['-d', `sql:${database}`];
  await must('certutil', '-N', ...at, '--empty-password');
  await must('pk12util', '-i', await container(signer, 'signer'), ...at, '-W', 'secret', '-K', '');
  // Few ways only: NSS wants 600,000 rounds of each derivation.
  for (const way of [[], ['-c', 'AES-256-CBC', '-C', 'PKCS #12 V2 PBE With SHA-1 And 40 Bit RC2 CBC']]) {
    const out = fresh('.p12');
    await must('pk12util', '-o', out, '-n', 'signer', ...at, '-W', 'secret', '-K', '', ...way);
    t.deepEqual(await flaws(out, signer), [], way.join(' '));
  }
});

withTools(
  test,
  'openssl',
  'keytool',
)('key stores of Java are opened in both formats, and several keys are distinguished', async (t) => {
  const signers = [pki().signer('rsa-2048'), pki().signer('p-256')] as const;
  const addTo = async (store: string, signer: TestSigner, ...way: readonly string[]): Promise<void> => {
    const from = await container(signer, thumbprint(signer));
    const source = ['-srckeystore', from, '-srcstorepass', 'secret'];
    const target = ['-destkeystore', store, '-deststorepass', 'secret', '-deststoretype', 'PKCS12'];
    await must('keytool', ...way, '-importkeystore', '-noprompt', ...source, ...target);
  };
  const store = fresh('.p12');
  for (const signer of signers) await addTo(store, signer);
  for (const signer of signers) t.deepEqual(await flaws(store, signer), []);
  t.is(await codeOf(store, 'other'), 'key.password');
  t.is(await codeOf(store, 'secret'), 'key.ambiguous');
  t.is(await codeOf(store, 'secret', 'AB'.repeat(20)), 'key.not-found');

  const old = fresh('.p12');
  await addTo(old, signers[0], '-J-Dkeystore.pkcs12.legacy');
  t.deepEqual(await flaws(old, signers[0]), []);
});

toolTest(
  'containers of openssl are opened with every pair of ciphers and every integrity hash',
  async (t) => {
    const signer = pki().signer('p-256');
    const ways = [
      ['-legacy', '-descert'],
      ['-legacy', '-keypbe', 'PBE-SHA1-RC2-128', '-certpbe', 'PBE-SHA1-RC2-128'],
      ['-legacy', '-keypbe', 'PBE-SHA1-2DES', '-certpbe', 'PBE-SHA1-RC2-40'],
      ['-keypbe', 'AES-192-CBC', '-certpbe', 'AES-256-CBC', '-macalg', 'SHA384'],
      ['-keypbe', 'CAMELLIA-192-CBC', '-certpbe', 'DES-EDE3-CBC', '-macalg', 'SHA224'],
      ['-keypbe', 'AES-256-CBC', '-certpbe', 'NONE', '-iter', '100000'],
    ];
    for (const way of ways)
      t.deepEqual(await flaws(await container(signer, 'x', ...way), signer), [], way.join(' '));
  },
);

toolTest('a container whose integrity value is PBMAC1 opens with its password alone', async (t) => {
  const signer = pki().signer('p-256');
  const plain = readFileSync(await container(signer, 'x'));
  for (const [hash, keyLength] of [
    ['sha256', 32],
    ['sha512', 64],
  ] as const) {
    const path = fresh();
    writeFileSync(path, withPbmac1(plain, 'secret', hash, keyLength));
    t.deepEqual(await flaws(path, signer), [], hash);
    writeFileSync(path, withPbmac1(plain, 'other', hash, keyLength));
    t.is(await codeOf(path, 'secret'), 'key.password', 'the integrity value decides');
  }
  const path = fresh();
  writeFileSync(path, withPbmac1(plain, 'secret', 'sha256'));
  t.is(await codeOf(path, 'secret'), 'key.unreadable', 'RFC 9579 wants the length of the key to be there');
});
