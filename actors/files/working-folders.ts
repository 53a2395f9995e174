/**
 * Working folders, one per job under way, made out of those that earlier jobs left empty: on common file systems
 * making and removing a directory costs more than signing a small file, and renaming one costs next to nothing.
 * One per pool thread; synchronous.
 */
import { mkdirSync, readdirSync, renameSync, rmSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { errno } from './directories.ts';

/** Begins the names of empty folders kept for later; no job id looks like this. */
export const SPARE_PREFIX = '.spare-';

/** Spares kept per thread. The threads' turns at opening and closing differ, so more than its share of the jobs in flight. */
const KEPT = 64;

export class WorkingFolders {
  readonly #processing: string;
  readonly #thread: number;
  readonly #spares: string[] = [];
  #made = 0;

  /** @param thread Tells the spares of one thread from those of another. */
  constructor(processing: string, thread: number) {
    this.#processing = processing;
    this.#thread = thread;
  }

  pathOf(jobId: string): string {
    return join(this.#processing, jobId);
  }

  /**
   * An empty folder for the job; what an earlier try left in it is removed.
   * @param removing told before that, with the folder
   */
  open(jobId: string, removing: (folder: string) => void = () => {}): string {
    const folder = this.pathOf(jobId);
    const spare = this.#spares.pop();
    if (spare !== undefined) {
      try {
        // Takes the place of an empty folder of that name, and of no other.
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

  /** Removes the job's folder and what is in it; done again, it finds nothing to do. */
  close(jobId: string): void {
    const folder = this.pathOf(jobId);
    if (this.#spares.length >= KEPT) {
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
