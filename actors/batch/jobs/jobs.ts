/** Requests of clients and operators about jobs. */

import { type FileHandle, open, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { accepted, type Step } from '@sealwright/runtime';
import { LRUCache } from 'lru-cache';
import type { JobDetail, JobView } from '../../../contracts/batch/jobs.ts';
import type { FailureReport } from '../../../contracts/batch/statistics.ts';
import { ACTION_STATES } from '../../../contracts/batch/words.ts';
import {
  ACTIVE_STATES,
  type JobContext,
  type JobState,
  TERMINAL_STATES,
} from '../../../machines/batch/job-context.ts';
import type { JobId, Millis } from '../../../machines/ids.ts';
import { Refusal } from '../../../machines/refusals.ts';
import type { StepWaits } from '../../shared/coordination/step-waits.ts';
import { outputContentType } from '../../shared/files/output-names.ts';
import type { StorageLayout } from '../../shared/files/storage-layout.ts';
import type { Profiles } from '../../shared/signing/profiles.ts';
import type { BatchRuntime } from '../job-records/job-counts.ts';
import { type JobFactory, refusedJob } from '../job-records/job-factory.ts';
import type { JobActor } from '../job-records/job-index.ts';
import { jobDetail, jobView } from '../job-records/job-view.ts';
import { JOB } from '../job-records/kinds.ts';
import type { StoredOutput } from '../objects/job-objects.ts';
import { stampOfOriginal } from '../objects/originals.ts';
import type { JobUploads } from '../uploads/job-uploads.ts';
import type { JobColumns } from './job-columns.ts';
import { groupFailures } from './job-failures.ts';
import { type JobQuery, listJobs } from './job-list.ts';

const CANCELABLE: readonly string[] = ACTION_STATES.cancel;

/** Jobs with cached details, about five kilobytes each. */
const DETAIL_CACHE_SIZE = 2000;

/** A finished file to send. */
interface JobOutput {
  /** Place in the output folder; with an object store, the file is not there. */
  readonly path: string;
  readonly open: () => ReturnType<StoredOutput['open']> | Promise<FileHandle>;
  readonly fileName: string;
  readonly length: number;
  /** Lower-case hex. */
  readonly sha256: string;
  readonly contentType: string;
  readonly link?: StoredOutput['link'] | undefined;
}

export class JobService {
  /** Cached details; clients poll the same job until it ends. */
  readonly #details = new LRUCache<JobId, JobDetail>({ max: DETAIL_CACHE_SIZE });
  /** Number of steps seen: a read that overlaps a step may be stale and is not cached. */
  #steps = 0;

  readonly uploads: JobUploads;

  constructor(
    private readonly needs: {
      readonly runtime: BatchRuntime;
      readonly columns: JobColumns;
      readonly waits: StepWaits;
      readonly maker: JobFactory;
      readonly profiles: Profiles;
      readonly layout: StorageLayout;
      readonly uploads: JobUploads;
    },
  ) {
    this.uploads = needs.uploads;
  }

  /** Groups the failed jobs by error code. */
  failures(): Promise<FailureReport> {
    const { store, counts } = this.needs.runtime;
    return groupFailures(store, counts);
  }

  /** Newest first. */
  async list(query: JobQuery): Promise<{ readonly items: readonly JobView[]; readonly totalCount: number }> {
    const { store, counts, actors } = this.needs.runtime;
    const { ids, totalCount } = await listJobs(store, counts, query, this.needs.columns);
    const found = await Promise.all(ids.map((id) => actors.read(JOB, id)));
    return { items: found.filter((actor) => actor !== undefined).map(jobView), totalCount };
  }

  /** Refusals: `job.not-found`. */
  async get(id: JobId): Promise<JobDetail> {
    const address = { kind: JOB.kind, id };
    const steps = this.#steps;
    const actor = await this.#existing(id);
    const detail = jobDetail(actor, await this.needs.runtime.store.journal(address));
    if (this.#steps === steps) this.#details.set(id, detail);
    return detail;
  }

  /** Waits up to `within` milliseconds for the job's end; undefined on time-out. Refusals: `job.not-found`. */
  async whenEnded(id: JobId, within: Millis): Promise<JobDetail | undefined> {
    const hasEnded = ({ state }: { readonly state: string }) => TERMINAL_STATES.includes(state as JobState);
    const end = this.needs.waits.begin(JOB, id, hasEnded, within);
    try {
      const now = await this.get(id);
      if (TERMINAL_STATES.includes(now.status)) return now;
      await end.actor;
      const then = await this.get(id);
      return TERMINAL_STATES.includes(then.status) ? then : undefined;
    } finally {
      end.cancel();
    }
  }

  /** The cached result of `get`, the same object until the job changes. Undefined: not in the cache. */
  peek(id: JobId): JobDetail | undefined {
    return this.#details.get(id);
  }

  /** Processes a committed step before any caller is answered. */
  observe(step: Step): void {
    const { address } = step.actor;
    if (address.kind !== JOB.kind) return;
    this.needs.columns.observe(step);
    this.needs.waits.observe(step);
    this.#steps += 1;
    this.#details.delete(address.id as JobId);
  }

  /** Refusals: `job.not-found`, `job.output-unavailable`, `job.output-gone`. */
  async output(id: JobId): Promise<JobOutput> {
    const actor = await this.#existing(id);
    const context = actor.context;
    const published = context.output ?? context.signed;
    if (context.outputFileName === null || published === null) {
      throw new Refusal('job.output-unavailable', `Job ${id} is ${actor.state} and has no output.`);
    }
    const { outputFileName } = context;
    const path = join(this.needs.layout.output, outputFileName);
    const file = await this.#openOutput(path, outputFileName);
    if (file === undefined)
      throw new Refusal('job.output-gone', `${outputFileName} is no longer in the output folder.`);
    return {
      ...file,
      path,
      fileName: basename(outputFileName),
      sha256: published.sha256,
      contentType: this.#contentType(context),
    };
  }

  async #openOutput(
    path: string,
    name: string,
  ): Promise<Pick<JobOutput, 'length' | 'open' | 'link'> | undefined> {
    const { objects } = this.needs.runtime;
    if (objects !== undefined) return objects.openOutput(name);
    const file = await stat(path).catch(() => undefined);
    return file?.isFile() ? { length: file.size, open: () => open(path, 'r') } : undefined;
  }

  /** Determines the content type: the job records encryption, the profile the format below it. */
  #contentType({ format, profileName, outputEncrypted, outputFileName }: JobContext): string {
    const form = this.needs.profiles.find(profileName)?.form;
    const { container: _, ...others } = form ?? {};
    return outputContentType(format, {
      ...others,
      ...containerIn(outputFileName),
      // The published name is final, also after a change of the profile.
      detached: form?.detached === true || outputFileName?.endsWith('.p7s') === true,
      encrypted: outputEncrypted,
    });
  }

  /** Refusals: `job.not-found`, `job.not-queued`, `job.race-lost`. */
  async cancel(id: JobId, reason: string | null, by?: string): Promise<JobView> {
    const before = await this.#existing(id);
    if (!CANCELABLE.includes(before.state)) throw notCancelable(before);
    const { actors } = this.needs.runtime;
    const message = { type: 'CANCEL', reason, ...(by && { by }) } as const;
    const canceled = await actors.send(JOB, id, message);
    if (canceled.accepted) return jobView(canceled);
    const now = await this.#existing(id);
    throw new Refusal('job.race-lost', `Job ${id} became ${now.state} before it could be canceled.`);
  }

  /** Refusals: `job.not-found`, `job.not-failed`, `profile.not-found`, `job.input-missing`, `job.already-processing`. */
  async retry(id: JobId, by?: string): Promise<JobView> {
    const parent = await this.#existing(id);
    const context = parent.context;
    if (parent.state !== 'Failed') throw new Refusal('job.not-failed', `Job ${id} is ${parent.state}.`);
    if (!this.needs.profiles.find(context.profileName)) {
      throw new Refusal('profile.not-found', `The profile ${context.profileName} is no longer configured.`);
    }
    const seen = await stampOfOriginal(context.originalPath, this.needs.runtime);
    if (seen === undefined) throw new Refusal('job.input-missing', `${context.originalPath} is gone.`);
    const made = this.needs.maker.create({
      fileName: context.fileName,
      originalPath: context.originalPath,
      format: context.format,
      profileName: context.profileName,
      source: 'Retry',
      folder: context.folder,
      ...(context.subfolder && { subfolder: context.subfolder }),
      ...(context.files && { files: context.files }),
      ...remoteDocumentOf(id, context),
      ...(context.operation && { operation: context.operation }),
      ...(context.parameters && { parameters: context.parameters }),
      ...(context.sealedPassword && { sealedPassword: context.sealedPassword }),
      parentJobId: id,
      seen,
      message: `Retry of job ${id}.`,
      ...(by && { by }),
    });
    const child = await accepted(made, refusedJob);
    const retried = { type: 'RETRIED', jobId: child.id as JobId, ...(by && { by }) } as const;
    await this.needs.runtime.actors.send(JOB, id, retried);
    return jobView(child);
  }

  async #existing(id: JobId): Promise<JobActor> {
    const actor = await this.needs.runtime.actors.read(JOB, id);
    if (!actor) throw new Refusal('job.not-found', `No job has the id ${id}.`);
    return actor;
  }
}

/** The container format of a published file name. */
function containerIn(outputFileName: string | null): { readonly container?: 'S' | 'E' } {
  const kind = /\.asic([se])(\.enc)?$/.exec(outputFileName ?? '')?.[1];
  return kind === undefined ? {} : { container: kind === 's' ? 'S' : 'E' };
}

/** The remote document that the job created or would have attached to. */
function remoteDocumentOf(
  jobId: JobId,
  { remoteDocumentId, input, remoteDocument }: JobContext,
): Pick<JobContext, 'remoteDocument'> {
  if (remoteDocumentId !== null && input !== null)
    return { remoteDocument: { documentId: remoteDocumentId, sha256: input.sha256, jobId } };
  return remoteDocument === undefined ? {} : { remoteDocument };
}

function notCancelable(actor: JobActor): Refusal {
  const active = ACTIVE_STATES.includes(actor.state as JobState);
  return new Refusal(
    'job.not-queued',
    `Job ${actor.id} is ${active ? 'in flight' : `already ${actor.state}`}.`,
  );
}
