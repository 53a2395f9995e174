/**
 * One step as rows to write. Everything that can fail because of the step itself (keys, values that are not JSON)
 * happens here, before the transaction, so that a bad step never spoils the others of its group.
 */
import type { Committed, EffectKey, Step } from '../ports.ts';
import { AFTER_ALL_TEXT, checkStepKeys } from './keys.ts';
import {
  actorKey,
  dueKey,
  type EffectValue,
  effectKey,
  type Key,
  type Table,
  type Tables,
} from './lmdb-tables.ts';

interface Put {
  readonly table: keyof Omit<Tables, 'root'>;
  readonly key: Key;
  readonly value: string;
}

export interface EncodedStep {
  readonly step: Step;
  readonly actor: { readonly key: Key; readonly value: string };
  readonly settles: Key | undefined;
  readonly puts: readonly Put[];
  readonly removes: readonly Omit<Put, 'value'>[];
}

/** Throws `store.key-too-long` and its kin. */
export function encodeStep(step: Step): EncodedStep {
  checkStepKeys(step);
  const { address } = step.actor;
  const own = actorKey(address);
  const puts: Put[] = [];
  const removes: Omit<Put, 'value'>[] = [];
  for (const line of step.journal)
    puts.push({ table: 'journal', key: [...own, line.id], value: JSON.stringify(line) });
  for (const { view, key } of step.rows.remove) removes.push({ table: 'rows', key: [view, ...key] });
  for (const row of step.rows.put) {
    puts.push({ table: 'rows', key: [row.view, ...row.key], value: JSON.stringify(row.value) });
  }
  for (const { key, effect, dueAt, failures, lastError } of step.effects) {
    const at = effectKey(key);
    puts.push({ table: 'effects', key: at, value: String(dueAt) });
    const value: EffectValue = { effect, failures, lastError };
    puts.push({ table: 'due', key: dueKey(dueAt, at), value: JSON.stringify(value) });
  }
  for (const { name, due } of step.timers.disarm) removes.push({ table: 'timers', key: [due, ...own, name] });
  for (const { name, due, event } of step.timers.arm) {
    puts.push({ table: 'timers', key: [due, ...own, name], value: JSON.stringify(event) });
  }
  return {
    step,
    actor: { key: own, value: JSON.stringify(step.actor) },
    settles: step.settles === null ? undefined : effectKey(step.settles),
    puts,
    removes,
  };
}

/** Why the store as it is now does not take this step; undefined = it does. Inside the transaction. */
export function refusal(tables: Tables, encoded: EncodedStep): Exclude<Committed, { ok: true }> | undefined {
  const { step, actor } = encoded;
  const fresh =
    step.basedOn === 0
      ? !tables.actors.doesExist(actor.key)
      : tables.actors.doesExist(actor.key, step.basedOn);
  if (!fresh) return { ok: false, because: 'stale' };
  if (encoded.settles !== undefined && !tables.effects.doesExist(encoded.settles)) {
    return { ok: false, because: 'duplicate' };
  }
  for (const name of step.names.take) {
    const holder = tables.names.get([name]);
    if (holder !== undefined && holder !== holderValue(step)) {
      return { ok: false, because: 'taken', name, holder: JSON.parse(holder) };
    }
  }
  return undefined;
}

function holderValue(step: Step): string {
  const { kind, id } = step.actor.address;
  return JSON.stringify({ kind, id });
}

/** Writes a step that was not refused. `counted` collects counters, which a group writes once at its end. */
export function write(
  tables: Tables,
  encoded: EncodedStep,
  counted: Map<string, number>,
  gone: EffectKey[],
): void {
  const { step, actor } = encoded;
  void tables.actors.put(actor.key, actor.value, step.actor.revision);
  if (encoded.settles !== undefined && step.settles !== null) {
    removeEffect(tables, encoded.settles);
    gone.push(step.settles);
  }
  if (step.dropsEffects) {
    const all = [...tables.effects.getKeys({ start: actor.key, end: [...actor.key, AFTER_ALL_TEXT] })];
    for (const key of all) {
      removeEffect(tables, key);
      gone.push(key.join('/'));
    }
  }
  for (const { table, key } of encoded.removes) void tables[table].remove(key);
  for (const { table, key, value } of encoded.puts) void tables[table].put(key, value);
  for (const name of step.names.release) {
    if (tables.names.get([name]) === holderValue(step)) void tables.names.remove([name]);
  }
  for (const name of step.names.take) void tables.names.put([name], holderValue(step));
  for (const [name, by] of Object.entries(step.counters)) counted.set(name, (counted.get(name) ?? 0) + by);
}

function removeEffect(tables: Tables, key: Key): void {
  const dueAt = tables.effects.get(key);
  if (dueAt === undefined) return;
  void tables.due.remove(dueKey(Number(dueAt), key));
  void tables.effects.remove(key);
}

/** Gives an effect a later time. Nothing happens when it is settled. */
export function writeDeferral(tables: Tables, key: EffectKey, until: number, error: string): void {
  const at = effectKey(key);
  const dueAt = tables.effects.get(at);
  if (dueAt === undefined) return;
  const before = dueKey(Number(dueAt), at);
  const value = tables.due.get(before);
  if (value === undefined) return;
  const { effect, failures } = JSON.parse(value) as EffectValue;
  const after: EffectValue = { effect, failures: failures + 1, lastError: error };
  void tables.due.remove(before);
  void tables.due.put(dueKey(until, at), JSON.stringify(after));
  void tables.effects.put(at, String(until));
}

/** Moves counters; one that reaches 0 is removed. */
export function writeCounters(counters: Table, counted: ReadonlyMap<string, number>): void {
  for (const [name, by] of counted) {
    if (by === 0) continue;
    const value = Number(counters.get([name]) ?? 0) + by;
    if (value === 0) void counters.remove([name]);
    else void counters.put([name], String(value));
  }
}
