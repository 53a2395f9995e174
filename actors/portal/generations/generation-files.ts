/** The files of a generation, as the pool reads them: nothing in them costs the main thread more than its size. */

import type { OrganizationId } from '../../../machines/ids.ts';
import type { GenerationFile } from '../../../machines/portal/generation.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type { SigningPool } from '../../pool/pool.ts';
import type { GenerationFilePath, GenerationTask } from '../../pool/portal-tasks.ts';
import { type DataTable, type HiddenRows, invalid } from '../../shared/generation/data-table.ts';
import { exceedsBudget } from '../shared/pool-refusal.ts';
import type { Blobs } from '../uploads/blobs.ts';

export interface GenerationReaders {
  readonly pool: Pick<SigningPool, 'run'>;
  readonly blobs: Pick<Blobs, 'localPath'>;
}

export async function filePath(
  { name, contentType, blob }: GenerationFile,
  blobs: Pick<Blobs, 'localPath'>,
): Promise<GenerationFilePath> {
  return { name, contentType, path: await blobs.localPath(blob) };
}

/** A table to read, and what to check it with. */
export interface TableRequest {
  readonly data: GenerationFile;
  readonly hiddenRows: HiddenRows;
  /** Left out: the table alone is read. */
  readonly check?: { readonly template: GenerationFile } & Pick<GenerationTask, 'texts' | 'maxCharacters'>;
}

/**
 * @param generationId for the log
 * Refusals: `InvalidGenerationFile`, `LimitExceeded`, `ServiceBusy`.
 */
export async function readGenerationFiles(
  generationId: string,
  organization: OrganizationId,
  { data, hiddenRows, check }: TableRequest,
  { pool, blobs }: GenerationReaders,
): Promise<DataTable> {
  const task = {
    task: 'portal.generation',
    documentId: generationId,
    data: await filePath(data, blobs),
    hiddenRows,
    template: check === undefined ? null : await filePath(check.template, blobs),
    texts: check?.texts ?? null,
    maxCharacters: check?.maxCharacters ?? 0,
  } as const;
  const answer = await pool.run(task, { organization, bytes: data.blob.length });
  if (answer.ok) return answer.result;
  throw refusalOf(answer);
}

/** Refusals: `InvalidGenerationFile`, `LimitExceeded`, `ServiceBusy`. */
export function refusalOf({
  code,
  message,
}: {
  readonly code: string;
  readonly message: string;
}): PortalRefusal {
  if (code === 'InvalidGenerationFile' || code === 'LimitExceeded') return new PortalRefusal(code, message);
  if (exceedsBudget(code)) return invalid('The files of the generation take too long, or too much memory.');
  return new PortalRefusal('ServiceBusy', undefined, { retryAfterSeconds: 5 });
}
