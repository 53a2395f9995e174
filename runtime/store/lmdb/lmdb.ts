/**
 * The store on disk, for one machine. Reads use the memory map on this thread; writes are grouped and use a thread of
 * their own (`lmdb-committer.ts`). A commit is answered once it is durable: this engine makes nothing visible before.
 */
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { MessageChannel } from 'node:worker_threads';
import { latestDue } from '../../model/backoff.ts';
import { Faults } from '../../model/faults.ts';
import { AFTER_ALL_TEXT, fitsKey } from '../../model/keys.ts';
import type {
  ActorAddress,
  ActorStore,
  AfterQuery,
  Committed,
  EffectKey,
  HeldName,
  JournalLine,
  ListedEffect,
  Millis,
  Row,
  RowQuery,
  SharedStore,
  Step,
  StoredActor,
  StoredEffect,
  StoredTimer,
} from '../../model/ports.ts';
import { STATE_INDEX_PREFIX, STATE_INDEX_VIEW } from '../../step/derive.ts';
import { readActor, readActors, readJournal } from './lmdb-actors.ts';
import { settlePending } from './lmdb-changes.ts';
import { assertSound, noteClosed } from './lmdb-check.ts';
import { Committer, startWriter } from './lmdb-committer.ts';
import { packedUntil } from './lmdb-packed.ts';
import { Refilling } from './lmdb-refill.ts';
import {
  actorKey,
  assertNoCopy,
  effectKey,
  type Key,
  openTables,
  parseStored,
  readCounters,
  readEffect,
  readRows,
  stepOfText,
  type Tables,
  upgradeCopyOf,
} from './lmdb-tables.ts';
import { endUpgrade, keepUpgradeCopy, upgradeTables } from './lmdb-upgrade.ts';
import { effectAt, readEffects, readNames, readTimers, timersIn } from './lmdb-work.ts';
import { claimFolder, type Release } from './owner.ts';
import { assertRoomForStore } from './room.ts';

/** Partitions read at once. */
const PAGE_SIZE = 64;

/** Returns all effects that are due after `now`, of all partitions. */
async function effectsDueAfter(
  { due, partitions }: Pick<Tables, 'due' | 'partitions'>,
  store: Pick<ActorStore, 'partitions'>,
  now: Millis,
): Promise<readonly StoredEffect[]> {
  const found: StoredEffect[] = [];
  for (const { key, value } of due.getRange({ start: [now, AFTER_ALL_TEXT] }))
    found.push(readEffect(key, value));
  let after: string | undefined;
  do {
    const page = await store.partitions({
      prefix: '',
      ...(after !== undefined && { after }),
      limit: PAGE_SIZE,
    });
    for (const { partition } of page) {
      const range = partitions.getRange({
        start: [partition, now, AFTER_ALL_TEXT],
        end: [partition, AFTER_ALL_TEXT],
      });
      for (const { key, value } of range) found.push(readEffect(key.slice(1), value, partition));
    }
    after = page.at(-1)?.partition;
  } while (after !== undefined);
  return found;
}

export interface LmdbOptions {
  /** Folder of the store; created if missing. Must not hold other files. */
  readonly folder: string;
  readonly faults?: Faults;
  /**
   * Called once, when nothing can be written any more although the store was not closed. Answered commits are safe; the
   * process must be restarted. @default does nothing
   */
  readonly onLost?: (why: string) => void;
}

/**
 * Opens the store. Throws `store.locked` (another process has the folder), `store.newer-format`,
 * `store.copy-incomplete`, `store.damaged`, `store.full` and `store.unwritable`.
 */
export function openLmdbStore(options: LmdbOptions): ActorStore {
  assertRoomForStore(options.folder);
  const release = claimFolder(options.folder);
  try {
    assertSound(options.folder);
    const tables = openTables(options.folder);
    assertNoCopy(tables.root, tables.meta, options.folder);
    upgradeTables(tables, options.folder);
    settlePending(tables);
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
  /** Every effect of the common queue that is due before this time is leased: leases begin to read here. */
  #leasedBefore: Millis = 0;
  /** Deferrals in progress: such an effect is readable as deferred a moment before its lease ends. */
  readonly #deferrals = new Map<EffectKey, Promise<void>>();
  #closed: Promise<void> | undefined;
  readonly #refilling = new Refilling();
  /** A pass in progress: it reads the file. */
  #refilled: Promise<void> | undefined;

  constructor({ folder, faults, onLost }: LmdbOptions, tables: Tables, release: Release) {
    this.#folder = folder;
    this.#tables = tables;
    this.#release = release;
    const written = (gone: readonly EffectKey[]): void => {
      // This thread's read transaction is older than the group.
      this.#tables.root.resetReadTxn();
      for (const key of gone) this.#leased.delete(key);
    };
    const link = startWriter(folder);
    this.#committer = new Committer(link, faults ?? new Faults(), written, onLost ?? (() => {}));
  }

  get upgradeCopy(): NonNullable<ActorStore['upgradeCopy']> {
    const path = upgradeCopyOf(this.#folder);
    return {
      ...(existsSync(path) && { path }),
      make: () => keepUpgradeCopy(this.#folder),
      complete: () => endUpgrade(this.#folder),
    };
  }

  shareWithThreads(tell: (written: { readonly serial: number; readonly steps: readonly Step[] }) => void): {
    readonly store: SharedStore;
    readonly revoke: () => Promise<void>;
  } {
    const { port1, port2 } = new MessageChannel();
    const revoke = this.#committer.attach(port2, ({ serial, steps, gone }) => {
      this.#tables.root.resetReadTxn();
      for (const key of gone) this.#leased.delete(key);
      this.#leasedBefore = 0;
      tell({ serial, steps: steps.map(stepOfText) });
    });
    return { store: { folder: this.#folder, port: port1 }, revoke };
  }

  async load(actor: ActorAddress): Promise<StoredActor | undefined> {
    return readActor(this.#tables, actor);
  }

  async actors(query: AfterQuery & { readonly kind: string }): Promise<readonly StoredActor[]> {
    return readActors(this.#tables, query);
  }

  async commit(step: Step): Promise<Committed> {
    try {
      return await this.#committer.commit(step);
    } finally {
      // Also after a failure, which leaves open whether the step is stored.
      for (const { dueAt } of step.effects) this.#leasedBefore = Math.min(this.#leasedBefore, dueAt);
    }
  }

  async deferEffect(key: EffectKey, until: Millis, error: string): Promise<void> {
    const deferral = this.#defer(key, until, error);
    this.#deferrals.set(key, deferral);
    await deferral.finally(() => this.#deferrals.delete(key));
  }

  async #defer(key: EffectKey, until: Millis, error: string | null): Promise<void> {
    try {
      await this.#committer.defer(key, until, error);
    } finally {
      this.#leasedBefore = Math.min(this.#leasedBefore, until);
    }
  }

  async releaseEffects(keys: readonly EffectKey[]): Promise<void> {
    for (const key of keys) this.#leased.delete(key);
    this.#leasedBefore = 0;
  }

  settleEffects(keys: readonly EffectKey[]): Promise<void> {
    return this.#committer.settleEffects(keys);
  }

  get packing(): NonNullable<ActorStore['packing']> {
    return {
      doneUntil: async (node) => packedUntil(this.#tables, node),
      pack: (actors, node, until) => this.#committer.pack({ actors, node, until }),
      refill: (goesOn) => {
        this.#refilled = this.#refilling.pass(
          this.#tables,
          this.#folder,
          (ranges, until) => this.#committer.refill({ ranges, until }),
          async () => (await goesOn()) && this.#closed === undefined,
        );
        return this.#refilled;
      },
    };
  }

  async rescheduleAfterClockRegression(now: Millis): Promise<void> {
    const late: Promise<void>[] = [];
    for (const effect of await effectsDueAfter(this.#tables, this, now)) {
      const latest = latestDue(effect, now);
      if (effect.dueAt > latest) late.push(this.#defer(effect.key, latest, null));
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
    if (query.view === STATE_INDEX_VIEW) await this.#committer.settleStateIndex();
    return readRows(this.#tables, query);
  }

  async counters(prefix: string): Promise<{ readonly [name: string]: number }> {
    if (prefix.startsWith(STATE_INDEX_PREFIX) || STATE_INDEX_PREFIX.startsWith(prefix))
      await this.#committer.settleStateIndex();
    return readCounters(this.#tables, prefix);
  }

  async holder(name: string): Promise<ActorAddress | undefined> {
    const value = fitsKey([name]) ? this.#tables.names.get([name]) : undefined;
    return value === undefined ? undefined : parseStored(value);
  }

  async names(query: AfterQuery): Promise<readonly HeldName[]> {
    return readNames(this.#tables, query);
  }

  async leaseEffects(now: Millis, limit: number, partition?: string): Promise<readonly StoredEffect[]> {
    const leased: StoredEffect[] = [];
    if (limit <= 0) return leased;
    const { due, partitions } = this.#tables;
    // The keys alone: most effects before the first free one are leased, and their values need not be read.
    const table = partition === undefined ? due : partitions;
    const keys =
      partition === undefined
        ? due.getKeys({ start: [this.#leasedBefore], end: [now, AFTER_ALL_TEXT] })
        : partitions.getKeys({ start: [partition], end: [partition, now, AFTER_ALL_TEXT] });
    for (const key of keys) {
      const own = partition === undefined ? key : key.slice(1);
      const name = own.slice(1).join('/');
      if (this.#leased.has(name)) continue;
      const value = table.get(key);
      if (value === undefined) continue;
      leased.push(readEffect(own, value, partition));
      this.#leased.add(name);
      if (leased.length === limit) break;
    }
    // An effect may be stored later that is due in the same millisecond.
    if (partition === undefined)
      this.#leasedBefore = leased.length < limit ? now : (leased.at(-1)?.dueAt ?? 0);
    return leased;
  }

  async partitions(
    query: AfterQuery & { readonly prefix: string },
  ): Promise<readonly { readonly partition: string; readonly due: Millis }[]> {
    const found: { partition: string; due: Millis }[] = [];
    const end: Key = [query.prefix + AFTER_ALL_TEXT];
    let start: Key = query.after === undefined ? [query.prefix] : [query.after, AFTER_ALL_TEXT];
    while (found.length < query.limit) {
      const partition = this.#firstPartitionKey(start, end)?.[0];
      if (partition === undefined) break;
      const name = String(partition);
      const due = this.#firstUnleased(name);
      if (due !== undefined) found.push({ partition: name, due });
      start = [name, AFTER_ALL_TEXT];
    }
    return found;
  }

  #firstPartitionKey(start: Key, end: Key): Key | undefined {
    for (const key of this.#tables.partitions.getKeys({ start, end, limit: 1 })) return key;
    return undefined;
  }

  #firstUnleased(partition: string): Millis | undefined {
    for (const key of this.#tables.partitions.getKeys({
      start: [partition],
      end: [partition, AFTER_ALL_TEXT],
    })) {
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
    if (!fitsKey(own)) return pending;
    for (const { key, value } of this.#tables.effects.getRange({
      start: own,
      end: [...own, AFTER_ALL_TEXT],
    })) {
      const effect = effectAt(this.#tables, key, value);
      if (effect !== undefined) pending.push(effect);
    }
    return pending;
  }

  async failedEffectCount(): Promise<number> {
    return (this.#tables.troubled.getStats() as { readonly entryCount: number }).entryCount;
  }

  async failedEffects(query: AfterQuery<EffectKey>): Promise<readonly StoredEffect[]> {
    const found: StoredEffect[] = [];
    const range = this.#tables.troubled.getRange({
      ...(query.after !== undefined && { start: effectKey(query.after), exclusiveStart: true }),
      limit: query.limit,
    });
    for (const { key, value } of range) {
      const effect = effectAt(this.#tables, key, value);
      if (effect !== undefined) found.push(effect);
    }
    return found;
  }

  async effects(query: AfterQuery<EffectKey> & { readonly kind?: string }): Promise<readonly ListedEffect[]> {
    return readEffects(this.#tables, query).map((effect) => ({
      ...effect,
      isLeased: this.#leased.has(effect.key),
    }));
  }

  async takeEffect(key: EffectKey, due: Millis, error: string | null): Promise<boolean> {
    await this.#deferrals.get(key)?.catch(() => {});
    const own = effectKey(key);
    if (this.#leased.has(key) || !fitsKey(own) || !this.#tables.effects.doesExist(own)) return false;
    // Nobody leases it until the change is written.
    this.#leased.add(key);
    await this.#defer(key, due, error).catch((failure: unknown) => {
      this.#leased.delete(key);
      this.#leasedBefore = 0;
      throw failure;
    });
    // A counted failure has released it already, and it may be leased again.
    if (error === null) {
      this.#leased.delete(key);
      this.#leasedBefore = Math.min(this.#leasedBefore, due);
    }
    return true;
  }

  async dueTimers(now: Millis, limit: number): Promise<readonly StoredTimer[]> {
    return timersIn(this.#tables, { end: [now, AFTER_ALL_TEXT], limit });
  }

  async timers(query: AfterQuery<Omit<StoredTimer, 'event'>>): Promise<readonly StoredTimer[]> {
    return readTimers(this.#tables, query);
  }

  async nextTimerDue(): Promise<Millis | undefined> {
    for (const key of this.#tables.timers.getKeys({ limit: 1 })) return Number(key[0]);
    return undefined;
  }

  /** Every answered commit is durable already. */
  async flushed(): Promise<void> {}

  refusal(): string | undefined {
    return this.#committer.refusal;
  }

  describe(): ReturnType<ActorStore['describe']> {
    // The folder may have been removed: then the size is unknown.
    const file = statSync(join(this.#folder, 'data.mdb'), { throwIfNoEntry: false });
    return { engine: 'LMDB', location: this.#folder, ...(file && { bytes: file.size }) };
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    const closed = this.#committer.close();
    await this.#refilled?.catch(() => {});
    await closed;
    await this.#tables.root.close();
    noteClosed(this.#folder);
    this.#release();
  }
}
