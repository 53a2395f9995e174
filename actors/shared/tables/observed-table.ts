/**
 * The fields that lists filter by, in memory: exact totals and any page of any filter, without reading rows. Built from the
 * rows by the first list that needs it and updated by each committed step.
 *
 * Only an accelerator: while it is incomplete, lists read the rows. Source: docs/decisions/0251-lists-in-columns.md.
 */
import type { StoreNodes } from '@sealwright/runtime';
import { Codes } from './codes.ts';
import { type OrderPage, RowBlocks, type RowScan, type RowTest, type RowText } from './row-blocks.ts';
import { type RecordMarks, SharedRecords } from './shared-records.ts';
import { inBytes, type SearchInBytes } from './text-block.ts';
import { isNowhere, RECORD, type TextSearch } from './texts.ts';

/** A test of a record. */
export type Condition =
  /** Of the text in a column of codes. */
  | { readonly codes: number; readonly passes: (text: string | null) => boolean }
  | ({ readonly texts: number } & TextSearch)
  /** All but these order numbers. */
  | { readonly without: ReadonlySet<number> }
  /** All but these texts. */
  | { readonly texts: number; readonly others: ReadonlySet<string> };

export interface TableScan extends Omit<RowScan, 'groups'> {
  /** A record passes one condition of each group. */
  readonly groups: readonly (readonly Condition[])[];
}

/** Records from which on a table is built at the start: it takes a fifth of a second or more. */
export const MANY_RECORDS = 10_000;

export interface TableShape<Facts> {
  /** Number of columns of codes and of texts. */
  readonly codes: number;
  readonly texts: number;
  readonly codesOf: (facts: Facts) => readonly (string | null)[];
  /** Numbers of the columns of texts whose records recur (`recordsOf`): columns with the same number share them. @default none */
  readonly recurring?: { readonly [column: number]: number };
  /** Of text columns; empty = none. */
  readonly textsOf: (facts: Facts) => readonly string[];
  /** Column of texts by which records of one order number are sorted and told apart. @default each has its own number */
  readonly ids?: number;
}

type Records<Facts> = AsyncIterable<readonly (readonly [order: number, facts: Facts])[]>;

export interface TableSource<Facts> {
  /** All stored records, ascending, those of one turn of the event loop together; with those that are stored meanwhile or without them. */
  readonly read: () => Records<Facts>;
  /** Number of records as of the steps observed so far; undefined: not known. */
  readonly count: () => number | undefined;
  /** Estimated number of records where `count` knows none. @default 0 */
  readonly expected?: number;
  /** Estimated memory of a record. */
  readonly bytesEach: number;
  /** True if the table may take so much memory; otherwise nothing is kept. */
  readonly mayTake: (bytes: number) => boolean;
  readonly nodes?: Pick<StoreNodes, 'sync'> | undefined;
}

interface SeenRecord<Facts> {
  readonly order: number;
  /** Undefined = removed. */
  readonly facts: Facts | undefined;
  readonly id: string;
}

/** A table is read anew for unused parts of texts from one for so many records on: reading all of a large one takes long. */
const RECORDS_FOR_UNUSED = 8;

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
  /** Records seen while building: newer than the rows. */
  #seen = new Map<number | string, SeenRecord<Facts>>();

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

  /** A record as of a committed step; undefined = it was removed. @param id where several may have one order number */
  observe(order: number, facts: Facts | undefined, id = ''): void {
    if (this.#state === 'building')
      this.#seen.set(id === '' ? order : `${order}/${id}`, { order, facts, id });
    else if (this.#state === 'ready') {
      this.#apply(order, facts, id);
      if (!this.#table.isWorn) return;
      this.#forget('none');
      this.#begin();
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
    const { count, expected = 0, bytesEach, mayTake } = this.#source;
    if (this.#state === 'none' && mayTake((count() ?? expected) * bytesEach)) this.#building = this.#build();
  }

  /** Never rejects: nobody may wait for it, and where the store fails, reading the rows says so. */
  async #build(): Promise<void> {
    this.#state = 'building';
    this.#builds += 1;
    const build = this.#builds;
    // After a reset, another one may be building.
    const isWanted = (): boolean => this.#state === 'building' && this.#builds === build;
    try {
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
    for (const { order, facts, id } of this.#seen.values()) this.#apply(order, facts, id);
    this.#seen = new Map();
  }

  #apply(order: number, facts: Facts | undefined, id = ''): void {
    if (facts === undefined) this.#table.delete(order, id);
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

const SEPARATOR = String.fromCharCode(RECORD);

/** Rows of codes, of texts and of numbers of records. */
class FilterTable<Facts> {
  readonly #shape: TableShape<Facts>;
  readonly #rows: RowBlocks;
  readonly #codes: readonly Codes[];
  readonly #records: readonly SharedRecords[];
  /** By column of texts. */
  readonly #recurring: readonly (SharedRecords | undefined)[];

  constructor(shape: TableShape<Facts>) {
    this.#shape = shape;
    this.#codes = Array.from({ length: shape.codes }, () => new Codes());
    const { recurring = {} } = shape;
    const shared = new Map(Object.values(recurring).map((number) => [number, new SharedRecords()]));
    this.#records = [...shared.values()];
    this.#recurring = Array.from({ length: shape.texts }, (_, column) => shared.get(recurring[column] ?? -1));
    const isOfRecords = this.#recurring.map((records) => records !== undefined);
    this.#rows = new RowBlocks({ codes: shape.codes, texts: isOfRecords, ids: shape.ids });
  }

  /** True if a new table would take much less memory. */
  get isWorn(): boolean {
    return this.#records.some(
      ({ isWorn, unused }) => isWorn && unused * RECORDS_FOR_UNUSED >= this.#rows.size,
    );
  }

  get size(): number {
    return this.#rows.size;
  }

  get bytes(): number {
    return this.#records.reduce((sum, { bytes }) => sum + bytes, this.#rows.bytes);
  }

  textOf(order: number, column: number): string {
    const text = this.#rows.text(order, column) ?? '';
    if (typeof text === 'string') return text;
    return text.map((record) => this.#recurring[column]?.text(record)).join(SEPARATOR);
  }

  /** @returns false when a column has too many values */
  set(order: number, facts: Facts): boolean {
    const codes: number[] = [];
    const texts: RowText[] = [];
    try {
      for (const [column, text] of this.#shape.codesOf(facts).entries())
        codes.push(this.#codes[column]?.codeOf(text) ?? 0);
      for (const [column, text] of this.#shape.textsOf(facts).entries()) {
        const records = this.#recurring[column];
        texts.push(
          records === undefined
            ? text
            : text
                .split(SEPARATOR)
                .filter((record) => record !== '')
                .map((record) => records.numberOf(record)),
        );
      }
    } catch {
      return false;
    }
    const { ids } = this.#shape;
    const id = ids === undefined ? '' : String(texts[ids]);
    // What it keeps is never without a use.
    this.#count((column) => texts[column], 1);
    this.#count((column) => this.#rows.text(order, column, id), -1);
    this.#rows.set(order, { codes, texts }, id);
    return true;
  }

  delete(order: number, id = ''): void {
    this.#count((column) => this.#rows.text(order, column, id), -1);
    this.#rows.set(order, undefined, id);
  }

  /** Counts uses of the records in a row. */
  #count(textOf: (column: number) => RowText | undefined, by: 1 | -1): void {
    for (const [column, records] of this.#recurring.entries()) {
      const numbers = records === undefined ? undefined : textOf(column);
      if (typeof numbers === 'object') for (const number of numbers) records?.count(number, by);
    }
  }

  async page({ groups, ...scan }: TableScan): Promise<OrderPage> {
    const tests: RowTest[][] = [];
    const known = new Map<string, RecordMarks>();
    for (const group of groups) tests.push(await this.#testsOf(group, known));
    return this.#rows.page({ ...scan, groups: tests });
  }

  /** @param known results of searches of records */
  async #testsOf(group: readonly Condition[], known: Map<string, RecordMarks>): Promise<RowTest[]> {
    const tests: RowTest[] = [];
    const inRecords = new Map<number, SearchInBytes[]>();
    for (const condition of group)
      if ('codes' in condition) {
        const { codes, passes } = condition;
        const chosen = this.#codes[codes]?.select(passes);
        if (chosen?.includes(1)) tests.push({ codes, chosen });
      } else if ('without' in condition)
        tests.push({ without: [...condition.without].sort((a, b) => a - b) });
      else if ('others' in condition) tests.push(condition);
      else {
        const { texts, ...search } = condition;
        if (this.#recurring[texts] === undefined) tests.push({ texts, search: inBytes(search) });
        else inRecords.set(texts, [...(inRecords.get(texts) ?? []), inBytes(search)]);
      }
    for (const [column, searches] of inRecords) {
      const key = JSON.stringify([this.#shape.recurring?.[column], searches]);
      const found = known.get(key) ?? (await this.#recurring[column]?.search(searches));
      if (found === undefined) continue;
      known.set(key, found);
      tests.push({ records: column, found });
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
