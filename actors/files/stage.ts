/**
 * Staging: the input gets a second name (or a clone, or a copy) in the job's working folder; the original
 * stays where it is. Runs on a pool thread, hence synchronous.
 * Source: batch-gaps §1 row 2 and §7; architecture §5.
 */
import { constants, copyFileSync, linkSync, lstatSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { stagedName } from '../file-names.ts';
import { uploadName } from '../storage-layout.ts';
import { errno, linksRefused, syncDirectory } from './directories.ts';

/** Something other than a file has taken the path since it was accepted. */
export class NotAFile extends Error {
  readonly code = 'input.unreadable';
  constructor(path: string) {
    super(`${path} is not a regular file.`);
    this.name = 'NotAFile';
  }
}

/**
 * File systems that refused to clone once are not asked again by this thread: on most there is nothing to
 * gain and a failed call per file to lose.
 */
let clones = true;

function putBeside(original: string, staged: string): void {
  const stat = lstatSync(original);
  if (!stat.isFile()) throw new NotAFile(original);
  if (clones) {
    try {
      copyFileSync(original, staged, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE_FORCE);
      return;
    } catch (error) {
      const code = errno(error);
      if (code === 'ENOENT' || code === 'EACCES') throw error;
      rmSync(staged, { force: true });
      // A folder on another device says nothing about the folders beside it.
      if (code !== 'EXDEV') clones = false;
    }
  }
  try {
    linkSync(original, staged);
  } catch (error) {
    if (!linksRefused(errno(error))) throw error;
    copyFileSync(original, staged, constants.COPYFILE_EXCL);
  }
}

/**
 * Puts the input into `folder`, which is empty, and returns the staged path.
 *
 * An upload is claimed as soon as its job is committed, which is before it is renamed; whoever comes first,
 * staging or the upload itself, gives it its final name.
 */
export function stage(original: string, folder: string, fileName: string): string {
  const staged = join(folder, stagedName(fileName));
  try {
    putBeside(original, staged);
  } catch (error) {
    if (errno(error) !== 'ENOENT') throw error;
    takeUploadName(original);
    putBeside(original, staged);
  }
  return staged;
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
