import { createHash, randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { checkToken } from '../../../crypto/timestamps/check.ts';
import { imprintOf } from '../../../crypto/timestamps/imprint.ts';
import { readTimestampToken } from '../../../crypto/timestamps/read.ts';
import type { CryptoError, DigestName } from '../../../crypto/types.ts';
import { type Fault, startAuthority, type TestAuthority } from '../../pki/authority.ts';
import { requireTool, runTool } from '../../verifiers/index.ts';

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
    ...['-in', paths.token, '-data', paths.content],
    ...['-CAfile', by.pki.rootFile, '-untrusted', by.pki.stampingFile],
  ]);
  t.log(run.stdout.trim());
  return run.exit === 0 && run.stdout.includes('Verification: OK');
}

test('openssl accepts a time-stamp for every digest, and none over other content', async (t) => {
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
    if (!requireTool(t, 'openssl')) continue;
    t.true(await opensslTs(t, token, CONTENT, authority));
    t.false(await opensslTs(t, token, Buffer.from('something else'), authority));
  }
});

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
];

for (const [fault, code, text] of FAULTS) {
  test(`a time-stamp authority that is or answers ${fault} is an error that names it`, async (t) => {
    const error = await failure(fault);
    t.is(error?.code, code);
    t.regex(error?.message ?? '', text);
    t.regex(error?.message ?? '', /http:\/\/127\.0\.0\.1:\d+\/timestamp/);
  });
}
