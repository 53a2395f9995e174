/**
 * Stages the input: creates a hard link, clone or copy in the job's working folder; the original stays in place.
 * Synchronous, for pool threads. Source: docs/batch-values.md §1 row 2 and §7.
 */
import {
  type BigIntStats,
  closeSync,
  constants,
  copyFileSync,
  fstatSync,
  linkSync,
  lstatSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileDigest } from './digest.ts';
import { errno, inFolder, inodeOf, linksRefused, mtimeOf, syncDirectory } from './directories.ts';
import { shortFileName } from './output-names.ts';
import { uploadName } from './storage-layout.ts';

/** The path no longer refers to a regular file. */
class NotAFile extends Error {
  readonly code = 'input.unreadable';
  constructor(path: string) {
    super(`${path} is not a regular file.`);
    this.name = 'NotAFile';
  }
}

export interface Staged {
  /** The staged file. */
  readonly path: string;
  /** Inode of the original, before it was read. */
  readonly inode: string;
  readonly mtimeMs: number;
}

/**
 * State of an original: equal for one that nobody wrote to or replaced in between. Without the blocks: zfs and file systems
 * that compress count them anew when they write to the disk, seconds after the file is complete.
 */
export type OriginalState = Pick<BigIntStats, 'dev' | 'ino' | 'size' | 'mtimeNs' | 'ctimeNs'>;

/** State of the original, of which a share tells more once the file is open. Taken after staging, which may make a link. */
export function stateOfOriginal(path: string): OriginalState {
  const file = openOriginal(path);
  try {
    return fstatSync(file, { bigint: true });
  } finally {
    closeSync(file);
  }
}

/**
 * True when the original is no longer what was staged. Reads it again: on a share metadata alone proves nothing. A file
 * that is gone counts as changed.
 * @param signed what was read of it
 */
export function hasChanged(
  path: string,
  staged: OriginalState,
  signed: { readonly sha256: string; readonly length: number },
): boolean {
  try {
    if (!isSame(stateOfOriginal(path), staged)) return true;
    if (Number(staged.size) !== signed.length || fileDigest(path) !== signed.sha256) return true;
    return !isSame(stateOfOriginal(path), staged);
  } catch (error) {
    if (errno(error) === 'ENOENT' || error instanceof NotAFile) return true;
    throw error;
  }
}

function isSame(one: OriginalState, other: OriginalState): boolean {
  return (['dev', 'ino', 'size', 'mtimeNs', 'ctimeNs'] as const).every((name) => one[name] === other[name]);
}

/** One buffer for all files of a thread: V8 collects its whole heap for a new one with every small file. */
const CHUNK = Buffer.allocUnsafeSlow(1 << 18);

/**
 * False after the first refused clone of this thread: saves one failing call per file on file systems without clones.
 */
let clones = true;

/**
 * Links or opens the path once without following links and then uses only the link or descriptor, because other
 * processes may replace the path at any moment.
 */
function createSibling(original: string, staged: string): BigIntStats {
  try {
    linkSync(original, staged);
  } catch (error) {
    if (!linksRefused(errno(error))) throw error;
    return copyBeside(original, staged);
  }
  const stat = lstatSync(staged, { bigint: true });
  if (!stat.isFile()) {
    unlinkSync(staged);
    throw new NotAFile(original);
  }
  if (clones) cloneInPlace(staged);
  return stat;
}

/**
 * Replaces the link by a clone where the file system supports it: later writes to the original do not affect the staged
 * file.
 */
function cloneInPlace(staged: string): void {
  const folder = dirname(staged);
  // Named after the job: file names are chosen by clients, job ids are not.
  const clone = join(folder, `${basename(folder)}.clone`);
  try {
    copyFileSync(staged, clone, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE_FORCE);
    renameSync(clone, staged);
  } catch {
    clones = false;
    rmSync(clone, { force: true });
  }
}

function copyBeside(original: string, staged: string): BigIntStats {
  const from = openOriginal(original);
  try {
    const stat = fstatSync(from, { bigint: true });
    if (!stat.isFile()) throw new NotAFile(original);
    const to = openSync(staged, 'wx', 0o640);
    try {
      for (let read = readSync(from, CHUNK); read > 0; read = readSync(from, CHUNK)) {
        for (let done = 0; done < read; ) done += writeSync(to, CHUNK, done, read - done);
      }
    } finally {
      closeSync(to);
    }
    return stat;
  } finally {
    closeSync(from);
  }
}

/** Refuses a symbolic link and a socket; does not block on a named pipe. */
function openOriginal(path: string): number {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const code = errno(error);
    if (code === 'ELOOP' || code === 'ENXIO') throw new NotAFile(path);
    throw error;
  }
}

/**
 * Puts the input into `folder`, which is empty.
 *
 * An upload is claimed when its job is committed, before it is renamed; staging or the upload, whichever is first,
 * gives it its final name.
 */
export function stage(original: string, folder: string, fileName: string): Staged {
  const path = inFolder(folder, shortFileName(fileName));
  let stat: BigIntStats;
  try {
    stat = createSibling(original, path);
  } catch (error) {
    if (errno(error) !== 'ENOENT') throw error;
    claimUploadName(original);
    stat = createSibling(original, path);
  }
  return { path, inode: inodeOf(stat), mtimeMs: mtimeOf(stat) };
}

/**
 * Renames an upload to its final name. The temporary name may be missing because the main thread was faster, so the
 * caller checks for the file in either case.
 */
function claimUploadName(original: string): void {
  try {
    renameSync(uploadName(original), original);
  } catch (error) {
    if (errno(error) === 'ENOENT') return;
    throw error;
  }
  syncDirectory(dirname(original));
}
