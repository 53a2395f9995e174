/**
 * Pool of working folders, one per job in progress. Reuses empty folders of earlier jobs: creating and removing a
 * directory costs more than signing a small file, renaming one almost nothing. One per pool thread; synchronous.
 */
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { errno } from './directories.ts';

/** Prefix of spare folders; no job id starts like this. */
export const SPARE_PREFIX = '.spare-';

/** Spare folders per thread; more than its share of jobs in flight, because threads open and close unevenly. */
const MAX_SPARES = 64;

export class WorkingFolders {
  readonly #processing: string;
  readonly #all: string | undefined;
  readonly #thread: number;
  readonly #spares: string[] = [];
  #made = 0;

  /**
   * @param thread separates the spares of different threads
   * @param all folder with the working folders of all nodes
   */
  constructor(processing: string, thread: number, all?: string) {
    this.#processing = processing;
    this.#all = all;
    this.#thread = thread;
  }

  /** Path of a job's folder: among those of another node, where that one began the job. */
  pathOf(jobId: string): string {
    return workingFolder(this.#processing, this.#all, jobId);
  }

  /**
   * Returns an empty folder for the job; removes the files of an earlier attempt.
   * @param removing called before the removal, with the folder
   */
  open(jobId: string, removing: (folder: string) => void = () => {}): string {
    const folder = join(this.#processing, jobId);
    const spare = this.#spares.pop();
    if (spare !== undefined) {
      try {
        // Replaces only an empty folder of that name.
        renameSync(spare, folder);
        return folder;
      } catch (error) {
        const code = errno(error);
        if (code === 'ENOTEMPTY' || code === 'EEXIST') this.#spares.push(spare);
        else if (code !== 'ENOENT') throw error;
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
    if (this.#spares.length >= MAX_SPARES) {
      rmSync(folder, { recursive: true, force: true });
      return;
    }
    try {
      for (const name of readdirSync(folder)) unlinkSync(join(folder, name));
      this.#made += 1;
      const spare = join(this.#processing, `${SPARE_PREFIX}${this.#thread}-${this.#made}`);
      renameSync(folder, spare);
      this.#spares.push(spare);
    } catch (error) {
      if (errno(error) === 'ENOENT') return;
      rmSync(folder, { recursive: true, force: true });
    }
  }
}

/**
 * Path of a job's working folder: the own one, or an existing one below `all`, the folder with those of all nodes.
 * Synchronous.
 */
export function workingFolder(processing: string, all: string | undefined, jobId: string): string {
  const own = join(processing, jobId);
  if (all === undefined || existsSync(own)) return own;
  for (const node of readdirSync(all)) {
    const other = join(all, node, jobId);
    if (existsSync(other)) return other;
  }
  return own;
}
