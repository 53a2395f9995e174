/** Compares the entries of one object in two states by the closed rule: each that differs is a change of a kind in its row. */
import { type ByteSlice, entriesOf, equalEntries, type PdfDict, referencesIn } from '../../pdf/index.ts';
import { type Change, forbidden } from './change-policy.ts';
import { type EntryRule, type Place, ruleOf } from './change-rules.ts';
import { changedObjectsBelow, type ObjectComparison } from './object-comparison.ts';

interface Compared {
  readonly place: Place;
  /** For people. */
  readonly what: string;
  readonly before: PdfDict | undefined;
  readonly after: PdfDict | undefined;
  /** True when an object below the earlier value of an entry changed. */
  readonly below?: (key: string) => boolean;
  /** Names an entry for people; `/X of …` unless given. */
  readonly named?: (key: string) => string;
}

/** Returns the changes for entries of one row that differ; the entries of a part are compared by rows of their own. */
type Judge = (rule: EntryRule, keys: readonly string[]) => Change | readonly Change[];

export function entryChanges(compared: Compared, judge: Judge): readonly Change[] {
  const { place, what, before, after, below, named = (key) => `/${key} of ${what}` } = compared;
  const values = after === undefined ? new Map<string, ByteSlice>() : entriesOf(after);
  if (values === undefined) return [forbidden(`wrote a key of ${what} twice`)];
  const old = before?.entries.map((entry) => before.keyOf(entry)) ?? [];
  const changes: Change[] = [];
  const rules = new Map<EntryRule, string[]>();
  for (const key of new Set([...values.keys(), ...old])) {
    const isSame = before === after || equalEntries(key, before?.get(key), values.get(key));
    const rule = ruleOf(place, key);
    if (isSame && (rule === undefined || below?.(key) !== true)) continue;
    if (rule === undefined) changes.push(forbidden(`changed ${named(key)}`));
    else rules.set(rule, [...(rules.get(rule) ?? []), key]);
  }
  for (const [rule, keys] of rules) {
    const judged = [judge(rule, keys)].flat();
    const [first = ''] = keys;
    // No difference is no change.
    if (judged.length === 0 && rule.judged !== 'part') changes.push(forbidden(`changed ${named(first)}`));
    for (const change of judged) changes.push(isNamed(change, rule) ? change : forbidden(change.description));
  }
  return changes;
}

const isNamed = ({ kind }: Change, { judged, yields }: EntryRule): boolean =>
  kind === 'forbidden' || judged === 'part' || yields.includes(kind);

/** Tells for an entry whether an object below its earlier value changed. */
export function changedBelow(
  pair: ObjectComparison,
  before: PdfDict | undefined,
  exempt: (number: number) => boolean = () => false,
): (key: string) => boolean {
  return (key) => {
    const value = before?.get(key);
    const numbers = value === undefined ? [] : referencesIn(value);
    return numbers.length > 0 && changedObjectsBelow(pair, [{ numbers, place: '' }], exempt).length > 0;
  };
}

/** True for a value that refers to no object: a reference could lead to what has another meaning elsewhere. */
export const isPlain = (value: ByteSlice | undefined): boolean =>
  value === undefined || referencesIn(value).length === 0;
