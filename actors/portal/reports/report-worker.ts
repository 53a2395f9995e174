/**
 * The thread that writes one spreadsheet, line by line to the disk.
 * Source: docs/portal-values.md §18.
 */
import { createWriteStream } from 'node:fs';
import type { Writable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import exceljs from 'exceljs';
import type { FromReportWorker, ReportLine, ReportWorkerSetup, ToReportWorker } from './report-wire.ts';

/** Lines of one sheet; the format holds 1,048,576, the head included. */
const SHEET_LINES = 1_000_000;
/** Characters of one cell that the format holds. */
const CELL_CHARACTERS = 32_767;
const DATE_FORMAT = 'yyyy-mm-dd hh:mm:ss.000';

/** Characters that XML 1.0 forbids. */
const NO_XML = /[\p{Surrogate}\ufffe\uffff]|[^\t\n\r\u0020-\u{10ffff}]/gu;

const COLUMNS = [
  { header: 'id', width: 38 },
  { header: 'name', width: 40 },
  { header: 'organization', width: 24 },
  { header: 'createdBy', width: 24 },
  { header: 'creationDate', width: 24, style: { numFmt: DATE_FORMAT } },
  { header: 'updateDate', width: 24, style: { numFmt: DATE_FORMAT } },
  { header: 'status', width: 14 },
  { header: 'isEnvelope', width: 11 },
  { header: 'number of signatures', width: 20 },
];

const NOTHING = Buffer.alloc(0);

const { path } = workerData as ReportWorkerSetup;
const file = createWriteStream(path, { flags: 'wx' });
const workbook = new exceljs.stream.xlsx.WorkbookWriter({ stream: file, useStyles: true });
let sheet = newSheet(1);
let sheets = 1;
let lines = 0;

function newSheet(number: number): exceljs.Worksheet {
  const name = number === 1 ? 'Documents' : `Documents ${number}`;
  const made = workbook.addWorksheet(name, { views: [{ state: 'frozen', ySplit: 1 }] });
  made.columns = COLUMNS;
  made.getRow(1).font = { bold: true };
  made.getRow(1).commit();
  return made;
}

/** Text that readers would take for the code of a character. Source: ECMA-376 part 1 §22.9.2.19. */
const ESCAPED = /_(?=x[0-9A-Fa-f]{4}_)/g;

function cell(text: string): string {
  return text.replace(NO_XML, '').slice(0, CELL_CHARACTERS).replace(ESCAPED, '_x005F_');
}

function writeLine([
  id,
  name,
  organization,
  by,
  created,
  updated,
  status,
  envelope,
  count,
]: ReportLine): void {
  if (lines === SHEET_LINES) {
    sheet.commit();
    sheets += 1;
    sheet = newSheet(sheets);
    lines = 0;
  }
  lines += 1;
  const dates = [new Date(created), new Date(updated)];
  sheet.addRow([id, cell(name), cell(organization), cell(by), ...dates, status, envelope, count]).commit();
}

/**
 * Resolves when what was written has gone on to compression and the disk, but for some kilobytes. The library hands its
 * text to a stream without waiting for it, so that stream is asked: it says of each write, and of an empty one too, when
 * it is done. It is there once the parts of the file before the sheet have passed.
 */
async function drained(): Promise<void> {
  const { pipes } = (sheet as unknown as { readonly stream: { readonly pipes: readonly Writable[] } }).stream;
  while (pipes.length === 0) await nextTurn();
  for (const pipe of pipes) {
    await new Promise<void>((resolve, reject) => {
      pipe.write(NOTHING, (error) => (error ? reject(error) : resolve()));
    });
  }
}

function reply(message: FromReportWorker): void {
  parentPort?.postMessage(message);
}

async function onMessage(message: ToReportWorker): Promise<void> {
  if (message.type === 'lines') {
    for (const line of message.lines) writeLine(line);
    await drained();
    reply({ type: 'written' });
    return;
  }
  sheet.commit();
  await workbook.commit();
  reply({ type: 'done' });
}

function onFailure(error: unknown): void {
  reply({ type: 'failed', message: error instanceof Error ? error.message : String(error) });
}

file.on('error', onFailure);
parentPort?.on('message', (message: ToReportWorker) => {
  onMessage(message).catch(onFailure);
});
