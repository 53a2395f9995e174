import { createHash, randomBytes } from 'node:crypto';
import test from 'ava';
import { oid, sequence } from '#crypto/asn1/write.js';
import type { CryptoError } from '#crypto/core/types.js';
import { checkToken } from '#crypto/evidence/timestamp-checks.js';
import { imprintOf, readTimestampToken } from '#crypto/evidence/timestamp-reader.js';
import { readCertificate } from '#crypto/x509/certificate.js';
import { startAuthority } from '../../pki/authority.ts';
import { type CertificateUse, issueCertificate } from '../../pki/issuing.ts';
import { type KeyKind, keyOf } from '../../pki/pki.ts';
import { makeToken, type TokenMaker } from '../../pki/tokens.ts';

const CONTENT = Buffer.from('content');
const AT = Date.UTC(2026, 5, 1, 12, 30, 15, 250);
const IMPRINT = createHash('sha256').update(CONTENT).digest();

const TIMESTAMPING = '1.3.6.1.5.5.7.3.8';
const CODE_SIGNING = '1.3.6.1.5.5.7.3.3';

function maker(
  use: CertificateUse,
  kind: KeyKind = 'p-256',
  critical?: boolean,
  purposes: readonly string[] = [TIMESTAMPING],
): TokenMaker {
  const pair = keyOf(kind);
  const name = { commonName: 'Time' };
  const further =
    critical === undefined
      ? {}
      : {
          furtherExtensions: [{ id: '2.5.29.37', critical, value: sequence(...purposes.map(oid)) }],
        };
  const certificate = issueCertificate({
    subject: name,
    issuer: name,
    publicKey: pair.publicKey,
    issuerKey: pair.privateKey,
    serial: randomBytes(8),
    notBefore: AT - 1000,
    notAfter: AT + 1000,
    use,
    ...further,
  });
  return { key: pair.privateKey, certificate, chain: [] };
}

const TIME: CertificateUse = { kind: 'timestamping' };

function failures(by: TokenMaker, others: readonly Buffer[] = [], fault?: 'no-certificate'): string[] {
  const token = readTimestampToken(
    makeToken(IMPRINT, 'sha256', by, { at: AT, serial: randomBytes(8), fault }),
  );
  return checkToken(token, imprintOf(CONTENT), others.map(readCertificate))
    .filter(({ status }) => status === 'failed')
    .map(({ type }) => type);
}

test('a token holds its time in milliseconds, policy, serial number and imprint', (t) => {
  const by = maker(TIME);
  const token = readTimestampToken(makeToken(IMPRINT, 'sha256', by, { at: AT, serial: Buffer.from([5]) }));
  t.is(token.genTime, AT);
  t.is(token.policy, '1.2.3.4.1');
  t.deepEqual(token.serial, Buffer.from([2, 1, 5]));
  t.deepEqual(token.imprint, IMPRINT);
  t.is(token.imprintAlgorithm, 'sha256');
  t.is(token.nonce, undefined);
  t.deepEqual(token.certificate?.der, by.certificate);
});

for (const kind of ['rsa-2048', 'p-256', 'p-384', 'p-521', 'ed25519'] as const) {
  test(`a token signed with a key of ${kind} passes every check`, (t) => {
    t.deepEqual(failures(maker(TIME, kind)), []);
  });
}

test('the certificate of a token needs a critical extended key usage for time-stamps alone', (t) => {
  const plain: CertificateUse = { kind: 'signer', purposes: [] };
  t.deepEqual(failures(maker(plain, 'p-256', true)), []);
  t.deepEqual(failures(maker(plain, 'p-256', false)), ['timestamp.purpose']);
  t.deepEqual(failures(maker(plain)), ['timestamp.purpose']);
  t.deepEqual(failures(maker(plain, 'p-256', true, [TIMESTAMPING, CODE_SIGNING])), ['timestamp.purpose']);
});

test('the certificate of a token may be supplied separately, and a missing one is reported', (t) => {
  const by = maker(TIME);
  t.deepEqual(failures(by, [by.certificate], 'no-certificate'), []);
  t.deepEqual(failures(by, [maker(TIME).certificate], 'no-certificate'), ['timestamp.certificate']);
});

test('a token with a critical extension that nobody knows is refused, and another one is read', (t) => {
  const read = (critical: boolean) =>
    readTimestampToken(
      makeToken(IMPRINT, 'sha256', maker(TIME), { at: AT, serial: randomBytes(8), extension: { critical } }),
    );
  t.deepEqual(
    checkToken(read(false), imprintOf(CONTENT), []).filter(({ status }) => status === 'failed'),
    [],
  );
  t.throws(() => read(true), { code: 'timestamp.malformed', message: /critical extension 1\.2\.3\.4\.5/ });
});

test('an imprint by an unknown hash function proves nothing', (t) => {
  const token = readTimestampToken(
    makeToken(IMPRINT, 'sha256', maker(TIME), { at: AT, serial: randomBytes(8) }),
  );
  const [finding] = checkToken({ ...token, imprintAlgorithm: '1.2.3' }, imprintOf(CONTENT));
  t.like(finding, {
    status: 'failed',
    type: 'timestamp.imprint',
    subIndication: 'CRYPTO_CONSTRAINTS_FAILURE',
  });
});

test('a token with any changed byte is malformed, fails a check, or differs only in unsigned parts', (t) => {
  const by = maker(TIME);
  const der = makeToken(IMPRINT, 'sha256', by, { at: AT, serial: randomBytes(8) });
  let accepted = 0;
  for (let at = 0; at < der.length; at++) {
    for (const bit of [0x01, 0x20, 0x80]) {
      const changed = Buffer.from(der);
      changed[at] = (changed[at] ?? 0) ^ bit;
      try {
        const findings = checkToken(readTimestampToken(changed), imprintOf(CONTENT));
        if (findings.every(({ status }) => status === 'passed')) accepted++;
      } catch (error) {
        t.is((error as CryptoError).code, 'timestamp.malformed', (error as Error).stack);
      }
    }
  }
  // Changes of versions, digestAlgorithms, and equivalent tags: no signature covers them.
  t.true(accepted < 60, `${accepted} changes were not noticed`);
});

test('a token cut at any byte is malformed', (t) => {
  const der = makeToken(IMPRINT, 'sha256', maker(TIME), { at: AT, serial: randomBytes(8) });
  for (let length = 0; length < der.length; length++) {
    t.throws(() => readTimestampToken(der.subarray(0, length)), { code: 'timestamp.malformed' } as never);
  }
});

test('the reserved length of tokens is an upper bound at first and the observed length later', async (t) => {
  const authority = await startAuthority();
  try {
    const { timestamps } = authority.services;
    const guess = timestamps.tokenLength;
    const token = await timestamps.stamp(IMPRINT, 'sha256');
    t.true(token.length <= guess, `${token.length} of ${guess}`);
    t.is(timestamps.tokenLength, token.length);
    const longer = await timestamps.stamp(createHash('sha512').update(CONTENT).digest(), 'sha512');
    t.is(timestamps.tokenLength, longer.length);
  } finally {
    await authority.close();
  }
});

test('requests to a busy time-stamp authority are retried with growing pauses, and refused ones are not', async (t) => {
  const authority = await startAuthority();
  try {
    const pauses: number[] = [];
    const { timestamps } = authority.freshServices({
      retries: 3,
      wait: (ms) => {
        pauses.push(ms);
        return Promise.resolve();
      },
    });
    authority.break('timestamp', 'busy', 3);
    await timestamps.stamp(IMPRINT, 'sha256');
    t.deepEqual(pauses, [200, 400, 800]);
    t.is(authority.requests.timestamp, 4);
    authority.break('timestamp', 'busy', 4);
    await t.throwsAsync(timestamps.stamp(IMPRINT, 'sha256'), { code: 'authority.unreachable' } as never);
    authority.break('timestamp', 'rejected', 1);
    const before = authority.requests.timestamp;
    await t.throwsAsync(timestamps.stamp(IMPRINT, 'sha256'), { code: 'authority.refused' } as never);
    t.is(authority.requests.timestamp, before + 1);
  } finally {
    await authority.close();
  }
});

test('credentials are sent to the time-stamp authority and never appear in messages', async (t) => {
  const credentials = { username: 'sam', password: 'pass:word' };
  const authority = await startAuthority({ credentials });
  try {
    await authority.services.timestamps.stamp(IMPRINT, 'sha256');
    const { timestamps } = authority.freshServices({ username: 'sam', password: 'secret-guess' });
    const error = await t.throwsAsync(timestamps.stamp(IMPRINT, 'sha256'));
    t.regex(error?.message ?? '', /HTTP status 401/);
    t.notRegex(error?.message ?? '', /sam|secret-guess/);
  } finally {
    await authority.close();
  }
});

test('user, password, query and fragment of an address never appear in messages', async (t) => {
  const authority = await startAuthority();
  try {
    const url = authority.timestampUrl.replace('//', '//sam:in-address@');
    const { timestamps } = authority.freshServices({ url: `${url}?key=in-query#in-fragment` });
    // The transport names the address for a failed request, the reader for an answer that is no time-stamp.
    for (const fault of ['busy', 'garbage'] as const) {
      authority.break('timestamp', fault, 1);
      const { message = '' } = (await t.throwsAsync(timestamps.stamp(IMPRINT, 'sha256'))) ?? {};
      t.true(message.includes(authority.timestampUrl), message);
      t.notRegex(message, /sam|in-address|in-query|in-fragment/);
    }
  } finally {
    await authority.close();
  }
});

test('an authority with a URL other than HTTP is refused at construction', async (t) => {
  const { createTimestampAuthority } = await import('#crypto/evidence/timestamp-authority.js');
  const authority = await startAuthority();
  await authority.close();
  for (const url of ['ftp://example.test/', 'file:///etc/passwd', 'time', '']) {
    const options = {
      url,
      timeoutMs: 1,
      transport: authority.transport,
      random: randomBytes,
      now: () => AT,
      retries: 0,
      wait: () => Promise.resolve(),
    };
    t.throws(() => createTimestampAuthority(options), { code: 'request.invalid' } as never);
  }
});
