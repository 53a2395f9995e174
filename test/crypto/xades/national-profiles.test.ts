/** Layouts of XML signatures that national invoice and tax profiles prescribe. */
import { createHash } from 'node:crypto';
import test from 'ava';
import { childrenOf, encoded, readWhole } from '#crypto/asn1/read.js';
import { sequence } from '#crypto/asn1/write.js';
import type { XadesFormat } from '#crypto/core/types.js';
import { issuerSerialOf } from '#crypto/xades/elements/signature-text.js';
import { inspectXadesDocument } from '#crypto/xades/validate.js';
import { verifyXades } from '#crypto/xades/verify.js';
import { verifyIndependently } from '../../../independent/index.ts';
import { pki, type TestSigner } from '../../pki/pki.ts';
import { withTools } from '../../verifiers/index.ts';
import {
  complaints,
  DS,
  ENVELOPED,
  EXC,
  enveloped,
  type Forgery,
  forge,
  goodProperties,
  reportOn,
  SHA256,
  transform,
  XADES,
} from './forging.ts';
import { byXmlsec, NOW, newFile, type SigningOptions, signDocument } from './signing.ts';

const toolTest = withTools(test, 'xmlsec1');

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

toolTest(
  'the enveloped transform takes nothing away when the signature stands beside the element',
  async (t) => {
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
    t.true(await holdsByXmlsec(file, ['info']));
    t.is(await byAnother(file), 'valid');
    const deeper = `<doc>${INFO}<signatures><one>${plain}</one></signatures></doc>`;
    t.is(reportOn(deeper).indication, 'TOTAL-PASSED', 'in a list of signatures beside the element');
    const aside = `<doc><info>36</info>${plain}<aside>${INFO}</aside></doc>`;
    t.is(reportOn(aside).signatures[0]?.subIndication, 'SIG_CONSTRAINTS_FAILURE', 'the element was moved');
  },
);

test('equal identifiers of references harm only in one signature that names them', (t) => {
  const two = (properties: (id: string) => string | false): string => {
    const d = '<x Id="d">1</x>';
    const e = '<y Id="e">2</y>';
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
    named.signatures.map(({ indication }) => indication),
    ['TOTAL-PASSED', 'TOTAL-PASSED'],
    'the format of the data is said of the own r0',
  );
  const own = (second: string): string =>
    forge({
      references: [
        { uri: '#d', id: 'r0', data: '<x Id="d">1</x>' },
        { uri: '#e', id: second, data: '<y Id="e">2</y>' },
      ],
      properties: goodProperties('sig', ['r0']),
    });
  const both = (second: string) => reportOn(`<all><x Id="d">1</x><y Id="e">2</y>${own(second)}</all>`);
  t.is(both('r0').signatures[0]?.subIndication, 'FORMAT_FAILURE', 'which of them is meant?');
  t.is(both('r1').indication, 'TOTAL-PASSED');
  const twice = forge({ references: [{ uri: '#d', data: '<x Id="d">1</x>' }], properties: false });
  t.is(reportOn(`<r><x Id="d">1</x>${twice}<y Id="sig"></y></r>`).indication, 'TOTAL-PASSED');
});

test('a reference with the identifier of its target names the target', async (t) => {
  const data = '<doc ID="x1"><to>Ana</to></doc>';
  const reference = { uri: '#x1', id: 'x1', data, transforms: transform(ENVELOPED) + transform(EXC) };
  const file = data.replace('</doc>', `${forge({ references: [reference], properties: false })}</doc>`);
  t.is(reportOn(file).indication, 'TOTAL-PASSED');
  t.is(reportOn(file).signatures[0]?.scope.description, 'the whole document');
  t.is(await byAnother(file), 'not-comparable');
  const wrapped = `<all>${file}<doc ID="x1"><to>Eve</to></doc></all>`;
  t.is(reportOn(wrapped).signatures[0]?.subIndication, 'FORMAT_FAILURE', 'another element follows');
  const before = `<all><doc ID="x1"><to>Eve</to></doc>${file}</all>`;
  t.is(reportOn(before).signatures[0]?.subIndication, 'FORMAT_FAILURE', 'another element comes before');
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

/** Enveloped signature with properties of an older version of XAdES. */
function olderXades(version: string, forgery: Partial<Forgery> = {}, named = pki().signer('p-256')): string {
  const digest = createHash('sha256').update(named.certificate).digest('base64');
  // Version 1.1.1 declares these two elements itself.
  const own = version === '1.1.1' ? 'xades' : 'ds';
  const cert =
    `<xades:SigningCertificate><xades:Cert><xades:CertDigest><${own}:DigestMethod${own === 'ds' ? ` xmlns:ds="${DS}"` : ''} Algorithm="${SHA256}"></${own}:DigestMethod>` +
    `<${own}:DigestValue${own === 'ds' ? ` xmlns:ds="${DS}"` : ''}>${digest}</${own}:DigestValue></xades:CertDigest></xades:Cert></xades:SigningCertificate>`;
  const uri = `http://uri.etsi.org/01903/v${version}#`;
  const properties = goodProperties('sig', ['sig-r0'])
    .replace(/<xades:SigningCertificateV2>.*<\/xades:SigningCertificateV2>/s, cert)
    .replace(XADES, uri);
  const propertiesType = `${uri}SignedProperties`;
  return enveloped('<x></x>', { properties, propertiesType, ...forgery }).replaceAll(
    `"${XADES}"`,
    `"${uri}"`,
  );
}

test('properties of older versions of XAdES are read, and those of unknown ones named', (t) => {
  for (const version of ['1.1.1', '1.2.2']) {
    const file = olderXades(version);
    const [record] = reportOn(file).signatures;
    t.is(record?.indication, 'TOTAL-PASSED', version);
    t.deepEqual(complaints(file), ['warning attributes.version'], version);
    t.true(Math.abs((record?.signingTime ?? 0) - Date.now()) < 86_400_000, version);
    t.is(record?.level, undefined, version);
    const other = olderXades(version, {}, pki().signer('p-384'));
    t.deepEqual(
      complaints(other).filter((one) => one.startsWith('failed')),
      ['failed certificate.binding NO_SIGNING_CERTIFICATE_FOUND'],
      version,
    );
    t.is(reportOn(olderXades(version, { propertiesSigned: false })).indication, 'TOTAL-FAILED', version);
  }
  const [unknown] = reportOn(olderXades('9.9.9')).signatures;
  t.is(unknown?.indication, 'INDETERMINATE');
  t.regex(unknown?.results.errors[0]?.message ?? '', /another version of XAdES \(http:.*9\.9\.9#\)/);
});

test('properties are not called unsigned where the reference to them cannot be followed', (t) => {
  const unread = (from: string): string =>
    enveloped('<x></x>', {
      signedInfo: (text) =>
        text.replace(new RegExp(`(URI="${from}".*?<ds:Transform Algorithm=")[^"]+`), '$1urn:x:unknown'),
    });
  t.is(reportOn(unread('#sig-properties')).indication, 'INDETERMINATE');
  const unsigned = enveloped('<x></x>', { propertiesSigned: false });
  t.is(reportOn(unsigned).indication, 'TOTAL-FAILED');
});

/** Enveloped signature whose older SigningCertificate writes the issuer, and the serial number, like this. */
function namedIssuer(
  signer: TestSigner,
  issuer: string,
  written = (serial: bigint) => serial.toString(),
): string {
  const serial = BigInt(
    `0x${inspectXadesDocument(Buffer.from(enveloped('<x></x>', { signer })))
      .signatures[0]?.certificate?.serial.subarray(2)
      .toString('hex')}`,
  );
  const digest = createHash('sha256').update(signer.certificate).digest('base64');
  const properties = goodProperties('sig', ['sig-r0'], { signer }).replace(
    /<xades:SigningCertificateV2>.*<\/xades:SigningCertificateV2>/s,
    `<xades:SigningCertificate><xades:Cert><xades:CertDigest><ds:DigestMethod xmlns:ds="${DS}" Algorithm="http://www.w3.org/2001/04/xmlenc#sha256"></ds:DigestMethod><ds:DigestValue xmlns:ds="${DS}">${digest}</ds:DigestValue></xades:CertDigest><xades:IssuerSerial><ds:X509IssuerName xmlns:ds="${DS}">${issuer}</ds:X509IssuerName><ds:X509SerialNumber xmlns:ds="${DS}">${written(serial)}</ds:X509SerialNumber></xades:IssuerSerial></xades:Cert></xades:SigningCertificate>`,
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

test('IssuerSerialV2 fails only when it contradicts the certificate that the digest names', (t) => {
  const signer = pki().signer('p-256');
  const good = issuerSerialOf(signer.certificate);
  const said = (der: Buffer): string[] =>
    complaints(
      enveloped('<x></x>', {
        signer,
        properties: goodProperties('sig', ['sig-r0'], { signer }).replace(
          /(?<=<xades:IssuerSerialV2>)[^<]*/,
          der.toString('base64'),
        ),
      }),
    );
  t.deepEqual(said(good), []);
  const at = good.indexOf('Sealwright tests');
  const otherString = Buffer.from(good);
  otherString[at - 2] = otherString[at - 2] === 0x0c ? 0x13 : 0x0c;
  t.deepEqual(said(otherString), [], 'the name is written anew with another type of string');
  const [names, serial] = childrenOf(readWhole(good));
  const name = childrenOf(childrenOf(names ?? readWhole(good))[0] ?? readWhole(good))[0];
  if (name === undefined || serial === undefined) throw new Error('the structure has two parts');
  const bare = sequence(encoded(name), encoded(serial));
  t.deepEqual(said(bare), ['warning certificate.issuer-name'], 'IssuerAndSerialNumber of CMS');
  t.deepEqual(said(Buffer.from('3003020101', 'hex')), ['warning certificate.issuer-name'], 'unreadable');
  const contradiction = ['failed certificate.binding SIG_CONSTRAINTS_FAILURE'];
  const otherSerial = Buffer.from(good);
  otherSerial[good.length - 1] = (good.at(-1) ?? 0) ^ 1;
  t.deepEqual(said(otherSerial), contradiction);
  const otherName = Buffer.from(good);
  otherName.write('F', at);
  t.deepEqual(said(otherName), contradiction);
});

test('a serial number in hexadecimal form is compared', (t) => {
  const said = (written: (serial: bigint) => string): string[] =>
    complaints(namedIssuer(pki().signer('p-256'), 'CN=Test Issuing CA,O=Sealwright tests,C=XX', written));
  t.deepEqual(said(String), []);
  t.deepEqual(
    said((serial) => serial.toString(16).toUpperCase()),
    ['warning certificate.issuer-name'],
  );
  t.deepEqual(
    said((serial) => `0x${serial.toString(16)}`),
    ['warning certificate.issuer-name'],
  );
  t.deepEqual(
    said((serial) => (serial + 1n).toString(16)),
    ['failed certificate.binding SIG_CONSTRAINTS_FAILURE'],
  );
});

// ——— transforms

const C14N = 'http://www.w3.org/TR/2001/REC-xml-c14n-20010315';
const C14N11 = 'http://www.w3.org/2006/12/xml-c14n11';
const XPATH = 'http://www.w3.org/TR/1999/REC-xpath-19991116';
const xpath = (expression: string): string => transform(XPATH, `<ds:XPath>${expression}</ds:XPath>`);
const NOT_SIGNATURE = xpath('not(ancestor-or-self::ds:Signature)');

/** One document whose transforms keep `data`; `SIGNATURE` marks the place of the signature. */
function transformed(document: string, data: string, transforms: string): string {
  return document.replace('SIGNATURE', forge({ references: [{ uri: '', data, transforms }] }));
}

/** Checks by xmlsec1 that the references of a file hold. */
async function holdsByXmlsec(file: string, idElements: readonly string[] = []): Promise<boolean> {
  const { text } = await byXmlsec(newFile(file), {
    idAttributes: idElements.map((element) => ['Id', element] as const),
  });
  const [, ok, all] = /References \(ok\/all\): (\d)\/(\d)/.exec(text) ?? [];
  return ok !== undefined && ok === all;
}

const PLAIN_INVOICE =
  '<?xml version="1.0" encoding="UTF-8"?>\n<e:Invoice xmlns:e="urn:e" xmlns:x="urn:x" xml:lang="es"><x:Extensions><x:Content/></x:Extensions><e:DE Id="d1"><e:total>35 Ñ</e:total></e:DE></e:Invoice>';

toolTest(
  'a plain signature has no properties, is over the whole invoice or an element of it, and holds for others',
  async (t) => {
    const inside = { place: '//x:Content' } as const;
    const beside = { packaging: 'element', elementId: 'd1' } as const;
    for (const canonicalization of ['exclusive', 'inclusive'] as const) {
      for (const at of [inside, beside, { ...beside, insertion: 'last-child' } as const]) {
        const what = `${canonicalization} ${JSON.stringify(at)}`;
        const { bytes, original, path } = signDocument(PLAIN_INVOICE, {
          signer: pki().signer('rsa-2048'),
          xades: { ...at, form: 'xmldsig', canonicalization },
        });
        const file = bytes.toString();
        t.regex(file, /<Signature xmlns="[^"]*"><SignedInfo>.*<\/KeyInfo><\/Signature>/, what);
        t.notRegex(file, /xades|<ds:|<Object/, what);
        t.is(file.includes('REC-xml-c14n-20010315'), canonicalization === 'inclusive', what);
        const [record] = reportOn(file).signatures;
        t.is(record?.indication, 'TOTAL-PASSED', `${what} ${JSON.stringify(record?.results)}`);
        t.is(record?.scope.kind, at === inside ? 'document' : 'element', what);
        t.is(reportOn(file.replace('35 Ñ', '36 Ñ')).signatures[0]?.subIndication, 'HASH_FAILURE', what);
        t.true(await holdsByXmlsec(file, ['DE']), what);
        t.is(await byAnother(file), canonicalization === 'inclusive' ? 'not-comparable' : 'valid', what);
        const sha256 = createHash('sha256').update(original).digest('hex');
        const made = {
          format: 'Xades',
          path,
          content: { sha256, length: original.length },
          at: NOW,
        } as const;
        const isPlaced = at === inside;
        t.true(verifyXades({ ...made, isPlaced, isPlain: true }).ok, what);
        t.false(verifyXades({ ...made, isPlaced }).ok, what);
      }
    }
  },
);

test('a plain signature with Canonical XML holds for another implementation, which knows no inherited xml:lang', async (t) => {
  const sign = (document: string): string =>
    signDocument(document, {
      signer: pki().signer('rsa-2048'),
      xades: { form: 'xmldsig', canonicalization: 'inclusive', packaging: 'element', elementId: 'd1' },
    }).bytes.toString();
  t.is(await byAnother(sign(PLAIN_INVOICE)), 'not-comparable');
  t.is(await byAnother(sign(PLAIN_INVOICE.replace(' xml:lang="es"', ''))), 'valid');
});

test('a plain signature is refused at a higher level, with a policy, beside others and outside of its document', (t) => {
  const sign =
    (options: SigningOptions, xades: XadesFormat = {}) =>
    () =>
      signDocument('<a Id="a"/>', { ...options, xades: { form: 'xmldsig', ...xades } });
  const refused = { code: 'request.invalid' };
  t.notThrows(sign({}));
  t.throws(sign({}, { coSignable: true }), refused);
  t.throws(sign({}, { packaging: 'enveloping' }), refused);
  t.throws(sign({}, { packaging: 'detached' }), refused);
  t.throws(sign({ policy: { oid: '1.2.3', digest: 'sha256', hash: Buffer.alloc(32) } }), refused);
});

/** Verdicts of the second implementation, which must never contradict. */
async function byAnother(file: string): Promise<string> {
  const { signatures } = await verifyIndependently({
    format: 'Xades',
    bytes: Buffer.from(file),
    at: Date.now(),
  });
  return signatures.map(({ verdict }) => verdict).join(' ');
}

toolTest('filters after a canonicalization are evaluated in the canonical form', async (t) => {
  const data = '<r><to>Ana</to></r>';
  const document = '<r ><to>Ana</to>SIGNATURE</r>';
  const orders: readonly (readonly [transforms: string, warnings: readonly string[], byXmlsec: boolean])[] = [
    [transform(C14N) + transform(ENVELOPED) + NOT_SIGNATURE, [], false],
    [transform(ENVELOPED) + transform(EXC) + NOT_SIGNATURE, [], true],
    [transform(C14N11) + NOT_SIGNATURE + transform(EXC), [], true],
    [transform(C14N) + transform(ENVELOPED), ['warning reference.transforms'], false],
  ];
  for (const [transforms, warnings, isComparable] of orders) {
    const file = transformed(document, data, transforms);
    t.deepEqual(complaints(file), warnings, transforms);
    t.is(reportOn(file).indication, 'TOTAL-PASSED', transforms);
    t.is(reportOn(file.replace('>Ana<', '>Eve<')).signatures[0]?.subIndication, 'HASH_FAILURE', transforms);
    t.is(await byAnother(file), 'not-comparable', transforms);
    if (isComparable) t.true(await holdsByXmlsec(file), transforms);
  }
  const other = '<ds:Signature xmlns:ds="http://www.w3.org/2000/09/xmldsig#"></ds:Signature>';
  const beside = transformed(
    `<r>${other}<to>Ana</to>SIGNATURE</r>`,
    `<r>${other}<to>Ana</to></r>`,
    orders[3]?.[0] ?? '',
  );
  t.is(
    reportOn(beside).signatures[1]?.indication,
    'TOTAL-PASSED',
    'the second signature is the one left out',
  );
});

test('an element that a filter keeps of a canonical form is named by its place in the document', (t) => {
  const part = '<part Id="p"><to>Ana</to></part>';
  const kept = (expression: string, data: string, head = ''): string[] => {
    const transforms = transform(EXC) + xpath(`ancestor-or-self::${expression}`);
    const signature = forge({ references: [{ uri: '#p', data, transforms }] });
    const file = `${head}<r><to>Eve</to>${part}${signature}</r>`;
    return [reportOn(file).signatures[0]?.scope.description ?? '', ...complaints(file)];
  };
  const whole = ['the element /r/part (#p)', 'warning scope.partial'];
  t.deepEqual(kept('part', part), whole, 'at the offset of the root of the document');
  t.deepEqual(kept('part', part, '<?xml version="1.0"?>'), whole, 'at another offset');
  t.deepEqual(kept('to', '<to>Ana</to>'), ['the element /r/part/to', 'warning scope.partial']);
  const transforms = transform(ENVELOPED) + transform(EXC) + xpath('ancestor-or-self::to');
  const signature = forge({ references: [{ uri: '', data: '<to>Ana</to>', transforms }] });
  for (const file of [`<r>${signature}<to>Ana</to></r>`, `<r><to>Ana</to>${signature}</r>`]) {
    t.deepEqual(complaints(file), ['warning scope.partial'], 'its offset can be one of the signature');
    t.is(reportOn(file).signatures[0]?.scope.description, 'the element /r/to');
  }
});

test('comments that a later canonicalization drops are reported', (t) => {
  const all = transform(`${C14N}#WithComments`);
  const file = (last: string, data: string): string => {
    const transforms = all + NOT_SIGNATURE + last;
    return `<r><to>10<!-- -->00</to>${forge({ references: [{ uri: '#xpointer(/)', data, transforms }] })}</r>`;
  };
  const said = (last: string, data: string) => {
    t.is(reportOn(file(last, data)).indication, 'TOTAL-PASSED');
    return complaints(file(last, data));
  };
  t.deepEqual(said(all, '<r><to>10<!-- -->00</to></r>'), []);
  t.deepEqual(said(transform(C14N), '<r><to>1000</to></r>'), ['warning scope.comment-in-text']);
  t.deepEqual(said('', '<r><to>1000</to></r>'), ['warning scope.comment-in-text'], 'by default');
});

test('a moved element is found when the enveloped transform follows a canonicalization', (t) => {
  const part = '<part Id="p"><to>Ana</to></part>';
  const position = (transforms: string): string | undefined => {
    const signature = forge({ references: [{ uri: '#p', data: part, transforms }] });
    const file = `<r><part><to>Eve</to>${signature}</part><aside>${part}</aside></r>`;
    return reportOn(file).signatures[0]?.subIndication;
  };
  t.is(position(transform(ENVELOPED) + transform(EXC)), 'SIG_CONSTRAINTS_FAILURE');
  t.is(position(transform(EXC) + transform(ENVELOPED)), 'SIG_CONSTRAINTS_FAILURE');
});

test('long paths of many elements are cut', (t) => {
  const names = Array.from({ length: 250 }, (_, index) => `n${index}${'n'.repeat(4000)}`);
  const start = names.map((name) => `<${name}>`).join('');
  const end = names
    .map((name) => `</${name}>`)
    .reverse()
    .join('');
  const transforms = transform(ENVELOPED) + transform(EXC) + xpath('not(ancestor-or-self::x)');
  const signature = forge({
    references: [{ uri: '', data: `<r><to>Ana</to>${start}${end}</r>`, transforms }],
  });
  // With a megabyte for each path they would not fit into the memory of the process.
  const many = Array.from({ length: 9000 }, (_, index) => `<x Id="x${index}"></x>`).join('');
  const [record] = reportOn(`<r><to>Ana</to>${start}${many}${end}${signature}</r>`).signatures;
  t.is(record?.indication, 'TOTAL-PASSED');
  t.is(record?.scope.description, 'the whole document without /r/…');
});

const QR = '<ref><id>QR</id><x>1</x></ref>';
const OTHER = '<ref><id>PO</id><x>1</x></ref>';
/** Invoice of which the extensions, a placeholder and one reference are not signed. */
const INVOICE = `<inv><exts><ext>SIGNATURE</ext></exts><no>F1</no>${QR}${OTHER}<mark></mark><due>10</due></inv>`;
const KEPT = `<inv><no>F1</no>${OTHER}<due>10</due></inv>`;

toolTest('elements that XPath transforms leave out are named, and the rest is signed', async (t) => {
  const conditions = ['ancestor-or-self::exts', 'ancestor-or-self::mark', "ancestor-or-self::ref[id='QR']"];
  for (const transforms of [
    conditions.map((one) => xpath(`not(${one})`)).join('') + transform(C14N11),
    xpath(`not(${conditions.join(' or ')})`) + transform(C14N),
    xpath(`not(${conditions.join('|')})`) + transform(EXC),
    xpath(conditions.map((one) => ` not ( ${one} ) `).join('and')),
  ]) {
    const file = transformed(INVOICE, KEPT, transforms);
    const [record] = reportOn(file).signatures;
    t.is(record?.indication, 'TOTAL-PASSED', JSON.stringify(record, undefined, 1));
    t.is(record?.scope.kind, 'element');
    t.is(record?.scope.description, 'the whole document without /inv/exts, /inv/ref, /inv/mark');
    t.deepEqual(complaints(file), ['warning scope.left-out']);
    t.true(await holdsByXmlsec(file), transforms);
    for (const [from, to] of [
      ['<due>10', '<due>11'],
      ['>PO<', '>QR<'],
      ['<no>', '<no a="1">'],
    ] as const) {
      t.is(
        reportOn(file.replace(from, to)).signatures[0]?.subIndication,
        'HASH_FAILURE',
        `${from} ${transforms}`,
      );
    }
    const grown = file
      .replace('<due>', '<exts><due>99</due></exts><due>')
      .replace('<due>10', '<due>1<mark></mark>0');
    t.deepEqual(complaints(grown), ['warning scope.left-out', 'warning scope.left-out-in-text']);
    t.is(
      reportOn(grown).signatures[0]?.scope.description,
      'the whole document without /inv/exts, /inv/ref, /inv/mark, /inv/due/mark',
    );
  }
});

toolTest('the spellings of profiles for leaving signatures out are evaluated', async (t) => {
  const data = '<r><sigs></sigs><to>Ana</to></r>';
  const document = '<r><sigs>SIGNATURE</sigs><to>Ana</to></r>';
  const outside = (name: string): string =>
    xpath(
      `count(ancestor-or-self::${name} | here()/ancestor::${name}[1]) &gt; count(ancestor-or-self::${name})`,
    );
  for (const transforms of [
    outside('ds:Signature'),
    xpath("not(ancestor-or-self::*[local-name()='Signature'])"),
  ]) {
    const file = transformed(document, data, transforms);
    t.deepEqual(complaints(file), [], transforms);
    t.is(reportOn(file).signatures[0]?.scope.description, 'the whole document');
    // With its tags: the signature stands before it, and Base64 may have these letters by chance.
    t.is(reportOn(file.replace('>Ana<', '>Eve<')).signatures[0]?.subIndication, 'HASH_FAILURE');
    t.true(await holdsByXmlsec(file), transforms);
  }
  const around = transformed(document, '<r><to>Ana</to></r>', outside('sigs'));
  t.is(reportOn(around).signatures[0]?.scope.description, 'the whole document without /r/sigs');
  t.true(await holdsByXmlsec(around));
  const filter = 'http://www.w3.org/2002/06/xmldsig-filter2';
  const subtract = transform(filter, `<f:XPath xmlns:f="${filter}" Filter="subtract">//sigs</f:XPath>`);
  const subtracted = transformed(document, '<r><to>Ana</to></r>', subtract);
  t.is(reportOn(subtracted).signatures[0]?.scope.description, 'the whole document without /r/sigs');
  t.true(await holdsByXmlsec(subtracted));
});

toolTest(
  'an expression that looks at the whole document leaves nothing, which is not called signed or broken',
  async (t) => {
    const transforms = xpath('not(//ancestor-or-self::exts)') + transform(C14N11);
    const asWritten = transformed(INVOICE, '', transforms);
    t.true(await holdsByXmlsec(asWritten), 'the digest is that of nothing');
    for (const file of [asWritten, asWritten.replace('<due>10', '<due>99')]) {
      const report = reportOn(file);
      t.is(report.indication, 'INDETERMINATE');
      t.deepEqual(
        report.signatures[0]?.results.errors.map(({ type }) => type),
        ['reference.transforms'],
      );
    }
    const unused = transformed(
      '<inv><no>F1</no>SIGNATURE</inv>',
      '<inv><no>F1</no></inv>',
      transform(ENVELOPED) + transforms,
    );
    t.is(reportOn(unused).indication, 'TOTAL-PASSED', 'there is no such element');
  },
);
