/**
 * Cleanup after the end of a job: removes the input once its signed output is durable, or moves the working folder to
 * the error folder. Both are idempotent after a crash. Source: docs/batch-values.md §7, "Processing folder". Synchronous: pool threads and recovery only.
 */
import { existsSync, readdirSync, rmSync, unlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { StagedInput } from '../../../machines/batch/job-context.ts';
import { fileDigest } from './digest.ts';
import { errno, inodeOf, statIfPresent, syncDirectory } from './directories.ts';
import { move } from './move.ts';
import { dropHiddenCopy, isPublished } from './publish.ts';
/**
 * Removes the original unless it is no longer the file that was signed. Reads it again: its modification time proves
 * nothing, because it comes from another clock and may be coarse.
 *
 * @returns `diverged` when another file or content has the path; it is left in place
 */
export function removeOriginal(
  path: string,
  signed: Pick<StagedInput, 'length' | 'sha256'>,
  digest: (path: string) => string = fileDigest,
): 'removed' | 'gone' | 'diverged' {
  const stat = statIfPresent(path);
  if (stat === undefined) return 'gone';
  if (!stat.isFile() || Number(stat.size) !== signed.length) return 'diverged';
  if (digest(path) !== signed.sha256) return 'diverged';
  // The file may have been written or replaced during the read.
  const now = statIfPresent(path);
  if (now === undefined) return 'gone';
  if (inodeOf(now) !== inodeOf(stat) || now.size !== stat.size || now.mtimeNs !== stat.mtimeNs)
    return 'diverged';
  unlinkSync(path);
  return 'removed';
}

/** Location of a possible output that no committed step records. */
export interface PossibleOutput {
  /** The folder. */
  readonly output: string;
  /** Possible names of the output in that folder. */
  readonly names: readonly string[];
  /** Names of possibly published files in the working folder. */
  readonly signedNames: readonly string[];
}

/** Moves a working folder to the error folder, and withdraws an output the job may have published before or meanwhile. */
export function quarantine(folder: string, target: string, published: PossibleOutput | null): void {
  if (published) withdrawOutput(folder, published);
  if (existsSync(folder)) moveInto(folder, target);
  // A node that was suspended and lost the job can publish as long as the folder has its old path.
  if (published) withdrawOutput(target, published);
}

function moveInto(folder: string, target: string): void {
  try {
    move(folder, target);
  } catch (error) {
    const code = errno(error);
    if (code !== 'ENOTEMPTY' && code !== 'EEXIST') throw error;
    // The folder exists after an earlier attempt: adds the files to it.
    for (const name of readdirSync(folder)) move(join(folder, name), join(target, name));
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Removes an output that this job may have published without a commit. */
export function withdrawOutput(folder: string, { output, names, signedNames }: PossibleOutput): void {
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
