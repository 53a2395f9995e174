/** Originals of jobs, in a folder or in the object store. */
import { stat } from 'node:fs/promises';
import { Fatal } from '@sealwright/runtime';
import type { FileStamp } from '../../../machines/batch/job-context.ts';
import { isObject, type JobObjects } from './job-objects.ts';

/** Undefined when the file is gone. */
export async function stampOfOriginal(
  originalPath: string,
  objects: JobObjects | undefined,
): Promise<FileStamp | undefined> {
  if (isObject(originalPath)) return objects?.stampOf(originalPath);
  const found = await stat(originalPath).catch(() => undefined);
  return found?.isFile() ? { size: found.size, mtimeMs: found.mtimeMs } : undefined;
}

/** Gives the path of a file on this machine to `use`: the original itself, or a copy for the time of the call. */
export function withOriginal<Result>(
  originalPath: string,
  objects: JobObjects | undefined,
  use: (path: string) => Promise<Result>,
): Promise<Result> {
  if (!isObject(originalPath)) return use(originalPath);
  if (objects !== undefined) return objects.withCopy(originalPath, use);
  throw new Fatal(
    'input.missing',
    `${originalPath} is in an object store, and Storage:Objects:Kind names none. Configure it, and retry the job.`,
  );
}
