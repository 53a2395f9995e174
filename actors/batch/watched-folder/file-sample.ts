/** Samples single files of a folder with bounded concurrency. */
import { access, constants, lstat, type Stats } from 'node:fs';
import { join } from 'node:path';
import { createFifoQueue } from './sampling-queue.ts';
import type { Sample } from './stability.ts';

export type FileSample =
  | { readonly is: 'file'; readonly sample: Sample }
  | { readonly is: 'gone' }
  | { readonly is: 'directory' }
  /** A symbolic link, a device, or an empty file. */
  | { readonly is: 'not-a-file' }
  | { readonly is: 'unreadable'; readonly code: string };

export interface FileReader {
  /** Never rejects. */
  sample(fileName: string): Promise<FileSample>;
  /** Error code when the file cannot be opened for reading; undefined when it can. */
  refusal(fileName: string): Promise<string | undefined>;
  /** Resolves when no sample is in progress. */
  idle(): Promise<void>;
}

/** @param limit maximum number of concurrent samples, at least 1; further ones wait */
export function createFileReader(folder: string, limit: number): FileReader {
  const waiting = createFifoQueue<() => void>();
  let inFlight = 0;
  let idlers: (() => void)[] = [];

  function finished(): void {
    inFlight -= 1;
    waiting.shift()?.();
    if (inFlight > 0) return;
    const done = idlers;
    idlers = [];
    for (const resolve of done) resolve();
  }

  function inTurn<T>(begin: (finish: (result: T) => void) => void): Promise<T> {
    return new Promise((resolve) => {
      const run = () => {
        inFlight += 1;
        begin((result) => {
          resolve(result);
          finished();
        });
      };
      if (inFlight < limit) run();
      else waiting.push(run);
    });
  }

  return {
    sample: (fileName) =>
      inTurn((finish) => lstat(join(folder, fileName), (error, stats) => finish(read(error, stats)))),
    refusal: (fileName) =>
      inTurn((finish) => access(join(folder, fileName), constants.R_OK, (error) => finish(error?.code))),
    idle: () => (inFlight === 0 ? Promise.resolve() : new Promise((resolve) => idlers.push(resolve))),
  };
}

function read(error: NodeJS.ErrnoException | null, stats: Stats): FileSample {
  if (error !== null) {
    // ENOTDIR: the folder was replaced; the next listing reports it.
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return { is: 'gone' };
    return { is: 'unreadable', code: error.code ?? error.message };
  }
  if (stats.isDirectory()) return { is: 'directory' };
  if (!stats.isFile() || stats.size === 0) return { is: 'not-a-file' };
  return {
    is: 'file',
    sample: { size: stats.size, mtimeMs: stats.mtimeMs, inode: stats.ino, bornMs: stats.birthtimeMs },
  };
}
