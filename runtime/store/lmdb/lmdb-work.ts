/** Reads of effects, deadlines and names, shared by the service's own view of a store on disk and the read-only one. */
import { Fatal } from '../../model/failures.ts';
import { AFTER_ALL_TEXT, fitsKey } from '../../model/keys.ts';
import type { ActorStore, AfterQuery, HeldName, StoredEffect, StoredTimer } from '../../model/ports.ts';
import {
  effectKey,
  type Key,
  parseStored,
  partsOf,
  queueOf,
  readEffect,
  readPosition,
  type Table,
  type Tables,
} from './lmdb-tables.ts';

/** Tables of effects; each is in one of the queues. */
type EffectTables = Pick<Tables, 'effects' | 'due' | 'partitions'>;

/** Reads an effect by its key and its stored position. */
export function effectAt(tables: EffectTables, key: Key, placeText: string): StoredEffect | undefined {
  const place = readPosition(placeText);
  const { table, at } = queueOf(tables, place, key);
  const stored = table.get(at);
  return stored === undefined ? undefined : readEffect([place.dueAt, ...key], stored, place.partition);
}

export function readEffects(
  tables: EffectTables,
  { kind, after, limit }: Parameters<ActorStore['effects']>[0],
): readonly StoredEffect[] {
  const from = after === undefined ? undefined : effectKey(after);
  const range = tables.effects.getRange({
    ...(kind !== undefined && { start: [kind], end: [kind, AFTER_ALL_TEXT] }),
    ...(from !== undefined && { start: from, exclusiveStart: true }),
    limit,
  });
  return [...range].map(({ key, value }) => {
    const effect = effectAt(tables, key, value);
    if (effect !== undefined) return effect;
    const [ofKind, id, revision, index] = partsOf(key);
    // With another one in its place in the queues their numbers would agree (`assertListed`).
    throw damaged(
      `The store lists effect ${index} of revision ${revision} of ${ofKind}/${id}, which no queue holds`,
    );
  });
}

/** @throws {Fatal} `store.damaged` where a queue holds effects that are not listed: they would run all the same */
export function assertListed({ effects, due, partitions }: EffectTables): void {
  const count = (table: Table) => (table.getStats() as { readonly entryCount: number }).entryCount;
  const listed = count(effects);
  const queued = count(due) + count(partitions);
  if (listed !== queued) throw damaged(`The store lists ${listed} effects, and its queues hold ${queued}`);
}

function damaged(what: string): Fatal {
  const remedy = 'Keep a copy of the folder, and restore the last backup (docs/operations.md).';
  return new Fatal('store.damaged', `${what}: its file was changed from outside. ${remedy}`);
}

export function readTimers(
  tables: Pick<Tables, 'timers'>,
  { after, limit }: Parameters<ActorStore['timers']>[0],
): readonly StoredTimer[] {
  if (after === undefined) return timersIn(tables, { limit });
  const { due, actor, name } = after;
  const start: Key = [due, actor.kind, actor.id, name];
  return fitsKey(start) ? timersIn(tables, { start, exclusiveStart: true, limit }) : [];
}

export function timersIn(
  { timers }: Pick<Tables, 'timers'>,
  range: Parameters<Tables['timers']['getRange']>[0],
): readonly StoredTimer[] {
  return [...timers.getRange(range)].map(({ key: [time, kind, id, name], value }) => ({
    actor: { kind: String(kind), id: String(id) },
    name: String(name),
    due: Number(time),
    event: parseStored(value, () => `deadline ${name} of ${kind}/${id}`),
  }));
}

export function readNames(
  { names }: Pick<Tables, 'names'>,
  { after, limit }: AfterQuery,
): readonly HeldName[] {
  const range = names.getRange({
    ...(after !== undefined && { start: [after], exclusiveStart: true }),
    limit,
  });
  return [...range].map(({ key, value }) => ({
    name: String(partsOf(key)[0]),
    holder: parseStored(value, () => `name ${partsOf(key)[0]}`),
  }));
}
