/**
 * Reads the first sheet of a spreadsheet that is shown as rows of texts. A cell whose value is not certain refuses the
 * file by its name. Source: ECMA-376 part 1 §18.3; docs/decisions/0313-tables-are-read-by-their-standard.md.
 */
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import {
  type HiddenRows,
  invalid,
  MAX_CHARACTERS,
  MAX_COLUMNS,
  MAX_ROWS,
  type ReadLines,
  RowList,
} from '../../shared/generation/data-table.ts';
import { cellText, type WrittenCell } from './cell-text.ts';
import { UnreadNumber } from './number-format.ts';
import { type ElementVisitor, SheetPackage } from './sheet-package.ts';
import { isTrue, type OpenWorkbook, openWorkbook, RichText } from './workbook.ts';

/** The last row of spreadsheet programs; ISO/IEC 29500 sets none. */
const MAX_ROW = 1_048_576;
const MAX_MERGED = 100_000;

/** Refusals: `InvalidGenerationFile`, `LimitExceeded`. */
export function readSheet(bytes: Buffer, hiddenRows: HiddenRows): ReadLines {
  const parts = new SheetPackage(bytes);
  const book = openWorkbook(parts);
  const reader = new SheetReader(book, hiddenRows);
  if (!parts.visit(book.sheet.part, reader)) throw invalid('The sheet is missing in the spreadsheet.');
  return reader.lines();
}

interface OpenRow {
  readonly number: number;
  readonly isHidden: boolean;
  /** Texts by column, from 1. */
  readonly cells: Map<number, string>;
}

interface OpenCell {
  readonly column: number;
  readonly type: string;
  readonly style: number;
  value: string | undefined;
  inline: string | undefined;
  isFormula: boolean;
}

class SheetReader implements ElementVisitor {
  readonly #book: OpenWorkbook;
  readonly #hiddenRows: HiddenRows;
  readonly #rows = new Map<number, OpenRow>();
  /** Rows that are written, with and without cells. */
  readonly #numbers = new Set<number>();
  readonly #merged: string[] = [];
  readonly #rich = new RichText();
  #characters = 0;
  #row: OpenRow = { number: 0, isHidden: false, cells: new Map() };
  #cell: OpenCell | undefined;
  #column = 0;
  #hasData = false;

  constructor(book: OpenWorkbook, hiddenRows: HiddenRows) {
    this.#book = book;
    this.#hiddenRows = hiddenRows;
  }

  open(...[name, parent, attribute]: Parameters<ElementVisitor['open']>): ReturnType<ElementVisitor['open']> {
    switch (parent) {
      case '':
        if (name !== 'worksheet') throw invalid('The spreadsheet has no sheet with cells.');
        return 'children';
      case 'worksheet':
        if (name === 'sheetData' && this.#hasData) throw invalid('The sheet has its cells twice.');
        this.#hasData ||= name === 'sheetData';
        return name === 'sheetData' || name === 'mergeCells' ? 'children' : 'skip';
      case 'sheetData':
        if (name !== 'row') throw this.#unknown(name);
        this.#openRow(attribute);
        return 'children';
      case 'row':
        if (name === 'extLst') return 'skip';
        if (name !== 'c') throw this.#unknown(name);
        this.#openCell(attribute);
        return 'children';
      case 'c':
        if (name === 'f' && this.#cell) this.#cell.isFormula = true;
        if (name === 'f' || name === 'extLst') return 'skip';
        if (name !== 'v' && name !== 'is') throw this.#unknown(name);
        return name === 'v' ? 'text' : 'children';
      case 'mergeCells':
        if (this.#merged.length >= MAX_MERGED) throw invalid('The sheet has too many merged cells.');
        if (name === 'mergeCell') this.#merged.push(attribute('ref') ?? '');
        return 'skip';
      default:
        return this.#rich.open(name);
    }
  }

  close(name: string, text: string): void {
    const cell = this.#cell;
    if (cell === undefined) {
      if (name === 'row') this.#closeRow();
      return;
    }
    if (name === 't') this.#rich.close(name, text);
    else if (name === 'is') cell.inline = this.#rich.take();
    else if (name === 'v') cell.value = text;
    else if (name === 'c') this.#closeCell(cell);
  }

  #openRow(attribute: (name: string) => string | undefined): void {
    const given = attribute('r');
    const number = given === undefined ? this.#row.number + 1 : /^\d{1,9}$/.test(given) ? Number(given) : 0;
    if (number < 1 || number > MAX_ROW)
      throw invalid(`The sheet has a row beyond the last there may be, ${MAX_ROW}.`);
    if (this.#numbers.has(number)) throw invalid(`${this.#named()} has row ${number} twice.`);
    this.#numbers.add(number);
    const isHidden = isTrue(attribute('hidden')) || Number(attribute('ht') ?? 1) === 0;
    this.#row = { number, isHidden, cells: new Map() };
    this.#column = 0;
  }

  #openCell(attribute: (name: string) => string | undefined): void {
    const reference = attribute('r');
    // A cell without a reference follows the one before it.
    const column = reference === undefined ? this.#column + 1 : columnIn(reference, this.#row.number);
    if (column === undefined)
      throw invalid(`${this.#named()} has a cell ${plain(reference)} in row ${this.#row.number}.`);
    this.#column = column;
    const style = Number(attribute('s') ?? 0);
    const type = attribute('t') ?? 'n';
    this.#cell = { column, type, style, value: undefined, inline: undefined, isFormula: false };
  }

  #closeCell(cell: OpenCell): void {
    this.#cell = undefined;
    const { number, cells, isHidden } = this.#row;
    const text =
      isHidden && this.#hiddenRows !== 'read'
        ? hasContent(cell)
        : this.#textOf(cell, cellName(cell.column, number));
    if (text.trim() === '') return;
    const name = cellName(cell.column, number);
    if (cells.has(cell.column)) throw this.#refused(name, 'It is in the file twice.');
    if (cell.column > MAX_COLUMNS)
      throw this.#refused(name, `The data has more than ${MAX_COLUMNS} columns.`);
    this.#characters += text.length;
    if (this.#characters > MAX_CHARACTERS)
      throw invalid(`The data has more than ${MAX_CHARACTERS} characters.`);
    cells.set(cell.column, text);
  }

  #textOf(cell: WrittenCell & { readonly style: number }, name: string): string {
    try {
      return cellText(cell, () => this.#book.format(cell.style), this.#book);
    } catch (error) {
      if (!(error instanceof UnreadNumber)) throw error;
      const remedy = cell.isFormula
        ? 'Open the file in a spreadsheet program, correct the cell and save it.'
        : 'Correct the cell, or enter its value as a text.';
      throw this.#refused(name, `${error.message} ${remedy}`);
    }
  }

  #closeRow(): void {
    if (this.#row.cells.size === 0) return;
    this.#rows.set(this.#row.number, this.#row);
    // The names of the columns are one more.
    if (this.#rows.size > MAX_ROWS + 1)
      throw new PortalRefusal('LimitExceeded', `One generation makes at most ${MAX_ROWS} documents.`);
  }

  /** The rows that have cells, in the order of the sheet. */
  lines(): ReadLines {
    const rows = [...this.#rows.values()].sort((one, other) => one.number - other.number);
    const [head] = rows;
    const hidden = rows.filter(({ isHidden }) => isHidden).map(({ number }) => number);
    if (head?.isHidden && this.#hiddenRows !== 'read')
      throw invalid(`${this.#named()}, row ${head.number} with the names of the columns is hidden. Show it.`);
    if (hidden.length > 0 && this.#hiddenRows === 'refuse')
      throw invalid(
        `${this.#named()} has rows that are hidden, by a filter or by hand: ${RowList.of(hidden)}. Show or delete them, or leave them out with skipHiddenRows.`,
      );
    this.#assertNotMerged();
    const read = this.#hiddenRows === 'read' ? rows : rows.filter(({ isHidden }) => !isHidden);
    const empty = new RowList();
    for (const [at, { number }] of rows.entries()) {
      const before = rows[at - 1]?.number ?? number - 1;
      empty.addRange(before + 1, number - 1);
    }
    return {
      lines: read.map(({ cells }) => {
        const width = Math.max(...cells.keys());
        return Array.from({ length: width }, (_, at) => cells.get(at + 1) ?? '');
      }),
      hidden: this.#hiddenRows === 'read' ? new RowList() : RowList.of(hidden),
      empty,
    };
  }

  /** Of merged cells only the first one has the value, though each of them shows it. */
  #assertNotMerged(): void {
    for (const reference of this.#merged) {
      const [from = '', to = from] = reference.split(':');
      if (from === to) continue;
      const row = rowIn(from);
      const found = this.#rows.get(row);
      const column = columnIn(from, row);
      if (column === undefined || columnIn(to, rowIn(to)) === undefined)
        throw invalid(`${this.#named()} has merged cells ${plain(reference)}.`);
      if (found === undefined || (found.isHidden && this.#hiddenRows !== 'read')) continue;
      if (found.cells.has(column))
        throw invalid(
          `${this.#named()}, the cells ${reference} are merged. Unmerge them, and fill in each of them.`,
        );
    }
  }

  #named(): string {
    return `Sheet "${this.#book.sheet.name.slice(0, 100)}"`;
  }

  #refused(cell: string, fault: string): PortalRefusal {
    return invalid(`${this.#named()}, cell ${cell}: ${fault}`);
  }

  #unknown(name: string): PortalRefusal {
    return invalid(
      `${this.#named()}, row ${this.#row.number} has content (${plain(name)}) that is not read.`,
    );
  }
}

/** Any text for a cell with content. */
function hasContent({ value = '', inline = '' }: OpenCell): string {
  return value + inline;
}

function plain(text = ''): string {
  return text.slice(0, 40);
}

/** NaN for no cell. */
function rowIn(reference: string): number {
  return Number(/^[A-Z]{1,3}(\d{1,7})$/i.exec(reference)?.[1]);
}

/** From 1; undefined for a reference to another row, or to no cell. */
function columnIn(reference: string, row: number): number | undefined {
  const [, letters = '', digits] = /^([A-Z]{1,3})(\d{1,7})$/i.exec(reference) ?? [];
  if (letters === '' || Number(digits) !== row) return undefined;
  return [...letters.toUpperCase()].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0);
}

function cellName(column: number, row: number): string {
  let letters = '';
  for (let left = column; left > 0; left = Math.floor((left - 1) / 26))
    letters = String.fromCharCode(65 + ((left - 1) % 26)) + letters;
  return letters + row;
}
