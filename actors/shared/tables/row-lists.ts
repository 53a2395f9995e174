/**
 * Lists of rows with the keys […, time, id], searched by a text. Long ones are kept in memory: they are read from the rows
 * when a search first needs them, and follow the committed steps.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ActorStore, Row, Step } from '@sealwright/runtime';
import { containing, countOf, pageOfRows, rowPieces } from './row-pages.ts';
import { rowsAt, SparseIndexes } from './sparse-index.ts';
import { foldText } from './texts.ts';

/** Rows from which on a list is kept in memory; fewer are read within 2 ms. */
const MANY = 1_000;
/** Memory of all lists, bytes, and of a row beside its text; lists that were used least recently give way. */
const MAX_BYTES = 2 ** 28;
const BYTES_EACH = 120;
/** Texts per turn of the event loop: one or two milliseconds of the thread. */
const TEXTS_PER_TURN = 32_768;

export interface ListOfRows {
  readonly view: string;
  /** Actors that have the rows. */
  readonly kind: string;
  /** First parts of the keys. */
  readonly prefix: readonly string[];
  /** Counter of the rows. */
  readonly counter: string;
  /** Text that is searched, the same for all lists of a view. */
  readonly textOf: (row: Pick<Row, 'value'>) => string;
}

export interface ListSearch {
  /** Part of the text, without regard to case. @default any */
  readonly q?: string | undefined;
  /** Ids that are not listed. */
  readonly except?: ReadonlySet<string>;
  readonly newestFirst: boolean;
  readonly limit: number;
  /** Pages from 0. */
  readonly offset: number;
}

interface IdPage {
  readonly ids: readonly string[];
  /** Of all pages. */
  readonly totalCount: number;
}

export class RowLists {
  readonly #store: Pick<ActorStore, 'rows' | 'counters' | 'nodes'>;
  readonly #maxBytes: number;
  /** By view and prefix, the one used last at the end. */
  readonly #lists = new Map<string, RowList>();
  /** Kinds of actors with rows in lists. */
  readonly #kinds = new Set<string>();
  /** For pages far from both ends of lists of this store. */
  readonly indexes: SparseIndexes;

  /** @param maxBytes memory of all lists; rows of others are read for each search */
  constructor(store: Pick<ActorStore, 'rows' | 'counters' | 'nodes'>, maxBytes = MAX_BYTES) {
    this.#store = store;
    this.#maxBytes = maxBytes;
    this.indexes = new SparseIndexes(store);
  }

  /** Processes a committed step. */
  observe(step: Step): void {
    this.indexes.observe(step);
    // The rows of a step of another node are parsed when they are read.
    if (this.#lists.size === 0 || !this.#kinds.has(step.actor.address.kind)) return;
    const { rows } = step;
    for (const { view, key } of rows.remove) this.#lists.get(nameOf(view, key.slice(0, -2)))?.observe(key);
    for (const row of rows.put)
      this.#lists.get(nameOf(row.view, row.key.slice(0, -2)))?.observe(row.key, row);
  }

  async page(list: ListOfRows, search: ListSearch): Promise<IdPage> {
    const { view, prefix, counter } = list;
    const isAll = !search.q && (search.except?.size ?? 0) === 0;
    if (isAll && (search.offset * search.limit < MANY || !this.#lists.has(nameOf(view, prefix))))
      return this.#walk(list, search);
    const count = await countOf(this.#store, counter);
    const kept = count < MANY ? undefined : await this.#kept(list, count);
    return kept === undefined ? this.#walk(list, search) : kept.page(search);
  }

  /** The ids of a list. */
  async ids(list: ListOfRows): Promise<Pick<ReadonlySet<string>, 'has'>> {
    const count = await countOf(this.#store, list.counter);
    const kept = count < MANY ? undefined : await this.#kept(list, count);
    if (kept !== undefined) return kept.known;
    const ids = new Set<string>();
    for await (const rows of rowPieces(this.#store, list)) for (const { key } of rows) ids.add(idOf(key));
    return ids;
  }

  /** A list in memory, up to date; undefined: it would take too much. */
  async #kept(list: ListOfRows, count: number): Promise<RowList | undefined> {
    if (count * BYTES_EACH > this.#maxBytes) return undefined;
    this.#kinds.add(list.kind);
    const name = nameOf(list.view, list.prefix);
    const known = this.#lists.get(name);
    const kept = known ?? new RowList(list);
    // The one that is used last is the last one.
    this.#lists.delete(name);
    this.#lists.set(name, kept);
    kept.building ??= this.#read(list, kept);
    const built = await kept.building.catch((error: unknown) => {
      if (this.#lists.get(name) === kept) this.#lists.delete(name);
      throw error;
    });
    if (built === undefined && this.#lists.get(name) === kept) this.#lists.delete(name);
    this.#makeRoom();
    return built;
  }

  /** Reads the rows of the page, or all rows where not all count. */
  async #walk({ textOf, ...range }: ListOfRows, { q, except, ...page }: ListSearch): Promise<IdPage> {
    const fits = containing(q, textOf);
    const isListed = (row: Row) => fits?.(row) !== false && except?.has(idOf(row.key)) !== true;
    if (fits !== undefined || (except?.size ?? 0) > 0) {
      const { rows, totalCount } = await pageOfRows(this.#store, { ...range, ...page, matches: isListed });
      return { ids: rows.map(({ key }) => idOf(key)), totalCount };
    }
    const total = await countOf(this.#store, range.counter);
    const part = { ...range, ...page, offset: page.offset * page.limit, total };
    const rows = await rowsAt(this.#store, part, this.indexes);
    return { ids: rows.map(({ key }) => idOf(key)), totalCount: total };
  }

  /** Undefined: it takes more memory than all lists may. */
  async #read({ view, prefix }: ListOfRows, into: RowList): Promise<RowList | undefined> {
    for await (const rows of rowPieces(this.#store, { view, prefix })) {
      for (const row of rows) into.add(row);
      if (into.bytes > this.#maxBytes) return undefined;
    }
    // The steps of other nodes whose rows were read.
    await this.#store.nodes?.sync();
    into.end();
    return into;
  }

  #makeRoom(): void {
    let bytes = 0;
    for (const list of this.#lists.values()) bytes += list.bytes;
    for (const [name, list] of this.#lists) {
      if (bytes <= this.#maxBytes) return;
      bytes -= list.bytes;
      this.#lists.delete(name);
    }
  }
}

function nameOf(view: string, prefix: Row['key']): string {
  return [view, ...prefix].join('\0');
}

/** Ids and texts of rows in the order of their keys. */
class RowList {
  readonly #textOf: ListOfRows['textOf'];
  #times: number[] = [];
  #ids: string[] = [];
  #texts: string[] = [];
  /** Steps seen while it is read: newer than the rows. Undefined: it is complete. */
  #seen: (readonly [key: Row['key'], row: Row | undefined])[] | undefined = [];
  /** Searches in progress, which see no change. */
  #searches = 0;
  /** The ids again, once they were asked for. */
  #known: Set<string> | undefined;
  bytes = 0;
  building: Promise<RowList | undefined> | undefined;

  constructor({ textOf }: Pick<ListOfRows, 'textOf'>) {
    this.#textOf = textOf;
  }

  /** A row that comes after all others. */
  add(row: Row): void {
    const text = foldText(this.#textOf(row));
    this.#times.push(timeOf(row.key));
    this.#ids.push(idOf(row.key));
    this.#texts.push(text);
    this.bytes += BYTES_EACH + text.length;
  }

  /** All rows were read. */
  end(): void {
    const seen = this.#seen ?? [];
    this.#seen = undefined;
    for (const [key, row] of seen) this.observe(key, row);
  }

  /** A row as of a committed step; none: it was removed. */
  observe(key: Row['key'], row?: Row): void {
    if (this.#seen !== undefined) {
      this.#seen.push([key, row]);
      return;
    }
    if (this.#searches > 0) {
      this.#times = [...this.#times];
      this.#ids = [...this.#ids];
      this.#texts = [...this.#texts];
      this.#searches = 0;
    }
    if (row === undefined) this.#known?.delete(idOf(key));
    else this.#known?.add(idOf(key));
    const at = this.#placeOf(timeOf(key), idOf(key));
    const isKnown = this.#ids[at] === idOf(key);
    if (isKnown) this.bytes -= BYTES_EACH + (this.#texts[at]?.length ?? 0);
    const known = isKnown ? 1 : 0;
    if (row === undefined) {
      for (const column of [this.#times, this.#ids, this.#texts]) column.splice(at, known);
      return;
    }
    const text = foldText(this.#textOf(row));
    this.#times.splice(at, known, timeOf(key));
    this.#ids.splice(at, known, idOf(key));
    this.#texts.splice(at, known, text);
    this.bytes += BYTES_EACH + text.length;
  }

  get known(): ReadonlySet<string> {
    this.#known ??= new Set(this.#ids);
    return this.#known;
  }

  async page({ q = '', except, newestFirst, limit, offset }: ListSearch): Promise<IdPage> {
    const wanted = foldText(q.trim());
    const all = this.#ids;
    const texts = this.#texts;
    const first = offset * limit;
    const ids: string[] = [];
    let totalCount = 0;
    if (wanted === '' && (except?.size ?? 0) === 0) {
      const from = first;
      const to = first + limit;
      const page = newestFirst
        ? all.slice(Math.max(0, all.length - to), Math.max(0, all.length - from)).reverse()
        : all.slice(from, to);
      return { ids: page, totalCount: all.length };
    }
    this.#searches += 1;
    for (let at = 0; at < all.length; at += 1) {
      if (at > 0 && at % TEXTS_PER_TURN === 0) await nextTurn();
      const place = newestFirst ? all.length - 1 - at : at;
      const id = all[place] ?? '';
      if (!texts[place]?.includes(wanted) || except?.has(id) === true) continue;
      if (totalCount >= first && ids.length < limit) ids.push(id);
      totalCount += 1;
    }
    if (all === this.#ids) this.#searches -= 1;
    return { ids, totalCount };
  }

  /** The place of a row, or where it would be. */
  #placeOf(time: number, id: string): number {
    let low = 0;
    let high = this.#ids.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const its = this.#times[middle] ?? 0;
      if (its < time || (its === time && (this.#ids[middle] ?? '') < id)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function timeOf(key: Row['key']): number {
  return Number(key.at(-2));
}

function idOf(key: Row['key']): string {
  return String(key.at(-1));
}
