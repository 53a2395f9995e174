/**
 * Staging: the input gets a second name (or a clone, or a copy) in the job's working folder; the original
 * stays where it is. Runs on a pool thread, hence synchronous.
 * Source: batch-gaps §1 row 2 and §7; architecture §5.
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
import { stagedName } from '../file-names.ts';
import { uploadName } from '../storage-layout.ts';
import { errno, inodeOf, linksRefused, mtimeOf, syncDirectory } from './directories.ts';

/** Something other than a file has taken the path since it was accepted. */
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
  /** Of the original, before its bytes were taken. */
  readonly inode: string;
  readonly mtimeMs: number;
}

const PIECE = 1 << 20;

/**
 * File systems that refused to clone once are not asked again by this thread: on most there is nothing to
 * gain and a failed call per file to lose.
 */
let clones = true;

/**
 * The path belongs to others and may be a link to something else at any moment, so nothing is asked of it twice:
 * it is linked or opened without following links, and all that comes after is asked of the link or descriptor.
 */
function putBeside(original: string, staged: string): BigIntStats {
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

/** Where the file system can: what is staged stays as it is even if the original is written to. */
function cloneInPlace(staged: string): void {
  const folder = dirname(staged);
  // Named after the job: the names of files are chosen by clients, its id is not.
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
      const piece = Buffer.allocUnsafe(PIECE);
      for (let read = readSync(from, piece); read > 0; read = readSync(from, piece)) {
        for (let done = 0; done < read; ) done += writeSync(to, piece, done, read - done);
      }
    } finally {
      closeSync(to);
    }
    return stat;
  } finally {
    closeSync(from);
  }
}

/** A symbolic link and a socket cannot be opened; a named pipe can, and is not waited for. */
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
 * An upload is claimed as soon as its job is committed, which is before it is renamed; whoever comes first,
 * staging or the upload itself, gives it its final name.
 */
export function stage(original: string, folder: string, fileName: string): Staged {
  const path = join(folder, stagedName(fileName));
  let stat: BigIntStats;
  try {
    stat = putBeside(original, path);
  } catch (error) {
    if (errno(error) !== 'ENOENT') throw error;
    takeUploadName(original);
    stat = putBeside(original, path);
  }
  return { path, inode: inodeOf(stat), mtimeMs: mtimeOf(stat) };
}

/**
 * Gives an upload its final name. That it has no temporary one is no answer: the main thread may have been
 * faster, so the caller looks for the file again either way.
 */
function takeUploadName(original: string): void {
  try {
    renameSync(uploadName(original), original);
  } catch (error) {
    if (errno(error) === 'ENOENT') return;
    throw error;
  }
  syncDirectory(dirname(original));
}
