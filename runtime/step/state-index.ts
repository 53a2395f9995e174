/**
 * The state index: counters and rows of the store that give the actors of each kind by machine version and state, so
 * that no reader scans all actors. A step states the move of its actor; the store may write it later, as long as
 * readers of these counters and rows see every move. Pure.
 */
import type { StateIndexEntry, Step, StoredActor } from '../model/ports.ts';

/** Prefix of the names of these counters: `actors/<kind>/<version>/<state>`. */
export const STATE_INDEX_PREFIX = 'actors/';
/** View of all actors: `[kind, state, id]`. */
export const STATE_INDEX_VIEW = 'actors';
/** Stopped actors: counter `stopped/<kind>`; each also has a row `[kind, id]` in the view of this name. */
export const STOPPED_PREFIX = 'stopped/';
export const STOPPED_VIEW = 'stopped-actors';

/** Number of actors of one kind in one state, stored by one version of its machine. */
export interface StateCount {
  readonly kind: string;
  readonly version: number;
  readonly state: string;
  readonly count: number;
}

type Shape = Pick<StoredActor, 'version' | 'state'>;

export function stateIndexEntryOf({ version, state }: Shape): StateIndexEntry {
  return `${version}/${state}`;
}

export function stateCounterName(kind: string, place: StateIndexEntry): string {
  return `${STATE_INDEX_PREFIX}${kind}/${place}`;
}

/** Key of an actor's row in `STATE_INDEX_VIEW`; its value is null. */
export function stateIndexKey(kind: string, place: StateIndexEntry, id: string): readonly string[] {
  return [kind, stateIn(place), id];
}

/** True if both places have the same row. */
export function sameState(one: StateIndexEntry | null, other: StateIndexEntry | null): boolean {
  return one === other || (one !== null && other !== null && stateIn(one) === stateIn(other));
}

function stateIn(place: StateIndexEntry): string {
  return place.slice(place.indexOf('/') + 1);
}

/** Returns the move that a step of one actor makes in the state index; a missing actor has no place. */
export function stateMove(before: Shape | undefined, after: Shape | undefined): Step['moved'] {
  if (before?.state === after?.state && before?.version === after?.version) return null;
  return { from: before ? stateIndexEntryOf(before) : null, to: after ? stateIndexEntryOf(after) : null };
}

/** Reads the counters whose names begin with `STATE_INDEX_PREFIX`. */
export function parseStateCounter(counters: { readonly [name: string]: number }): readonly StateCount[] {
  const lines: StateCount[] = [];
  for (const [name, count] of Object.entries(counters)) {
    const [, kind, version, state] = /^actors\/([^/]+)\/(\d+)\/(.*)$/s.exec(name) ?? [];
    if (kind === undefined || state === undefined || count === 0) continue;
    lines.push({ kind, version: Number(version), state, count });
  }
  return lines;
}
