/** Lists of rows with the keys […, time, id], searched by a text: a long one in a table that the first search makes. */
import type { ActorStore, Row, Step } from '@sealwright/runtime';
import { LRUCache } from 'lru-cache';
import { ObservedTable, type TableShape } from '../tables/observed-table.ts';
import { ObservedTables } from '../tables/observed-tables.ts';
import { containing, fieldsOf, foldText, isNowhere } from '../tables/texts.ts';
import { type FoundPart, pageOf, type TablePart } from './list.ts';
import { countOf, rowPieces } from './stored-rows.ts';

/** Memory of all tables, bytes, and the estimate for a row. */
const MAX_BYTES = 2 ** 28;
const BYTES_EACH = 250;
/** Ids that are kept in memory. */
const MAX_IDS = 1_000_000;

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

interface Facts {
  readonly id: string;
  readonly text: string;
}

/** Columns of texts. */
const ID = 0;
const TEXT = 1;

const SHAPE: TableShape<Facts> = {
  codes: 0,
  texts: 2,
  ids: ID,
  codesOf: () => [],
  textsOf: ({ id, text }) => [id, fieldsOf([foldText(text)])],
};

type Store = Pick<ActorStore, 'rows' | 'counters' | 'nodes'>;

export class RowLists {
  readonly #store: Store;
  readonly #maxBytes: number;
  readonly #tables: ObservedTables<Facts>;
  /** Texts of the views that have tables. */
  readonly #texts = new Map<string, ListOfRows['textOf']>();
  /** Kinds of actors with rows in tables, or ids in memory. */
  readonly #kinds = new Set<string>();
  /** Ids of lists. */
  readonly #ids = new LRUCache<string, Set<string>>({
    maxSize: MAX_IDS,
    sizeCalculation: ({ size }) => size + 1,
  });
  /** Raised by each step that changes rows: ids that were read before it are not kept. */
  #steps = 0;

  /** @param maxBytes memory of all tables; rows of other lists are read for each search */
  constructor(store: Store, maxBytes = MAX_BYTES) {
    this.#store = store;
    this.#maxBytes = maxBytes;
    this.#tables = new ObservedTables(maxBytes);
  }

  /** Processes a committed step. */
  observe(step: Step): void {
    // The rows of a step of another node are parsed when they are read.
    if (!this.#kinds.has(step.actor.address.kind)) return;
    this.#steps += 1;
    const { rows } = step;
    for (const { view, key } of rows.remove) {
      const name = nameOf(view, key.slice(0, -2));
      this.#tables.get(name)?.observe(timeOf(key), undefined, idOf({ key }));
      this.#ids.get(name)?.delete(idOf({ key }));
    }
    for (const row of rows.put) {
      this.#addId(nameOf(row.view, row.key.slice(0, -2)), idOf(row));
      const textOf = this.#texts.get(row.view);
      if (textOf === undefined) continue;
      const facts = { id: idOf(row), text: textOf(row) };
      this.#tables.get(nameOf(row.view, row.key.slice(0, -2)))?.observe(timeOf(row.key), facts, facts.id);
    }
  }

  /** The bound counts a list anew when it has grown to the next power of two. */
  #addId(name: string, id: string): void {
    const ids = this.#ids.get(name);
    if (ids === undefined || ids.has(id)) return;
    ids.add(id);
    if ((ids.size & (ids.size - 1)) !== 0) return;
    this.#ids.delete(name);
    this.#ids.set(name, ids);
  }

  /** The ids of one page. */
  async page(list: ListOfRows, search: ListSearch): Promise<IdPage> {
    const { view, prefix } = list;
    const { q = '', except, newestFirst, limit, offset } = search;
    const size = await countOf(this.#store, list.counter);
    const contains = containing(q, list.textOf);
    const hides = except === undefined || except.size === 0 ? undefined : except;
    const isAll = contains === undefined && hides === undefined;
    const fits = (row: Row) => contains?.(row) !== false && hides?.has(idOf(row)) !== true;
    const isSmall = size * BYTES_EACH <= this.#maxBytes;
    const { items, totalCount } = await pageOf(
      this.#store,
      {
        ranges: [{ view, prefix }],
        fits: isAll ? undefined : fits,
        total: isAll ? size : undefined,
        size,
        itemOf: idOf,
        table: isSmall && !isAll ? (part) => this.#pageOfTable({ ...list, size }, search, part) : undefined,
      },
      { newestFirst, limit, offset: offset * limit },
    );
    return { ids: items, totalCount };
  }

  /** The ids of a list; they are read once, and then follow the steps. */
  async ids({ view, prefix, kind }: ListOfRows): Promise<ReadonlySet<string>> {
    const name = nameOf(view, prefix);
    const known = this.#ids.get(name);
    if (known !== undefined) return known;
    this.#kinds.add(kind);
    const steps = this.#steps;
    const ids = new Set<string>();
    for await (const rows of rowPieces(this.#store, { view, prefix }))
      for (const row of rows) ids.add(idOf(row));
    // The steps of other nodes whose rows were read.
    await this.#store.nodes?.sync();
    if (steps === this.#steps) this.#ids.set(name, ids);
    return ids;
  }

  async #pageOfTable(
    list: ListOfRows & { readonly size: number },
    { q = '', except }: ListSearch,
    part: TablePart,
  ): Promise<FoundPart<string> | undefined> {
    const pattern = foldText(q.trim());
    if (isNowhere(pattern)) return { found: [], totalCount: 0 };
    const groups = [
      ...(pattern === '' ? [] : [[{ texts: TEXT, pattern }]]),
      ...(except === undefined || except.size === 0 ? [] : [[{ texts: ID, others: except }]]),
    ];
    const page = await this.#table(list).page({ ...part, groups });
    if (page === undefined) return undefined;
    const { orders, ids = [], totalCount } = page;
    return { found: orders.map((number, at) => ({ item: ids[at] ?? '', number })), totalCount };
  }

  #table({ view, prefix, kind, textOf, size }: ListOfRows & { readonly size: number }) {
    this.#kinds.add(kind);
    this.#texts.set(view, textOf);
    const store = this.#store;
    return this.#tables.use(
      nameOf(view, prefix),
      (mayTake) =>
        new ObservedTable(SHAPE, {
          async *read() {
            for await (const rows of rowPieces(store, { view, prefix }))
              yield rows.map((row) => [timeOf(row.key), { id: idOf(row), text: textOf(row) }] as const);
          },
          count: () => undefined,
          expected: size,
          bytesEach: BYTES_EACH,
          mayTake,
          nodes: store.nodes,
        }),
    );
  }
}

function nameOf(view: string, prefix: Row['key']): string {
  return [view, ...prefix].join('\0');
}

function timeOf(key: Row['key']): number {
  return Number(key.at(-2));
}

function idOf({ key }: Pick<Row, 'key'>): string {
  return String(key.at(-1));
}
