/**
 * Compares the meaning of two values, independent of white space, the order of keys and the notation of
 * strings and names (ISO 32000-2, 7.3). References are equal when they refer to the same object.
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
  for (const [key, value] of values) if (!equalValues(value, others.get(key))) return false;
  return true;
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

/** Compares numbers and keywords as text; `1` and `1.0` differ, which may report a change too many. */
function plainText({ bytes, start, end }: ByteSlice): string {
  return bytes.toString('latin1', start, end);
}
