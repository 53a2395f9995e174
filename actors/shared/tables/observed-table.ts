/**
 * The fields that lists filter by, in memory: exact totals and any page of any filter, without reading rows. Built from the
 * rows by the first list that needs it and updated by each committed step.
 *
 * Only an accelerator: while it is incomplete, lists read the rows. Source: docs/decisions/0251-lists-in-columns.md.
 */
import type { StoreNodes } from '@sealwright/runtime';
import { KeptFile, writeKeptFile } from './kept-file.ts';
import { Codes, type ColumnScan, OrderedColumns, type OrderPage, type RowTest } from './ordered-columns.ts';
import {
  isNowhere,
  NO_ENTRY,
  TextColumn,
  type TextSearch,
  type TextSizes,
  writeTexts,
} from './text-column.ts';

/** A test of a record. */
export type Condition =
  /** Of the text in a column of codes. */
  | { readonly codes: number; readonly passes: (text: string | null) => boolean }
  | ({ readonly texts: number } & TextSearch)
  /** All but these order numbers. */
  | { readonly without: ReadonlySet<number> };

export interface TableScan extends Omit<ColumnScan, 'groups'> {
  /** A record passes one condition of each group. */
  readonly groups: readonly (readonly Condition[])[];
}

export interface TableShape<Facts> {
  /** Of kept files; changes with what the columns hold. @default tables are not kept */
  readonly format?: string;
  /** Number of columns of codes and of texts. */
  readonly codes: number;
  readonly texts: number;
  readonly codesOf: (facts: Facts) => readonly (string | null)[];
  /** Entries of text columns; empty = none. */
  readonly textsOf: (facts: Facts) => readonly string[];
}

/** Content of a restored table, to find what it lacks. */
export interface RestoredTable {
  readonly textOf: (order: number, column: number) => string;
  /** Order numbers within bounds, ascending. */
  readonly orders: (
    groups: readonly (readonly Condition[])[],
    bounds: OrderBounds,
  ) => Promise<readonly number[]>;
}

type OrderBounds = Pick<TableScan, 'from' | 'below'>;

type Records<Facts> = AsyncIterable<readonly (readonly [order: number, facts: Facts])[]>;

export interface TableSource<Facts> {
  /** All stored records, ascending, those of one turn of the event loop together; with those that are stored meanwhile or without them. */
  readonly read: () => Records<Facts>;
  /** A file of an earlier table, if there may be one. */
  readonly keptFile?: string | undefined;
  /**
   * Records that may have changed since the table of this name was kept; without facts: removed. Undefined where that is
   * not known.
   */
  readonly readSince?: (
    name: string,
    table: RestoredTable,
  ) => Promise<Records<Facts | undefined> | undefined>;
  /** Number of records as of the steps observed so far; undefined: not known. */
  readonly count: () => number | undefined;
  /** Estimated memory of a record. */
  readonly bytesEach: number;
  /** True if the table may take so much memory; otherwise nothing is kept. */
  readonly mayTake: (bytes: number) => boolean;
  readonly nodes?: Pick<StoreNodes, 'sync'> | undefined;
}

/** Records between two checks of the memory. */
const RECORDS_PER_CHECK = 1024;

export class ObservedTable<Facts> {
  readonly #shape: TableShape<Facts>;
  readonly #source: TableSource<Facts>;
  #table: FilterTable<Facts>;
  /** Incremented by each build. */
  #builds = 0;
  #state: 'none' | 'building' | 'ready' | 'too-many' = 'none';
  #building: Promise<void> | undefined;
  /** Records stored since the memory was checked. */
  #unchecked = 0;
  /** Records seen while building: newer than the rows. Undefined = removed. */
  #seen = new Map<number, Facts | undefined>();
  /** Records that differ from the kept file. */
  #unkept = Number.POSITIVE_INFINITY;

  constructor(shape: TableShape<Facts>, source: TableSource<Facts>) {
    this.#shape = shape;
    this.#source = source;
    this.#table = new FilterTable(shape);
  }

  /** Memory that it takes. */
  get bytes(): number {
    return this.#table.bytes;
  }

  /** Share of the records that is not in the kept file. */
  get unkept(): number {
    return this.#state === 'ready' ? this.#unkept / Math.max(1, this.#table.size) : 0;
  }

  /** Writes the table to a file. @param name what it is known by in `readSince` */
  async keep(path: string, name: string): Promise<boolean> {
    const table = this.#table;
    if (this.#state !== 'ready') return false;
    const before = this.#unkept;
    this.#unkept = 0;
    const isKept = await table.keep(path, name).catch(() => false);
    if (!isKept) this.#unkept += before;
    return isKept;
  }

  /** True if `observe` does something. */
  get observes(): boolean {
    return this.#state === 'building' || this.#state === 'ready';
  }

  /** A record as of a committed step; undefined = it was removed. */
  observe(order: number, facts: Facts | undefined): void {
    if (this.#state === 'building') this.#seen.set(order, facts);
    else if (this.#state === 'ready') {
      this.#unkept += 1;
      this.#apply(order, facts);
    }
  }

  /** Forgets all: steps of other nodes were missed, or the memory is needed. */
  reset(): void {
    this.#forget('none');
  }

  /** The text of a record in a column of texts; empty = none. */
  textOf(order: number, column: number): string {
    return this.#table.textOf(order, column);
  }

  /** One page; undefined while the table is incomplete. */
  async page(scan: TableScan): Promise<OrderPage | undefined> {
    this.#begin();
    // A page whose total is known reads few rows: it does not wait.
    if (scan.total === undefined) await this.#building;
    if (this.#state !== 'ready') return undefined;
    const count = this.#source.count();
    if (count !== undefined && this.#table.size !== count) return undefined;
    const table = this.#table;
    const found = await table.page(scan);
    // Given up meanwhile: its texts are gone.
    return this.#table === table ? found : undefined;
  }

  /** Builds the table before a list needs it. */
  async prepare(): Promise<void> {
    this.#begin();
    await this.#building;
  }

  #begin(): void {
    const { count, bytesEach, mayTake } = this.#source;
    if (this.#state === 'none' && mayTake((count() ?? 0) * bytesEach)) this.#building = this.#build();
  }

  /** Never rejects: nobody may wait for it, and where the store fails, reading the rows says so. */
  async #build(): Promise<void> {
    this.#state = 'building';
    this.#builds += 1;
    const build = this.#builds;
    // After a reset, another one may be building.
    const isWanted = (): boolean => this.#state === 'building' && this.#builds === build;
    try {
      if (await this.#restore(isWanted)) return;
      if (!isWanted()) return;
      this.#table = new FilterTable(this.#shape);
      for await (const records of this.#source.read()) {
        if (!isWanted()) return;
        for (const [order, facts] of records) {
          if (!isWanted()) return;
          this.#apply(order, facts);
        }
      }
      // The steps of other nodes whose rows were read.
      await this.#source.nodes?.sync();
      if (!isWanted()) return;
      this.#end();
    } catch {
      if (isWanted()) this.#forget('none');
    }
  }

  /** Every step from now on is applied at once. */
  #end(): void {
    this.#state = 'ready';
    for (const [order, facts] of this.#seen) this.#apply(order, facts);
    this.#seen = new Map();
  }

  /** Reads the kept file, and then what has changed. @returns false where all has to be read */
  async #restore(isWanted: () => boolean): Promise<boolean> {
    const { keptFile, readSince, count } = this.#source;
    if (keptFile === undefined || readSince === undefined) return false;
    const table = new FilterTable<Facts>(this.#shape);
    try {
      const name = await table.restore(keptFile);
      const changed = await readSince(name, {
        textOf: (order, column) => table.textOf(order, column),
        orders: (groups, bounds) => table.orders(groups, bounds),
      });
      if (changed === undefined) return false;
      let read = 0;
      for await (const records of changed) {
        if (!isWanted()) return false;
        read += records.length;
        for (const [order, facts] of records)
          if (facts === undefined) table.delete(order);
          else if (!table.set(order, facts)) return false;
      }
      if (!isWanted() || !this.#source.mayTake(table.bytes)) return false;
      // What was seen meanwhile is counted.
      const all = [...this.#seen];
      for (const [order, facts] of all)
        if (facts === undefined) table.delete(order);
        else if (!table.set(order, facts)) return false;
      if (table.size !== (count() ?? table.size)) return false;
      this.#table = table;
      this.#unkept = read;
      this.#end();
      return true;
    } catch {
      return false;
    }
  }

  #apply(order: number, facts: Facts | undefined): void {
    if (facts === undefined) this.#table.delete(order);
    else if (!this.#table.set(order, facts) || !this.#hasRoom()) this.#forget('too-many');
  }

  /** Asked from time to time. */
  #hasRoom(): boolean {
    this.#unchecked += 1;
    if (this.#unchecked < RECORDS_PER_CHECK) return true;
    this.#unchecked = 0;
    return this.#source.mayTake(this.#table.bytes);
  }

  #forget(state: 'none' | 'too-many'): void {
    this.#table = new FilterTable(this.#shape);
    this.#seen = new Map();
    this.#unkept = Number.POSITIVE_INFINITY;
    this.#state = state;
  }
}

interface KeptTable {
  readonly format: string;
  readonly rows: number;
  readonly codes: readonly (readonly (string | null)[])[];
  readonly sizes: readonly TextSizes[];
}

/** Columns of codes and of texts. */
class FilterTable<Facts> {
  readonly #shape: TableShape<Facts>;
  readonly #rows: OrderedColumns;
  readonly #codes: readonly Codes[];
  readonly #texts: readonly TextColumn[];

  constructor(shape: TableShape<Facts>) {
    this.#shape = shape;
    const rows = new OrderedColumns(shape.codes, shape.texts);
    this.#rows = rows;
    this.#codes = Array.from({ length: shape.codes }, () => new Codes());
    this.#texts = Array.from(
      { length: shape.texts },
      (_, column) => new TextColumn((order, entry) => rows.setEntry(order, column, entry)),
    );
  }

  get size(): number {
    return this.#rows.size;
  }

  get bytes(): number {
    return this.#texts.reduce((sum, { bytes }) => sum + bytes, this.#rows.bytes);
  }

  /** Writes a file of the table. @returns false where it changes too much meanwhile */
  async keep(path: string, name: string): Promise<boolean> {
    const moves = () => this.#texts.map((column) => column.moves).join();
    const before = moves();
    const copied = await this.#rows.copy(() => ({
      moves: moves(),
      texts: this.#texts.map((column) => column.copy),
      codes: this.#codes.map((column) => column.texts),
    }));
    if (copied === undefined || copied[1].moves !== before) return false;
    const [rows, { texts, codes }] = copied;
    await writeKeptFile(path, name, async (add) => {
      for (const array of rows) await add(array);
      const sizes: TextSizes[] = [];
      for (const segments of texts) sizes.push(await writeTexts(segments, add));
      return {
        format: this.#shape.format ?? '',
        rows: rows[0]?.length ?? 0,
        codes,
        sizes,
      } satisfies KeptTable;
    });
    return true;
  }

  /** Reads a file into a new table. @returns its name. @throws for one that is of another format or damaged */
  async restore(path: string): Promise<string> {
    const file = await KeptFile.open(path);
    try {
      const about = file.about as KeptTable;
      if (about.format !== this.#shape.format) throw new RangeError(`The file has format ${about.format}.`);
      await this.#rows.restore(about.rows, file);
      for (const [at, column] of this.#codes.entries()) column.restore(about.codes[at] ?? []);
      for (const [at, column] of this.#texts.entries()) {
        await column.restore(about.sizes[at] ?? [], file);
        await this.#rows.eachEntry(at, (order, entry) => column.restored(order, entry));
      }
      return file.name;
    } finally {
      await file.close();
    }
  }

  async orders(groups: readonly (readonly Condition[])[], bounds: OrderBounds): Promise<readonly number[]> {
    const all = { groups, ...bounds, newestFirst: false, offset: 0, limit: Number.POSITIVE_INFINITY };
    return (await this.page(all)).orders;
  }

  textOf(order: number, column: number): string {
    return this.#texts[column]?.text(this.#rows.entryOf(order, column)) ?? '';
  }

  /** @returns false when a column has too many values */
  set(order: number, facts: Facts): boolean {
    const codes: number[] = [];
    try {
      for (const [column, text] of this.#shape.codesOf(facts).entries())
        codes.push(this.#codes[column]?.codeOf(text) ?? 0);
    } catch {
      return false;
    }
    const isNew = order > this.#rows.last;
    const entries: number[] = [];
    for (const [index, text] of this.#shape.textsOf(facts).entries()) {
      const column = this.#texts[index];
      if (column === undefined) continue;
      const known = isNew ? NO_ENTRY : this.#rows.entryOf(order, index);
      if (known !== NO_ENTRY && column.text(known) === text) entries.push(known);
      else {
        column.remove(known);
        entries.push(column.add(order, text));
      }
    }
    this.#rows.set(order, codes, entries);
    return true;
  }

  delete(order: number): void {
    for (const [index, column] of this.#texts.entries()) column.remove(this.#rows.entryOf(order, index));
    this.#rows.delete(order);
  }

  async page({ groups, ...scan }: TableScan): Promise<OrderPage> {
    for (const column of this.#texts) column.hold();
    try {
      const tests: RowTest[][] = [];
      for (const group of groups) tests.push(await this.#testsOf(group));
      return await this.#rows.page({ ...scan, groups: tests });
    } finally {
      for (const column of this.#texts) column.release();
    }
  }

  async #testsOf(group: readonly Condition[]): Promise<RowTest[]> {
    const tests: RowTest[] = [];
    const searches = new Map<number, TextSearch[]>();
    for (const condition of group)
      if ('codes' in condition) {
        const { codes, passes } = condition;
        tests.push({ codes, chosen: this.#codes[codes]?.select(passes) ?? new Uint8Array(0) });
      } else if ('without' in condition) tests.push(condition);
      else {
        const { texts, ...search } = condition;
        searches.set(texts, [...(searches.get(texts) ?? []), search]);
      }
    for (const [texts, all] of searches) {
      const found = await this.#texts[texts]?.search(all);
      if (found !== undefined) tests.push({ entries: texts, found });
    }
    return tests;
  }
}

/** Parts of a text that a user gave. */
export function containingText(
  texts: number,
  pattern: string,
  more?: Partial<TextSearch>,
): readonly Condition[] {
  return isNowhere(pattern) ? [] : [{ texts, pattern, ...more }];
}
