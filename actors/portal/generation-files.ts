/** Reads the table of a generation, whatever kind of file it is in. */
import { readFile } from 'node:fs/promises';
import type { GenerationFile } from '../../machines/generation.ts';
import { PortalRefusal } from '../../machines/portal-refusals.ts';
import type { SigningPool } from '../pool/pool.ts';
import type { Blobs } from './blobs.ts';
import { type DataTable, invalid, MOST_COLUMNS, MOST_ROWS, readTable, tableOf } from './generation-data.ts';

const SHEET = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';

/**
 * Spreadsheets are read in the pool: they take a while, and may be made to take very long.
 * @param generationId for the log
 * Refusals: `InvalidGenerationFile`, `LimitExceeded`, `ServiceBusy`.
 */
export async function readData(
  { name, contentType, blob }: GenerationFile,
  generationId: string,
  { pool, blobs }: { readonly pool: Pick<SigningPool, 'run'>; readonly blobs: Pick<Blobs, 'pathOf'> },
): Promise<DataTable> {
  const path = blobs.pathOf(blob);
  if (contentType !== SHEET && !/\.xlsx$/i.test(name))
    return readTable(await readFile(path), { name, contentType });
  const answer = await pool.run({
    task: 'portal.sheet',
    documentId: generationId,
    // One row names the columns, and one more than there may be shows that there are too many.
    ...{ path, mostRows: MOST_ROWS + 2, mostColumns: MOST_COLUMNS },
  });
  if (answer.ok) return tableOf(answer.result.rows);
  if (answer.code === 'sheet.unreadable') throw invalid(answer.message);
  throw new PortalRefusal('ServiceBusy', undefined, { retryAfterSeconds: 5 });
}
