/**
 * How many actors there are of each kind, machine version and state, and which: counters and rows of the store, so that
 * nobody ever has to look at all actors. A step says how its actor moves; the store may write that when it likes, as
 * long as whoever reads these counters and rows finds every move. Pure.
 */
import type { CensusPlace, Step, StoredActor } from './ports.ts';

/** What the names of these counters begin with: `actors/<kind>/<version>/<state>`. */
export const CENSUS_PREFIX = 'actors/';
/** Every actor: `[kind, state, id]`. */
export const CENSUS_VIEW = 'actors';
/** Actors that supervision has given up: `stopped/<kind>`; each also has a row `[kind, id]` in the view of this name. */
export const STOPPED_PREFIX = 'stopped/';
export const STOPPED_VIEW = 'stopped-actors';

/** Actors of one kind that are in one state, stored by one version of its machine. */
export interface CensusLine {
  readonly kind: string;
  readonly version: number;
  readonly state: string;
  readonly count: number;
}

type Shape = Pick<StoredActor, 'version' | 'state'>;

export function placeOf({ version, state }: Shape): CensusPlace {
  return `${version}/${state}`;
}

export function censusName(kind: string, place: CensusPlace): string {
  return `${CENSUS_PREFIX}${kind}/${place}`;
}

/** Key of an actor's row in `CENSUS_VIEW`; its value is null. */
export function censusKey(kind: string, place: CensusPlace, id: string): readonly string[] {
  return [kind, stateIn(place), id];
}

/** Whether the rows of two places are the same. */
export function sameState(one: CensusPlace | null, other: CensusPlace | null): boolean {
  return one === other || (one !== null && other !== null && stateIn(one) === stateIn(other));
}

function stateIn(place: CensusPlace): string {
  return place.slice(place.indexOf('/') + 1);
}

/** How the census moves with a step of one actor; a missing one was not, or is not any more. */
export function moveOf(before: Shape | undefined, after: Shape | undefined): Step['moved'] {
  if (before?.state === after?.state && before?.version === after?.version) return null;
  return { from: before ? placeOf(before) : null, to: after ? placeOf(after) : null };
}

/** Reads the counters whose names begin with `CENSUS_PREFIX`. */
export function parseCensus(counters: { readonly [name: string]: number }): readonly CensusLine[] {
  const lines: CensusLine[] = [];
  for (const [name, count] of Object.entries(counters)) {
    const [, kind, version, state] = /^actors\/([^/]+)\/(\d+)\/(.*)$/s.exec(name) ?? [];
    if (kind === undefined || state === undefined || count === 0) continue;
    lines.push({ kind, version: Number(version), state, count });
  }
  return lines;
}
