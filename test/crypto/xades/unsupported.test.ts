/**
 * What cannot be judged is INDETERMINATE and named; only what was computed and differs, or what the format forbids, is
 * TOTAL-FAILED. Over every algorithm of XML Signature 1.1 and RFC 9231, and ones that nobody knows.
 */
import { constants, createHash, sign } from 'node:crypto';
import test from 'ava';
import type { ValidationItem } from '#crypto/core/validation-report.js';
import { hashOf, valueMethodOf } from '#crypto/xades/validation/algorithms.js';
import { canonicalize, Names } from '#crypto/xml/index.js';
import { type KeyKind, pki } from '../../pki/pki.ts';
import {
  DS,
  ENVELOPED,
  EXC,
  enveloped,
  type ForgedReference,
  type Forgery,
  forge,
  reportOn,
  transform,
} from './forging.ts';

const MORE = 'http://www.w3.org/2001/04/xmldsig-more#';
const MORE_2007 = 'http://www.w3.org/2007/05/xmldsig-more#';
const DSIG11 = 'http://www.w3.org/2009/xmldsig11#';
const MORE_2021 = 'http://www.w3.org/2021/04/xmldsig-more#';
const XMLENC = 'http://www.w3.org/2001/04/xmlenc#';
const C14N = 'http://www.w3.org/TR/2001/REC-xml-c14n-20010315';
const UNKNOWN = ['urn:x:unknown', 'https://example.test/algorithm?a=1&amp;b=2#c', `${DS}sha9`];

const from = (base: string, names: string): string[] => names.split(' ').map((name) => base + name);

const DIGESTS = [
  `${DS}sha1`,
  ...from(MORE, 'md5 sha224 sha384'),
  ...from(XMLENC, 'sha256 sha512 ripemd160'),
  ...from(MORE_2007, 'sha3-224 sha3-256 sha3-384 sha3-512 whirlpool'),
  ...UNKNOWN,
];

const VALUES = [
  ...from(DS, 'dsa-sha1 rsa-sha1 hmac-sha1'),
  ...from(DSIG11, 'dsa-sha256'),
  ...from(MORE, 'rsa-md5 rsa-sha224 rsa-sha256 rsa-sha384 rsa-sha512 rsa-ripemd160'),
  ...from(MORE, 'ecdsa-sha1 ecdsa-sha224 ecdsa-sha256 ecdsa-sha384 ecdsa-sha512'),
  ...from(MORE, 'esign-sha1 esign-sha224 esign-sha256 esign-sha384 esign-sha512'),
  ...from(MORE, 'hmac-md5 hmac-ripemd160 hmac-sha224 hmac-sha256 hmac-sha384 hmac-sha512'),
  ...from(MORE_2007, 'rsa-pss rsa-sha224 rsa-whirlpool ecdsa-ripemd160 ecdsa-whirlpool MGF1'),
  ...from(MORE_2007, 'md2-rsa-MGF1 md5-rsa-MGF1 ripemd128-rsa-MGF1 ripemd160-rsa-MGF1 whirlpool-rsa-MGF1'),
  ...from(MORE_2007, 'sha1-rsa-MGF1 sha224-rsa-MGF1 sha256-rsa-MGF1 sha384-rsa-MGF1 sha512-rsa-MGF1'),
  ...from(MORE_2007, 'sha3-224-rsa-MGF1 sha3-256-rsa-MGF1 sha3-384-rsa-MGF1 sha3-512-rsa-MGF1'),
  ...from(MORE_2021, 'ecdsa-sha3-224 ecdsa-sha3-256 ecdsa-sha3-384 ecdsa-sha3-512'),
  ...from(MORE_2021, 'eddsa-ed25519 eddsa-ed25519ctx eddsa-ed25519ph eddsa-ed448 eddsa-ed448ph'),
  ...from(MORE_2021, 'hmac-sha3-224 hmac-sha3-256 hmac-sha3-384 hmac-sha3-512 siphash-2-4'),
  ...from(MORE_2021, 'xmss-sha2-10-256 xmssmt-sha2-20-2-256 hsslms sphincs-sha2-128s'),
  ...UNKNOWN,
];

const CANONICALIZATIONS = [
  C14N,
  `${C14N}#WithComments`,
  'http://www.w3.org/2006/12/xml-c14n11',
  'http://www.w3.org/2006/12/xml-c14n11#WithComments',
  EXC,
  `${EXC}WithComments`,
  `${DS}minimal`,
  'http://www.w3.org/2010/xml-c14n2',
  ...UNKNOWN,
];

const TRANSFORMS = [
  ...CANONICALIZATIONS,
  `${DS}base64`,
  `${DS}enveloped-signature`,
  'http://www.w3.org/TR/1999/REC-xpath-19991116',
  'http://www.w3.org/2002/06/xmldsig-filter2',
  'http://www.w3.org/TR/1999/REC-xslt-19991116',
  `${MORE}xptr`,
  'http://www.w3.org/2002/07/decrypt#XML',
  'http://www.w3.org/2002/07/decrypt#Binary',
  'http://www.w3.org/2001/04/decrypt#',
  'http://www.w3.org/2010/xmldsig2#transform',
  'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-soap-message-security-1.0#STR-Transform',
  'http://schemas.openxmlformats.org/package/2006/RelationshipTransform',
];

const CONTENT = '<pay>100</pay>';
const plain = (uri: string): string => uri.replaceAll('&amp;', '&');

interface Judged {
  readonly indication: string;
  readonly errors: readonly ValidationItem[];
  readonly text: string;
}

function judge(forgery: Partial<Forgery>): Judged {
  const [record] = reportOn(enveloped(CONTENT, forgery)).signatures;
  const errors = record?.results.errors ?? [];
  const text = errors.map(({ message, detail = '' }) => `${message} ${detail}`).join('\n');
  return { indication: record?.indication ?? 'none', errors, text };
}

const reference = (more: Partial<ForgedReference> = {}): ForgedReference => ({
  uri: '',
  data: `<r>${CONTENT}</r>`,
  transforms: transform(ENVELOPED) + transform(EXC),
  ...more,
});

for (const uri of DIGESTS)
  test(`a digest by ${uri} is judged, or is not called broken`, (t) => {
    const hash = hashOf(uri);
    const digest = (hash === undefined ? createHash('sha256') : createHash(hash)).update(`<r>${CONTENT}</r>`);
    const digestValue = (value: Buffer): string =>
      `<ds:DigestValue>${value.toString('base64')}</ds:DigestValue>`;
    const value = digest.digest();
    const good = judge({ references: [reference({ digestMethod: uri, digestValue: digestValue(value) })] });
    t.not(good.indication, 'TOTAL-FAILED', good.text);
    if (hash === undefined) t.true(good.text.includes(plain(uri)), good.text);
    const other = Buffer.from(value).fill(0, 0, 1);
    const bad = judge({ references: [reference({ digestMethod: uri, digestValue: digestValue(other) })] });
    t.is(bad.indication, hash === undefined ? 'INDETERMINATE' : 'TOTAL-FAILED', bad.text);
  });

const KEYS: { readonly [scheme: string]: KeyKind } = {
  'rsa-pkcs1': 'rsa-3072',
  'rsa-pss': 'rsa-3072',
  ecdsa: 'p-256',
  ed25519: 'ed25519',
};

for (const method of VALUES)
  test(`a value by ${method} is judged, or is not called broken`, (t) => {
    const known = valueMethodOf(method);
    const signer = pki().signer(KEYS[known?.scheme ?? 'ecdsa'] ?? 'p-256');
    const pss = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST };
    const made = (data: Buffer): Buffer =>
      sign(known?.scheme === 'ed25519' ? null : (known?.hash ?? 'sha256'), data, {
        key: signer.key.keyObject,
        dsaEncoding: 'ieee-p1363',
        ...(known?.scheme === 'rsa-pss' && pss),
      });
    const good = judge({ method, signer, sign: made });
    t.not(good.indication, 'TOTAL-FAILED', good.text);
    if (known === undefined) t.true(good.text.includes(plain(method)), good.text);
    const bad = judge({ method, signer, sign: (data) => made(Buffer.concat([data, data])) });
    t.is(bad.indication, known === undefined ? 'INDETERMINATE' : 'TOTAL-FAILED', bad.text);
  });

/** Methods that are followed without parameters. */
const isCanonical = (uri: string): boolean => /xml-c14n11|REC-xml-c14n|xml-exc-c14n/.test(uri);

for (const uri of CANONICALIZATIONS)
  test(`SignedInfo by ${uri} is judged, or is not called broken`, (t) => {
    const inclusive = (text: string): string => {
      const parts: Buffer[] = [];
      const document = { utf8: Buffer.from(text), names: new Names() };
      const kind = { kind: 'inclusive-1.0', comments: false, prefixes: [] } as const;
      canonicalize(document, undefined, {
        method: kind,
        sink: { update: (bytes) => parts.push(Buffer.from(bytes)) },
      });
      return Buffer.concat(parts).toString();
    };
    const signedInfo = (text: string): string =>
      inclusive(
        text.replace(
          `CanonicalizationMethod Algorithm="${EXC}"`,
          () => `CanonicalizationMethod Algorithm="${uri}"`,
        ),
      );
    const { indication, text } = judge({ signedInfo });
    t.is(indication, isCanonical(uri) ? 'TOTAL-PASSED' : 'INDETERMINATE', text);
    if (!isCanonical(uri)) t.true(text.includes(plain(uri)), text);
  });

for (const uri of TRANSFORMS)
  test(`a reference by ${uri} is judged, or is not called broken`, (t) => {
    const expressions: { readonly [uri: string]: string } = {
      'http://www.w3.org/TR/1999/REC-xpath-19991116':
        '<ds:XPath>not(ancestor-or-self::ds:Signature)</ds:XPath>',
      'http://www.w3.org/2002/06/xmldsig-filter2':
        '<f:XPath xmlns:f="http://www.w3.org/2002/06/xmldsig-filter2" Filter="subtract">/descendant::ds:Signature</f:XPath>',
    };
    const own = expressions[uri];
    const transforms = own === undefined ? transform(ENVELOPED) + transform(uri) : transform(uri, own);
    const followed = isCanonical(uri) || own !== undefined || uri === ENVELOPED;
    const { indication, text } = judge({ references: [reference({ transforms })] });
    t.is(indication, followed ? 'TOTAL-PASSED' : 'INDETERMINATE', text);
    if (!followed && uri !== `${DS}base64`) t.true(text.includes(plain(uri)), text);
    const changed = judge({ references: [reference({ transforms, data: '<r></r>' })] });
    t.is(changed.indication, followed ? 'TOTAL-FAILED' : 'INDETERMINATE', changed.text);
  });

test('Base64 text is decoded, and elements in it are not followed', (t) => {
  const object = (inside: string): string =>
    forge({
      references: [{ uri: '#o', data: 'Hello World', transforms: transform(`${DS}base64`) }],
      objects: `<ds:Object Id="o">${inside}</ds:Object>`,
    });
  t.is(reportOn(object('SGVsbG8gV29ybGQ=')).indication, 'TOTAL-PASSED');
  t.is(reportOn(object('SGVsbG8<!-- -->gV29ybGQ=')).indication, 'TOTAL-PASSED');
  t.is(reportOn(object('SGVsbG8<b>gV29y</b>bGQ=')).indication, 'INDETERMINATE');
  t.is(reportOn(object('SGVsbG8gV29ybGR=!')).indication, 'TOTAL-FAILED', 'no Base64');
});

test('XML that is not read is not called broken, and no entity is expanded', (t) => {
  const good = enveloped(CONTENT);
  const sub = (file: string | Buffer): string | undefined => {
    const { indication, results, signatures } = reportOn(file);
    t.is(signatures.length, 0);
    return `${indication} ${results.errors.map(({ detail }) => detail).join()}`;
  };
  const entities = '<!DOCTYPE r [<!ENTITY a "100"><!ENTITY b "&a;&a;&a;">]>';
  t.is(sub(`${entities}${good}`), 'INDETERMINATE xml.dtd');
  t.is(sub(`<!DOCTYPE r SYSTEM "http://127.0.0.1:1/r.dtd">${good}`), 'INDETERMINATE xml.dtd');
  t.is(sub(`<?xml version="1.1"?>${good}`), 'INDETERMINATE xml.malformed');
  t.is(sub(`${'<a>'.repeat(300)}${good}${'</a>'.repeat(300)}`), 'INDETERMINATE xml.too-deep');
  t.is(
    sub(`<r ${Array.from({ length: 5000 }, (_, at) => `a${at}=""`).join(' ')}/>`),
    'INDETERMINATE xml.malformed',
  );
  t.is(sub(`${good}<`), 'TOTAL-FAILED xml.malformed', 'this is broken');
  t.is(sub(good.replace('100', '&a;')), 'TOTAL-FAILED xml.malformed', 'an entity that nothing defines');
  const commented = reportOn(`<!-- ${entities} -->${good}`);
  t.is(commented.indication, 'TOTAL-PASSED', 'a type declaration in a comment is none');
});

test('comments in values of a signature cause a warning, wherever they stand', (t) => {
  const good = enveloped(CONTENT);
  const cuts: { readonly [name: string]: RegExp } = {
    SignatureValue: /(?<=<ds:SignatureValue[^>]*>.{20})/,
    X509Certificate: /(?<=<ds:X509Certificate>.{20})/,
    DigestValue: /(?<=<ds:DigestValue>.{20})/,
    'DigestValue of the certificate': /(?<=<xades:CertDigest>.*?<ds:DigestValue[^>]*>.{20})/,
    IssuerSerialV2: /(?<=<xades:IssuerSerialV2>.{8})/,
    SigningTime: /(?<=<xades:SigningTime>.{8})/,
  };
  for (const [name, at] of Object.entries(cuts)) {
    for (const markup of ['<!-- x -->', '<!---->']) {
      const { indication, signatures } = reportOn(good.replace(at, markup));
      t.is(indication, 'TOTAL-PASSED', name);
      const warnings = signatures[0]?.results.warnings.map(({ type, detail }) => `${type} ${detail}`);
      t.deepEqual(warnings, [`structure.comment ${name.split(' ')[0]}`], name);
    }
    const changed = good.replace(at, 'AAAA<!-- x -->');
    t.not(reportOn(changed).indication, 'TOTAL-PASSED', `${name} changed`);
  }
});
