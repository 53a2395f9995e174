import { createPublicKey } from 'node:crypto';
import test from 'ava';
import { contents, readWhole } from '#crypto/asn1/read.js';
import { readCertificate } from '#crypto/x509/certificate.js';
import { DOCUMENT_SIGNING, issueCertificate } from '../../../pki/issuing.ts';
import { forge } from '../forge.ts';
import { CONTENT, failedTypes, judged, type Party, parties, SIGNED, verdictOf, YEAR } from '../judging.ts';

/** Issues another certificate of the same CA for the same key, optionally with the same serial number. */
function twinOf(party: Party, subject: string, sameSerial = false): Party {
  const { ca } = parties();
  const original = readCertificate(party.certificate);
  const certificate = issueCertificate({
    subject: { country: 'XX', organization: 'Judging tests', commonName: subject },
    issuer: { country: 'XX', organization: 'Judging tests', commonName: ca.name },
    publicKey: createPublicKey(party.key),
    issuerKey: ca.key,
    serial: sameSerial ? contents(readWhole(original.serial)) : Buffer.from('4142434445', 'hex'),
    notBefore: SIGNED - YEAR,
    notAfter: SIGNED + YEAR,
    use: { kind: 'signer', purposes: DOCUMENT_SIGNING },
  });
  return { name: subject, key: party.key, certificate };
}

test('a signature with its own certificate passes', (t) => {
  const { signer } = parties();
  t.is(verdictOf(judged(forge({ signer, content: CONTENT, at: SIGNED }))), 'TOTAL-PASSED');
});

test('a certificate of the same key under another name does not replace the signed one', (t) => {
  const { signer } = parties();
  const twin = twinOf(signer, 'Mallory');
  const der = forge({
    signer,
    content: CONTENT,
    at: SIGNED,
    certificates: [twin.certificate],
    named: twin.certificate,
  });
  const record = judged(der);
  t.is(verdictOf(record), 'INDETERMINATE: NO_SIGNING_CERTIFICATE_FOUND');
  t.true(failedTypes(record.results).includes('certificate.binding'));
});

test('the signed one of two certificates with equal issuer, serial number and key is used, at any position', (t) => {
  const { signer } = parties();
  const twin = twinOf(signer, 'Mallory', true);
  t.deepEqual(readCertificate(twin.certificate).serial, readCertificate(signer.certificate).serial);
  for (const certificates of [
    [twin.certificate, signer.certificate],
    [signer.certificate, twin.certificate],
  ]) {
    const record = judged(forge({ signer, content: CONTENT, at: SIGNED, certificates }));
    t.is(verdictOf(record), 'TOTAL-PASSED');
    t.is(record.certificate?.subjectName, signer.name);
  }
  const alone = judged(forge({ signer, content: CONTENT, at: SIGNED, certificates: [twin.certificate] }));
  t.is(verdictOf(alone), 'INDETERMINATE: NO_SIGNING_CERTIFICATE_FOUND');
});

test('a certificate with the same name and serial number but another key does not verify the value', (t) => {
  const { signer, ca } = parties();
  const original = readCertificate(signer.certificate);
  const impostor = twinOf({ ...signer, key: ca.key }, signer.name, true);
  t.deepEqual(readCertificate(impostor.certificate).serial, original.serial);
  const der = forge({ signer, content: CONTENT, at: SIGNED, certificates: [impostor.certificate] });
  const record = judged(der);
  t.is(verdictOf(record), 'TOTAL-FAILED: SIG_CRYPTO_FAILURE');
  t.deepEqual(failedTypes(record.results), ['certificate.binding', 'signature.value']);
});

test('a signature without its certificate is reported, and passes when the certificate is supplied', (t) => {
  const { signer, ca } = parties();
  const der = forge({ signer, content: CONTENT, at: SIGNED, certificates: [ca.certificate] });
  t.is(verdictOf(judged(der)), 'INDETERMINATE: NO_SIGNING_CERTIFICATE_FOUND');
  const certificates = [readCertificate(signer.certificate)];
  const evidence = { certificates: [], crls: [], ocsps: [] };
  t.is(verdictOf(judged(der, { facts: { around: { certificates, evidence } } })), 'TOTAL-PASSED');
});

test('a signature without a signed reference to its certificate passes with a warning and has no baseline level', (t) => {
  const { signer } = parties();
  const der = forge({ signer, content: CONTENT, at: SIGNED, bound: null });
  const record = judged(der);
  t.is(verdictOf(record), 'TOTAL-PASSED');
  t.is(record.level, undefined);
  t.deepEqual(
    record.results.warnings.map(({ type }) => type),
    ['certificate.binding'],
  );
  const strict = judged(der, { facts: { signingCertificate: 'required' } });
  t.is(verdictOf(strict), 'INDETERMINATE: SIG_CONSTRAINTS_FAILURE');
});
