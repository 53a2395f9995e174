/** Different records of many texts, each kept and searched once. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { pack, Unpacked } from './packed.ts';
import { BLOCK_ROWS, eachMarked, type SearchInBytes, TextBlock, textArrays, WORDS } from './text-block.ts';
import { has } from './texts.ts';

/** More have no numbers in entries. */
const MAX_RECORDS = 1 << 24;
/** Parts of the index, each of which grows alone; slots of a part at first, and of one look. */
const PARTS = 256;
const FIRST_SLOTS = 16;
const LOOKED_AT = 24;
/** Records without an entry from which on the records are worn, if half of all are. */
const MIN_UNUSED = 8_192;
/** Blocks searched between two turns of the event loop. */
const BLOCKS_PER_TURN = 64;

/** Gives a mark for each record there is; undefined: none is marked. */
export type RecordMarks = () => Uint8Array | undefined;

export class SharedRecords {
  /** Full blocks, then the records behind them. */
  readonly #texts: TextBlock[] = [];
  #open: string[] = [];
  #bytes = 0;
  /** Pairs: the hash of a record, its number + 1. A record that is not found in it is kept again. */
  readonly #index = Array.from({ length: PARTS }, () => new Uint32Array(2 * FIRST_SLOTS));
  readonly #taken = new Uint32Array(PARTS);
  /** Entries that have the record. */
  #uses = new Uint32Array(1024);
  #unused = 0;

  get bytes(): number {
    const parts = this.#index.reduce((sum, { byteLength }) => sum + byteLength, 0);
    return parts + this.#bytes + this.#uses.byteLength;
  }

  get size(): number {
    return this.#texts.length * BLOCK_ROWS + this.#open.length;
  }

  /** Number of records that have no entry. */
  get unused(): number {
    return this.#unused;
  }

  /** True if most records have no entry any more. They go with the table. */
  get isWorn(): boolean {
    return this.#unused >= MIN_UNUSED && this.#unused * 2 > this.size;
  }

  text(record: number): string {
    const block = this.#texts[Math.floor(record / BLOCK_ROWS)];
    return block?.text(record % BLOCK_ROWS) ?? this.#open[record % BLOCK_ROWS] ?? '';
  }

  /** The number of a record that is not empty. @throws RangeError beyond 16 million */
  numberOf(text: string): number {
    const hash = hashOf(text);
    const known = this.#find(hash, text);
    if (known !== undefined) return known;
    const record = this.size;
    if (record >= MAX_RECORDS) throw new RangeError(`A table has at most ${MAX_RECORDS} different records.`);
    this.#add(text, hash);
    return record;
  }

  /** Counts an entry that has the record, or has it no longer. */
  count(record: number, by: 1 | -1): void {
    if (record >= this.#uses.length) {
      const uses = new Uint32Array(2 * record);
      uses.set(this.#uses);
      this.#uses = uses;
    }
    const before = this.#uses[record] ?? 0;
    this.#uses[record] = before + by;
    if (before === 0) this.#unused -= 1;
    else if (before + by === 0) this.#unused += 1;
  }

  #add(text: string, hash: number): void {
    this.#insert(hash, this.size);
    this.#open.push(text);
    this.#bytes += 2 * text.length;
    if (this.#open.length < BLOCK_ROWS) return;
    const block = pack(textArrays(this.#open));
    this.#bytes += block.bytes.length - 2 * this.#open.reduce((sum, { length }) => sum + length, 0);
    this.#texts.push(new TextBlock(new Unpacked(block)));
    this.#open = [];
  }

  /** Marks the records that one of the searches finds. */
  async search(searches: readonly SearchInBytes[]): Promise<RecordMarks> {
    let marks = new Uint8Array(0);
    let marked = 0;
    let isAny = false;
    const hit = (record: number) => {
      marks[record] = 1;
      isAny = true;
    };
    const grow = () => {
      if (marks.length >= this.size) return;
      const larger = new Uint8Array(2 * this.size);
      larger.set(marks);
      marks = larger;
    };
    const found = new Int32Array(WORDS);
    for (let number = 0; number < this.#texts.length; number += 1) {
      if (number % BLOCKS_PER_TURN === BLOCKS_PER_TURN - 1) await nextTurn();
      grow();
      found.fill(0);
      for (const search of searches) this.#texts[number]?.search(search, found);
      eachMarked(found, (at) => hit(number * BLOCK_ROWS + at));
      marked += BLOCK_ROWS;
    }
    return () => {
      grow();
      for (; marked < this.size; marked += 1)
        if (searches.some((search) => has(this.text(marked), search))) hit(marked);
      return isAny ? marks : undefined;
    };
  }

  #find(hash: number, text: string): number | undefined {
    const part = this.#index[hash >>> 24] ?? new Uint32Array(0);
    const slots = part.length / 2;
    for (let looked = 0; looked < LOOKED_AT; looked += 1) {
      const at = 2 * ((hash + looked) & (slots - 1));
      const record = part[at + 1] ?? 0;
      if (record === 0) return undefined;
      if (part[at] === hash && this.text(record - 1) === text) return record - 1;
    }
    return undefined;
  }

  #insert(hash: number, record: number): void {
    this.#unused += 1;
    const number = hash >>> 24;
    let part = this.#index[number] ?? new Uint32Array(0);
    const taken = (this.#taken[number] ?? 0) + 1;
    this.#taken[number] = taken;
    if (taken * 5 >= part.length * 1.5) {
      const larger = new Uint32Array(2 * part.length);
      for (let at = 0; at < part.length; at += 2)
        if (part[at + 1] !== 0) place(larger, part[at] as number, part[at + 1] as number);
      part = larger;
      this.#index[number] = part;
    }
    place(part, hash, record + 1);
  }
}

function place(part: Uint32Array, hash: number, value: number): void {
  const slots = part.length / 2;
  for (let looked = 0; looked < LOOKED_AT; looked += 1) {
    const at = 2 * ((hash + looked) & (slots - 1));
    if (part[at + 1] !== 0) continue;
    part[at] = hash;
    part[at + 1] = value;
    return;
  }
}

/** FNV-1a, mixed. */
function hashOf(text: string): number {
  let hash = 0x811c_9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x0100_0193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85eb_ca6b);
  return (hash ^ (hash >>> 13)) >>> 0;
}
