/** Reads the table of a generation and fills its template: evaluates caller input under the time limit of a task. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import {
  assertUnpacksWithin,
  composePdf,
  type DrawnItem,
  type DrawnPage,
  wrapText,
  ZipError,
} from '@sealwright/signatures';
import type { CellValue } from 'exceljs';
import {
  type DataTable,
  invalid,
  type Lines,
  MAX_COLUMNS,
  MAX_ROWS,
  readLines,
  rowsOf,
  tableOf,
} from '../../shared/generation-data.ts';
import {
  countPlaceholders,
  filledLength,
  filledText,
  readTemplate,
} from '../../shared/generation-template.ts';
import type { FillTask, GenerationFilePath, GenerationTask, PortalResults } from '../portal-tasks.ts';
import { TaskFailure } from '../task-failure.ts';

/** Maximum unpacked size of all archive members, bytes. */
const MAX_UNPACKED = 8 * 1024 * 1024;
/**
 * Elements of a sheet without text, dropped because the library expands them for every cell or column of their ranges:
 * https://github.com/exceljs/exceljs/issues/1842
 */
const IGNORED = ['cols', 'mergeCells', 'dataValidations', 'conditionalFormatting', 'extLst'];
/** Maximum row number of common spreadsheet programs; ISO/IEC 29500 sets none. */
const MAX_ROW = 1_048_576;

/**
 * Reads the first sheet of a spreadsheet (XLSX, ISO/IEC 29500) as rows of text. Checks the unpacked size before calling
 * the library: a small archive may hold gigabytes.
 */
interface SheetLimits {
  /** Rows and columns beyond these are dropped, except one more column. */
  readonly maxRows: number;
  readonly maxColumns: number;
}

/** The library's model of a cell. */
interface CellModel {
  readonly address?: string;
  readonly value?: CellValue;
  readonly formula?: string;
  /** Address of the cell with the formula. */
  readonly sharedFormula?: string;
  /** Result of a formula; missing for an empty text. */
  readonly result?: CellValue;
  /** Text of a link. */
  readonly text?: CellValue;
  readonly style?: { readonly numFmt?: unknown };
}

interface SheetModel {
  readonly id: number;
  readonly rows: readonly { readonly number: number; readonly cells: readonly CellModel[] }[];
}

interface WorkbookModel {
  readonly worksheets: readonly SheetModel[];
  readonly sheets?: readonly { readonly id: number }[];
  readonly properties?: { readonly date1904?: unknown };
}

/**
 * Reads the library's parsed model instead of its row and cell objects, which hold an entry for each column up to the
 * last used one: 60,000 cells in the last column would cost a billion entries. No upstream issue found; seen in
 * exceljs 4.4.0.
 * @throws {TaskFailure} `sheet.unreadable`, with a message for the author of the file
 */
export async function readSheet(bytes: Buffer, { maxRows, maxColumns }: SheetLimits): Promise<Lines> {
  assertSmall(bytes);
  const { default: library } = await import('exceljs');
  const workbook = new library.Workbook();
  let model: WorkbookModel | undefined;
  Object.defineProperty(workbook, 'model', {
    set(value: WorkbookModel) {
      model = value;
    },
  });
  try {
    await workbook.xlsx.load(bytes as unknown as ArrayBuffer, { ignoreNodes: IGNORED });
  } catch {
    throw unreadable('The spreadsheet cannot be read.');
  }
  const sheet = model && firstSheet(model);
  if (sheet === undefined) throw unreadable('The spreadsheet has no sheet.');
  assertCalculated(sheet);
  // Of duplicate rows the last one counts.
  const rows = new Map(sheet.rows.map((row) => [row.number, row]));
  const numbers = [...rows.keys()].sort((one, other) => one - other);
  if ((numbers.at(-1) ?? 0) > MAX_ROW)
    throw unreadable('The spreadsheet has a row beyond the last there may be.');
  const noDay = model?.properties?.date1904 === true ? NO_DAY_1904 : NO_DAY;
  const lines: (readonly string[])[] = [];
  for (const number of numbers) {
    if (lines.length >= maxRows) break;
    const cells = textsOf(rows.get(number)?.cells ?? [], maxColumns, noDay);
    if (cells.length > 0) lines.push(cells);
  }
  return lines;
}

/**
 * Libraries that write spreadsheets store formulas without results, and readers then see empty cells. The model does not
 * tell an empty result from a missing one; but a program that calculates has stored some result.
 */
function assertCalculated({ rows }: SheetModel): void {
  const formulas = rows
    .flatMap(({ cells }) => cells)
    .filter(({ formula, sharedFormula }) => formula !== undefined || sharedFormula !== undefined);
  const [first] = formulas;
  if (first === undefined || formulas.some(({ result }) => result !== undefined)) return;
  throw unreadable(
    `The formula in cell ${first.address} has no result. Open the file in a spreadsheet program and save it.`,
  );
}

/** The first sheet in display order, which differs from the order of files. */
function firstSheet({ worksheets, sheets = [] }: WorkbookModel): SheetModel | undefined {
  const position = ({ id }: SheetModel) => sheets.findIndex((sheet) => sheet.id === id);
  const [first, ...others] = worksheets;
  return others.reduce((best, one) => (best && position(best) <= position(one) ? best : one), first);
}

/** Texts without trailing empty cells. One extra column shows that there are too many. */
function textsOf(cells: readonly CellModel[], maxColumns: number, noDay: number): readonly string[] {
  const texts: string[] = [];
  let column = 0;
  for (const cell of cells) {
    // A cell without an address follows the previous one.
    column = cell.address === undefined ? column + 1 : columnOf(cell.address);
    if (column > maxColumns + 1) continue;
    const text = textOf(cell.text ?? cell.result ?? cell.value, cell.style?.numFmt, noDay);
    if (text === undefined) throw unreadable(`The cell ${cell.address ?? column} holds an error.`);
    while (texts.length < column) texts.push('');
    texts[column - 1] = text;
  }
  while (texts.at(-1)?.trim() === '') texts.pop();
  return texts;
}

/** From 1. */
function columnOf(address: string): number {
  const letters = /^\$?([A-Z]{1,3})\$?\d{1,7}$/i.exec(address)?.[1];
  if (letters === undefined) throw unreadable('The spreadsheet is damaged.');
  return [...letters.toUpperCase()].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0);
}

/** Characters of a number format that spreadsheet programs write. */
const MAX_FORMAT = 255;

/** Undefined for an error. */
function textOf(value: CellValue | undefined, format: unknown, noDay: number): string | undefined {
  if (value === null || value === undefined) return '';
  const code = typeof format === 'string' && format.length <= MAX_FORMAT ? format : '';
  if (value instanceof Date) return dateText(value, shownIn(code, 1), noDay);
  if (typeof value === 'number') return numberText(value, shownIn(code, value));
  if (typeof value !== 'object') return String(value);
  if ('error' in value) return undefined;
  return 'richText' in value ? value.richText.map(({ text }) => text).join('') : '';
}

/**
 * The placeholders of the section of a number format that is for the value, without blanks, texts, colours and
 * currencies; none of a format whose sections have conditions.
 */
function shownIn(format: string, value: number): string {
  const codes = format.replace(/"[^"]*"|\\.|[_*].|\s/g, '');
  if (/\[[<>=]/.test(codes)) return '';
  const sections = codes.split(';');
  const index = value === 0 ? 2 : 1;
  const section = value <= 0 && index < sections.length ? sections[index] : sections[0];
  return (section ?? '').replace(/\[([^[\]]*)\]/g, (all, inner: string) => (/^h+$/i.test(inner) ? all : ''));
}

/** Digits that spreadsheet programs show; sums end in noise beyond them. */
const PRECISION = 15;
/** Maximum number of digits that a format pads a number to, before or after its point. */
const MAX_PADDING = 20;

/** Maximum number of kept formatters; each takes 20 KiB. */
const MAX_FORMATTERS = 100;
/** By digits; making one takes longer than reading a row. */
const formatters = new Map<string, Intl.NumberFormat>();

function formatterOf(
  minimumIntegerDigits: number,
  minimumFractionDigits: number,
  maximumFractionDigits: number,
): Intl.NumberFormat {
  const digits = { minimumIntegerDigits, minimumFractionDigits, maximumFractionDigits };
  const key = Object.values(digits).join();
  const known = formatters.get(key);
  if (known) return known;
  if (formatters.size >= MAX_FORMATTERS) formatters.clear();
  const made = new Intl.NumberFormat('en', { useGrouping: false, signDisplay: 'negative', ...digits });
  formatters.set(key, made);
  return made;
}

/** The number as the sheet shows it, without separators of thousands: leading zeros, decimals and percent count. */
function numberText(value: number, shown: string): string {
  // Programs store longer identifiers as whole numbers, which have no noise.
  const number = Number.isInteger(value) ? value : Number(value.toPrecision(PRECISION));
  const parts = /^[^\d#?.%,]*([#,0]*0)(?:\.([0#]+))?(%?)[^\d#?.%,E]*$/.exec(shown) ?? [];
  const [, whole = '', decimals = '', percent = ''] = parts;
  const zeros = whole.replace(/[^0]/g, '').length;
  if (zeros === 0 || zeros > MAX_PADDING || decimals.length > MAX_PADDING) return String(number);
  const least = decimals.replaceAll('#', '').length;
  const format = formatterOf(zeros, least, decimals.length);
  return format.format(percent === '' ? number : Number((number * 100).toPrecision(PRECISION))) + percent;
}

/** The day before the first of spreadsheets: a time without a date belongs to it. */
const NO_DAY = Date.UTC(1899, 11, 30);
const NO_DAY_1904 = Date.UTC(1904, 0, 1);
const HOUR_MS = 3_600_000;

/** Spreadsheets have no time zone: formats date, time, or both, as stored; sums of hours below 0 or beyond 24, too. */
function dateText(date: Date, shown: string, noDay: number): string | undefined {
  if (Number.isNaN(date.getTime())) return undefined;
  const [day = '', time = ''] = date.toISOString().slice(0, 19).split('T');
  const since = date.getTime() - noDay;
  if (/\[h+\]/i.test(shown) || (since >= 0 && since < 24 * HOUR_MS)) {
    const length = Math.abs(since);
    const hours = String(Math.floor(length / HOUR_MS)).padStart(2, '0');
    return `${since < 0 ? '-' : ''}${hours}${new Date(length).toISOString().slice(13, 19)}`;
  }
  return time === '00:00:00' ? day : `${day}T${time}`;
}

/** @throws {TaskFailure} `sheet.unreadable` for a file that is not an archive, or too large unpacked */
function assertSmall(bytes: Buffer): void {
  try {
    assertUnpacksWithin(bytes, MAX_UNPACKED);
  } catch (error) {
    if (!(error instanceof ZipError)) throw error;
    throw unreadable(
      error.flaw === 'too-large'
        ? `The spreadsheet unpacks to more than ${MAX_UNPACKED} bytes.`
        : 'The file is no spreadsheet (XLSX), or it is damaged.',
    );
  }
}

function unreadable(message: string): TaskFailure {
  return new TaskFailure('sheet.unreadable', message);
}

/** A4, points. */
const WIDTH = 595.28;
const HEIGHT = 841.89;
const MARGIN = 64;
const SIZE = 11;
const LEADING = 15;
const LINES = Math.floor((HEIGHT - 2 * MARGIN) / LEADING);

/** Typesets plain text as PDF pages. */
interface TypesetText {
  readonly text: string;
  readonly title: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Path of the PDF. */
  readonly output: string;
}

/** Form feeds start a new page. The file is not synced. */
function typeset({ text, title, at, output }: TypesetText): void {
  rmSync(output, { force: true });
  composePdf({ output, parts: [{ pages: pagesOf(text) }], title, at });
}

function pagesOf(text: string): readonly DrawnPage[] {
  return text
    .replace(/\r\n?/g, '\n')
    .replaceAll('\t', '    ')
    .split('\f')
    .flatMap((part) => {
      const lines = wrapText(part, SIZE, WIDTH - 2 * MARGIN);
      return Array.from({ length: Math.ceil(lines.length / LINES) }, (_, page) =>
        pageOf(lines.slice(page * LINES, (page + 1) * LINES)),
      );
    });
}

function pageOf(lines: readonly string[]): DrawnPage {
  const items = lines.map(
    (text, index): DrawnItem => ({
      shape: 'text',
      x: MARGIN,
      y: MARGIN + index * LEADING + SIZE,
      size: SIZE,
      text,
    }),
  );
  return { width: WIDTH, height: HEIGHT, items };
}

const SHEET = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';

/** @throws {PortalRefusal} `InvalidGenerationFile`, `LimitExceeded` */
export async function readGeneration({
  data,
  template,
  texts,
  maxCharacters,
}: GenerationTask): Promise<PortalResults['portal.generation']> {
  const table = tableOf(await linesOf(data));
  if (template !== null) assertFits(table, template, texts, maxCharacters);
  return table;
}

/** Fills the template. The file is not synced. */
export function fill({
  template,
  columns,
  cells,
  title,
  at,
  output,
}: FillTask): PortalResults['portal.fill'] {
  const {
    text,
    targetContentType: makes,
    escape: escaping,
  } = readTemplate(readFileSync(template.path), template);
  const [row] = rowsOf({ columns, rows: [cells] });
  if (row === undefined) throw new Error('A table of one row has one.');
  const filled = filledText(text, row, escaping);
  if (makes === 'pages') typeset({ text: filled, title, at, output });
  else {
    rmSync(output, { force: true });
    writeFileSync(output, filled, { flag: 'wx' });
  }
  return { makes };
}

async function linesOf({ path, name, contentType }: GenerationFilePath): Promise<Lines> {
  const bytes = readFileSync(path);
  if (contentType !== SHEET && !/\.xlsx$/i.test(name)) return readLines(bytes, { name, contentType });
  // One row holds the column names; one more than the maximum shows that the table is too long.
  return readSheet(bytes, { maxRows: MAX_ROWS + 2, maxColumns: MAX_COLUMNS });
}

function assertFits(
  table: DataTable,
  template: GenerationFilePath,
  texts: unknown,
  maxCharacters: number,
): void {
  const { text } = readTemplate(readFileSync(template.path), template);
  const counts = countPlaceholders([text, template.name, texts], table.columns);
  for (const [index, row] of rowsOf(table).entries())
    if (filledLength(counts, row) > maxCharacters)
      throw invalid(`The document of row ${index + 1} would have more than ${maxCharacters} characters.`);
}
