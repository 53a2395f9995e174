/** The entries of an input folder, and of the directories below it where they count too. */
import type { Dirent } from 'node:fs';
import { opendir } from 'node:fs/promises';
import { join } from 'node:path';

/** Entries read from the system at once: larger batches are cheaper, smaller ones shorter (about 1 ms each). */
const BATCH = 512;

export interface WalkRules {
  /** True: directories are gone into, except ignored ones. Links to directories are not directories. */
  readonly recursive: boolean;
  /** Names that are not looked at, whether files or directories have them. */
  readonly ignored: (name: string) => boolean;
  /** Told each directory below the folder before it is listed, by its relative path. */
  readonly entering?: (directory: string) => Promise<void>;
  /** Told each directory below the folder that could not be entered or listed; the walk goes on beside it. */
  readonly unlistable: (directory: string, error: unknown) => void;
}

export interface Found {
  /** Relative path of the directory, `''` for the folder itself. */
  readonly directory: string;
  readonly entry: Dirent;
}

/** Every entry, directories and ignored names included. Rejects when the folder itself cannot be listed. */
export async function* walk(
  folder: string,
  { recursive, ignored, entering, unlistable }: WalkRules,
): AsyncGenerator<Found, void, undefined> {
  const waiting = [''];
  for (let directory = waiting.pop(); directory !== undefined; directory = waiting.pop()) {
    try {
      if (directory !== '') await entering?.(directory);
      for await (const entry of await opendir(join(folder, directory), { bufferSize: BATCH })) {
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

/** Path, relative to the folder, of what is called `name` in one of its directories. */
export function nameIn(directory: string, name: string): string {
  return directory === '' ? name : `${directory}/${name}`;
}
