/**
 * The table documents are generated from: CSV (RFC 4180; also with semicolons or tabs, as spreadsheets write it), a
 * JSON list of flat objects, or lines that were read from a spreadsheet. The first line names the columns.
 */
import { PortalRefusal } from '../../machines/portal-refusals.ts';

/** Column, folded → what stands there. */
export type DataRow = ReadonlyMap<string, string>;

export interface DataTable {
  /** Folded. */
  readonly columns: ReadonlySet<string>;
  readonly rows: readonly DataRow[];
}

/** Documents of one generation; ours. */
export const MOST_ROWS = 1_000;
export const MOST_COLUMNS = 200;
/** Characters of one cell. */
const LONGEST_CELL = 10_000;

/** One spelling of the names of columns. */
export function columnName(text: string): string {
  return text.normalize('NFC').trim().toLowerCase();
}

/** Refusals: `InvalidGenerationFile`, `LimitExceeded`. */
export function readTable(
  bytes: Buffer,
  file: { readonly name: string; readonly contentType: string },
): DataTable {
  const text = decodedText(bytes);
  if (text === undefined) throw invalid('The data file is no text. CSV, JSON and XLSX are read.');
  const isJson = /json$/i.test(file.contentType) || /\.json$/i.test(file.name);
  return tableOf(isJson ? jsonLines(text) : csvLines(text));
}

/** Refusals: as `readTable`. */
export function tableOf(lines: readonly (readonly string[])[]): DataTable {
  const [head = [], ...body] = lines;
  const columns = head.map(columnName);
  if (columns.length === 0 || columns.some((name) => name === '')) throw invalid('A column has no name.');
  if (columns.length > MOST_COLUMNS) throw invalid(`The data has more than ${MOST_COLUMNS} columns.`);
  if (new Set(columns).size !== columns.length) throw invalid('Two columns have one name.');
  if (body.length === 0) throw invalid('The data has no rows.');
  if (body.length > MOST_ROWS)
    throw new PortalRefusal('LimitExceeded', `One generation makes at most ${MOST_ROWS} documents.`);
  const rows = body.map((cells, index) => {
    if (cells.length > columns.length)
      throw invalid(`Row ${index + 1} has more cells than there are columns.`);
    if (cells.some((cell) => cell.length > LONGEST_CELL))
      throw invalid(`A cell of row ${index + 1} has more than ${LONGEST_CELL} characters.`);
    return new Map(columns.map((name, at) => [name, cells[at] ?? '']));
  });
  return { columns: new Set(columns), rows };
}

/** UTF-8, or what spreadsheets write on older systems; undefined for what is no text. */
export function decodedText(bytes: Buffer): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder('windows-1252').decode(bytes);
  }
}

function csvLines(text: string): readonly (readonly string[])[] {
  const delimiter = delimiterOf(text);
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
    line.push(cell);
    if (text[at] === delimiter) {
      at++;
      // Nothing after the last delimiter is an empty cell.
      if (at === text.length) line.push('');
      else if (text[at] !== '\n' && text[at] !== '\r') continue;
      else line.push('');
    } else if (at < text.length && text[at] !== '\n' && text[at] !== '\r')
      throw invalid(`Row ${lines.length} goes on after a closing quote.`);
    if (text[at] === '\r' && text[at + 1] === '\n') at++;
    at++;
    if (line.some((one) => one.trim() !== '')) lines.push(line);
    line = [];
    if (lines.length > MOST_ROWS + 1) break;
  }
  return lines;
}

function closingQuote(text: string, from: number): number {
  for (let at = from; ; at += 2) {
    at = text.indexOf('"', at);
    if (at < 0) throw invalid('A quote is not closed.');
    if (text[at + 1] !== '"') return at;
  }
}

/** Whichever stands in the first line most often. */
function delimiterOf(text: string): string {
  const head = (/^[^\r\n]*/.exec(text)?.[0] ?? '').replace(/"[^"]*"/g, '');
  const counted = [',', ';', '\t'].map((one) => [one, head.split(one).length] as const);
  return counted.reduce((best, one) => (one[1] > best[1] ? one : best))[0];
}

function jsonLines(text: string): readonly (readonly string[])[] {
  const given = parsed(text);
  if (!Array.isArray(given)) throw invalid('The data is no JSON list.');
  const objects = given.slice(0, MOST_ROWS + 1).map((row: unknown, index) => {
    if (typeof row !== 'object' || row === null || Array.isArray(row))
      throw invalid(`Row ${index + 1} is no JSON object.`);
    return row as Readonly<Record<string, unknown>>;
  });
  const columns = [...new Set(objects.flatMap((row) => Object.keys(row)))];
  return [columns, ...objects.map((row, index) => columns.map((name) => jsonCell(row, name, index)))];
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalid('The data is no JSON.');
  }
}

/** Empty where the row has no such column; what every object has by birth, such as `constructor`, is none. */
function jsonCell(row: Readonly<Record<string, unknown>>, name: string, index: number): string {
  const value = Object.hasOwn(row, name) ? row[name] : null;
  if (value === null) return '';
  if (typeof value === 'object') throw invalid(`Row ${index + 1} holds an object or a list.`);
  return String(value);
}

export function invalid(message: string): PortalRefusal {
  return new PortalRefusal('InvalidGenerationFile', message.replace(/[^ -~]/g, '?'));
}
