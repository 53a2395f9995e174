/**
 * Originals of jobs in buckets that other programs fill, named `s3://<bucket>/<key>`. A node signs a copy on its own
 * disk, which may be lost at any time.
 *
 * Source: docs/decisions/0290-inputs-in-buckets.md.
 */
import { mkdirSync, rmSync } from 'node:fs';
import { rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { describeFailure, Fatal, type Ids, Retryable } from '@sealwright/runtime';
import { HEADER_BYTES } from '@sealwright/signatures';
import type { FileStamp } from '../../../machines/batch/job-context.ts';
import type { BucketObject, InputBuckets } from '../../shared/objects/input-buckets.ts';
import { ObjectReader } from '../../shared/objects/object-reader.ts';
import { BucketRefusals } from './bucket-refusals.ts';

const SCHEME = 's3://';

/** Folder of copies, among the working folders of a node; emptied at each start. */
export const INPUT_COPIES_FOLDER = '.inputs';

/** Room that an object needs here, by its length: the copy and the signed file. */
const FILES = 2;
/** Attempts to read an object that its bucket refuses … */
const MAX_REFUSED_READS = 5;
/** … and to remove one. */
const MAX_REFUSED_REMOVALS = 3;

export function bucketPath(bucket: string, key: string): string {
  return `${SCHEME}${bucket}/${key}`;
}

export function isInBucket(originalPath: string): boolean {
  return originalPath.startsWith(SCHEME);
}

export function placeOf(originalPath: string): { readonly bucket: string; readonly key: string } {
  const path = originalPath.slice(SCHEME.length);
  const slash = path.indexOf('/');
  return { bucket: path.slice(0, slash), key: path.slice(slash + 1) };
}

function stampOfObject({ length, modifiedAt, etag }: BucketObject): FileStamp {
  return { size: length, mtimeMs: modifiedAt, etag };
}

export class BucketOriginals {
  readonly #folder: string;
  readonly #refusals = new BucketRefusals();

  constructor(
    private readonly buckets: Pick<InputBuckets, 'list' | 'head' | 'get' | 'remove'>,
    private readonly ids: Pick<Ids, 'uuid'>,
    processing: string,
  ) {
    this.#folder = join(processing, INPUT_COPIES_FOLDER);
    rmSync(this.#folder, { recursive: true, force: true });
    mkdirSync(this.#folder, { mode: 0o750 });
  }

  /**
   * Gives a copy of an original and its stamp to `use`, and removes it afterwards.
   * @throws {Fatal} `input.missing`, `input.unreadable` after refusals in a row; {Retryable} `input.unreadable`,
   * also where it has no room, `storage.unavailable`
   */
  async withCopy<Result>(
    originalPath: string,
    use: (path: string, stamp: FileStamp) => Promise<Result>,
  ): Promise<Result> {
    const path = join(this.#folder, `${this.ids.uuid()}.copy`);
    try {
      const copy = () => this.#copy(originalPath, path);
      const stamp = await this.#refusals.upTo(MAX_REFUSED_READS, originalPath, copy, unreadable);
      return await use(path, stamp);
    } finally {
      await rm(path, { force: true });
    }
  }

  /** True while the bucket of this original cannot be used. */
  async isAway(originalPath: string): Promise<boolean> {
    const { bucket } = placeOf(originalPath);
    try {
      const object = await this.#head(originalPath);
      (object && (await this.buckets.get(bucket, object, 0)))?.destroy();
      return false;
    } catch (error) {
      return describeFailure(error).code === 'storage.unavailable';
    }
  }

  /** First bytes of an object that was listed; undefined when it is gone or another one. @throws {Retryable} as `withCopy` */
  async headOf(originalPath: string, { size, mtimeMs, etag = '' }: FileStamp): Promise<Buffer | undefined> {
    const { bucket, key } = placeOf(originalPath);
    const object = { key, length: size, modifiedAt: mtimeMs, etag };
    const body = await this.buckets.get(bucket, object, 0, Math.min(size, HEADER_BYTES));
    if (body === undefined) return undefined;
    let head = Buffer.alloc(0);
    // A server without ranges sends all; the answer ends when it is left.
    for await (const chunk of body) {
      head = Buffer.concat([head, chunk as Buffer]);
      if (head.length >= HEADER_BYTES) break;
    }
    return head.subarray(0, HEADER_BYTES);
  }

  /** Undefined when the original is gone. */
  async stampOf(originalPath: string): Promise<FileStamp | undefined> {
    const { bucket, key } = placeOf(originalPath);
    const found = await this.buckets.head(bucket, key);
    return found && stampOfObject(found);
  }

  /**
   * `changed`: the object is not the one that was signed, and stays.
   * @throws {Fatal} `input.unreadable` after refusals in a row; {Retryable} as `withCopy`
   */
  remove(
    originalPath: string,
    { etag, mtimeMs }: { readonly etag: string; readonly mtimeMs: number },
  ): Promise<'removed' | 'gone' | 'changed'> {
    const { bucket, key } = placeOf(originalPath);
    const remove = () => this.buckets.remove(bucket, key, { etag, modifiedAt: mtimeMs });
    return this.#refusals.upTo(MAX_REFUSED_REMOVALS, originalPath, remove, unreadable);
  }

  /** As `head`. A bucket that is gone, or keys that have expired, are an outage. */
  async #head(originalPath: string): Promise<BucketObject | undefined> {
    const { bucket, key } = placeOf(originalPath);
    let refusal: unknown;
    try {
      const object = await this.buckets.head(bucket, key);
      if (object !== undefined) return object;
    } catch (error) {
      if (describeFailure(error).code !== 'input.unreadable') throw error;
      refusal = error;
    }
    // An answer to HEAD has no body that says why.
    await this.buckets.list(bucket, { prefix: key, recursive: true });
    if (refusal !== undefined) throw refusal;
    return undefined;
  }

  /** A disk that one object fills again and again would hold the jobs of all inputs. */
  async #refuseWithoutRoom(originalPath: string, { length }: BucketObject): Promise<void> {
    const { bavail, bsize } = await statfs(this.#folder);
    const free = bavail * bsize;
    if (FILES * length <= free) return;
    throw new Retryable(
      'input.unreadable',
      `${originalPath} has ${length} bytes; ${FILES} times as many are needed here, and ${free} are free.`,
    );
  }

  async #copy(originalPath: string, path: string): Promise<FileStamp> {
    const { bucket } = placeOf(originalPath);
    const object = await this.#head(originalPath);
    if (object === undefined)
      throw new Fatal('input.missing', `${originalPath} is no longer in its bucket: it was removed.`);
    await this.#refuseWithoutRoom(originalPath, object);
    const { length } = object;
    const reader = new ObjectReader(length, async (from) => {
      const body = await this.buckets.get(bucket, object, from);
      if (body !== undefined) return body;
      throw new Retryable('input.unreadable', `${originalPath} changed while it was read.`);
    });
    await reader.copyTo(path);
    return stampOfObject(object);
  }
}

function unreadable(error: unknown): Fatal | undefined {
  const { code, message } = describeFailure(error);
  return code === 'input.unreadable' ? new Fatal(code, message) : undefined;
}
