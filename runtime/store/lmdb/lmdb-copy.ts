/** A store on LMDB as the source or the target of a copy. */
import { existsSync, readdirSync } from 'node:fs';
import { Fatal } from '../../model/failures.ts';
import type { StoredActor } from '../../model/ports.ts';
import {
  BATCH_LENGTH,
  BATCH_SIZE,
  type CopiedEffect,
  type CopiedTable,
  type CopyMarker,
  type CopySide,
  effectText,
  type RecordKey,
  type StoreRecord,
} from '../copy/copy-side.ts';
import { readLines } from './lmdb-actors.ts';
import { settlePending } from './lmdb-changes.ts';
import { assertSound } from './lmdb-check.ts';
import { actorText, packedAt } from './lmdb-packed.ts';
import {
  COPY_MARKER,
  type EffectValue,
  type Key,
  openTables,
  parseStored,
  partsOf,
  positionText,
  queueOf,
  readPosition,
  type Tables,
  transact,
} from './lmdb-tables.ts';
import { upgradeTables } from './lmdb-upgrade.ts';
import { claimFolder, type Release } from './owner.ts';
import { assertRoomForStore } from './room.ts';

/**
 * Opens a store for a copy and claims its folder. Throws `store.locked`; `store.missing` for a source that is none;
 * `store.not-empty` for a target folder with other files; `store.damaged`.
 */
export function openLmdbCopy(folder: string, role: 'source' | 'target'): CopySide {
  if (!existsSync(`${folder}/data.mdb`)) {
    if (role === 'source') {
      const hint = existsSync(`${folder}/db/data.mdb`) ? ` It is in ${folder}/db.` : '';
      throw new Fatal('store.missing', `There is no store in ${folder}.${hint}`);
    }
    if (filesIn(folder).length > 0) {
      throw new Fatal(
        'store.not-empty',
        `${folder} holds other files and no store. Name the folder of a store, or an empty folder.`,
      );
    }
  }
  if (role === 'target') assertRoomForStore(folder);
  const release = claimFolder(folder);
  try {
    assertSound(folder);
    const tables = openTables(folder);
    upgradeTables(tables, folder);
    settlePending(tables);
    return new LmdbCopy(folder, tables, release);
  } catch (error) {
    release();
    throw error;
  }
}

/** Names in a folder, without the claims of processes; none when it is missing. */
function filesIn(folder: string): readonly string[] {
  return existsSync(folder) ? readdirSync(folder).filter((name) => !name.startsWith('owner.')) : [];
}

class LmdbCopy implements CopySide {
  readonly location: string;
  readonly howToEmpty: string;
  readonly #tables: Tables;
  readonly #release: Release;

  constructor(folder: string, tables: Tables, release: Release) {
    this.location = `LMDB in ${folder}`;
    this.howToEmpty = `remove the folder ${folder}`;
    this.#tables = tables;
    this.#release = release;
  }

  async count(table: CopiedTable): Promise<number> {
    let count = (this.#tables[table].getStats() as { readonly entryCount: number }).entryCount;
    if (table === 'journal')
      for (const { value } of this.#tables.actors.getRange()) count += packedAt(value)?.[1] ?? 0;
    return count;
  }

  async read(table: CopiedTable, after: RecordKey | undefined): Promise<readonly StoreRecord[]> {
    if (table === 'journal' && this.#hasPacked()) return this.#readJournal(after);
    const records: StoreRecord[] = [];
    let length = 0;
    const range = this.#tables[table].getRange({
      ...(after !== undefined && { start: [...after], exclusiveStart: true }),
      limit: BATCH_SIZE,
    });
    for (const { key, value } of range) {
      const parts = partsOf(key);
      const text = this.#text(table, parts, value);
      records.push({ key: parts, value: text });
      length += text.length;
      if (length >= BATCH_LENGTH) break;
    }
    return records;
  }

  #hasPacked(): boolean {
    return this.#tables.packed.getKeysCount({ limit: 1 }) > 0;
  }

  /** By actors: lines of those that are packed are not in the table. */
  #readJournal(after: RecordKey | undefined): readonly StoreRecord[] {
    const records: StoreRecord[] = [];
    const first: Key | undefined = after?.slice(0, 2);
    let length = 0;
    for (const own of this.#tables.actors.getKeys(first && { start: first })) {
      const isFirst = first !== undefined && own.join('/') === first.join('/');
      const from = isFirst ? { after: Number(after?.[2]) } : {};
      for (const { number, text } of readLines(this.#tables, own, { ...from, limit: BATCH_SIZE })) {
        records.push({ key: [...own, number], value: text });
        length += text.length;
        if (records.length >= BATCH_SIZE || length >= BATCH_LENGTH) return records;
      }
    }
    return records;
  }

  #text(table: CopiedTable, key: Key, value: string): string {
    if (table === 'actors') return actorText(this.#tables, key, value);
    return table === 'effects' ? this.#effect(key, value) : value;
  }

  #effect(key: Key, place: string): string {
    const position = readPosition(place);
    const { dueAt, partition } = position;
    const { table, at } = queueOf(this.#tables, position, key);
    const { effect, failures, lastError } = parseStored<EffectValue>(table.get(at) ?? '{}');
    return effectText({ dueAt, lane: partition, failures, lastError, effect });
  }

  async lastKey(table: CopiedTable): Promise<RecordKey | undefined> {
    for (const key of this.#tables[table].getKeys({ reverse: true, limit: 1 })) return partsOf(key);
    return undefined;
  }

  async marker(): Promise<CopyMarker | undefined> {
    const text = this.#tables.meta.get(COPY_MARKER);
    return text === undefined ? undefined : parseStored<CopyMarker>(text);
  }

  async begin(marker: CopyMarker): Promise<void> {
    transact(this.#tables, () => void this.#tables.meta.put(COPY_MARKER, JSON.stringify(marker)));
  }

  async write(table: CopiedTable, records: readonly StoreRecord[]): Promise<void> {
    transact(this.#tables, () => {
      for (const { key, value } of records) this.#put(table, [...key], value);
    });
  }

  #put(table: CopiedTable, key: Key, value: string): void {
    if (table === 'actors')
      void this.#tables.actors.put(key, value, parseStored<StoredActor>(value).revision);
    else if (table === 'effects') this.#putEffect(key, parseStored<CopiedEffect>(value));
    else void this.#tables[table].put(key, value);
  }

  #putEffect(key: Key, { dueAt, lane, failures, lastError, effect }: CopiedEffect): void {
    const position = { dueAt, partition: lane };
    const { table, at } = queueOf(this.#tables, position, key);
    void this.#tables.effects.put(key, positionText(position));
    void table.put(at, JSON.stringify({ effect, failures, lastError }));
    if (failures > 0) void this.#tables.troubled.put(key, positionText(position));
  }

  async finish(): Promise<void> {
    transact(this.#tables, () => void this.#tables.meta.remove(COPY_MARKER));
  }

  async close(): Promise<void> {
    await this.#tables.root.close();
    this.#release();
  }
}
