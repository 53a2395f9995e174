import { sign } from 'node:crypto';
import test from 'ava';
import { DIGEST_ID, ECDSA_ID, ID } from '#crypto/asn1/oids.js';
import { NULL, oid, sequence, tlv } from '#crypto/asn1/write.js';
import { attributeOf, forge, pss } from '../forge.ts';
import { CONTENT, failedTypes, issue, judged, type Party, parties, SIGNED, verdictOf } from '../judging.ts';

const rsa = issue('Rosa RSA', parties().ca, { kind: 'rsa-2048' });

function forged(signer: Party, changes: Partial<Parameters<typeof forge>[0]> = {}): Buffer {
  return forge({ signer, content: CONTENT, at: SIGNED, ...changes });
}

test('a right value under a signature algorithm with another digest than the declared one is left open', (t) => {
  const { signer } = parties();
  const record = judged(
    forged(signer, {
      signatureAlgorithm: sequence(ECDSA_ID.sha384),
      value: (signed) => sign('sha384', signed, signer.key),
    }),
  );
  t.is(verdictOf(record), 'INDETERMINATE: SIG_CONSTRAINTS_FAILURE');
  t.deepEqual(failedTypes(record.results), ['algorithm.agreement']);
  const neither = forged(signer, {
    signatureAlgorithm: sequence(ECDSA_ID.sha384),
    value: (signed) => sign('sha512', signed, signer.key),
  });
  t.is(verdictOf(judged(neither)), 'TOTAL-FAILED: SIG_CRYPTO_FAILURE');
  t.is(verdictOf(judged(forged(signer))), 'TOTAL-PASSED');

  const sha512WithRsa = sequence(oid('1.2.840.113549.1.1.13'), NULL);
  const value = (signed: Buffer) => sign('sha512', signed, rsa.key);
  t.is(
    verdictOf(judged(forged(rsa, { signatureAlgorithm: sha512WithRsa, value }))),
    'INDETERMINATE: SIG_CONSTRAINTS_FAILURE',
  );
  const honest = { digest: 'sha512', signatureAlgorithm: sha512WithRsa, value } as const;
  t.is(verdictOf(judged(forged(rsa, honest))), 'TOTAL-PASSED');
});

test('a signature algorithm that does not fit the key is refused', (t) => {
  const { signer } = parties();
  const pretended = forged(signer, { signatureAlgorithm: sequence(ID.rsaEncryption, NULL) });
  t.is(verdictOf(judged(pretended)), 'TOTAL-FAILED: SIG_CRYPTO_FAILURE');
  const swapped = forged(rsa, { signatureAlgorithm: sequence(ECDSA_ID.sha256) });
  t.is(verdictOf(judged(swapped)), 'TOTAL-FAILED: SIG_CRYPTO_FAILURE');
  const unknown = forged(rsa, { signatureAlgorithm: sequence(oid('1.2.3.4.5')) });
  t.is(verdictOf(judged(unknown)), 'INDETERMINATE: CRYPTO_CONSTRAINTS_FAILURE');
});

test('PSS parameters must have one hash throughout, the declared one, and the actual salt length', (t) => {
  const good = pss('sha256', 'sha256', 32);
  const signed = (algorithm: Buffer, value = good.value(rsa.key)) =>
    verdictOf(judged(forged(rsa, { signatureAlgorithm: algorithm, value })));
  t.is(signed(good.algorithm), 'TOTAL-PASSED');
  const failure = 'TOTAL-FAILED: SIG_CRYPTO_FAILURE';
  t.is(signed(pss('sha256', 'sha512', 32).algorithm), failure, 'another mask hash');
  t.is(signed(pss('sha512', 'sha512', 32).algorithm), failure, 'another hash than the named digest');
  t.is(signed(pss('sha256', 'sha256', 20).algorithm), failure, 'another salt length');
  const defaults = sequence(oid('1.2.840.113549.1.1.10'), sequence());
  t.is(signed(defaults), failure, 'defaults mean SHA-1');
  const nothing = sequence(oid('1.2.840.113549.1.1.10'));
  t.is(signed(nothing), 'TOTAL-FAILED: FORMAT_FAILURE', 'no parameters');
  const trailer = sequence(
    oid('1.2.840.113549.1.1.10'),
    sequence(
      tlv(0xa0, sequence(DIGEST_ID.sha256)),
      tlv(0xa1, sequence(oid('1.2.840.113549.1.1.8'), sequence(DIGEST_ID.sha256))),
      tlv(0xa2, Buffer.from([2, 1, 32])),
      tlv(0xa3, Buffer.from([2, 1, 2])),
    ),
  );
  t.is(signed(trailer), failure, 'a trailer that does not exist');
  t.is(
    signed(good.algorithm, (data) => sign('sha256', data, rsa.key)),
    failure,
    'a PKCS#1 value under PSS',
  );
});

test('a value in another encoding than that of its algorithm is refused', (t) => {
  const { signer } = parties();
  const raw = forged(signer, {
    value: (data) => sign('sha256', data, { key: signer.key, dsaEncoding: 'ieee-p1363' }),
  });
  t.is(verdictOf(judged(raw)), 'TOTAL-FAILED: SIG_CRYPTO_FAILURE');
  for (const value of [Buffer.alloc(0), Buffer.alloc(64), Buffer.from('3006020100020100', 'hex')]) {
    t.is(verdictOf(judged(forged(signer, { value: () => value }))), 'TOTAL-FAILED: SIG_CRYPTO_FAILURE');
  }
  t.is(
    verdictOf(judged(forged(rsa, { value: () => Buffer.alloc(256) }))),
    'TOTAL-FAILED: SIG_CRYPTO_FAILURE',
  );
});

test('protected algorithms must be those in use', (t) => {
  const { signer } = parties();
  const protection = (digest: Buffer, signature: Buffer) =>
    attributeOf(oid('1.2.840.113549.1.9.52'), sequence(sequence(digest), tlv(0xa1, signature)));
  const withProtection = (attribute: Buffer) =>
    verdictOf(judged(forged(signer, { attributes: (honest) => [...honest, attribute] })));
  t.is(withProtection(protection(DIGEST_ID.sha256, ECDSA_ID.sha256)), 'TOTAL-PASSED');
  t.is(withProtection(protection(DIGEST_ID.sha512, ECDSA_ID.sha256)), 'TOTAL-FAILED: SIG_CRYPTO_FAILURE');
  t.is(withProtection(protection(DIGEST_ID.sha256, ECDSA_ID.sha512)), 'TOTAL-FAILED: SIG_CRYPTO_FAILURE');
});

test('an expired or unknown digest algorithm leaves a signature open', (t) => {
  const { signer } = parties();
  for (const digest of ['sha1', 'md5'] as const) {
    const record = judged(forged(rsa, { digest }));
    t.is(verdictOf(record), 'INDETERMINATE: CRYPTO_CONSTRAINTS_FAILURE_NO_POE', digest);
    t.is(failedTypes(record.results)[0], 'algorithm.strength');
  }
  t.is(
    verdictOf(judged(forged(signer, { digest: 'sha1' }))),
    'INDETERMINATE: CRYPTO_CONSTRAINTS_FAILURE_NO_POE',
  );
  const unknown = judged(forged(signer, { digestAlgorithm: sequence(oid('1.2.3.4.5')) }));
  t.is(verdictOf(unknown), 'INDETERMINATE: CRYPTO_CONSTRAINTS_FAILURE');
});

test('Ed25519 signatures pass over their bytes, and fail over others', (t) => {
  const signer = issue('Edwina', parties().ca, { kind: 'ed25519' });
  t.is(verdictOf(judged(forged(signer, { digest: 'sha512' }))), 'TOTAL-PASSED');
  const other = judged(
    forged(signer, { digest: 'sha512', value: (data) => sign(null, data.subarray(1), signer.key) }),
  );
  t.is(verdictOf(other), 'TOTAL-FAILED: SIG_CRYPTO_FAILURE');
});
