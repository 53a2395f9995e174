/** Originals of jobs, in a folder, in the object store or in a bucket that other programs fill. */
import { constants, open, stat } from 'node:fs/promises';
import { describeFailure, Fatal, isRetryable, Retryable } from '@sealwright/runtime';
import { HEADER_BYTES } from '@sealwright/signatures';
import type { FileStamp, StagedInput } from '../../../machines/batch/job-context.ts';
import { type BucketOriginals, isInBucket } from './bucket-originals.ts';
import { isObject, type JobObjects } from './job-objects.ts';

/** Places of originals that are not in folders. */
export interface OriginalPlaces {
  /** Undefined: jobs have their files in folders. */
  readonly objects?: JobObjects | undefined;
  /** Undefined: no input is a bucket. */
  readonly originals?: BucketOriginals | undefined;
}

/** Undefined when the file is gone. */
export async function stampOfOriginal(
  originalPath: string,
  { objects, originals }: OriginalPlaces,
): Promise<FileStamp | undefined> {
  if (isInBucket(originalPath)) return originals?.stampOf(originalPath);
  if (isObject(originalPath)) return objects?.stampOf(originalPath);
  const found = await stat(originalPath).catch(() => undefined);
  return found?.isFile() ? { size: found.size, mtimeMs: found.mtimeMs } : undefined;
}

/**
 * First bytes of a file that waits in an input, `HEADER_BYTES` at most; undefined when it is gone or another one.
 * @throws {Retryable} `input.unreadable`, `storage.unavailable`
 */
export async function headOfInput(
  file: FileStamp & { readonly path: string },
  { originals }: OriginalPlaces,
): Promise<Buffer | undefined> {
  if (isInBucket(file.path)) return originals?.headOf(file.path, file);
  try {
    // Waits for no writer of a pipe that took the place of the file.
    const opened = await open(file.path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const { buffer, bytesRead } = await opened.read(Buffer.alloc(HEADER_BYTES), 0, HEADER_BYTES, 0);
      return buffer.subarray(0, bytesRead);
    } finally {
      await opened.close();
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new Retryable('input.unreadable', `${file.path} cannot be read (${code}).`);
  }
}

/**
 * Gives the path of a file on this machine to `use`: the original itself, or a copy for the time of the call.
 * @returns the result, and the stamp of an original in a bucket; or why that bucket cannot be used
 */
export async function withOriginal<Result>(
  originalPath: string,
  { objects, originals }: OriginalPlaces,
  use: (path: string) => Promise<Result>,
): Promise<{ readonly result: Result; readonly stamp?: FileStamp } | { readonly away: string }> {
  if (isInBucket(originalPath) && originals !== undefined) {
    let isRead = false;
    try {
      return await originals.withCopy(originalPath, async (path, stamp) => {
        isRead = true;
        return { result: await use(path), stamp };
      });
    } catch (error) {
      if (isRead || !isRetryable(error) || error.code === 'input.unreadable') throw error;
      return { away: describeFailure(error).message };
    }
  }
  if (isObject(originalPath) && objects !== undefined)
    return { result: await objects.withCopy(originalPath, use) };
  if (!isObject(originalPath) && !isInBucket(originalPath)) return { result: await use(originalPath) };
  const setting = isObject(originalPath) ? 'Storage:Objects:Kind' : 'Storage:Inputs';
  throw new Fatal(
    'input.missing',
    `${originalPath} is in a bucket, and ${setting} names none. Configure it, and retry the job.`,
  );
}

/** The input of a job as it was read: of an original in a bucket, with the facts of its object. */
export function stampedInput(input: StagedInput, stamp: FileStamp | undefined): StagedInput {
  if (stamp?.etag === undefined) return input;
  return { ...input, mtimeMs: stamp.mtimeMs, etag: stamp.etag };
}
