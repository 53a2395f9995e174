/** Mutations of XML: tags and attributes, whole elements (signature wrapping), and Base64 content. */
import type { Random } from '../random.ts';
import { bytesMutation } from './bytes.ts';
import { derMutation } from './der.ts';
import { type Mutation, oneOf, replaced } from './mutation.ts';

const C14N = 'http://www.w3.org/TR/2001/REC-xml-c14n-20010315';
const EXCLUSIVE = 'http://www.w3.org/2001/10/xml-exc-c14n#';
const DSIG = 'http://www.w3.org/2000/09/xmldsig#';

const VALUES = [
  '',
  ' ',
  '#',
  '#a',
  '#xpointer(/)',
  "#xpointer(id('a'))",
  'http://127.0.0.1:1/x',
  'file:///etc/passwd',
  '../x',
  'a',
  C14N,
  `${C14N}#WithComments`,
  'http://www.w3.org/2006/12/xml-c14n11',
  EXCLUSIVE,
  `${EXCLUSIVE}WithComments`,
  `${DSIG}enveloped-signature`,
  `${DSIG}base64`,
  `${DSIG}sha1`,
  'http://www.w3.org/2001/04/xmlenc#sha256',
  'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
  'http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha256',
  'http://www.w3.org/TR/1999/REC-xslt-19991116',
  'http://www.w3.org/TR/1999/REC-xpath-19991116',
  DSIG,
  'http://uri.etsi.org/01903/v1.3.2#',
  'http://uri.etsi.org/01903#SignedProperties',
  '&lt;',
  '&#0;',
  '&#x10FFFF;',
  '&#xD800;',
  '&bomb;',
  'x'.repeat(5000),
  '9999-12-31T23:59:59Z',
  '2026-02-31T25:61:61Z',
  '-0001-01-01T00:00:00Z',
];

const PIECES = [
  '<!-- c -->',
  '<?p d?>',
  '<![CDATA[x]]>',
  ']]>',
  '&amp;',
  '&lt;',
  '&#13;',
  '&#x0;',
  '&e;',
  '<a/>',
  '<a>',
  '</a>',
  '<a:b/>',
  '<!DOCTYPE a [<!ENTITY e "x">]>',
  '<?xml version="1.0"?>',
  '<?xml version="1.1" encoding="utf-16"?>',
  '\r\n',
  '\r',
  '\u0000',
  '\uFFFE',
  '\uD800',
  '<',
  '>',
  '"',
  "'",
  '=',
  ' xmlns="u"',
  ' xmlns:a=""',
  ' xml:id="a"',
  ' Id="a"',
  ' xmlns:xml="u"',
  ' a:b="c"',
  `<ds:Signature xmlns:ds="${DSIG}"/>`,
];

const TAG = /<[A-Za-z_][^<>]*>/g;
const ATTRIBUTE = /\s[A-Za-z_:][\w:.-]*\s*=\s*(?:"[^"<]*"|'[^'<]*')/g;
const VALUE = /(?<==\s*")[^"<]*(?=")/g;
const NAME = /(?<=<\/?)[A-Za-z_][\w:.-]*/g;
const TEXT = /(?<=>)[^<>]+(?=<)/g;

interface Place {
  readonly from: number;
  readonly to: number;
}

function placesOf(text: string, pattern: RegExp): Place[] {
  return [...text.matchAll(pattern)].map((match) => ({
    from: match.index,
    to: match.index + match[0].length,
  }));
}

function atOne(pattern: RegExp, by: (found: string, random: Random, other: string) => string): Mutation {
  return (input, random, other) => {
    const text = input.toString('utf8');
    const all = placesOf(text, pattern);
    if (all.length === 0) return input;
    const { from, to } = random.pick(all);
    const put = by(text.slice(from, to), random, other.toString('utf8'));
    return Buffer.from(text.slice(0, from) + put + text.slice(to));
  };
}

/** Finds elements with their content by counting tags. */
function elementsOf(text: string): Place[] {
  const open: number[] = [];
  const all: Place[] = [];
  for (const match of text.matchAll(/<(\/?)[A-Za-z_][^<>]*?(\/?)>/g)) {
    const [whole, closes, empty] = match;
    const to = match.index + whole.length;
    if (closes) {
      const from = open.pop();
      if (from !== undefined) all.push({ from, to });
    } else if (empty) all.push({ from: match.index, to });
    else open.push(match.index);
  }
  return all;
}

type ElementMutation = (element: string, random: Random, donor: string) => string;

const ELEMENTS: readonly ElementMutation[] = [
  () => '',
  (element) => element + element,
  (element, random) =>
    element.repeat(Math.max(1, Math.min(200, Math.floor(20_000 / element.length), random.below(200)))),
  (element) => `<w>${element}</w>`,
  (element) => `<ds:Object xmlns:ds="${DSIG}">${element}</ds:Object>`,
  (element, random) => {
    const depth = random.once(3) ? 2000 : 3;
    return `${'<w>'.repeat(depth)}${element}${'</w>'.repeat(depth)}`;
  },
  (_, __, donor) => donor,
  (element, _, donor) => element + donor,
  (element, _, donor) => donor + element,
  // The donor around the element, or inside it.
  (element, _, donor) => donor.replace(/>/, () => `>${element}`),
  (element, _, donor) => element.replace(/<\/[^<]*$/, (end) => donor + end),
];

function elementMutation(): Mutation {
  return (input, random, other) => {
    const text = input.toString('utf8');
    const all = elementsOf(text);
    if (all.length === 0) return input;
    const { from, to } = random.pick(all);
    const source = random.once(3) ? other.toString('utf8') : text;
    const foreign = elementsOf(source);
    const donor = foreign.length === 0 ? { from: 0, to: 0 } : random.pick(foreign);
    const put = random.pick(ELEMENTS)(text.slice(from, to), random, source.slice(donor.from, donor.to));
    return Buffer.from(text.slice(0, from) + put + text.slice(to));
  };
}

/** Swaps two elements. */
const swap: Mutation = (input, random) => {
  const text = input.toString('utf8');
  const all = elementsOf(text);
  if (all.length < 2) return input;
  const [one, two] = [random.pick(all), random.pick(all)].sort((left, right) => left.from - right.from);
  if (one === undefined || two === undefined || one.to > two.from) return input;
  const first = text.slice(one.from, one.to);
  const second = text.slice(two.from, two.to);
  return Buffer.from(
    text.slice(0, one.from) + second + text.slice(one.to, two.from) + first + text.slice(two.to),
  );
};

const BASE64 = /(?<=>)\s*[A-Za-z0-9+/\s]{60,}={0,2}\s*(?=<)/g;

const insideBase64: Mutation = (input, random, other) => {
  const text = input.toString('latin1');
  const all = placesOf(text, BASE64);
  if (all.length === 0) return input;
  const { from, to } = random.pick(all);
  const strange = BASE64.exec(other.toString('latin1'))?.[0] ?? '';
  BASE64.lastIndex = 0;
  const changed = derMutation(
    Buffer.from(text.slice(from, to), 'base64'),
    random,
    Buffer.from(strange, 'base64'),
  );
  return replaced(input, from, to, Buffer.from(changed.toString('base64'), 'latin1'));
};

/** Re-encodes the text, with or without a matching declaration. */
const recode: Mutation = (input, random) => {
  const text = input.toString('utf8');
  const encoding = random.pick(['UTF-16', 'ISO-8859-1', 'US-ASCII', 'UTF-8', 'utf-7', 'windows-1252']);
  const said = random.once(3) ? text : text.replace(/encoding="[^"]*"/, `encoding="${encoding}"`);
  if (encoding === 'UTF-16') {
    const little = Buffer.from(random.once(2) ? `\uFEFF${said}` : said, 'utf16le');
    return random.once(2) && little.length % 2 === 0 ? Buffer.from(little).swap16() : little;
  }
  return encoding === 'ISO-8859-1' ? Buffer.from(said, 'latin1') : Buffer.from(`\uFEFF${said}`, 'utf8');
};

export const xmlMutation: Mutation = oneOf([
  atOne(VALUE, (_, random) => random.pick(VALUES)),
  atOne(VALUE, (_, random) => random.pick(VALUES)),
  atOne(VALUE, (_, random, other) => {
    const all = [...other.matchAll(VALUE)].map(([value]) => value);
    return all.length === 0 ? 'a' : random.pick(all);
  }),
  atOne(ATTRIBUTE, () => ''),
  atOne(ATTRIBUTE, (found) => found + found),
  atOne(ATTRIBUTE, (found) => found.replace('="', '=&quot;')),
  atOne(NAME, (found) => `x:${found}`),
  atOne(NAME, (_, random) =>
    random.pick(['Signature', 'ds:Signature', 'ds:Object', 'ds:Reference', 'ds:Manifest', 'a']),
  ),
  atOne(TAG, (found, random) => found.replace(/\/?>$/, (end) => `${random.pick(PIECES)}${end}`)),
  atOne(TAG, (found, random) => random.pick(PIECES) + found),
  atOne(TAG, (found, random) => found + random.pick(PIECES)),
  atOne(TEXT, (found, random) => found + random.pick(PIECES)),
  atOne(TEXT, (_, random) => random.pick([...PIECES, ...VALUES])),
  atOne(/\s+/g, (_, random) => random.pick([' ', '', '\n', '\r\n', '\t', '\u00a0', '\u2028'])),
  elementMutation(),
  elementMutation(),
  elementMutation(),
  swap,
  swap,
  insideBase64,
  insideBase64,
  recode,
  bytesMutation,
]);
