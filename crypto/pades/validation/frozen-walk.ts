/**
 * Follows the objects of the older of two states and tells which of them the newer one changed.
 */
import type { DocumentState } from './document-state.ts';

/** Two states, as far as following objects needs them. */
export interface Comparison {
  readonly before: Pick<DocumentState, 'has' | 'references'>;
  changed(number: number): boolean;
}

/** A place to begin at: the numbers something refers to, and what that is for people. */
export interface Root {
  readonly numbers: readonly number[];
  readonly place: string;
}

export interface Finding {
  readonly number: number;
  /** That of the root it was first reached from. */
  readonly place: string;
  /** It did not exist before: the older state refers to nothing there. */
  readonly added: boolean;
}

/** More changes than this are not listed. */
const MOST_FINDINGS = 20;

/**
 * Every changed object that can be reached from the roots in the older state, `exempt` ones neither judged nor
 * followed. Objects that are not there yet count as well, since defining them later would change what refers to them.
 * @param seen numbers not to look at again; those looked at are added
 * @throws OutOfWork
 */
export function changedBelow(
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
        if (found.length < MOST_FINDINGS) found.push({ number, place, added: !pair.before.has(number) });
      } else {
        for (const next of pair.before.references(number) ?? []) if (!seen.has(next)) open.push(next);
      }
    }
  }
  return found;
}
