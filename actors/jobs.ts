/** What clients, watchers and operators may do with jobs. Implements the port `Jobs`; see `api.ts` for its promises. */
import { stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { FolderName, JobId, ProfileName } from '../machines/ids.ts';
import {
  ACTIVE_STATES,
  type FileStamp,
  type JobContext,
  type JobFormat,
  type JobInput,
  type JobSource,
  type JobState,
} from '../machines/job.ts';
import { Refusal } from '../machines/refusals.ts';
import type {
  ActorStore,
  ActorSystem,
  ActorView,
  Clock,
  Faults,
  Ids,
  StepOutcome,
} from '../runtime/index.ts';
import { describeFailure, Fatal } from '../runtime/index.ts';
import type { Candidate, OfferAnswer } from './adapters/watched-folder/index.ts';
import type { JobDetail, JobOutput, JobQuery, Jobs, JobView } from './api.ts';
import { formatByName, outputContentType } from './file-names.ts';
import type { JobCounts } from './job-counts.ts';
import { listJobs } from './job-list.ts';
import type { JobOrder } from './job-order.ts';
import { jobDetail, jobView } from './job-view.ts';
import type { Profiles } from './profiles.ts';
import { JOB, type PathRow } from './registry.ts';
import { PATH_LIMIT, pathKey, type StorageLayout } from './storage-layout.ts';
import { type Upload, type Uploads, unavailable } from './uploads.ts';

export interface JobsParts {
  readonly system: ActorSystem;
  readonly store: ActorStore;
  readonly counts: JobCounts;
  readonly order: JobOrder;
  readonly profiles: Profiles;
  readonly uploads: Uploads;
  readonly layout: StorageLayout;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly faults: Faults;
}

/** A watcher cannot take a file whose path is too long to be stored; counted as a failure of its folder. */
function tooLong(path: string): Fatal {
  return new Fatal(
    'job.path-too-long',
    `The path is ${path.length} characters long; ${PATH_LIMIT} are the limit: ${path.slice(0, 120)}…`,
  );
}

export class JobService implements Jobs {
  readonly #parts: JobsParts;

  constructor(parts: JobsParts) {
    this.#parts = parts;
  }

  plan(request: {
    readonly fileName: string;
    readonly format: JobFormat | undefined;
    readonly profile: string | undefined;
  }): {
    readonly format: JobFormat;
    readonly profile: ProfileName;
  } {
    const profile = this.#parts.profiles.find(request.profile);
    if (!profile) throw new Refusal('profile.not-found', `No signing profile is called ${request.profile}.`);
    return {
      profile: profile.name,
      format: request.format ?? profile.format ?? formatByName(request.fileName),
    };
  }

  openUpload(fileName: string): Promise<Upload> {
    return this.#parts.uploads.open(fileName);
  }

  async acceptUpload(
    upload: Upload,
    job: { readonly fileName: string; readonly format: JobFormat; readonly profile: ProfileName },
  ): Promise<JobView> {
    if (upload.length === 0) throw new Refusal('upload.empty', 'The file has no bytes.');
    const { faults } = this.#parts;
    const seen = await upload.finish().catch((error: unknown) => {
      throw unavailable(error);
    });
    await faults.at('upload.synced');
    const outcome = await this.#create({
      ...job,
      profileName: job.profile,
      originalPath: upload.path,
      source: 'Upload',
      folder: null,
      parentJobId: null,
      seen,
      message: 'Uploaded.',
    }).catch((error: unknown) => {
      if (describeFailure(error).code === 'store.unavailable') upload.leave();
      throw error;
    });
    const actor = accepted(outcome);
    upload.leave();
    await actor.durable;
    await faults.at('upload.committed');
    await upload.rename();
    await faults.at('upload.renamed');
    return jobView(actor.actor);
  }

  /**
   * Takes a file that a watcher found stable. Resolves when the job is visible, not durable: until it is, the
   * file itself, still in its folder, is the record.
   */
  async takeFromFolder(
    folder: { readonly name: FolderName; readonly profile: ProfileName },
    file: Candidate,
  ): Promise<OfferAnswer> {
    if (file.path.length > PATH_LIMIT) throw tooLong(file.path);
    if (await this.#endedWithSameContent(file)) return 'declined';
    const outcome = await this.#create(this.#fromFolder(folder, file, 'watcher'));
    if (outcome.accepted) return 'enqueued';
    if (outcome.because === 'taken') return 'active';
    throw new Fatal('internal', `The job was refused: ${outcome.because}.`);
  }

  /**
   * Takes a file because an operator asked for it: it need not be stable, and may have been canceled or have failed.
   * Undefined when an active job has it. Source: Batch Signing Service API, "What the service does" 12.
   */
  async takeByRescan(
    folder: { readonly name: FolderName; readonly profile: ProfileName },
    file: Candidate,
  ): Promise<JobView | undefined> {
    if (file.path.length > PATH_LIMIT) throw tooLong(file.path);
    const outcome = await this.#create(this.#fromFolder(folder, file, 'rescan'));
    if (!outcome.accepted && outcome.because === 'taken') return undefined;
    const { actor, durable } = accepted(outcome);
    await durable;
    return jobView(actor);
  }

  /** A job for a file in an input folder. `by` is part of its first history line. */
  #fromFolder(
    folder: { readonly name: FolderName; readonly profile: ProfileName },
    file: Candidate,
    by: 'watcher' | 'rescan',
  ) {
    const { format } = this.plan({ fileName: file.fileName, format: undefined, profile: folder.profile });
    return {
      fileName: file.fileName,
      originalPath: file.path,
      format,
      profileName: folder.profile,
      source: 'Watcher' as const,
      folder: folder.name,
      parentJobId: null,
      seen: { size: file.size, mtimeMs: file.mtimeMs },
      message: `Enqueued by ${by} (folder ${folder.name}).`,
    };
  }

  /** The newest job of the path was canceled or failed, and the file has not been touched since. */
  async #endedWithSameContent(file: Candidate): Promise<boolean> {
    const [row] = await this.#parts.store.rows({ view: 'paths', prefix: [pathKey(file.path)], limit: 1 });
    if (!row) return false;
    const { closed, size, mtimeMs } = row.value as unknown as PathRow;
    return closed && size === file.size && mtimeMs === file.mtimeMs;
  }

  async list(query: JobQuery): Promise<{ readonly items: readonly JobView[]; readonly totalCount: number }> {
    const { store, counts, system } = this.#parts;
    const { ids, totalCount } = await listJobs(store, counts, query);
    const actors = await Promise.all(ids.map((id) => system.read({ kind: JOB, id })));
    return { items: actors.filter((actor) => actor !== undefined).map(jobView), totalCount };
  }

  async get(id: JobId): Promise<JobDetail> {
    const address = { kind: JOB, id };
    const actor = await this.#existing(id);
    return jobDetail(actor, await this.#parts.store.journal(address));
  }

  async output(id: JobId): Promise<JobOutput> {
    const actor = await this.#existing(id);
    const context = actor.context as JobContext;
    if (context.outputFileName === null || context.signed === null) {
      throw new Refusal('job.output-unavailable', `Job ${id} is ${actor.state} and has no output.`);
    }
    const path = join(this.#parts.layout.output, context.outputFileName);
    const file = await stat(path).catch(() => undefined);
    if (!file?.isFile())
      throw new Refusal('job.output-gone', `${context.outputFileName} is no longer in the output folder.`);
    return {
      path,
      fileName: basename(path),
      length: file.size,
      sha256: context.signed.sha256,
      contentType: outputContentType(context.format),
    };
  }

  async cancel(id: JobId, reason: string | null): Promise<JobView> {
    const before = await this.#existing(id);
    if (before.state !== 'Queued' && before.state !== 'AwaitingSigner') throw notCancelable(before);
    const outcome = await this.#parts.system.tell({ kind: JOB, id }, { type: 'CANCEL', reason });
    if (!outcome.accepted) {
      const now = await this.#existing(id);
      throw new Refusal('job.race-lost', `Job ${id} became ${now.state} before it could be canceled.`);
    }
    await outcome.durable;
    return jobView(outcome.actor);
  }

  async retry(id: JobId): Promise<JobView> {
    const parent = await this.#existing(id);
    const context = parent.context as JobContext;
    if (parent.state !== 'Failed') throw new Refusal('job.not-failed', `Job ${id} is ${parent.state}.`);
    if (!this.#parts.profiles.find(context.profileName)) {
      throw new Refusal('profile.not-found', `The profile ${context.profileName} is no longer configured.`);
    }
    const file = await stat(context.originalPath).catch(() => undefined);
    if (!file?.isFile()) throw new Refusal('job.input-missing', `${context.originalPath} is gone.`);
    const outcome = await this.#create({
      fileName: context.fileName,
      originalPath: context.originalPath,
      format: context.format,
      profileName: context.profileName,
      source: 'Retry',
      folder: context.folder,
      parentJobId: id,
      seen: { size: file.size, mtimeMs: file.mtimeMs },
      message: `Retry of job ${id}.`,
    });
    const child = accepted(outcome);
    const told = await this.#parts.system.tell({ kind: JOB, id }, { type: 'RETRIED', jobId: child.actor.id });
    await Promise.all([child.durable, told.accepted ? told.durable : undefined]);
    return jobView(child.actor);
  }

  async #existing(id: JobId): Promise<ActorView> {
    const actor = await this.#parts.system.read({ kind: JOB, id });
    if (!actor) throw new Refusal('job.not-found', `No job has the id ${id}.`);
    return actor;
  }

  #create(
    job: Omit<JobInput, 'order' | 'pathKey' | 'at'> & {
      readonly source: JobSource;
      readonly seen: FileStamp;
    },
  ): Promise<StepOutcome> {
    const { system, ids, order, clock } = this.#parts;
    const { fileName, originalPath, format, profileName, source, folder, parentJobId, seen, message } = job;
    const input = {
      fileName,
      originalPath,
      format,
      profileName,
      source,
      folder,
      parentJobId,
      seen: { size: seen.size, mtimeMs: seen.mtimeMs },
      message,
      order: order.next(),
      pathKey: pathKey(originalPath),
      at: clock.now(),
    };
    return system.create({ kind: JOB, id: ids.uuid() }, input);
  }
}

/** The step of a new job, or the refusal a client gets. */
function accepted(outcome: StepOutcome): Extract<StepOutcome, { readonly accepted: true }> {
  if (outcome.accepted) return outcome;
  if (outcome.because === 'taken') {
    throw new Refusal('job.already-processing', `Job ${outcome.holder.id} has this file.`);
  }
  throw new Fatal('internal', `The job was refused: ${outcome.because}.`);
}

function notCancelable(actor: ActorView): Refusal {
  const active = ACTIVE_STATES.includes(actor.state as JobState);
  return new Refusal(
    'job.not-queued',
    `Job ${actor.id} is ${active ? 'in flight' : `already ${actor.state}`}.`,
  );
}
