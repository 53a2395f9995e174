/**
 * Table of a generation: CSV (RFC 4180; also with semicolons or tabs), a JSON array of flat objects, or rows of a
 * spreadsheet. The first row holds the column names.
 */

import { PortalRefusal } from '../../machines/portal/portal-refusals.ts';
import { decodeWindows1252 } from './windows-1252.ts';

/** Rows of cells; the first row holds the column names. */
export type Lines = readonly (readonly string[])[];

/** The text in a column, by the column's folded name. */
export type DataRow = Pick<ReadonlyMap<string, string>, 'get'>;

export interface DataTable {
  /** Case-folded. */
  readonly columns: readonly string[];
  /** Cells in column order; trailing ones may be missing. */
  readonly rows: Lines;
}

/** Maximum number of documents of one generation; chosen by this project. */
export const MAX_ROWS = 1_000;
export const MAX_COLUMNS = 200;
/** Maximum number of characters of a cell. */
const MAX_CELL = 10_000;

/** Normalizes a column name. */
export function columnName(text: string): string {
  return text.normalize('NFC').trim().toLowerCase();
}

/** Reads CSV and JSON. Refusals: `InvalidGenerationFile`. */
export function readLines(
  bytes: Buffer,
  file: { readonly name: string; readonly contentType: string },
): Lines {
  const text = decodedText(bytes);
  if (text === undefined) throw invalid('The data file is no text. CSV, JSON and XLSX are read.');
  const isJson = /json$/i.test(file.contentType) || /\.json$/i.test(file.name);
  return isJson ? jsonLines(text) : csvLines(text);
}

/** Leaves out columns without a name and a cell. Refusals: `InvalidGenerationFile`, `LimitExceeded`. */
export function tableOf(lines: Lines): DataTable {
  const [head = [], ...rows] = withoutEmptyColumns(lines.map(withoutTrailingBlanks));
  if (head.length > MAX_COLUMNS) throw tooManyColumns();
  const columns = head.map(columnName);
  if (columns.length === 0) throw invalid('The columns have no names.');
  const nameless = columns.indexOf('');
  if (nameless >= 0) throw invalid(`Column ${nameless + 1} has cells but no name.`);
  if (new Set(columns).size !== columns.length) throw invalid('Two columns have one name.');
  if (rows.length === 0) throw invalid('The data has no rows.');
  if (rows.length > MAX_ROWS)
    throw new PortalRefusal('LimitExceeded', `One generation makes at most ${MAX_ROWS} documents.`);
  for (const [index, cells] of rows.entries()) {
    if (cells.length > columns.length)
      throw invalid(`Row ${index + 1} has more cells than there are columns.`);
    if (cells.some((cell) => cell.length > MAX_CELL))
      throw invalid(`A cell of row ${index + 1} has more than ${MAX_CELL} characters.`);
  }
  return { columns, rows };
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
export function rowsOf({ columns, rows }: DataTable): readonly DataRow[] {
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

function csvLines(file: string): Lines {
  const named = DELIMITER_LINE.exec(file);
  const text = file.slice(named?.[0].length ?? 0);
  const delimiter = named?.[1] ?? delimiterOf(text);
  const lines: string[][] = [];
  let line: string[] = [];
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
    }
    line.push(formulaText(cell));
    if (text[at] === delimiter) {
      at++;
      // A trailing delimiter is followed by an empty cell.
      if (at === text.length) line.push('');
      else if (text[at] !== '\n' && text[at] !== '\r') continue;
      else line.push('');
    } else if (at < text.length && text[at] !== '\n' && text[at] !== '\r')
      throw invalid(`Row ${lines.length} goes on after a closing quote.`);
    if (text[at] === '\r' && text[at + 1] === '\n') at++;
    at++;
    if (line.some((one) => one.trim() !== '')) lines.push(line);
    line = [];
    if (lines.length > MAX_ROWS + 1) break;
  }
  return lines;
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

/** The most frequent delimiter of the first line. */
function delimiterOf(text: string): string {
  const head = (/^[^\r\n]*/.exec(text)?.[0] ?? '').replace(/"[^"]*"/g, '');
  const counted = [',', ';', '\t'].map((one) => [one, head.split(one).length] as const);
  return counted.reduce((best, one) => (one[1] > best[1] ? one : best))[0];
}

function jsonLines(text: string): Lines {
  const given = parsed(text);
  if (!Array.isArray(given)) throw invalid('The data is no JSON list.');
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

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalid('The data is no JSON.');
  }
}

/** Empty for a missing column; inherited properties such as `constructor` do not count. */
function jsonCell(row: Readonly<Record<string, unknown>>, name: string, index: number): string {
  const value = Object.hasOwn(row, name) ? row[name] : null;
  if (value === null) return '';
  if (typeof value === 'object') throw invalid(`Row ${index + 1} holds an object or a list.`);
  return String(value);
}

function tooManyColumns(): PortalRefusal {
  return invalid(`The data has more than ${MAX_COLUMNS} columns.`);
}

export function invalid(message: string): PortalRefusal {
  return new PortalRefusal('InvalidGenerationFile', message.replace(/[^ -~]/g, '?'));
}
