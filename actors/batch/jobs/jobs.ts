/** Requests of clients and operators about jobs. Implements the port `Jobs` of `batch/api/jobs.ts`. */

import { stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { Fatal, isRetryable, Retryable, type Step, type StepOutcome } from '@sealwright/runtime';
import { LRUCache } from 'lru-cache';
import type { JobDetail, JobView } from '../../../contracts/batch/jobs.ts';
import type { FailureReport } from '../../../contracts/batch/statistics.ts';
import {
  ACTIVE_STATES,
  type JobContext,
  type JobState,
  TERMINAL_STATES,
} from '../../../machines/batch/job-context.ts';
import type { JobId, Millis } from '../../../machines/ids.ts';
import { Refusal } from '../../../machines/refusals.ts';
import { formatByName, outputContentType } from '../../shared/file-names.ts';
import type { Profile, Profiles } from '../../shared/profiles.ts';
import type { SecretBox } from '../../shared/secret-box.ts';
import { pathKey, type StorageLayout } from '../../shared/storage-layout.ts';
import type {
  IncomingUpload,
  JobOutput,
  JobQuery,
  Jobs,
  UploadJob,
  UploadKey,
  UploadPlan,
  UploadRequest,
} from '../api/jobs.ts';
import { PASSWORD_PLACE } from '../effects/effect-handler.ts';
import type { BatchRuntime } from '../job-records/job-counts.ts';
import type { JobActor } from '../job-records/job-index.ts';
import { jobDetail, jobView } from '../job-records/job-view.ts';
import { JOB, uploadKeyName } from '../job-records/kinds.ts';
import type { JobEnds } from './job-ends.ts';
import { accepted, type JobFactory } from './job-factory.ts';
import { groupFailures } from './job-failures.ts';
import { listJobs } from './job-list.ts';
import type { NameIndex } from './name-index.ts';
import { receiveUpload } from './receive-upload.ts';
import { assertSameUpload, type UploadContent, type UploadKeys, uploadKeyText } from './upload-keys.ts';
import { RepeatedUpload, type Upload, type Uploads, unavailable } from './uploads.ts';

/** Attempts of an upload whose key belongs to a job that is being released. */
const MAX_KEY_ATTEMPTS = 3;

/** Jobs with cached details, about five kilobytes each. */
const DETAIL_CACHE_SIZE = 2000;

export class JobService implements Jobs {
  /** Cached details; clients poll the same job until it ends. */
  readonly #details = new LRUCache<JobId, JobDetail>({ max: DETAIL_CACHE_SIZE });
  /** Number of steps seen: a read that overlaps a step may be stale and is not cached. */
  #steps = 0;
  /** Uploads refused because the store failed: it is unknown whether their jobs are stored. */
  readonly #unconfirmed = new Set<Upload>();

  constructor(
    private readonly runtime: BatchRuntime,
    private readonly names: NameIndex,
    private readonly ends: JobEnds,
    private readonly maker: JobFactory,
    private readonly profiles: Profiles,
    private readonly uploads: Uploads,
    private readonly uploadKeys: UploadKeys,
    private readonly layout: StorageLayout,
    /** Encrypts passwords of uploads at rest. @default uploads with a password are refused */
    private readonly secrets?: SecretBox | undefined,
  ) {}

  receive(upload: IncomingUpload): Promise<JobView> {
    return receiveUpload(this, upload);
  }

  /** Finds the profile that a file names (or the default one) and the format it gets. Refusals: `profile.not-found`. */
  plan(request: UploadRequest): UploadPlan {
    const profile = this.profiles.find(request.profile);
    if (!profile) throw new Refusal('profile.not-found', `No signing profile is called ${request.profile}.`);
    if (request.operation === 'Extend') assertExtends(profile);
    const format = request.format ?? profile.format ?? formatByName(request.fileName);
    const container = profile.form?.container;
    if (request.operation === 'Extend') return { profile: profile.name, format };
    if (container !== undefined && format === 'Pades') {
      const text = `The profile ${profile.name} makes ASiC containers, which hold Cades or Xades signatures.`;
      throw new Refusal('upload.format-unsupported', text, {
        errors: { format: ['must be Cades or Xades for a profile with a Container'] },
      });
    }
    return { profile: profile.name, format, takesSeveral: container === 'E' };
  }

  async openUpload(fileName: string, key?: UploadKey): Promise<Upload | RepeatedUpload> {
    if (key !== undefined && (await this.uploadKeys.find(uploadKeyText(key))) !== undefined)
      return new RepeatedUpload();
    return this.uploads.open(fileName, key !== undefined);
  }

  /** @param upload opened with the same `key` */
  async acceptUpload(upload: Upload | RepeatedUpload, job: UploadJob): Promise<JobView> {
    if (upload.length === 0) throw new Refusal('upload.empty', 'The file has no bytes.');
    const sha256 = upload.sha256();
    if (upload instanceof RepeatedUpload) return this.#repeated(job, sha256);
    const { faults } = this.runtime;
    const seen = await upload.finish().catch((error: unknown) => {
      throw unavailable(error);
    });
    await faults.at('upload.synced');
    const uploadKey = job.key === undefined ? null : uploadKeyText(job.key);
    const made = await this.#createOrFind(uploadKey, {
      fileName: job.fileName,
      format: job.format,
      profileName: job.profile,
      originalPath: upload.path,
      source: 'Upload',
      folder: null,
      parentJobId: null,
      ...(job.files && { files: job.files }),
      ...(job.operation && { operation: job.operation }),
      ...(job.password && { sealedPassword: this.#encrypted(job.password) }),
      ...(sha256 !== undefined && { uploadSha256: sha256 }),
      seen,
      message: job.operation === 'Extend' ? 'Uploaded to be extended.' : 'Uploaded.',
    }).catch((error: unknown) => {
      // After a store failure the job may be stored; after the loss of a thread it is not.
      if (isRetryable(error) && error.code !== 'shard.lost') {
        upload.keep();
        this.#unconfirmed.add(upload);
      }
      throw error;
    });
    if ('found' in made) {
      await upload.abort();
      assertSameUpload(made.found.context, { ...job, sha256 });
      return jobView(made.found);
    }
    const actor = accepted(made.outcome);
    upload.keep();
    await actor.durable;
    await faults.at('upload.committed');
    await upload.rename();
    await faults.at('upload.renamed');
    if (this.#unconfirmed.size > 0) await this.#confirmPending();
    return jobView(actor.actor);
  }

  /** The job of the key, when its upload was the same. */
  async #repeated(
    job: Omit<UploadContent, 'sha256'> & { readonly key?: UploadKey | undefined },
    sha256: string | undefined,
  ): Promise<JobView> {
    const made = job.key && (await this.uploadKeys.find(uploadKeyText(job.key)));
    // The job existed when the upload began; its key has expired since.
    if (!made)
      throw new Retryable('upload.key-expired', 'The key has expired meanwhile; send the upload again.');
    assertSameUpload(made.context, { ...job, sha256 });
    return jobView(made);
  }

  /** The store works again: finds out which of the unconfirmed uploads have a job. */
  async #confirmPending(): Promise<void> {
    for (const upload of this.#unconfirmed) {
      const prefix = [pathKey(upload.path)];
      try {
        const [job] = await this.runtime.store.rows({ view: 'paths', prefix, limit: 1 });
        if (job) await upload.rename();
        else await upload.remove();
        this.#unconfirmed.delete(upload);
      } catch {
        // The next upload or start tries again.
        return;
      }
    }
  }

  /** Creates a job, or finds the one with its upload key. */
  async #createOrFind(
    uploadKey: string | null,
    job: Parameters<JobFactory['create']>[0],
  ): Promise<{ readonly outcome: StepOutcome } | { readonly found: JobActor }> {
    const { maker, uploadKeys } = this;
    for (let tries = 1; ; tries += 1) {
      const outcome = await maker.create({ ...job, uploadKey });
      if (outcome.accepted || outcome.reason !== 'taken' || uploadKey === null) return { outcome };
      if (outcome.name !== uploadKeyName(uploadKey) || tries === MAX_KEY_ATTEMPTS) return { outcome };
      const found = await uploadKeys.find(uploadKey);
      if (found) return { found };
    }
  }

  #encrypted(password: string): string {
    const { secrets } = this;
    if (secrets === undefined) throw new Fatal('internal', 'There is no key to encrypt passwords with.');
    return secrets.encrypt(password, PASSWORD_PLACE);
  }

  failures(): Promise<FailureReport> {
    const { store, counts } = this.runtime;
    return groupFailures(store, counts);
  }

  async list(query: JobQuery): Promise<{ readonly items: readonly JobView[]; readonly totalCount: number }> {
    const { store, counts, system } = this.runtime;
    const { ids, totalCount } = await listJobs(store, counts, query, this.names);
    const actors = await Promise.all(ids.map((id) => system.read({ kind: JOB, id })));
    return { items: actors.filter((actor) => actor !== undefined).map(jobView), totalCount };
  }

  async get(id: JobId): Promise<JobDetail> {
    const address = { kind: JOB, id };
    const steps = this.#steps;
    const actor = await this.#existing(id);
    const detail = jobDetail(actor, await this.runtime.store.journal(address));
    if (this.#steps === steps) this.#details.set(id, detail);
    return detail;
  }

  async whenEnded(id: JobId, within: Millis): Promise<JobDetail | undefined> {
    const waiting = this.ends.wait(id, within);
    const now = await this.get(id);
    if (TERMINAL_STATES.includes(now.status)) return now;
    await waiting;
    const then = await this.get(id);
    return TERMINAL_STATES.includes(then.status) ? then : undefined;
  }

  peek(id: JobId): JobDetail | undefined {
    return this.#details.get(id);
  }

  /** Processes a committed step before any caller is answered. */
  observe(step: Step): void {
    const { address } = step.actor;
    if (address.kind !== JOB) return;
    this.names.observe(step);
    this.ends.observe(step);
    this.#steps += 1;
    this.#details.delete(address.id as JobId);
  }

  async output(id: JobId): Promise<JobOutput> {
    const actor = await this.#existing(id);
    const context = actor.context;
    const published = context.output ?? context.signed;
    if (context.outputFileName === null || published === null) {
      throw new Refusal('job.output-unavailable', `Job ${id} is ${actor.state} and has no output.`);
    }
    const path = join(this.layout.output, context.outputFileName);
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

  /** Determines the content type: the job records encryption, the profile the format below it. */
  #contentType({ format, profileName, outputEncrypted, outputFileName }: JobContext): string {
    const form = this.profiles.find(profileName)?.form;
    const { container: _, ...others } = form ?? {};
    return outputContentType(format, {
      ...others,
      ...containerIn(outputFileName),
      // The published name is final, also after a change of the profile.
      detached: form?.detached === true || outputFileName?.endsWith('.p7s') === true,
      encrypted: outputEncrypted,
    });
  }

  async cancel(id: JobId, reason: string | null): Promise<JobView> {
    const before = await this.#existing(id);
    if (before.state !== 'Queued' && before.state !== 'AwaitingSigner') throw notCancelable(before);
    const outcome = await this.runtime.system.send({ kind: JOB, id }, { type: 'CANCEL', reason });
    if (!outcome.accepted) {
      const now = await this.#existing(id);
      throw new Refusal('job.race-lost', `Job ${id} became ${now.state} before it could be canceled.`);
    }
    await outcome.durable;
    return jobView(outcome.actor);
  }

  async retry(id: JobId): Promise<JobView> {
    const parent = await this.#existing(id);
    const context = parent.context;
    if (parent.state !== 'Failed') throw new Refusal('job.not-failed', `Job ${id} is ${parent.state}.`);
    if (!this.profiles.find(context.profileName)) {
      throw new Refusal('profile.not-found', `The profile ${context.profileName} is no longer configured.`);
    }
    const file = await stat(context.originalPath).catch(() => undefined);
    if (!file?.isFile()) throw new Refusal('job.input-missing', `${context.originalPath} is gone.`);
    const outcome = await this.maker.create({
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
      ...(context.sealedPassword && { sealedPassword: context.sealedPassword }),
      parentJobId: id,
      seen: { size: file.size, mtimeMs: file.mtimeMs },
      message: `Retry of job ${id}.`,
    });
    const child = accepted(outcome);
    const recorded = await this.runtime.system.send(
      { kind: JOB, id },
      { type: 'RETRIED', jobId: child.actor.id as JobId },
    );
    await Promise.all([child.durable, recorded.accepted ? recorded.durable : undefined]);
    return jobView(child.actor);
  }

  async #existing(id: JobId): Promise<JobActor> {
    const actor = await this.runtime.system.read({ kind: JOB, id });
    if (!actor) throw new Refusal('job.not-found', `No job has the id ${id}.`);
    return actor;
  }
}

/** Refusals: `validation.body-invalid` when a profile has no level to extend to. */
function assertExtends(profile: Profile): void {
  if (profile.method === 'Local' && (profile.choices?.level ?? 'B') !== 'B') return;
  const text = `The profile ${profile.name} cannot extend signatures: it needs Method Local and Level T, LT or LTA.`;
  throw new Refusal('validation.body-invalid', text, {
    errors: { operation: ['needs a profile of Level T, LT or LTA that signs here'] },
  });
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
