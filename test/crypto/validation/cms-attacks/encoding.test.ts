import test from 'ava';
import { ID } from '#crypto/asn1/oids.js';
import { childrenOf, contents, encoded, readWhole } from '#crypto/asn1/read.js';
import { octetString, sequence, small, tlv } from '#crypto/asn1/write.js';
import { readCertificate } from '#crypto/x509/certificate.js';
import { forge, forgeSigner } from '../forge.ts';
import { allJudged, CONTENT, failedTypes, issue, judged, parties, SIGNED, verdictOf } from '../judging.ts';

function forged(changes: Partial<Parameters<typeof forge>[0]> = {}): Buffer {
  return forge({ signer: parties().signer, content: CONTENT, at: SIGNED, ...changes });
}

/** Re-encodes the outer levels with indefinite length. */
function indefinite(der: Buffer, levels: number): Buffer {
  const element = readWhole(der);
  const inner = Buffer.concat(
    childrenOf(element).map((child, index, all) =>
      levels > 1 && index === all.length - 1 && (child.tag & 0x20) !== 0
        ? indefinite(encoded(child), levels - 1)
        : encoded(child),
    ),
  );
  return Buffer.concat([Buffer.from([element.tag, 0x80]), inner, Buffer.from([0, 0])]);
}

test('bytes after the structure are refused', (t) => {
  const der = forged();
  t.is(verdictOf(judged(der)), 'TOTAL-PASSED');
  for (const tail of [Buffer.from([0]), Buffer.from([0, 0]), forged()]) {
    const record = judged(Buffer.concat([der, tail]));
    t.is(verdictOf(record), 'TOTAL-FAILED: FORMAT_FAILURE');
    t.deepEqual(failedTypes(record.results), ['structure.cms']);
  }
});

test('indefinite lengths around the structure do not change the signed bytes', (t) => {
  const der = forged();
  for (const levels of [1, 2, 3])
    t.is(verdictOf(judged(indefinite(der, levels))), 'TOTAL-PASSED', `${levels}`);
  t.is(
    verdictOf(judged(indefinite(der, 3), { content: Buffer.from('other') })),
    'TOTAL-FAILED: HASH_FAILURE',
  );
});

test('an indefinite length without an end, or with a second end, is refused', (t) => {
  const open = indefinite(forged(), 2);
  t.is(verdictOf(judged(open.subarray(0, open.length - 2))), 'TOTAL-FAILED: FORMAT_FAILURE');
  t.is(verdictOf(judged(Buffer.concat([open, Buffer.from([0, 0])]))), 'TOTAL-FAILED: FORMAT_FAILURE');
});

test('a signature cut at any byte is refused with a reason and never an exception', (t) => {
  const der = forged();
  for (let length = 0; length < der.length; length += 7) {
    const record = judged(der.subarray(0, length));
    t.is(verdictOf(record), 'TOTAL-FAILED: FORMAT_FAILURE', `${length} bytes`);
  }
});

test('embedded content is validated for callers that accept it, and refused for those with separate content', (t) => {
  const der = forged({ inside: Buffer.from('other content inside') });
  t.is(verdictOf(judged(der, { facts: { contentInside: false } })), 'TOTAL-FAILED: FORMAT_FAILURE');
  t.is(verdictOf(judged(forged(), { facts: { contentInside: false } })), 'TOTAL-PASSED');
});

test('a signer is found by key identifier, and by the signed digest where no identifier fits', (t) => {
  const { signer, ca } = parties();
  const keyId = readCertificate(signer.certificate).subjectKeyId ?? Buffer.alloc(0);
  t.is(verdictOf(judged(forged({ id: tlv(0x80, keyId) }))), 'TOTAL-PASSED');
  const wrong = readCertificate(ca.certificate).subjectKeyId ?? Buffer.alloc(0);
  const certificates = [signer.certificate, ca.certificate];
  const record = judged(forged({ id: tlv(0x80, wrong), certificates }));
  t.is(verdictOf(record), 'TOTAL-FAILED: SIG_CRYPTO_FAILURE', 'the named certificate has another key');
  const byDigest = judged(forged({ id: tlv(0x80) }));
  t.is(verdictOf(byDigest), 'TOTAL-PASSED');
  t.deepEqual(
    byDigest.results.warnings.map(({ type }) => type),
    ['certificate.identifier'],
  );
  const unnamed = judged(forged({ id: tlv(0x80), bound: null }));
  t.is(verdictOf(unnamed), 'INDETERMINATE: NO_SIGNING_CERTIFICATE_FOUND');
});

test('a signer identifier names issuer and serial number by their values', (t) => {
  const { issuer, serial } = readCertificate(parties().signer.certificate);
  const otherString = Buffer.from(issuer);
  const at = otherString.indexOf(0x0c);
  otherString[at] = 0x13;
  const octets = contents(readWhole(serial));
  const padded = tlv(0x02, Buffer.alloc(1), octets);
  for (const id of [sequence(otherString, serial), sequence(issuer, padded), sequence(otherString, padded)]) {
    for (const bound of [undefined, null]) {
      const record = judged(forged({ id, ...(bound === null && { bound }) }));
      t.is(verdictOf(record), 'TOTAL-PASSED');
      t.true(record.results.warnings.some(({ type }) => type === 'certificate.identifier'));
    }
  }
  const otherName = Buffer.from(issuer);
  otherName[otherName.length - 1] = (issuer.at(-1) ?? 0) ^ 1;
  const otherSerial = Buffer.from(serial);
  otherSerial[serial.length - 1] = (serial.at(-1) ?? 0) ^ 1;
  for (const id of [sequence(otherName, serial), sequence(issuer, otherSerial)]) {
    const record = judged(forged({ id, bound: null }));
    t.is(verdictOf(record), 'INDETERMINATE: NO_SIGNING_CERTIFICATE_FOUND');
  }
});

test('a signer identifier with extra fields, or of another kind, is refused', (t) => {
  const { issuer, serial } = readCertificate(parties().signer.certificate);
  for (const id of [
    sequence(issuer, serial, serial),
    sequence(serial, issuer),
    sequence(issuer),
    octetString(serial),
  ]) {
    t.is(verdictOf(judged(forged({ id }))), 'TOTAL-FAILED: FORMAT_FAILURE');
  }
  t.is(verdictOf(judged(forged({ id: sequence(issuer, serial) }))), 'TOTAL-PASSED');
});

test('a structure without signers is not a signature', (t) => {
  const { signer } = parties();
  const bag = sequence(
    ID.signedData,
    tlv(0xa0, sequence(small(1), tlv(0x31), sequence(ID.data), tlv(0xa0, signer.certificate), tlv(0x31))),
  );
  const record = judged(bag);
  t.is(verdictOf(record), 'INDETERMINATE: SIG_CONSTRAINTS_FAILURE');
  t.regex(record.results.errors[0]?.message ?? '', /no signer/);
});

test('each of several signers is validated separately', (t) => {
  const { signer, ca } = parties();
  const second = issue('Second Signer', ca);
  const bad = forgeSigner({ signer: second, content: Buffer.from('other'), at: SIGNED });
  const good = forgeSigner({ signer: second, content: CONTENT, at: SIGNED });
  const certificates = [signer.certificate, second.certificate];
  const both = allJudged(forged({ certificates, signers: [good] }));
  t.deepEqual(both.map(verdictOf), ['TOTAL-PASSED', 'TOTAL-PASSED']);
  const mixed = allJudged(forged({ certificates, signers: [bad] }));
  t.deepEqual(mixed.map(verdictOf).sort(), ['TOTAL-FAILED: HASH_FAILURE', 'TOTAL-PASSED']);
  t.deepEqual(
    mixed.map(({ name }) => name),
    ['signer 1', 'signer 2'],
  );
});
