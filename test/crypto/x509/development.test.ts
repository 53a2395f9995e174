import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ava from 'ava';
import { signCades } from '#crypto/cades/sign.js';
import { verifyCades } from '#crypto/cades/verify.js';
import { loadSigner } from '#crypto/keys/load.js';
import { certificatesIn } from '#crypto/x509/certificate.js';
import { makeDevelopmentCertificates } from '#crypto/x509/development.js';
import { opensslCms, runTool, withTools } from '../../verifiers/index.ts';

const test = withTools(ava, 'openssl');

const folder = mkdtempSync(join(tmpdir(), 'sealwright-development-'));
test.after.always(() => rmSync(folder, { recursive: true, force: true }));

const made = makeDevelopmentCertificates({ label: 'house', now: Date.now(), random: randomBytes });

async function stored() {
  const { caCertificate, certificate, key } = await made;
  const ca = join(folder, 'ca.crt');
  const certificatePath = join(folder, 'signer.crt');
  const keyPath = join(folder, 'signer.key');
  writeFileSync(ca, caCertificate);
  writeFileSync(certificatePath, certificate + caCertificate);
  writeFileSync(keyPath, key);
  return { ca, certificatePath, keyPath };
}

test('development certificates load, sign, and verify below their CA', async (t) => {
  const { ca, certificatePath, keyPath } = await stored();
  const signer = await loadSigner({ source: 'Pem', certificatePath, keyPath });
  const [anchor] = certificatesIn(Buffer.from((await made).caCertificate));
  t.deepEqual(signer.root, anchor);
  t.deepEqual(signer.chain, []);
  const input = join(folder, 'input.bin');
  const output = join(folder, 'output.bin');
  writeFileSync(input, 'content');
  signCades({ format: 'Cades', input, output, signer, at: Date.now() });
  const anchors = anchor === undefined ? [] : [anchor];
  const report = verifyCades({ format: 'Cades', path: output, at: Date.now(), anchors });
  t.true(report.ok, JSON.stringify(report.checks));
  t.true((await opensslCms({ signature: output, ca })).ok);
});

test('development certificates state their restrictions and have the usages they need', async (t) => {
  const { ca, certificatePath } = await stored();
  for (const path of [ca, certificatePath]) {
    const { stdout } = await runTool('openssl', ['x509', '-in', path, '-noout', '-subject']);
    t.regex(stdout, /house development .*NOT FOR PRODUCTION/);
  }
  const { stdout } = await runTool('openssl', ['x509', '-in', certificatePath, '-noout', '-text']);
  for (const line of [
    /Version: 3/,
    /Public-Key: \(2048 bit\)/,
    /Basic Constraints: critical\s+CA:FALSE/,
    /Key Usage: critical\s+Digital Signature, Non Repudiation\s/,
    /E-mail Protection/,
    /CRL Distribution Points/,
    /Subject Key Identifier/,
    /Authority Key Identifier/,
  ]) {
    t.regex(stdout, line);
  }
  const verdict = await runTool('openssl', [
    'verify',
    '-x509_strict',
    '-purpose',
    'smimesign',
    '-CAfile',
    ca,
    certificatePath,
  ]);
  t.is(verdict.exit, 0, verdict.stderr);
});
