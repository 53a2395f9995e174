/**
 * The store on disk, for one machine. Steps that arrive in one turn of the event loop share one LMDB transaction
 * and one flush (group commit); each is checked and written on its own inside it.
 *
 * A commit resolves when its transaction is done, which in this engine includes the flush: lmdb-js syncs inside
 * the commit of a synchronous transaction, and `flushed` then has nothing left to wait for. Callers must still
 * wait for `durable` where it matters, since that is not part of the contract.
 */
import { Retryable } from '../failures.ts';
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
  Step,
  StoredActor,
  StoredEffect,
  StoredTimer,
} from '../ports.ts';
import { AFTER_ALL_TEXT } from './keys.ts';
import {
  type EncodedStep,
  encodeStep,
  refusal,
  write,
  writeCounters,
  writeDeferral,
} from './lmdb-changes.ts';
import { actorKey, dueKey, type Key, openTables, partsOf, readEffect, type Tables } from './lmdb-tables.ts';
import { claimFolder, type Release } from './owner.ts';

/** Abortable, committed when the call returns, without a second flush of its own (lmdb's TransactionFlags). */
const TRANSACTION = 0x1 | 0x2 | 0x10000;

/** Steps in one transaction at most, so that one turn of the event loop stays short. */
const GROUP_LIMIT = 256;

export interface LmdbOptions {
  /** Folder of the store; made if missing. Nothing else may be in it. */
  readonly folder: string;
  readonly faults?: Faults;
}

type Write =
  | {
      readonly encoded: EncodedStep;
      readonly resolve: (outcome: Committed) => void;
      readonly reject: (error: unknown) => void;
    }
  | {
      readonly defer: { readonly key: EffectKey; readonly until: Millis; readonly error: string };
      readonly resolve: () => void;
      readonly reject: (error: unknown) => void;
    };

/** Opens the store. Throws `store.locked` (another process has the folder) and `store.newer-format`. */
export function openLmdbStore(options: LmdbOptions): ActorStore {
  const release = claimFolder(options.folder);
  try {
    return new LmdbStore(options.folder, openTables(options.folder), release, options.faults ?? new Faults());
  } catch (error) {
    release();
    throw error;
  }
}

class LmdbStore implements ActorStore {
  readonly #folder: string;
  readonly #tables: Tables;
  readonly #release: Release;
  readonly #faults: Faults;
  readonly #leased = new Set<EffectKey>();
  #queue: Write[] = [];
  #scheduled: Promise<void> | undefined;
  #running: Promise<void> | undefined;
  #closed = false;

  constructor(folder: string, tables: Tables, release: Release, faults: Faults) {
    this.#folder = folder;
    this.#tables = tables;
    this.#release = release;
    this.#faults = faults;
  }

  async load(actor: ActorAddress): Promise<StoredActor | undefined> {
    const value = this.#tables.actors.get(actorKey(actor));
    return value === undefined ? undefined : (JSON.parse(value) as StoredActor);
  }

  commit(step: Step): Promise<Committed> {
    return new Promise((resolve, reject) => {
      this.#enqueue({ encoded: encodeStep(step), resolve, reject });
    });
  }

  deferEffect(key: EffectKey, until: Millis, error: string): Promise<void> {
    return new Promise((resolve, reject) => this.#enqueue({ defer: { key, until, error }, resolve, reject }));
  }

  #enqueue(write: Write): void {
    if (this.#closed) throw new Retryable('store.unavailable', 'The store is closed.');
    this.#queue.push(write);
    this.#scheduled ??= new Promise((done) => setImmediate(() => done(this.#run())));
  }

  async #run(): Promise<void> {
    this.#running = this.#scheduled;
    this.#scheduled = undefined;
    const group = this.#queue.splice(0, GROUP_LIMIT);
    if (this.#queue.length > 0)
      this.#scheduled = new Promise((done) => setImmediate(() => done(this.#run())));
    try {
      await this.#faults.at('store.group.before-transaction');
      const answers = this.#transact(group);
      await this.#faults.at('store.group.committed.before-reply');
      for (const answer of answers) answer();
    } catch (error) {
      const failure = unavailable(error);
      for (const { reject } of group) reject(failure);
    }
  }

  /** Writes the group and returns how to answer each of its members. */
  #transact(group: readonly Write[]): (() => void)[] {
    const answers: (() => void)[] = [];
    const gone: EffectKey[] = [];
    let durable: Promise<void> | undefined;
    this.#tables.root.transactionSync(() => {
      const counted = new Map<string, number>();
      for (const member of group) {
        if ('defer' in member) {
          const { key, until, error } = member.defer;
          writeDeferral(this.#tables, key, until, error);
          gone.push(key);
          answers.push(member.resolve);
          continue;
        }
        const refused = refusal(this.#tables, member.encoded);
        if (refused === undefined) write(this.#tables, member.encoded, counted, gone);
        answers.push(() => {
          durable ??= this.flushed();
          member.resolve(refused ?? { ok: true, durable });
        });
      }
      writeCounters(this.#tables.counters, counted);
      this.#faults.atSync('store.group.in-transaction');
    }, TRANSACTION);
    for (const key of gone) this.#leased.delete(key);
    return answers;
  }

  async journal(
    actor: ActorAddress,
    options: { readonly after?: number; readonly limit?: number } = {},
  ): Promise<readonly JournalLine[]> {
    const own = actorKey(actor);
    const range = { start: [...own, (options.after ?? 0) + 1], end: [...own, AFTER_ALL_TEXT] };
    return this.#values(
      this.#tables.journal.getRange(options.limit === undefined ? range : { ...range, limit: options.limit }),
    );
  }

  #values<T>(range: Iterable<{ value: string }>): T[] {
    const values: T[] = [];
    for (const { value } of range) values.push(JSON.parse(value) as T);
    return values;
  }

  async rows(query: RowQuery): Promise<readonly Row[]> {
    const first: Key = [query.view, ...(query.prefix ?? [])];
    const last: Key = [...first, AFTER_ALL_TEXT];
    const range = this.#tables.rows.getRange({
      start: query.reverse ? last : first,
      end: query.reverse ? first : last,
      // Without this a row whose whole key is the prefix would be left out in descending order only.
      inclusiveEnd: query.reverse === true,
      reverse: query.reverse === true,
      offset: query.offset ?? 0,
      limit: query.limit,
    });
    const rows: Row[] = [];
    for (const { key, value } of range)
      rows.push({ view: query.view, key: partsOf(key).slice(1), value: JSON.parse(value) });
    return rows;
  }

  async counters(prefix: string): Promise<{ readonly [name: string]: number }> {
    const found: [string, number][] = [];
    const range = this.#tables.counters.getRange({ start: [prefix], end: [prefix + AFTER_ALL_TEXT] });
    for (const { key, value } of range) found.push([String(partsOf(key)[0]), Number(value)]);
    return Object.fromEntries(found);
  }

  async holder(name: string): Promise<ActorAddress | undefined> {
    const value = this.#tables.names.get([name]);
    return value === undefined ? undefined : (JSON.parse(value) as ActorAddress);
  }

  async leaseEffects(now: Millis, limit: number): Promise<readonly StoredEffect[]> {
    const leased: StoredEffect[] = [];
    if (limit <= 0) return leased;
    for (const { key, value } of this.#tables.due.getRange({ end: [now, AFTER_ALL_TEXT] })) {
      const name = key.slice(1).join('/');
      if (this.#leased.has(name)) continue;
      leased.push(readEffect(key, value));
      this.#leased.add(name);
      if (leased.length === limit) break;
    }
    return leased;
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
      const at = dueKey(Number(value), key);
      const stored = this.#tables.due.get(at);
      if (stored !== undefined) pending.push(readEffect(at, stored));
    }
    return pending;
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

  async flushed(): Promise<void> {
    await this.#tables.root.flushed;
  }

  describe(): { readonly engine: string; readonly location: string } {
    return { engine: 'lmdb', location: this.#folder };
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    while (this.#scheduled !== undefined) await this.#scheduled;
    await this.#running;
    await this.#tables.root.close();
    this.#release();
  }
}

/** A full map, a full disk, a disk that fails: the step is not known to be stored; try again later. */
function unavailable(error: unknown): Retryable {
  const message = error instanceof Error ? error.message : String(error);
  return new Retryable('store.unavailable', `The store did not take the step: ${message}`);
}
