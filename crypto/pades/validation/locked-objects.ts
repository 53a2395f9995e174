/** Traverses the objects of the older of two states and finds those that the newer one changed. */
import type { DocumentState } from './document-state.ts';

/** Two states with the operations for the traversal. */
export interface Comparison {
  readonly before: Pick<DocumentState, 'has' | 'references'>;
  changed(number: number): boolean;
}

/** A starting point: object numbers, and their description for people. */
export interface Root {
  readonly numbers: readonly number[];
  readonly place: string;
}

export interface Finding {
  readonly number: number;
  /** Description of the root from which the object was first reached. */
  readonly place: string;
  /** True when the object did not exist before: the older state has a dangling reference to it. */
  readonly added: boolean;
}

/** Most changes listed. */
const MAX_FINDINGS = 20;

/**
 * Returns every changed object that is reachable from the roots in the older state; `exempt` ones are neither
 * compared nor
 * followed. Missing objects count too, since defining them later would change the objects that refer to them.
 * @param seen numbers to skip; visited ones are added
 * @throws WorkBudgetExceeded
 */
export function changedObjectsBelow(
  pair: Comparison,
  roots: Iterable<Root>,
  exempt: (number: number) => boolean,
  seen: Set<number> = new Set(),
): readonly Finding[] {
  const found: Finding[] = [];
  for (const { numbers, place } of roots) {
    const open = [...numbers];
    for (let number = open.pop(); number !== undefined; number = open.pop()) {
      if (seen.has(number) || exempt(number)) continue;
      seen.add(number);
      if (pair.changed(number)) {
        if (found.length < MAX_FINDINGS) found.push({ number, place, added: !pair.before.has(number) });
      } else {
        for (const next of pair.before.references(number) ?? []) if (!seen.has(next)) open.push(next);
      }
    }
  }
  return found;
}
