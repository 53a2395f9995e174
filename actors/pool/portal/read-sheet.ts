/**
 * The first sheet of a spreadsheet (XLSX, ISO/IEC 29500) as rows of texts. What it unpacks to is measured before the
 * library is let near it: a small archive may hold gigabytes.
 */
import { readFileSync } from 'node:fs';
import { inflateRawSync } from 'node:zlib';
import type { CellValue, Row } from 'exceljs';
import type { PortalResults, SheetTask } from '../portal-tasks.ts';
import { TaskFailure } from '../task-failure.ts';

/** Bytes of all parts of the archive together, unpacked. */
const LARGEST_UNPACKED = 8 * 1024 * 1024;
/** APPNOTE 4.3.12, 4.3.16: signatures and lengths without names and comments. */
const ENTRY = { signature: 0x02014b50, length: 46 } as const;
const END = { bytes: Buffer.from([0x50, 0x4b, 0x05, 0x06]), length: 22 } as const;
const LOCAL_LENGTH = 30;
/** Parts of a sheet that say nothing of its texts; the library makes something of each cell or column in their ranges. */
const IGNORED = ['cols', 'mergeCells', 'dataValidations', 'conditionalFormatting', 'extLst'];
/** ISO/IEC 29500 sets no bound; programs that write spreadsheets do. */
const HIGHEST_ROW = 1_048_576;
const STORED = 0;
const DEFLATED = 8;

/** @throws {TaskFailure} `sheet.unreadable`, with a sentence for whoever made the file */
export async function readSheet({
  path,
  mostRows,
  mostColumns,
}: SheetTask): Promise<PortalResults['portal.sheet']> {
  const bytes = readFileSync(path);
  assertSmall(bytes);
  const { default: library } = await import('exceljs');
  const workbook = new library.Workbook();
  // Here, too, the library would make something of each cell in a range.
  Object.defineProperty(workbook.definedNames, 'model', { set() {} });
  try {
    await workbook.xlsx.load(bytes as unknown as ArrayBuffer, { ignoreNodes: IGNORED });
  } catch {
    throw unreadable('The spreadsheet cannot be read.');
  }
  const [sheet] = workbook.worksheets;
  if (sheet === undefined) throw unreadable('The spreadsheet has no sheet.');
  // Where it says that rows stand, the library looks for all before them.
  if (sheet.rowCount > HIGHEST_ROW)
    throw unreadable('The spreadsheet has a row beyond the last there may be.');
  const rows: (readonly string[])[] = [];
  sheet.eachRow({ includeEmpty: false }, (row) => {
    if (rows.length >= mostRows) return;
    const cells = textsOf(row, mostColumns);
    if (cells.length > 0) rows.push(cells);
  });
  return { rows };
}

/** Without the empty cells at its end. One column more than asked for shows that there are too many. */
function textsOf(row: Row, mostColumns: number): readonly string[] {
  const cells: string[] = [];
  for (let column = 1; column <= Math.min(row.cellCount, mostColumns + 1); column++) {
    const cell = row.getCell(column);
    const text = textOf(cell.value);
    if (text === undefined) throw unreadable(`The cell ${cell.address} holds an error.`);
    cells.push(text);
  }
  while (cells.at(-1)?.trim() === '') cells.pop();
  return cells;
}

/** What a formula gave, not the formula; undefined for an error. */
function textOf(value: CellValue | undefined): string | undefined {
  if (value === null || value === undefined) return '';
  if (value instanceof Date) return dateText(value);
  if (typeof value !== 'object') return String(value);
  if ('error' in value) return undefined;
  if ('richText' in value) return value.richText.map(({ text }) => text).join('');
  if ('hyperlink' in value) return textOf(value.text as CellValue);
  return textOf((value as { readonly result?: CellValue }).result);
}

/** Spreadsheets know no time zone: the day, or day and time, as they stand there. */
function dateText(date: Date): string | undefined {
  if (Number.isNaN(date.getTime())) return undefined;
  const text = date.toISOString().slice(0, 19);
  return text.endsWith('T00:00:00') ? text.slice(0, 10) : text;
}

/** @throws {TaskFailure} `sheet.unreadable` for what is no archive, or unpacks to too much */
function assertSmall(bytes: Buffer): void {
  const end = bytes.lastIndexOf(END.bytes);
  if (end < 0 || end + END.length > bytes.length) throw unreadable('The file is no spreadsheet (XLSX).');
  let left = LARGEST_UNPACKED;
  let at = bytes.readUInt32LE(end + 16);
  // The library goes by what is there, too, and not by the number that is said.
  while (at !== end) {
    if (at + ENTRY.length > end || bytes.readUInt32LE(at) !== ENTRY.signature)
      throw unreadable('The spreadsheet is damaged.');
    left -= unpackedLength(bytes, at, left);
    at +=
      ENTRY.length + bytes.readUInt16LE(at + 28) + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32);
  }
}

function unpackedLength(bytes: Buffer, entry: number, most: number): number {
  const method = bytes.readUInt16LE(entry + 10);
  const packed = bytes.readUInt32LE(entry + 20);
  const local = bytes.readUInt32LE(entry + 42);
  if (local + LOCAL_LENGTH > bytes.length) throw unreadable('The spreadsheet is damaged.');
  const from = local + LOCAL_LENGTH + bytes.readUInt16LE(local + 26) + bytes.readUInt16LE(local + 28);
  if (from + packed > bytes.length || (method !== STORED && method !== DEFLATED))
    throw unreadable('The spreadsheet is damaged.');
  if (method === STORED) {
    if (packed > most) throw tooLarge();
    return packed;
  }
  try {
    return inflateRawSync(bytes.subarray(from, from + packed), { maxOutputLength: Math.max(1, most) }).length;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge();
    throw unreadable('The spreadsheet is damaged.');
  }
}

function tooLarge(): TaskFailure {
  return unreadable(`The spreadsheet unpacks to more than ${LARGEST_UNPACKED} bytes.`);
}

function unreadable(message: string): TaskFailure {
  return new TaskFailure('sheet.unreadable', message);
}
