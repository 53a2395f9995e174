/**
 * Writes an incremental update (ISO 32000-2, 7.5.6): changed and new objects, a cross-reference section of the same
 * kind as the newest one, and a trailer. All text here is one byte per character.
 */
import { createHash } from 'node:crypto';
import { CryptoError } from '../types.ts';
import { encodeRows, type XrefRow } from './revision-rows.ts';
import { sourceText } from './source-text.ts';
import { asInteger, items, type Piece, type Reference } from './values.ts';
import type { Xref } from './xref.ts';

export interface RevisionObject extends Reference {
  /**
   * The value as PDF text; a stream with its data and keywords, its length written directly. Strings and data are
   * clear: in an encrypted file they are encrypted when the revision is written, which moves what stands behind the
   * first string. /Contents of a signature stays as it is.
   */
  readonly body: string;
}

export interface Revision {
  /** To be appended to the original. */
  readonly bytes: Buffer;
  /** Index in `bytes` of the body of each object, in the order given. */
  readonly bodies: readonly number[];
}

/** What the revision is appended to. */
export interface Original {
  readonly xref: Xref;
  /** Bytes. */
  readonly size: number;
  readonly lastByte: number | undefined;
  /** Anything that tells this revision from others of the same file, such as its time. */
  readonly seed: string;
}

/** A /Size that claims this many more numbers than there are entries is not believed. */
const MAX_GAP = 1 << 20;
/** Objects numbered higher than this are passed over by widespread readers (ISO 32000-1, annex C.2). */
const MOST_READ = 8_388_607;
/** Numbers one revision may need. */
const ROOM = 10_000;
/** Ten digits are all a table has for an offset. */
const MAX_TABLE_OFFSET = 9_999_999_999;

/**
 * The first of many consecutive numbers that no object of the file has: those after all others, as long as readers
 * know them.
 */
export function firstUnusedNumber(xref: Xref): number {
  const above = sizeOf(xref);
  return above + ROOM <= MOST_READ ? above : (firstGap(xref) ?? above);
}

/** One more than the highest number in use. */
function sizeOf(xref: Xref): number {
  const claimed = asInteger(xref.trailer.get('Size')) ?? 0;
  return Math.max(1, xref.bound, claimed <= xref.bound + MAX_GAP ? claimed : 0);
}

/** The first stretch of numbers without entries; undefined when there is none in sight. */
function firstGap(xref: Xref): number | undefined {
  let start = 1;
  for (let number = 1; number < MAX_GAP; number++) {
    if (xref.entry(number) !== undefined) start = number + 1;
    else if (number - start >= ROOM) return start;
  }
  return undefined;
}

/**
 * @param objects each number once
 * @throws {CryptoError} `pdf.malformed` when a number comes twice; `input.too-large` when a table has no room for
 * the offsets
 */
export function writeRevision(original: Original, objects: readonly RevisionObject[]): Revision {
  const { xref, lastByte } = original;
  const start = original.size - xref.base;
  const rows: XrefRow[] = [];
  const bodies: number[] = [];
  let text = lastByte === 0x0a || lastByte === 0x0d ? '' : '\n';
  for (const object of objects) {
    const { number, generation } = object;
    rows.push({ number, entry: { kind: 'plain', offset: start + text.length, generation } });
    text += `${number} ${generation} obj\n`;
    bodies.push(text.length);
    text += `${xref.encryption?.seal(object, object.body, original.seed) ?? object.body}\nendobj\n`;
  }
  const at = start + text.length;
  text += xref.form === 'table' ? tableSection(original, rows, at) : streamSection(original, rows, at);
  text += `startxref\n${at}\n%%EOF\n`;
  return { bytes: Buffer.from(text, 'latin1'), bodies };
}

function tableSection(original: Original, changed: readonly XrefRow[], at: number): string {
  const { xref } = original;
  if (at > MAX_TABLE_OFFSET) {
    throw new CryptoError('input.too-large', 'The PDF is too long for a further cross-reference table.');
  }
  const rows = allRows(xref, changed);
  let text = 'xref\n';
  for (const run of runsOf(rows)) {
    text += `${run[0]?.number ?? 0} ${run.length}\n`;
    for (const { entry } of run) {
      const inUse = entry.kind === 'plain';
      const offset = String(inUse ? entry.offset : 0).padStart(10, '0');
      const generation = String(inUse ? entry.generation : 65535).padStart(5, '0');
      text += `${offset} ${generation} ${inUse ? 'n' : 'f'} \n`;
    }
  }
  return `${text}trailer\n<<${trailerKeys(original, sizeAfter(xref, rows))}>>\n`;
}

function streamSection(original: Original, changed: readonly XrefRow[], at: number): string {
  const { xref } = original;
  const taken = new Set(changed.map((row) => row.number));
  let number = firstUnusedNumber(xref);
  while (taken.has(number)) number++;
  const own: XrefRow = { number, entry: { kind: 'plain', offset: at, generation: 0 } };
  const rows = allRows(xref, [...changed, own]);
  const index = runsOf(rows).map((run) => `${run[0]?.number ?? 0} ${run.length}`);
  const { widths, data } = encodeRows(rows);
  return (
    `${number} 0 obj\n<</Type/XRef/W[${widths.join(' ')}]/Index[${index.join(' ')}]/Length ${data.length}` +
    `${trailerKeys(original, sizeAfter(xref, rows))}>>\nstream\n${data.toString('latin1')}\nendstream\nendobj\n`
  );
}

/** Sorted by number: the changed objects, and all others when the older sections can't be built upon. */
function allRows(xref: Xref, changed: readonly XrefRow[]): readonly XrefRow[] {
  const numbers = new Set<number>();
  for (const { number } of changed) {
    if (numbers.has(number)) {
      throw new CryptoError('pdf.malformed', `Object ${number} has two roles that exclude each other.`);
    }
    numbers.add(number);
  }
  const rows = [...changed];
  if (xref.rebuilt !== undefined) {
    for (const [number, entry] of xref.rebuilt) {
      if (number !== 0 && !numbers.has(number)) rows.push({ number, entry });
    }
    if (!numbers.has(0)) rows.push({ number: 0, entry: { kind: 'free' } });
  }
  return rows.sort((left, right) => left.number - right.number);
}

/** Stretches of consecutive numbers. */
function runsOf(rows: readonly XrefRow[]): readonly (readonly XrefRow[])[] {
  const runs: XrefRow[][] = [];
  let expected = -1;
  for (const row of rows) {
    if (row.number === expected) runs.at(-1)?.push(row);
    else runs.push([row]);
    expected = row.number + 1;
  }
  return runs;
}

function sizeAfter(xref: Xref, rows: readonly XrefRow[]): number {
  return Math.max(sizeOf(xref), (rows.at(-1)?.number ?? 0) + 1);
}

/** Keys of a trailer that belong to one section and not to the document. */
const SECTION_KEYS = new Set(
  [
    'Size',
    'Prev',
    'XRefStm',
    'ID',
    'Type',
    'W',
    'Index',
    'Length',
    'Filter',
    'DecodeParms',
    'F',
    'FFilter',
  ].concat(['FDecodeParms', 'DL']),
);

function trailerKeys({ xref, seed }: Original, size: number): string {
  const { trailer } = xref;
  const kept = new Map<string, Piece>();
  // Of a key written twice the last value counts, as everywhere in the reading.
  for (const entry of trailer.entries) {
    // A key without a value, at the end of a damaged trailer, would take what follows here for it.
    if (entry.end > entry.start) kept.set(trailer.keyOf(entry), trailer.valueAt(entry));
  }
  let text = `/Size ${size}`;
  for (const [key, value] of kept) {
    if (!SECTION_KEYS.has(key)) text += `/${escapeName(key)} ${sourceText(value)}`;
  }
  const id = trailer.get('ID');
  if (id !== undefined) text += `/ID${newId(id, seed)}`;
  return xref.newest === undefined ? text : `${text}/Prev ${xref.newest}`;
}

function escapeName(key: string): string {
  return key.replace(/[^!-~]|[#()<>[\]{}/%]/g, (letter) => {
    return `#${letter.charCodeAt(0).toString(16).padStart(2, '0')}`;
  });
}

/** The first part of a file identifier stays, the second one names this revision (14.4). */
function newId(id: Piece, seed: string): string {
  const [first, second] = [...items(id)];
  if (first === undefined || second === undefined) return ` ${sourceText(id)}`;
  const digest = createHash('sha256')
    .update(`${sourceText(second)} ${seed}`, 'latin1')
    .digest('hex');
  return `[${sourceText(first)}<${digest.slice(0, 32)}>]`;
}
