/** Saves snapshots of tables of lists, all of one moment, for the next start. Source: docs/decisions/0294-tables-kept-over-a-start.md. */
import { readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { ActorStore, Clock, Ids, KeyRange, Row, SnapshotKeys } from '@sealwright/runtime';
import type { Millis } from '../../../machines/ids.ts';
import type { ObservedTable } from './observed-table.ts';
import { hasRoom } from './snapshot-file.ts';

/** Records from which on a table is built at the start, and saved: about 100 ms. */
export const MANY_RECORDS = 10_000;

/** Time between two looks at whether tables are to be saved. */
const SAVE_INTERVAL_MS: Millis = 10 * 60_000;
/** Share of the records that may differ from the snapshot, since it takes as long to read them: while in use, at the end. */
const UNSAVED_SHARE = 0.02;
const UNSAVED_SHARE_AT_END = 0.002;

const SNAPSHOT_FOLDER = 'lists';
const SNAPSHOT_SUFFIX = '.table';
const PART_SUFFIX = '.part';
/** Age of files that a node removes although another one may have written them. */
const OTHERS_AFTER_MS: Millis = 30 * 24 * 60 * 60_000;
/** Of those that it was still writing: its end has left them. */
const PARTS_AFTER_MS: Millis = 60 * 60_000;

/** Place of snapshots. */
export interface SnapshotPlace {
  /** The tables are in its folder `lists`. */
  readonly root: string;
  /** Records from which on a table is saved. @default 10,000 */
  readonly atLeast?: number;
  readonly ids: Pick<Ids, 'uuid'>;
  readonly clock: Pick<Clock, 'after' | 'now'>;
}

type Marks = NonNullable<ActorStore['marks']>;
type SavedTable = Pick<ObservedTable<never>, 'bytes' | 'unsaved' | 'save'>;

export class TableSnapshots {
  readonly #kind: string;
  readonly #place: SnapshotPlace;
  readonly #marks: Marks;
  /** True: other nodes may save tables in the same folder. */
  readonly #isShared: boolean;
  readonly #tables: () => readonly (readonly [key: string, table: SavedTable])[];
  #cancel = (): void => {};
  #saved: Promise<void> = Promise.resolve();
  #isClosed = false;

  /**
   * @param kind of marks, of which each has the last that ended and the one begun
   * @param tables those that are to be saved now
   */
  constructor(
    kind: string,
    place: SnapshotPlace,
    store: { readonly marks: Marks; readonly nodes?: unknown },
    tables: () => readonly (readonly [key: string, table: SavedTable])[],
  ) {
    this.#kind = kind;
    this.#place = place;
    this.#marks = store.marks;
    this.#isShared = store.nodes !== undefined;
    this.#tables = tables;
  }

  get atLeast(): number {
    return this.#place.atLeast ?? MANY_RECORDS;
  }

  pathOf(key: string): string {
    return join(this.#folder, fileName(key));
  }

  /** Saves tables from now on. */
  saveAtIntervals(): void {
    if (this.#isClosed) return;
    void this.save(UNSAVED_SHARE).finally(() => {
      if (!this.#isClosed)
        this.#cancel = this.#place.clock.after(SAVE_INTERVAL_MS, () => this.saveAtIntervals());
    });
  }

  /** Saves all tables if one of them has changed. */
  save(share = UNSAVED_SHARE_AT_END): Promise<void> {
    // A file that cannot be written is one that the next start does without.
    this.#saved = this.#saved.then(() => this.#save(share)).catch(() => {});
    return this.#saved;
  }

  /** Saves them, and waits for so long: what is not written by then is built by the next start. */
  async saveWithin(time: Millis): Promise<void> {
    let cancel = (): void => {};
    const late = new Promise<void>((resolve) => {
      cancel = this.#place.clock.after(time, resolve);
    });
    await Promise.race([this.save(), late]);
    cancel();
  }

  close(): void {
    this.#isClosed = true;
    this.#cancel();
  }

  /** True for a file that another node may need. */
  async #isOfAnother(name: string): Promise<boolean> {
    if (!this.#isShared) return false;
    const found = await stat(join(this.#folder, name)).catch(() => undefined);
    const after = name.endsWith(PART_SUFFIX) ? PARTS_AFTER_MS : OTHERS_AFTER_MS;
    return found !== undefined && this.#place.clock.now() - found.mtimeMs < after;
  }

  get #folder(): string {
    return join(this.#place.root, SNAPSHOT_FOLDER);
  }

  async #save(share: number): Promise<void> {
    const marks = this.#marks;
    const tables = this.#tables();
    if (!tables.some(([, { unsaved }]) => unsaved > share)) return;
    // First: a service that is ended again and again while it writes leaves no more than the disk has room for.
    await this.#removeOthers(new Set(tables.map(([key]) => fileName(key))));
    const bytes = tables.reduce((sum, [, table]) => sum + table.bytes, 0);
    if (!(await hasRoom(this.#folder, bytes))) return;
    const id = this.#place.ids.uuid();
    const name = `${this.#kind}/${id}`;
    const partOf = (path: string) => `${path}.${id}${PART_SUFFIX}`;
    await marks.begin(name);
    const written: string[] = [];
    try {
      for (const [key, table] of tables) {
        const path = this.pathOf(key);
        if (await table.save(partOf(path), name)) written.push(path);
      }
      // The files may hold what was stored since the mark was begun: a backup of that time does not know its name.
      await marks.end(name);
      for (const path of written) await rename(partOf(path), path);
    } catch (error) {
      for (const path of written) await rm(partOf(path), { force: true });
      throw error;
    }
  }

  /** The earlier file of one that is not written is still of use. */
  async #removeOthers(names: ReadonlySet<string>): Promise<void> {
    for (const other of await readdir(this.#folder).catch(() => []))
      if (!names.has(other) && !(await this.#isOfAnother(other)))
        await rm(join(this.#folder, other), { force: true }).catch(() => {});
  }
}

function fileName(key: string): string {
  return `${encodeURIComponent(key)}${SNAPSHOT_SUFFIX}`;
}

/** The numbers of a range behind keys that begin alike. */
export interface NumberRange {
  /** Inclusive. */
  readonly from: number;
  /** Exclusive. */
  readonly below: number;
}

/** Keys of a part: what is read anew for one that has changed. */
const KEYS_PER_PART = 64;

/** Parts of keys that are added in ascending order. */
export class KeyBlocks implements SnapshotKeys {
  readonly starts: Row['key'][] = [];
  readonly counts: number[] = [];

  /** @param key only the one that begins a part is asked for. @param isSame true: the same key as the one before, as far as it is known */
  add(key: () => Row['key'], isSame = false): void {
    const last = this.counts.length - 1;
    const count = this.counts[last] ?? KEYS_PER_PART;
    if (count >= KEYS_PER_PART && !isSame) {
      this.starts.push(key());
      this.counts.push(1);
    } else this.counts[last] = count + 1;
  }
}

/** Less than any number of a key. */
export const BEFORE_ALL = -(2 ** 52);

/** The numbers of a range of keys behind their first parts; none: `from` is not below `below`. */
export function numbersBehind(first: readonly string[], { from, to }: KeyRange): NumberRange {
  const number = (key: KeyRange['from'], otherwise: number): number => {
    if (key === undefined) return otherwise;
    for (const [at, part] of first.entries()) {
      // In the order of their bytes; what ends before it comes first.
      const order = Buffer.compare(Buffer.from(String(key[at] ?? '')), Buffer.from(part));
      if (order !== 0) return order < 0 ? BEFORE_ALL : Infinity;
    }
    return Number(key[first.length] ?? BEFORE_ALL);
  };
  return { from: number(from, BEFORE_ALL), below: number(to, Infinity) };
}
