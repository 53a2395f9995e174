/** Samples of files of watched folders: type and state of a file, from one `lstat`. */
import { accessSync, constants, lstatSync, type Stats } from 'node:fs';
import type { Sample } from './stability.ts';

export type FileSample =
  | { readonly is: 'file'; readonly sample: Sample }
  | { readonly is: 'gone' }
  | { readonly is: 'directory' }
  /** A symbolic link, a device, or an empty file. */
  | { readonly is: 'not-a-file' }
  | { readonly is: 'unreadable'; readonly code: string };

/** Converts the answer of `lstat`; without an error, missing state means a missing file. */
export function sampleOf(error: NodeJS.ErrnoException | null, stats: Stats | undefined): FileSample {
  if (error !== null) {
    // ENOTDIR: the folder was replaced; the next listing reports it.
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return { is: 'gone' };
    return { is: 'unreadable', code: error.code ?? error.message };
  }
  if (stats === undefined) return { is: 'gone' };
  if (stats.isDirectory()) return { is: 'directory' };
  if (!stats.isFile() || stats.size === 0) return { is: 'not-a-file' };
  return {
    is: 'file',
    sample: { size: stats.size, mtimeMs: stats.mtimeMs, inode: stats.ino, bornMs: stats.birthtimeMs },
  };
}

/** Samples a file on this thread; blocks while the file system does. */
export function sampleSync(path: string): FileSample {
  try {
    return sampleOf(null, lstatSync(path, { throwIfNoEntry: false }));
  } catch (error) {
    return sampleOf(error as NodeJS.ErrnoException, undefined);
  }
}

/** Error code when the file cannot be opened for reading, null when it can; blocks while the file system does. */
export function refusalSync(path: string): string | null {
  try {
    accessSync(path, constants.R_OK);
    return null;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return code ?? message;
  }
}
