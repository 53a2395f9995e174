/**
 * Fills pages that LMDB leaves half empty. It splits a full page in the middle, unless the new entry is the last one of the
 * page: so what grows in the middle of a database, as each list of rows does, has pages of which one half stays empty. The
 * entries of such pages, once they have not changed for a while, are removed and put again in their order: each page is then
 * full before the next one begins.
 *
 * Pages know the transaction that wrote them: a pass reads those alone that changed since the pass before, but not since the
 * last one. What it found is kept in `meta`, so that a start reads nothing again.
 *
 * Source: docs/decisions/0295-ended-actors-are-packed.md; `mdb.c` of lmdb 3.5.6, mdb_page_split.
 */
import { HEADER, LEAF, NODE_BYTES, ON_OVERFLOW_PAGES } from './lmdb-check.ts';
import { keyAt, nodesOf, type Pages, transactionOf, withPages } from './lmdb-pages.ts';
import type { Key, Tables } from './lmdb-tables.ts';

/** Tables whose pages are filled, with their names in the file. */
const REFILLED = ['actors', 'journal', 'rows', 'names'] as const;

/** Entries of neighbouring pages, from the first to the last one. */
export interface LooseRange {
  readonly table: (typeof REFILLED)[number];
  readonly first: Key;
  readonly last: Key;
}

/** Key in `meta` of the transaction up to which pages were filled. */
const REFILLED_UNTIL: Key = ['refilled'];

/** Pages of a range: a transaction takes some milliseconds for one. */
const PAGES_OF_RANGE = 16;
/** A range begins and ends with a page that is not fuller. */
const LOOSE = 0.8;
/** Part of the first page that stays: with less, LMDB would join it to a page outside of the range. */
const STAYS = 0.35;
/** Bytes of the place of an entry in its page. */
const PLACE_BYTES = 2;
/** Least part of the pages of a range that is gained. */
const LEAST_GAIN = 0.25;
/** Pages read between two pauses: about a millisecond. */
const PAGES_PER_TURN = 256;
/** Ranges found at once. */
const MOST_RANGES = 2000;
/** Stands in text for bytes that are none: they would be changed. */
const NO_TEXT = '\ufffd';

class Paused extends Error {}

/** One pass after another through the pages. */
export class Refilling {
  /** Transaction of the pass before; pages that changed later are left to the next one. */
  #settled = 0;

  /**
   * @param tables of a store that stays open until it resolves
   * @param write puts the entries of a range again, and notes how far the pages were gone through
   * @param goesOn called often; waits a moment, false ends the pass
   */
  async pass(
    tables: Pick<Tables, 'root' | 'meta'>,
    folder: string,
    write: (ranges: readonly LooseRange[], until: number) => Promise<void>,
    goesOn: () => Promise<boolean>,
  ): Promise<void> {
    const settled = this.#settled;
    const after = refilledUntil(tables);
    let firstOfAll: Key | undefined;
    for (let isCut = true; isCut; ) {
      const found = await withPages(tables.root, folder, async (pages) => {
        this.#settled = pages.transaction;
        return settled > after ? new LoosePages(pages, after, settled, goesOn).ranges() : undefined;
      });
      if (found === undefined) return;
      // A range that cannot be put again is found again: a pass that is cut does not end by itself then.
      const first = found.ranges[0]?.first;
      if (firstOfAll !== undefined && String(first) === String(firstOfAll)) return;
      firstOfAll = first;
      for (const range of found.ranges) {
        await write([range], after);
        if (!(await goesOn())) return;
      }
      isCut = found.isCut;
      if (!isCut && found.pages > 0) await write([], settled);
    }
  }
}

function refilledUntil({ meta }: Pick<Tables, 'meta'>): number {
  return Number(meta.get(REFILLED_UNTIL) ?? 0);
}

/** Puts the entries of ranges again, in a transaction. */
export function writeRefilled(tables: Tables, ranges: readonly LooseRange[], until: number): void {
  for (const range of ranges) putAgain(tables, range);
  if (until > refilledUntil(tables)) void tables.meta.put(REFILLED_UNTIL, String(until));
}

function putAgain(tables: Tables, { table: name, first, last }: LooseRange): void {
  const table = tables[name];
  const versions = name === 'actors';
  const read = () => {
    const all = [...table.getRange({ start: first, end: last, inclusiveEnd: true, versions })];
    return all.every(({ key, value }) => !value.includes(NO_TEXT) && table.doesExist(key)) ? all : [];
  };
  const entries = unlessDamaged(read);
  // The last ones first: LMDB joins a page that is nearly empty to the one before it.
  for (const { key } of entries.toReversed()) void table.remove(key);
  for (const { key, value, version } of entries)
    void (version === undefined ? table.put(key, value) : table.put(key, value, version));
}

/**
 * None where a key or a page cannot be read: nothing was written yet, and no step of the same transaction fails. A long text
 * with control characters is such a key: lmdb-js reads another one than it wrote.
 */
function unlessDamaged<Entry>(read: () => readonly Entry[]): readonly Entry[] {
  try {
    return read();
  } catch {
    return [];
  }
}

interface Leaf {
  readonly first: Key;
  /** First key behind the part that stays; undefined if there is none. */
  readonly rest: Key | undefined;
  readonly last: Key;
  /** Part of the page that is in use. */
  readonly fill: number;
  /** Bytes of its entries. */
  readonly sizes: readonly number[];
}

/**
 * Pages that entries take once they were put in order: LMDB moves the last entry of a full page to the page of the next one.
 * So large entries may take more pages than before.
 */
function pagesInOrder(run: readonly Leaf[], room: number): number {
  let pages = 1;
  let used = 0;
  let before = 0;
  for (const size of run.flatMap(({ sizes }) => sizes)) {
    const fits = used + size <= room;
    if (!fits) pages += 1;
    used = (fits ? used : before) + size;
    before = size;
  }
  return pages;
}

function bytesOf(page: Buffer, node: number): number {
  const bytes = NODE_BYTES + page.readUInt16LE(node + 6) + page.readUInt32LE(node);
  return bytes + (bytes % 2) + PLACE_BYTES;
}

class LoosePages {
  readonly #pages: Pages;
  readonly #after: number;
  readonly #settled: number;
  readonly #goesOn: () => Promise<boolean>;
  readonly #ranges: LooseRange[] = [];
  #table: LooseRange['table'] = 'actors';
  /** Neighbours, from one that is loose on. */
  #run: Leaf[] = [];
  #read = 0;

  constructor(pages: Pages, after: number, settled: number, goesOn: () => Promise<boolean>) {
    this.#pages = pages;
    this.#after = after;
    this.#settled = settled;
    this.#goesOn = goesOn;
  }

  /** `isCut`: there are more than were found at once. */
  async ranges(): Promise<{ ranges: readonly LooseRange[]; pages: number; isCut: boolean } | undefined> {
    try {
      for (this.#table of REFILLED) {
        const tree = this.#pages.treeNamed(this.#table);
        if (tree !== undefined && tree.depth > 1) await this.#walk(tree.root);
        this.#endRun();
      }
    } catch (error) {
      if (error instanceof Paused) return undefined;
      throw error;
    }
    return { ranges: this.#ranges, pages: this.#read, isCut: this.#ranges.length >= MOST_RANGES };
  }

  async #walk(number: number): Promise<void> {
    if (this.#ranges.length >= MOST_RANGES) return;
    const page = this.#pages.read(number);
    const transaction = transactionOf(page);
    if (transaction <= this.#after) {
      this.#endRun();
      return;
    }
    this.#read += 1;
    if (this.#read % PAGES_PER_TURN === 0 && !(await this.#goesOn())) throw new Paused();
    if ((page.readUInt16LE(18) & LEAF) === 0) {
      // The first page of a branch is joined to the one behind it.
      this.#endRun();
      for (const node of nodesOf(page)) await this.#walk(page.readUIntLE(node, 6));
      this.#endRun();
    } else if (transaction > this.#settled) this.#endRun();
    else this.#add(page);
  }

  #add(page: Buffer): void {
    const nodes = nodesOf(page);
    const first = nodes[0];
    const last = nodes.at(-1);
    const isSmall = nodes.every((node) => (page.readUInt16LE(node + 4) & ON_OVERFLOW_PAGES) === 0);
    if (first === undefined || last === undefined || !isSmall) {
      this.#endRun();
      return;
    }
    const room = this.#pages.size - HEADER;
    const fill = 1 - (page.readUInt16LE(22) - page.readUInt16LE(20)) / room;
    if (this.#run.length === 0 && fill > LOOSE) return;
    const rest = nodes[Math.ceil((nodes.length * STAYS) / fill)];
    this.#run.push({
      first: keyAt(page, first),
      rest: rest === undefined ? undefined : keyAt(page, rest),
      last: keyAt(page, last),
      fill,
      sizes: nodes.map((node) => bytesOf(page, node)),
    });
    if (this.#run.length === PAGES_OF_RANGE) this.#endRun();
  }

  #endRun(): void {
    const run = this.#run.slice(0, this.#run.findLastIndex(({ fill }) => fill <= LOOSE) + 1);
    this.#run = [];
    const first = run[0]?.rest ?? run[1]?.first;
    const last = run.at(-1)?.last;
    if (first === undefined || last === undefined) return;
    const gained = run.length - pagesInOrder(run, this.#pages.size - HEADER);
    if (gained >= Math.max(1, run.length * LEAST_GAIN))
      this.#ranges.push({ table: this.#table, first, last });
  }
}
