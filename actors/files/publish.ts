/**
 * Publishing: the signed file gets a name in the output folder, whole or not at all, and never over another file.
 * Source: batch-gaps §1 row 10 and §7; architecture §5.
 */
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { copyWhole } from './copy.ts';
import { fileDigest } from './digest.ts';
import { errno, linksRefused, sameFile, statIfPresent } from './directories.ts';

/** Both wanted names are taken by other files. */
class OutputTaken extends Error {
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

/**
 * Where a working folder without hard links notes under which name it is publishing. Called after the folder,
 * which is called after the job: short whatever the file is called, and no name a client could have chosen.
 */
function noteOf(signed: string): string {
  const folder = dirname(signed);
  return join(folder, `${basename(folder)}.published-as`);
}

/** The copy in the making, in an output folder on another device. */
function hiddenOf(signed: string, output: string): string {
  return join(output, `.${basename(dirname(signed))}.part`);
}

/** Removes the copy that an interrupted `publish` of this file left in the output folder, if there is one. */
export function dropHiddenCopy(signed: string, output: string): void {
  rmSync(hiddenOf(signed, output), { force: true });
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
 * is made, synced and read back, then renamed. This process is the only writer of the folder, so nothing can
 * take the name in between.
 */
function copyInto(signed: string, folder: string, target: string): void {
  writeFileSync(noteOf(signed), basename(target), { flush: true });
  const hidden = hiddenOf(signed, folder);
  rmSync(hidden, { force: true });
  copyWhole(signed, hidden);
  renameSync(hidden, target);
}
