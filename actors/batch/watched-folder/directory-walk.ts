/** Walks the entries of an input folder, and of its subdirectories when recursive. */
import type { Dirent } from 'node:fs';
import { opendir } from 'node:fs/promises';
import { join } from 'node:path';

/** Entries per read: larger batches are cheaper, smaller ones shorter (about 1 ms each). */
const BATCH_SIZE = 512;

export interface WalkRules {
  /** True: enters directories, except ignored ones. Does not follow links. */
  readonly recursive: boolean;
  /** True for names of files and directories to skip. */
  readonly ignored: (name: string) => boolean;
  /** Called with the relative path of each subdirectory before it is listed. */
  readonly entering?: (directory: string) => Promise<void>;
  /** Called for each subdirectory that cannot be entered or listed; the walk continues. */
  readonly unlistable: (directory: string, error: unknown) => void;
}

export interface Found {
  /** Relative path of the directory, `''` for the folder itself. */
  readonly directory: string;
  readonly entry: Dirent;
}

/** Yields all entries, including directories and ignored names. Rejects when the folder itself cannot be listed. */
export async function* walk(
  folder: string,
  { recursive, ignored, entering, unlistable }: WalkRules,
): AsyncGenerator<Found, void, undefined> {
  const waiting = [''];
  for (let directory = waiting.pop(); directory !== undefined; directory = waiting.pop()) {
    try {
      if (directory !== '') await entering?.(directory);
      for await (const entry of await opendir(join(folder, directory), { bufferSize: BATCH_SIZE })) {
        if (recursive && entry.isDirectory() && !ignored(entry.name))
          waiting.push(nameIn(directory, entry.name));
        yield { directory, entry };
      }
    } catch (error) {
      if (directory === '') throw error;
      unlistable(directory, error);
    }
  }
}

/** Path of an entry, relative to the folder. */
export function nameIn(directory: string, name: string): string {
  return directory === '' ? name : `${directory}/${name}`;
}
