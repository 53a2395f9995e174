import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { CryptoError, DigestName } from '#crypto/core/types.js';
import { encodeTimestampRequest, readTimestampResponse } from '#crypto/evidence/timestamp-authority.js';
import { checkToken } from '#crypto/evidence/timestamp-checks.js';
import { imprintOf, readTimestampToken } from '#crypto/evidence/timestamp-reader.js';
import { certificatePem } from '#crypto/x509/certificate.js';
import { type Fault, startAuthority, type TestAuthority } from '../../pki/authority.ts';
import { keyPemOf } from '../../pki/pki.ts';
import { runTool, withTools } from '../../verifiers/index.ts';

const toolTest = withTools(test, 'openssl');

const authority = await startAuthority();
test.after.always(() => authority.close());

const CONTENT = Buffer.from('what was there before');

function imprint(digest: DigestName): Buffer {
  return createHash(digest).update(CONTENT).digest();
}

async function opensslTs(t: ExecutionContext, token: Buffer, content: Buffer, by: TestAuthority) {
  const name = randomBytes(6).toString('hex');
  const paths = { token: join(by.pki.folder, `${name}.tst`), content: join(by.pki.folder, `${name}.bin`) };
  writeFileSync(paths.token, token);
  writeFileSync(paths.content, content);
  const run = await runTool('openssl', [
    'ts',
    '-verify',
    '-token_in',
    '-in',
    paths.token,
    '-data',
    paths.content,
    '-CAfile',
    by.pki.rootFile,
    '-untrusted',
    by.pki.stampingFile,
  ]);
  t.log(run.stdout.trim());
  return run.exit === 0 && run.stdout.includes('Verification: OK');
}

toolTest('openssl accepts a time-stamp for every digest, and refuses it over other content', async (t) => {
  for (const digest of ['sha256', 'sha384', 'sha512'] as const) {
    const token = await authority.services.timestamps.stamp(imprint(digest), digest);
    const findings = checkToken(readTimestampToken(token), imprintOf(CONTENT));
    t.deepEqual(
      findings.filter(({ status }) => status !== 'passed'),
      [],
    );
    t.is(findings.length, 7);
    const other = checkToken(readTimestampToken(token), imprintOf(CONTENT, Buffer.from('.')));
    t.deepEqual(
      other.filter(({ status }) => status === 'failed').map(({ type }) => type),
      ['timestamp.imprint'],
    );
    t.true(await opensslTs(t, token, CONTENT, authority));
    t.false(await opensslTs(t, token, Buffer.from('something else'), authority));
  }
});

const OPENSSL_CONFIG = `
[tsa]
default_tsa=t
[t]
serial=FOLDER/serial
crypto_device=builtin
signer_digest=sha256
default_policy=1.2.3.4.1
digests=sha256,sha384,sha512
ess_cert_id_alg=DIGEST
ordering=no
tsa_name=yes
accuracy=secs:1,millisecs:500
clock_precision_digits=3
`;

for (const ess of ['sha1', 'sha256'] as const) {
  toolTest(`a time-stamp by openssl, its signer named by ${ess}, passes every check`, async (t) => {
    const folder = mkdtempSync(join(authority.pki.folder, 'openssl-'));
    const file = (name: string, content: string | Buffer) => {
      const path = join(folder, name);
      writeFileSync(path, content);
      return path;
    };
    const { key, certificate } = authority.pki.timestampSigner;
    const config = OPENSSL_CONFIG.replace('FOLDER', folder).replace('DIGEST', ess);
    file('serial', '01');
    const query = file('query', encodeTimestampRequest(imprint('sha256'), 'sha256', randomBytes(8)));
    const made = await runTool('openssl', [
      'ts',
      '-reply',
      '-config',
      file('ts.cnf', config),
      '-queryfile',
      query,
      '-inkey',
      file('key.pem', keyPemOf(key)),
      '-signer',
      file('crt.pem', certificatePem(certificate)),
      '-out',
      join(folder, 'reply'),
    ]);
    t.is(made.exit, 0, made.stderr);
    const { status, token } = readTimestampResponse(readFileSync(join(folder, 'reply')));
    t.is(status, 0);
    const read = readTimestampToken(token ?? Buffer.alloc(0));
    t.deepEqual(
      checkToken(read, imprintOf(CONTENT)).filter((finding) => finding.status !== 'passed'),
      [],
    );
    t.true(Math.abs(read.genTime - Date.now()) < 60_000);
    const [first] = checkToken(read, imprintOf(Buffer.from('other')));
    t.is(first?.status, 'failed');
  });
}

async function failure(fault: Fault): Promise<CryptoError | undefined> {
  const broken = await startAuthority();
  try {
    broken.break('timestamp', fault);
    const { timestamps } = broken.freshServices(fault === 'slow' ? { timeoutMs: 100 } : {});
    await timestamps.stamp(imprint('sha256'), 'sha256');
    return undefined;
  } catch (error) {
    return error as CryptoError;
  } finally {
    await broken.close();
  }
}

const FAULTS: readonly (readonly [Fault, CryptoError['code'], RegExp])[] = [
  ['slow', 'authority.unreachable', /no answer within 100 milliseconds/],
  ['down', 'authority.unreachable', /can't be reached/],
  ['busy', 'authority.unreachable', /HTTP status 503/],
  ['timed-out', 'authority.unreachable', /HTTP status 408/],
  ['missing', 'authority.refused', /HTTP status 404/],
  ['oversize', 'authority.refused', /more than \d+ bytes/],
  ['garbage', 'authority.refused', /answered with something else/],
  ['rejected', 'authority.refused', /status 2: not today; request not permitted/],
  ['wrong-nonce', 'authority.refused', /nonce is not the one/],
  ['no-nonce', 'authority.refused', /nonce is not the one/],
  ['wrong-imprint', 'authority.refused', /over other bytes/],
  ['wrong-value', 'authority.refused', /value of the time-stamp is wrong/],
  ['wrong-time', 'authority.refused', /seconds off ours/],
  ['no-certificate', 'authority.refused', /certificate of the time-stamp's signer is not at hand/],
  ['no-binding', 'authority.refused', /No attribute names the certificate/],
  ['wrong-binding', 'authority.refused', /names another certificate/],
  ['weak-digest', 'authority.refused', /signed with the digest sha1/],
];

for (const [fault, code, text] of FAULTS) {
  test(`an authority that is or answers ${fault} causes an error that names it`, async (t) => {
    const error = await failure(fault);
    t.is(error?.code, code);
    t.regex(error?.message ?? '', text);
    t.regex(error?.message ?? '', /http:\/\/127\.0\.0\.1:\d+\/timestamp/);
  });
}
