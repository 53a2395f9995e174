/** Looks at single files of a folder, a bounded number at a time. */
import { access, constants, lstat, type Stats } from 'node:fs';
import { join } from 'node:path';
import { createQueue } from './queue.ts';
import type { Sample } from './stability.ts';

export type Look =
  | { readonly is: 'file'; readonly sample: Sample }
  | { readonly is: 'gone' }
  | { readonly is: 'directory' }
  /** A symbolic link, a device, or a file without bytes. */
  | { readonly is: 'not-a-file' }
  | { readonly is: 'unreadable'; readonly code: string };

export interface Looker {
  /** Never rejects. */
  look(fileName: string): Promise<Look>;
  /** The error code with which the system refuses to open the file for reading; undefined when it does not. */
  refusal(fileName: string): Promise<string | undefined>;
  /** Resolves when no look is under way. */
  idle(): Promise<void>;
}

/** @param limit Looks in flight, at least 1; further ones wait. */
export function createLooker(folder: string, limit: number): Looker {
  const waiting = createQueue<() => void>();
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
    look: (fileName) =>
      inTurn((finish) => lstat(join(folder, fileName), (error, stats) => finish(read(error, stats)))),
    refusal: (fileName) =>
      inTurn((finish) => access(join(folder, fileName), constants.R_OK, (error) => finish(error?.code))),
    idle: () => (inFlight === 0 ? Promise.resolve() : new Promise((resolve) => idlers.push(resolve))),
  };
}

function read(error: NodeJS.ErrnoException | null, stats: Stats): Look {
  if (error !== null) {
    // ENOTDIR: the folder itself has become something else; the next listing says so.
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
