/**
 * Table of a generation: CSV (RFC 4180; also with semicolons or tabs), a JSON array of flat objects, or rows of a
 * spreadsheet. The first row holds the column names.
 */

import { isUtf8 } from 'node:buffer';
import { plainLine } from '../../../contracts/plain-text.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import { decodeWindows1252 } from '../files/windows-1252.ts';

/** Rows of cells; the first row holds the column names. */
export type Lines = readonly (readonly string[])[];

/** The text in a column, by the column's folded name. */
export type DataRow = Pick<ReadonlyMap<string, string>, 'get'>;

/** Numbers of rows of a file: the first ones, and how many there are. */
export class RowList {
  #first: readonly number[] = [];
  #count = 0;

  static of(numbers: readonly number[]): RowList {
    const list = new RowList();
    for (const number of numbers) list.addRange(number, number);
    return list;
  }

  /** @param to included; below `from`: nothing is added */
  addRange(from: number, to: number): void {
    const length = Math.max(0, to - from + 1);
    const named = Math.min(length, MAX_NAMED_ROWS - this.#first.length);
    this.#count += length;
    this.#first = [...this.#first, ...Array.from({ length: named }, (_, at) => from + at)];
  }

  /** Empty without rows. */
  toString(): string {
    return this.#first.join(', ') + (this.#count > this.#first.length ? `, … (${this.#count})` : '');
  }
}

/** Maximum number of rows that a list of rows names. */
const MAX_NAMED_ROWS = 20;

/**
 * What becomes of rows that are hidden, by a filter or by hand, which nobody sees in a spreadsheet program: they refuse
 * the file, are left out, or are read like others.
 */
export type HiddenRows = 'refuse' | 'skip' | 'read';

/** Rows of a file, and those that are left out. */
export interface ReadLines {
  readonly lines: Lines;
  readonly hidden: RowList;
  /** Between others. */
  readonly empty: RowList;
}

export interface DataTable {
  /** Case-folded. */
  readonly columns: readonly string[];
  /** Cells in column order; trailing ones may be missing. */
  readonly rows: Lines;
  /** Rows of the file that are left out, for people: their numbers. Empty = none. */
  readonly leftOut: { readonly hidden: string; readonly empty: string };
}

/** Maximum number of documents of one generation; chosen by this project. */
export const MAX_ROWS = 10_000;
export const MAX_COLUMNS = 200;
/** Maximum number of characters of a cell. */
const MAX_CELL = 10_000;
/** Maximum number of characters of all cells: a file may name one text in many cells. */
export const MAX_CHARACTERS = 4 * 1024 * 1024;

/** Normalizes a column name. */
export function columnName(text: string): string {
  return text.normalize('NFC').trim().toLowerCase();
}

/** Reads CSV and JSON. Refusals: `InvalidGenerationFile`. */
export function readLines(
  bytes: Buffer,
  file: { readonly name: string; readonly contentType: string },
): ReadLines {
  const text = decodedText(bytes);
  if (text === undefined) throw invalid('The data file is no text. CSV in UTF-8, JSON and XLSX are read.');
  const isJson = /json$/i.test(file.contentType) || /\.json$/i.test(file.name);
  if (isJson) return { lines: jsonLines(text), hidden: new RowList(), empty: new RowList() };
  return csvLines(text, isUtf8(bytes) || bytes.includes(0) ? undefined : letterFault);
}

/** Leaves out columns without a name and a cell. Refusals: `InvalidGenerationFile`, `LimitExceeded`. */
export function tableOf({ lines, hidden, empty }: ReadLines): DataTable {
  const [head = [], ...rows] = withoutEmptyColumns(lines.map(withoutTrailingBlanks));
  if (head.length > MAX_COLUMNS) throw tooManyColumns();
  const columns = head.map(columnName);
  assertNamed(columns);
  if (rows.length === 0) throw invalid('The data has no rows.');
  if (rows.length > MAX_ROWS)
    throw new PortalRefusal('LimitExceeded', `One generation makes at most ${MAX_ROWS} documents.`);
  let characters = 0;
  for (const [index, cells] of rows.entries()) {
    if (cells.length > columns.length)
      throw invalid(`Row ${index + 1} has more cells than there are columns.`);
    for (const [at, cell] of cells.entries()) {
      characters += cell.length;
      const fault = cell.length > MAX_CELL ? `It has more than ${MAX_CELL} characters.` : cellFault(cell);
      if (fault !== undefined) throw invalid(`Row ${index + 1}, column ${columns[at]}: ${fault}`);
    }
  }
  if (characters > MAX_CHARACTERS) throw invalid(`The data has more than ${MAX_CHARACTERS} characters.`);
  return { columns, rows, leftOut: { hidden: String(hidden), empty: String(empty) } };
}

// Texts of cells that nobody would send by intention. Source: docs/decisions/0313-tables-are-read-by-their-standard.md.

/** `5,29982E+10`: a program showed a long number short, and lost its digits. */
const SHORTENED = /^[+-]?[1-9](?:[.,]\d+)?e\+\d{2,3}$/iu;
/** Errors of formulas, in the languages of programs, and a column that is too narrow for its number. */
const ERROR = /^#(?:N\/[AD]|NV|[\p{Lu}¡¿][\p{Lu}/0-9_]*[!?]|#{2,})$/u;
/** UTF-8 that was read as Windows-1252, of Latin letters and quotes. */
const READ_TWICE = /Ã[\u00a1-\u00aa\u00ac-\u00ba\u00bc-\u00bf‰‡ƒ]|â€[\u0080-\u00ff™œ“”˜¢¦]/u;

/** Finds what is wrong with the text of a cell, and says what to do. */
function cellFault(cell: string): string | undefined {
  const text = cell.trim();
  if (SHORTENED.test(text))
    return 'It is a number that a program shortened. Format the column as text or as whole numbers, and save again.';
  if (ERROR.test(text)) return 'It is an error of a spreadsheet program. Correct it there.';
  if (text.includes('\ufffd')) return 'It has a letter that was lost. Save the file in UTF-8.';
  if (READ_TWICE.test(text))
    return 'Its letters were read in another code page and saved. Read the first file as UTF-8.';
  return undefined;
}

/**
 * Places of letters that Windows-1252 has and no word: a control character, a sign behind a letter, a capital among small
 * letters or the reverse. Files of DOS (850) and of old Macs have such ones in many words.
 */
const OTHER_PAGE =
  /[\u0080-\u009f]|\p{L}[€‚ƒ„†‡ˆ‰¡¢£¤¥¦§¨¬±µ¶¸÷×]|\p{Ll}[À-ÖØ-ÞŠŸŽŒ](?!\p{Lu})|\p{Lu}[À-ÝŠ](?=\p{Ll})|\p{Lu}[à-öø-þšœž](?=\p{Lu})/u;

/** Finds what is wrong with the letters of a cell that was read as Windows-1252. */
function letterFault(cell: string): string | undefined {
  return OTHER_PAGE.test(cell)
    ? 'Its letters are of another code page than Windows-1252. Save the file as "CSV UTF-8".'
    : undefined;
}

function assertNamed(columns: readonly string[]): void {
  if (columns.length === 0) throw invalid('The columns have no names.');
  const nameless = columns.indexOf('');
  if (nameless >= 0) throw invalid(`Column ${nameless + 1} has cells but no name.`);
  const second = columns.findIndex((name, at) => columns.indexOf(name) !== at);
  if (second < 0) return;
  const first = columns.indexOf(columns[second] ?? '');
  throw invalid(`Columns ${first + 1} and ${second + 1} have one name: ${columns[second]}. Rename one.`);
}

function withoutTrailingBlanks(cells: readonly string[]): readonly string[] {
  const last = cells.findLastIndex((cell) => cell.trim() !== '');
  return cells.slice(0, last + 1);
}

/** Spreadsheet programs write columns that are formatted but empty. */
function withoutEmptyColumns(lines: Lines): Lines {
  const [head = []] = lines;
  const isKept = head.map((name, at) => name.trim() !== '' || lines.some((cells) => cells[at]?.trim()));
  if (!isKept.includes(false)) return lines;
  return lines.map((cells) => cells.filter((_, at) => isKept[at] !== false));
}

/** Returns rows with access by column name. */
export function rowsOf(columns: readonly string[], rows: Lines): readonly DataRow[] {
  const positions = new Map(columns.map((name, at) => [name, at]));
  return rows.map((cells) => ({
    get: (name) => {
      const at = positions.get(name);
      return at === undefined ? undefined : (cells[at] ?? '');
    },
  }));
}

/** Decodes UTF-8, UTF-16 with its mark, or the legacy encoding of spreadsheets; undefined for binary data. */
export function decodedText(bytes: Buffer): string | undefined {
  const mark = bytes.subarray(0, 2).toString('hex');
  if (mark === 'fffe' || mark === 'feff') return utf16Text(bytes, mark === 'fffe' ? 'utf-16le' : 'utf-16be');
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return decodeWindows1252(bytes);
  }
}

/** Undefined for binary data, and for UTF-32, which has the same mark. */
function utf16Text(bytes: Buffer, encoding: 'utf-16le' | 'utf-16be'): string | undefined {
  try {
    const text = new TextDecoder(encoding, { fatal: true }).decode(bytes);
    return text.includes('\0') ? undefined : text;
  } catch {
    return undefined;
  }
}

/** The first line of a table in which a spreadsheet program names its delimiter. */
const DELIMITER_LINE = /^"?sep=([^\p{L}\p{N}"\r\n])"?(?:\r\n|\r|\n|$)/iu;

/** @param faultOf what is wrong with the letters of a cell */
function csvLines(file: string, faultOf: ((cell: string) => string | undefined) | undefined): ReadLines {
  const named = DELIMITER_LINE.exec(file);
  const text = file.slice(named?.[0].length ?? 0);
  const delimiter = named?.[1] ?? delimiterOf(text);
  const lines: string[][] = [];
  const empty = new RowList();
  let line: string[] = [];
  let record = 0;
  let lastFilled = 0;
  let at = 0;
  while (at < text.length) {
    let cell: string;
    if (text[at] === '"') {
      const end = closingQuote(text, at + 1);
      cell = text.slice(at + 1, end).replaceAll('""', '"');
      at = end + 1;
    } else {
      const from = at;
      while (at < text.length && text[at] !== delimiter && text[at] !== '\n' && text[at] !== '\r') at++;
      cell = text.slice(from, at);
      // Programs differ in whether such quotes are a part of the cell (RFC 4180 §2).
      if (/^\s+"/.test(cell))
        throw invalid(
          `Line ${record + 1}, cell ${line.length + 1} has white space before its quotes. Remove one of them.`,
        );
    }
    const fault = faultOf?.(cell);
    if (fault !== undefined) throw invalid(`Line ${record + 1}, cell ${line.length + 1}: ${fault}`);
    line.push(formulaText(cell));
    if (text[at] === delimiter) {
      at++;
      // A trailing delimiter is followed by an empty cell.
      if (at === text.length) line.push('');
      else if (text[at] !== '\n' && text[at] !== '\r') continue;
      else line.push('');
    } else if (at < text.length && text[at] !== '\n' && text[at] !== '\r')
      throw invalid(`Line ${record + 1}, cell ${line.length} goes on after a closing quote.`);
    if (text[at] === '\r' && text[at + 1] === '\n') at++;
    at++;
    record += 1;
    if (line.some((one) => one.trim() !== '')) {
      if (lines.length > 0) empty.addRange(lastFilled + 1, record - 1);
      lastFilled = record;
      lines.push(line);
    }
    line = [];
    if (lines.length > MAX_ROWS + 1) break;
  }
  return { lines, hidden: new RowList(), empty };
}

/** `="00123"` → `00123`: how tables for spreadsheet programs keep leading zeros. */
function formulaText(cell: string): string {
  const text = /^="(.*)"$/s.exec(cell)?.[1];
  return text === undefined ? cell : text.replaceAll('""', '"');
}

function closingQuote(text: string, from: number): number {
  for (let at = from; ; at += 2) {
    at = text.indexOf('"', at);
    if (at < 0) throw invalid('A quote is not closed.');
    if (text[at + 1] !== '"') return at;
  }
}

/** The most frequent delimiter of the first line that is not empty. */
function delimiterOf(text: string): string {
  const head = (/[^\s][^\r\n]*/.exec(text)?.[0] ?? '').replace(/"[^"]*"/g, '');
  const counted = [',', ';', '\t', '|'].map((one) => [one, head.split(one).length] as const);
  return counted.reduce((best, one) => (one[1] > best[1] ? one : best))[0];
}

/** Objects by name, or lists whose first one has the names. */
function jsonLines(text: string): Lines {
  const given = parsed(text);
  if (!Array.isArray(given)) throw invalid('The data is no JSON list.');
  if (Array.isArray(given[0])) return jsonLists(given.slice(0, MAX_ROWS + 2));
  const objects = given.slice(0, MAX_ROWS + 1).map((row: unknown, index) => {
    if (typeof row !== 'object' || row === null || Array.isArray(row))
      throw invalid(`Row ${index + 1} is no JSON object.`);
    return row as Readonly<Record<string, unknown>>;
  });
  const names = new Set<string>();
  for (const row of objects)
    for (const name of Object.keys(row)) {
      names.add(name);
      // Checked first: rows are padded to all columns.
      if (names.size > MAX_COLUMNS) throw tooManyColumns();
    }
  const columns = [...names];
  return [columns, ...objects.map((row, index) => columns.map((name) => jsonCell(row, name, index)))];
}

function jsonLists(given: readonly unknown[]): Lines {
  return given.map((row, index) => {
    if (!Array.isArray(row)) throw invalid(`Row ${index} is no JSON list.`);
    if (row.length > MAX_COLUMNS + 1) throw tooManyColumns();
    return row.map((value: unknown) => jsonText(value, index - 1));
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalid('The data is no JSON.');
  }
}

/** Empty for a missing column; inherited properties such as `constructor` do not count. */
function jsonCell(row: Readonly<Record<string, unknown>>, name: string, index: number): string {
  return jsonText(Object.hasOwn(row, name) ? row[name] : null, index);
}

function jsonText(value: unknown, index: number): string {
  if (value === null) return '';
  if (typeof value === 'object') throw invalid(`Row ${index + 1} holds an object or a list.`);
  return String(value);
}

function tooManyColumns(): PortalRefusal {
  return invalid(`The data has more than ${MAX_COLUMNS} columns.`);
}

export function invalid(message: string): PortalRefusal {
  return new PortalRefusal('InvalidGenerationFile', plainLine(message));
}
