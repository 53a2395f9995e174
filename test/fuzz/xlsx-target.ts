/** Target for spreadsheets with the table of a generation. */
import exceljs from 'exceljs';
import JSZip from 'jszip';
import { readSheet } from '../../actors/pool/tables/index.ts';
import { MAX_COLUMNS, MAX_ROWS, tableOf } from '../../actors/shared/generation/data-table.ts';
import { memberMutation, zipMutation } from './mutate/chunks.ts';
import { oneOf, several } from './mutate/mutation.ts';
import { plain } from './outcome.ts';
import { BrokenPromise, type Target } from './target.ts';

/** A table never exceeds the limits of rows and columns, whatever the file states. */
export async function sheets(): Promise<Target> {
  const seeds: Buffer[] = [];
  for (const [rows, columns] of [
    [3, 2],
    [40, 12],
  ] as const) {
    const workbook = new exceljs.Workbook();
    const sheet = workbook.addWorksheet('Data');
    sheet.addRow(Array.from({ length: columns }, (_, column) => `column ${column}`));
    for (let row = 0; row < rows; row += 1) {
      sheet.addRow([
        `text ${row}`,
        row,
        ...Array.from({ length: columns - 2 }, () => new Date(Date.UTC(2026, 0, 2))),
      ]);
    }
    sheet.addRow([
      { formula: 'B2*2', result: 4 },
      { text: 'a link', hyperlink: 'http://127.0.0.1:9/' },
    ]);
    sheet.mergeCells('A99:B99');
    sheet.getRow(3).hidden = true;
    seeds.push(await stored(await workbook.xlsx.writeBuffer()));
  }
  return {
    name: 'xlsx',
    seeds,
    mutation: several(oneOf([zipMutation, memberMutation, memberMutation, memberMutation])),
    async run(input) {
      try {
        const { rows, columns } = tableOf(readSheet(input, 'skip'));
        if (rows.length > MAX_ROWS || columns.length > MAX_COLUMNS)
          throw new BrokenPromise('a table is too large');
        return `${Math.min(rows.length, 50)} rows of ${columns.length}`;
      } catch (error) {
        if (!isRefusal(error)) throw error;
        return plain(error.message);
      }
    },
  };
}

/** The same archive without compression: mutations reach its members, and their lengths and checksums stay correct. */
async function stored(archive: ArrayBuffer | ArrayBufferView): Promise<Buffer> {
  const zip = await JSZip.loadAsync(archive as Uint8Array);
  return zip.generateAsync({ type: 'nodebuffer', compression: 'STORE' });
}

/** True for an error meant for callers: a task failure, or a refusal of the portal. */
function isRefusal(error: unknown): error is Error {
  return error instanceof Error && ['TaskFailure', 'PortalRefusal'].includes(error.name);
}
