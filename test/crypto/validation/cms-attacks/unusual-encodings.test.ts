/** Unusual encodings give a finding, and duplicates are never ignored silently. */
import { createHash, sign } from 'node:crypto';
import test from 'ava';
import { DIGEST_ID, ECDSA_ID, ID } from '#crypto/asn1/oids.js';
import { NULL, octetString, oid, sequence, tlv } from '#crypto/asn1/write.js';
import { attributeOf, bindingTo, type ForgedSigner, type Forgery, forge } from '../forge.ts';
import { CONTENT, crlOf, issue, judged, parties, SIGNED, verdictOf } from '../judging.ts';

const forged = (changes: Partial<Forgery> = {}): Buffer =>
  forge({ signer: parties().signer, content: CONTENT, at: SIGNED, ...changes });

/** Returns the verdict, and the types of warnings about encodings. */
function outcome(cms: Buffer): string {
  const record = judged(cms);
  const types = record.results.warnings.map(({ type }) => type);
  const kinds = [
    'attributes.order',
    'algorithm.protection',
    'certificate.unreadable',
    'revocation.unreadable',
  ];
  return [verdictOf(record), ...types.filter((type) => kinds.includes(type))].join(' ');
}

test('signed attributes outside DER order cause a warning, and an invalid value stays invalid', (t) => {
  t.is(outcome(forged()), 'TOTAL-PASSED');
  const backwards = { attributes: (honest: readonly Buffer[]) => honest.toReversed(), sorted: false };
  const asIs = forged({ attributes: (honest) => honest, sorted: false });
  const found = [outcome(forged(backwards)), outcome(asIs)];
  t.true(found.includes('TOTAL-PASSED attributes.order'), found.join());
  const wrong = forged({ ...backwards, value: () => Buffer.alloc(64, 1) });
  t.regex(outcome(wrong), /^TOTAL-FAILED: SIG_CRYPTO_FAILURE/);
});

test('an ECDSA value named by the OID of the key passes with a warning, and another value or digest fails', (t) => {
  const named = { signatureAlgorithm: sequence(oid('1.2.840.10045.2.1')) };
  const warned = (changes: Partial<Forgery>): string => {
    const record = judged(forged({ ...named, ...changes }));
    return [verdictOf(record), ...record.results.warnings.map(({ type }) => type)].join(' ');
  };
  t.is(warned({}), 'TOTAL-PASSED algorithm.identifier');
  t.is(warned({ digest: 'sha384' }), 'TOTAL-PASSED algorithm.identifier');
  const { key } = parties().signer;
  const other = (signed: Buffer) => sign('sha384', signed, key);
  t.is(warned({ value: other }), 'TOTAL-FAILED: SIG_CRYPTO_FAILURE algorithm.identifier');
  const rsa = issue('By RSA', parties().ca, { kind: 'rsa-2048' });
  t.regex(warned({ signer: rsa }), /^TOTAL-FAILED: SIG_CRYPTO_FAILURE/);
});

test('unusually encoded algorithm protection causes a warning, and a mismatch a failure', (t) => {
  const withProtection = (...fields: readonly Buffer[]): string =>
    outcome(
      forged({
        attributes: (honest) => [...honest, attributeOf(oid('1.2.840.113549.1.9.52'), sequence(...fields))],
      }),
    );
  const digest = sequence(DIGEST_ID.sha256);
  t.is(withProtection(digest, tlv(0xa1, ECDSA_ID.sha256)), 'TOTAL-PASSED');
  const explicit = tlv(0xa1, sequence(ECDSA_ID.sha256));
  t.is(withProtection(digest, explicit), 'TOTAL-PASSED');
  const odd = 'TOTAL-PASSED algorithm.protection';
  t.is(withProtection(digest), odd, 'no signature algorithm');
  t.is(withProtection(digest, tlv(0xa1, NULL)), odd, 'something else than an algorithm');
  t.is(withProtection(octetString(Buffer.from('x')), tlv(0xa1, ECDSA_ID.sha256)), odd, 'no digest');
  const other = 'TOTAL-FAILED: SIG_CRYPTO_FAILURE';
  t.is(withProtection(sequence(DIGEST_ID.sha512)), other);
  t.is(withProtection(sequence(DIGEST_ID.sha512), tlv(0xa1, NULL)), other);
  t.is(withProtection(digest, tlv(0xa1, sequence(ECDSA_ID.sha512))), other);
});

test('a certificate with a duplicate extension is skipped with a warning, and its signature does not pass', (t) => {
  const access = { id: '1.3.6.1.5.5.7.1.1', critical: false, value: sequence() };
  const { root, signer } = parties();
  const serial = Buffer.alloc(16, 7);
  const once = issue('Once', root, { serial, furtherExtensions: [access] });
  const doubled = issue('Once', root, { serial, furtherExtensions: [access, access] });
  // Equal issuer and serial number: only the certificate inside differs, and its hash in the binding.
  const signedWith = ({ key, certificate }: ForgedSigner): string => {
    const hash = octetString(createHash('sha256').update(certificate).digest());
    const binding = attributeOf(ID.signingCertificateV2, sequence(sequence(sequence(hash))));
    const attributes = (honest: readonly Buffer[]) => [...honest, binding];
    const named = { certificate: once.certificate, key };
    return outcome(forged({ signer: named, certificates: [certificate], bound: null, attributes }));
  };
  t.is(signedWith(once), 'TOTAL-PASSED');
  t.is(signedWith(doubled), 'INDETERMINATE: NO_SIGNING_CERTIFICATE_FOUND certificate.unreadable');
  const beside = forged({ certificates: [signer.certificate, doubled.certificate] });
  t.is(outcome(beside), 'TOTAL-PASSED certificate.unreadable');
});

test('a revocation list that cannot be read causes a warning, and a readable one does not', (t) => {
  const list = crlOf(parties().ca, SIGNED);
  t.is(outcome(forged({ crls: [list] })), 'TOTAL-PASSED');
  // Its first octets are missing.
  const odd = sequence(list.subarray(5));
  t.is(outcome(forged({ crls: [odd] })), 'TOTAL-PASSED revocation.unreadable');
});

test('two attributes that name the certificate must name the same one', (t) => {
  const { signer } = parties();
  const older = (certificate: Buffer): Buffer => {
    const hash = createHash('sha1').update(certificate).digest();
    return attributeOf(oid('1.2.840.113549.1.9.16.2.12'), sequence(sequence(sequence(octetString(hash)))));
  };
  const withOlder = (certificate: Buffer): string =>
    outcome(forged({ attributes: (honest) => [...honest, older(certificate)] }));
  t.is(withOlder(signer.certificate), 'TOTAL-PASSED');
  t.regex(withOlder(parties().root.certificate), /^INDETERMINATE: NO_SIGNING_CERTIFICATE_FOUND/);
  const twice = forged({ attributes: (honest) => [...honest, bindingTo(signer.certificate)] });
  t.is(outcome(twice), 'TOTAL-FAILED: FORMAT_FAILURE');
});
