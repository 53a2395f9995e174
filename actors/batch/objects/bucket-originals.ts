/**
 * Originals of jobs in buckets that other programs fill, named `s3://<bucket>/<key>`. A node signs a copy on its own
 * disk, which may be lost at any time.
 *
 * Source: docs/decisions/0290-inputs-in-buckets.md.
 */
import { mkdirSync, rmSync } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Fatal, type Ids, Retryable } from '@sealwright/runtime';
import type { FileStamp } from '../../../machines/batch/job-context.ts';
import type { BucketObject, InputBuckets } from '../../shared/objects/input-buckets.ts';
import { ObjectReader } from '../../shared/objects/object-reader.ts';

const SCHEME = 's3://';

/** Folder of copies, among the working folders of a node; emptied at each start. */
export const INPUT_COPIES_FOLDER = '.inputs';

const CHUNK_BYTES = 256 * 1024;

export function bucketPath(bucket: string, key: string): string {
  return `${SCHEME}${bucket}/${key}`;
}

export function isInBucket(originalPath: string): boolean {
  return originalPath.startsWith(SCHEME);
}

function placeOf(originalPath: string): { readonly bucket: string; readonly key: string } {
  const path = originalPath.slice(SCHEME.length);
  const slash = path.indexOf('/');
  return { bucket: path.slice(0, slash), key: path.slice(slash + 1) };
}

export function stampOfObject({ length, modifiedAt, etag }: BucketObject): FileStamp {
  return { size: length, mtimeMs: modifiedAt, etag };
}

export class BucketOriginals {
  readonly #folder: string;

  constructor(
    private readonly buckets: Pick<InputBuckets, 'head' | 'get' | 'remove'>,
    private readonly ids: Pick<Ids, 'uuid'>,
    processing: string,
  ) {
    this.#folder = join(processing, INPUT_COPIES_FOLDER);
    rmSync(this.#folder, { recursive: true, force: true });
    mkdirSync(this.#folder, { mode: 0o750 });
  }

  /**
   * Gives a copy of an original and its stamp to `use`, and removes it afterwards.
   * @throws {Fatal} `input.missing`; {Retryable} `input.unreadable`, `storage.unavailable`
   */
  async withCopy<Result>(
    originalPath: string,
    use: (path: string, stamp: FileStamp) => Promise<Result>,
  ): Promise<Result> {
    const { bucket, key } = placeOf(originalPath);
    const object = await this.buckets.head(bucket, key);
    if (object === undefined)
      throw new Fatal('input.missing', `${originalPath} is no longer in its bucket: it was removed.`);
    const path = join(this.#folder, `${this.ids.uuid()}.copy`);
    try {
      await this.#copy(bucket, object, path);
      return await use(path, stampOfObject(object));
    } finally {
      await rm(path, { force: true });
    }
  }

  /** Undefined when the original is gone. */
  async stampOf(originalPath: string): Promise<FileStamp | undefined> {
    const { bucket, key } = placeOf(originalPath);
    const found = await this.buckets.head(bucket, key);
    return found && stampOfObject(found);
  }

  /** `changed`: the object is not the one that was signed, and stays. */
  remove(originalPath: string, etag: string): Promise<'removed' | 'gone' | 'changed'> {
    const { bucket, key } = placeOf(originalPath);
    return this.buckets.remove(bucket, key, etag);
  }

  async #copy(bucket: string, object: BucketObject, path: string): Promise<void> {
    const { length } = object;
    const reader = new ObjectReader(length, async (from) => {
      const body = await this.buckets.get(bucket, object, from);
      if (body !== undefined) return body;
      throw new Retryable('input.unreadable', `${bucketPath(bucket, object.key)} changed while it was read.`);
    });
    const file = await open(path, 'wx', 0o640);
    try {
      const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, length));
      for (let at = 0; at < length; ) {
        const { bytesRead } = await reader.read(chunk, 0, chunk.length, at);
        // `write` may write a part only.
        await file.appendFile(chunk.subarray(0, bytesRead));
        at += bytesRead;
      }
    } finally {
      await reader.close();
      await file.close();
    }
  }
}
