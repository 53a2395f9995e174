/** Folders: there, writable, with room, and on the same time as this machine. */
import { existsSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { CommandContext } from '../terminal.ts';
import { bad, errorCode, type Finding, good } from './finding.ts';

export interface FolderToCheck {
  /** As in findings: `folder:output`, `input-folder:<name>`. */
  readonly name: string;
  readonly path: string;
  /** The service makes it at start when it is missing. */
  readonly made: boolean;
}

/** Times of files may lag this far behind, milliseconds; more makes waiting for stable files unreliable. */
const FILE_SKEW_MS = 5000;
const MEBIBYTE = 1024 * 1024;
const LOW_SPACE_BYTES = 1024 * MEBIBYTE;
const NO_SPACE_BYTES = 100 * MEBIBYTE;

/** A file is written and removed again; its name is one no watcher takes. */
export function checkFolder(
  folder: FolderToCheck,
  { clock, ids }: Pick<CommandContext, 'clock' | 'ids'>,
): readonly Finding[] {
  const { name } = folder;
  const place = folder.made ? nearestExisting(folder.path) : folder.path;
  const probe = join(place, `.sealwright-doctor-${ids.uuid()}.tmp`);
  try {
    const before = clock.now();
    writeFileSync(probe, 'x', { flag: 'wx', mode: 0o600 });
    const { mtimeMs } = statSync(probe);
    const after = clock.now();
    const says = place === folder.path ? `${folder.path} can be written.` : `${folder.path} can be made.`;
    const skew = mtimeMs < before ? before - mtimeMs : Math.max(0, mtimeMs - after);
    return [good(name, says), ...(skew > FILE_SKEW_MS ? [fileSkew(folder, skew)] : [])];
  } catch (error) {
    return [unwritable(folder, errorCode(error))];
  } finally {
    if (existsSync(probe)) rmSync(probe);
  }
}

/** Room on the disk of a folder. */
export function checkRoom(name: string, path: string): Finding {
  const { bavail, bsize } = statfsSync(nearestExisting(path));
  const free = bavail * bsize;
  const says = `${Math.floor(free / MEBIBYTE)} MiB are free for ${path}.`;
  if (free >= LOW_SPACE_BYTES) return good(name, says);
  return bad(free < NO_SPACE_BYTES ? 'failed' : 'warning', name, {
    says,
    cause:
      'A job needs room for its staged input, its signed copy and its output; a full store takes no uploads.',
    remedy: `Free space on that disk, or put Storage:Root on a larger one.`,
  });
}

function unwritable({ name, path, made }: FolderToCheck, code: string): Finding {
  const missing = code === 'ENOENT';
  return bad('failed', name, {
    says: `${path} ${missing ? 'is not there' : 'cannot be written'} (${code}).`,
    cause: missing
      ? 'Only folders below Storage:Root are made at start; a missing one elsewhere may be a share that is not mounted.'
      : code === 'ENOSPC' || code === 'EDQUOT'
        ? 'The disk is full, or a quota is used up.'
        : code === 'EROFS'
          ? 'The file system is mounted read-only.'
          : code === 'ENOTDIR' || code === 'EEXIST'
            ? 'There is a file where a folder should be.'
            : 'The user this command runs as has no right to write there.',
    remedy:
      code === 'ENOSPC' || code === 'EDQUOT'
        ? `Free space on the disk of '${path}', raise the quota, or set Storage:Root to a folder on a larger disk.`
        : code === 'EROFS'
          ? `Mount the file system of '${path}' writable; a disk that failed is often mounted read-only by the system.`
          : missing
            ? `Mount or make it, or correct the path in the configuration.`
            : made
              ? `Let the service's user own it, for example: chown -R <user> '${path}', or set Storage:Root.`
              : `Give the service's user the right to read, write and delete in '${path}'.`,
  });
}

function fileSkew({ name, path }: FolderToCheck, skew: number): Finding {
  return bad('warning', `clock:${name}`, {
    says: `Files in ${path} get times that are ${Math.round(skew / 1000)} s away from this machine's clock.`,
    cause: 'The file system is another machine’s, and one of the two clocks is wrong.',
    remedy: 'Keep both machines on network time.',
  });
}

function nearestExisting(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearestExisting(dirname(path));
}
