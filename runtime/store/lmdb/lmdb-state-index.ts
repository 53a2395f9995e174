/**
 * The state index of a store on disk. Moving an actor in its rows and counters costs as much as a whole small step, so
 * moves are kept in memory, one for each actor from the place in the rows to its current place, and written on the next
 * read, when there are too many, and at the close.
 *
 * To survive a crash, the transaction that makes the rows of actors outdated writes a note which names these actors and
 * their places in the rows; the actors themselves give their current places. The transaction that writes the rows
 * removes the note.
 */

import { AFTER_ALL_TEXT } from '../../model/keys.ts';
import type { StateIndexEntry, StoredActor } from '../../model/ports.ts';
import {
  STATE_INDEX_VIEW,
  sameState,
  stateCounterName,
  stateIndexEntryOf,
  stateIndexKey,
} from '../../step/state-index.ts';
import { type Move, writeCounters } from './lmdb-changes.ts';
import { type Key, parseStored, type Tables, transact } from './lmdb-tables.ts';

/**
 * Maximum moves in memory, some 400 bytes each. At most as many actors are read again when a store opens after a crash.
 */
const MAX_PENDING_MOVES = 8192;

/** First part of the keys of notes. */
const PENDING_PREFIX = 'unsettled';

/** Entry of a note: one actor. */
type PendingMove = readonly [actor: Key, from: StateIndexEntry | null];

/** Pending moves of one writing thread. */
export class StateIndexWriter {
  readonly #tables: Tables;
  readonly #most: number;
  readonly #moves = new Map<string, Move>();
  /** Actors by the note that names them, oldest note first. */
  #records: { readonly key: Key; readonly actors: readonly string[] }[] = [];
  #number = 0;

  /** @param most maximum of pending moves */
  constructor(tables: Tables, most = MAX_PENDING_MOVES) {
    this.#tables = tables;
    this.#most = most;
  }

  /**
   * Records the moves of a transaction, inside it.
   * @param settle true: rows and counters are complete afterwards
   * @returns a function to call after the commit; if the transaction fails, nothing was recorded
   */
  write(moves: readonly Move[], settle: boolean): () => void {
    const moved = new Map<string, Move>();
    const fresh: string[] = [];
    for (const move of moves) {
      const name = move.actor.join('/');
      const known = moved.get(name) ?? this.#moves.get(name);
      if (known === undefined) fresh.push(name);
      moved.set(name, known === undefined ? move : { actor: move.actor, from: known.from, to: move.to });
    }
    let left = this.#moves.size + fresh.length;
    let notes = 0;
    const settled: string[] = settle ? [...fresh] : [];
    for (const { key, actors } of this.#records) {
      if (!settle && left <= this.#most) break;
      notes += 1;
      left -= actors.length;
      settled.push(...actors);
      void this.#tables.meta.remove(key);
    }
    const now = (name: string) => moved.get(name) ?? this.#moves.get(name);
    writeMoves(
      this.#tables,
      settled.map(now).filter((move) => move !== undefined),
    );
    const note = settle || fresh.length === 0 ? undefined : this.#record(fresh, moved);
    return () => {
      if (notes > 0) this.#records = this.#records.slice(notes);
      if (note !== undefined) this.#records.push(note);
      for (const [name, move] of moved) this.#moves.set(name, move);
      for (const name of settled) this.#moves.delete(name);
    };
  }

  #record(actors: readonly string[], moved: ReadonlyMap<string, Move>) {
    this.#number += 1;
    const key: Key = [PENDING_PREFIX, this.#number];
    const noted = actors.map((name) => moved.get(name)).map((move) => [move?.actor, move?.from]);
    void this.#tables.meta.put(key, JSON.stringify(noted));
    return { key, actors };
  }
}

/** Applies the moves that a crash has left in notes. Runs before any other read or write. */
export function settlePending(tables: Tables): void {
  const keys = [...tables.meta.getKeys({ start: [PENDING_PREFIX], end: [PENDING_PREFIX, AFTER_ALL_TEXT] })];
  if (keys.length === 0) return;
  transact(tables, () => {
    for (const key of keys) {
      const moves = parseStored<PendingMove[]>(tables.meta.get(key) ?? '[]').map(([actor, from]): Move => {
        const value = tables.actors.get(actor);
        return {
          actor,
          from,
          to: value === undefined ? null : stateIndexEntryOf(parseStored<StoredActor>(value)),
        };
      });
      writeMoves(tables, moves);
      void tables.meta.remove(key);
    }
  });
}

function writeMoves({ rows, counters }: Tables, moves: readonly Move[]): void {
  const counted = new Map<string, number>();
  const count = (name: string, by: number) => counted.set(name, (counted.get(name) ?? 0) + by);
  for (const { actor, from, to } of moves) {
    const [kind, id] = actor.map(String) as [string, string];
    if (from !== null) count(stateCounterName(kind, from), -1);
    if (to !== null) count(stateCounterName(kind, to), 1);
    if (sameState(from, to)) continue;
    if (from !== null) void rows.remove([STATE_INDEX_VIEW, ...stateIndexKey(kind, from, id)]);
    if (to !== null) void rows.put([STATE_INDEX_VIEW, ...stateIndexKey(kind, to, id)], 'null');
  }
  writeCounters(counters, counted);
}
