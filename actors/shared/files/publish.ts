/**
 * Publishes a signed file in the output folder atomically and without overwriting. Source: docs/batch-values.md §1 row 10 and §7.
 */
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { copyWhole } from './copy.ts';
import { fileDigest } from './digest.ts';
import { errno, inFolder, linksRefused, sameFile, statIfPresent } from './directories.ts';

/** Both names are taken by other files. */
class OutputTaken extends Error {
  readonly code = 'output.exists';
  constructor(path: string) {
    super(`The output already exists: ${path}`);
    this.name = 'OutputTaken';
  }
}

/** The file system of the output folder takes no such name. */
class OutputNameRefused extends Error {
  readonly code = 'output.name-refused';
  constructor(path: string, code: string) {
    super(
      `The file system of the output folder takes no file of the name ${basename(path)} (${code}). File servers and Windows refuse : * ? " < > | \\, dots and blanks at the end, names like CON or NUL, and long names. Give the input another name.`,
    );
    this.name = 'OutputNameRefused';
  }
}

/** File servers also report a refused name as a missing file. */
function isNameRefused(error: unknown, present: readonly string[]): boolean {
  const code = errno(error);
  if (code === 'EINVAL' || code === 'EILSEQ' || code === 'ENAMETOOLONG') return true;
  return code === 'ENOENT' && present.every((path) => statIfPresent(path) !== undefined);
}

/**
 * Links `signed` into `folder` under the first free name of `names` and returns it. A name that already refers to this
 * file was created by an earlier attempt and counts as success. The caller syncs the directory.
 */
export function publish(signed: string, folder: string, names: readonly string[]): string {
  for (const name of names) {
    const target = inFolder(folder, name);
    try {
      linkSync(signed, target);
      return name;
    } catch (error) {
      const code = errno(error);
      if (code === 'EEXIST') {
        if (isPublished(signed, target)) return name;
        continue;
      }
      if (isNameRefused(error, [signed, folder])) throw new OutputNameRefused(target, code);
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
 * True when `target` is the published `signed`: the same inode, or a copy recorded by this job. Equal bytes are no
 * proof: two jobs that sign the same content in the same second produce equal files.
 */
export function isPublished(signed: string, target: string): boolean {
  if (sameFile(signed, target)) return true;
  if (readNote(signed) !== basename(target) || statIfPresent(target)?.isFile() !== true) return false;
  return fileDigest(signed) === fileDigest(target);
}

/**
 * Path of the record of the published name, for file systems without hard links. Named after the job's folder: short,
 * and not chosen by a client.
 */
function noteOf(signed: string): string {
  const folder = dirname(signed);
  return join(folder, `${basename(folder)}.published-as`);
}

/** Path of an incomplete copy in an output folder on another device. */
function hiddenOf(signed: string, output: string): string {
  return join(output, `.${basename(dirname(signed))}.part`);
}

/** Removes the incomplete copy of an interrupted `publish` from the output folder. */
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
 * Publishes to another device or without hard links: records the name, creates a hidden copy, syncs and verifies it,
 * then renames it. This process is the only writer of the folder, so the name stays free.
 */
function copyInto(signed: string, folder: string, target: string): void {
  writeFileSync(noteOf(signed), basename(target), { flush: true });
  const hidden = hiddenOf(signed, folder);
  rmSync(hidden, { force: true });
  copyWhole(signed, hidden);
  try {
    renameSync(hidden, target);
  } catch (error) {
    if (!isNameRefused(error, [hidden, folder])) throw error;
    rmSync(hidden, { force: true });
    throw new OutputNameRefused(target, errno(error));
  }
}
