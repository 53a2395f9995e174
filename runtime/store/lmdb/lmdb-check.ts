/**
 * Checks a database file before LMDB maps it: a page that is missing or overwritten would end the process by a signal
 * when it is touched. Reads the file only.
 *
 * Source: docs/decisions/0171-check-before-the-map.md; `mdb.c` of lmdb 3.5.6, structs MDB_page, MDB_meta, MDB_node.
 */
import {
  closeSync,
  existsSync,
  fstatSync,
  openSync,
  readFileSync,
  readSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { Fatal } from '../../model/failures.ts';
import { folderOwner } from './owner.ts';

/** Bytes before the content of a page. */
export const HEADER = 24;
const META_BYTES = HEADER + 152;
const MAGIC = 0xbeefc0de;
const DATA_VERSION = 2;
/** `P_INVALID`, as `u64` reads it: an empty tree. */
const NO_PAGE = 2 ** 64;
const BRANCH = 0x01;
export const LEAF = 0x02;
const OVERFLOW = 0x04;
const META = 0x08;
/** The bits of a page's flags that say what it is. */
const KIND = 0x6f;
export const ON_OVERFLOW_PAGES = 0x01;
const SUB_DATABASE = 0x02;
export const NODE_BYTES = 8;
const OVERFLOW_REFERENCE = 24;
const DATABASE_BYTES = 48;
const MAX_DEPTH = 32;
const VERSION_BYTES = 8;
/** The database whose values are compressed (`lmdb-packed.ts`), not JSON. */
const BINARY_TABLE = 'packed';
/** Characters that JSON text does not contain. */
const CONTROLS = /(?![\u0080-\u009f])\p{Cc}(?<!\u007f)/u;

/** Pages that a start reads, at most: 1 GiB. `doctor` reads all. */
const PAGES_AT_START = 262_144;

/** Bytes read at once where pages are read in the order of the file, and the next one is so many pages behind at most. */
const WINDOW = 1 << 18;
const NEAR = 4;

/** Content: size and time of the database as it was closed. It needs no second look then. */
const CLOSED_NOTE = 'closed';
/** Content: the folder of the last backup. */
const BACKUP_NOTE = 'last-backup';

/** Name of the file that is there while a store is upgraded. */
export const UPGRADING_NOTE = 'upgrading';

/** Content of a tree. */
type Content = 'free' | 'main' | 'records' | 'binary';

class Damage extends Error {}

/**
 * Throws `store.damaged` with the file, the last backup and the command that restores it. Call before LMDB opens the
 * folder. Beside a process that has the store open, only the head of the file is checked: pages may change meanwhile.
 * @param extent `all`: reads every page, also of a file that was closed in order
 */
export function assertSound(folder: string, extent: 'start' | 'all' = 'start'): void {
  const owner = folderOwner(folder);
  const isShared = owner !== undefined && owner !== process.pid;
  const path = join(folder, 'data.mdb');
  try {
    if (!existsSync(path) || statSync(path).size === 0) {
      if (existsSync(join(folder, CLOSED_NOTE))) throw new Damage('it is empty or missing');
      return;
    }
    const isAsClosed = extent === 'start' && closedNote(path) === readNote(folder, CLOSED_NOTE);
    const file = openSync(path, 'r');
    try {
      const check = new FileCheck(file, extent === 'all' ? Number.POSITIVE_INFINITY : PAGES_AT_START);
      check.readHead();
      if (!isAsClosed && !isShared) check.readTrees();
    } finally {
      closeSync(file);
    }
  } catch (error) {
    if (error instanceof Damage) throw new Fatal('store.damaged', describeDamage(folder, error.message));
    throw error;
  }
}

/** Notes how the file looks after it was closed in order. */
export function noteClosed(folder: string): void {
  const path = join(folder, 'data.mdb');
  if (existsSync(path)) writeNote(folder, CLOSED_NOTE, closedNote(path));
}

/** Notes where the last backup of the store is. */
export function noteBackup(folder: string, target: string): void {
  writeNote(folder, BACKUP_NOTE, target);
}

function closedNote(path: string): string {
  const { size, mtimeNs } = statSync(path, { bigint: true });
  return `${size} ${mtimeNs}`;
}

/** A note is help, not data: a folder that takes none stays in use. */
export function writeNote(folder: string, name: string, text: string): void {
  try {
    writeFileSync(join(folder, name), text, { mode: 0o640 });
  } catch {}
}

function readNote(folder: string, name: string): string | undefined {
  try {
    return readFileSync(join(folder, name), 'utf8');
  } catch {
    return undefined;
  }
}

function describeDamage(folder: string, fault: string): string {
  const root = dirname(folder);
  const backup = readNote(folder, BACKUP_NOTE);
  const from = backup ?? '<backup>';
  const known =
    backup === undefined
      ? 'No backup of it is known here.'
      : `The last backup is in ${backup}, of ${statSync(join(folder, BACKUP_NOTE)).mtime.toISOString()}.`;
  return `${join(folder, 'data.mdb')} is damaged: ${fault}. It was not opened. ${known} To restore one, stop the service and run: mv ${folder} ${folder}.damaged && cp -a ${from}/. ${root}/`;
}

/** A tree of pages. */
export interface Tree {
  readonly depth: number;
  readonly root: number;
}

/** Size of the pages, and the tree that names the others, as of the newest transaction. */
export function newestHead(file: number): { readonly pageSize: number; readonly main: Tree } {
  const check = new FileCheck(file, 0);
  check.readHead();
  return check.head;
}

class FileCheck {
  readonly #file: number;
  readonly #length: number;
  readonly #maxPages: number;
  #pageSize = 0;
  #lastPage = 0;
  #txn = 0;
  #trees: readonly Tree[] = [];
  #seen = new Uint8Array();
  #read = 0;
  /** Leaves that are named and not read yet, and their number. */
  readonly #leaves = new Map<Content, number[]>();
  #left = 0;
  readonly #window = Buffer.allocUnsafe(WINDOW);
  #windowAt = 0;
  #windowLength = 0;
  /** Bytes to read with the next leaf; 0 = it alone. */
  #together = 0;

  constructor(file: number, maxPages: number) {
    this.#file = file;
    this.#length = fstatSync(file).size;
    this.#maxPages = maxPages;
  }

  /** Reads the two heads; the newer one counts. */
  readHead(): void {
    const first = this.#meta(0, 0);
    const pageSize = first.readUInt32LE(HEADER + 24);
    if (pageSize < 512 || pageSize > 65536 || (pageSize & (pageSize - 1)) !== 0)
      throw new Damage(`its head names pages of ${pageSize} bytes`);
    this.#pageSize = pageSize;
    const second = this.#meta(1, pageSize);
    if (second.readUInt32LE(HEADER + 24) !== pageSize)
      throw new Damage('its two heads differ in the page size');
    const newer = u64(second, HEADER + 128) > u64(first, HEADER + 128) ? second : first;
    this.#lastPage = u64(newer, HEADER + 120);
    this.#txn = u64(newer, HEADER + 128);
    this.#trees = [24, 24 + DATABASE_BYTES].map((at) => tree(newer, HEADER + at));
    if (this.#lastPage < 1 || this.#lastPage * pageSize > u64(newer, HEADER + 16))
      throw new Damage(`its head names a last page ${this.#lastPage}, outside of the map`);
  }

  get head(): ReturnType<typeof newestHead> {
    return { pageSize: this.#pageSize, main: this.#trees[1] ?? { depth: 0, root: NO_PAGE } };
  }

  /** Reads every page of every tree. */
  readTrees(): void {
    const pages = Math.ceil(this.#length / this.#pageSize);
    this.#seen = new Uint8Array(pages);
    const [free, main] = this.#trees;
    if (free !== undefined) this.#walk(free.root, free.depth, 'free');
    if (main !== undefined) this.#walk(main.root, main.depth, 'main');
    for (const [content, numbers] of this.#leaves) {
      // In the order of the file: many with one read, and a disk reads ahead.
      for (const [at, number] of numbers.sort((left, right) => left - right).entries()) {
        // Large values count, too.
        if (this.#read >= this.#maxPages) return;
        this.#together = (numbers[at + 1] ?? Infinity) - number <= NEAR ? WINDOW : 0;
        this.#check(number, 1, content);
      }
    }
  }

  #meta(page: number, at: number): Buffer {
    const bytes = Buffer.alloc(META_BYTES);
    if (readSync(this.#file, bytes, 0, META_BYTES, at) < META_BYTES)
      throw new Damage('it ends within its head');
    const isMeta = (bytes.readUInt16LE(18) & META) !== 0 && u64(bytes, 0) === page;
    if (!isMeta || bytes.readUInt32LE(HEADER) !== MAGIC)
      throw new Damage(`page ${page} is no head of a database`);
    const version = bytes.readUInt32LE(HEADER + 4) & 0xffff;
    if (version !== DATA_VERSION) throw new Damage(`its head has format ${version}, not ${DATA_VERSION}`);
    return bytes;
  }

  #walk(number: number, depth: number, content: Content): void {
    if (number === NO_PAGE) return;
    if (depth < 1 || depth > MAX_DEPTH) throw new Damage(`page ${number} is at depth ${depth}`);
    if (this.#read + this.#left >= this.#maxPages) return;
    if (depth === 1 && content !== 'main') {
      const leaves = this.#leaves.get(content) ?? [];
      this.#leaves.set(content, leaves);
      leaves.push(number);
      this.#left += 1;
    } else this.#check(number, depth, content);
  }

  #check(number: number, depth: number, content: Content): void {
    const page = this.#page(number, depth > 1 ? BRANCH : LEAF);
    const lower = page.readUInt16LE(20);
    const upper = page.readUInt16LE(22);
    if (lower > upper || upper > this.#pageSize - HEADER || lower % 2 !== 0) this.#fault(number);
    for (let at = HEADER; at < HEADER + lower; at += 2) {
      const node = HEADER + page.readUInt16LE(at);
      if (node < HEADER + upper || node + NODE_BYTES > this.#pageSize) this.#fault(number);
      const data = node + NODE_BYTES + page.readUInt16LE(node + 6);
      if (data > this.#pageSize) this.#fault(number);
      if (depth > 1) this.#walk(page.readUIntLE(node, 6), depth - 1, content);
      else this.#checkValue(page, { number, node, data, content });
    }
  }

  #checkValue(
    page: Buffer,
    { number, node, data, content }: { number: number; node: number; data: number; content: string },
  ): void {
    const length = page.readUInt32LE(node);
    const flags = page.readUInt16LE(node + 4);
    const isElsewhere = (flags & ON_OVERFLOW_PAGES) !== 0;
    if (data + (isElsewhere ? OVERFLOW_REFERENCE : length) > this.#pageSize) this.#fault(number);
    if (isElsewhere) this.#checkOverflow(u64(page, data), length, content);
    if ((flags & SUB_DATABASE) === 0) return;
    if (content !== 'main' || length !== DATABASE_BYTES) this.#fault(number);
    const { root, depth } = tree(page, data);
    const isBinary = isNamed(BINARY_TABLE, page.subarray(node + NODE_BYTES, data));
    this.#walk(root, depth, isBinary ? 'binary' : 'records');
  }

  #checkOverflow(number: number, length: number, content: string): void {
    const page = this.#page(number, OVERFLOW);
    const pages = page.readUInt32LE(20);
    if (pages * this.#pageSize < HEADER + length) this.#fault(number);
    if ((number + pages) * this.#pageSize > this.#length)
      throw new Damage(`it ends within the value that begins at page ${number}`);
    if (content !== 'records') return;
    // Large values are JSON, some after a version in binary form.
    const value = Buffer.allocUnsafe(length);
    readSync(this.#file, value, 0, length, number * this.#pageSize + HEADER);
    if (CONTROLS.test(value.toString('latin1', VERSION_BYTES)))
      throw new Damage(`the value at page ${number} was overwritten`);
  }

  /** Reads a page of this kind, which no other page has named. */
  #page(number: number, kind: number): Buffer {
    if (number > this.#lastPage || number < 2)
      throw new Damage(`a page names page ${number}, which cannot be`);
    if ((number + 1) * this.#pageSize > this.#length)
      throw new Damage(
        `page ${number} of ${this.#lastPage + 1} is missing; the file has ${this.#length} bytes`,
      );
    if (this.#seen[number] === 1) throw new Damage(`page ${number} is named twice`);
    this.#seen[number] = 1;
    this.#read += 1;
    const size = kind === OVERFLOW ? HEADER : this.#pageSize;
    const page = kind === LEAF ? this.#leaf(number) : Buffer.allocUnsafe(size);
    if (kind !== LEAF && readSync(this.#file, page, 0, size, number * this.#pageSize) < size)
      this.#fault(number);
    const isIt = u64(page, 0) === number && (page.readUInt16LE(18) & KIND) === kind;
    if (!isIt || u64(page, 8) > this.#txn) this.#fault(number);
    return page;
  }

  /** One at a time: the next read replaces it. */
  #leaf(number: number): Buffer {
    const at = number * this.#pageSize;
    const isRead = at >= this.#windowAt && at + this.#pageSize <= this.#windowAt + this.#windowLength;
    if (!isRead) {
      this.#windowAt = at;
      this.#windowLength = readSync(this.#file, this.#window, 0, this.#together || this.#pageSize, at);
    }
    if (this.#windowLength < this.#pageSize) this.#fault(number);
    return this.#window.subarray(at - this.#windowAt, at - this.#windowAt + this.#pageSize);
  }

  #fault(number: number): never {
    throw new Damage(`page ${number} was overwritten`);
  }
}

/** Buffers, without the types of Node: the entry for programs names this file. */
type Bytes = { readUInt16LE(at: number): number; readUInt32LE(at: number): number };

/** @param key of a database, which may end with a zero */
export function isNamed(name: string, key: Uint8Array): boolean {
  const end = key.indexOf(0);
  return name === String.fromCharCode(...(end < 0 ? key : key.subarray(0, end)));
}

export function tree(bytes: Bytes, at: number): Tree {
  return { depth: bytes.readUInt16LE(at + 6), root: u64(bytes, at + 40) };
}

/** Exact below 2^53, which no page number or size reaches. */
export function u64(bytes: Bytes, at: number): number {
  return bytes.readUInt32LE(at) + bytes.readUInt32LE(at + 4) * 2 ** 32;
}
