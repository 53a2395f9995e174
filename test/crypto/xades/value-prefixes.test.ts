/** Prefixes in values: our signatures bind them, and validation reports those that a signature does not bind. */
import { readFileSync, writeFileSync } from 'node:fs';
import test from 'ava';
import type { XadesFormat } from '#crypto/core/types.js';
import { canonicalize, EXCLUSIVE, Names } from '#crypto/xml/index.js';
import { pki } from '../../pki/pki.ts';
import { withTools } from '../../verifiers/index.ts';
import { complaints, ENVELOPED, EXC, enveloped, reportOn, transform } from './forging.ts';
import { byXmlsec, newPath, signDocument, verdict } from './signing.ts';

const toolTest = withTools(test, 'xmlsec1');

const XSI = 'http://www.w3.org/2001/XMLSchema-instance';
const XSD = 'http://www.w3.org/2001/XMLSchema';
const PREFIX = 'xmlns:p="urn:euros"';
const OTHER = 'xmlns:p="urn:cents"';

interface Value {
  readonly name: string;
  /** Content of `<order>`; the element with the value begins with `<v`. */
  readonly content: string;
  /** Declarations on the root, and the ones that change what the value says. */
  readonly declared?: string;
  readonly rebound?: string;
  readonly list: string;
  /** True when the element's own name binds the prefix too. */
  readonly isBound?: boolean;
}

const VALUES: readonly Value[] = [
  { name: 'xsi:type', content: '<v xsi:type="p:Cents">1</v>', list: 'p' },
  { name: 'xsi:type with white space', content: '<v xsi:type=" p:Cents&#9;">1</v>', list: 'p' },
  {
    name: 'xsi:type below another prefix',
    content: '<v><q:w xmlns:q="urn:q" xsi:type="p:Cents"/></v>',
    list: 'p',
  },
  {
    name: 'xsi:type in the default namespace',
    content: '<k:v xmlns:k="urn:k" xsi:type="Cents">1</k:v>',
    declared: '',
    rebound: 'xmlns="urn:cents"',
    list: '#default',
  },
  {
    name: 'xsi:type with a prefix that nobody declared yet',
    content: '<v xsi:type="p:Cents">1</v>',
    declared: '',
    rebound: OTHER,
    list: 'p',
  },
  { name: 'a name in text', content: '<v>p:Cents</v>', list: 'p' },
  { name: 'a name in text, in a CDATA section', content: '<v><![CDATA[p:Cents]]></v>', list: 'p' },
  {
    name: 'a name in text, cut by a comment and a reference',
    content: '<v>p<!-- -->&#58;Cents</v>',
    list: 'p',
  },
  { name: 'a name in an attribute', content: '<v unit="p:Cents"/>', list: 'p' },
  { name: 'a list of names', content: '<v>a:x p:Cents</v>', list: 'p' },
  { name: 'an XPath expression', content: `<v select="//child::p:a[@b='1']"/>`, list: 'p' },
  { name: 'a name test for all names', content: '<v select="p:*"/>', list: 'p' },
  {
    name: 'a type of XML Schema in the default namespace',
    content: `<s:v xmlns:s="${XSD}" type="Cents"/>`,
    declared: '',
    rebound: 'xmlns="urn:cents"',
    list: '#default',
  },
  {
    name: 'a value of an element with the same prefix',
    content: '<p:v xsi:type="p:Cents"/>',
    list: 'p',
    isBound: true,
  },
  {
    name: 'a prefix outside of ASCII',
    content: '<v xsi:type="größe:Cents"/>',
    declared: 'xmlns:größe="urn:euros"',
    rebound: 'xmlns:größe="urn:cents"',
    list: 'größe',
  },
];

/** The first element of the content, where a declaration can be added. */
const element = /<(?:\w+:)?v(?=[ >/])/;

/** Our packagings; `at` is where the signed content begins in the document. */
const FORMS: readonly { readonly name: string; readonly xades: XadesFormat }[] = [
  { name: 'enveloped', xades: {} },
  { name: 'enveloped for several signers', xades: { coSignable: true } },
  { name: 'enveloping', xades: { packaging: 'enveloping' } },
  { name: 'one element', xades: { packaging: 'element', elementId: 'e' } },
  {
    name: 'one element for several signers',
    xades: {
      packaging: 'element',
      elementPath: '/k:all/order',
      elementNamespaces: [{ prefix: 'k', uri: 'urn:all' }],
      coSignable: true,
    },
  },
  { name: 'a plain signature', xades: { form: 'xmldsig' } },
];

function documentOf({ content, declared = PREFIX }: Value): string {
  return `<k:all xmlns:k="urn:all" xmlns:xsi="${XSI}" ${declared}><order Id="e">${content}</order></k:all>`;
}

/** Values bound to another namespace: on the element with the value, on one above it, and on the root. */
function forgeries(text: string, { declared = PREFIX, rebound = OTHER }: Value): string[] {
  const plain = declared === '' ? text : text.replace(declared, rebound);
  return [
    text.replace(element, (tag) => `${tag} ${rebound}`),
    text.replace('<order ', `<order ${rebound} `),
    declared === '' ? text.replace('<k:all ', `<k:all ${rebound} `) : plain,
  ];
}

const problems = (file: string | Buffer): string[] =>
  complaints(file).filter(
    (one) => !/attributes\.xades|certificate\.binding|scope\.(partial|comment|cdata)/.test(one),
  );

for (const { name, xades } of FORMS)
  test(`prefixes in values are signed, and cannot be bound to another namespace: ${name}`, async (t) => {
    const signer = pki().signer('p-256');
    for (const value of VALUES) {
      const document = documentOf(value);
      const { path, original } = signDocument(document, { signer, xades });
      const text = readFileSync(path, 'utf8');
      const listed = [...text.matchAll(/PrefixList="([^"]*)"/g)].map(([, list = '']) =>
        list.replaceAll('&#246;', 'ö').replaceAll('&#223;', 'ß'),
      );
      t.true(listed.includes(value.list), `${value.name}: ${listed}`);
      t.deepEqual(problems(text), [], value.name);
      if (xades.form === undefined) t.true(verdict(path, original, signer).ok, value.name);
      for (const [index, forged] of forgeries(text, value).entries()) {
        if (value.isBound && index === 0) continue;
        t.true(
          problems(forged).includes('failed digest.content HASH_FAILURE'),
          `${value.name}: forgery ${index + 1}`,
        );
      }
    }
  });

toolTest('xmlsec1 accepts every form of a list of prefixes', async (t) => {
  for (const { name, xades } of FORMS) {
    if (xades.elementPath !== undefined || xades.form !== undefined) continue;
    for (const value of VALUES) {
      const { path } = signDocument(documentOf(value), { xades });
      const idAttributes = [
        ['Id', 'order'] as const,
        ['Id', 'http://www.w3.org/2000/09/xmldsig#:Object'] as const,
      ];
      const { ok, text } = await byXmlsec(path, { idAttributes });
      t.true(ok, `${name}, ${value.name}: ${text}`);
      if (value.name !== 'xsi:type') continue;
      const [forged = ''] = forgeries(readFileSync(path, 'utf8'), value);
      const forgedPath = newPath();
      writeFileSync(forgedPath, forged);
      t.false((await byXmlsec(forgedPath, { idAttributes })).ok, `${name}, ${value.name}`);
    }
  }
});

test('a document without prefixes in values is signed without a list', (t) => {
  const document = `<r xmlns:urn="urn:x" xmlns:http="urn:y"><a href="http://x/y" at="12:30">urn:oid:1.2 note: x</a></r>`;
  t.notRegex(signDocument(document).bytes.toString(), /PrefixList/);
});

/** Signs by hand, exclusive and without or with a list. */
function signedElsewhere(content: string, list?: string): string {
  const prefixes = list === undefined ? [] : [list === '#default' ? '' : list];
  const parts: Buffer[] = [];
  const document = { utf8: Buffer.from(`<r>${content}</r>`), names: new Names() };
  const method = { ...EXCLUSIVE, prefixes };
  canonicalize(document, undefined, { method, sink: { update: (bytes) => parts.push(Buffer.from(bytes)) } });
  const inside =
    list === undefined
      ? ''
      : `<i:InclusiveNamespaces xmlns:i="${EXC}" PrefixList="${list}"></i:InclusiveNamespaces>`;
  const transforms = transform(ENVELOPED) + transform(EXC, inside);
  return enveloped(content, { references: [{ uri: '', data: Buffer.concat(parts), transforms }] });
}

test('prefixes in values that a signature does not bind cause a warning, whoever signed', (t) => {
  for (const value of VALUES) {
    const content = documentOf(value);
    const loose = value.isBound ? [] : ['warning scope.prefix'];
    t.deepEqual(problems(signedElsewhere(content)), loose, value.name);
    t.deepEqual(problems(signedElsewhere(content, 'unused')), loose, value.name);
    t.deepEqual(problems(signedElsewhere(content, value.list)), [], value.name);
    t.is(reportOn(signedElsewhere(content)).indication, 'TOTAL-PASSED', value.name);
  }
  const sample = signedElsewhere(documentOf(VALUES[0] as Value));
  const [record] = reportOn(sample).signatures;
  t.is(record?.results.warnings.find(({ type }) => type === 'scope.prefix')?.detail, 'p');
});

test('a prefix in an expression of a reference is signed by us, and reported where it is not', (t) => {
  const { bytes } = signDocument('<r><a>1</a></r>', { xades: { coSignable: true } });
  const text = bytes.toString();
  t.regex(text, /<ds:CanonicalizationMethod [^>]*><ec:InclusiveNamespaces [^>]*PrefixList="ds">/);
  t.deepEqual(problems(text), []);
  const filter =
    '<f:XPath xmlns:f="http://www.w3.org/2002/06/xmldsig-filter2" Filter="subtract">/descendant::ds:Signature</f:XPath>';
  const transforms = transform('http://www.w3.org/2002/06/xmldsig-filter2', filter) + transform(EXC);
  const content = '<a>1</a>';
  const other = enveloped(content, { references: [{ uri: '', data: `<r>${content}</r>`, transforms }] });
  t.deepEqual(problems(other), ['warning scope.prefix']);
});

test('a list of more prefixes than are followed is not judged, and a document with as many is not signed', (t) => {
  const names = Array.from({ length: 1001 }, (_, index) => `p${index}`);
  const content = '<a>1</a>';
  const forged = (list: readonly string[]) =>
    reportOn(signedElsewhere(content, list.join(' '))).signatures[0]?.indication;
  t.is(forged(names), 'INDETERMINATE');
  t.is(forged(names.slice(1)), 'TOTAL-PASSED');
  const declared = names.map((name) => `xmlns:${name}="urn:${name}"`).join(' ');
  const document = (used: readonly string[]) =>
    `<r ${declared}>${used.map((name) => `<a t="${name}:x"/>`).join('')}</r>`;
  t.throws(() => signDocument(document(names)), { code: 'input.too-large' });
  t.notThrows(() => signDocument(document(names.slice(1))));
});
