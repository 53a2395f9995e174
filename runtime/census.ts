/**
 * How many actors there are of each kind, machine version and state. Steps keep the count themselves, as counters of
 * the store, so that nobody ever has to look at all actors. Pure.
 */
import type { StoredActor } from './ports.ts';

/** What the names of these counters begin with: `actors/<kind>/<version>/<state>`. */
export const CENSUS_PREFIX = 'actors/';
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

type Shape = Pick<StoredActor, 'address' | 'version' | 'state'>;

export function censusName({ address, version, state }: Shape): string {
  return `${CENSUS_PREFIX}${address.kind}/${version}/${state}`;
}

/** Adds to `counters` how the census moves with a step; undefined = the actor was not, or is not any more. */
export function withCensus(
  counters: { readonly [name: string]: number },
  before: Shape | undefined,
  after: Shape | undefined,
): { readonly [name: string]: number } {
  const from = before && censusName(before);
  const to = after && censusName(after);
  if (from === to) return counters;
  return { ...counters, ...(from !== undefined && { [from]: -1 }), ...(to !== undefined && { [to]: 1 }) };
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
