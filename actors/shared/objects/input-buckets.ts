/**
 * Buckets that other programs fill: listed, read and removed from, never written.
 *
 * Calls reject with a `Retryable`: `storage.unavailable` while a bucket cannot be used, `input.unreadable` where it
 * refuses.
 *
 * Source: docs/decisions/0290-inputs-in-buckets.md.
 */
import type { Readable } from 'node:stream';
import type { S3Client } from '@aws-sdk/client-s3';
import { type Clock, type Log, Retryable } from '@sealwright/runtime';
import {
  beginsAt,
  type ClientError,
  explained,
  isRefused,
  loadSdk,
  makeClient,
  type S3Connection,
  type Sdk,
  statusOf,
  TIMEOUT_MS,
  within,
  withoutPauses,
} from './s3-client.ts';

export interface BucketObject {
  readonly key: string;
  readonly length: number;
  /** By the clock of the store, in whole seconds: the precision of some of its answers. Milliseconds since the epoch. */
  readonly modifiedAt: number;
  /** Differs for other content under the key. */
  readonly etag: string;
}

export interface BucketPage {
  readonly objects: readonly BucketObject[];
  /** Names the next page; undefined: this is the last one. */
  readonly next: string | undefined;
}

export interface ListOptions {
  /** Begins the keys. */
  readonly prefix: string;
  /** True: also keys with a slash behind the prefix. */
  readonly recursive: boolean;
  readonly next?: string | undefined;
  /** Keys up to this one are left out; only without `next`. */
  readonly after?: string | undefined;
  readonly signal?: AbortSignal;
}

/** At most 1,000 a page. */
const PAGE_SIZE = 1000;

export class InputBuckets {
  #client: { readonly sdk: Sdk; readonly client: S3Client } | undefined;
  /** True once the server has shown that it removes on a condition, false that it does not. */
  #removesOnCondition: boolean | undefined;

  constructor(
    private readonly connection: S3Connection,
    private readonly parts: {
      readonly clock: Pick<Clock, 'after' | 'elapsed'>;
      readonly log: Pick<Log, 'warn'>;
      /** Limit of a request, and of a pause within an answer, milliseconds. @default 10 seconds */
      readonly timeout?: number;
    },
  ) {}

  /** Loads the client. @throws {Fatal} `settings.no-package` */
  async open(): Promise<void> {
    const sdk = await loadSdk();
    this.#client ??= { sdk, client: makeClient(sdk, this.connection, this.#timeout) };
  }

  /** In order of the keys. */
  async list(Bucket: string, options: ListOptions): Promise<BucketPage> {
    const { sdk, client } = await this.#opened();
    const { prefix, recursive, next, after, signal } = options;
    const command = new sdk.ListObjectsV2Command({
      Bucket,
      Prefix: prefix,
      MaxKeys: PAGE_SIZE,
      // Some characters of keys cannot stand in the answer.
      EncodingType: 'url',
      ...(!recursive && { Delimiter: '/' }),
      ...(next !== undefined ? { ContinuationToken: next } : after !== undefined && { StartAfter: after }),
    });
    const page = await this.#attempt(Bucket, 's3:ListBucket', () =>
      within(this.parts.clock, this.#timeout, (limits) => client.send(command, limits), signal),
    );
    const decode = page.EncodingType === 'url' ? decoded : (key: string) => key;
    const objects = (page.Contents ?? []).flatMap(({ Key = '', Size = 0, LastModified, ETag = '' }) => {
      const key = decode(Key);
      if (key === undefined) return [];
      return [{ key, length: Size, modifiedAt: seconds(LastModified), etag: ETag }];
    });
    const following = page.IsTruncated ? page.NextContinuationToken : undefined;
    if (following !== undefined && following === next)
      throw new Retryable('storage.unavailable', `bucket ${Bucket} gives the same page again`);
    return { objects, next: following };
  }

  /** Undefined when there is no such object. */
  async head(Bucket: string, key: string): Promise<BucketObject | undefined> {
    const { sdk, client } = await this.#opened();
    const command = new sdk.HeadObjectCommand({ Bucket, Key: key });
    const found = await this.#ifPresent(Bucket, 's3:GetObject', () =>
      this.#within((limits) => client.send(command, limits)),
    );
    if (found === undefined) return undefined;
    const { ContentLength: length = 0, LastModified, ETag: etag = '' } = found;
    return { key, length, modifiedAt: seconds(LastModified), etag };
  }

  /** Undefined when the object is gone or another one. @param end of the bytes that are wanted. @default all */
  async get(
    Bucket: string,
    { key, etag }: BucketObject,
    from: number,
    end?: number,
  ): Promise<Readable | undefined> {
    const { sdk, client } = await this.#opened();
    const command = new sdk.GetObjectCommand({
      Bucket,
      Key: key,
      IfMatch: etag,
      ...((from > 0 || end !== undefined) && { Range: `bytes=${from}-${end === undefined ? '' : end - 1}` }),
    });
    const found = await this.#ifPresent(
      Bucket,
      's3:GetObject',
      () => this.#within((limits) => client.send(command, limits)),
      [412],
    );
    if (found === undefined) return undefined;
    const body = found.Body as Readable;
    // The condition may be unknown to the server.
    if (found.ETag !== etag) {
      body.destroy();
      return undefined;
    }
    if (!beginsAt(found, from)) {
      body.destroy();
      throw new Retryable('storage.unavailable', `bucket ${Bucket} sends no ranges`);
    }
    return withoutPauses(body, this.parts.clock, this.#timeout, (error) =>
      this.#failure(Bucket, 's3:GetObject', error),
    );
  }

  /** Removes an object that is still the same version. */
  async remove(
    Bucket: string,
    key: string,
    { etag, modifiedAt }: Pick<BucketObject, 'etag' | 'modifiedAt'>,
  ): Promise<'removed' | 'gone' | 'changed'> {
    // The condition knows no time: the same bytes, put again, have the same tag.
    const found = await this.head(Bucket, key);
    if (found === undefined) return 'gone';
    if (found.etag !== etag || found.modifiedAt !== modifiedAt) return 'changed';
    if (this.#removesOnCondition !== undefined)
      return this.#removeIf(Bucket, key, this.#removesOnCondition ? etag : undefined);
    const asked = await this.#learnCondition(Bucket, key);
    return asked === 'changed' ? this.#removeIf(Bucket, key, etag) : asked;
  }

  get #timeout(): number {
    return this.parts.timeout ?? TIMEOUT_MS;
  }

  #within<Answer>(
    send: (limits: { readonly requestTimeout: number; readonly abortSignal: AbortSignal }) => Promise<Answer>,
  ): Promise<Answer> {
    return within(this.parts.clock, this.#timeout, send);
  }

  async #opened() {
    await this.open();
    if (this.#client === undefined) throw new Error('The client was not made.');
    return this.#client;
  }

  /**
   * Asks to remove the object, which is to be removed, under a condition that is wrong. A server that does not know
   * conditions removes it, as it would after a comparison. `gone` says nothing about conditions.
   */
  async #learnCondition(Bucket: string, key: string): Promise<'removed' | 'gone' | 'changed'> {
    const asked = await this.#removeIf(Bucket, key, '"00000000000000000000000000000000"');
    if (asked !== 'gone') this.#removesOnCondition = asked === 'changed';
    if (asked === 'removed')
      this.parts.log.warn(
        'The server of the input buckets removes without conditions: an object that is replaced within the moment of its removal is lost. Let other programs use new keys, or switch on versions in the bucket.',
        { Bucket },
      );
    return asked;
  }

  async #removeIf(
    Bucket: string,
    Key: string,
    IfMatch: string | undefined,
  ): Promise<'removed' | 'gone' | 'changed'> {
    const { sdk, client } = await this.#opened();
    const command = new sdk.DeleteObjectCommand({ Bucket, Key, ...(IfMatch !== undefined && { IfMatch }) });
    try {
      const done = await this.#ifPresent(Bucket, 's3:DeleteObject', () =>
        this.#within((limits) => client.send(command, limits)),
      );
      return done === undefined ? 'gone' : 'removed';
    } catch (error) {
      const status = (error as { status?: unknown }).status;
      if (status === 412) return 'changed';
      // Not implemented, with this header.
      if (status === 501 && IfMatch !== undefined) return this.#removeIf(Bucket, Key, undefined);
      throw error;
    }
  }

  /** @param also statuses that mean that it is not there either */
  async #ifPresent<Answer>(
    bucket: string,
    right: string,
    call: () => Promise<Answer>,
    also: readonly number[] = [],
  ): Promise<Answer | undefined> {
    try {
      return await call();
    } catch (error) {
      const status = statusOf(error) ?? 0;
      if (status === 404 && (error as ClientError).name !== 'NoSuchBucket') return undefined;
      if (also.includes(status)) return undefined;
      throw this.#failure(bucket, right, error);
    }
  }

  async #attempt<Answer>(bucket: string, right: string, call: () => Promise<Answer>): Promise<Answer> {
    try {
      return await call();
    } catch (error) {
      throw this.#failure(bucket, right, error);
    }
  }

  #failure(bucket: string, right: string, error: unknown): Error {
    if (error instanceof Retryable) return error;
    const { endpoint } = this.connection;
    const status = statusOf(error);
    const location = `bucket ${bucket}${endpoint === undefined ? '' : ` at ${endpoint}`}`;
    const code = isRefused(error) ? 'input.unreadable' : 'storage.unavailable';
    return Object.assign(new Retryable(code, explained(location, right, error)), { status });
  }
}

function seconds(time: Date | undefined): number {
  return Math.floor((time?.getTime() ?? 0) / 1000) * 1000;
}

/** Undefined for a key that is no text. */
function decoded(key: string): string | undefined {
  try {
    return decodeURIComponent(key.replaceAll('+', '%20'));
  } catch {
    return undefined;
  }
}
