/**
 * Applies one step inside a transaction. Keys and values were checked before, so that an invalid step never affects the
 * others of its group; only disk errors throw here.
 */
import { Fatal } from '../../model/failures.ts';
import { AFTER_ALL_TEXT } from '../../model/keys.ts';
import type { Committed, EffectKey, StateIndexEntry, StoredActor } from '../../model/ports.ts';
import {
  STATE_INDEX_VIEW,
  sameState,
  stateCounterName,
  stateIndexEntryOf,
  stateIndexKey,
} from '../../step/derive.ts';
import { actorText, PACKED_UNTIL, pack, unpack } from './lmdb-packed.ts';
import {
  countersOf,
  type EffectPosition,
  type EffectValue,
  effectKey,
  type Key,
  type PlannedStep,
  parseStored,
  positionText,
  queueOf,
  readPosition,
  type StepPlan,
  type Table,
  type Tables,
  transact,
} from './lmdb-tables.ts';
import type { PackWrite } from './lmdb-wire.ts';

/**
 * Maximum moves in memory, some 400 bytes each. At most as many actors are read again when a store opens after a crash.
 */
const MAX_PENDING_MOVES = 8192;

/** First part of the keys of notes. */
const PENDING_PREFIX = 'unsettled';

/** Entry of a note: one actor. */
type PendingMove = readonly [actor: Key, from: StateIndexEntry | null];

/**
 * The state index of a store on disk. Moving an actor in its rows and counters costs as much as a whole small step, so
 * moves are kept in memory, one for each actor from the place in the rows to its current place, and written on the next
 * read, when there are too many, and at the close.
 *
 * To survive a crash, the transaction that makes the rows of actors outdated writes a note which names these actors and
 * their places in the rows; the actors themselves give their current places. The transaction that writes the rows
 * removes the note.
 */
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
          to:
            value === undefined
              ? null
              : stateIndexEntryOf(parseStored<StoredActor>(actorText(tables, actor, value))),
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

/** Returns the reason why the store refuses this step; undefined = it accepts it. Unpacks the actor. */
export function refusal(tables: Tables, plan: StepPlan): Exclude<Committed, { ok: true }> | undefined {
  const { actor: own, basedOn, settles } = plan;
  const fresh =
    basedOn === 0
      ? !tables.actors.doesExist(own)
      : tables.actors.doesExist(own, basedOn) || unpack(tables, own, basedOn);
  if (!fresh) return { ok: false, reason: 'stale' };
  if (settles !== null && !tables.effects.doesExist(effectKey(settles))) {
    return { ok: false, reason: 'duplicate' };
  }
  for (const name of plan.take) {
    const holder = tables.names.get([name]);
    if (holder !== undefined && holder !== holderValue(own)) {
      return { ok: false, reason: 'taken', name, holder: parseStored(holder) };
    }
  }
  return undefined;
}

const NONE: readonly never[] = [];

function holderValue([kind, id]: Key): string {
  return JSON.stringify({ kind, id });
}

/** Moves of an actor in the state index. A place that is null: none. */
export interface Move {
  readonly actor: Key;
  readonly from: StateIndexEntry | null;
  readonly to: StateIndexEntry | null;
}

/** Changes that the steps of one transaction write once at its end. */
export class CollectedChanges {
  readonly counted = new Map<string, number>();
  readonly moves: Move[] = [];
  /** True: all pending changes of the state index are written too. */
  settlesStateIndex = false;

  count(name: string, by: number): void {
    this.counted.set(name, (this.counted.get(name) ?? 0) + by);
  }
}

/**
 * Writes an accepted step.
 * @param gathered collects counters and moves in the state index
 * @param gone collects effects that are settled or dropped
 */
export function write(
  tables: Tables,
  { plan, values }: PlannedStep,
  gathered: CollectedChanges,
  gone: EffectKey[],
): void {
  const { actor: own } = plan;
  let next = 0;
  const value = (): string => values[next++] ?? 'null';
  const actor = value();
  if (plan.ends) removeActor(tables, own);
  else void tables.actors.put(own, actor, plan.revision);
  for (const line of plan.journal ?? NONE) void tables.journal.put([...own, line], value());
  removeEffects(tables, plan, gone);
  for (const [key, dueAt, partition] of plan.effects ?? NONE)
    writeEffect(tables, effectKey(key), { dueAt, partition }, value());
  for (const [name, due] of plan.disarm ?? NONE) void tables.timers.remove([due, ...own, name]);
  for (const [name, due] of plan.arm ?? NONE) void tables.timers.put([due, ...own, name], value());
  for (const key of plan.remove ?? NONE) void tables.rows.remove(key);
  for (const key of plan.put ?? NONE) void tables.rows.put(key, value());
  for (const name of plan.release) {
    if (tables.names.get([name]) === holderValue(own)) void tables.names.remove([name]);
  }
  for (const name of plan.take) void tables.names.put([name], holderValue(own));
  for (const [name, by] of countersOf(plan)) gathered.count(name, by);
  if (plan.moved) gathered.moves.push({ actor: own, from: plan.moved.from, to: plan.moved.to });
}

function removeActor(tables: Tables, own: Key): void {
  void tables.actors.remove(own);
  for (const key of [...tables.journal.getKeys({ start: own, end: [...own, AFTER_ALL_TEXT] })]) {
    void tables.journal.remove(key);
  }
}

function removeEffects(tables: Tables, { actor, settles, dropsEffects }: StepPlan, gone: EffectKey[]): void {
  if (settles !== null) {
    removeEffect(tables, effectKey(settles));
    gone.push(settles);
  }
  if (!dropsEffects) return;
  for (const key of [...tables.effects.getKeys({ start: actor, end: [...actor, AFTER_ALL_TEXT] })]) {
    removeEffect(tables, key);
    gone.push(key.join('/'));
  }
}

function writeEffect(tables: Tables, key: Key, place: EffectPosition, value: string): void {
  const { table, at } = queueOf(tables, place, key);
  void tables.effects.put(key, positionText(place));
  void table.put(at, value);
}

function removeEffect(tables: Tables, key: Key): void {
  const place = tables.effects.get(key);
  if (place === undefined) return;
  const { table, at } = queueOf(tables, readPosition(place), key);
  void table.remove(at);
  void tables.effects.remove(key);
  if (tables.troubled.doesExist(key)) void tables.troubled.remove(key);
}

/** Removes effects that are done. Ignores those that no longer exist. */
export function writeSettled(tables: Tables, keys: readonly EffectKey[], gone: EffectKey[]): void {
  for (const key of keys) {
    removeEffect(tables, effectKey(key));
    gone.push(key);
  }
}

/** Packs ended actors that are as of these revisions, and notes how far the leaves of a node were gone through. */
export function writePacked(tables: Tables, { actors, node, until }: Omit<PackWrite, 'type'>): void {
  for (const actor of actors) {
    try {
      pack(tables, actor);
    } catch (error) {
      // Damage, found before anything of it was written: it stays, and fails no step of this transaction.
      if (!(error instanceof Fatal)) throw error;
    }
  }
  void tables.meta.put([PACKED_UNTIL, node], JSON.stringify(until));
}

/**
 * Reschedules an effect. Does nothing when it is settled.
 * @param error null = it did not fail
 */
export function writeDeferral(tables: Tables, key: EffectKey, until: number, error: string | null): void {
  const own = effectKey(key);
  const stored = tables.effects.get(own);
  if (stored === undefined) return;
  const place = readPosition(stored);
  const { table, at } = queueOf(tables, place, own);
  const value = table.get(at);
  if (value === undefined) return;
  const before = parseStored<EffectValue>(value);
  const after = error === null ? before : { ...before, failures: before.failures + 1, lastError: error };
  const later = { ...place, dueAt: until };
  void table.remove(at);
  writeEffect(tables, own, later, JSON.stringify(after satisfies EffectValue));
  if (after.failures > 0) void tables.troubled.put(own, positionText(later));
}

/** Adds to counters; one that reaches 0 is removed. */
export function writeCounters(counters: Table, counted: ReadonlyMap<string, number>): void {
  for (const [name, by] of counted) {
    if (by === 0) continue;
    const value = Number(counters.get([name]) ?? 0) + by;
    if (value === 0) void counters.remove([name]);
    else void counters.put([name], String(value));
  }
}
