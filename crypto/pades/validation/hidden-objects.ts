/**
 * Finds objects in a revision that its cross-reference does not list: some readers, and every reader
 * that repairs, would show them.
 */
import {
  asDict,
  asInteger,
  asName,
  type ByteSlice,
  type ByteSource,
  equalValues,
  PdfSyntaxError,
  referencesIn,
} from '../../pdf/index.ts';
import type { XrefEntry } from '../../pdf/syntax/objects.ts';
import { type Change, forbidden } from './change-policy.ts';
import type { DocumentState } from './document-state.ts';

const CHUNK_BYTES = 1 << 20;
/** Longest object header of the usual form, bytes; of a longer one at the end of a chunk, only `obj` is found. */
const OVERLAP = 64;
/** Bytes at the start of a chunk that show what is before a keyword; the previous chunk contains them too. */
const LOOK_BEHIND = 8;
/** A header of the usual form, an end mark, a keyword of a cross-reference, or the end of a header of any other form. */
const HEAD =
  /(?<![0-9])([0-9]+)[\0\t\n\f\r ]+[0-9]+[\0\t\n\f\r ]+obj(?![a-zA-Z])|endstream|endobj|(?<![a-zA-Z])(?:xref|trailer|obj)(?![a-zA-Z])/g;
/**
 * A trailer, also inside a stream or text: programs that rebuild the document take its root from there. Its dictionary
 * may begin after the text that is looked at.
 */
const INNER_TRAILER = /^trailer[\0\t\n\f\r ]*(?:<<|%|<?$)/;
/** Most forbidden hidden objects reported, and most harmless ones. */
const MAX_REPORTED = 5;

/**
 * Returns the hidden objects in the bytes from the end of `before` to the end of `state`, also inside streams and texts: programs
 * that rebuild the document take objects from there. An unused and unreferenced object number is harmless, even after a
 * repair.
 * @throws PdfSyntaxError; WorkBudgetExceeded
 */
export function hiddenObjects(
  source: ByteSource,
  before: DocumentState,
  state: DocumentState,
): readonly Change[] {
  const from = before.end;
  const found: Change[] = [];
  const harmless: Change[] = [];
  let referred: ReadonlySet<number> | undefined;
  const judged = (number: number, offset: number, isPart: boolean): Change => {
    const description = `holds object ${number} at offset ${offset}, to which nothing leads`;
    if (state.has(number) || isPart) return forbidden(description);
    referred ??= referredNumbers(state);
    return referred.has(number) ? forbidden(description) : { kind: 'metadata', description };
  };
  const note = (change: Change): void => {
    if (change.kind === 'forbidden') found.push(change);
    else if (harmless.length < MAX_REPORTED) harmless.push(change);
  };
  const sections = state.pdf.xref.sections;
  let trailers = 0;
  /** Reports a cross-reference, or a trailer, that is not part of the chain: repairing readers may follow it. */
  const judgedKeyword = (keyword: string, offset: number): Change | undefined => {
    if (keyword.startsWith('end')) return undefined;
    // Readers skip comments, leading zeros and any white space in a header; no known program writes them.
    if (keyword === 'obj') return forbidden(`holds an object of an unusual form at offset ${offset}`);
    if (keyword === 'xref') {
      if (!sections.some((section) => section <= offset && isBlank(source, section, offset)))
        return forbidden(`holds a cross-reference at offset ${offset}, to which nothing leads`);
      trailers++;
    } else if (trailers-- <= 0)
      return forbidden(`holds a trailer at offset ${offset}, to which nothing leads`);
    return undefined;
  };
  let resume = from;
  /** End of the last object that the cross-reference lists: keywords before it are part of a text or stream. */
  let listedEnd = from;
  /** True once an end mark was found inside this object: lexers that ignore its length continue with objects there. */
  let seemsEnded = false;
  const judgedInside = (text: string, index: number, offset: number): Change | undefined => {
    if (text.startsWith('end', index)) seemsEnded = true;
    else if (INNER_TRAILER.test(text.slice(index, index + OVERLAP)))
      return forbidden(`holds a trailer at offset ${offset} inside another object`);
    else if (text.startsWith('obj', index) && mayEndHeader(text, index, seemsEnded))
      return forbidden(`holds an object of an unusual form at offset ${offset} inside another object`);
    return undefined;
  };
  for (let at = from; at < state.end && found.length < MAX_REPORTED; at += CHUNK_BYTES - OVERLAP) {
    const text = source.read(at, Math.min(CHUNK_BYTES, state.end - at)).toString('latin1');
    HEAD.lastIndex = Math.max(0, resume - at);
    for (let head = HEAD.exec(text); head !== null && found.length < MAX_REPORTED; head = HEAD.exec(text)) {
      const offset = at + head.index;
      resume = offset + head[0].length;
      const number = head[1] === undefined ? undefined : Number(head[1]);
      if (number === undefined) {
        const change =
          offset >= listedEnd ? judgedKeyword(head[0], offset) : judgedInside(text, head.index, offset);
        if (change !== undefined) found.push(change);
        continue;
      }
      const listed = offset < listedEnd ? undefined : listedObject(source, state, number, offset);
      if (listed === undefined) {
        note(judged(number, offset, isStructure(state, offset)));
        continue;
      }
      listedEnd = listed.end;
      seemsEnded = false;
      // Programs that rebuild the document take these, too.
      for (const [member, value] of unlistedMembers(state, number).slice(0, MAX_REPORTED))
        note(judged(member, offset, isStructural(value)));
      if (!listed.isOtherSection) continue;
      const description = `holds a cross-reference stream at offset ${offset}, to which nothing leads`;
      if (!leadsToSameObjects(before, state, number, offset)) found.push(forbidden(description));
      else if (harmless.length < MAX_REPORTED) harmless.push({ kind: 'metadata', description });
    }
    resume = Math.max(resume, at + CHUNK_BYTES - OVERLAP + LOOK_BEHIND);
  }
  return [...found, ...harmless];
}

/**
 * True when only numbers are between the start of the chunk and the keyword, so that its header may begin in the chunk
 * before; with comments, also when a number precedes it, or a line that may end with a comment.
 */
function mayEndHeader(text: string, keyword: number, withComments: boolean): boolean {
  let at = keyword - 1;
  while (at >= 0 && '\0\t\f '.includes(text.charAt(at))) at--;
  if (withComments && /[0-9\n\r]/.test(text.charAt(at))) return true;
  while (at >= 0 && '0123456789\0\t\n\f\r '.includes(text.charAt(at))) at--;
  return at < LOOK_BEHIND;
}

/**
 * True for an object from which repairing readers could rebuild another document, however its names are written, and
 * for one that cannot be read.
 */
function isStructure({ pdf }: DocumentState, offset: number): boolean {
  try {
    return isStructural(pdf.objectAt(offset).value);
  } catch (error) {
    if (error instanceof PdfSyntaxError) return true;
    throw error;
  }
}

function isStructural(value: ByteSlice | undefined): boolean {
  if (value === undefined) return true;
  const plain = value.bytes
    .toString('latin1', value.start, value.end)
    .replace(/#([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return /\/(?:Catalog|Pages?|Kids|Root|XRef|ObjStm)(?![a-zA-Z0-9])/.test(plain);
}

type Member = readonly [number: number, value: ByteSlice | undefined];

/** Returns the objects of an object stream that the cross-reference does not list in it, those that were there before first. */
function unlistedMembers(state: DocumentState, stream: number): readonly Member[] {
  const { pdf } = state;
  try {
    return pdf
      .members(stream)
      .filter(([number]) => {
        const entry = pdf.xref.entry(number);
        return entry?.kind !== 'packed' || entry.stream !== stream;
      })
      .toSorted(([one], [other]) => Number(state.has(other)) - Number(state.has(one)));
  } catch (error) {
    if (error instanceof PdfSyntaxError) return [[stream, undefined]];
    throw error;
  }
}

/** Longest white space before a cross-reference. */
const MAX_SPACE = 64;

function isBlank(source: ByteSource, from: number, to: number): boolean {
  return to - from <= MAX_SPACE && /^[\0\t\n\f\r ]*$/.test(source.read(from, to - from).toString('latin1'));
}

interface ListedObject {
  readonly end: number;
  /** True for a cross-reference stream outside the chain of sections, which rebuilding programs may follow. */
  readonly isOtherSection: boolean;
}

/** Returns the object at this offset; undefined when the cross-reference lists another object there, or none. */
function listedObject(
  source: ByteSource,
  state: DocumentState,
  number: number,
  offset: number,
): ListedObject | undefined {
  const { pdf } = state;
  const { sections, base, trailer } = pdf.xref;
  const entry = pdf.xref.entry(number);
  const start = entry?.kind === 'plain' ? entry.offset + base : Number.NaN;
  // Some programs give the offset of the white space before an object.
  const isListed = start === offset || (start < offset && isBlank(source, start, offset));
  const isSection = sections.includes(offset);
  // Many programs leave a cross-reference stream out of its own list.
  if (!isListed && !isSection) return undefined;
  try {
    const object = pdf.objectAt(offset);
    const end = object.value.at + object.value.end;
    if (object.data === undefined || !isListed) return { end, isOtherSection: false };
    const dict = asDict(object.value);
    const isHybrid = offset === (asInteger(trailer.get('XRefStm')) ?? Number.NaN) + base;
    const isCrossReference = asName(pdf.resolve(dict?.get('Type'))) === 'XRef';
    const length = asInteger(pdf.resolve(dict?.get('Length')));
    return {
      end: object.data + (pdf.packedStream(number)?.length ?? length ?? 0),
      isOtherSection: isCrossReference && !isSection && !isHybrid,
    };
  } catch (error) {
    if (error instanceof PdfSyntaxError) return undefined;
    throw error;
  }
}

/** Entries of a trailer that decide which document is shown. */
const TRAILER_KEYS = ['Root', 'Info', 'Encrypt', 'Size'];
/** Entries of the cross-reference that are compared in one step of the work budget. */
const ENTRIES_PER_STEP = 16;

/**
 * True when a reader that follows this cross-reference stream instead of the section in use finds the same document, as
 * for programs that write both for hybrid files.
 * @param own object number of the stream, which need not list itself
 */
function leadsToSameObjects(
  before: DocumentState,
  state: DocumentState,
  own: number,
  offset: number,
): boolean {
  const { xref } = state.pdf;
  const stream = state.pdf.crossReferenceAt(offset);
  const { trailer } = stream;
  const hasOnce = [...TRAILER_KEYS, 'Prev', 'W', 'Index'].every((key) => trailer.count(key) < 2);
  if (!hasOnce || !TRAILER_KEYS.every((key) => equalValues(trailer.get(key), xref.trailer.get(key))))
    return false;
  const previous = (asInteger(trailer.get('Prev')) ?? Number.NaN) + xref.base;
  if (previous !== before.pdf.xref.sections[0] || trailer.get('XRefStm') !== undefined) return false;
  const bound = Math.max(xref.bound, stream.bound);
  state.spend(bound / ENTRIES_PER_STEP);
  for (let number = 0; number < bound; number++) {
    const entry = stream.entry(number) ?? before.pdf.xref.entry(number);
    if (number !== own && !isSameEntry(entry, xref.entry(number))) return false;
  }
  return true;
}

function isSameEntry(one: XrefEntry | undefined, other: XrefEntry | undefined): boolean {
  if (one === undefined || one.kind === 'free') return other === undefined || other.kind === 'free';
  if (one.kind === 'plain')
    return other?.kind === 'plain' && one.offset === other.offset && one.generation === other.generation;
  return other?.kind === 'packed' && one.stream === other.stream && one.index === other.index;
}

/** Returns every object number that is reachable from the trailer. @throws WorkBudgetExceeded */
function referredNumbers(state: DocumentState): ReadonlySet<number> {
  const seen = new Set<number>();
  const open = [...referencesIn(state.pdf.xref.trailer)];
  for (let number = open.pop(); number !== undefined; number = open.pop()) {
    if (seen.has(number)) continue;
    seen.add(number);
    for (const next of state.references(number) ?? []) if (!seen.has(next)) open.push(next);
  }
  return seen;
}
