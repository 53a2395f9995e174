/**
 * Pool of working folders, one per job in progress. Reuses empty folders of earlier jobs, also of other threads: creating
 * and removing a directory costs more than signing a small file, renaming one almost nothing. One per pool thread;
 * synchronous.
 */
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { errno, inFolder } from './directories.ts';

/** Prefix of spare folders; no job id starts like this. */
export const SPARE_PREFIX = '.spare-';

/** Names of spare folders (`SPARE_PREFIX`), and only of these: others with the prefix are in use. */
const SPARE = /^\.spare-\d+-\d+$/;

/** Spare folders that a thread remembers; it finds others again in the folder. */
const MAX_REMEMBERED = 64;

/** Jobs after a search that found no spare folder until the next one: jobs that wait for weeks have folders too. */
const SEARCH_EVERY = 256;

export class WorkingFolders {
  #spares: string[] = [];
  #made = 0;
  /** Jobs to open before spares of other threads are searched again. */
  #untilSearch = 0;

  /**
   * @param thread separates the spares of different threads
   * @param all folder with the working folders of all nodes
   */
  constructor(
    private readonly processing: string,
    private readonly thread: number,
    private readonly all?: string,
  ) {}

  /** Path of a job's folder: among those of another node, where that one began the job. */
  pathOf(jobId: string): string {
    return workingFolder(this.processing, this.all, jobId);
  }

  /**
   * Returns an empty folder for the job; removes the files of an earlier attempt.
   * @param removing called before the removal, with the folder
   */
  open(jobId: string, removing: (folder: string) => void = () => {}): string {
    const folder = inFolder(this.processing, jobId);
    if (this.#spares.length === 0) this.#search();
    for (let spare = this.#spares.pop(); spare !== undefined; spare = this.#spares.pop()) {
      try {
        // Replaces only an empty folder of that name.
        renameSync(spare, folder);
        return folder;
      } catch (error) {
        const code = errno(error);
        // Another thread has taken it.
        if (code === 'ENOENT') continue;
        if (code !== 'ENOTEMPTY' && code !== 'EEXIST') throw error;
        this.#spares.push(spare);
        break;
      }
    }
    try {
      mkdirSync(folder, { mode: 0o750 });
    } catch (error) {
      if (errno(error) !== 'EEXIST') throw error;
      removing(folder);
      rmSync(folder, { recursive: true, force: true });
      mkdirSync(folder, { mode: 0o750 });
    }
    return folder;
  }

  /** Removes the job's folder and its content. Idempotent. */
  close(jobId: string): void {
    const folder = this.pathOf(jobId);
    try {
      for (const name of readdirSync(folder)) unlinkSync(inFolder(folder, name));
      this.#made += 1;
      const spare = inFolder(this.processing, `${SPARE_PREFIX}${this.thread}-${this.#made}`);
      renameSync(folder, spare);
      if (this.#spares.length >= MAX_REMEMBERED) this.#spares = this.#spares.slice(MAX_REMEMBERED / 2);
      this.#spares.push(spare);
    } catch (error) {
      if (errno(error) === 'ENOENT') return;
      rmSync(folder, { recursive: true, force: true });
    }
  }

  /** Finds what other threads left: one may close the jobs that another one opens. */
  #search(): void {
    this.#untilSearch -= 1;
    if (this.#untilSearch > 0) return;
    const found = this.#list().filter((name) => SPARE.test(name));
    this.#spares = found.slice(0, MAX_REMEMBERED / 2).map((name) => inFolder(this.processing, name));
    this.#untilSearch = found.length === 0 ? SEARCH_EVERY : 0;
  }

  /** None of a folder that cannot be read: making one in it says why, as a fault of the disk and not of the job's input. */
  #list(): readonly string[] {
    try {
      return readdirSync(this.processing);
    } catch {
      return [];
    }
  }
}

/**
 * Path of a job's working folder: the own one, or an existing one below `all`, the folder with those of all nodes.
 * Synchronous.
 */
export function workingFolder(processing: string, all: string | undefined, jobId: string): string {
  const own = inFolder(processing, jobId);
  if (all === undefined || existsSync(own)) return own;
  for (const node of readdirSync(all)) {
    const other = join(all, node, jobId);
    if (existsSync(other)) return other;
  }
  return own;
}
