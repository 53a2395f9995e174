/**
 * A batch service with jobs in memory and files in a folder: the second implementation of the port, which a test can
 * make return every reply.
 */
import { createHash, randomUUID } from 'node:crypto';
import { access, type FileHandle, mkdir, mkdtemp, open, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import type { OperationRequest, Operations, Retention } from '../../../actors/batch/api/bulk.ts';
import type { HealthCheck } from '../../../actors/batch/api/inspection.ts';
import type {
  IncomingUpload,
  JobOutput,
  JobQuery,
  Jobs,
  UploadKey,
  UploadSink,
} from '../../../actors/batch/api/jobs.ts';
import type { BatchService } from '../../../actors/batch/api/service.ts';
import { receiveUpload } from '../../../actors/batch/jobs/receive-upload.ts';
import type { SystemEvent } from '../../../contracts/batch/events.ts';
import type { JobDetail, JobView } from '../../../contracts/batch/jobs.ts';
import type { OperationView } from '../../../contracts/batch/operations.ts';
import type { JobFormat, JobState } from '../../../machines/batch/job-context.ts';
import type { FolderName, JobId, ProfileName } from '../../../machines/ids.ts';
import { Refusal } from '../../../machines/refusals.ts';
import { MemoryFolders, MemoryPipeline, memoryEvents } from './memory-control.ts';
import { MemoryBulk, MemoryProfiles, MemoryStatistics } from './memory-figures.ts';

/** Bulk operations in memory: they record their arguments and do nothing. */
export class MemoryOperations implements Operations {
  readonly made: OperationView[] = [];
  readonly asked: OperationRequest[] = [];

  async count(request: OperationRequest): Promise<number> {
    this.asked.push(request);
    return 7;
  }

  async start(request: OperationRequest): Promise<OperationView> {
    this.asked.push(request);
    const at = 1_800_000_000_000;
    const operation: OperationView = {
      id: randomUUID(),
      state: 'Running',
      action: request.action,
      reason: request.reason,
      filter: {
        status: request.filter.statuses,
        profile: request.filter.profile ?? null,
        format: request.filter.formats ?? [],
        source: request.filter.sources ?? [],
        folder: request.filter.folder ?? null,
        fileName: request.filter.fileName ?? null,
        errorCode: request.filter.errorCode ?? null,
        parentJobId: request.filter.parentJobId ?? null,
        createdFrom: request.filter.createdFrom ?? null,
        createdTo: request.filter.createdTo ?? at,
      },
      matched: 7,
      done: 2,
      skipped: 1,
      skippedByCode: { 'job.race-lost': 1 },
      createdAt: at,
      updatedAt: at,
      endedAt: null,
    };
    this.made.unshift(operation);
    return operation;
  }

  async get(id: string): Promise<OperationView> {
    const found = this.made.find((operation) => operation.id === id);
    if (found === undefined) throw new Refusal('operation.not-found', id);
    return found;
  }

  async list(page: number, pageSize: number) {
    const items = this.made.slice((page - 1) * pageSize, page * pageSize);
    return { items, totalCount: this.made.length };
  }

  async cancel(id: string): Promise<OperationView> {
    return { ...(await this.get(id)), state: 'Canceling' };
  }
}

class FileSink implements UploadSink {
  readonly path: string;
  readonly #file: FileHandle;
  length = 0;
  kept = false;

  constructor(path: string, file: FileHandle) {
    this.path = path;
    this.#file = file;
  }

  async write(chunk: Uint8Array): Promise<void> {
    this.length += chunk.length;
    await this.#file.write(chunk);
  }

  async abort(): Promise<void> {
    if (this.kept) return;
    await this.#file.close().catch(() => {});
    await rm(`${this.path}.part`, { force: true });
  }

  async keep(): Promise<void> {
    this.kept = true;
    await this.#file.close();
    await rename(`${this.path}.part`, this.path);
  }
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

class MemoryJobs implements Jobs {
  readonly input: string;
  readonly output_: string;
  readonly #jobs: Mutable<JobDetail>[] = [];
  readonly #outputs = new Map<string, JobOutput>();
  readonly #keys = new Map<string, JobView>();
  /** Arguments of the list calls. */
  readonly queries: JobQuery[] = [];
  readonly reasons: (string | null)[] = [];
  countIn(states?: readonly JobState[]): number {
    return this.#jobs.filter(({ status }) => states?.includes(status) ?? true).length;
  }

  /** Error thrown by the next call that changes a job. */
  failNext: unknown;
  /** Promise that `acceptUpload` awaits. */
  gate: Promise<void> = Promise.resolve();
  /** Called when `acceptUpload` begins. */
  accepting = () => {};
  opened = 0;
  planned = 0;
  /** Milliseconds of each `whenEnded`. */
  readonly waits: number[] = [];
  /** True: jobs end at once for those who wait. */
  ends = false;
  now = Date.UTC(2026, 10, 21, 5, 0, 0, 123);

  constructor(folder: string) {
    this.input = join(folder, 'input');
    this.output_ = join(folder, 'output');
  }

  plan(request: {
    readonly fileName: string;
    readonly format: JobFormat | undefined;
    readonly profile: string | undefined;
  }) {
    this.planned += 1;
    const profile = request.profile ?? 'default';
    if (profile !== 'default' && profile !== 'invoices') {
      throw new Refusal('profile.not-found', `No profile ${profile}.`);
    }
    const extension = extname(request.fileName).toLowerCase();
    const format =
      request.format ?? (extension === '.pdf' ? 'Pades' : extension === '.xml' ? 'Xades' : 'Cades');
    return { format, profile: profile as ProfileName } as const;
  }

  receive(upload: IncomingUpload): Promise<JobView> {
    return receiveUpload(this, upload);
  }

  async whenEnded(id: JobId, within: number) {
    this.waits.push(within);
    const job = await this.get(id);
    return this.ends ? { ...job, status: 'Completed' as const } : undefined;
  }

  async openUpload(fileName: string): Promise<UploadSink> {
    this.opened += 1;
    if (fileName.length > 850) throw new Refusal('job.path-too-long', 'Too long.');
    const path = join(this.input, `${randomUUID()}${extname(fileName)}`);
    return new FileSink(path, await open(`${path}.part`, 'wx'));
  }

  async acceptUpload(
    sink: UploadSink,
    job: {
      readonly fileName: string;
      readonly format: JobFormat;
      readonly profile: ProfileName;
      readonly key?: UploadKey | undefined;
    },
  ): Promise<JobView> {
    this.accepting();
    await this.gate;
    this.#failIfAsked();
    const known = job.key && this.#keys.get(JSON.stringify(job.key));
    if (known) {
      await sink.abort();
      if (known.fileName !== job.fileName) throw new Refusal('idempotency.mismatch', 'Another file name.');
      return known;
    }
    const file = sink as FileSink;
    await file.keep();
    const made = this.add({
      fileName: job.fileName,
      format: job.format,
      profileName: job.profile,
      originalPath: file.path,
    });
    if (job.key) this.#keys.set(JSON.stringify(job.key), made);
    return made;
  }

  async failures() {
    const example = { id: randomUUID(), fileName: 'broken.pdf', message: 'It is damaged.' };
    const groups = [
      { errorCode: 'pdf.malformed', remedy: 'Save it again.', count: 2, oldestAt: 1, newestAt: 2, example },
    ];
    return { groups, examined: 2, complete: true };
  }

  async list(query: JobQuery) {
    this.queries.push(query);
    const wanted = this.#jobs
      .filter(({ status }) => query.statuses.length === 0 || query.statuses.includes(status))
      .filter(({ profileName }) => query.profile === undefined || profileName === query.profile.toLowerCase())
      .reverse();
    const from = (query.page - 1) * query.pageSize;
    return { items: wanted.slice(from, from + query.pageSize), totalCount: wanted.length };
  }

  async get(id: JobId): Promise<JobDetail> {
    return this.#find(id);
  }

  peek(): undefined {
    // Jobs are mutable in this implementation.
    return undefined;
  }

  async output(id: JobId): Promise<JobOutput> {
    this.#find(id);
    const output = this.#outputs.get(id);
    if (output === undefined) throw new Refusal('job.output-unavailable', 'Not signed yet.');
    try {
      await access(output.path);
    } catch {
      throw new Refusal('job.output-gone', 'Removed.');
    }
    return output;
  }

  async cancel(id: JobId, reason: string | null): Promise<JobView> {
    const job = this.#find(id);
    this.#failIfAsked();
    if (job.status !== 'Queued') throw new Refusal('job.not-queued', `The job is ${job.status}.`);
    this.reasons.push(reason);
    job.status = 'Canceled';
    return job;
  }

  async retry(id: JobId): Promise<JobView> {
    const job = this.#find(id);
    this.#failIfAsked();
    if (job.status !== 'Failed') throw new Refusal('job.not-failed', `The job is ${job.status}.`);
    return this.add({ fileName: job.fileName, parentJobId: job.id, source: 'Retry' });
  }

  add(more: Partial<JobDetail> = {}): JobDetail {
    const at = this.now;
    this.now += 1;
    const job: Mutable<JobDetail> = {
      id: randomUUID() as JobId,
      fileName: 'a.pdf',
      originalPath: join(this.input, 'a.pdf'),
      format: 'Pades',
      source: 'Upload',
      status: 'Queued',
      createdAt: at,
      updatedAt: at,
      parentJobId: null,
      errorMessage: null,
      profileName: 'default' as ProfileName,
      folder: null as FolderName | null,
      outputEncrypted: false,
      errorCode: null,
      remoteDocumentId: null,
      awaitingSignerSince: null,
      queuedAt: at,
      inputSha256: null,
      outputSha256: null,
      outputFileName: null,
      history: [{ id: 1, timestamp: at, status: 'Queued', message: 'Uploaded.' }],
      ...more,
    };
    this.#jobs.push(job);
    return job;
  }

  set(id: JobId, status: JobState): void {
    this.#find(id).status = status;
  }

  /** Gives a job an output of these bytes. */
  async finish(id: JobId, bytes: Uint8Array, fileName = 'a.signed.pdf'): Promise<JobOutput> {
    const path = join(this.output_, `${id}.out`);
    await writeFile(path, bytes);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const output = { path, fileName, length: bytes.length, sha256, contentType: 'application/pdf' };
    this.#outputs.set(id, output);
    this.set(id, 'Completed');
    return output;
  }

  #find(id: JobId): Mutable<JobDetail> {
    const job = this.#jobs.find((candidate) => candidate.id === id);
    if (job === undefined) throw new Refusal('job.not-found', `No job ${id}.`);
    return job;
  }

  #failIfAsked(): void {
    const failure = this.failNext;
    this.failNext = undefined;
    if (failure !== undefined) throw failure;
  }
}

/** Removes this number of jobs. */
class MemoryRetention implements Retention {
  isConfigured = false;
  due = 0;

  async sweep(): Promise<number> {
    return this.due;
  }
}

export interface MemoryService extends BatchService {
  readonly jobs: MemoryJobs;
  readonly bulk: MemoryBulk;
  readonly profiles: MemoryProfiles;
  readonly statistics: MemoryStatistics;
  readonly retention: MemoryRetention;
  readonly pipeline: MemoryPipeline;
  readonly folders: MemoryFolders;
  readonly folder: string;
  checks: HealthCheck[];
  remove(): Promise<void>;
}

export async function createMemoryService(): Promise<MemoryService> {
  const folder = await mkdtemp(join(tmpdir(), 'sealwright-http-'));
  const jobs = new MemoryJobs(folder);
  await mkdir(jobs.input);
  await mkdir(jobs.output_);
  const events: SystemEvent[] = [];
  const service: MemoryService = {
    jobs,
    bulk: new MemoryBulk(),
    profiles: new MemoryProfiles(),
    statistics: new MemoryStatistics(),
    retention: new MemoryRetention(),
    pipeline: new MemoryPipeline(events),
    folders: new MemoryFolders(),
    events: memoryEvents(events),
    folder,
    checks: [{ name: 'database', status: 'Healthy', detail: null }],
    health: { checks: async () => service.checks },
    count: (states) => jobs.countIn(states),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
  return service;
}
