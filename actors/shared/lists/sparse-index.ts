/**
 * Pages anywhere in long lists of rows with the keys […, time, id]. A row that is skipped unread costs 0.2 µs, so a list of a
 * million has a sparse index in memory: the key of about every 512th row, made as far as a page needs it. A committed step
 * marks the blocks of its rows, which are counted again before they are next passed.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ActorStore, Row, Step } from '@sealwright/runtime';
import { mergedRows, rowPieces } from './stored-rows.ts';

/** Rows of a block when it is made; one that has twice as many becomes several. */
const BLOCK_SIZE = 512;
/** Rows that are skipped rather than that an index is used: less than two milliseconds. */
const NEAR = 8_192;
/** Blocks that are made between two turns of the event loop: about a millisecond. */
const BLOCKS_PER_TURN = 8;
/** Indexes at most, of some hundred KB for a million rows; those that were used least recently give way. */
const MAX_INDEXES = 256;
/** Attempts to find a place while others change the rows before it. */
const MAX_ATTEMPTS = 8;
/** Rows of several lists that are merged without an index: also the first pages of all kinds of events. */
const FEW = 4_096;

type Store = Pick<ActorStore, 'rows'>;
type Prefix = readonly (string | number)[];
/** The last two parts of a key. */
type Place = readonly [time: number, id: string];

/** Rows of a list. */
export interface IndexedList {
  readonly view: string;
  /** Actors that have the rows. */
  readonly kind: string;
  /** First parts of the keys. */
  readonly prefix: Prefix;
  /** Number of all rows. */
  readonly total: number;
}

export interface IndexPart extends Omit<IndexedList, 'prefix'> {
  readonly prefix?: Prefix;
  readonly newestFirst: boolean;
  /** Rows to skip. */
  readonly offset: number;
  readonly limit: number;
}

/** Rows of a page, read from the nearer end. @param indexes where the page is far from both ends */
export async function rowsAt(
  store: Store,
  part: IndexPart,
  indexes?: SparseIndexes,
): Promise<readonly Row[]> {
  const { view, kind, prefix = [], newestFirst, offset, limit, total } = part;
  const count = Math.min(limit, total - offset);
  if (count <= 0) return [];
  const behind = total - offset - count;
  if (indexes !== undefined && Math.min(offset, behind) > NEAR) {
    const rows = await indexes.rows({ view, kind, prefix }, newestFirst ? behind : offset, count);
    return newestFirst ? rows.toReversed() : rows;
  }
  // Where it costs little the rows are counted from the asked end: they stay right while others are added at the far one.
  const isForward = offset <= Math.max(behind, NEAR);
  const reverse = isForward ? newestFirst : !newestFirst;
  const range = { view, prefix, reverse };
  let skipped = isForward ? offset : behind;
  let after: Row['key'] | undefined;
  for (; skipped > NEAR; skipped -= NEAR) {
    const [last] = await store.rows({ ...range, offset: NEAR - 1, limit: 1, ...(after && { after }) });
    if (last === undefined) return [];
    after = last.key;
    await nextTurn();
  }
  const most = isForward ? limit : count;
  const rows = await store.rows({ ...range, offset: skipped, limit: most, ...(after && { after }) });
  return isForward ? rows : rows.toReversed();
}

/**
 * Rows of several lists, newest first; those of one time in the order of the lists.
 * @param indexes where the page is far from the start
 */
export async function newestOf(
  store: Store,
  lists: readonly IndexedList[],
  { offset, limit }: Pick<IndexPart, 'offset' | 'limit'>,
  indexes?: SparseIndexes,
): Promise<readonly Row[]> {
  const end = offset + limit;
  const most = Math.min(end, totalOf(lists)) * lists.length;
  if (indexes !== undefined && most > FEW) return indexes.newest(lists, offset, limit);
  const rows = await Promise.all(
    lists.map(({ view, prefix }) => store.rows({ view, prefix, reverse: true, limit: end })),
  );
  return rows
    .flat()
    .sort((a, b) => timeOf(b) - timeOf(a))
    .slice(offset, end);
}

function totalOf(lists: readonly IndexedList[]): number {
  return lists.reduce((sum, list) => sum + list.total, 0);
}

export class SparseIndexes {
  readonly #store: Store;
  /** By view and prefix, the one used last at the end. */
  readonly #indexes = new Map<string, SparseIndex>();
  /** Kinds of actors with rows in lists. */
  readonly #kinds = new Set<string>();

  constructor(store: Store) {
    this.#store = store;
  }

  /** Processes a committed step. */
  observe(step: Step): void {
    // The rows of a step of another node are parsed when they are read.
    if (!this.#kinds.has(step.actor.address.kind)) return;
    const { rows } = step;
    for (const changed of [rows.put, rows.remove])
      for (const { view, key } of changed)
        this.#indexes.get(nameOf(view, key.slice(0, -2)))?.observe(placeOf(key));
  }

  /** @param first number of the first row in ascending order, from 0 */
  rows(list: Omit<IndexedList, 'total'>, first: number, limit: number): Promise<readonly Row[]> {
    return this.#index(list).rows(first, limit);
  }

  /** As `newestOf`. */
  async newest(lists: readonly IndexedList[], offset: number, limit: number): Promise<readonly Row[]> {
    const total = totalOf(lists);
    const count = Math.min(limit, total - offset);
    if (count <= 0) return [];
    const indexes = lists.map((list) => this.#index(list));
    // Oldest first, so those of one time in the opposite order.
    const first = total - offset - count;
    for (let attempt = 1; ; attempt += 1) {
      // One may change while the next one is prepared.
      const before = indexes.map(({ changes }) => changes);
      for (const [at, index] of indexes.entries()) await index.prepare(lists[at]?.total ?? 0);
      const time = cutBefore(indexes, lists, first);
      let passed = 0;
      for (const index of indexes) passed += await index.countBefore(time);
      const found: Row[] = [];
      const since = { from: time, most: BLOCK_SIZE / 4 };
      for await (const row of mergedRows(this.#store, lists.toReversed(), since)) {
        if (passed >= first) found.push(row);
        passed += 1;
        if (found.length === count) break;
      }
      if (attempt === MAX_ATTEMPTS || indexes.every(({ changes }, at) => changes === before[at]))
        return found.reverse();
    }
  }

  #index({ view, kind, prefix }: Omit<IndexedList, 'total'>): SparseIndex {
    this.#kinds.add(kind);
    const name = nameOf(view, prefix);
    const index = this.#indexes.get(name) ?? new SparseIndex(this.#store, view, prefix);
    // The one that is used last is the last one.
    this.#indexes.delete(name);
    this.#indexes.set(name, index);
    const [oldest] = this.#indexes.keys();
    if (this.#indexes.size > MAX_INDEXES && oldest !== undefined) this.#indexes.delete(oldest);
    return index;
  }
}

/** The latest time known before which all lists together have at most so many rows. */
function cutBefore(indexes: readonly SparseIndex[], lists: readonly IndexedList[], rows: number): number {
  const times = [...new Set(indexes.flatMap((index) => index.times))].sort((a, b) => a - b);
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    let most = 0;
    for (const [at, index] of indexes.entries())
      most += index.mostBefore(times[middle] ?? 0, lists[at]?.total ?? 0);
    if (most <= rows) low = middle + 1;
    else high = middle;
  }
  return times[low - 1] ?? 0;
}

interface FoundPlace {
  readonly at: number;
  readonly before: number;
  /** Changes before it was found. */
  readonly changes: number;
}

interface CountedBlock {
  readonly count: number;
  /** The place of each 512th row. */
  readonly ends: readonly Place[];
}

/** Of one list, in ascending order. Behind the last block is the rest of the list. */
class SparseIndex {
  readonly #store: Store;
  readonly #view: string;
  readonly #prefix: Prefix;
  /** The last place of each block: what is behind the one before and not behind this one is in it. */
  readonly #ends: Place[] = [];
  readonly #counts: number[] = [];
  /** True for a block whose number of rows may have changed. */
  readonly #changed: boolean[] = [];
  /** Places behind the last block that have changed while the next one is made; undefined: none is made. */
  #seen: Place[] | undefined;
  /** Changes of rows in blocks. */
  changes = 0;
  /** One page after the other finds its place. */
  #work: Promise<unknown> = Promise.resolve();

  constructor(store: Store, view: string, prefix: Prefix) {
    this.#store = store;
    this.#view = view;
    this.#prefix = prefix;
  }

  /** A row at this place was added, changed or removed. */
  observe(place: Place): void {
    const at = this.#blockOf(place);
    if (at === this.#ends.length) this.#seen?.push(place);
    else {
      this.#changed[at] = true;
      this.changes += 1;
    }
  }

  /** @param first rows before the first one */
  async rows(first: number, limit: number): Promise<readonly Row[]> {
    for (let attempt = 1; ; attempt += 1) {
      const { at, before, changes } = await this.#placed(first);
      const rows = await this.#read(at, first - before, limit);
      if (this.changes === changes || attempt === MAX_ATTEMPTS) return rows;
    }
  }

  /** Makes the index of all rows. */
  async prepare(total: number): Promise<void> {
    await this.#placed(total);
  }

  /** The times at the ends of its blocks. */
  get times(): readonly number[] {
    return this.#ends.map(([time]) => time);
  }

  /** The most rows that may be before a time. */
  mostBefore(time: number, total: number): number {
    const at = this.#blockOf([time, '']);
    return at === this.#ends.length ? total : this.#sum(at + 1);
  }

  /** Rows before a time. */
  async countBefore(time: number): Promise<number> {
    const at = this.#blockOf([time, '']);
    const before = this.#sum(at);
    const isBefore = async (row: number) => {
      const [its] = await this.#read(at, row, 1);
      return its !== undefined && timeOf(its) < time;
    };
    let low = 0;
    let high = this.#counts[at] ?? BLOCK_SIZE;
    const isRest = at === this.#ends.length;
    while (isRest && (await isBefore(high))) high *= 2;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (await isBefore(middle)) low = middle + 1;
      else high = middle;
    }
    return before + low;
  }

  #sum(blocks: number): number {
    let sum = 0;
    for (let at = 0; at < blocks; at += 1) sum += this.#counts[at] ?? 0;
    return sum;
  }

  /** The block that has a row, or the rest, and the rows before it. */
  async #placed(row: number): Promise<FoundPlace> {
    const found = this.#work.then(() => this.#find(row));
    this.#work = found.catch(() => {});
    return found;
  }

  async #find(row: number): Promise<FoundPlace> {
    for (let attempt = 1; ; attempt += 1) {
      const { changes } = this;
      let isSame = true;
      let at = 0;
      let before = 0;
      while (at < this.#ends.length) {
        if (this.#isChanged(at)) {
          isSame = false;
          const blocks = this.#ends.length;
          await this.#count(at);
          await nextTurn();
          // It had no row left: the next one is in its place.
          if (this.#ends.length < blocks) continue;
        }
        const count = this.#counts[at] ?? 0;
        if (before + count > row) break;
        before += count;
        at += 1;
      }
      while (at === this.#ends.length && row - before >= BLOCK_SIZE && (await this.#add())) {
        isSame = false;
        before += BLOCK_SIZE;
        at += 1;
        if (at % BLOCKS_PER_TURN === 0) await nextTurn();
      }
      if (isSame || attempt === MAX_ATTEMPTS) return { at, before, changes };
    }
  }

  /** Makes the next block; false where fewer rows are left. */
  async #add(): Promise<boolean> {
    const at = this.#ends.length;
    const seen: Place[] = [];
    this.#seen = seen;
    try {
      const [last] = await this.#read(at, BLOCK_SIZE - 1, 1);
      if (last === undefined) return false;
      const end = placeOf(last.key);
      this.#changed.push(seen.some((place) => !isBehind(place, end)));
      this.#ends.push(end);
      this.#counts.push(BLOCK_SIZE);
      return true;
    } finally {
      this.#seen = undefined;
    }
  }

  /** Counts the rows of a block. */
  async #count(at: number): Promise<void> {
    const end = this.#ends[at];
    if (end === undefined) return;
    this.#changed[at] = false;
    const { count, ends } = await this.#inside(at, end).catch((error: unknown) => {
      this.#changed[at] = true;
      throw error;
    });
    // Changed meanwhile: it is counted once more.
    if (this.#isChanged(at)) return;
    this.#counts[at] = count;
    if (count >= 2 * BLOCK_SIZE) {
      const parts = ends.slice(0, -1);
      this.#ends.splice(at, 0, ...parts);
      this.#counts.splice(at, 1, ...parts.map(() => BLOCK_SIZE), count - parts.length * BLOCK_SIZE);
      this.#changed.splice(at, 0, ...parts.map(() => false));
    }
    if (count === 0) for (const column of [this.#ends, this.#counts, this.#changed]) column.splice(at, 1);
  }

  async #inside(at: number, end: Place): Promise<CountedBlock> {
    const ends: Place[] = [];
    let count = 0;
    const range = { view: this.#view, prefix: this.#prefix };
    for await (const rows of rowPieces(this.#store, range, { after: this.#after(at), most: BLOCK_SIZE })) {
      const inside = rows.map(({ key }) => placeOf(key)).filter((place) => !isBehind(place, end));
      for (const place of inside) {
        count += 1;
        if (count % BLOCK_SIZE === 0) ends.push(place);
      }
      if (inside.length < rows.length) break;
    }
    return { count, ends };
  }

  #isChanged(at: number): boolean {
    return this.#changed[at] === true;
  }

  /** Rows behind the start of a block. */
  #read(at: number, offset: number, limit: number): Promise<readonly Row[]> {
    const after = this.#after(at);
    return this.#store.rows({
      view: this.#view,
      prefix: this.#prefix,
      offset,
      limit,
      ...(after && { after }),
    });
  }

  #after(at: number): Row['key'] | undefined {
    const end = this.#ends[at - 1];
    return end && [...this.#prefix, ...end];
  }

  /** The block that a place belongs to. */
  #blockOf(place: Place): number {
    let low = 0;
    let high = this.#ends.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const end = this.#ends[middle];
      if (end !== undefined && isBehind(place, end)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function nameOf(view: string, prefix: Prefix): string {
  return [view, ...prefix].join('\0');
}

function placeOf(key: Row['key']): Place {
  return [Number(key.at(-2)), String(key.at(-1))];
}

function timeOf({ key }: Pick<Row, 'key'>): number {
  return Number(key.at(-2));
}

function isBehind([time, id]: Place, [otherTime, otherId]: Place): boolean {
  return time === otherTime ? id > otherId : time > otherTime;
}
