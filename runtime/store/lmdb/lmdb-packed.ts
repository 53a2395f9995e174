/**
 * Ended actors take a fraction of their room: their record and their journal are one value of a few hundred bytes in
 * `packed`, compressed with a text that most actors have in common. Their entry in `actors` then holds the number of that
 * value and of the lines; its LMDB version lies between two revisions, so that a step finds out without another read.
 *
 * Source: docs/decisions/0295-ended-actors-are-packed.md.
 */
import { Fatal } from '../../model/failures.ts';
import { AFTER_ALL_TEXT } from '../../model/keys.ts';
import type { ActorAddress, JournalLine, RestingActor, Row } from '../../model/ports.ts';
import { packed, type Unpacked, unpacked } from '../packed/packed-text.ts';
import { type Key, parseStored, type Tables } from './lmdb-tables.ts';

/** Added to the revision of an actor that is packed. */
const PACKED = 0.5;

/** Key in `meta` of the last leaf, of a node, whose actor was packed. */
export const PACKED_UNTIL = 'packed';

type PackTables = Pick<Tables, 'actors' | 'journal' | 'packed'>;

/** Number of the packed value and of its lines; undefined for an actor that is not packed. */
export function packedAt(value: string): readonly [number: number, lines: number] | undefined {
  return value.startsWith('[') ? parseStored(value) : undefined;
}

/** The text of an actor, packed or not. */
export function actorText(tables: Pick<Tables, 'packed'>, key: Key, value: string): string {
  return packedAt(value) === undefined ? value : readPacked(tables, key, value).actor;
}

/** @throws {Fatal} `store.damaged` */
export function readPacked({ packed }: Pick<Tables, 'packed'>, key: Key, value: string): Unpacked {
  const [number = -1] = packedAt(value) ?? [];
  return unpacked(addressOf(key), packed.get(number));
}

function addressOf([kind, id]: Key): ActorAddress {
  return { kind: String(kind), id: String(id) };
}

export function packedUntil({ meta }: Pick<Tables, 'meta'>, node: string): Row['key'] | undefined {
  const until = meta.get([PACKED_UNTIL, node]);
  return until === undefined ? undefined : parseStored(until);
}

/** Packs an actor, in a transaction. Does nothing where it has changed since, has not ended, or is too large. */
export function pack(tables: PackTables, { kind, id, revision, states }: RestingActor): void {
  const key: Key = [kind, id];
  if (!tables.actors.doesExist(key, revision)) return;
  const lines = [...tables.journal.getRange({ start: key, end: [...key, AFTER_ALL_TEXT] })];
  const texts = lines.map(({ value }) => value);
  const bytes = packed({ kind, id }, tables.actors.get(key) ?? '', texts, states);
  if (bytes === undefined) return;
  const [last = 0] = tables.packed.getKeys({ reverse: true, limit: 1 });
  void tables.packed.put(last + 1, bytes);
  // LMDB joins pages that are nearly empty at a removal only.
  void tables.actors.remove(key);
  void tables.actors.put(key, JSON.stringify([last + 1, lines.length]), revision + PACKED);
  for (const { key: at } of lines) void tables.journal.remove(at);
}

/**
 * Undoes it, in a transaction. A value that cannot be read stays as it is: who reads the actor anew is told of the damage,
 * and the steps of the same transaction are written.
 * @returns false if the actor is not packed as of this revision, or cannot be unpacked
 */
export function unpack(tables: PackTables, key: Key, revision: number): boolean {
  if (!tables.actors.doesExist(key, revision + PACKED)) return false;
  const value = tables.actors.get(key) ?? '';
  const whole = readWhole(tables, key, value);
  if (whole === undefined) return false;
  const { actor, lines } = whole;
  for (const text of lines) void tables.journal.put([...key, parseStored<JournalLine>(text).id], text);
  void tables.actors.put(key, actor, revision);
  void tables.packed.remove(packedAt(value)?.[0] ?? -1);
  return true;
}

/** Undefined for a value that is damaged. */
function readWhole(tables: PackTables, key: Key, value: string): Unpacked | undefined {
  try {
    const whole = readPacked(tables, key, value);
    for (const text of [whole.actor, ...whole.lines]) parseStored(text);
    return whole;
  } catch (error) {
    if (error instanceof Fatal) return undefined;
    throw error;
  }
}
