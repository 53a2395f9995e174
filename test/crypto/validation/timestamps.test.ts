import test from 'ava';
import { oid, sequence } from '#crypto/asn1/write.js';
import { parseSignedData } from '#crypto/cms/parse.js';
import { attributeOf, forge } from './forge.ts';
import {
  CONTENT,
  crlsOf,
  DAY,
  evidenceOf,
  failedTypes,
  issue,
  judged,
  type Party,
  parties,
  SIGNED,
  tokenOver,
  verdictOf,
  YEAR,
} from './judging.ts';

const SIGNATURE_TIMESTAMP = oid('1.2.840.113549.1.9.16.2.14');
const CONTENT_TIMESTAMP = oid('1.2.840.113549.1.9.16.2.20');

interface Stamped {
  readonly signer?: Party;
  /** Creates the tokens for the signature value. */
  readonly tokens: (value: Buffer) => readonly Buffer[];
  readonly contentTokens?: readonly Buffer[];
}

/** Creates a valid signature with time-stamps; the value is cached. */
function stamped({ signer = parties().signer, tokens, contentTokens = [] }: Stamped): Buffer {
  const attributes = (honest: readonly Buffer[]) =>
    contentTokens.length === 0 ? honest : [...honest, attributeOf(CONTENT_TIMESTAMP, ...contentTokens)];
  const bare = forge({ signer, content: CONTENT, at: SIGNED, attributes });
  const value = parseSignedData(bare).signers[0]?.signature ?? Buffer.alloc(0);
  return forge({
    signer,
    content: CONTENT,
    at: SIGNED,
    attributes,
    value: () => value,
    unsigned: [attributeOf(SIGNATURE_TIMESTAMP, ...tokens(value))],
  });
}

test('a time-stamp over content that is not at hand keeps its time, and an unreadable one has none', (t) => {
  const token = tokenOver(CONTENT, SIGNED - 60_000);
  const der = stamped({ tokens: () => [Buffer.from('0500', 'hex')], contentTokens: [token] });
  const { timestamps, results } = judged(der, { content: undefined });
  const [overContent, unreadable] = timestamps;
  t.is(overContent?.genTime, SIGNED - 60_000);
  t.is(overContent?.subIndication, 'SIGNED_DATA_NOT_FOUND');
  t.is(unreadable?.genTime, undefined);
  t.regex(results.warnings.at(-1)?.detail ?? '', /^unreadable, time unknown$/);
});

test('a time-stamp over the signature proves it for the time after the certificate has expired', (t) => {
  const signer = issue('Short-lived', parties().ca, { notAfter: SIGNED + 5 * DAY });
  const der = stamped({ signer, tokens: (value) => [tokenOver(value, SIGNED + 60_000)] });
  const record = judged(der, { at: SIGNED + YEAR });
  t.is(verdictOf(record), 'TOTAL-PASSED');
  t.is(record.level, 'T');
  t.is(record.bestTime, SIGNED + 60_000);
  t.deepEqual(
    record.timestamps.map(({ kind, genTime }) => [kind, genTime]),
    [['signature', SIGNED + 60_000]],
  );
  const bare = forge({ signer, content: CONTENT, at: SIGNED });
  t.is(verdictOf(judged(bare, { at: SIGNED + YEAR })), 'INDETERMINATE: OUT_OF_BOUNDS_NO_POE');
});

test('a time-stamp from after the expiry does not prove the signature from before it', (t) => {
  const signer = issue('Short-lived', parties().ca, { notAfter: SIGNED + 5 * DAY });
  const der = stamped({ signer, tokens: (value) => [tokenOver(value, SIGNED + 6 * DAY)] });
  const record = judged(der, { at: SIGNED + YEAR });
  t.is(verdictOf(record), 'INDETERMINATE: OUT_OF_BOUNDS_NO_POE');
  t.is(record.bestTime, SIGNED + 6 * DAY);
});

test('a time-stamp over other data proves nothing and is reported as invalid', (t) => {
  const signer = issue('Short-lived', parties().ca, { notAfter: SIGNED + 5 * DAY });
  const others = [CONTENT, Buffer.from('another signature value')];
  for (const other of others) {
    const der = stamped({ signer, tokens: () => [tokenOver(other, SIGNED + 60_000)] });
    const record = judged(der, { at: SIGNED + YEAR });
    t.is(verdictOf(record), 'INDETERMINATE: OUT_OF_BOUNDS_NO_POE');
    const [timestamp] = record.timestamps;
    t.is(timestamp && verdictOf(timestamp), 'TOTAL-FAILED: HASH_FAILURE');
    t.true(record.results.warnings.some(({ type }) => type === 'timestamp.signature'));
    t.is(record.bestTime, SIGNED + YEAR);
  }
  const current = judged(stamped({ tokens: () => [tokenOver(CONTENT, SIGNED)] }));
  t.is(verdictOf(current), 'TOTAL-PASSED', 'while the certificate is valid the signature needs no proof');
});

test('a time-stamp of an untrusted authority proves nothing', (t) => {
  const { otherRoot } = parties();
  const tsa = issue('Foreign time', otherRoot, { use: { kind: 'timestamping' } });
  const signer = issue('Short-lived', parties().ca, { notAfter: SIGNED + 5 * DAY });
  const der = stamped({ signer, tokens: (value) => [tokenOver(value, SIGNED, tsa)] });
  const record = judged(der, { at: SIGNED + YEAR });
  t.is(verdictOf(record), 'INDETERMINATE: OUT_OF_BOUNDS_NO_POE');
  t.is(record.timestamps[0]?.subIndication, 'NO_CERTIFICATE_CHAIN_FOUND');
  t.is(record.level, 'B', 'the level is that of the signature without it');
});

test('a document signing certificate is refused for time-stamps', (t) => {
  const { ca, signer: pretender } = parties();
  const signer = issue('Short-lived', ca, { notAfter: SIGNED + 5 * DAY });
  const der = stamped({ signer, tokens: (value) => [tokenOver(value, SIGNED, pretender)] });
  const record = judged(der, { at: SIGNED + YEAR });
  t.is(verdictOf(record), 'INDETERMINATE: OUT_OF_BOUNDS_NO_POE');
  t.is(record.timestamps[0]?.subIndication, 'CHAIN_CONSTRAINTS_FAILURE');
});

test('a certificate for time-stamps and a further purpose is refused for time-stamps', (t) => {
  const { tsaCa, ca } = parties();
  const stamper = (...purposes: readonly string[]) =>
    issue('Time', tsaCa, {
      use: { kind: 'signer', purposes: [] },
      furtherExtensions: [{ id: '2.5.29.37', critical: true, value: sequence(...purposes.map(oid)) }],
    });
  const signer = issue('Short-lived', ca, { notAfter: SIGNED + 5 * DAY });
  const findings = (tsa: Party) => {
    const der = stamped({ signer, tokens: (value) => [tokenOver(value, SIGNED, tsa)] });
    const record = judged(der, { at: SIGNED + YEAR });
    return [verdictOf(record), ...record.timestamps.flatMap(({ results }) => failedTypes(results))];
  };
  t.deepEqual(findings(stamper('1.3.6.1.5.5.7.3.8')), ['TOTAL-PASSED']);
  // The token and its chain are judged apart, each by a check of its own.
  t.deepEqual(findings(stamper('1.3.6.1.5.5.7.3.8', '1.3.6.1.5.5.7.3.3')), [
    'INDETERMINATE: OUT_OF_BOUNDS_NO_POE',
    'timestamp.purpose',
    'timestamp.chain',
    'timestamp.chain/certificate.purpose',
  ]);
});

test('a time-stamp whose authority has expired or is revoked proves nothing by itself', (t) => {
  const { tsaCa, ca } = parties();
  const signer = issue('Short-lived', ca, { notAfter: SIGNED + 5 * DAY });
  const shortTsa = issue('Short time', tsaCa, { use: { kind: 'timestamping' }, notAfter: SIGNED + 30 * DAY });
  const der = stamped({ signer, tokens: (value) => [tokenOver(value, SIGNED, shortTsa)] });
  t.is(verdictOf(judged(der, { at: SIGNED + 20 * DAY })), 'TOTAL-PASSED');
  const expired = judged(der, { at: SIGNED + 40 * DAY });
  t.is(verdictOf(expired), 'INDETERMINATE: OUT_OF_BOUNDS_NO_POE');
  t.is(expired.timestamps[0]?.subIndication, 'OUT_OF_BOUNDS_NO_POE');

  const at = SIGNED + 20 * DAY;
  const good = evidenceOf([...crlsOf(SIGNED + DAY), ...crlsOf(at - DAY)]);
  const bad = evidenceOf([
    ...crlsOf(SIGNED + DAY),
    ...crlsOf(at - DAY, [[shortTsa, { at: SIGNED - DAY, reason: 1 }]]),
  ]);
  t.is(verdictOf(judged(der, { at, trust: { revocation: 'hard', evidence: good } })), 'TOTAL-PASSED');
  const revoked = judged(der, { at, trust: { revocation: 'hard', evidence: bad } });
  t.is(revoked.timestamps[0]?.subIndication, 'REVOKED_NO_POE');
  t.not(revoked.indication, 'TOTAL-PASSED');
});

test('a time-stamp from before the revocation of the signer keeps the signature valid, and one from after does not', (t) => {
  const { signer } = parties();
  const revocation = { at: SIGNED + 2 * DAY, reason: 1 };
  const at = SIGNED + 10 * DAY;
  const evidence = evidenceOf([...crlsOf(at - DAY, [[signer, revocation]])]);
  const trust = { revocation: 'hard', evidence } as const;
  const before = stamped({ tokens: (value) => [tokenOver(value, SIGNED + DAY)] });
  t.is(verdictOf(judged(before, { at, trust })), 'TOTAL-PASSED');
  const after = stamped({ tokens: (value) => [tokenOver(value, SIGNED + 3 * DAY)] });
  t.is(verdictOf(judged(after, { at, trust })), 'INDETERMINATE: REVOKED_NO_POE');
});

test('a content time-stamp from after the revocation or expiry proves the signature invalid', (t) => {
  const { ca } = parties();
  const signer = issue('Short-lived', ca, { notAfter: SIGNED + 5 * DAY });
  const contentTokens = [tokenOver(CONTENT, SIGNED + 6 * DAY)];
  const late = stamped({ signer, contentTokens, tokens: (value) => [tokenOver(value, SIGNED + 7 * DAY)] });
  t.is(verdictOf(judged(late, { at: SIGNED + YEAR })), 'TOTAL-FAILED: EXPIRED');

  const revocation = { at: SIGNED + DAY };
  const lasting = parties().signer;
  const at = SIGNED + 10 * DAY;
  const evidence = evidenceOf([...crlsOf(SIGNED + 7 * DAY), ...crlsOf(at - DAY, [[lasting, revocation]])]);
  const revoked = stamped({ contentTokens, tokens: (value) => [tokenOver(value, SIGNED + 7 * DAY)] });
  const record = judged(revoked, { at, trust: { revocation: 'hard', evidence } });
  t.is(verdictOf(record), 'TOTAL-FAILED: REVOKED');

  const early = [tokenOver(CONTENT, SIGNED - DAY)];
  const good = stamped({ signer, contentTokens: early, tokens: (value) => [tokenOver(value, SIGNED)] });
  t.is(verdictOf(judged(good, { at: SIGNED + YEAR })), 'TOTAL-PASSED');
});

test('a time-stamp of the future is reported as out of order', (t) => {
  const der = stamped({ tokens: (value) => [tokenOver(value, SIGNED + 10 * DAY)] });
  const record = judged(der, { at: SIGNED + DAY });
  t.is(record.timestamps[0]?.subIndication, 'TIMESTAMP_ORDER_FAILURE');
  t.is(record.bestTime, SIGNED + DAY);
  t.is(verdictOf(record), 'TOTAL-PASSED');
});

test('the earliest of several valid time-stamps counts, and invalid ones beside it are harmless', (t) => {
  const signer = issue('Short-lived', parties().ca, { notAfter: SIGNED + 5 * DAY });
  const der = stamped({
    signer,
    tokens: (value) => [
      tokenOver(value, SIGNED + 4 * DAY),
      tokenOver(Buffer.from('else'), SIGNED),
      tokenOver(value, SIGNED + 2 * DAY),
      Buffer.from('3003020101', 'hex'),
    ],
  });
  const record = judged(der, { at: SIGNED + YEAR });
  t.is(verdictOf(record), 'TOTAL-PASSED');
  t.is(record.bestTime, SIGNED + 2 * DAY);
  t.is(record.timestamps.length, 4);
});

test('a claimed time after the proven one is reported', (t) => {
  const der = stamped({ tokens: (value) => [tokenOver(value, SIGNED - DAY)] });
  const record = judged(der);
  t.is(verdictOf(record), 'TOTAL-PASSED');
  t.true(record.results.warnings.some(({ type }) => type === 'time.claimed'));
  const honest = judged(stamped({ tokens: (value) => [tokenOver(value, SIGNED + 1000)] }));
  t.deepEqual(honest.results.warnings, []);
});

test('a weak algorithm is accepted when a time-stamp proves the signature from before its end', (t) => {
  const { ca } = parties();
  const signer = issue('Long RSA', ca, { kind: 'rsa-2048', notAfter: SIGNED + 20 * YEAR });
  const at = SIGNED + 9 * YEAR;
  const der = stamped({ signer, tokens: (value) => [tokenOver(value, SIGNED)] });
  t.is(verdictOf(judged(der, { at })), 'TOTAL-PASSED');
  const bare = judged(forge({ signer, content: CONTENT, at: SIGNED }), { at });
  t.is(verdictOf(bare), 'INDETERMINATE: CRYPTO_CONSTRAINTS_FAILURE_NO_POE');
  t.is(failedTypes(bare.results)[0], 'algorithm.strength');
});

test('a signature time-stamp copied from another signature is invalid', (t) => {
  let other = Buffer.alloc(0);
  stamped({
    tokens: (value) => {
      other = Buffer.from(value);
      return [tokenOver(value, SIGNED)];
    },
  });
  const der = stamped({ tokens: () => [tokenOver(other, SIGNED)] });
  t.is(judged(der).timestamps[0]?.subIndication, 'HASH_FAILURE');
});
