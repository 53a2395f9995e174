/** Known attacks on XML signatures, each compared with the unmodified file. */
import { createHash } from 'node:crypto';
import test from 'ava';
import type { SubIndication } from '#crypto/core/validation-report.js';
import { inspectXadesDocument } from '#crypto/xades/validate.js';
import { pki } from '../../pki/pki.ts';
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

const PAY = '<pay Id="p">100</pay>';
const EVIL = '<pay Id="p">999</pay>';
const OBJECT_ID = 'o';
const swap = (text: string, from: string | RegExp, to: string): string => {
  const changed = text.replace(from, () => to);
  if (changed === text) throw new Error(`nothing to replace: ${from}`);
  return changed;
};
const signatureIn = (text: string): string => /<ds:Signature .*<\/ds:Signature>/s.exec(text)?.[0] ?? '';

/** Builds `<r>` with one element signed by its Id, and the signature as its sibling. */
const byId = (forgery: Partial<Forgery> = {}, data = PAY): string =>
  `<r>${data}${forge({ references: [{ uri: '#p', data }], ...forgery })}</r>`;
const whole = (content = PAY, forgery: Partial<Forgery> = {}): string => enveloped(content, forgery);
const enveloping = (forgery: Partial<Forgery> = {}): string => {
  const object = `<ds:Object xmlns:ds="${DS}" Id="${OBJECT_ID}">${PAY}</ds:Object>`;
  return forge({ references: [{ uri: `#${OBJECT_ID}`, data: object }], objects: object, ...forgery });
};
const withTransform = (more: string): string =>
  whole(PAY, {
    references: [
      { uri: '', data: `<r>${PAY}</r>`, transforms: transform(ENVELOPED) + more + transform(EXC) },
    ],
  });
const withoutEnveloped = (transforms: string, data = `<r>${PAY}</r>`): string =>
  whole(PAY, { references: [{ uri: '', data, transforms: transforms + transform(EXC) }] });
const XSLT = 'http://www.w3.org/TR/1999/REC-xslt-19991116';
const XPATH = 'http://www.w3.org/TR/1999/REC-xpath-19991116';
const FILTER = 'http://www.w3.org/2002/06/xmldsig-filter2';
const filter = (expression: string, kind = 'subtract'): string =>
  transform(FILTER, `<f:XPath xmlns:f="${FILTER}" Filter="${kind}">${expression}</f:XPath>`);
const xpath = (expression: string): string => transform(XPATH, `<ds:XPath>${expression}</ds:XPath>`);
const OWN =
  'count(ancestor-or-self::ds:Signature | here()/ancestor::ds:Signature[1]) &gt; count(ancestor-or-self::ds:Signature)';
const properties = (): string => goodProperties('sig', ['sig-r0']);

interface Attack {
  readonly what: string;
  readonly honest: () => string;
  readonly attack: () => string;
  readonly subIndication: SubIndication;
  /** Finding type that must fail. */
  readonly type: string;
}

const ATTACKS: readonly Attack[] = [
  {
    what: 'the signed element moved aside, another with the same Id in its place',
    honest: byId,
    attack: () => swap(swap(byId(), PAY, EVIL), '</r>', `<aside>${PAY}</aside></r>`),
    subIndication: 'FORMAT_FAILURE',
    type: 'structure.reference',
  },
  {
    what: 'the signed element wrapped in an object of its signature, another with the same Id in its place',
    honest: byId,
    attack: () =>
      swap(swap(byId(), PAY, EVIL), '</ds:Signature>', `<ds:Object>${PAY}</ds:Object></ds:Signature>`),
    subIndication: 'FORMAT_FAILURE',
    type: 'structure.reference',
  },
  {
    what: 'the signed element wrapped in an object of its signature, another without an Id in its place',
    honest: byId,
    attack: () =>
      swap(
        swap(byId(), PAY, '<pay>999</pay>'),
        '</ds:Signature>',
        `<ds:Object>${PAY}</ds:Object></ds:Signature>`,
      ),
    subIndication: 'SIG_CONSTRAINTS_FAILURE',
    type: 'scope.detour',
  },
  {
    what: 'the signed document wrapped in an object of its signature below another root',
    honest: whole,
    attack: () =>
      `<r><pay>999</pay>${swap(signatureIn(whole()), '</ds:Signature>', `<ds:Object><r>${PAY}</r></ds:Object></ds:Signature>`)}</r>`,
    subIndication: 'HASH_FAILURE',
    type: 'digest.content',
  },
  {
    what: 'the signed element moved below a sibling, with the signature that was enveloped in it left outside',
    honest: () =>
      `<w>${(() => {
        const data = `<r Id="p">100</r>`;
        const signature = forge({
          references: [{ uri: '#p', data, transforms: transform(ENVELOPED) + transform(EXC) }],
        });
        return data.replace('</r>', `${signature}</r>`);
      })()}</w>`,
    attack: () => {
      const data = `<r Id="p">100</r>`;
      const signature = forge({
        references: [{ uri: '#p', data, transforms: transform(ENVELOPED) + transform(EXC) }],
      });
      return `<w><r>999</r>${signature}<aside>${data}</aside></w>`;
    },
    subIndication: 'SIG_CONSTRAINTS_FAILURE',
    type: 'reference.position',
  },
  {
    what: 'changed SignedProperties in the place of the signed ones, which are kept in another object',
    honest: whole,
    attack: () => {
      const changed = properties().replace(/(?<=<xades:SigningTime>)\d{4}/, '1999');
      const fresh = changed.replace('Id="sig-properties"', 'Id="fresh"');
      return swap(
        swap(whole(), /<xades:SignedProperties.*<\/xades:SignedProperties>/s, fresh),
        '</ds:Signature>',
        `<ds:Object>${properties()}</ds:Object></ds:Signature>`,
      );
    },
    subIndication: 'FORMAT_FAILURE',
    type: 'structure.properties',
  },
  {
    what: 'an identifier given twice by attributes of different names',
    honest: byId,
    attack: () => swap(byId(), '<r>', '<r><pay ID="p">999</pay>'),
    subIndication: 'FORMAT_FAILURE',
    type: 'structure.reference',
  },
  {
    what: 'an identifier given twice, once by xml:id',
    honest: byId,
    attack: () => swap(byId(), '<r>', '<r><pay xml:id="p">999</pay>'),
    subIndication: 'FORMAT_FAILURE',
    type: 'structure.reference',
  },
  {
    what: 'the identifier of the signature given a second time, so that its properties point elsewhere',
    honest: whole,
    attack: () => whole('<x Id="sig"></x>'),
    subIndication: 'FORMAT_FAILURE',
    type: 'ids.unique',
  },
  {
    what: 'a transform by style sheet',
    honest: whole,
    attack: () =>
      withTransform(
        transform(
          XSLT,
          '<x:stylesheet xmlns:x="http://www.w3.org/1999/XSL/Transform" version="1.0"></x:stylesheet>',
        ),
      ),
    subIndication: 'SIGNED_DATA_NOT_FOUND',
    type: 'reference.transforms',
  },
  {
    what: 'an XPath transform that selects next to nothing',
    honest: () => withTransform(transform(XPATH, '<ds:XPath>not(ancestor-or-self::ds:Signature)</ds:XPath>')),
    attack: () => withTransform(transform(XPATH, '<ds:XPath>self::nothing</ds:XPath>')),
    subIndication: 'SIGNED_DATA_NOT_FOUND',
    type: 'reference.transforms',
  },
  {
    what: 'an XPath transform that leaves out more than signatures',
    honest: () => withTransform(transform(XPATH, '<ds:XPath>not(ancestor-or-self::ds:Signature)</ds:XPath>')),
    attack: () =>
      withTransform(
        transform(XPATH, '<ds:XPath>not(ancestor-or-self::ds:Signature or ancestor-or-self::pay)</ds:XPath>'),
      ),
    subIndication: 'SIGNED_DATA_NOT_FOUND',
    type: 'reference.transforms',
  },
  {
    what: 'an XPath filter that subtracts content',
    honest: () => withTransform(filter('/descendant::ds:Signature')),
    attack: () => withTransform(filter('/descendant::pay')),
    subIndication: 'SIGNED_DATA_NOT_FOUND',
    type: 'reference.transforms',
  },
  {
    what: 'an XPath filter that keeps signatures only',
    honest: () => withTransform(filter('//ds:Signature')),
    attack: () => withTransform(filter('//ds:Signature', 'intersect')),
    subIndication: 'FORMAT_FAILURE',
    type: 'structure.reference',
  },
  {
    what: 'an XPath filter whose prefix stands for another namespace',
    honest: () => withoutEnveloped(filter('//ds:Signature')),
    attack: () =>
      withoutEnveloped(
        transform(
          FILTER,
          `<f:XPath xmlns:e="urn:evil" xmlns:f="${FILTER}" Filter="subtract">//e:Signature</f:XPath>`,
        ),
      ),
    subIndication: 'HASH_FAILURE',
    type: 'digest.content',
  },
  {
    what: 'canonicalization twice, so that its bytes are read as another document',
    honest: whole,
    attack: () => withTransform(transform(EXC)),
    subIndication: 'SIGNED_DATA_NOT_FOUND',
    type: 'reference.transforms',
  },
  ...(
    [
      ['everything', 'not(ancestor-or-self::r)'],
      ['everything, by a path from the document', 'not(//ancestor-or-self::pay)'],
      ['all content', 'not(ancestor-or-self::pay)'],
      ['all but the signature', 'ancestor-or-self::ds:Signature'],
      ['more than it keeps a part of', 'not(ancestor-or-self::r) or ancestor-or-self::pay'],
    ] as const
  ).map(
    ([what, expression]): Attack => ({
      what: `an XPath transform that leaves out ${what}`,
      honest: () => withoutEnveloped(xpath('not(ancestor-or-self::ds:Signature)')),
      attack: () => withTransform(xpath(expression)),
      subIndication: 'SIGNED_DATA_NOT_FOUND',
      type: 'reference.transforms',
    }),
  ),
  {
    what: 'a second element with the name of the one that an XPath transform keeps',
    honest: () => withoutEnveloped(xpath('ancestor-or-self::pay'), PAY),
    attack: () =>
      swap(withoutEnveloped(xpath('ancestor-or-self::pay'), PAY), PAY, `<pay>999</pay><aside>${PAY}</aside>`),
    subIndication: 'SIGNED_DATA_NOT_FOUND',
    type: 'reference.transforms',
  },
  {
    what: 'the kept element of an XPath transform in an object of the signature, another name in its place',
    honest: () => withoutEnveloped(xpath('ancestor-or-self::pay'), PAY),
    attack: () =>
      swap(
        swap(withoutEnveloped(xpath('ancestor-or-self::pay'), PAY), PAY, '<Pay>999</Pay>'),
        '</ds:Signature>',
        `<ds:Object>${PAY}</ds:Object></ds:Signature>`,
      ),
    subIndication: 'SIG_CONSTRAINTS_FAILURE',
    type: 'scope.detour',
  },
  {
    what: 'signed properties of which an XPath transform leaves the time out',
    honest: whole,
    attack: () =>
      whole(PAY, {
        propertiesSigned: false,
        references: [
          { uri: '', data: `<r>${PAY}</r>`, transforms: transform(ENVELOPED) + transform(EXC) },
          {
            uri: '#sig-properties',
            data: goodProperties('sig', ['sig-r0', 'sig-r1']).replace(
              /<xades:SigningTime>.*<\/xades:SigningTime>/,
              '',
            ),
            transforms: xpath("not(ancestor-or-self::*[local-name()='SigningTime'])") + transform(EXC),
            type: 'http://uri.etsi.org/01903#SignedProperties',
          },
        ],
      }),
    subIndication: 'FORMAT_FAILURE',
    type: 'structure.properties',
  },
  {
    what: 'a manifest of which an XPath transform leaves the references out',
    honest: () => manifest('hello'),
    attack: () => manifest('hello', xpath('not(ancestor-or-self::ds:Reference)') + transform(EXC)),
    subIndication: 'FORMAT_FAILURE',
    type: 'reference.transforms',
  },
  {
    what: 'an element of a left-out name around signed content',
    honest: () => withoutEnveloped(xpath('not(ancestor-or-self::ds:Signature or ancestor-or-self::x)')),
    attack: () =>
      swap(
        withoutEnveloped(xpath('not(ancestor-or-self::ds:Signature or ancestor-or-self::x)')),
        PAY,
        `<x>${PAY}</x><pay>999</pay>`,
      ),
    subIndication: 'HASH_FAILURE',
    type: 'digest.content',
  },
  {
    what: 'here() after a canonicalization, where the expression is not in the document',
    honest: () => withoutEnveloped(xpath(OWN)),
    attack: () => withTransform(transform(EXC) + xpath(OWN)),
    subIndication: 'SIGNED_DATA_NOT_FOUND',
    type: 'reference.transforms',
  },
  ...(
    [
      [
        'long',
        `${' '.repeat(1000)}not(ancestor-or-self::q)${' '.repeat(1000)}`.replace(
          /^ /,
          'not(ancestor-or-self::q) and ',
        ),
      ],
      ['deep', `${'('.repeat(17)}not(ancestor-or-self::q)${')'.repeat(17)}`],
      ['wide', Array.from({ length: 33 }, () => 'not(ancestor-or-self::q)').join(' and ')],
      ['wide in predicates', `not(ancestor-or-self::q${'[@a]'.repeat(33)})`],
    ] as const
  ).map(
    ([what, expression]): Attack => ({
      what: `an XPath expression that is too ${what}`,
      honest: () => withTransform(xpath('(((not(ancestor-or-self::q))))')),
      attack: () => withTransform(xpath(expression)),
      subIndication: 'SIGNED_DATA_NOT_FOUND',
      type: 'reference.transforms',
    }),
  ),
  ...[
    'self::pay',
    'parent::r',
    'ancestor::r',
    'not(following::pay)',
    'string-length(.) > 0',
    "document('http://127.0.0.1:9/x')",
    'true()',
    'here()',
    'not(ancestor-or-self::u:q)',
    'not(ancestor-or-self::pay',
    'not(ancestor-or-self::pay[1])',
    'not(ancestor-or-self::pay/x)',
    'count(ancestor-or-self::pay | here()/ancestor::r[1]) &gt; count(ancestor-or-self::pay)',
    'count(ancestor-or-self::ds:Reference | here()/ancestor::ds:Reference[1]) &gt; count(ancestor-or-self::ds:Reference)',
    '',
  ].map(
    (expression): Attack => ({
      what: `an XPath expression that is not evaluated: ${expression}`,
      honest: () => withTransform(xpath('not(ancestor-or-self::q)')),
      attack: () => withTransform(xpath(expression)),
      subIndication: 'SIGNED_DATA_NOT_FOUND',
      type: 'reference.transforms',
    }),
  ),
  ...[
    'file:///etc/hostname',
    'http://127.0.0.1:9/x',
    '/etc/hostname',
    '../secret.txt',
    'data.txt',
    '//host/share',
  ].map(
    (uri): Attack => ({
      what: `a reference to ${uri}`,
      honest: whole,
      attack: () => whole(PAY, { references: [{ uri, data: 'x', transforms: '' }] }),
      subIndication: 'SIGNED_DATA_NOT_FOUND',
      type: 'reference.outside',
    }),
  ),
  {
    what: 'a reference that names nothing',
    honest: whole,
    attack: () => whole(PAY, { references: [{ data: 'x', transforms: '' }] }),
    subIndication: 'SIGNED_DATA_NOT_FOUND',
    type: 'reference.outside',
  },
  {
    what: 'an XPointer that selects by content',
    honest: () => byId({ references: [{ uri: "#xpointer(id('p'))", data: PAY }] }),
    attack: () => byId({ references: [{ uri: '#xpointer(//pay[1])', data: PAY }] }),
    subIndication: 'SIGNED_DATA_NOT_FOUND',
    type: 'reference.data',
  },
  {
    what: 'an identifier that differs only in how Unicode spells it',
    honest: () =>
      `<r><pay Id="\u00e9">1</pay>${forge({ references: [{ uri: '#\u00e9', data: '<pay Id="\u00e9">1</pay>' }] })}</r>`,
    attack: () =>
      `<r><pay Id="e\u0301">1</pay>${forge({ references: [{ uri: '#\u00e9', data: '<pay Id="\u00e9">1</pay>' }] })}</r>`,
    subIndication: 'SIGNED_DATA_NOT_FOUND',
    type: 'reference.data',
  },
  {
    what: 'a byte order mark in the middle of the text',
    honest: whole,
    attack: () => swap(whole(), '>100<', '>1\uFEFF00<'),
    subIndication: 'HASH_FAILURE',
    type: 'digest.content',
  },
  {
    what: 'a namespace redefined where it is used',
    honest: () => whole('<a:pay xmlns:a="urn:a">100</a:pay>'),
    attack: () => swap(whole('<a:pay xmlns:a="urn:a">100</a:pay>'), 'xmlns:a="urn:a"', 'xmlns:a="urn:b"'),
    subIndication: 'HASH_FAILURE',
    type: 'digest.content',
  },
  {
    what: 'a default namespace put around the document',
    honest: whole,
    attack: () => swap(whole(), '<r>', '<r xmlns="urn:evil">'),
    subIndication: 'HASH_FAILURE',
    type: 'digest.content',
  },
  {
    what: 'a document type declaration with an entity',
    honest: whole,
    attack: () => `<!DOCTYPE r [<!ENTITY e "999">]>${whole()}`,
    subIndication: 'GENERIC',
    type: 'structure.xml',
  },
  {
    what: 'a reference to an entity nobody declared',
    honest: whole,
    attack: () => swap(whole(), '>100<', '>&e;<'),
    subIndication: 'FORMAT_FAILURE',
    type: 'structure.xml',
  },
  {
    what: 'a keyed hash made with the public certificate',
    honest: whole,
    attack: () => whole(PAY, { method: 'http://www.w3.org/2001/04/xmldsig-more#hmac-sha256' }),
    subIndication: 'CRYPTO_CONSTRAINTS_FAILURE',
    type: 'algorithm.signature',
  },
  {
    what: 'a keyed hash cut to one bit',
    honest: whole,
    attack: () =>
      whole(PAY, {
        method: `${DS}hmac-sha1`,
        parameters: '<ds:HMACOutputLength>1</ds:HMACOutputLength>',
        value: 'gA==',
      }),
    subIndication: 'CRYPTO_CONSTRAINTS_FAILURE',
    type: 'algorithm.signature',
  },
  {
    what: 'a parameter in a signature algorithm that takes none',
    honest: whole,
    attack: () => whole(PAY, { parameters: '<ds:HMACOutputLength>0</ds:HMACOutputLength>' }),
    subIndication: 'FORMAT_FAILURE',
    type: 'algorithm.signature',
  },
  {
    what: 'a bare key in the place of the certificate',
    honest: whole,
    attack: () =>
      whole(PAY, {
        keyInfo:
          '<ds:KeyInfo><ds:KeyValue><ds:RSAKeyValue><ds:Modulus>AQ==</ds:Modulus><ds:Exponent>Aw==</ds:Exponent></ds:RSAKeyValue></ds:KeyValue></ds:KeyInfo>',
      }),
    subIndication: 'NO_SIGNING_CERTIFICATE_FOUND',
    type: 'certificate.signer',
  },
  {
    what: 'the certificate of somebody else',
    honest: whole,
    attack: () =>
      whole(PAY, {
        keyInfo: `<ds:KeyInfo><ds:X509Data><ds:X509Certificate>${pki().untrustedSigner().certificate.toString('base64')}</ds:X509Certificate></ds:X509Data></ds:KeyInfo>`,
      }),
    subIndication: 'NO_SIGNING_CERTIFICATE_FOUND',
    type: 'certificate.binding',
  },
  {
    what: 'the certificate of somebody else, named by properties that are not signed',
    honest: whole,
    attack: () =>
      whole(PAY, {
        signer: pki().signer('p-256'),
        properties: goodProperties('sig', ['sig-r0'], { signer: pki().untrustedSigner() }),
        propertiesSigned: false,
      }),
    subIndication: 'FORMAT_FAILURE',
    type: 'structure.properties',
  },
  {
    what: 'a reference without a digest',
    honest: whole,
    attack: () => whole(PAY, { references: [{ uri: '', data: '', digestValue: '' }] }),
    subIndication: 'FORMAT_FAILURE',
    type: 'structure.signature',
  },
  {
    what: 'a reference with an empty digest',
    honest: whole,
    attack: () =>
      whole(PAY, { references: [{ uri: '', data: '', digestValue: '<ds:DigestValue></ds:DigestValue>' }] }),
    subIndication: 'FORMAT_FAILURE',
    type: 'structure.signature',
  },
  {
    what: 'SignedInfo without any reference',
    honest: whole,
    attack: () => whole(PAY, { references: [], propertiesSigned: false }),
    subIndication: 'FORMAT_FAILURE',
    type: 'structure.signature',
  },
  {
    what: 'a signature over its own properties alone',
    honest: whole,
    attack: () => whole(PAY, { references: [] }),
    subIndication: 'FORMAT_FAILURE',
    type: 'structure.scope',
  },
  {
    what: 'signed properties that no reference is over',
    honest: whole,
    attack: () => whole(PAY, { propertiesSigned: false }),
    subIndication: 'FORMAT_FAILURE',
    type: 'structure.properties',
  },
  {
    what: 'the type of signed properties on a reference to something else',
    honest: byId,
    attack: () =>
      byId({
        references: [{ uri: '#p', data: PAY, type: 'http://uri.etsi.org/01903#SignedProperties' }],
        propertiesSigned: false,
      }),
    subIndication: 'FORMAT_FAILURE',
    type: 'structure.properties',
  },
  {
    what: 'signed properties of which a transform keeps the text alone',
    honest: whole,
    attack: () =>
      whole(PAY, {
        propertiesSigned: false,
        references: [
          { uri: '', data: `<r>${PAY}</r>`, transforms: transform(ENVELOPED) + transform(EXC) },
          {
            uri: '#sig-properties',
            data: '',
            transforms: transform(`${DS}base64`),
            type: 'http://uri.etsi.org/01903#SignedProperties',
          },
        ],
      }),
    subIndication: 'FORMAT_FAILURE',
    type: 'structure.properties',
  },
  {
    what: 'qualifying properties that are meant for another signature',
    honest: whole,
    attack: () => swap(whole(), 'Target="#sig"', 'Target="#other"'),
    subIndication: 'FORMAT_FAILURE',
    type: 'structure.signature',
  },
  {
    what: 'qualifying properties given twice',
    honest: whole,
    attack: () =>
      swap(
        whole(),
        '</ds:Signature>',
        `<ds:Object><xades:QualifyingProperties xmlns:xades="${XADES}" Target="#sig"></xades:QualifyingProperties></ds:Object></ds:Signature>`,
      ),
    subIndication: 'FORMAT_FAILURE',
    type: 'structure.signature',
  },
  {
    what: 'Base64 with characters that some decoders pass over',
    honest: () => {
      const object = `<ds:Object Id="o">aGVsbG8=</ds:Object>`;
      return forge({
        references: [{ uri: '#o', data: 'hello', transforms: transform(`${DS}base64`) }],
        objects: object,
      });
    },
    attack: () => {
      const object = `<ds:Object Id="o">aGV*sbG8=</ds:Object>`;
      return forge({
        references: [{ uri: '#o', data: 'hello', transforms: transform(`${DS}base64`) }],
        objects: object,
      });
    },
    subIndication: 'FORMAT_FAILURE',
    type: 'structure.reference',
  },
  {
    what: 'Base64 with elements between, which are not part of what is decoded',
    honest: () => {
      const object = `<ds:Object Id="o">aGVsbG8=</ds:Object>`;
      return forge({
        references: [{ uri: '#o', data: 'hello', transforms: transform(`${DS}base64`) }],
        objects: object,
      });
    },
    attack: () => {
      const object = `<ds:Object Id="o">aGVs<pay to="evil"></pay>bG8=</ds:Object>`;
      return forge({
        references: [{ uri: '#o', data: 'hello', transforms: transform(`${DS}base64`) }],
        objects: object,
      });
    },
    subIndication: 'SIGNED_DATA_NOT_FOUND',
    type: 'reference.transforms',
  },
  {
    what: 'the value of another SignedInfo',
    honest: whole,
    attack: () => {
      const [, value = ''] = /<ds:SignatureValue[^>]*>([^<]*)</.exec(whole('<other></other>')) ?? [];
      return whole(PAY, { value });
    },
    subIndication: 'SIG_CRYPTO_FAILURE',
    type: 'signature.value',
  },
  {
    what: 'a second SignedInfo in front of the signed one',
    honest: whole,
    attack: () => swap(whole(), '<ds:SignedInfo', '<ds:SignedInfo></ds:SignedInfo><ds:SignedInfo'),
    subIndication: 'FORMAT_FAILURE',
    type: 'structure.signature',
  },
  {
    what: 'a manifest one of whose files has changed',
    honest: () => manifest('hello'),
    attack: () => manifest('jello'),
    subIndication: 'HASH_FAILURE',
    type: 'digest.content',
  },
  {
    what: 'a document nested deeper than verifiers read',
    honest: whole,
    attack: () => swap(whole(), PAY, `${'<a>'.repeat(300)}${'</a>'.repeat(300)}`),
    subIndication: 'GENERIC',
    type: 'structure.xml',
  },
  {
    what: 'an element with more attributes than anybody needs',
    honest: whole,
    attack: () =>
      swap(whole(), '<pay ', `<pay ${Array.from({ length: 5000 }, (_, index) => `a${index}="" `).join('')}`),
    subIndication: 'GENERIC',
    type: 'structure.xml',
  },
];

/** Builds a manifest over one element of the document. */
function manifest(content: string, transforms = transform(EXC)): string {
  const data = `<x Id="listed">hello</x>`;
  const digest = createHash('sha256').update(data).digest('base64');
  const list =
    `<ds:Manifest xmlns:ds="${DS}" Id="m"><ds:Reference URI="#listed"><ds:Transforms>${transform(EXC)}</ds:Transforms>` +
    `<ds:DigestMethod Algorithm="${SHA256}"></ds:DigestMethod><ds:DigestValue>${digest}</ds:DigestValue></ds:Reference></ds:Manifest>`;
  const signature = forge({
    references: [
      {
        uri: '#m',
        // What is left of it by a transform that leaves its references out.
        data: transforms === transform(EXC) ? list : list.replace(/<ds:Reference.*<\/ds:Reference>/s, ''),
        type: `${DS}Manifest`,
        transforms,
      },
    ],
    objects: `<ds:Object>${list}</ds:Object>`,
  });
  return `<r>${data.replace('hello', content)}${signature}</r>`;
}

for (const { what, honest, attack, subIndication, type } of ATTACKS) {
  test(`a legitimate signature passes and the attack on it does not: ${what}`, (t) => {
    const good = reportOn(honest());
    t.is(good.indication, 'TOTAL-PASSED', JSON.stringify(good, undefined, 1));
    const file = attack();
    const bad = reportOn(file);
    t.not(bad.indication, 'TOTAL-PASSED');
    const failed = complaints(file).filter((one) => one.startsWith('failed '));
    t.true(failed.includes(`failed ${type} ${subIndication}`), failed.join('\n'));
  });
}

test('comments in signed text are reported, since they can truncate a value for some readers', (t) => {
  t.deepEqual(complaints(whole()), []);
  t.deepEqual(complaints(swap(whole(), '>100<', '>1<!-- -->00<')), ['warning scope.comment-in-text']);
  t.deepEqual(complaints(swap(whole(), '<pay', '<!-- --><pay')), ['warning scope.comments']);
});

test('unsigned content beside the signed content is reported', (t) => {
  t.deepEqual(complaints(byId()), ['warning scope.partial']);
  t.deepEqual(complaints(enveloping()), []);
  const loose = swap(whole(), '</ds:Signature>', '<ds:Object><pay>999</pay></ds:Object></ds:Signature>');
  t.deepEqual(complaints(loose), ['warning scope.unsigned-object']);
  const [record] = reportOn(`<w><pay>999</pay><aside>${byId()}</aside></w>`).signatures;
  t.is(record?.scope.description, 'the element /w/aside/r/pay (#p)');
});

test('five hundred references to a whole large document are refused before they are computed', (t) => {
  const content = `<x>${'y'.repeat(2_000_000)}</x>`;
  const prefixes = (index: number): string =>
    `<i:InclusiveNamespaces xmlns:i="${EXC}" PrefixList="p${index}"></i:InclusiveNamespaces>`;
  const references = Array.from({ length: 500 }, (_, index) => ({
    uri: '',
    data: '',
    transforms: transform(ENVELOPED) + transform(EXC, prefixes(index)),
  }));
  const file = whole(content, { references });
  const { signatures } = inspectXadesDocument(Buffer.from(file));
  const messages = signatures[0]?.findings.map(({ message }) => message) ?? [];
  t.true(messages.some((message) => /cover the same bytes too many times/.test(message)));
  t.is(reportOn(file).indication, 'TOTAL-FAILED');
  t.is(reportOn(whole(content)).indication, 'TOTAL-PASSED');
});

test('filters that compare more than can be done for one file end as not followed', (t) => {
  const condition = Array.from(
    { length: 15 },
    (_, index) => `ancestor-or-self::*[b='${'z'.repeat(20)}${index}']`,
  );
  const transforms = xpath(`not(${condition.join('|')})`) + transform(EXC);
  const nested = `<b>${'<b>x<!-- -->'.repeat(240)}${'</b>'.repeat(240)}${'<c></c>x'.repeat(2000)}</b>`;
  const references = Array.from({ length: 40 }, (_, index) => ({
    uri: '',
    data: '',
    transforms: transforms.replace("0'", `${index}'`),
  }));
  const file = whole(nested.repeat(8), { references });
  const [signature] = reportOn(file).signatures;
  t.true(signature?.results.errors.some(({ message }) => /take too much work/.test(message)));
});

test('a file of thousands of signatures is refused after the first few hundred', (t) => {
  const file = `<r>${'<ds:Signature xmlns:ds="http://www.w3.org/2000/09/xmldsig#"></ds:Signature>'.repeat(5000)}</r>`;
  const { signatures, findings } = inspectXadesDocument(Buffer.from(file));
  t.is(signatures.length, 256);
  t.is(findings[0]?.type, 'file.signatures');
  t.is(reportOn(file).indication, 'TOTAL-FAILED');
});

test('a counter-signature counts only over the value of the signature that contains it', (t) => {
  const host = whole();
  const value = /<ds:SignatureValue Id="sig-value">[^<]*<\/ds:SignatureValue>/.exec(host)?.[0] ?? '';
  const data = swap(value, ' Id=', ` xmlns:ds="${DS}" Id=`);
  const type = 'http://uri.etsi.org/01903#CountersignedSignature';
  const inside = (inner: string): string =>
    swap(
      host,
      '</xades:SignedProperties>',
      `</xades:SignedProperties><xades:UnsignedProperties><xades:UnsignedSignatureProperties><xades:CounterSignature>${inner}</xades:CounterSignature></xades:UnsignedSignatureProperties></xades:UnsignedProperties>`,
    );
  const counter = (reference: Forgery['references'][number]): string =>
    inside(forge({ id: 'c', references: [reference], properties: goodProperties('c', []) }));
  const honest = reportOn(counter({ uri: '#sig-value', data, type }));
  t.is(honest.indication, 'TOTAL-PASSED', JSON.stringify(honest, undefined, 1));
  t.is(honest.signatures.length, 1);
  t.is(honest.signatures[0]?.counterSignatures[0]?.indication, 'TOTAL-PASSED');
  t.is(honest.signatures[0]?.counterSignatures[0]?.level, 'B');
  t.is(honest.signatures[0]?.counterSignatures[0]?.scope.description, 'the signature sig');
  const elsewhere = reportOn(counter({ uri: '#p', data: PAY, type }));
  t.is(elsewhere.signatures[0]?.counterSignatures[0]?.indication, 'TOTAL-FAILED');
  const other = reportOn(counter({ uri: '#sig-value', data: data.replace('>', '>A'), type }));
  t.is(other.signatures[0]?.counterSignatures[0]?.subIndication, 'HASH_FAILURE');
});
