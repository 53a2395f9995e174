/** Honest CMS files of other programs that were called broken: each gets its verdict, and its changed twin fails. */
import { createHash, createPublicKey } from 'node:crypto';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { type ValidateFileRequest, validateFile } from '@sealwright/signatures';
import { type VerifyOptions, verifyFiles } from '@sealwright/signatures/command-line';
import test from 'ava';
import { renderToString } from 'preact-render-to-string';
import { octetString, oid, sequence, small, tlv } from '#crypto/asn1/write.js';
import type { SignatureRecord, ValidationReport } from '#crypto/core/validation-report.js';
import { checkSigningCertificate } from '#crypto/validation/signing-certificate.js';
import { validationReportXml } from '#crypto/validation/validation-report-xml.js';
import { certificatePem, certificatesIn, readCertificate } from '#crypto/x509/certificate.js';
import { checkSignatures } from '../../../actors/pool/portal/check.ts';
import type { PortalTaskContext } from '../../../actors/pool/portal/portal-task-context.ts';
import { type OutputCheck, verifyOutput } from '../../../actors/pool/verify-output.ts';
import { PLAIN_FORM } from '../../../actors/shared/files/output-names.ts';
import { describedFile } from '../../../actors/shared/signing/signature-records.ts';
import { NO_TRUST } from '../../../actors/shared/signing/trust-options.ts';
import { ReportView } from '../../../web/pages/batch/validation.tsx';
import type { CertificateRequest } from '../../pki/issuing.ts';
import { testSigner } from '../../pki/pki.ts';
import { handMade } from '../asic/container-harness.ts';
import { enveloped, forge as forgeXml } from '../xades/forging.ts';
import { forge, forgeSigner } from './forge.ts';
import { CONTENT, DAY, issue, judged, parties, SIGNED, tokenOver, verdictOf } from './judging.ts';

const folder = mkdtempSync(join(tmpdir(), 'sealwright-honest-'));
test.after.always(() => rm(folder, { recursive: true, force: true }));

const FOLDER = 'test/fixtures/verdicts';
const bytesOf = (name: string): Buffer =>
  name.endsWith('.gz') ? gunzipSync(readFileSync(join(FOLDER, name))) : readFileSync(join(FOLDER, name));
const certificate = (name: string) => certificatesIn(bytesOf(name));

let count = 0;
function file(bytes: Buffer, name = 'file'): string {
  const path = join(folder, `${++count}-${name}`);
  writeFileSync(path, bytes);
  return path;
}

function validated(bytes: Buffer, more: Partial<ValidateFileRequest> = {}): Promise<ValidationReport> {
  return validateFile({
    format: 'Cades',
    path: file(bytes),
    at: Date.UTC(2026, 10, 29),
    trust: { anchors: certificate('root.crt'), intermediates: certificate('ca.crt'), revocation: 'none' },
    ...more,
  });
}

/** Trust in the certificates of the small PKI of these tests. */
const OURS = {
  at: SIGNED + DAY,
  trust: {
    anchors: [parties().root.certificate],
    intermediates: [parties().ca.certificate],
    revocation: 'none' as const,
  },
};

const warningsOf = ({ results }: SignatureRecord): string[] => results.warnings.map(({ type }) => type);
const only = ({ signatures }: ValidationReport): SignatureRecord => {
  const [record] = signatures;
  if (record === undefined || signatures.length > 1) throw new Error(`${signatures.length} signatures`);
  return record;
};
const errorsOf = ({ results }: Pick<SignatureRecord, 'results'>): string[] =>
  results.errors.map(({ type, message }) => `${type}: ${message}`);

/** Flips one bit of the first occurrence of these bytes. */
function changed(bytes: Buffer, at: Buffer | string): Buffer {
  const copy = Buffer.from(bytes);
  const index = copy.indexOf(at);
  if (index < 0) throw new Error('no such bytes');
  copy[index] = (copy[index] ?? 0) ^ 1;
  return copy;
}

test('a signature without signed attributes is verified, and left open for lack of a signed certificate', async (t) => {
  const record = only(await validated(bytesOf('noattr.p7m')));
  t.is(verdictOf(record), 'INDETERMINATE: SIG_CONSTRAINTS_FAILURE');
  t.true(record.results.passedChecks.some(({ type }) => type === 'signature.value'));
  const other = only(await validated(changed(bytesOf('noattr.p7m'), 'Contrato')));
  t.is(verdictOf(other), 'TOTAL-FAILED: SIG_CRYPTO_FAILURE');
});

test('a mask of RSA-PSS with another hash passes with a warning', async (t) => {
  const record = only(await validated(bytesOf('pss-mgf-sha1.p7m')));
  t.is(verdictOf(record), 'TOTAL-PASSED');
  t.deepEqual(warningsOf(record), ['algorithm.mask']);
  const value = bytesOf('pss-mgf-sha1.p7m');
  value[value.length - 1] = (value.at(-1) ?? 0) ^ 1;
  t.is(verdictOf(only(await validated(value))), 'TOTAL-FAILED: SIG_CRYPTO_FAILURE');
});

test('an algorithm that is not supported is named, and nothing is held against the signature', async (t) => {
  const record = only(await validated(bytesOf('ed448-sha512.p7m')));
  t.is(verdictOf(record), 'INDETERMINATE: CRYPTO_CONSTRAINTS_FAILURE');
  t.regex(errorsOf(record).join(), /algorithm.unsupported: .*Ed448/);
});

test('a certificate that the file lacks is found among those given, and counts with the right key alone', async (t) => {
  const lacking = bytesOf('nocerts.p7m');
  t.is(verdictOf(only(await validated(lacking))), 'INDETERMINATE: NO_SIGNING_CERTIFICATE_FOUND');
  const given = only(await validated(lacking, { certificates: certificate('rsa.crt') }));
  t.is(verdictOf(given), 'TOTAL-PASSED');
  const intermediates = [...certificate('ca.crt'), ...certificate('rsa.crt')];
  const trust = { anchors: certificate('root.crt'), intermediates, revocation: 'none' as const };
  t.is(verdictOf(only(await validated(lacking, { trust }))), 'TOTAL-PASSED');

  // Certificates of one name and serial number: the signed digest selects; without it, the key decides.
  const { signer, ca } = parties();
  const serial = Buffer.from('0102030405060708', 'hex');
  const right = issue('Given', ca, { serial });
  const wrong = issue('Given', ca, { serial, kind: 'p-384' });
  const signed = (bound: Buffer | null) =>
    forge({ signer: right, content: CONTENT, at: SIGNED, inside: CONTENT, certificates: [], bound });
  const found = async (der: Buffer, ...certificates: readonly Buffer[]) =>
    verdictOf(only(await validated(der, { ...OURS, certificates })));
  t.is(await found(signed(right.certificate), wrong.certificate, right.certificate), 'TOTAL-PASSED');
  t.is(await found(signed(null), wrong.certificate, right.certificate), 'TOTAL-PASSED');
  // Of the same key and names, only one was signed.
  const twin = issue('Given', ca, { serial, publicKey: createPublicKey(right.key) });
  t.is(await found(signed(right.certificate), twin.certificate, right.certificate), 'TOTAL-PASSED');
  const changed = signed(null);
  changed[changed.length - 1] = (changed.at(-1) ?? 0) ^ 1;
  const missing = 'INDETERMINATE: NO_SIGNING_CERTIFICATE_FOUND';
  for (const [der, ...given] of [
    [signed(right.certificate), wrong.certificate],
    [signed(right.certificate), twin.certificate],
    [signed(null), wrong.certificate],
    [signed(null), signer.certificate],
    // What a given certificate does not fit is not broken: another certificate may.
    [changed, right.certificate],
  ] as const)
    t.is(await found(der, ...given), missing);
});

test('a signer named by key identifier is found by it or by the signed digest, and by nothing else', async (t) => {
  const { signer, ca } = parties();
  const { subjectKeyId = Buffer.alloc(20) } = readCertificate(signer.certificate);
  const other = issue('Other Key', ca);
  const found = async (keyId: Buffer, bound: Buffer | null, given: Buffer) => {
    const base = { signer, content: CONTENT, at: SIGNED, inside: CONTENT, certificates: [], bound };
    const der = forge({ ...base, id: tlv(0x80, keyId) });
    const record = only(await validated(der, { ...OURS, certificates: [given] }));
    return [verdictOf(record), ...warningsOf(record)].join(' ');
  };
  const wrongId = Buffer.alloc(20, 7);
  t.is(await found(subjectKeyId, signer.certificate, signer.certificate), 'TOTAL-PASSED');
  t.is(await found(subjectKeyId, null, signer.certificate), 'TOTAL-PASSED certificate.binding');
  t.is(await found(wrongId, signer.certificate, signer.certificate), 'TOTAL-PASSED certificate.identifier');
  const missing = /^INDETERMINATE: NO_SIGNING_CERTIFICATE_FOUND/;
  t.regex(await found(wrongId, null, signer.certificate), missing);
  t.regex(await found(subjectKeyId, signer.certificate, other.certificate), missing);
  t.regex(await found(subjectKeyId, other.certificate, signer.certificate), missing);
});

test('given certificates reach XML signatures and the signatures in containers', async (t) => {
  const { signer, ca } = parties();
  const other = issue('Other Key', ca);
  const ofXml = testSigner(signer.key, signer.certificate, []);
  const forgery = { signer: ofXml, at: SIGNED, keyInfo: '' };
  const cms = (bound?: null) =>
    forge({ signer, content: CONTENT, at: SIGNED, certificates: [], ...(bound === null && { bound }) });
  const reference = { uri: 'report.txt', transforms: '', data: CONTENT };
  const member = `<a:XAdESSignatures xmlns:a="http://uri.etsi.org/02918/v1.2.1#">${forgeXml({ ...forgery, references: [reference] })}</a:XAdESSignatures>`;
  const container = (name: string, signature: Buffer) =>
    handMade([
      { name: 'mimetype', bytes: Buffer.from('application/vnd.etsi.asic-s+zip') },
      { name: 'report.txt', bytes: CONTENT },
      { name: `META-INF/${name}`, bytes: signature },
    ]);
  const files: readonly (readonly ['Xades' | 'Asic', Buffer])[] = [
    ['Xades', Buffer.from(enveloped('x', forgery))],
    ['Xades', Buffer.from(enveloped('x', { ...forgery, properties: false }))],
    ['Asic', container('signature.p7s', cms())],
    ['Asic', container('signature.p7s', cms(null))],
    ['Asic', container('signatures.xml', Buffer.from(member))],
  ];
  for (const [index, [format, bytes]] of files.entries()) {
    const verdict = async (...certificates: readonly Buffer[]) =>
      verdictOf(only(await validated(bytes, { ...OURS, format, certificates })));
    const missing = 'INDETERMINATE: NO_SIGNING_CERTIFICATE_FOUND';
    t.is(await verdict(), missing, `${index}`);
    t.is(await verdict(other.certificate), missing, `${index}`);
    t.is(await verdict(other.certificate, signer.certificate), 'TOTAL-PASSED', `${index}`);
  }
});

test('a given anchor of version 1 counts by its name and key, and one that is no anchor issues nothing', async (t) => {
  const anchors = certificate('v1-root.crt');
  const record = only(await validated(bytesOf('v1-root.p7m'), { trust: { anchors, revocation: 'none' } }));
  t.is(verdictOf(record), 'TOTAL-PASSED');
  const trust = { anchors: certificate('root.crt'), intermediates: anchors, revocation: 'none' as const };
  const none = 'INDETERMINATE: NO_CERTIFICATE_CHAIN_FOUND';
  t.is(verdictOf(only(await validated(bytesOf('v1-root.p7m'), { trust }))), none);
  // Of the same name, with another key.
  const others = anchors.map((der) => changed(der, readCertificate(der).publicKeyBits.subarray(40)));
  const other = { anchors: others, intermediates: anchors, revocation: 'none' as const };
  t.is(verdictOf(only(await validated(bytesOf('v1-root.p7m'), { trust: other }))), none);
});

test('content in octet strings inside each other is read, and too many levels are left open', async (t) => {
  t.is(verdictOf(only(await validated(bytesOf('ber-nested-chunks.p7m')))), 'TOTAL-PASSED');
  const nested = (levels: number): Buffer => {
    let content = octetString(CONTENT);
    for (let level = 0; level < levels; level++) content = tlv(0x24, content);
    const der = forge({ signer: parties().signer, content: CONTENT, at: SIGNED, inside: CONTENT });
    return withContent(der, octetString(CONTENT), content);
  };
  t.is((await validated(nested(16), OURS)).indication, 'TOTAL-PASSED');
  const deep = await validated(nested(17), OURS);
  t.is(deep.indication, 'INDETERMINATE');
  t.regex(errorsOf(deep).join(), /nested too deeply/);
  t.is((await validated(nested(5000), OURS)).indication, 'INDETERMINATE');
});

/** Replaces bytes inside five levels of definite lengths, which become indefinite. */
function withContent(der: Buffer, old: Buffer, content: Buffer): Buffer {
  const at = der.indexOf(old);
  const head: Buffer[] = [];
  let from = 0;
  // ContentInfo and its type, [0], SignedData up to encapContentInfo, its type, [0].
  for (const skip of [11, 0, undefined, 11, 0]) {
    const length = (der[from + 1] ?? 0) < 0x80 ? 2 : 2 + ((der[from + 1] ?? 0) & 0x7f);
    const next = skip === undefined ? der.indexOf(ENCAPSULATED, from) : from + length + skip;
    head.push(der.subarray(from, from + 1), Buffer.from([0x80]), der.subarray(from + length, next));
    from = next;
  }
  const end = Buffer.alloc(2);
  return Buffer.concat([...head, content, end, end, der.subarray(at + old.length), end, end, end]);
}
const ENCAPSULATED = Buffer.concat([
  Buffer.from([0x30, 9 + 2 + 4 + CONTENT.length]),
  oid('1.2.840.113549.1.7.1'),
]);

test('a counter-signature that names a type of content passes with a warning', async (t) => {
  const report = await validated(bytesOf('cs-withct.p7m'));
  t.is(report.indication, 'TOTAL-PASSED');
  const [counter] = only(report).counterSignatures;
  t.deepEqual(counter && warningsOf(counter), ['attributes.content-type']);
});

test('200 signers are judged one by one, and more than 500 are left open', async (t) => {
  const { signatures } = await validated(bytesOf('signers-200.p7m.gz'));
  t.is(signatures.length, 200);
  t.deepEqual([...new Set(signatures.map(verdictOf))], ['TOTAL-PASSED']);
  const signers = (number: number) =>
    forge({
      signer: parties().signer,
      content: CONTENT,
      at: SIGNED,
      inside: CONTENT,
      signers: Array.from({ length: number - 1 }, (_, index) =>
        octetString(Buffer.from([index >> 8, index])),
      ),
    });
  const many = await validated(signers(501), OURS);
  t.is(verdictOf(only(many)), 'INDETERMINATE: GENERIC');
  t.regex(errorsOf(only(many)).join(), /more than 500 signers/);
});

test('white space and an odd digit in /Contents of a PDF change nothing, and other characters do', async (t) => {
  const pdf = bytesOf('contents-space-pad.pdf.gz');
  const record = only(await validated(pdf, { format: 'Pades' }));
  t.is(verdictOf(record), 'TOTAL-PASSED');
  const start = pdf.indexOf('<', pdf.toString('latin1').search(/\/Contents\s*<\d/)) + 1;
  const written = pdf.toString('latin1', start, pdf.indexOf('>', start));
  const other = Buffer.from(pdf);
  other[start + written.search(/\s/)] = 0x67;
  t.is(verdictOf(only(await validated(other, { format: 'Pades' }))), 'TOTAL-FAILED: FORMAT_FAILURE');
});

test('what follows a signature in its space in a PDF is a warning, and the signature stays intact', async (t) => {
  const pdf = bytesOf('contents-space-pad.pdf.gz');
  // The space is filled with blanks, and the last digit of the signature may be left out.
  pdf.write('00504159', pdf.indexOf('>', pdf.toString('latin1').search(/\/Contents\s*<\d/)) - 8, 'latin1');
  const record = only(await validated(pdf, { format: 'Pades' }));
  t.is(verdictOf(record), 'TOTAL-PASSED');
  t.true(record.results.warnings.some(({ type }) => type === 'pdf.contents'));
});

test('a loose time-stamp is judged as a time-stamp of the file beside it, and is no signature of a person', async (t) => {
  const content = file(bytesOf('data.txt'), 'data.txt');
  const token = bytesOf('data.txt.tst');
  const record = only(await validated(token, { content }));
  t.is(verdictOf(record), 'TOTAL-PASSED');
  t.true(record.isTimestamp);
  t.is(record.scope.description.endsWith('data.txt'), true);
  const alone = only(await validated(token));
  t.is(verdictOf(alone), 'INDETERMINATE: SIGNED_DATA_NOT_FOUND');
  const other = only(await validated(token, { content: file(Buffer.from('other')) }));
  t.is(verdictOf(other), 'TOTAL-FAILED: HASH_FAILURE');
  const several = await validated(token, { content: [file(Buffer.from('other')), content] });
  t.is(verdictOf(only(several)), 'TOTAL-PASSED');
});

test('time-stamped data is opened: the signatures inside are judged, and the time-stamps prove their time', async (t) => {
  const whole = bytesOf('invoice.xml.p7m.tsd');
  const report = await validated(whole);
  t.is(report.indication, 'TOTAL-PASSED');
  t.deepEqual(
    report.signatures.map(({ name, isTimestamp }) => [name, isTimestamp]),
    [
      ['content: signer 1', false],
      ['time-stamp 1', true],
    ],
  );
  t.true(report.signatures[0]?.results.passedChecks.some(({ type }) => type === 'time.proven'));
  const [inner, stamp] = (await validated(changed(whole, 'Contrato'))).signatures;
  t.is(inner && verdictOf(inner), 'TOTAL-FAILED: HASH_FAILURE');
  t.is(stamp && verdictOf(stamp), 'TOTAL-FAILED: HASH_FAILURE');
});

/** TimeStampedData with these fields after the version, and tokens over what `covered` says (RFC 5544). */
function timestamped(fields: readonly Buffer[], covered: Buffer): Buffer {
  const first = sequence(tokenOver(covered, SIGNED));
  const second = sequence(tokenOver(first, SIGNED + DAY));
  const data = sequence(Buffer.from('020101', 'hex'), ...fields, tlv(0xa0, first, second));
  return sequence(oid('1.2.840.113549.1.9.16.1.31'), tlv(0xa0, data));
}

test('time-stamped text holds no signature of a person, and its meta data is covered where it says so', async (t) => {
  const at = { ...OURS, at: SIGNED + 2 * DAY };
  const text = Buffer.from('only text');
  const plain = await validated(timestamped([octetString(text)], text), at);
  t.is(plain.indication, 'TOTAL-PASSED');
  t.deepEqual(
    plain.signatures.map((one) => `${one.name} ${one.isTimestamp} ${verdictOf(one)}`),
    ['time-stamp 1 true TOTAL-PASSED', 'time-stamp 2 true TOTAL-PASSED'],
  );
  const metaData = sequence(Buffer.from('0101ff', 'hex'), tlv(0x0c, Buffer.from('a.txt')));
  const covered = Buffer.concat([metaData, text]);
  t.is((await validated(timestamped([metaData, octetString(text)], covered), at)).indication, 'TOTAL-PASSED');
  t.is((await validated(timestamped([metaData, octetString(text)], text), at)).indication, 'TOTAL-FAILED');
  const beside = await validated(timestamped([], text), { ...at, content: file(text) });
  t.is(beside.indication, 'TOTAL-PASSED');
  const otherEvidence = sequence(
    oid('1.2.840.113549.1.9.16.1.31'),
    tlv(0xa0, sequence(Buffer.from('020101', 'hex'), octetString(text), tlv(0xa1, Buffer.alloc(0)))),
  );
  t.is((await validated(otherEvidence, at)).indication, 'INDETERMINATE');
});

test('a claimed time in the future, or outside of the validity of the certificate, is a warning', async (t) => {
  const warned = async (at: number) => {
    const der = forge({ signer: parties().signer, content: CONTENT, at, inside: CONTENT });
    const record = only(await validated(der, OURS));
    return [verdictOf(record), ...warningsOf(record)].join(' ');
  };
  t.is(await warned(SIGNED), 'TOTAL-PASSED');
  t.is(await warned(SIGNED + 2 * DAY), 'TOTAL-PASSED time.claimed');
  t.is(await warned(SIGNED - 400 * DAY), 'TOTAL-PASSED time.certificate');
});

test("an authority's answer is opened for its time-stamp, and one that grants none is named", async (t) => {
  const content = file(bytesOf('data.txt'), 'data.txt');
  const granted = sequence(sequence(small(0)), bytesOf('data.txt.tst'));
  const record = only(await validated(granted, { content }));
  t.is(verdictOf(record), 'TOTAL-PASSED');
  t.true(record.isTimestamp);
  const other = only(await validated(granted, { content: file(Buffer.from('other')) }));
  t.is(verdictOf(other), 'TOTAL-FAILED: HASH_FAILURE');
  const text = tlv(0x0c, Buffer.from('no such policy'));
  for (const answer of [
    sequence(sequence(small(2), sequence(text))),
    sequence(sequence(small(2), sequence(text)), bytesOf('data.txt.tst')),
  ]) {
    const refused = await validated(answer, { content });
    t.is(refused.indication, 'INDETERMINATE');
    t.regex(errorsOf(refused)[0] ?? '', /timestamp.status: .*status 2 \(no such policy\)/);
  }
  const [signature] = (await validated(sequence(sequence(small(0)), bytesOf('noattr.p7m')))).signatures;
  t.is(signature && verdictOf(signature), 'TOTAL-FAILED: FORMAT_FAILURE');
});

test('a file that is a certificate is named, and nothing in it is called broken', async (t) => {
  const [der = Buffer.alloc(0)] = certificate('rsa.crt');
  const pem = Buffer.from(certificatePem(der));
  for (const bytes of [der, pem, Buffer.concat([Buffer.from('Bag\n'), pem]), ...certificate('v1-root.crt')]) {
    const report = await validated(bytes);
    t.is(report.indication, 'INDETERMINATE');
    t.regex(errorsOf(report)[0] ?? '', /file.unsupported: This is a certificate/);
  }
  t.is((await validated(der.subarray(0, -9))).indication, 'TOTAL-FAILED');
});

test('a file of another kind is named, and not called a broken signature', async (t) => {
  const bytes = (hex: string): Buffer => Buffer.from(hex.replaceAll(' ', ''), 'hex');
  const mail =
    'To: ada@example.org\nContent-Type: multipart/signed; protocol="application/x-pkcs7-signature";\n boundary="b"\n\n--b\n';
  for (const [file, name] of [
    [Buffer.from(mail), /a signed mail, whose part smime\.p7s/],
    [Buffer.from('-----BEGIN PGP SIGNATURE-----\n\niQEz\n-----END PGP SIGNATURE-----\n'), /PGP SIGNATURE/],
    [
      Buffer.from('-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\n'),
      /RSA PRIVATE KEY/,
    ],
    [Buffer.from('-----BEGIN X509 CRL-----\nMIIE\n-----END X509 CRL-----\n'), /X509 CRL/],
    [bytes('30 82 09 00 02 01 03 30 82'), /a store of keys \(PKCS #12\)/],
    [bytes('30 03 0a 01 06'), /an OCSP response/],
    [bytes('30 82 04 a0 02 01 00 02 82'), /a private key/],
    [bytes('30 82 01 20 30 81 c0 02 01 00 30 0c'), /a request for a certificate/],
  ] as const) {
    const report = await validated(file);
    t.is(report.indication, 'INDETERMINATE', String(name));
    t.regex(errorsOf(report)[0] ?? '', /^file\.unsupported: This is /);
    t.regex(errorsOf(report)[0] ?? '', name);
  }
  const damaged = '-----BEGIN PKCS7-----\nMIIE\n-----END PKCS7-----\n';
  t.is((await validated(Buffer.from(damaged))).indication, 'TOTAL-FAILED');
});

test('an anchor that has expired still counts, with a warning, and an authority below it does not', async (t) => {
  const ended = { notAfter: SIGNED - DAY };
  const judge = (anchor: Partial<CertificateRequest>, authority: Partial<CertificateRequest>) => {
    const root = issue('Old Root', undefined, anchor);
    const ca = issue('Old CA', root, { use: { kind: 'ca' }, ...authority });
    const der = forge({ signer: issue('Ada', ca), content: CONTENT, at: SIGNED });
    const trust = { anchors: [root.certificate], intermediates: [ca.certificate] };
    return judged(der, { trust });
  };
  const record = judge(ended, {});
  t.is(verdictOf(record), 'TOTAL-PASSED');
  const { inner } = record.results.passedChecks.find(({ type }) => type === 'chain') ?? {};
  t.deepEqual(
    inner?.warnings.map(({ type }) => type),
    ['chain.anchor'],
  );
  // The check before signing follows the same rule (docs/decisions/0334).
  const check = async (anchor: Partial<CertificateRequest>) => {
    const root = issue('Old Root', undefined, anchor);
    const signer = { certificate: issue('Ada', root).certificate, chain: [] };
    const trust = { anchors: [root.certificate], revocation: 'none' as const };
    const verdict = await checkSigningCertificate(signer, trust, () => SIGNED);
    return verdict.ok
      ? [verdict.warnings.length, /has expired.*still counts/.test(verdict.anchor ?? '')]
      : verdict.code;
  };
  t.deepEqual(await check(ended), [0, true]);
  t.deepEqual(await check({}), [0, false]);
  t.is(await check({ notBefore: SIGNED + 2 * DAY }), 'certificate.untrusted');
  const general = 'INDETERMINATE: CERTIFICATE_CHAIN_GENERAL_FAILURE';
  t.is(verdictOf(judge({}, ended)), general);
  t.is(verdictOf(judge({ notBefore: SIGNED + 2 * DAY }, {})), general);
});

/** A signature file, and the files beside it. */
interface Example {
  readonly der: Buffer;
  readonly more: Partial<ValidateFileRequest>;
}

/** Everything that tells from a report, or from the files, whether a file passes. */
const CONSUMERS: {
  readonly [name: string]: (report: ValidationReport, example: Example) => boolean | Promise<boolean>;
} = {
  'exit code of verify': async (report) =>
    (await verifyFiles([file(CONTENT)], VERIFYING, SILENT, { validate: async () => report })) === 0,
  'JSON of verify': async (report) => {
    let text = '';
    const out = (part: string) => {
      text += part;
    };
    await verifyFiles(
      [file(CONTENT)],
      { ...VERIFYING, json: true },
      { ...SILENT, out },
      { validate: async () => report },
    );
    return JSON.parse(text).ok;
  },
  'pages and API of the portal': (report) =>
    describedFile(report).signatures.every(({ view }) => view.validationResults.isValid),
  'report of ETSI TS 119 102-2': (report) => {
    const xml = validationReportXml(report, { name: 'a', sha256: '', at: SIGNED });
    const last = /<SignatureValidationStatus><MainIndication>[^<]*:([a-z-]+)</g;
    return [...xml.matchAll(last)].every(([, indication]) => indication === 'total-passed');
  },
  'page of the batch service': (report) =>
    /<p role="status"><span[^>]*>Valid</.test(renderToString(ReportView({ fileName: 'a', report }))),
  'cards of that page': (report) => />Valid</.test(renderToString(ReportView({ fileName: 'a', report }))),
  'job of an upload or a watched folder': (_, example) => isPublished(jobOf(example)),
  'job of the remote portal': (_, example) => isPublished({ ...jobOf(example), remote: true }),
  'end of the flow of a document': (_, example) => isConcluded(example),
};

/** A job whose output is the example. */
function jobOf({ der, more }: Example): OutputCheck {
  const { key, certificate: of } = parties().signer;
  const { anchors = [], intermediates = [] } = more.trust ?? OURS.trust;
  const bytes = readFileSync(besideOf(more));
  return {
    format: 'Cades',
    path: file(der),
    fileName: 'a',
    stagedPath: file(bytes),
    content: { sha256: createHash('sha256').update(bytes).digest('hex'), length: bytes.length },
    profile: {
      name: 'one',
      signer: testSigner(key, of, intermediates),
      choices: {},
      form: PLAIN_FORM,
      verify: true,
      verifyIndependently: false,
      compareContent: true,
      anchors: [...anchors, ...intermediates],
      services: {},
    },
    trust: { ...NO_TRUST, roots: anchors, intermediates },
    remote: false,
    at: OURS.at,
  };
}

/** The last of the files beside a signature, or the content. */
function besideOf({ content }: Partial<ValidateFileRequest>): string {
  return [content ?? file(CONTENT)].flat().at(-1) ?? '';
}

async function isPublished(check: OutputCheck): Promise<boolean> {
  try {
    await verifyOutput(check);
    return true;
  } catch {
    return false;
  }
}

async function isConcluded({ der, more }: Example): Promise<boolean> {
  const signer = readCertificate(parties().signer.certificate).fingerprint;
  const place = { documentId: 'd', format: 'Cades', input: besideOf(more), signatures: file(der) } as const;
  const expected = [{ fieldName: null, certificate: signer }];
  const kept = { original: null, output: null, profile: 'seal', expected, at: OURS.at };
  try {
    await checkSignatures({ task: 'portal.check', ...place, ...kept }, THREAD);
    return true;
  } catch {
    return false;
  }
}
const THREAD = {
  profiles: { byName: new Map([['seal', { anchors: [], choices: {}, services: {} }]]), trust: NO_TRUST },
} as unknown as PortalTaskContext;

const NOT_TRUSTED = 'not trusted';
/** The certificates of participants are judged before they sign. */
const LEAVES_TRUST = 'end of the flow of a document';
const SILENT = { out: () => {}, err: () => {}, colors: false };
const VERIFYING: VerifyOptions = {
  json: false,
  format: 'Cades',
  content: undefined,
  trust: [],
  intermediates: [],
  chain: true,
  revocation: 'none',
  at: SIGNED,
};

test('what is not TOTAL-PASSED passes nowhere', async (t) => {
  const { signer, ca, otherRoot } = parties();
  const eve = issue('Eve', ca);
  const base = { signer, content: CONTENT, at: SIGNED, inside: CONTENT };
  const counter = (content: Buffer) =>
    sequence(oid('1.2.840.113549.1.9.6'), tlv(0x31, forgeSigner({ signer, content, at: SIGNED })));
  const detached = forge({ ...base, inside: undefined });
  const contents = [file(CONTENT), file(Buffer.from('other'))];
  const examples: readonly (readonly [string, boolean, Buffer, Partial<ValidateFileRequest>])[] = [
    ['good', true, forge(base), {}],
    ['without signed attributes', false, forge({ ...base, attributes: null }), {}],
    ['unknown algorithm', false, forge({ ...base, digestAlgorithm: sequence(oid('1.2.643.7.1.1.2.2')) }), {}],
    ['no certificate', false, forge({ ...base, certificates: [] }), {}],
    [NOT_TRUSTED, false, forge(base), { trust: { anchors: [otherRoot.certificate], revocation: 'none' } }],
    ['a broken counter-signature', false, forge({ ...base, unsigned: [counter(CONTENT)] }), {}],
    ['a file that nothing signs', false, detached, { content: contents }],
    ['other content than the file beside it', false, forge(base), { content: contents.slice(1) }],
  ];
  for (const [name, isPassed, der, more] of examples) {
    const report = await validated(der, { ...OURS, ...more });
    t.is(report.indication === 'TOTAL-PASSED', isPassed, name);
    for (const [consumer, passes] of Object.entries(CONSUMERS))
      t.is(
        await passes(report, { der, more }),
        isPassed || (name === NOT_TRUSTED && consumer === LEAVES_TRUST),
        `${consumer}: ${name}`,
      );
  }
  // A signature that is added to one of another person.
  const staged = forge({ ...base, signer: eve });
  const withEve = { ...base, certificates: [signer.certificate, eve.certificate] };
  for (const [unsigned, isPassed] of [
    [[], true],
    [[counter(CONTENT)], false],
  ] as const) {
    const other = forgeSigner({ ...base, signer: eve });
    const job = jobOf({ der: forge({ ...withEve, signers: [other], unsigned }), more: {} });
    const profile = { ...job.profile, choices: { coSign: true } };
    t.is(await isPublished({ ...job, stagedPath: file(staged), profile }), isPassed);
  }
});
