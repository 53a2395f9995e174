/** Brings jobs to life: gives them id, number and time. */
import type { JobInput } from '../machines/job-context.ts';
import { Refusal } from '../machines/refusals.ts';
import { type ActorSystem, Fatal, type Ids, type StepOutcome } from '../runtime/index.ts';
import { type JobOrder, timeOf } from './job-order.ts';
import { JOB } from './registry.ts';
import { pathKey } from './storage-layout.ts';

export interface JobMakerParts {
  readonly system: ActorSystem;
  readonly order: JobOrder;
  readonly ids: Ids;
}

export type NewJob = Omit<JobInput, 'order' | 'pathKey' | 'at'>;

export class JobMaker {
  readonly #parts: JobMakerParts;

  constructor(parts: JobMakerParts) {
    this.#parts = parts;
  }

  /** `taken` when an active job has the path, or a job the upload key. */
  make(job: NewJob): Promise<StepOutcome> {
    const { system, ids, order } = this.#parts;
    const number = order.next();
    // One member after the other: what callers pass may hold more than a job is to remember.
    const input = {
      fileName: job.fileName,
      originalPath: job.originalPath,
      format: job.format,
      profileName: job.profileName,
      source: job.source,
      folder: job.folder,
      parentJobId: job.parentJobId,
      seen: job.seen && { size: job.seen.size, mtimeMs: job.seen.mtimeMs },
      uploadKey: job.uploadKey ?? null,
      message: job.message,
      order: number,
      pathKey: pathKey(job.originalPath),
      at: timeOf(number),
      ...(job.subfolder && { subfolder: job.subfolder }),
    };
    return system.create({ kind: JOB, id: ids.uuid() }, input);
  }
}

/** The step of a new job, or the refusal a client gets. */
export function accepted(outcome: StepOutcome): Extract<StepOutcome, { readonly accepted: true }> {
  if (outcome.accepted) return outcome;
  if (outcome.because === 'taken') {
    throw new Refusal('job.already-processing', `Job ${outcome.holder.id} has this file.`);
  }
  throw new Fatal('internal', `The job was refused: ${outcome.because}.`);
}
