/**
 * Compares the meaning of two values, independent of white space, the order of keys and the notation of strings and
 * names (ISO 32000-2, 7.3). References are equal when they refer to the same object.
 */
import { asString } from './strings.ts';
import {
  asDict,
  asName,
  asReference,
  type ByteSlice,
  isArray,
  isNull,
  items,
  type PdfDict,
} from './values.ts';

/** Treats a missing value as null. @throws PdfSyntaxError when one of them can't be read */
export function equalValues(left: ByteSlice | undefined, right: ByteSlice | undefined): boolean {
  if (left === undefined || isNull(left)) return right === undefined || isNull(right);
  if (right === undefined || isNull(right)) return false;
  const dict = asDict(left);
  const other = asDict(right);
  if (dict !== undefined || other !== undefined) {
    return dict !== undefined && other !== undefined && equalDicts(dict, other);
  }
  if (isArray(left) || isArray(right)) return isArray(left) && isArray(right) && equalArrays(left, right);
  const text = asString(left);
  if (text !== undefined) return asString(right)?.equals(text) === true;
  const reference = asReference(left);
  if (reference !== undefined) {
    const target = asReference(right);
    return target?.number === reference.number && target.generation === reference.generation;
  }
  const name = asName(left);
  if (name !== undefined) return asName(right) === name;
  return plainText(left) === plainText(right);
}

/** A dictionary with a repeated key is equal to none: readers differ in the value they use. */
function equalDicts(left: PdfDict, right: PdfDict): boolean {
  const values = entriesOf(left);
  const others = entriesOf(right);
  if (values === undefined || others === undefined) return false;
  for (const key of others.keys()) {
    if (!values.has(key) && !isNull(others.get(key) ?? right)) return false;
  }
  for (const [key, value] of values) if (!equalEntries(key, value, others.get(key))) return false;
  return true;
}

/** Entries of annotations and pages whose lists of numbers all programs read alike, whole or with decimals. */
const LISTS_OF_NUMBERS: ReadonlySet<string> = new Set(
  'Rect BC BG C IC RD QuadPoints Border BBox MediaBox CropBox'.split(' '),
);
const COLOURS: ReadonlySet<string> = new Set(['BC', 'BG', 'C', 'IC']);
/** Keys of colours in which a grey is the same colour as in red, green and blue. */
const GREYS: ReadonlySet<string> = new Set(['BC', 'BG']);
/** Fewest decimals that programs keep when they write a number anew. */
const LEAST_DECIMALS = 2;
/** Difference between a number and its nearest one in single precision: absolute, and as a part of it. */
const NOISE = 1e-5;
const NOISE_PART = 2e-7;
/** Steps of a component of a colour in most programs. */
const STEPS = 255;
/** Part of the extent of a box that rounding may move: a box can be shown at any scale. */
const MAX_PART = 1e-3;
const NUMBER = /^[+-]?(?:\d{1,9}(?:\.(\d{0,20}))?|\.(\d{1,20}))$/;

/**
 * Compares the values of a key of a dictionary: programs that save a file write places and colours in other digits. Only
 * the newer value may be a rounded one, so that many updates move nothing.
 */
export function equalEntries(
  key: string,
  before: ByteSlice | undefined,
  after: ByteSlice | undefined,
): boolean {
  if (!LISTS_OF_NUMBERS.has(key) || before === undefined || after === undefined)
    return equalValues(before, after);
  if (!isArray(before) || !isArray(after)) return equalValues(before, after);
  const old = numbersOf(key, before);
  const now = numbersOf(key, after);
  const isColour = COLOURS.has(key);
  const limit = isColour ? 1 : MAX_PART * Math.min(extentOf(old), extentOf(now));
  return old.length === now.length && old.every((item, index) => isNear(item, now[index], limit, isColour));
}

/** Returns a list; a grey of a background or border as the same colour in red, green and blue. */
function numbersOf(key: string, list: ByteSlice): readonly ByteSlice[] {
  const found = [...items(list)];
  const [grey] = found;
  return found.length === 1 && grey !== undefined && GREYS.has(key) ? [grey, grey, grey] : found;
}

/** Returns the smaller side of the box around points; 0 for other lists, and for what are no numbers. */
function extentOf(list: readonly ByteSlice[]): number {
  if (list.length % 4 !== 0) return 0;
  const numbers = list.map((item) => Number(plainText(item)));
  const sides = [0, 1].map((axis) => {
    const own = numbers.filter((_, index) => index % 2 === axis);
    return (
      own.reduce((most, one) => Math.max(most, one), -Infinity) -
      own.reduce((least, one) => Math.min(least, one), Infinity)
    );
  });
  const side = Math.min(...sides);
  return Math.max(side, 0);
}

/**
 * @param limit largest difference
 * @param isColour true for components that programs keep as one of 256 steps
 */
function isNear(before: ByteSlice, after: ByteSlice | undefined, limit: number, isColour: boolean): boolean {
  if (after === undefined) return false;
  if (equalValues(before, after)) return true;
  const old = plainText(before);
  const now = plainText(after);
  const written = NUMBER.exec(now);
  if (written === null || !NUMBER.test(old)) return false;
  const decimals = Math.max(LEAST_DECIMALS, (written[1] ?? written[2] ?? '').length);
  const noise = NOISE + NOISE_PART * Math.abs(Number(old));
  const rounding = Math.min(limit, 0.5 * 10 ** -decimals + noise);
  const stepped = isColour ? Math.round(Number(old) * STEPS) / STEPS : Number(old);
  return [Number(old), stepped].some((one) => one === Number(now) || Math.abs(one - Number(now)) <= rounding);
}

/** Returns the values by key; undefined when a key is repeated. */
export function entriesOf(dict: PdfDict): ReadonlyMap<string, ByteSlice> | undefined {
  const found = new Map<string, ByteSlice>();
  for (const entry of dict.entries) {
    const key = dict.keyOf(entry);
    if (found.has(key)) return undefined;
    found.set(key, dict.valueAt(entry));
  }
  return found;
}

function equalArrays(left: ByteSlice, right: ByteSlice): boolean {
  const others = items(right);
  for (const item of items(left)) {
    const other = others.next();
    if (other.done === true || !equalValues(item, other.value)) return false;
  }
  return others.next().done === true;
}

/** Returns numbers and keywords as text; `1` and `1.0` differ: programs read flags with decimals in different ways. */
function plainText({ bytes, start, end }: ByteSlice): string {
  return bytes.toString('latin1', start, end);
}
