/**
 * The thread that writes one spreadsheet, line by line to the disk.
 * Source: portal-gaps §18, "columns".
 */
import { createWriteStream } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import exceljs from 'exceljs';
import type { FromReportWorker, ReportLine, ReportWorkerSetup, ToReportWorker } from './report-wire.ts';

/** Lines of one sheet; the format holds 1,048,576, the head included. */
const SHEET_LINES = 1_000_000;
/** Characters of one cell that the format holds. */
const CELL_CHARACTERS = 32_767;
const DATE_FORMAT = 'yyyy-mm-dd hh:mm:ss.000';

/** What XML 1.0 cannot hold. */
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

function cell(text: string): string {
  return text.replace(NO_XML, '').slice(0, CELL_CHARACTERS);
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

function tell(message: FromReportWorker): void {
  parentPort?.postMessage(message);
}

async function take(message: ToReportWorker): Promise<void> {
  if (message.type === 'lines') {
    for (const line of message.lines) writeLine(line);
    // What was written passes through compression and the disk before more is asked for.
    await nextTurn();
    tell({ type: 'written' });
    return;
  }
  sheet.commit();
  await workbook.commit();
  tell({ type: 'done' });
}

function fail(error: unknown): void {
  tell({ type: 'failed', message: error instanceof Error ? error.message : String(error) });
}

file.on('error', fail);
parentPort?.on('message', (message: ToReportWorker) => {
  take(message).catch(fail);
});
