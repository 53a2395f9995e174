/** Reads of actors and their journals, shared by all views of a store on disk: the service's own and the read-only one. */
import { Fatal } from '../../model/failures.ts';
import { AFTER_ALL_TEXT, fitsKey } from '../../model/keys.ts';
import type { ActorAddress, ActorStore, JournalLine, StoredActor } from '../../model/ports.ts';
import { actorText, packedAt, readPacked } from './lmdb-packed.ts';
import { actorKey, type Key, parseStored, partsOf, type ReadTables } from './lmdb-tables.ts';

export function readActor(
  tables: Pick<ReadTables, 'actors' | 'packed'>,
  actor: ActorAddress,
): StoredActor | undefined {
  const key = actorKey(actor);
  const value = fitsKey(key) ? tables.actors.get(key) : undefined;
  return value === undefined
    ? undefined
    : parseStored(actorText(tables, key, value), () => `actor ${key.join('/')}`);
}

export function readActors(
  tables: ReadTables,
  { kind, after, limit }: Parameters<ActorStore['actors']>[0],
): StoredActor[] {
  const start = after === undefined ? [kind] : [kind, after];
  if (!fitsKey(start)) return [];
  const range = tables.actors.getRange({
    start,
    exclusiveStart: after !== undefined,
    end: [kind, AFTER_ALL_TEXT],
    limit,
  });
  return [...range].map(({ key, value }) => actorAt(tables, key, value));
}

/** @throws {Fatal} `store.damaged` for an actor in the place of another: a list continued after it would not end */
function actorAt(tables: ReadTables, key: Key, value: string): StoredActor {
  const actor = parseStored<StoredActor>(
    actorText(tables, key, value),
    () => `actor ${partsOf(key).join('/')}`,
  );
  const [kind, id] = partsOf(key);
  if (actor.address?.kind === kind && actor.address.id === id) return actor;
  throw new Fatal(
    'store.damaged',
    `The store holds another actor in the place of ${kind}/${id}: its file was changed from outside. Stop the service, keep a copy of the folder, and restore the last backup (docs/operations.md).`,
  );
}

export function readJournal(
  tables: ReadTables,
  actor: ActorAddress,
  options: NonNullable<Parameters<ActorStore['journal']>[1]>,
): JournalLine[] {
  const own = actorKey(actor);
  if (!fitsKey(own)) return [];
  return readLines(tables, own, options).map(({ number, text }) =>
    parseStored<JournalLine>(text, () => `line ${number} of ${actor.kind}/${actor.id}`),
  );
}

/** Lines of an actor as they are stored unpacked, with their numbers. */
export function readLines(
  tables: Pick<ReadTables, 'actors' | 'journal' | 'packed'>,
  own: Key,
  { after = 0, limit }: NonNullable<Parameters<ActorStore['journal']>[1]>,
): { readonly number: number; readonly text: string }[] {
  const value = tables.actors.get(own);
  if (value !== undefined && packedAt(value) !== undefined)
    return readPacked(tables, own, value)
      .lines.map((text) => ({ number: parseStored<JournalLine>(text).id, text }))
      .filter(({ number }) => number > after)
      .slice(0, limit);
  const range = { start: [...own, after + 1], end: [...own, AFTER_ALL_TEXT] };
  const found = tables.journal.getRange(limit === undefined ? range : { ...range, limit });
  return [...found].map(({ key, value: text }) => ({ number: Number(key.at(-1)), text }));
}
