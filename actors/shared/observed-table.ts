/**
 * The fields that lists filter by, in memory: exact totals and any page of any filter, without reading rows. Built from the
 * rows by the first list that needs it and updated by each committed step.
 *
 * Only an accelerator: while it is incomplete, lists read the rows. Source: docs/decisions/0251-lists-in-columns.md.
 */
import type { StoreNodes } from '@sealwright/runtime';
import { Codes, type ColumnScan, OrderedColumns, type OrderPage, type RowTest } from './ordered-columns.ts';
import { isNowhere, NO_ENTRY, TextColumn, type TextSearch } from './text-column.ts';

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
  /** Number of columns of codes and of texts. */
  readonly codes: number;
  readonly texts: number;
  readonly codesOf: (facts: Facts) => readonly (string | null)[];
  /** Entries of text columns; empty = none. */
  readonly textsOf: (facts: Facts) => readonly string[];
}

export interface TableSource<Facts> {
  /** All stored records, ascending, those of one turn of the event loop together; with those that are stored meanwhile or without them. */
  readonly read: () => AsyncIterable<readonly (readonly [order: number, facts: Facts])[]>;
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
  #state: 'none' | 'building' | 'ready' | 'too-many' = 'none';
  #building: Promise<void> | undefined;
  /** Records stored since the memory was checked. */
  #unchecked = 0;
  /** Records seen while building: newer than the rows. Undefined = removed. */
  #seen = new Map<number, Facts | undefined>();

  constructor(shape: TableShape<Facts>, source: TableSource<Facts>) {
    this.#shape = shape;
    this.#source = source;
    this.#table = new FilterTable(shape);
  }

  /** Memory that it takes. */
  get bytes(): number {
    return this.#table.bytes;
  }

  /** True if `observe` does something. */
  get observes(): boolean {
    return this.#state === 'building' || this.#state === 'ready';
  }

  /** A record as of a committed step; undefined = it was removed. */
  observe(order: number, facts: Facts | undefined): void {
    if (this.#state === 'building') this.#seen.set(order, facts);
    else if (this.#state === 'ready') this.#apply(order, facts);
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
    const table = this.#table;
    // After a reset, another one may be building.
    const isWanted = (): boolean => this.#state === 'building' && this.#table === table;
    try {
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
      this.#state = 'ready';
      for (const [order, facts] of this.#seen) this.#apply(order, facts);
      this.#seen = new Map();
    } catch {
      if (isWanted()) this.#forget('none');
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
    this.#state = state;
  }
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
