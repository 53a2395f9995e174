/**
 * The store on disk, for one machine. Reads are answered on this thread straight from the memory map; writes go in
 * groups through a thread of their own (`lmdb-committer.ts`). A commit is answered once it is durable: this engine
 * makes nothing visible before.
 */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { MessageChannel } from 'node:worker_threads';
import { latestDue } from '../backoff.ts';
import { CENSUS_PREFIX, CENSUS_VIEW } from '../census.ts';
import { Faults } from '../faults.ts';
import type {
  ActorAddress,
  ActorStore,
  Committed,
  EffectKey,
  JournalLine,
  Millis,
  Row,
  RowQuery,
  SharedStore,
  Step,
  StoredActor,
  StoredEffect,
  StoredTimer,
} from '../ports.ts';
import { AFTER_ALL_TEXT } from './keys.ts';
import { effectsDueAfter } from './late-effects.ts';
import { settleLeft } from './lmdb-census.ts';
import { Committer } from './lmdb-committer.ts';
import { startWriter } from './lmdb-link.ts';
import { readActor, readCounters, readJournal, readRows, valuesOf } from './lmdb-reads.ts';
import { stepOfText } from './lmdb-step-text.ts';
import {
  actorKey,
  effectKey,
  type Key,
  openTables,
  queueOf,
  readEffect,
  readPlace,
  type Tables,
} from './lmdb-tables.ts';
import { upgradeTables } from './lmdb-upgrade.ts';
import { claimFolder, type Release } from './owner.ts';

export interface LmdbOptions {
  /** Folder of the store; made if missing. Nothing else may be in it. */
  readonly folder: string;
  readonly faults?: Faults;
  /**
   * Told once, when nothing can be written any more though nobody closed the store. What was answered is safe;
   * only a new process can go on. @default does nothing
   */
  readonly onLost?: (why: string) => void;
}

/** Opens the store. Throws `store.locked` (another process has the folder) and `store.newer-format`. */
export function openLmdbStore(options: LmdbOptions): ActorStore {
  const release = claimFolder(options.folder);
  try {
    const tables = openTables(options.folder);
    upgradeTables(tables);
    settleLeft(tables);
    return new LmdbStore(options, tables, release);
  } catch (error) {
    release();
    throw error;
  }
}

class LmdbStore implements ActorStore {
  readonly #folder: string;
  readonly #tables: Tables;
  readonly #release: Release;
  readonly #committer: Committer;
  readonly #leased = new Set<EffectKey>();
  #closed: Promise<void> | undefined;

  constructor({ folder, faults, onLost }: LmdbOptions, tables: Tables, release: Release) {
    this.#folder = folder;
    this.#tables = tables;
    this.#release = release;
    const written = (gone: readonly EffectKey[]): void => {
      // This thread's view of the data is the one it had before the group.
      this.#tables.root.resetReadTxn();
      for (const key of gone) this.#leased.delete(key);
    };
    const link = startWriter(folder);
    this.#committer = new Committer(link, faults ?? new Faults(), written, onLost ?? (() => {}));
  }

  share(tell: (written: { readonly serial: number; readonly steps: readonly Step[] }) => void): {
    readonly store: SharedStore;
    readonly revoke: () => Promise<void>;
  } {
    const { port1, port2 } = new MessageChannel();
    const revoke = this.#committer.attach(port2, ({ serial, steps, gone }) => {
      this.#tables.root.resetReadTxn();
      for (const key of gone) this.#leased.delete(key);
      tell({ serial, steps: steps.map(stepOfText) });
    });
    return { store: { folder: this.#folder, port: port1 }, revoke };
  }

  async load(actor: ActorAddress): Promise<StoredActor | undefined> {
    return readActor(this.#tables, actor);
  }

  async actors(query: {
    readonly kind: string;
    readonly after?: string;
    readonly limit: number;
  }): Promise<readonly StoredActor[]> {
    const { kind, after, limit } = query;
    return valuesOf(
      this.#tables.actors.getRange({
        start: after === undefined ? [kind] : [kind, after],
        exclusiveStart: after !== undefined,
        end: [kind, AFTER_ALL_TEXT],
        limit,
      }),
    );
  }

  commit(step: Step): Promise<Committed> {
    return this.#committer.commit(step);
  }

  deferEffect(key: EffectKey, until: Millis, error: string): Promise<void> {
    return this.#committer.defer(key, until, error);
  }

  async hastenEffects(now: Millis): Promise<void> {
    const late: Promise<void>[] = [];
    for (const effect of await effectsDueAfter(this.#tables, this, now)) {
      const latest = latestDue(effect, now);
      if (effect.dueAt > latest) late.push(this.#committer.defer(effect.key, latest, null));
    }
    await Promise.all(late);
  }

  async journal(
    actor: ActorAddress,
    options: { readonly after?: number; readonly limit?: number } = {},
  ): Promise<readonly JournalLine[]> {
    return readJournal(this.#tables, actor, options);
  }

  async rows(query: RowQuery): Promise<readonly Row[]> {
    if (query.view === CENSUS_VIEW) await this.#committer.settleCensus();
    return readRows(this.#tables, query);
  }

  async counters(prefix: string): Promise<{ readonly [name: string]: number }> {
    if (prefix.startsWith(CENSUS_PREFIX) || CENSUS_PREFIX.startsWith(prefix))
      await this.#committer.settleCensus();
    return readCounters(this.#tables, prefix);
  }

  async holder(name: string): Promise<ActorAddress | undefined> {
    const value = this.#tables.names.get([name]);
    return value === undefined ? undefined : (JSON.parse(value) as ActorAddress);
  }

  /** An effect by its own key and what is kept of its place. */
  #effectAt(key: Key, placeText: string): StoredEffect | undefined {
    const place = readPlace(placeText);
    const { table, at } = queueOf(this.#tables, place, key);
    const stored = table.get(at);
    return stored === undefined ? undefined : readEffect([place.dueAt, ...key], stored, place.lane);
  }

  async leaseEffects(now: Millis, limit: number, lane?: string): Promise<readonly StoredEffect[]> {
    const leased: StoredEffect[] = [];
    if (limit <= 0) return leased;
    const { due, lanes } = this.#tables;
    const range =
      lane === undefined
        ? due.getRange({ end: [now, AFTER_ALL_TEXT] })
        : lanes.getRange({ start: [lane], end: [lane, now, AFTER_ALL_TEXT] });
    for (const { key, value } of range) {
      const own = lane === undefined ? key : key.slice(1);
      const name = own.slice(1).join('/');
      if (this.#leased.has(name)) continue;
      leased.push(readEffect(own, value, lane));
      this.#leased.add(name);
      if (leased.length === limit) break;
    }
    return leased;
  }

  async lanes(query: {
    readonly prefix: string;
    readonly after?: string;
    readonly limit: number;
  }): Promise<readonly { readonly lane: string; readonly due: Millis }[]> {
    const found: { lane: string; due: Millis }[] = [];
    const end: Key = [query.prefix + AFTER_ALL_TEXT];
    let start: Key = query.after === undefined ? [query.prefix] : [query.after, AFTER_ALL_TEXT];
    while (found.length < query.limit) {
      const lane = this.#firstLaneKey(start, end)?.[0];
      if (lane === undefined) break;
      const name = String(lane);
      const due = this.#firstUnleased(name);
      if (due !== undefined) found.push({ lane: name, due });
      start = [name, AFTER_ALL_TEXT];
    }
    return found;
  }

  #firstLaneKey(start: Key, end: Key): Key | undefined {
    for (const key of this.#tables.lanes.getKeys({ start, end, limit: 1 })) return key;
    return undefined;
  }

  #firstUnleased(lane: string): Millis | undefined {
    for (const key of this.#tables.lanes.getKeys({ start: [lane], end: [lane, AFTER_ALL_TEXT] })) {
      if (!this.#leased.has(key.slice(2).join('/'))) return Number(key[1]);
    }
    return undefined;
  }

  async nextEffectDue(): Promise<Millis | undefined> {
    for (const key of this.#tables.due.getKeys()) {
      if (!this.#leased.has(key.slice(1).join('/'))) return Number(key[0]);
    }
    return undefined;
  }

  async pendingEffects(actor: ActorAddress): Promise<readonly StoredEffect[]> {
    const own = actorKey(actor);
    const pending: StoredEffect[] = [];
    for (const { key, value } of this.#tables.effects.getRange({
      start: own,
      end: [...own, AFTER_ALL_TEXT],
    })) {
      const effect = this.#effectAt(key, value);
      if (effect !== undefined) pending.push(effect);
    }
    return pending;
  }

  async troubledCount(): Promise<number> {
    return (this.#tables.troubled.getStats() as { readonly entryCount: number }).entryCount;
  }

  async troubledEffects(query: {
    readonly after?: EffectKey;
    readonly limit: number;
  }): Promise<readonly StoredEffect[]> {
    const found: StoredEffect[] = [];
    const range = this.#tables.troubled.getRange({
      ...(query.after !== undefined && { start: effectKey(query.after), exclusiveStart: true }),
      limit: query.limit,
    });
    for (const { key, value } of range) {
      const effect = this.#effectAt(key, value);
      if (effect !== undefined) found.push(effect);
    }
    return found;
  }

  async dueTimers(now: Millis, limit: number): Promise<readonly StoredTimer[]> {
    const due: StoredTimer[] = [];
    for (const { key, value } of this.#tables.timers.getRange({ end: [now, AFTER_ALL_TEXT], limit })) {
      const [time, kind, id, name] = key;
      due.push({
        actor: { kind: String(kind), id: String(id) },
        name: String(name),
        due: Number(time),
        event: JSON.parse(value),
      });
    }
    return due;
  }

  async nextTimerDue(): Promise<Millis | undefined> {
    for (const key of this.#tables.timers.getKeys({ limit: 1 })) return Number(key[0]);
    return undefined;
  }

  /** What was answered is durable already. */
  async flushed(): Promise<void> {}

  refusal(): string | undefined {
    return this.#committer.refusal;
  }

  describe(): ReturnType<ActorStore['describe']> {
    // Gone when somebody removed it under us: then nothing can be said of its size.
    const file = statSync(join(this.#folder, 'data.mdb'), { throwIfNoEntry: false });
    return { engine: 'LMDB', location: this.#folder, ...(file && { bytes: file.size }) };
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    await this.#committer.close();
    await this.#tables.root.close();
    this.#release();
  }
}
