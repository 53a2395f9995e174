/**
 * After a job has ended: the input is taken away once its signed output is safe, or the working folder is put
 * aside for somebody to look at. Both may run again after a crash and then find their work done.
 * Source: batch-gaps §7 ("Before the original is deleted", "Processing folder"); architecture §5.
 */
import { existsSync, readdirSync, renameSync, rmSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { StagedInput } from '../../machines/job.ts';
import { fileDigest } from './digest.ts';
import { errno, inodeOf, statIfPresent, syncDirectory } from './directories.ts';
import { isPublished } from './publish.ts';

/**
 * File systems stamp modification times by the tick; a file written twice within this many milliseconds may
 * carry the same stamp, so only older stamps are proof that nothing changed.
 */
const STAMP_DOUBT = 2_000;

/**
 * Removes the original unless it is no longer the file that was signed.
 *
 * @param at Time of the check, milliseconds since the epoch.
 * @returns `diverged` when another file, or other content, has the path; it is left in place.
 */
export function removeOriginal(
  path: string,
  signed: StagedInput,
  at: number,
): 'removed' | 'gone' | 'diverged' {
  const stat = statIfPresent(path);
  if (stat === undefined) return 'gone';
  if (!stat.isFile() || Number(stat.size) !== signed.length) return 'diverged';
  const mtimeMs = Number(stat.mtimeNs) / 1e6;
  const stamped = inodeOf(stat) === signed.inode && Math.abs(mtimeMs - signed.mtimeMs) < 0.001;
  const proven = stamped && at - signed.mtimeMs > STAMP_DOUBT;
  if (!proven && fileDigest(path) !== signed.sha256) return 'diverged';
  unlinkSync(path);
  return 'removed';
}

/**
 * Moves a working folder to the error folder. Where the job had begun to publish, the output it may have
 * linked is taken back first: an output nobody committed must not be found.
 *
 * @param published Names the output may have, and the signed file's name in the working folder.
 */
export function quarantine(
  folder: string,
  target: string,
  published: {
    readonly output: string;
    readonly names: readonly string[];
    readonly signedName: string;
  } | null,
): void {
  if (!existsSync(folder)) return;
  if (published) {
    const signed = join(folder, published.signedName);
    for (const name of published.names) {
      const output = join(published.output, name);
      if (isPublished(signed, output)) {
        unlinkSync(output);
        syncDirectory(published.output);
      }
    }
  }
  try {
    renameSync(folder, target);
  } catch (error) {
    const code = errno(error);
    if (code !== 'ENOTEMPTY' && code !== 'EEXIST') throw error;
    // A folder of this job is there already (a redo that staged anew): its files move beside the old ones.
    for (const name of readdirSync(folder)) renameSync(join(folder, name), join(target, name));
    rmSync(folder, { recursive: true, force: true });
  }
  syncDirectory(join(target, '..'));
}
