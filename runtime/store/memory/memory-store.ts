/**
 * A store in memory, for tests and simulations. The same contract as the one on disk; nothing survives the process.
 * Arguments and results are copied, so that no caller shares objects with the store.
 */
import { latestDue } from '../../model/backoff.ts';
import { CLOCKS_DIFFER_MS } from '../../model/clock.ts';
import { checkStepKeys, compareKeys, parseEffectKey } from '../../model/keys.ts';
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
  Step,
  StoredActor,
  StoredEffect,
  StoredTimer,
} from '../../model/ports.ts';
import { STATE_INDEX_VIEW, stateCounterName, stateIndexKey } from '../../step/derive.ts';

function nameOf(actor: ActorAddress): string {
  return JSON.stringify([actor.kind, actor.id]);
}

/** Converts a value to its stored form, JSON. */
function structuredCopy<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}

function byKey(left: StoredEffect, right: StoredEffect): number {
  return compareKeys(parseEffectKey(left.key), parseEffectKey(right.key));
}

/** Sorts by due time, then by key. */
function byDue(left: StoredEffect, right: StoredEffect): number {
  return left.dueAt - right.dueAt || byKey(left, right);
}

function timerKey({ due, actor, name }: Omit<StoredTimer, 'event'>): readonly (string | number)[] {
  return [due, actor.kind, actor.id, name];
}

/** Data of a store in memory, which several sessions can share. */
export class MemoryTables {
  readonly actors = new Map<string, StoredActor>();
  readonly journals = new Map<string, JournalLine[]>();
  readonly rows = new Map<string, Map<string, Row>>();
  readonly effects = new Map<EffectKey, StoredEffect>();
  /** Sessions that have leased effects. */
  readonly leased = new Map<EffectKey, number>();
  readonly timers = new Map<string, StoredTimer>();
  /** Sessions that own effects and timers, by their keys. */
  readonly owners = new Map<string, number>();
  readonly names = new Map<string, ActorAddress>();
  readonly counters = new Map<string, number>();
}

export class MemoryStore implements ActorStore {
  readonly #tables: MemoryTables;
  /** Token of the session that owns what this store adds. */
  readonly #session: number;

  constructor(tables = new MemoryTables(), session = 0) {
    this.#tables = tables;
    this.#session = session;
  }

  #isOwn(key: string): boolean {
    return this.#tables.owners.get(key) === this.#session;
  }

  async load(actor: ActorAddress): Promise<StoredActor | undefined> {
    const stored = this.#tables.actors.get(nameOf(actor));
    return stored && structuredCopy(stored);
  }

  async actors(query: AfterQuery & { readonly kind: string }): Promise<readonly StoredActor[]> {
    const { kind, after, limit } = query;
    const found = [...this.#tables.actors.values()]
      .filter(({ address }) => address.kind === kind)
      .filter(({ address }) => after === undefined || compareKeys([address.id], [after]) > 0)
      .sort((left, right) => compareKeys([left.address.id], [right.address.id]));
    return structuredCopy(found.slice(0, limit));
  }

  async commit(given: Step): Promise<Committed> {
    checkStepKeys(given);
    const step = structuredCopy(given);
    const refused = this.#refusal(step);
    if (refused !== undefined) return refused;
    this.#write(step);
    return { ok: true };
  }

  #refusal(step: Step): Exclude<Committed, { ok: true }> | undefined {
    const { address } = step.actor;
    if ((this.#tables.actors.get(nameOf(address))?.revision ?? 0) !== step.basedOn)
      return { ok: false, reason: 'stale' };
    if (step.settles !== null && !this.#maySettle(step.settles)) return { ok: false, reason: 'duplicate' };
    for (const name of step.names.take) {
      const holder = this.#tables.names.get(name);
      if (holder !== undefined && nameOf(holder) !== nameOf(address)) {
        return { ok: false, reason: 'taken', name, holder };
      }
    }
    return undefined;
  }

  /** False for an effect that is settled, or that another session has leased. */
  #maySettle(key: EffectKey): boolean {
    const { effects, leased } = this.#tables;
    return effects.has(key) && (leased.get(key) ?? this.#session) === this.#session;
  }

  #write(step: Step): void {
    const { address } = step.actor;
    const own = nameOf(address);
    if (step.ends) {
      this.#tables.actors.delete(own);
      this.#tables.journals.delete(own);
    } else this.#tables.actors.set(own, step.actor);
    if (step.journal.length > 0) {
      const lines = new Map((this.#tables.journals.get(own) ?? []).map((line) => [line.id, line]));
      for (const line of step.journal) lines.set(line.id, line);
      this.#tables.journals.set(own, [...lines.values()]);
    }
    if (step.settles !== null) this.#removeEffect(step.settles);
    if (step.dropsEffects) for (const effect of this.#ofActor(address)) this.#removeEffect(effect.key);
    for (const effect of step.effects) {
      this.#tables.effects.set(effect.key, effect);
      this.#tables.owners.set(effect.key, this.#session);
    }
    for (const { name, due } of step.timers.disarm) {
      this.#tables.timers.delete(JSON.stringify([own, name, due]));
      this.#tables.owners.delete(JSON.stringify([own, name, due]));
    }
    for (const { name, due, event } of step.timers.arm) {
      this.#tables.timers.set(JSON.stringify([own, name, due]), { actor: address, name, due, event });
      this.#tables.owners.set(JSON.stringify([own, name, due]), this.#session);
    }
    for (const { view, key } of step.rows.remove) this.#tables.rows.get(view)?.delete(JSON.stringify(key));
    for (const row of step.rows.put) this.#view(row.view).set(JSON.stringify(row.key), row);
    for (const name of step.names.release) {
      const holder = this.#tables.names.get(name);
      if (holder !== undefined && nameOf(holder) === own) this.#tables.names.delete(name);
    }
    for (const name of step.names.take) this.#tables.names.set(name, address);
    for (const [name, by] of Object.entries(step.counters)) this.#count(name, by);
    if (step.moved !== null) this.#move(address, step.moved);
  }

  #count(name: string, by: number): void {
    const value = (this.#tables.counters.get(name) ?? 0) + by;
    if (value === 0) this.#tables.counters.delete(name);
    else this.#tables.counters.set(name, value);
  }

  #move({ kind, id }: ActorAddress, { from, to }: NonNullable<Step['moved']>): void {
    const rows = this.#view(STATE_INDEX_VIEW);
    if (from !== null) {
      this.#count(stateCounterName(kind, from), -1);
      rows.delete(JSON.stringify(stateIndexKey(kind, from, id)));
    }
    if (to !== null) {
      const key = stateIndexKey(kind, to, id);
      this.#count(stateCounterName(kind, to), 1);
      rows.set(JSON.stringify(key), { view: STATE_INDEX_VIEW, key, value: null });
    }
  }

  #view(name: string): Map<string, Row> {
    let view = this.#tables.rows.get(name);
    if (view === undefined) {
      view = new Map();
      this.#tables.rows.set(name, view);
    }
    return view;
  }

  #removeEffect(key: EffectKey): void {
    this.#tables.effects.delete(key);
    this.#tables.leased.delete(key);
    this.#tables.owners.delete(key);
  }

  #ofActor(actor: ActorAddress): StoredEffect[] {
    const own = nameOf(actor);
    return [...this.#tables.effects.values()].filter((effect) => nameOf(effect.actor) === own).sort(byKey);
  }

  async journal(
    actor: ActorAddress,
    options: { readonly after?: number; readonly limit?: number } = {},
  ): Promise<readonly JournalLine[]> {
    const lines = (this.#tables.journals.get(nameOf(actor)) ?? []).filter(
      (line) => line.id > (options.after ?? 0),
    );
    return structuredCopy(lines.slice(0, options.limit));
  }

  async rows(query: RowQuery): Promise<readonly Row[]> {
    const prefix = query.prefix ?? [];
    const rows = [...(this.#tables.rows.get(query.view)?.values() ?? [])]
      .filter((row) => prefix.every((part, at) => row.key[at] === part))
      .sort((left, right) => compareKeys(left.key, right.key));
    if (query.reverse) rows.reverse();
    const { after, offset = 0, limit, reverse } = query;
    const beyond = (row: Row) =>
      after === undefined || (reverse ? compareKeys(row.key, after) < 0 : compareKeys(row.key, after) > 0);
    return structuredCopy(rows.filter(beyond).slice(offset, offset + limit));
  }

  async counters(prefix: string): Promise<{ readonly [name: string]: number }> {
    return Object.fromEntries([...this.#tables.counters].filter(([name]) => name.startsWith(prefix)));
  }

  async holder(name: string): Promise<ActorAddress | undefined> {
    return this.#tables.names.get(name);
  }

  async names(query: AfterQuery): Promise<readonly HeldName[]> {
    const { after, limit } = query;
    return [...this.#tables.names]
      .map(([name, holder]) => ({ name, holder }))
      .filter(({ name }) => after === undefined || compareKeys([name], [after]) > 0)
      .sort((left, right) => compareKeys([left.name], [right.name]))
      .slice(0, limit);
  }

  #isFree(key: EffectKey): boolean {
    return this.#isOwn(key) && !this.#tables.leased.has(key);
  }

  async leaseEffects(
    now: Millis,
    limit: number,
    partition?: string,
    inOrder = false,
  ): Promise<readonly StoredEffect[]> {
    const soon = [...this.#tables.effects.values()].filter(
      (effect) => effect.partition === partition && effect.dueAt <= now + CLOCKS_DIFFER_MS,
    );
    const due = (inOrder ? soon.sort(byKey).slice(0, 1) : soon)
      .filter((effect) => effect.dueAt <= now && this.#isFree(effect.key))
      .sort(byDue)
      .slice(0, limit);
    for (const effect of due) this.#tables.leased.set(effect.key, this.#session);
    return structuredCopy(due);
  }

  async partitions(
    query: AfterQuery & { readonly prefix: string },
  ): Promise<readonly { readonly partition: string; readonly due: Millis }[]> {
    const partitions = new Map<string, Millis>();
    for (const { key, partition, dueAt } of this.#tables.effects.values()) {
      if (partition === undefined || !partition.startsWith(query.prefix) || !this.#isFree(key)) continue;
      if (query.after !== undefined && compareKeys([partition], [query.after]) <= 0) continue;
      partitions.set(partition, Math.min(dueAt, partitions.get(partition) ?? dueAt));
    }
    return [...partitions]
      .sort(([left], [right]) => compareKeys([left], [right]))
      .slice(0, query.limit)
      .map(([partition, due]) => ({ partition, due }));
  }

  async deferEffect(key: EffectKey, until: Millis, error: string): Promise<void> {
    const effect = this.#tables.effects.get(key);
    if (effect === undefined || !this.#isOwn(key)) return;
    this.#tables.leased.delete(key);
    this.#tables.effects.set(key, {
      ...effect,
      dueAt: until,
      failures: effect.failures + 1,
      lastError: error,
    });
  }

  async releaseEffects(keys: readonly EffectKey[]): Promise<void> {
    for (const key of keys) if (this.#isOwn(key)) this.#tables.leased.delete(key);
  }

  async settleEffects(keys: readonly EffectKey[]): Promise<void> {
    for (const key of keys) if (this.#isOwn(key)) this.#removeEffect(key);
  }

  async rescheduleAfterClockRegression(now: Millis): Promise<void> {
    for (const [key, effect] of this.#tables.effects) {
      if (!this.#isOwn(key)) continue;
      const latest = latestDue(effect, now);
      if (effect.dueAt > latest) this.#tables.effects.set(key, { ...effect, dueAt: latest });
    }
  }

  async nextEffectDue(): Promise<Millis | undefined> {
    let earliest: Millis | undefined;
    for (const { key, dueAt, partition } of this.#tables.effects.values()) {
      if (partition === undefined && this.#isFree(key) && (earliest === undefined || dueAt < earliest))
        earliest = dueAt;
    }
    return earliest;
  }

  async pendingEffects(actor: ActorAddress): Promise<readonly StoredEffect[]> {
    return structuredCopy(this.#ofActor(actor));
  }

  async failedEffectCount(): Promise<number> {
    return [...this.#tables.effects.values()].filter(({ failures }) => failures > 0).length;
  }

  async failedEffects(query: AfterQuery<EffectKey>): Promise<readonly StoredEffect[]> {
    const after = query.after === undefined ? undefined : parseEffectKey(query.after);
    const found = [...this.#tables.effects.values()]
      .filter(({ failures }) => failures > 0)
      .map((effect) => ({ effect, key: parseEffectKey(effect.key) }))
      .filter(({ key }) => after === undefined || compareKeys(key, after) > 0)
      .sort((left, right) => compareKeys(left.key, right.key));
    return structuredCopy(found.slice(0, query.limit).map(({ effect }) => effect));
  }

  async effects(query: AfterQuery<EffectKey> & { readonly kind?: string }): Promise<readonly ListedEffect[]> {
    const { kind, after, limit } = query;
    const { effects, leased } = this.#tables;
    const found = [...effects.values()]
      .filter(({ actor }) => kind === undefined || actor.kind === kind)
      .map((effect) => ({ effect, key: parseEffectKey(effect.key) }))
      .filter(({ key }) => after === undefined || compareKeys(key, parseEffectKey(after)) > 0)
      .sort((left, right) => compareKeys(left.key, right.key))
      .slice(0, limit);
    return structuredCopy(found.map(({ effect }) => ({ ...effect, isLeased: leased.has(effect.key) })));
  }

  async takeEffect(key: EffectKey, due: Millis, error: string | null): Promise<boolean> {
    const { effects, leased, owners } = this.#tables;
    const effect = effects.get(key);
    if (effect === undefined || leased.has(key)) return false;
    owners.set(key, this.#session);
    const failed = error === null ? {} : { failures: effect.failures + 1, lastError: error };
    effects.set(key, { ...effect, ...failed, dueAt: due });
    return true;
  }

  async dueTimers(now: Millis, limit: number): Promise<readonly StoredTimer[]> {
    return structuredCopy(
      this.#byTime(true)
        .filter((timer) => timer.due <= now)
        .slice(0, limit),
    );
  }

  async nextTimerDue(): Promise<Millis | undefined> {
    return this.#byTime(true)[0]?.due;
  }

  async timers(query: AfterQuery<Omit<StoredTimer, 'event'>>): Promise<readonly StoredTimer[]> {
    const { after, limit } = query;
    const found = this.#byTime(false).filter(
      (timer) => after === undefined || compareKeys(timerKey(timer), timerKey(after)) > 0,
    );
    return structuredCopy(found.slice(0, limit));
  }

  #byTime(areOwn: boolean): StoredTimer[] {
    return [...this.#tables.timers]
      .filter(([key]) => !areOwn || this.#isOwn(key))
      .map(([, timer]) => timer)
      .sort((left, right) => compareKeys(timerKey(left), timerKey(right)));
  }

  async flushed(): Promise<void> {}

  refusal(): string | undefined {
    return undefined;
  }

  describe(): { readonly engine: string; readonly location: string } {
    return { engine: 'memory', location: 'this process' };
  }

  async close(): Promise<void> {}
}
