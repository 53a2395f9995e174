/** Error codes and messages of failed system calls, for failed jobs and the storage monitor. */
import { accessSync, constants, existsSync } from 'node:fs';
import { describeFailure } from '@sealwright/runtime/core';
import { uploadName } from '../shared/files/storage-layout.ts';

interface DiskError {
  readonly code: string;
  readonly says: string;
}

const FULL: DiskError = { code: 'disk.full', says: 'The disk has no room left' };
const CLOSED: DiskError = { code: 'disk.not-writable', says: 'The disk does not let the file be written' };
/** Not the fault of a file: the same holds for those of all jobs. */
const CROWDED: DiskError = { code: 'disk.not-writable', says: 'Too many files are open' };
const BROKEN: DiskError = { code: 'disk.failed', says: 'The disk failed' };
const UNREADABLE: DiskError = { code: 'input.unreadable', says: 'The file may not be read by the service' };

const DISK_ERRORS: ReadonlyMap<string, DiskError> = new Map([
  ['ENOSPC', FULL],
  ['EDQUOT', FULL],
  ['EROFS', CLOSED],
  ['EMFILE', CROWDED],
  ['ENFILE', CROWDED],
  ['EIO', BROKEN],
]);

/** System errors of a file that another program has open, or of a share that fails: mostly gone a moment later. */
const MOMENTARY = ['EBUSY', 'ETXTBSY', 'EAGAIN', 'EIO', 'ESTALE', 'ETIMEDOUT', 'EHOSTDOWN'];
/** The same where the input is opened and not linked: a link is refused by its folder, too. */
const REFUSED = ['EACCES', 'EPERM'];

/** System errors of a folder or file without the right to it. */
const FORBIDDEN = ['EACCES', 'EPERM', 'EROFS'];

/** Code of an input that could not be opened and may be in a moment; for the task's caller only. */
export const INPUT_BUSY = 'input.busy';

/** Code of an input that is not, or not any more, what was seen; the engine has it for a change while it reads. */
export const INPUT_CHANGED = 'input.changed';

/** True for the failure to open an input that another attempt may open. */
export function isMomentary(error: unknown, input: string): boolean {
  const { path, dest, code = '' } = error as NodeJS.ErrnoException & { readonly dest?: string };
  if (path !== input && path !== uploadName(input)) return false;
  return MOMENTARY.includes(code) || (dest === undefined && REFUSED.includes(code));
}

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
  const held = holdOf(error, code, work);
  if (held !== undefined) return held;
  const { path, dest } = (error ?? {}) as { readonly path?: string; readonly dest?: string };
  const isIn = (folder: string) => [path, dest].some((one) => one?.startsWith(`${folder}/`));
  const places = work.filter(isIn);
  // Where the folders of the service can be written, what refuses is a folder below, as for an input's folder inside folders, or the
  // folder of the input, from which a link is made. Holding would keep all other jobs waiting for it, without an end.
  const isAlone = FORBIDDEN.includes(code) && places.length > 0 && places.every(isWritable);
  if (isAlone && work.some((folder) => path?.startsWith(`${folder}/`)))
    return { code: 'output.unwritable', message: `A folder of the output cannot be written (${message}).` };
  const trouble = DISK_ERRORS.get(code);
  if (trouble !== undefined)
    return {
      code: trouble.code,
      message: `${trouble.says} (${message}). The input stays where it is; retry the job once that is mended.`,
    };
  if (code !== 'ENOENT' && code !== 'EACCES' && code !== 'EPERM') return failure;
  const missing = work.find((folder) => !existsSync(folder));
  if (missing !== undefined && code === 'ENOENT')
    return { code: CLOSED.code, message: `The folder ${missing} is not there; mount it or make it again.` };
  if (code === 'ENOENT') {
    return {
      code: 'input.missing',
      message: `The file ${path ?? 'of the job'} is no longer there: it was moved or removed while its job waited. Put it back, and retry the job or offer the file again.`,
    };
  }
  const { code: shown, says } = places.length > 0 && !isAlone ? CLOSED : UNREADABLE;
  const remedy = 'Give the user of the service the right to it and retry the job.';
  return { code: shown, message: `${says} (${message}). ${remedy}` };
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * What holds the pipeline where an output could not be written or a file not be read. An input that may not be read is not
 * among it: one file would hold the others.
 */
function holdOf(
  error: unknown,
  code: string,
  work: readonly string[],
): ReturnType<typeof describeDiskError> | undefined {
  if (!(error instanceof Error) || !(error.cause instanceof Error)) return undefined;
  const isCrowded = DISK_ERRORS.get(describeFailure(error.cause).code) === CROWDED;
  if (code !== 'output.unwritable' && !(code === 'input.unreadable' && isCrowded)) return undefined;
  const found = describeDiskError(error.cause, work);
  return isStorageCode(found.code) ? found : undefined;
}
