/**
 * One step as reads and writes inside a transaction. Keys and values were checked before, so that a bad step never
 * spoils the others of its group; what throws here is the disk.
 */
import type { Committed, EffectKey, Step } from '../ports.ts';
import { AFTER_ALL_TEXT } from './keys.ts';
import {
  actorKey,
  type EffectPlace,
  type EffectValue,
  effectKey,
  type Key,
  placeText,
  queueOf,
  readPlace,
  type Table,
  type Tables,
} from './lmdb-tables.ts';

/** Why the store as it is now does not take this step; undefined = it does. */
export function refusal(tables: Tables, step: Step): Exclude<Committed, { ok: true }> | undefined {
  const own = actorKey(step.actor.address);
  const fresh =
    step.basedOn === 0 ? !tables.actors.doesExist(own) : tables.actors.doesExist(own, step.basedOn);
  if (!fresh) return { ok: false, because: 'stale' };
  if (step.settles !== null && !tables.effects.doesExist(effectKey(step.settles))) {
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

/**
 * Writes a step that was not refused.
 * @param counted collects counters, which a group writes once at its end.
 * @param gone collects effects that are settled or dropped.
 */
export function write(tables: Tables, step: Step, counted: Map<string, number>, gone: EffectKey[]): void {
  const own = actorKey(step.actor.address);
  if (step.ends) removeActor(tables, own);
  else void tables.actors.put(own, JSON.stringify(step.actor), step.actor.revision);
  for (const line of step.journal) void tables.journal.put([...own, line.id], JSON.stringify(line));
  writeEffects(tables, step, own, gone);
  for (const { name, due } of step.timers.disarm) void tables.timers.remove([due, ...own, name]);
  for (const { name, due, event } of step.timers.arm)
    void tables.timers.put([due, ...own, name], JSON.stringify(event));
  for (const { view, key } of step.rows.remove) void tables.rows.remove([view, ...key]);
  for (const { view, key, value } of step.rows.put)
    void tables.rows.put([view, ...key], JSON.stringify(value));
  for (const name of step.names.release) {
    if (tables.names.get([name]) === holderValue(step)) void tables.names.remove([name]);
  }
  for (const name of step.names.take) void tables.names.put([name], holderValue(step));
  for (const [name, by] of Object.entries(step.counters)) counted.set(name, (counted.get(name) ?? 0) + by);
}

function removeActor(tables: Tables, own: Key): void {
  void tables.actors.remove(own);
  for (const key of [...tables.journal.getKeys({ start: own, end: [...own, AFTER_ALL_TEXT] })]) {
    void tables.journal.remove(key);
  }
}

function writeEffects(tables: Tables, step: Step, own: Key, gone: EffectKey[]): void {
  if (step.settles !== null) {
    removeEffect(tables, effectKey(step.settles));
    gone.push(step.settles);
  }
  if (step.dropsEffects) {
    for (const key of [...tables.effects.getKeys({ start: own, end: [...own, AFTER_ALL_TEXT] })]) {
      removeEffect(tables, key);
      gone.push(key.join('/'));
    }
  }
  for (const { key, effect, dueAt, failures, lastError, lane } of step.effects) {
    const value: EffectValue = { effect, failures, lastError };
    putEffect(tables, effectKey(key), { dueAt, lane }, value);
  }
}

function putEffect(tables: Tables, key: Key, place: EffectPlace, value: EffectValue): void {
  const { table, at } = queueOf(tables, place, key);
  void tables.effects.put(key, placeText(place));
  void table.put(at, JSON.stringify(value));
}

function removeEffect(tables: Tables, key: Key): void {
  const place = tables.effects.get(key);
  if (place === undefined) return;
  const { table, at } = queueOf(tables, readPlace(place), key);
  void table.remove(at);
  void tables.effects.remove(key);
  if (tables.troubled.doesExist(key)) void tables.troubled.remove(key);
}

/** Gives an effect a later time. Nothing happens when it is settled. */
export function writeDeferral(tables: Tables, key: EffectKey, until: number, error: string): void {
  const own = effectKey(key);
  const stored = tables.effects.get(own);
  if (stored === undefined) return;
  const place = readPlace(stored);
  const { table, at } = queueOf(tables, place, own);
  const value = table.get(at);
  if (value === undefined) return;
  const { effect, failures } = JSON.parse(value) as EffectValue;
  void table.remove(at);
  const later = { ...place, dueAt: until };
  putEffect(tables, own, later, { effect, failures: failures + 1, lastError: error });
  void tables.troubled.put(own, placeText(later));
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
