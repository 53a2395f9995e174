/** Creates jobs: assigns id, order number and time. */

import { type Answer, Fatal, type Refused } from '@sealwright/runtime';
import type { FileStamp, JobInput } from '../../../machines/batch/job-context.ts';
import { Refusal } from '../../../machines/refusals.ts';
import { pathKey } from '../../shared/files/storage-layout.ts';
import { GrowingIds } from '../../shared/ids/growing-ids.ts';
import type { OrderNumbers } from '../../shared/ids/order-numbers.ts';
import type { BatchRuntime } from './job-counts.ts';
import { JOB } from './kinds.ts';

export type NewJob = Omit<JobInput, 'order' | 'pathKey' | 'at' | 'webhooksPending'>;

export class JobFactory {
  readonly #ids: GrowingIds;

  constructor(
    private readonly runtime: Pick<BatchRuntime, 'actors' | 'ids'>,
    private readonly order: OrderNumbers,
    /** True: the ends of jobs are announced to webhooks. @default false */
    private readonly announceEnds?: boolean,
  ) {
    this.#ids = new GrowingIds(runtime.ids);
  }

  /** `taken`: an active job owns the path, or a job holds the upload key. */
  create(job: NewJob): Promise<Answer<typeof JOB>> {
    const { order, announceEnds } = this;
    const { order: number, at } = order.next();
    // Copies named members only: the caller's object may hold more than the job stores.
    const input = {
      fileName: job.fileName,
      originalPath: job.originalPath,
      format: job.format,
      profileName: job.profileName,
      source: job.source,
      folder: job.folder,
      parentJobId: job.parentJobId,
      seen: job.seen && stampOf(job.seen),
      uploadKey: job.uploadKey ?? null,
      message: job.message,
      order: number,
      pathKey: pathKey(job.originalPath),
      at,
      ...(job.uploadSha256 && { uploadSha256: job.uploadSha256 }),
      ...(job.subfolder && { subfolder: job.subfolder }),
      ...(job.sealedPassword && { sealedPassword: job.sealedPassword }),
      ...(job.operation && { operation: job.operation }),
      ...(job.parameters && { parameters: job.parameters }),
      ...(job.files && { files: job.files.map(({ name, length }) => ({ name, length })) }),
      ...(job.remoteDocument && { remoteDocument: { ...job.remoteDocument } }),
      ...(job.by && { by: job.by }),
      ...(announceEnds && { webhooksPending: true }),
    };
    return this.runtime.actors.create(JOB, this.#ids.next(at), input);
  }
}

function stampOf({ size, mtimeMs, etag }: FileStamp): FileStamp {
  return { size, mtimeMs, ...(etag !== undefined && { etag }) };
}

/** The error of a job that was not created. */
export function refusedJob(refused: Refused): Error {
  return refused.reason === 'taken'
    ? new Refusal('job.already-processing', `Job ${refused.holder.id} has this file.`)
    : new Fatal('internal', `The job was refused: ${refused.reason}.`);
}
