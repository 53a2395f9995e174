/** Layouts of XML signatures that national invoice and tax profiles prescribe. */
import { createHash } from 'node:crypto';
import test from 'ava';
import { inspectXadesDocument } from '../../../crypto/xades/validate.ts';
import { pki, type TestSigner } from '../../pki/pki.ts';
import {
  complaints,
  DS,
  ENVELOPED,
  EXC,
  enveloped,
  forge,
  goodProperties,
  reportOn,
  transform,
} from './forging.ts';
import { byXmlsec, newFile } from './signing.ts';

test('a file in an encoding that is not read is not called broken', (t) => {
  const said = (encoding: string) => {
    const head = `<?xml version="1.0" encoding="${encoding}"?>`;
    const report = reportOn(`${head}${enveloped('<x></x>')}`);
    return [report.indication, ...report.results.errors.map(({ message }) => message)];
  };
  t.deepEqual(said('UTF-8'), ['TOTAL-PASSED']);
  t.deepEqual(said('EBCDIC-CP-US'), [
    'INDETERMINATE',
    'The XML is in the encoding "EBCDIC-CP-US", which is not read.',
  ]);
});

const INFO = '<info Id="i1">35</info>';
const envelopedIds = { uri: '#i1', data: INFO, transforms: transform(ENVELOPED) + transform(EXC) };

test('the enveloped transform takes nothing away when the signature stands beside the element', async (t) => {
  const plain = forge({ references: [envelopedIds], properties: false });
  const file = `<doc>${INFO}${plain}</doc>`;
  const [record] = reportOn(file).signatures;
  t.is(record?.indication, 'TOTAL-PASSED', JSON.stringify(record, undefined, 1));
  t.is(record?.scope.description, 'the element /doc/info (#i1)');
  t.deepEqual(complaints(file), [
    'warning reference.position',
    'warning attributes.xades',
    'warning scope.partial',
    'warning certificate.binding',
  ]);
  t.is(reportOn(file.replace('>35<', '>36<')).signatures[0]?.subIndication, 'HASH_FAILURE');
  const { text } = await byXmlsec(newFile(file), { idAttributes: [['Id', 'info']] });
  t.regex(text, /References \(ok\/all\): 1\/1/);
  const deeper = `<doc>${INFO}<signatures><one>${plain}</one></signatures></doc>`;
  t.is(reportOn(deeper).indication, 'TOTAL-PASSED', 'in a list of signatures beside the element');
  const aside = `<doc><info>36</info>${plain}<aside>${INFO}</aside></doc>`;
  t.is(reportOn(aside).signatures[0]?.subIndication, 'SIG_CONSTRAINTS_FAILURE', 'the element was moved');
});

test('equal identifiers of references harm only when something names them', (t) => {
  const two = (properties: (id: string) => string | false): string => {
    const [d, e] = ['<x Id="d">1</x>', '<y Id="e">2</y>'];
    const one = (id: string, uri: string, data: string) =>
      forge({ id, references: [{ uri, id: 'r0', data }], properties: properties(id) });
    return `<all>${d}${e}${one('a', '#d', d)}${one('b', '#e', e)}</all>`;
  };
  const plain = reportOn(two(() => false));
  t.deepEqual(
    plain.signatures.map(({ indication }) => indication),
    ['TOTAL-PASSED', 'TOTAL-PASSED'],
  );
  const named = reportOn(two((id) => goodProperties(id, ['r0'])));
  t.deepEqual(
    named.signatures.map(({ subIndication }) => subIndication),
    ['FORMAT_FAILURE', 'FORMAT_FAILURE'],
    'the format of the data is said of r0',
  );
  const twice = forge({ references: [{ uri: '#d', data: '<x Id="d">1</x>' }], properties: false });
  t.is(reportOn(`<r><x Id="d">1</x>${twice}<y Id="sig"></y></r>`).indication, 'TOTAL-PASSED');
});

test('qualifying properties with a target that lacks # or is absent are bound by the signed reference', (t) => {
  const good = enveloped('<x></x>');
  const target = (text: string): string => good.replace(' Target="#sig"', () => text);
  t.deepEqual(complaints(good), []);
  for (const [text, what] of [
    [' Target="sig"', 'no #'],
    ['', 'absent'],
    [' Target=""', 'empty'],
  ] as const) {
    t.is(reportOn(target(text)).indication, 'TOTAL-PASSED', what);
    t.deepEqual(complaints(target(text)), ['warning attributes.target'], what);
  }
  t.deepEqual(complaints(target(' Target="#other"')), ['failed structure.signature FORMAT_FAILURE']);
  t.deepEqual(complaints(target(' Target="other"')), ['failed structure.signature FORMAT_FAILURE']);
  const unbound = enveloped('<x></x>', { propertiesSigned: false }).replace(' Target="#sig"', '');
  t.is(reportOn(unbound).indication, 'TOTAL-FAILED');
});

/** Enveloped signature whose older SigningCertificate writes the issuer like this. */
function namedIssuer(signer: TestSigner, issuer: string): string {
  const serial = BigInt(
    `0x${inspectXadesDocument(Buffer.from(enveloped('<x></x>', { signer })))
      .signatures[0]?.certificate?.serial.subarray(2)
      .toString('hex')}`,
  );
  const digest = createHash('sha256').update(signer.certificate).digest('base64');
  const properties = goodProperties('sig', ['sig-r0'], { signer }).replace(
    /<xades:SigningCertificateV2>.*<\/xades:SigningCertificateV2>/s,
    `<xades:SigningCertificate><xades:Cert><xades:CertDigest><ds:DigestMethod xmlns:ds="${DS}" Algorithm="http://www.w3.org/2001/04/xmlenc#sha256"></ds:DigestMethod><ds:DigestValue xmlns:ds="${DS}">${digest}</ds:DigestValue></xades:CertDigest><xades:IssuerSerial><ds:X509IssuerName xmlns:ds="${DS}">${issuer}</ds:X509IssuerName><ds:X509SerialNumber xmlns:ds="${DS}">${serial}</ds:X509SerialNumber></xades:IssuerSerial></xades:Cert></xades:SigningCertificate>`,
  );
  return enveloped('<x></x>', { signer, properties });
}

test('values of issuer names in hexadecimal form are compared, and another name is told from an unreadable one', (t) => {
  const signer = pki().signer('p-256');
  const said = (issuer: string): string[] =>
    inspectXadesDocument(Buffer.from(namedIssuer(signer, issuer)))
      .signatures.flatMap(({ findings }) => findings)
      .filter(({ status }) => status !== 'passed')
      .map(({ type, message }) => `${type}: ${message}`);
  const hex = (tag: number, text: string): string =>
    `#${Buffer.from([tag, text.length]).toString('hex')}${Buffer.from(text).toString('hex')}`;
  t.deepEqual(said(`CN=Test Issuing CA,2.5.4.10=${hex(0x0c, 'Sealwright tests')},C=XX`), []);
  t.deepEqual(said(`CN=Test Issuing CA,OID.2.5.4.10=${hex(0x13, 'Sealwright tests')}, C=XX`), []);
  const other = said(`CN=Test Issuing CA,2.5.4.10=${hex(0x0c, 'Sealwright fakes')},C=XX`);
  t.is(other.length, 1);
  t.regex(other[0] ?? '', /^certificate\.issuer-name: .*another/);
  for (const unreadable of ['#0c10aa', '#0g', '#', '#0c', `${hex(0x0c, 'Sealwright tests')}00`]) {
    const [message = ''] = said(`CN=Test Issuing CA,2.5.4.10=${unreadable},C=XX`);
    t.regex(message, /^certificate\.issuer-name: .*cannot be compared/, unreadable);
  }
});
