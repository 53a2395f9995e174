/** Limits of keys, the same in every store. */
import { Fatal } from './failures.ts';
import type { Step } from './ports.ts';

/** Longest text in a key, bytes of UTF-8. A whole LMDB key holds 1,978. */
const MAX_KEY_TEXT = 400;

/** Maximum bytes of all texts of one row key together. */
const MAX_KEY = 1600;

/** Sorts after every text that a key may hold: the unassigned code point U+10FFFF. */
export const AFTER_ALL_TEXT = '\u{10ffff}';

const UNSORTABLE = /[\p{Surrogate}\u{10ffff}]/u;

/**
 * Refuses key parts that cannot be stored or have no order. The caller hashes longer texts. Throws `store.key-too-long`
 * or `store.key-unsortable`.
 */
function checkKey(first: string | number, others: readonly (string | number)[], what: string): void {
  let total = checkedSize(first, what);
  for (const part of others) total += checkedSize(part, what);
  if (total > MAX_KEY)
    throw new Fatal('store.key-too-long', `${what}: the key is longer than ${MAX_KEY} bytes.`);
}

/** Upper bound of the bytes of a part in a key. */
function checkedSize(part: string | number, what: string): number {
  if (typeof part === 'number') {
    if (!Number.isFinite(part)) throw new Fatal('store.key-unsortable', `${what}: ${part} does not sort.`);
    return 9;
  }
  // A UTF-16 unit becomes three bytes at most, so short texts need no counting.
  const bytes = part.length * 3 <= MAX_KEY_TEXT ? part.length * 3 : Buffer.byteLength(part);
  if (bytes > MAX_KEY_TEXT) {
    throw new Fatal(
      'store.key-too-long',
      `${what}: a key text has ${bytes} bytes, more than ${MAX_KEY_TEXT}.`,
    );
  }
  if (UNSORTABLE.test(part)) {
    throw new Fatal('store.key-unsortable', `${what}: a key text holds half a character.`);
  }
  return bytes + 1;
}

/** True if an untrusted value is a valid list of key parts. LMDB throws at longer keys. */
export function isKey(parts: readonly unknown[]): parts is readonly (string | number)[] {
  const [first, ...others] = parts;
  if (!isPart(first) || !others.every(isPart)) return false;
  try {
    checkKey(first, others, 'key');
    return true;
  } catch {
    return false;
  }
}

/** False if no stored key can begin with these parts. LMDB throws at reads of longer keys than it can hold. */
export function fitsKey(parts: readonly (string | number)[]): boolean {
  let bytes = 0;
  for (const part of parts) bytes += typeof part === 'string' ? Buffer.byteLength(part) + 1 : 9;
  return bytes <= MAX_KEY;
}

function isPart(part: unknown): part is string | number {
  return typeof part === 'string' || typeof part === 'number';
}

/** Checks every key that a step writes or removes. */
export function checkStepKeys(step: Step): void {
  const { kind, id } = step.actor.address;
  checkKey(kind, [id], 'actor');
  for (const row of step.rows.put) checkKey(row.view, row.key, 'row');
  for (const row of step.rows.remove) checkKey(row.view, row.key, 'row');
  for (const name of step.names.take) checkedSize(name, 'name');
  for (const name of step.names.release) checkedSize(name, 'name');
  for (const name in step.counters) checkedSize(name, 'counter');
  for (const effect of step.effects) {
    if (effect.partition !== undefined) checkKey(effect.partition, [effect.dueAt, kind, id], 'partition');
  }
  for (const timer of step.timers.arm) checkKey(timer.due, [kind, id, timer.name], 'timer');
}

/** Ascending order of keys: part by part, numbers before texts, texts by their UTF-8 bytes, a prefix first. */
export function compareKeys(left: readonly (string | number)[], right: readonly (string | number)[]): number {
  const shared = Math.min(left.length, right.length);
  for (let at = 0; at < shared; at++) {
    const order = compareParts(left[at], right[at]);
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

function compareParts(left: string | number | undefined, right: string | number | undefined): number {
  if (typeof left === 'number' && typeof right === 'number') return left - right;
  if (typeof left === 'number') return -1;
  if (typeof right === 'number') return 1;
  return Buffer.compare(Buffer.from(left ?? ''), Buffer.from(right ?? ''));
}

/**
 * Parses `<kind>/<id>/<revision>/<index>`. Reads from the end: an id may contain slashes, a kind may not. Throws
 * `store.key-malformed`.
 */
export function parseEffectKey(
  key: string,
): readonly [kind: string, id: string, revision: number, index: number] {
  const [, kind, id, revision, index] = /^([^/]+)\/(.*)\/(\d+)\/(\d+)$/s.exec(key) ?? [];
  if (kind === undefined || id === undefined)
    throw new Fatal('store.key-malformed', `"${key}" is not an effect key.`);
  return [kind, id, Number(revision), Number(index)];
}

/** True if an untrusted text is a valid key of an effect. */
export function isEffectKey(text: string): boolean {
  try {
    return isKey(parseEffectKey(text));
  } catch {
    return false;
  }
}
