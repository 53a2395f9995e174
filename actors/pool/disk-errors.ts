/** Error codes and messages of failed system calls, for failed jobs and the storage monitor. */
import { existsSync } from 'node:fs';
import { describeFailure } from '@sealwright/runtime/core';

interface DiskError {
  readonly code: string;
  readonly says: string;
}

const FULL: DiskError = { code: 'disk.full', says: 'The disk has no room left' };
const CLOSED: DiskError = { code: 'disk.not-writable', says: 'The disk does not let the file be written' };
const BROKEN: DiskError = { code: 'disk.failed', says: 'The disk failed' };
const UNREADABLE: DiskError = { code: 'input.unreadable', says: 'The file may not be read by the service' };

const DISK_ERRORS: ReadonlyMap<string, DiskError> = new Map([
  ['ENOSPC', FULL],
  ['EDQUOT', FULL],
  ['EROFS', CLOSED],
  ['EIO', BROKEN],
]);

/** Codes that hold the pipeline instead of failing the job. */
export type StorageCode = 'disk.full' | 'disk.not-writable';

export function isStorageCode(code: string): code is StorageCode {
  return code === FULL.code || code === CLOSED.code;
}

/**
 * Code and message of a failure. Full, read-only and broken disks, missing and unreadable inputs have codes independent
 * of the system's message.
 * @param work absolute folders that the service writes to; failures there are not caused by the job's input
 */
export function describeDiskError(
  error: unknown,
  work: readonly string[] = [],
): { readonly code: string; readonly message: string } {
  const failure = describeFailure(error);
  const { code, message } = failure;
  const trouble = DISK_ERRORS.get(code);
  if (trouble !== undefined)
    return {
      code: trouble.code,
      message: `${trouble.says} (${message}). The input stays where it is; retry the job once that is mended.`,
    };
  if (code !== 'ENOENT' && code !== 'EACCES' && code !== 'EPERM') return failure;
  const { path, dest } = error as NodeJS.ErrnoException & { readonly dest?: string };
  const missing = work.find((folder) => !existsSync(folder));
  if (missing !== undefined && code === 'ENOENT')
    return { code: CLOSED.code, message: `The folder ${missing} is not there; mount it or make it again.` };
  const inWork = [path, dest].some((one) => work.some((folder) => one?.startsWith(`${folder}/`)));
  if (code === 'ENOENT') {
    return {
      code: 'input.missing',
      message: `The file ${path ?? 'of the job'} is no longer there: it was moved or removed while its job waited. Put it back, and retry the job or offer the file again.`,
    };
  }
  const { code: shown, says } = inWork ? CLOSED : UNREADABLE;
  const remedy = 'Give the user of the service the right to it and retry the job.';
  return { code: shown, message: `${says} (${message}). ${remedy}` };
}
