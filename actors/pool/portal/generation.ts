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
}

interface SheetModel {
  readonly id: number;
  readonly rows: readonly { readonly number: number; readonly cells: readonly CellModel[] }[];
}

interface WorkbookModel {
  readonly worksheets: readonly SheetModel[];
  readonly sheets?: readonly { readonly id: number }[];
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
  const lines: (readonly string[])[] = [];
  for (const number of numbers) {
    if (lines.length >= maxRows) break;
    const cells = textsOf(rows.get(number)?.cells ?? [], maxColumns);
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
function textsOf(cells: readonly CellModel[], maxColumns: number): readonly string[] {
  const texts: string[] = [];
  let column = 0;
  for (const cell of cells) {
    // A cell without an address follows the previous one.
    column = cell.address === undefined ? column + 1 : columnOf(cell.address);
    if (column > maxColumns + 1) continue;
    const text = textOf(cell.text ?? cell.result ?? cell.value);
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

/** Undefined for an error. */
function textOf(value: CellValue | undefined): string | undefined {
  if (value === null || value === undefined) return '';
  if (value instanceof Date) return dateText(value);
  if (typeof value !== 'object') return String(value);
  if ('error' in value) return undefined;
  return 'richText' in value ? value.richText.map(({ text }) => text).join('') : '';
}

/** Spreadsheets have no time zone: formats date, or date and time, as stored. */
function dateText(date: Date): string | undefined {
  if (Number.isNaN(date.getTime())) return undefined;
  const text = date.toISOString().slice(0, 19);
  return text.endsWith('T00:00:00') ? text.slice(0, 10) : text;
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
