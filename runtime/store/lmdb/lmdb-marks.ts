/**
 * Named transactions, and which rows may have changed since one of them. LMDB writes each page that it changes anew, with the
 * number of the transaction, and so each page above it: what lies below an older page is as it was. A row that was removed
 * lies in the range of a page that was written, since LMDB writes the page that it joins another one to.
 *
 * A file that was restored has the names of its own past alone: what is kept for another name is not taken for its own.
 *
 * Source: docs/decisions/0294-tables-kept-over-a-start.md; `mdb.c` of lmdb 3.5.6, struct MDB_page, mdb_page_merge.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { KeyRange } from '../../model/ports.ts';
import { LEAF } from './lmdb-check.ts';
import { keyAt, nodesOf, type Pages, transactionOf, withPages } from './lmdb-pages.ts';
import { type Key, parseStored, type Tables } from './lmdb-tables.ts';

/** A mark that has ended has a third element. */
type Marks = readonly (readonly [name: string, transaction: number, hasEnded?: 1])[];

const MARKS: Key = ['all'];
/** Written pages and ranges that are looked at; with more, it is not known what has changed. */
const MAX_PAGES = 400_000;
const MAX_RANGES = 100_000;
/** Pages read between two turns of the event loop: about a millisecond. */
const PAGES_PER_TURN = 256;

function marksOf(text: string | undefined): Marks {
  return text === undefined ? [] : parseStored<Marks>(text);
}

/** Inside of a transaction. The first call begins a mark, the second one ends it. Keeps the last one of its kind that ended. */
export function writeMark({ root, marks }: Pick<Tables, 'root' | 'marks'>, name: string): void {
  const all = marksOf(marks.get(MARKS));
  const begun = all.find(([its]) => its === name);
  const kind = name.slice(0, name.indexOf('/') + 1);
  const others = all.filter((mark) => mark !== begun);
  const last = others.findLast(([its, , hasEnded]) => its.startsWith(kind) && hasEnded);
  const kept = others.filter((mark) => mark === last || !mark[0].startsWith(kind));
  const mark = begun === undefined ? [name, root.getWriteTxnId()] : [name, begun[1], 1];
  marks.putSync(MARKS, JSON.stringify([...kept, mark]));
}

export async function changedRows(
  { root, marks }: Pick<Tables, 'root' | 'marks'>,
  folder: string,
  name: string,
  view: string,
): Promise<readonly KeyRange[] | undefined> {
  const mark = marksOf(marks.get(MARKS)).find(([its]) => its === name);
  if (mark?.[2] === undefined) return undefined;
  const since = mark[1];
  return withPages(root, folder, (pages) => new Changes(pages, since, view).ranges());
}

class Changes {
  readonly #pages: Pages;
  readonly #since: number;
  readonly #view: string;
  readonly #ranges: KeyRange[] = [];
  #read = 0;

  constructor(pages: Pages, since: number, view: string) {
    this.#pages = pages;
    this.#since = since;
    this.#view = view;
  }

  async ranges(): Promise<readonly KeyRange[] | undefined> {
    const marks = this.#pages.treeNamed('marks');
    // Its page was written with the mark, or with a later one. A copy that LMDB has made compact numbers all pages anew.
    if (marks === undefined || transactionOf(this.#pages.read(marks.root)) < this.#since) return undefined;
    const rows = this.#pages.treeNamed('rows');
    return rows !== undefined && (await this.#walk(rows.root, {})) ? this.#ranges : undefined;
  }

  /** @param within keys as stored, which begin with the view. @returns false if there is too much */
  async #walk(number: number, within: KeyRange): Promise<boolean> {
    const page = this.#pages.read(number);
    if (transactionOf(page) <= this.#since) return true;
    this.#read += 1;
    if (this.#read > MAX_PAGES) return false;
    if (this.#read % PAGES_PER_TURN === 0) await nextTurn();
    if ((page.readUInt16LE(18) & LEAF) !== 0) return this.#add(within);
    const nodes = nodesOf(page);
    // The first key of a branch is none: it stands for all that is smaller.
    const starts = nodes.map((node, at) => (at === 0 ? within.from : keyAt(page, node)));
    for (const [at, node] of nodes.entries()) {
      const from = starts[at];
      const to = at + 1 < nodes.length ? starts[at + 1] : within.to;
      if (
        (to !== undefined && String(to[0]) < this.#view) ||
        (from !== undefined && String(from[0]) > this.#view)
      )
        continue;
      const below = { ...(from && { from }), ...(to && { to }) };
      if (!(await this.#walk(page.readUIntLE(node, 6), below))) return false;
    }
    return true;
  }

  #add({ from, to }: KeyRange): boolean {
    const own = {
      ...(from?.[0] === this.#view && { from: from.slice(1) }),
      ...(to?.[0] === this.#view && { to: to.slice(1) }),
    };
    const last = this.#ranges.at(-1);
    if (last?.to !== undefined && JSON.stringify(last.to) === JSON.stringify(own.from))
      this.#ranges[this.#ranges.length - 1] = {
        ...(last.from && { from: last.from }),
        ...(own.to && { to: own.to }),
      };
    else this.#ranges.push(own);
    return this.#ranges.length <= MAX_RANGES;
  }
}
