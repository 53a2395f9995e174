import { createPublicKey, X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { loadSigner } from '#crypto/keys/load.js';
import type { LoadedSigner } from '#crypto/keys/loaded-signer.js';
import { certificatePem } from '#crypto/x509/certificate.js';
import { encodeCertificate, extensionsOfSigner } from '#crypto/x509/development.js';
import { DOCUMENT_SIGNING, encodeName, structureSigner } from '../../pki/issuing.ts';
import { keyPemOf, pki } from '../../pki/pki.ts';
import { runTool, withTools } from '../../verifiers/index.ts';

const toolTest = withTools(test, 'openssl');

const folder = mkdtempSync(join(tmpdir(), 'sealwright-warnings-'));
test.after.always(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;

function file(content: string): string {
  const path = join(folder, `file-${++files}`);
  writeFileSync(path, content);
  return path;
}

function load(
  certificates: readonly Buffer[],
  key = pki().signer('p-256').key.keyObject,
): Promise<LoadedSigner> {
  return loadSigner({
    source: 'Pem',
    certificatePath: file(certificates.map(certificatePem).join('')),
    keyPath: file(keyPemOf(key)),
  });
}

test('an incomplete chain causes a warning that names the certificate, and a complete one causes none', async (t) => {
  const { certificate } = pki().signer('p-256');
  const issuing = pki().issuing.certificate;
  const root = pki().root.certificate;
  t.deepEqual((await load([certificate, issuing, root])).warnings, []);

  const noRoot = await load([certificate, issuing]);
  t.is(noRoot.root, undefined);
  t.deepEqual(noRoot.chain, [issuing]);
  t.deepEqual(
    noRoot.warnings.map(({ code }) => code),
    ['chain.incomplete'],
  );
  t.regex(noRoot.warnings[0]?.text ?? '', /CN=Test Root"/);

  const alone = await load([certificate, root]);
  t.deepEqual(alone.chain, []);
  t.regex(alone.warnings[0]?.text ?? '', /CN=Test Issuing CA"/);
});

test('an issuer is found whose name is written as another type of string', async (t) => {
  const { issuing, root } = pki();
  const key = pki().signer('p-384').key.keyObject;
  const named = (commonName: string) =>
    encodeName({ country: 'XX', organization: 'Sealwright tests', commonName });
  // PrintableString in place of UTF8String.
  const issuer = Buffer.from(named(issuing.name).map((byte) => (byte === 0x0c ? 0x13 : byte)));
  const certificate = encodeCertificate(
    {
      subject: named('Signer'),
      issuer,
      publicKey: createPublicKey(key),
      serial: Buffer.from([1, 2, 3]),
      notBefore: Date.now() - 1_000,
      notAfter: Date.now() + 86_400_000,
      extensions: extensionsOfSigner(DOCUMENT_SIGNING),
    },
    structureSigner(issuing.key),
  );
  const loaded = await load([certificate, issuing.certificate, root.certificate], key);
  t.deepEqual(loaded.chain, [issuing.certificate]);
  t.deepEqual(loaded.root, root.certificate);
  t.deepEqual(loaded.warnings, []);
});

toolTest('a certificate signed with SHA-1 causes a warning, and one with SHA-256 causes none', async (t) => {
  const signer = pki().signer('rsa-2048');
  const issue = async (digest: string): Promise<Buffer> => {
    const request = file('');
    const out = file('');
    const key = file(keyPemOf(signer.key.keyObject));
    const made = await runTool('openssl', ['req', '-new', '-key', key, '-subj', '/CN=Old', '-out', request]);
    t.is(made.exit, 0, made.stderr);
    const ca = ['-CA', pki().rootFile, '-CAkey', file(keyPemOf(pki().root.key)), '-CAcreateserial'];
    const days = ['-days', '9', '-CAserial', file('01')];
    const signed = await runTool('openssl', [
      'x509',
      '-req',
      '-in',
      request,
      '-out',
      out,
      digest,
      ...ca.slice(0, 4),
      ...days,
    ]);
    t.is(signed.exit, 0, signed.stderr);
    return new X509Certificate(readFileSync(out)).raw;
  };
  const root = pki().root.certificate;
  const old = await load([await issue('-sha1'), root], signer.key.keyObject);
  t.deepEqual(
    old.warnings.map(({ code }) => code),
    ['certificate.weak-digest'],
  );
  t.regex(old.warnings[0]?.text ?? '', /CN=Old.*SHA-1/);
  t.deepEqual((await load([await issue('-sha256'), root], signer.key.keyObject)).warnings, []);
});
