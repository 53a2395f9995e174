/** Properties and elements of KeyInfo, every one of the tables in every list, and what they do not name: nothing passes in silence. */
import { createHash, X509Certificate } from 'node:crypto';
import test from 'ava';
import { readCertificate } from '#crypto/x509/certificate.js';
import { serialText } from '#crypto/xades/elements/signature-text.js';
import { KEY_INFO_RULES } from '#crypto/xades/validation/key-info-rules.js';
import { PROPERTY_RULES } from '#crypto/xades/validation/property-rules.js';
import { type KeyKind, pki } from '../../pki/pki.ts';
import { DS, enveloped, goodProperties, reportOn, SHA256, XADES } from './forging.ts';

const V141 = 'http://uri.etsi.org/01903/v1.4.1#';
const NAMESPACES = [
  ['1', XADES],
  ['2', V141],
] as const;

/** Returns whether a signature with this property in this list has a warning about unknown ones. */
function isUnknown(list: string, property: string): boolean {
  const ids = ['sig-r0'];
  const signed = (before: string) =>
    goodProperties('sig', ids).replace(new RegExp(`(?=</xades:${before}>)`), property);
  const forgery = {
    SignedSignatureProperties: () => enveloped('x', { properties: signed('SignedSignatureProperties') }),
    SignedDataObjectProperties: () => enveloped('x', { properties: signed('SignedDataObjectProperties') }),
    UnsignedSignatureProperties: () => enveloped('x', { unsigned: property }),
    UnsignedDataObjectProperties: () =>
      enveloped('x', { unsigned: 'UNSIGNED' }).replace(
        /<xades:UnsignedSignatureProperties>UNSIGNED<\/xades:UnsignedSignatureProperties>/,
        `<xades:UnsignedDataObjectProperties>${property}</xades:UnsignedDataObjectProperties>`,
      ),
  }[list];
  if (forgery === undefined) throw new Error(list);
  const { signatures, indication } = reportOn(forgery());
  const [signature] = signatures;
  if (signature === undefined || /FAILED/.test(indication)) return true;
  return signature.results.warnings.some(({ type }) => type === 'attributes.unknown');
}

const RULES: { readonly [list: string]: { readonly [local: string]: string } } = PROPERTY_RULES;
const ALL = Object.values(RULES).flatMap((rules) => Object.entries(rules));

for (const [list, rules] of Object.entries(RULES)) {
  test(`${list}: a property of the table is known in its namespace, all others are named`, (t) => {
    for (const [local] of ALL) {
      for (const [version, namespace] of NAMESPACES) {
        const versions = Object.hasOwn(rules, local) ? rules[local] : undefined;
        const isKnown = versions?.includes(version) === true;
        const property = `<q:${local} xmlns:q="${namespace}"></q:${local}>`;
        // Required content is missing, so that those which are read fail or warn otherwise.
        if (isKnown && list.startsWith('Signed')) continue;
        t.is(isUnknown(list, property), !isKnown, `${local} ${version}`);
      }
    }
    t.true(isUnknown(list, '<q:Other xmlns:q="urn:other"></q:Other>'));
    t.true(isUnknown(list, `<q:CounterSignatures xmlns:q="${XADES}"></q:CounterSignatures>`));
  });
}

test('the certificate of the signer need not be the first that the properties name, but has to be named', (t) => {
  const named = (der: Buffer): string =>
    `<xades:Cert><xades:CertDigest><ds:DigestMethod xmlns:ds="${DS}" Algorithm="${SHA256}"></ds:DigestMethod>` +
    `<ds:DigestValue xmlns:ds="${DS}">${createHash('sha256').update(der).digest('base64')}</ds:DigestValue></xades:CertDigest></xades:Cert>`;
  const { chain, certificate } = pki().signer('p-256');
  const [authority = certificate] = chain;
  const report = (...all: readonly string[]) => {
    const properties = goodProperties('sig', ['sig-r0']).replace(
      /(<xades:SigningCertificateV2>).*(?=<\/xades:SigningCertificateV2>)/,
      (_, start) => start + all.join(''),
    );
    const [signature] = reportOn(enveloped('x', { properties })).signatures;
    const warned = signature?.results.warnings.map(({ type }) => type) ?? [];
    return [signature?.indication, ...warned].join(' ');
  };
  t.is(report(named(certificate), named(authority)), 'TOTAL-PASSED');
  t.is(report(named(authority), named(certificate)), 'TOTAL-PASSED certificate.binding');
  t.is(
    report(named(authority), '<xades:Cert></xades:Cert>', named(certificate)),
    'TOTAL-PASSED certificate.binding',
  );
  t.regex(report(named(authority)), /^TOTAL-FAILED/);
});

test('a counter-signature holds exactly one signature, and is left open otherwise', (t) => {
  const counters = (inside: string) =>
    reportOn(enveloped('x', { unsigned: `<xades:CounterSignature>${inside}</xades:CounterSignature>` }));
  for (const inside of ['', ' ', 'text', '<xades:Cert></xades:Cert>', '<other xmlns="urn:o"></other>']) {
    const report = counters(inside);
    t.is(report.signatures[0]?.indication, 'TOTAL-PASSED', inside);
    t.is(report.indication, 'INDETERMINATE', inside);
    t.deepEqual(
      report.signatures[0]?.counterSignatures.map(({ indication }) => indication),
      ['INDETERMINATE'],
      inside,
    );
  }
});

type Parent = keyof typeof KEY_INFO_RULES;

/** Returns the elements that the report names; `all` where it has none. */
function named(kind: KeyKind, parent: Parent, content: string): string {
  const signer = pki().signer(kind);
  const certificate = `<ds:X509Certificate>${signer.certificate.toString('base64')}</ds:X509Certificate>`;
  const inside = parent === 'X509Data' ? content : '';
  const beside = parent === 'KeyInfo' ? content : '';
  const keyInfo = `<ds:KeyInfo>${beside}<ds:X509Data>${certificate}${inside}</ds:X509Data></ds:KeyInfo>`;
  const { signatures } = reportOn(enveloped('x', { keyInfo, signer }));
  const { warnings } = signatures[0]?.results ?? { warnings: [] };
  return warnings.flatMap(({ type, detail }) => (type === 'certificate.key-info' ? [detail] : [])).join();
}

const bare = (der: Buffer) => new X509Certificate(der).subject.split('\n').reverse().join(', ');

/** Content of each element about a signer. */
function contentOf(kind: KeyKind): { readonly [local: string]: string } {
  const certificate = readCertificate(pki().signer(kind).certificate);
  const { n, e, x, y } = certificate.publicKey.export({ format: 'jwk' });
  const base64 = (text = '') => Buffer.from(text, 'base64url').toString('base64');
  const point = Buffer.concat([
    Buffer.from([4]),
    Buffer.from(x ?? '', 'base64url'),
    Buffer.from(y ?? '', 'base64url'),
  ]);
  const rsa = `<ds:RSAKeyValue><ds:Modulus>AA==</ds:Modulus><ds:Exponent>${base64(e)}</ds:Exponent></ds:RSAKeyValue>`;
  return {
    KeyValue:
      n === undefined
        ? `<e:ECKeyValue xmlns:e="http://www.w3.org/2009/xmldsig11#"><e:NamedCurve URI="urn:oid:1.2.840.10045.3.1.7"></e:NamedCurve><e:PublicKey>${point.toString('base64')}</e:PublicKey></e:ECKeyValue>`
        : rsa.replace(
            'AA==',
            Buffer.concat([Buffer.alloc(1), Buffer.from(n, 'base64url')]).toString('base64'),
          ),
    X509SubjectName: bare(certificate.der),
    X509IssuerSerial: `<ds:X509IssuerName>CN=A</ds:X509IssuerName><ds:X509SerialNumber>${serialText(certificate)}</ds:X509SerialNumber>`,
    X509SKI: certificate.subjectKeyId?.toString('base64') ?? '',
    X509Certificate: certificate.der.toString('base64'),
    X509CRL: '',
    X509Data: '',
  };
}

const PLACES = Object.entries(KEY_INFO_RULES).map(
  ([parent, rules]) => [parent as Parent, Object.keys(rules)] as const,
);
const LOCALS = [
  ...new Set(PLACES.flatMap(([, locals]) => locals)),
  'KeyName',
  'RetrievalMethod',
  'MgmtData',
  'X509Digest',
];
const READ = ['X509Certificate', 'X509CRL', 'X509Data'];

for (const [parent, locals] of PLACES) {
  test(`${parent}: what agrees with the certificate is silent, all else is named`, (t) => {
    for (const kind of ['p-256', 'rsa-2048'] as const) {
      for (const local of LOCALS) {
        const element = (content = 'Ana') => `<ds:${local}>${content}</ds:${local}>`;
        const isKnown = locals.includes(local);
        const own = contentOf(kind)[local];
        t.is(named(kind, parent, element(own)), isKnown ? '' : local, `${local} of the signer`);
        if (READ.includes(local)) continue;
        t.is(named(kind, parent, element(contentOf('p-384')[local])), local, `${local} of another`);
        t.is(named(kind, parent, element('')), local, `${local} without content`);
        t.is(named(kind, parent, element('?')), local, `${local} that cannot be read`);
      }
      t.is(
        named(kind, parent, '<q:X509Data xmlns:q="urn:x"></q:X509Data>'),
        'X509Data',
        'of another namespace',
      );
    }
  });
}

test('no KeyInfo and one as we write it are silent', (t) => {
  t.is(named('p-256', 'KeyInfo', ''), '');
  const { signatures } = reportOn(enveloped('x'));
  t.false(signatures[0]?.results.warnings.some(({ type }) => type === 'certificate.key-info'));
});
