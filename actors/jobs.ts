/** What clients and operators may do with jobs. Implements the port `Jobs`; see `api.ts` for its promises. */
import { stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { JobId, ProfileName } from '../machines/ids.ts';
import { ACTIVE_STATES, type JobContext, type JobFormat, type JobState } from '../machines/job-context.ts';
import { Refusal } from '../machines/refusals.ts';
import type { ActorStore, ActorSystem, ActorView, Faults, Step, StepOutcome } from '../runtime/index.ts';
import { isRetryable } from '../runtime/index.ts';
import type { JobDetail, JobOutput, JobQuery, Jobs, JobView, UploadKey } from './api.ts';
import { formatByName, outputContentType } from './file-names.ts';
import type { JobCounts } from './job-counts.ts';
import { listJobs } from './job-list.ts';
import { accepted, type JobMaker } from './job-maker.ts';
import { jobDetail, jobView } from './job-view.ts';
import { LatelyUsed } from './lately-used.ts';
import type { Profiles } from './profiles.ts';
import { JOB, uploadKeyName } from './registry.ts';
import { pathKey, type StorageLayout } from './storage-layout.ts';
import { type UploadKeys, uploadKeyText } from './upload-keys.ts';
import { type Upload, type Uploads, unavailable } from './uploads.ts';

/** Times an upload is tried whose key was held by a job that then gave it up. */
const KEY_TRIES = 3;

/** Jobs whose details are kept, at about five kilobytes each. */
const TOLD = 2000;

export interface JobsParts {
  readonly system: ActorSystem;
  readonly store: ActorStore;
  readonly counts: JobCounts;
  readonly maker: JobMaker;
  readonly profiles: Profiles;
  readonly uploads: Uploads;
  readonly uploadKeys: UploadKeys;
  readonly layout: StorageLayout;
  readonly faults: Faults;
}

export class JobService implements Jobs {
  readonly #parts: JobsParts;
  /** What clients were told of jobs; most ask for the same one until it is done. */
  readonly #told = new LatelyUsed<JobId, JobDetail>(TOLD);
  /** Steps of jobs seen so far: what was read while one came may be of before. */
  #steps = 0;
  /** Refused because the store failed: whether their jobs were stored is not known yet. */
  readonly #doubtful = new Set<Upload>();

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

  async uploadedAs(key: UploadKey): Promise<JobView | undefined> {
    const job = await this.#parts.uploadKeys.find(uploadKeyText(key));
    return job && jobView(job);
  }

  async acceptUpload(
    upload: Upload,
    job: {
      readonly fileName: string;
      readonly format: JobFormat;
      readonly profile: ProfileName;
      readonly key?: UploadKey | undefined;
    },
  ): Promise<JobView> {
    if (upload.length === 0) throw new Refusal('upload.empty', 'The file has no bytes.');
    const { faults } = this.#parts;
    const seen = await upload.finish().catch((error: unknown) => {
      throw unavailable(error);
    });
    await faults.at('upload.synced');
    const uploadKey = job.key === undefined ? null : uploadKeyText(job.key);
    const made = await this.#makeOrFind(uploadKey, {
      fileName: job.fileName,
      format: job.format,
      profileName: job.profile,
      originalPath: upload.path,
      source: 'Upload',
      folder: null,
      parentJobId: null,
      seen,
      message: 'Uploaded.',
    }).catch((error: unknown) => {
      // A store that failed leaves open whether the job is stored; a lost thread has not stored it.
      if (isRetryable(error) && error.code !== 'shard.lost') {
        upload.leave();
        this.#doubtful.add(upload);
      }
      throw error;
    });
    if ('found' in made) {
      await upload.abort();
      return jobView(made.found);
    }
    const actor = accepted(made.outcome);
    upload.leave();
    await actor.durable;
    await faults.at('upload.committed');
    await upload.rename();
    await faults.at('upload.renamed');
    if (this.#doubtful.size > 0) await this.#settleDoubtful();
    return jobView(actor.actor);
  }

  /** The store takes steps again, so it can tell which of the uploads that seemed to be refused have a job. */
  async #settleDoubtful(): Promise<void> {
    for (const upload of this.#doubtful) {
      const prefix = [pathKey(upload.path)];
      try {
        const [job] = await this.#parts.store.rows({ view: 'paths', prefix, limit: 1 });
        if (job) await upload.rename();
        else await upload.remove();
        this.#doubtful.delete(upload);
      } catch {
        // The next upload tries again, and the next start does.
        return;
      }
    }
  }

  /** A new job, or the one that has its upload key. */
  async #makeOrFind(
    uploadKey: string | null,
    job: Parameters<JobMaker['make']>[0],
  ): Promise<{ readonly outcome: StepOutcome } | { readonly found: ActorView }> {
    const { maker, uploadKeys } = this.#parts;
    for (let tries = 1; ; tries += 1) {
      const outcome = await maker.make({ ...job, uploadKey });
      if (outcome.accepted || outcome.because !== 'taken' || uploadKey === null) return { outcome };
      if (outcome.name !== uploadKeyName(uploadKey) || tries === KEY_TRIES) return { outcome };
      const found = await uploadKeys.find(uploadKey);
      if (found) return { found };
    }
  }

  async list(query: JobQuery): Promise<{ readonly items: readonly JobView[]; readonly totalCount: number }> {
    const { store, counts, system } = this.#parts;
    const { ids, totalCount } = await listJobs(store, counts, query);
    const actors = await Promise.all(ids.map((id) => system.read({ kind: JOB, id })));
    return { items: actors.filter((actor) => actor !== undefined).map(jobView), totalCount };
  }

  async get(id: JobId): Promise<JobDetail> {
    const address = { kind: JOB, id };
    const steps = this.#steps;
    const actor = await this.#existing(id);
    const detail = jobDetail(actor, await this.#parts.store.journal(address));
    if (this.#steps === steps) this.#told.keep(id, detail);
    return detail;
  }

  atHand(id: JobId): JobDetail | undefined {
    return this.#told.get(id);
  }

  /** Sees each committed step before anybody is answered. */
  observe({ actor: { address } }: Step): void {
    if (address.kind !== JOB) return;
    this.#steps += 1;
    this.#told.forget(address.id as JobId);
  }

  async output(id: JobId): Promise<JobOutput> {
    const actor = await this.#existing(id);
    const context = actor.context as JobContext;
    const published = context.output ?? context.signed;
    if (context.outputFileName === null || published === null) {
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
      sha256: published.sha256,
      contentType: this.#contentType(context),
    };
  }

  /** The job knows whether its output is an envelope; the form below that is its profile's. */
  #contentType({ format, profileName, outputEncrypted, outputFileName }: JobContext): string {
    const form = this.#parts.profiles.find(profileName)?.form;
    return outputContentType(format, {
      ...form,
      // Its name says so for good, whatever became of the profile.
      detached: form?.detached === true || outputFileName?.endsWith('.p7s') === true,
      encrypted: outputEncrypted,
    });
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
    const outcome = await this.#parts.maker.make({
      fileName: context.fileName,
      originalPath: context.originalPath,
      format: context.format,
      profileName: context.profileName,
      source: 'Retry',
      folder: context.folder,
      ...(context.subfolder && { subfolder: context.subfolder }),
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
}

function notCancelable(actor: ActorView): Refusal {
  const active = ACTIVE_STATES.includes(actor.state as JobState);
  return new Refusal(
    'job.not-queued',
    `Job ${actor.id} is ${active ? 'in flight' : `already ${actor.state}`}.`,
  );
}
