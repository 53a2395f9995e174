/**
 * How many actors there are of each kind, machine version and state, and which. Steps keep both themselves, as counters
 * and rows of the store, so that nobody ever has to look at all actors. Only a step that changes the state pays. Pure.
 */
import type { Row, Step, StoredActor } from './ports.ts';

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

type Shape = Pick<StoredActor, 'address' | 'version' | 'state'>;
type Facts = Pick<Step, 'rows' | 'counters'>;

/** Names by state, kind and version, of which there are few: made for each step they would cost more than all else here. */
const names = new Map<string, { readonly kind: string; readonly version: number; readonly name: string }[]>();

export function censusName({ address: { kind }, version, state }: Shape): string {
  const ofState = names.get(state) ?? [];
  const known = ofState.find((one) => one.kind === kind && one.version === version);
  if (known !== undefined) return known.name;
  const name = `${CENSUS_PREFIX}${kind}/${version}/${state}`;
  names.set(state, [...ofState, { kind, version, name }]);
  return name;
}

export function censusRow({ address, state }: Shape): Row {
  return { view: CENSUS_VIEW, key: [address.kind, state, address.id], value: null };
}

/** Adds how the census moves with a step of one actor; undefined = it was not, or is not any more. */
export function withCensus<Given extends Facts>(
  facts: Given,
  before: Shape | undefined,
  after: Shape | undefined,
): Given {
  const moved = before?.state !== after?.state;
  // Most steps end here; the names below are built for the others only.
  if (!moved && before?.version === after?.version) return facts;
  const counters: { [name: string]: number } = { ...facts.counters };
  if (before) counters[censusName(before)] = -1;
  if (after) counters[censusName(after)] = 1;
  const { put, remove } = facts.rows;
  return {
    ...facts,
    rows: {
      put: moved && after ? [...put, censusRow(after)] : put,
      remove: moved && before ? [...remove, censusRow(before)] : remove,
    },
    counters,
  };
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
