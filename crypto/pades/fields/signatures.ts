/**
 * Finds the signatures of a PDF through its form and its pages, and checks the byte range of each (ISO 32000-2, 12.8.1;
 * ETSI EN 319 142-1, clause 5.4).
 *
 * Lays out signature dictionaries (ISO 32000-2, 12.8.1): zeros as the placeholder of /Contents and blanks for
 * /ByteRange, both filled later without a change of length.
 */
import { readElement } from '../../asn1/read.ts';
import { openSource } from '../../core/files.ts';
import type { InputFile } from '../../core/types.ts';
import {
  asInteger,
  asName,
  asReference,
  asText,
  type ByteSlice,
  fields,
  items,
  type PdfDict,
  type PdfDocument,
  type Reference,
  unlistedSignatures,
  withPdf,
  writeRevision,
} from '../../pdf/index.ts';
import type { IncrementalUpdate } from '../../pdf/update/incremental-update.ts';

/** An incremental update that is complete except for the signature value. */
export interface PreparedUpdate {
  /** To be appended to the original, once the signature is in its place. */
  readonly update: Buffer;
  /** Index in `update` of the `<` of /Contents, which is not signed. */
  readonly placeholderStart: number;
  /** Index in `update` after the `>` of /Contents. */
  readonly placeholderEnd: number;
}

/** The file before the update. */
interface Original {
  readonly pdf: PdfDocument;
  /** Bytes. */
  readonly size: number;
  readonly lastByte: number | undefined;
  /** As in `writeRevision`. */
  readonly seed: string;
}

interface SignatureValue {
  readonly body: string;
  /** Index in `body` of the first blank for the byte range. */
  readonly rangeStart: number;
  readonly placeholderStart: number;
  readonly placeholderEnd: number;
}

/**
 * @param start keys before the byte range: type, filter, sub-filter. No strings: encryption changes their length,
 * and offsets before the signature must not change
 * @param space bytes of the longest signature
 * @param end keys after the signature
 */
export function signatureValue(
  originalSize: number,
  start: string,
  space: number,
  end: string,
): SignatureValue {
  const head = `<<${start}/ByteRange`;
  // Reserves three numbers of ten digits, or one digit more than the original's size: no update is
  // nine times the size of such a large file.
  const digits = Math.max(10, String(originalSize).length + 1);
  const before = `${head}${' '.repeat('[0 '.length + 3 * (digits + 1))}/Contents `;
  const hole = `<${'00'.repeat(space)}>`;
  return {
    body: `${before}${hole}${end}>>`,
    rangeStart: head.length,
    placeholderStart: before.length,
    placeholderEnd: before.length + hole.length,
  };
}

/**
 * Writes the update; the signature dictionary is its first object.
 * @throws {CryptoError} as `writeRevision`
 */
export function writeUpdate(
  { pdf, size, lastByte, seed }: Original,
  draft: IncrementalUpdate,
  value: SignatureValue & { readonly reference: Reference },
): PreparedUpdate {
  const { number, generation } = value.reference;
  const objects = [{ number, generation, body: value.body }, ...draft.objects()];
  const { bytes, bodies } = writeRevision({ xref: pdf.xref, size, lastByte, seed }, objects);
  const body = bodies[0] ?? 0;
  const placeholderStart = body + value.placeholderStart;
  const placeholderEnd = body + value.placeholderEnd;
  const range = [size + placeholderStart, size + placeholderEnd, bytes.length - placeholderEnd];
  bytes.write(`[0 ${range.join(' ')}]`, body + value.rangeStart, 'latin1');
  return { update: bytes, placeholderStart, placeholderEnd };
}

/** Returns the bytes of the longest signature that the placeholder can hold. */
export function placeholderBytes({ placeholderStart, placeholderEnd }: PreparedUpdate): number {
  return (placeholderEnd - placeholderStart - 2) / 2;
}

/** Writes a signature into the placeholder; returns false, without a change, when it is too long. */
export function fillPlaceholder(prepared: PreparedUpdate, signature: Buffer): boolean {
  if (signature.length > placeholderBytes(prepared)) return false;
  prepared.update.write(signature.toString('hex'), prepared.placeholderStart + 1, 'latin1');
  return true;
}

/** Bytes that a signature covers: [0, placeholderStart) and [placeholderEnd, end) of the file. */
export interface Coverage {
  readonly placeholderStart: number;
  readonly placeholderEnd: number;
  readonly end: number;
}

export interface FoundSignature {
  readonly field: string;
  /** Other fields with the same signature dictionary as value: only one is permitted. */
  readonly alsoIn: readonly string[];
  readonly fieldDict: PdfDict;
  /** False for a widget that stands on a page only. */
  readonly isInForm: boolean;
  readonly dict: PdfDict;
  readonly subFilter: string | undefined;
  /** /M as written; undefined when there is none. */
  readonly claimedTime: string | undefined;
  /** Undefined when /ByteRange is unusable or its gap is not exactly /Contents. */
  readonly coverage: Coverage | undefined;
  readonly coverageFault: string | undefined;
  readonly isRangeIndirect: boolean;
  /** The CMS without what fills its space; undefined when there is none. */
  readonly cms: Buffer | undefined;
  /** Reason why there is no CMS or, beside one, what follows it in its space. */
  readonly contentsFault: string | undefined;
}

/**
 * Returns every signature of a field of type Sig once, sorted by the end of its coverage; unusable ones first. Some
 * programs leave the field out of the form, and readers find it through its page.
 * @param limit stops the search at this number
 */
export function findSignatures(pdf: PdfDocument, limit: number): readonly FoundSignature[] {
  const found: FoundSignature[] = [];
  const seen = new Map<string, { readonly name: string; readonly alsoIn: string[] }>();
  for (const { name, dict: fieldDict, isInForm } of signatureFields(pdf)) {
    if (found.length === limit) break;
    const value = fieldDict.get('V');
    const dict = pdf.dict(value);
    if (dict === undefined) continue;
    // References may lead to one dictionary by several objects.
    const place = dict.at < 0 ? `object ${asReference(value)?.number}` : `offset ${dict.at + dict.start}`;
    const known = seen.get(place);
    if (known !== undefined) {
      // Signers repeat the value in the widget of the field, for readers that look for it there.
      const isWidget = isInForm
        ? name === known.name && fieldDict.get('T') === undefined
        : name === known.name || name === '';
      if (!isWidget && known.alsoIn.length < MAX_NAMES) known.alsoIn.push(name);
      continue;
    }
    const alsoIn: string[] = [];
    seen.set(place, { name, alsoIn });
    found.push({ alsoIn, fieldDict, isInForm, ...examine(pdf, name, dict) });
  }
  return found.sort((left, right) => (left.coverage?.end ?? -1) - (right.coverage?.end ?? -1));
}

function* signatureFields(
  pdf: PdfDocument,
): Generator<{ readonly name: string; readonly dict: PdfDict; readonly isInForm: boolean }> {
  const listed = new Set<number>();
  for (const { type, name, dict, reference } of fields(pdf)) {
    if (reference !== undefined) listed.add(reference.number);
    if (type === 'Sig') yield { name, dict, isInForm: true };
  }
  for (const { name, dict } of unlistedSignatures(pdf, listed)) yield { name, dict, isInForm: false };
}

/** Most field names in a message. */
const MAX_NAMES = 10;

function examine(
  pdf: PdfDocument,
  field: string,
  dict: PdfDict,
): Omit<FoundSignature, 'alsoIn' | 'fieldDict' | 'isInForm'> {
  const contents = dict.get('Contents');
  const written = dict.get('ByteRange');
  const isRangeIndirect = asReference(written) !== undefined;
  const list = isRangeIndirect ? pdf.resolve(written) : written;
  const range = rangeOf(list);
  const coverageFault =
    repeatedKey(dict) ??
    faultOfRange(range, contents) ??
    (isRangeIndirect ? faultOfPlace(range, list) : undefined);
  const [, placeholderStart = 0, placeholderEnd = 0, rest = 0] = range ?? [];
  const value = contents === undefined ? undefined : hexBytes(contents);
  return {
    field,
    dict,
    subFilter: asName(pdf.resolve(dict.get('SubFilter'))),
    claimedTime: asText(pdf.resolve(dict.get('M'))),
    coverage:
      coverageFault === undefined
        ? { placeholderStart, placeholderEnd, end: placeholderEnd + rest }
        : undefined,
    coverageFault,
    isRangeIndirect,
    ...(value === undefined
      ? { cms: undefined, contentsFault: '/Contents is no hexadecimal string.' }
      : withoutFill(value)),
  };
}

/** Returns a repeated key: readers differ in the value they use, so a signature must not have any. */
function repeatedKey(dict: PdfDict): string | undefined {
  const keys = ['ByteRange', 'Contents', 'SubFilter', 'Filter', 'Type', 'M', 'Reference', 'Cert'];
  const repeated = keys.find((key) => dict.count(key) > 1);
  return repeated === undefined ? undefined : `The signature dictionary has /${repeated} twice.`;
}

function rangeOf(slice: ByteSlice | undefined): readonly number[] | undefined {
  if (slice === undefined) return undefined;
  const numbers: number[] = [];
  for (const item of items(slice)) {
    const number = asInteger(item);
    if (number === undefined || number < 0 || numbers.length === 4) return undefined;
    numbers.push(number);
  }
  return numbers.length === 4 ? numbers : undefined;
}

function faultOfRange(
  range: readonly number[] | undefined,
  contents: ByteSlice | undefined,
): string | undefined {
  const [first, length, second, rest] = range ?? [];
  if (first === undefined || length === undefined || second === undefined || rest === undefined) {
    return '/ByteRange is not an array of four whole numbers.';
  }
  if (first !== 0) return `/ByteRange begins at ${first} and not at the first byte.`;
  if (rest === 0 || !Number.isSafeInteger(second + rest))
    return '/ByteRange covers nothing after the signature.';
  if (contents === undefined || contents.at < 0) return 'The signature has no place of its own in the file.';
  const start = contents.at + contents.start;
  const end = contents.at + contents.end;
  if (length === start && second === end) return undefined;
  return `/ByteRange leaves out ${length} to ${second}, but the signature lies at ${start} to ${end}.`;
}

/** Checks that an indirect /ByteRange stands in the covered bytes, outside of an object stream. */
function faultOfPlace(range: readonly number[] | undefined, list: ByteSlice | undefined): string | undefined {
  const [, start = 0, second = 0, rest = 0] = range ?? [];
  const [from, to] =
    list === undefined || list.at < 0 ? [-1, -1] : [list.at + list.start, list.at + list.end];
  const isCovered = from >= 0 && (to <= start || (from >= second && to <= second + rest));
  return isCovered ? undefined : '/ByteRange is an object that the signature does not cover.';
}

/** Returns the bytes of a hexadecimal string; white space does not count, and a last odd digit is followed by 0 (7.3.4.3). */
function hexBytes({ bytes, start, end }: ByteSlice): Buffer | undefined {
  if (bytes[start] !== 0x3c || bytes[start + 1] === 0x3c) return undefined;
  const written = bytes.toString('latin1', start + 1, end - 1).replace(WHITE_SPACE, '');
  const digits = written.length % 2 === 0 ? written : `${written}0`;
  const value = Buffer.from(digits, 'hex');
  return value.length * 2 === digits.length ? value : undefined;
}

/** White-space characters of PDF (7.2.3). */
const WHITE_SPACE = /[\0\t\n\f\r ]+/g;

/** Returns the structure at the beginning. What follows it was not signed, and nothing reads it. */
function withoutFill(value: Buffer): Pick<FoundSignature, 'cms' | 'contentsFault'> {
  try {
    const { next } = readElement(value);
    const at = value.findIndex((byte, index) => index >= next && byte !== 0);
    return {
      cms: value.subarray(0, next),
      contentsFault:
        at < 0 ? undefined : `/Contents has other bytes than zeros after the signature, at ${at}.`,
    };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { cms: undefined, contentsFault: `/Contents can't be read: ${reason}.` };
  }
}

/** Number of signatures in a PDF file. */
const MAX_SIGNATURES = 500;

/**
 * Counts the signature fields with a value, document time-stamps among them, valid or not; at most 500.
 * Source: ISO 32000-2, 12.7.5.5.
 * @throws {CryptoError} `input.unreadable`, `pdf.malformed`, `pdf.encrypted`
 */
export function countPdfSignatures(path: InputFile): number {
  const source = openSource(path);
  try {
    return withPdf(source, (pdf) => findSignatures(pdf, MAX_SIGNATURES).length);
  } finally {
    source.close();
  }
}
