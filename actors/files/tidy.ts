/**
 * After a job has ended: the input is taken away once its signed output is safe, or the working folder is put
 * aside for somebody to look at. Both may run again after a crash and then find their work done.
 * Source: batch-gaps §7 ("Before the original is deleted", "Processing folder"); architecture §5.
 */
import { existsSync, readdirSync, rmSync, unlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { StagedInput } from '../../machines/job-context.ts';
import { fileDigest } from './digest.ts';
import { errno, inodeOf, mtimeOf, statIfPresent, syncDirectory } from './directories.ts';
import { move } from './move.ts';
import { dropHiddenCopy, isPublished } from './publish.ts';

/**
 * File systems stamp modification times by the tick; a file written twice within this many milliseconds may
 * carry the same stamp, so only a stamp older than the reading by more than this proves that what was read is
 * what is there.
 */
const STAMP_DOUBT = 2_000;

/**
 * Removes the original unless it is no longer the file that was signed.
 *
 * @param digest Reads a file again where its stamp proves nothing.
 * @returns `diverged` when another file, or other content, has the path; it is left in place.
 */
export function removeOriginal(
  path: string,
  signed: StagedInput,
  digest: (path: string) => string = fileDigest,
): 'removed' | 'gone' | 'diverged' {
  const stat = statIfPresent(path);
  if (stat === undefined) return 'gone';
  if (!stat.isFile() || Number(stat.size) !== signed.length) return 'diverged';
  const stamped = inodeOf(stat) === signed.inode && mtimeOf(stat) === signed.mtimeMs;
  const proven = stamped && signed.readAt - signed.mtimeMs > STAMP_DOUBT;
  if (!proven) {
    if (digest(path) !== signed.sha256) return 'diverged';
    // Reading takes its time; the path may have been given to another file meanwhile.
    const now = statIfPresent(path);
    if (now === undefined) return 'gone';
    if (inodeOf(now) !== inodeOf(stat) || now.size !== stat.size || now.mtimeNs !== stat.mtimeNs)
      return 'diverged';
  }
  unlinkSync(path);
  return 'removed';
}

/** Where an output of a job may be that no step knows of. */
export interface MaybePublished {
  /** The folder. */
  readonly output: string;
  /** Names the output may have there. */
  readonly names: readonly string[];
  /** Names in the working folder of what may have been published. */
  readonly signedNames: readonly string[];
}

/**
 * Moves a working folder to the error folder. Where the job may have begun to publish, its output is taken back first.
 */
export function quarantine(folder: string, target: string, published: MaybePublished | null): void {
  if (!existsSync(folder)) return;
  if (published) takeBack(folder, published);
  try {
    move(folder, target);
  } catch (error) {
    const code = errno(error);
    if (code !== 'ENOTEMPTY' && code !== 'EEXIST') throw error;
    // A folder of this job is there already (a redo that staged anew): its files move beside the old ones.
    for (const name of readdirSync(folder)) move(join(folder, name), join(target, name));
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Takes back what this working folder's job may have published: an output nobody committed must not be found. */
export function takeBack(folder: string, { output, names, signedNames }: MaybePublished): void {
  for (const signedName of signedNames) {
    const signed = join(folder, signedName);
    dropHiddenCopy(signed, output);
    if (!existsSync(signed)) continue;
    for (const name of names) withdraw(signed, join(output, name));
  }
}

function withdraw(signed: string, output: string): void {
  if (!isPublished(signed, output)) return;
  unlinkSync(output);
  syncDirectory(dirname(output));
}
