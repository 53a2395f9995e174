/**
 * The census of a store on disk. To move an actor in its rows and counters costs as much as all of a small step, so moves
 * are kept in memory, one for each actor from where the rows have it to where it is now, and written once somebody
 * wants to read them, when there are too many, and at the end.
 *
 * So that a crash loses none, the transaction that makes the rows of actors old leaves a note which names these actors
 * and where the rows have them; where they are is told by the actors themselves. The note goes with the transaction that
 * writes the rows.
 */
import { CENSUS_VIEW, censusKey, censusName, placeOf, sameState } from '../census.ts';
import type { CensusPlace, StoredActor } from '../ports.ts';
import { AFTER_ALL_TEXT } from './keys.ts';
import { type Move, writeCounters } from './lmdb-changes.ts';
import { type Key, type Tables, transact } from './lmdb-tables.ts';

/** Moves kept in memory, some 400 bytes each. As many actors are read again at most when a store opens after a crash. */
const MOST_UNSETTLED = 8192;

/** First part of the keys of notes. */
const NOTE = 'unsettled';

/** What a note says of one actor. */
type Noted = readonly [actor: Key, from: CensusPlace | null];

/** The moves that one writing thread keeps. */
export class Census {
  readonly #tables: Tables;
  readonly #most: number;
  readonly #moves = new Map<string, Move>();
  /** Actors by the note that names them, oldest note first. */
  #notes: { readonly key: Key; readonly actors: readonly string[] }[] = [];
  #number = 0;

  /** @param most moves that stay unwritten */
  constructor(tables: Tables, most = MOST_UNSETTLED) {
    this.#tables = tables;
    this.#most = most;
  }

  /**
   * Takes the moves of a transaction, inside of it.
   * @param settle true: afterwards rows and counters lack nothing
   * @returns to be called once the transaction is committed; if it fails, nothing was taken
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
    for (const { key, actors } of this.#notes) {
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
    const note = settle || fresh.length === 0 ? undefined : this.#note(fresh, moved);
    return () => {
      if (notes > 0) this.#notes = this.#notes.slice(notes);
      if (note !== undefined) this.#notes.push(note);
      for (const [name, move] of moved) this.#moves.set(name, move);
      for (const name of settled) this.#moves.delete(name);
    };
  }

  #note(actors: readonly string[], moved: ReadonlyMap<string, Move>) {
    this.#number += 1;
    const key: Key = [NOTE, this.#number];
    const noted = actors.map((name) => moved.get(name)).map((move) => [move?.actor, move?.from]);
    void this.#tables.meta.put(key, JSON.stringify(noted));
    return { key, actors };
  }
}

/** Writes the moves that a crash has left to the notes. Before anybody reads or writes. */
export function settleLeft(tables: Tables): void {
  const keys = [...tables.meta.getKeys({ start: [NOTE], end: [NOTE, AFTER_ALL_TEXT] })];
  if (keys.length === 0) return;
  transact(tables, () => {
    for (const key of keys) {
      const moves = (JSON.parse(tables.meta.get(key) ?? '[]') as Noted[]).map(([actor, from]): Move => {
        const value = tables.actors.get(actor);
        return { actor, from, to: value === undefined ? null : placeOf(JSON.parse(value) as StoredActor) };
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
    if (from !== null) count(censusName(kind, from), -1);
    if (to !== null) count(censusName(kind, to), 1);
    if (sameState(from, to)) continue;
    if (from !== null) void rows.remove([CENSUS_VIEW, ...censusKey(kind, from, id)]);
    if (to !== null) void rows.put([CENSUS_VIEW, ...censusKey(kind, to, id)], 'null');
  }
  writeCounters(counters, counted);
}
