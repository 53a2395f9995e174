/** Makes jobs of files in input folders: those a watcher found stable, and those an operator asked for. */
import type { FolderName, ProfileName } from '../machines/ids.ts';
import { type ActorStore, type ActorSystem, Fatal, type Row } from '../runtime/index.ts';
import type { Candidate, OfferAnswer } from './adapters/watched-folder/index.ts';
import type { Jobs, JobView } from './api.ts';
import type { PathRow } from './job-index.ts';
import { accepted, type JobMaker, type NewJob } from './job-maker.ts';
import { jobView } from './job-view.ts';
import { forgetPath, isKept } from './kept-paths.ts';
import { PATH_LIMIT, pathKey } from './storage-layout.ts';

export interface FolderIntakeParts {
  readonly system: ActorSystem;
  readonly store: ActorStore;
  readonly maker: JobMaker;
  readonly plan: Jobs['plan'];
}

/** The folder a file was found in. */
export interface FolderOfFile {
  readonly name: FolderName;
  readonly profile: ProfileName;
}

export class FolderIntake {
  readonly #parts: FolderIntakeParts;

  constructor(parts: FolderIntakeParts) {
    this.#parts = parts;
  }

  /**
   * Takes a file that a watcher found stable. Resolves when the job is visible, not durable: until it is, the
   * file itself, still in its folder, is the record.
   */
  async takeStable(folder: FolderOfFile, file: Candidate): Promise<OfferAnswer> {
    if (file.path.length > PATH_LIMIT) throw tooLong(file.path);
    const rows = await this.#rowsOf(file);
    if (endedWithSameContent(rows, file)) return 'declined';
    // Asking for the path now could be answered after that job has failed, and make a second one of the same content.
    if (isOwned(rows)) return 'active';
    const outcome = await this.#parts.maker.make(this.#job(folder, file, 'watcher'));
    if (!outcome.accepted) {
      if (outcome.because === 'taken') return 'active';
      throw new Fatal('internal', `The job was refused: ${outcome.because}.`);
    }
    await this.#forgetKept(rows, file);
    return 'enqueued';
  }

  /**
   * Takes a file because an operator asked for it: it need not be stable, and may have been canceled or have failed.
   * Undefined when an active job has it. Source: Batch Signing Service API, "What the service does" 12.
   */
  async takeByRescan(folder: FolderOfFile, file: Candidate): Promise<JobView | undefined> {
    if (file.path.length > PATH_LIMIT) throw tooLong(file.path);
    const rows = await this.#rowsOf(file);
    // Most files of a rescan have their job: making one to be refused costs ten times as much as looking.
    if (isOwned(rows)) return undefined;
    const outcome = await this.#parts.maker.make(this.#job(folder, file, 'rescan'));
    if (!outcome.accepted && outcome.because === 'taken') return undefined;
    const { actor, durable } = accepted(outcome);
    await this.#forgetKept(rows, file);
    await durable;
    return jobView(actor);
  }

  /** A job for a file in an input folder. `by` is part of its first history line. */
  #job(folder: FolderOfFile, file: Candidate, by: 'watcher' | 'rescan'): NewJob {
    const { format } = this.#parts.plan({
      fileName: file.fileName,
      format: undefined,
      profile: folder.profile,
    });
    return {
      fileName: file.fileName,
      originalPath: file.path,
      format,
      profileName: folder.profile,
      source: 'Watcher',
      folder: folder.name,
      subfolder: file.subfolder,
      parentJobId: null,
      seen: { size: file.size, mtimeMs: file.mtimeMs },
      message: `Enqueued by ${by} (folder ${folder.name}).`,
    };
  }

  /** What is known of the path: its newest job first, then what a cleared one left. */
  #rowsOf(file: Candidate): Promise<readonly Row[]> {
    return this.#parts.store.rows({ view: 'paths', prefix: [pathKey(file.path)], limit: 2 });
  }

  async #forgetKept(rows: readonly Row[], file: Candidate): Promise<void> {
    if (rows.some(isKept)) await forgetPath(this.#parts.system, pathKey(file.path));
  }
}

/** A job that has not ended has the path. */
function isOwned(rows: readonly Row[]): boolean {
  return rows.some((row) => !isKept(row) && !(row.value as unknown as PathRow).closed);
}

/** The newest job of the path was canceled or failed, and the file has not been touched since. */
function endedWithSameContent([newest]: readonly Row[], file: Candidate): boolean {
  if (!newest) return false;
  const { closed, size, mtimeMs } = newest.value as unknown as PathRow;
  return closed && size === file.size && mtimeMs === file.mtimeMs;
}

/** A watcher cannot take a file whose path is too long to be stored; counted as a failure of its folder. */
function tooLong(path: string): Fatal {
  return new Fatal(
    'job.path-too-long',
    `The path is ${path.length} characters long; ${PATH_LIMIT} are the limit: ${path.slice(0, 120)}…`,
  );
}
