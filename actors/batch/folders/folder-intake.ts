/** Creates jobs for files in input folders: stable files found by a watcher, and files of a rescan. */

import { accepted, Fatal, type Row } from '@sealwright/runtime';
import type { JobView } from '../../../contracts/batch/jobs.ts';
import { shownFileName } from '../../../contracts/plain-text.ts';
import type { FolderName, ProfileName } from '../../../machines/ids.ts';
import { PATH_LIMIT, pathKey } from '../../shared/files/storage-layout.ts';
import type { BatchRuntime } from '../job-records/job-counts.ts';
import { type JobFactory, type NewJob, refusedJob } from '../job-records/job-factory.ts';
import { PATH_ROW } from '../job-records/job-index.ts';
import { jobView } from '../job-records/job-view.ts';
import { isProcessedPath, removeProcessedPath } from '../jobs/processed-paths.ts';
import { headOfInput, stampOfOriginal } from '../objects/originals.ts';
import type { JobUploads } from '../uploads/job-uploads.ts';
import type { Candidate, OfferResult } from '../watched-folder/index.ts';

/** The folder that contains a file. */
export interface FolderOfFile {
  readonly name: FolderName;
  readonly profile: ProfileName;
}

export class FolderIntake {
  constructor(
    private readonly runtime: BatchRuntime,
    private readonly maker: JobFactory,
    private readonly uploads: Pick<JobUploads, 'plan' | 'takeRecent'>,
  ) {}

  /**
   * Accepts a file that a watcher found stable.
   */
  async enqueueStable(folder: FolderOfFile, file: Candidate): Promise<OfferResult> {
    if (file.path.length > PATH_LIMIT) throw tooLong(file.path);
    const rows = await this.#rowsOf(file);
    if (endedWithSameContent(rows, file)) return 'declined';
    if (await this.#isGone(rows, file)) return 'declined';
    return (await this.#create(rows, folder, file, 'watcher')) === undefined ? 'active' : 'enqueued';
  }

  /** True once for an upload, which has a job. */
  isTaken(path: string): boolean {
    return this.uploads.takeRecent(path);
  }

  /**
   * Accepts a file on an operator's request: it need not be stable, and its last job may be canceled or failed.
   * Undefined when an active job owns the path, or one has just removed the file. Source: docs/batch-values.md §0 (12).
   */
  async enqueueByRescan(folder: FolderOfFile, file: Candidate): Promise<JobView | undefined> {
    if (file.path.length > PATH_LIMIT) throw tooLong(file.path);
    const rows = await this.#rowsOf(file);
    if (await this.#isGone(rows, file)) return undefined;
    const created = await this.#create(rows, folder, file, 'rescan');
    return created && jobView(created);
  }

  /** Undefined when an active job owns the path, or the file is gone. */
  async #create(rows: readonly Row[], folder: FolderOfFile, file: Candidate, by: 'watcher' | 'rescan') {
    // A create request could run after that job has failed and create a second job for the same content. And most files
    // of a rescan have a job: a read costs a tenth of a rejected create.
    if (isOwned(rows)) return undefined;
    const job = await this.#job(folder, file, by);
    if (job === undefined) return undefined;
    const created = await accepted(this.maker.create(job), (refused) =>
      refused.reason === 'taken' ? undefined : refusedJob(refused),
    );
    if (created === undefined) return undefined;
    if (rows.some(isProcessedPath)) await removeProcessedPath(this.runtime.actors, pathKey(file.path));
    return created;
  }

  /** The input of a job for a file; undefined when it is gone. `by` is part of its first history entry. */
  async #job(folder: FolderOfFile, file: Candidate, by: 'watcher' | 'rescan'): Promise<NewJob | undefined> {
    const request = { fileName: file.fileName, format: undefined, profile: folder.profile };
    let plan = this.uploads.plan(request);
    if (plan.isGuess) {
      const head = await headOfInput(file, this.runtime);
      if (head === undefined) return undefined;
      plan = this.uploads.plan({ ...request, head });
    }
    const { format } = plan;
    return {
      fileName: shownFileName(file.fileName),
      originalPath: file.path,
      format,
      profileName: folder.profile,
      source: 'Watcher',
      folder: folder.name,
      subfolder: file.subfolder,
      parentJobId: null,
      seen: file,
      message: `Enqueued by ${by} (folder ${folder.name}).`,
    };
  }

  /**
   * True when the job of the path has ended since the file was seen, maybe on another node: it removed the file and then
   * released the path. An object that was replaced since is seen again.
   */
  async #isGone(rows: readonly Row[], { path, etag, isThere }: Candidate): Promise<boolean> {
    if (isOwned(rows)) return false;
    if (isThere !== undefined) return !(await isThere());
    const now = await stampOfOriginal(path, this.runtime);
    return now === undefined || now.etag !== etag;
  }

  /** Reads the rows of the path: its newest job first, then the record of a cleared one. */
  #rowsOf(file: Candidate): Promise<readonly Row[]> {
    return this.runtime.store.rows({ view: 'paths', prefix: [pathKey(file.path)], limit: 2 });
  }
}

/** True when an active job owns the path. */
function isOwned(rows: readonly Row[]): boolean {
  return rows.some((row) => !isProcessedPath(row) && !PATH_ROW.read(row.value).closed);
}

/** True when the newest job of the path is Canceled or Failed and the file is unchanged since. */
function endedWithSameContent([newest]: readonly Row[], file: Candidate): boolean {
  if (!newest) return false;
  const { closed, size, mtimeMs, etag } = PATH_ROW.read(newest.value);
  return closed && size === file.size && mtimeMs === file.mtimeMs && etag === file.etag;
}

/** The error for a path that is too long for the store; counts as a failure of the folder. */
function tooLong(path: string): Fatal {
  return new Fatal(
    'job.path-too-long',
    `The path is ${path.length} characters long; ${PATH_LIMIT} are the limit: ${path.slice(0, 120)}…`,
  );
}
