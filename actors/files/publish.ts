/**
 * Publishing: the signed file gets a name in the output folder, whole or not at all, and never over another file.
 * Source: batch-gaps §1 row 10 and §7; architecture §5.
 */
import {
  closeSync,
  constants,
  copyFileSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { fileDigest } from './digest.ts';
import { errno, linksRefused, sameFile, statIfPresent } from './directories.ts';

/** Both wanted names are taken by other files. */
export class OutputTaken extends Error {
  readonly code = 'output.exists';
  constructor(path: string) {
    super(`The output already exists: ${path}`);
    this.name = 'OutputTaken';
  }
}

/**
 * Links `signed` into `folder` under the first of `names` that is free and returns that name. A name that
 * already stands for this very file is the mark of an earlier try, and counts as done.
 * The caller makes the directory durable.
 */
export function publish(signed: string, folder: string, names: readonly string[]): string {
  for (const name of names) {
    const target = join(folder, name);
    try {
      linkSync(signed, target);
      return name;
    } catch (error) {
      const code = errno(error);
      if (code === 'EEXIST') {
        if (isPublished(signed, target)) return name;
        continue;
      }
      if (!linksRefused(code)) throw error;
      if (statIfPresent(target) !== undefined) {
        if (isPublished(signed, target)) return name;
        continue;
      }
      copyInto(signed, folder, target);
      return name;
    }
  }
  throw new OutputTaken(join(folder, names[0] ?? ''));
}

/**
 * True when `target` is the file that `signed` is: the same inode, or a copy that this job noted down. Equal
 * bytes alone prove nothing: two jobs that sign the same content in the same second produce equal files.
 */
export function isPublished(signed: string, target: string): boolean {
  if (sameFile(signed, target)) return true;
  if (readNote(signed) !== basename(target) || statIfPresent(target)?.isFile() !== true) return false;
  return fileDigest(signed) === fileDigest(target);
}

/** Where a working folder without hard links notes under which name it is publishing. */
function noteOf(signed: string): string {
  return `${signed}.published-as`;
}

function readNote(signed: string): string | undefined {
  try {
    return readFileSync(noteOf(signed), 'utf8');
  } catch (error) {
    if (errno(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/**
 * For an output folder on another device or a file system without hard links: the name is noted, a hidden copy
 * is made and synced, then renamed. This process is the only writer of the folder, so nothing can take the
 * name in between.
 */
function copyInto(signed: string, folder: string, target: string): void {
  const name = basename(target);
  writeFileSync(noteOf(signed), name, { flush: true });
  const hidden = join(folder, `.${name}.part`);
  rmSync(hidden, { force: true });
  copyFileSync(signed, hidden, constants.COPYFILE_EXCL);
  const fd = openSync(hidden, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(hidden, target);
}
