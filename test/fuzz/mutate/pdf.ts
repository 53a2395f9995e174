/**
 * Mutations of PDFs: of tokens, whole objects, appended revisions, compressed streams, and signatures. When offsets
 * change, a new table is usually written; otherwise only the repair of damaged tables would be tested.
 */
import { deflateSync, inflateSync } from 'node:zlib';
import { appendRevision } from '../../crypto/pdf/build.ts';
import type { Random } from '../random.ts';
import { bytesMutation } from './bytes.ts';
import { derMutation } from './der.ts';
import { type Mutation, oneOf, replaced } from './mutation.ts';

const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1');

const NUMBERS = [
  '0',
  '1',
  '-1',
  '2',
  '3',
  '10',
  '11',
  '65535',
  '65536',
  '2147483647',
  '2147483648',
  '-2147483648',
  '4294967295',
  '9007199254740993',
  '99999999999999999999',
  '0.5',
  '-.0',
  '1e9',
  '00',
  '+7',
  '--3',
  '.',
  '',
];

const WORDS = [
  'null',
  'true',
  'false',
  '1 0 R',
  '2 0 R',
  '3 0 R',
  '4 0 R',
  '5 0 R',
  '10 0 R',
  '11 0 R',
  '0 0 R',
  '7 65535 R',
  '99999999 0 R',
  '<<>>',
  '[]',
  '()',
  '<>',
  '<< /A',
  '[ [ [',
  '((',
  'endobj',
  'endstream',
  'stream\r\n',
  'xref',
  'trailer',
  'startxref',
  '%%EOF',
  'obj',
  '%',
  '<</Type/Page>>',
  '/ByteRange [0 1 2 3]',
  '/Prev 15',
  '/XRefStm 15',
  '/Encrypt 4 0 R',
  '/Filter /FlateDecode',
  '/Filter [/ASCIIHexDecode /LZWDecode]',
  '/DecodeParms << /Predictor 15 /Columns 9999999 >>',
  '/W [1 4 2]',
  '/W [0 0 0]',
  '/Index [0 99999999]',
];

const NAMES = [
  'Type',
  'Page',
  'Pages',
  'Catalog',
  'Kids',
  'Parent',
  'Count',
  'Root',
  'Size',
  'Prev',
  'AcroForm',
  'Fields',
  'FT',
  'Sig',
  'V',
  'T',
  'Annots',
  'ByteRange',
  'Contents',
  'SubFilter',
  'Filter',
  'Length',
  'Perms',
  'DocMDP',
  'Reference',
  'TransformMethod',
  'TransformParams',
  'P',
  'FieldMDP',
  'Lock',
  'DSS',
  'VRI',
  'Certs',
  'OCSPs',
  'CRLs',
  'XRef',
  'ObjStm',
  'First',
  'N',
  'W',
  'Index',
  'Extends',
  'Encrypt',
  'ID',
  'Info',
  'Metadata',
  'Rect',
  'AP',
  'Ff',
  'SV',
  'ETSI.CAdES.detached',
  'ETSI.RFC3161',
  'adbe.pkcs7.detached',
  'Version',
  'Extensions',
  'XFA',
  'Rotate',
  'MediaBox',
];

interface Found {
  readonly from: number;
  readonly to: number;
}

function findAll(text: string, pattern: RegExp): Found[] {
  return [...text.matchAll(pattern)].map((match) => ({
    from: match.index,
    to: match.index + match[0].length,
  }));
}

/** Replaces one match; returns the bytes unchanged when there is none. */
function atOne(pattern: RegExp, by: (found: string, random: Random, other: string) => string): Mutation {
  return (input, random, other) => {
    const text = input.toString('latin1');
    const all = findAll(text, pattern);
    if (all.length === 0) return input;
    const { from, to } = random.pick(all);
    const put = by(text.slice(from, to), random, other.toString('latin1'));
    return replaced(input, from, to, latin1(put));
  };
}

/** Replaces one match by the same number of bytes, so that offsets stay valid. */
function inPlace(pattern: RegExp, by: (found: string, random: Random) => string): Mutation {
  return atOne(pattern, (found, random) =>
    by(found, random).slice(0, found.length).padEnd(found.length, ' '),
  );
}

const OBJECT = /\b(\d{1,9}) (\d{1,5}) obj\b[\s\S]*?\bendobj\b/g;
const NAME = /\/[A-Za-z0-9.]+/g;
const NUMBER = /(?<![\w.])-?\d{1,10}(?![\w.])/g;

const objectsIn = (text: string): string[] => [...text.matchAll(OBJECT)].map(([all]) => all);
const bodyOf = (object: string): string => object.replace(/^\d+ \d+ obj\b/, '').replace(/endobj$/, '');

/** Changes one item in an object. */
const inObject = oneOf([
  atOne(NUMBER, (_, random) => random.pick(NUMBERS)),
  atOne(NAME, (_, random) => `/${random.pick(NAMES)}`),
  atOne(NAME, (found, random) => `${found} ${random.pick(WORDS)}`),
  atOne(/\/[A-Za-z]+\s*(?:\d+ 0 R|\[[^\]]*\]|\([^)]*\)|\/\w+|\d+)/g, () => ' '),
  atOne(/\/[A-Za-z]+\s*(?:\d+ 0 R|\[[^\]]*\]|\([^)]*\)|\/\w+|\d+)/g, (found) => `${found} ${found}`),
  atOne(/\d+ 0 R/g, (_, random) => random.pick(WORDS)),
  atOne(/\[/g, (found, random) => found.repeat(random.once(4) ? 3000 : 2)),
  atOne(/<</g, (found, random) => `${found}/A`.repeat(random.once(4) ? 3000 : 2)),
  atOne(/\d+ 0 R/g, (found, random) => `${found} `.repeat(random.once(4) ? 3000 : 2)),
  bytesMutation,
]);

/** Appends a revision that replaces one or more objects. */
const addRevision: Mutation = (input, random, other) => {
  const own = objectsIn(input.toString('latin1'));
  if (own.length === 0) return input;
  const changed = new Map<number, string>();
  for (let left = random.few(3); left > 0; left--) {
    const object = random.pick(own);
    const foreign = random.once(4) ? objectsIn(other.toString('latin1')) : [];
    const body = bodyOf(foreign.length > 0 ? random.pick(foreign) : object);
    const number = random.once(8) ? random.pick([1, 2, 3, 4, 5, 10, 150]) : Number.parseInt(object, 10);
    changed.set(number, inObject(latin1(body), random, other).toString('latin1'));
  }
  const trailer = random.once(6) ? random.pick(WORDS) : '';
  return appendRevision(input, changed, trailer);
};

const changeObject: Mutation = (input, random, other) => {
  const text = input.toString('latin1');
  const all = findAll(text, OBJECT);
  if (all.length === 0) return input;
  const { from, to } = random.pick(all);
  const changed = inObject(input.subarray(from, to), random, other);
  return replaced(input, from, to, changed);
};

const moveObject: Mutation = (input, random, other) => {
  const own = objectsIn(input.toString('latin1'));
  const foreign = objectsIn(other.toString('latin1'));
  if (own.length === 0 || foreign.length === 0) return input;
  const object = random.pick(own);
  const donor = random.pick(random.once(2) ? own : foreign);
  const text = input.toString('latin1');
  const put = `${Number.parseInt(object, 10)} 0 obj${bodyOf(donor)}endobj`;
  return latin1(text.replace(object, () => put));
};

/** Replaces the last table and trailer by a correct one. */
function withFreshTable(input: Buffer): Buffer {
  const text = input.toString('latin1');
  const start = text.lastIndexOf('startxref');
  const xref = text.lastIndexOf('\nxref', start);
  const trailer = text.lastIndexOf('trailer', start);
  if (start < 0 || xref < 0 || trailer < xref) return input;
  const head = text.slice(0, xref + 1);
  let rows = '';
  const offsets = new Map<string, number>();
  for (const match of head.matchAll(/(?<=[\r\n])(\d{1,9}) \d{1,5} obj\b/g)) {
    offsets.set(match[1] ?? '', match.index);
  }
  for (const [number, at] of offsets) rows += `${number} 1\n${String(at).padStart(10, '0')} 00000 n \n`;
  return latin1(`${head}xref\n${rows}${text.slice(trailer, start)}startxref\n${head.length}\n%%EOF\n`);
}

function mended(mutation: Mutation): Mutation {
  return (input, random, other) => {
    const changed = mutation(input, random, other);
    return random.once(4) ? changed : withFreshTable(changed);
  };
}

/** Inflates a stream, changes it and deflates it again, with a correct length. */
const insideStream: Mutation = (input, random, other) => {
  const text = input.toString('latin1');
  const all = findAll(text, /<<(?:(?!stream)[\s\S]){0,400}?>>\s*stream\r?\n[\s\S]*?endstream/g);
  if (all.length === 0) return input;
  const { from, to } = random.pick(all);
  const [, dict = '', body = ''] =
    /^([\s\S]*?stream\r?\n)([\s\S]*?)\r?\n?endstream$/.exec(text.slice(from, to)) ?? [];
  const packed = dict.includes('/FlateDecode');
  const data = packed ? unpacked(latin1(body)) : latin1(body);
  const changed = oneOf([bytesMutation, inObject])(data, random, other);
  const again = packed ? deflateSync(changed) : changed;
  const length = random.once(8) ? random.pick(NUMBERS) : String(again.length);
  const head = dict.replace(/\/Length \d+( 0 R)?/, `/Length ${length}`);
  return replaced(input, from, to, Buffer.concat([latin1(head), again, latin1('\nendstream')]));
};

function unpacked(data: Buffer): Buffer {
  try {
    return inflateSync(data, { maxOutputLength: 1 << 20 });
  } catch {
    return data;
  }
}

/** Changes the CMS of a signature within its placeholder. */
const insideSignature: Mutation = (input, random, other) => {
  const text = input.toString('latin1');
  const all = findAll(text, /(?<=\/Contents ?<)[0-9A-Fa-f]{200,}(?=>)/g);
  if (all.length === 0) return input;
  const { from, to } = random.pick(all);
  const padded = Buffer.from(text.slice(from, to), 'hex');
  const length = padded[1] === 0x82 ? 4 + padded.readUInt16BE(2) : padded.length;
  const changed = derMutation(
    padded.subarray(0, length),
    random,
    signatureIn(other) ?? padded.subarray(0, length),
  );
  const hexed = changed
    .toString('hex')
    .slice(0, to - from)
    .padEnd(to - from, '0');
  return replaced(input, from, to, latin1(hexed));
};

function signatureIn(pdf: Buffer): Buffer | undefined {
  const [found] = /(?<=\/Contents ?<)[0-9A-Fa-f]{200,}(?=>)/.exec(pdf.toString('latin1')) ?? [];
  return found === undefined ? undefined : Buffer.from(found, 'hex');
}

export const pdfMutation: Mutation = oneOf([
  inPlace(NUMBER, (_, random) => random.pick(NUMBERS)),
  inPlace(NUMBER, (found, random) => String(random.below(10 ** Math.min(found.length, 9)))),
  inPlace(NAME, (_, random) => `/${random.pick(NAMES)}`),
  inPlace(/\b(?:obj|endobj|stream|endstream|xref|trailer|startxref|R|n|f)\b/g, (_, random) =>
    random.pick(WORDS),
  ),
  mended(atOne(NUMBER, (_, random) => random.pick(NUMBERS))),
  mended(atOne(/\s/g, (_, random) => ` ${random.pick(WORDS)} `)),
  mended(changeObject),
  mended(changeObject),
  mended(moveObject),
  mended(insideStream),
  mended(insideStream),
  addRevision,
  addRevision,
  addRevision,
  insideSignature,
  insideSignature,
  bytesMutation,
  mended(bytesMutation),
]);
