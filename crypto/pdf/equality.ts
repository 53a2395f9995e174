/**
 * Whether two values mean the same, however they are written: white space, the order of keys and the notation of
 * strings and names don't count (ISO 32000-2, 7.3). References are equal when they name the same object.
 */
import { asString } from './strings.ts';
import { asDict, asName, asReference, isArray, isNull, items, type PdfDict, type Piece } from './values.ts';

/** A missing value is null. @throws PdfDamage when one of them can't be read */
export function equalValues(left: Piece | undefined, right: Piece | undefined): boolean {
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

/** A key written twice is never equal to anything: readers differ in which of the two they believe. */
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

/** The values by key; undefined when a key is written twice. */
export function entriesOf(dict: PdfDict): ReadonlyMap<string, Piece> | undefined {
  const found = new Map<string, Piece>();
  for (const entry of dict.entries) {
    const key = dict.keyOf(entry);
    if (found.has(key)) return undefined;
    found.set(key, dict.valueAt(entry));
  }
  return found;
}

function equalArrays(left: Piece, right: Piece): boolean {
  const others = items(right);
  for (const item of items(left)) {
    const other = others.next();
    if (other.done === true || !equalValues(item, other.value)) return false;
  }
  return others.next().done === true;
}

/** Numbers and keywords as written; `1` and `1.0` differ, which errs on the side of a change. */
function plainText({ bytes, start, end }: Piece): string {
  return bytes.toString('latin1', start, end);
}
