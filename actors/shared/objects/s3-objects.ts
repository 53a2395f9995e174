/**
 * Objects in a bucket of a server that speaks the S3 protocol. Its client is loaded at first use.
 *
 * Bodies are sent from memory, one part of 8 MiB at a time: the client signs their SHA-256, so that the server refuses
 * damaged ones, and can send them again.
 *
 * Source: docs/decisions/0279-object-store.md.
 */
import { type FileHandle, open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import type { ListMultipartUploadsCommandOutput, S3Client } from '@aws-sdk/client-s3';
import { type Clock, Fatal, type Ids, Retryable } from '@sealwright/runtime';
import {
  type ByteRange,
  type LinkedFile,
  type ObjectBody,
  type ObjectFile,
  type ObjectPage,
  type ObjectStore,
  type PutOptions,
  type StoredObject,
  StoreRefusal,
  type StoreTrouble,
} from './object-store.ts';
import { headOf, PlainRequests } from './plain-requests.ts';
import { presignedLink } from './presign.ts';
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
import { Transfers } from './transfers.ts';

export interface S3Options extends S3Connection {
  readonly bucket: string;
  /** Begins the key of each object. */
  readonly prefix: string;
  readonly serverSideEncryption: boolean;
  /** Clients reach the bucket, and download from it. @default false */
  readonly presignDownloads?: boolean;
}

export interface S3Parts {
  readonly clock: Pick<Clock, 'after' | 'elapsed' | 'now'>;
  readonly ids: Pick<Ids, 'uuid'>;
  /** Limit of a request, and of a pause within an answer, milliseconds. @default 10 seconds */
  readonly timeout?: number;
}

/** Slowest transfer that is waited for, beyond that time, bytes per millisecond. */
const SLOWEST = 256;
/** Limit of a copy within the store, which may have 5 GB to copy, milliseconds. */
const COPY_TIMEOUT_MS = 5 * 60_000;
/** Limit of a check, so that the readiness answers in time, milliseconds. */
const CHECK_TIMEOUT_MS = 4_000;
/** Bytes of a part; 10,000 of them are allowed. */
const PART_BYTES = 8 * 1024 * 1024;
const PAGE_SIZE = 1000;
/** Life of the address of a download. */
const LINK_SECONDS = 60;
/** Without these, what is over stays. */
const RIGHTS_OF_REMOVAL = ['s3:ListBucketMultipartUploads', 's3:AbortMultipartUpload', 's3:DeleteObject'];
/** Time until rights of removal are tried again: what a trial leaves stays without them. */
const RETRIED_AFTER_MS = 10 * 60_000;
/** Of a key, in UTF-8. */
const MAX_KEY_BYTES = 1024;
/** @throws {Fatal} `settings.no-package` */
export async function openS3(options: S3Options, parts: S3Parts): Promise<ObjectStore> {
  const sdk = await loadSdk();
  const requestTimeout = parts.timeout ?? TIMEOUT_MS;
  return new S3Objects(options, {
    ...parts,
    sdk,
    requestTimeout,
    client: makeClient(sdk, options, requestTimeout),
  });
}

class S3Objects implements ObjectStore {
  readonly location: string;
  readonly link: ObjectStore['link'];
  readonly #options: S3Options;
  readonly #prefix: string;
  readonly #sdk: Sdk;
  readonly #client: S3Client;
  readonly #plain: PlainRequests;
  readonly #parts: S3Parts & { readonly requestTimeout: number };
  /** One for all checks of this process: what a failed check leaves is replaced by the next one. */
  readonly #probe: string;
  readonly #encryption: { readonly ServerSideEncryption?: 'AES256' };
  /** False once the server has said that it knows no conditions. */
  #isConditional = true;
  #exclusive: Promise<boolean> | undefined;
  /** True after a full check, until a request fails. */
  #isProven = false;
  /** A missing right of removal. */
  #withoutRemoval: { readonly trouble: StoreTrouble; readonly until: number } | undefined;
  readonly #transfers: Transfers;

  constructor(
    options: S3Options,
    parts: S3Parts & {
      readonly sdk: Sdk;
      readonly client: S3Client;
      readonly requestTimeout: number;
    },
  ) {
    const { bucket, prefix, endpoint, serverSideEncryption } = options;
    this.#options = options;
    this.#prefix = prefix === '' || prefix.endsWith('/') ? prefix : `${prefix}/`;
    this.#sdk = parts.sdk;
    this.#client = parts.client;
    this.#plain = new PlainRequests(parts.client, bucket, () => parts.clock.now());
    this.#parts = parts;
    this.#probe = `probes/${parts.ids.uuid()}`;
    this.#encryption = serverSideEncryption ? { ServerSideEncryption: 'AES256' } : {};
    this.location = `bucket ${bucket}${endpoint === undefined ? '' : ` at ${endpoint}`}`;
    this.link = options.presignDownloads === true ? (key, file) => this.#link(key, file) : undefined;
    this.#transfers = new Transfers(parts.clock, this.location, parts.requestTimeout);
  }

  async put(key: string, file: ObjectFile, options: PutOptions = {}): Promise<'stored' | 'exists'> {
    if (this.#isTooLong(key))
      throw new Fatal(
        'output.name-refused',
        `The object store takes no key of more than ${MAX_KEY_BYTES} bytes: ${key}. Give the input or its folders shorter names.`,
      );
    const end = await this.#transfers.begin();
    try {
      const outcome = await this.#putFile(key, file, options);
      this.#transfers.answered();
      return outcome;
    } catch (error) {
      if (error instanceof Fatal) throw error;
      const isHanging = (error as ClientError).name === 'TimeoutError';
      if (isHanging) this.#transfers.stalled();
      // Proved again before the next attempt.
      if (statusOf(error) === 501) this.#exclusive = undefined;
      // The answer to what was stored may be lost. A server that hangs is not asked.
      const mayBeStored = options.replace !== true && !isHanging;
      if (mayBeStored && (await this.head(key).catch(() => undefined))?.length === file.length)
        return 'exists';
      throw this.#unavailable('s3:PutObject', error);
    } finally {
      end();
    }
  }

  async get(key: string, range?: ByteRange): Promise<ObjectBody | undefined> {
    const object = this.#object(key);
    const Range = range && `bytes=${range.from}-${range.to ?? ''}`;
    const found = await this.#ifPresent('s3:GetObject', () =>
      this.#within(0, async (limits) => {
        const headers = Range === undefined ? {} : { range: Range };
        const plain = await this.#plain.send({ method: 'GET', key: object.Key, headers }, limits);
        if (plain === undefined) {
          const command = new this.#sdk.GetObjectCommand({ ...object, ...(Range && { Range }) });
          return this.#client.send(command, limits);
        }
        const { 'content-range': ContentRange, 'content-length': length } = plain.headers;
        return {
          Body: plain.body,
          ContentRange,
          ContentLength: length === undefined ? length : Number(length),
        };
      }),
    );
    if (found === undefined) return undefined;
    const body = found.Body as Readable;
    const from = range?.from ?? 0;
    if (!beginsAt(found, from)) {
      body.destroy();
      throw new Retryable('storage.unavailable', `${this.location} sends no ranges`);
    }
    const { clock, requestTimeout } = this.#parts;
    const failure = (error: unknown) => this.#unavailable('s3:GetObject', error);
    return { length: found.ContentLength, stream: withoutPauses(body, clock, requestTimeout, failure) };
  }

  async #link(key: string, { contentType, disposition }: LinkedFile): Promise<string> {
    const { config } = this.#client;
    const { bucket, endpoint, forcePathStyle } = this.#options;
    return this.#attempt('s3:GetObject', async () => {
      const place = config.endpointProvider({
        Region: await config.region(),
        Bucket: bucket,
        ForcePathStyle: forcePathStyle,
        ...(endpoint !== undefined && { Endpoint: endpoint }),
      });
      return presignedLink(this.#client, {
        bucket: place.url,
        key: `${this.#prefix}${key}`,
        seconds: LINK_SECONDS,
        at: this.#parts.clock.now(),
        query: { 'response-content-type': contentType, 'response-content-disposition': disposition },
      });
    });
  }

  async head(key: string): Promise<StoredObject | undefined> {
    if (this.#isTooLong(key)) return undefined;
    const object = this.#object(key);
    return this.#ifPresent('s3:GetObject', () =>
      this.#within(0, async (limits) => {
        const plain = await this.#plain.send({ method: 'HEAD', key: object.Key }, limits);
        if (plain?.status === 404) return undefined;
        const command = new this.#sdk.HeadObjectCommand(object);
        const { ContentLength, LastModified, Metadata } = plain
          ? headOf(plain)
          : await this.#client.send(command, limits);
        const owner = Metadata?.['owner'];
        return {
          key,
          length: ContentLength ?? 0,
          modifiedAt: LastModified?.getTime() ?? 0,
          ...(owner !== undefined && { owner }),
        };
      }),
    );
  }

  async copy(from: string, to: string): Promise<boolean> {
    const source = `${this.#options.bucket}/${this.#prefix}${from}`;
    const command = new this.#sdk.CopyObjectCommand({
      ...this.#object(to),
      ...this.#encryption,
      CopySource: source.split('/').map(encodeURIComponent).join('/'),
      // A server refuses to copy an object onto itself without a change.
      MetadataDirective: 'REPLACE',
    });
    const options = { requestTimeout: COPY_TIMEOUT_MS };
    return (await this.#ifPresent('s3:PutObject', () => this.#client.send(command, options))) !== undefined;
  }

  async remove(key: string): Promise<void> {
    const object = this.#object(key);
    await this.#ifPresent('s3:DeleteObject', () =>
      this.#within(
        0,
        async (limits) =>
          (await this.#plain.send({ method: 'DELETE', key: object.Key }, limits)) ??
          this.#client.send(new this.#sdk.DeleteObjectCommand(object), limits),
      ),
    );
  }

  async list(prefix: string, next?: string): Promise<ObjectPage> {
    const command = new this.#sdk.ListObjectsV2Command({
      Bucket: this.#options.bucket,
      Prefix: `${this.#prefix}${prefix}`,
      MaxKeys: PAGE_SIZE,
      ...(next !== undefined && { ContinuationToken: next }),
    });
    const page = await this.#attempt('s3:ListBucket', () =>
      this.#within(0, (limits) => this.#client.send(command, limits)),
    );
    const objects = (page.Contents ?? []).map(({ Key = '', Size = 0, LastModified }) => ({
      key: Key.slice(this.#prefix.length),
      length: Size,
      modifiedAt: LastModified?.getTime() ?? 0,
    }));
    return { objects, next: page.IsTruncated ? page.NextContinuationToken : undefined };
  }

  async removeParts(before: number): Promise<number> {
    const { ListMultipartUploadsCommand } = this.#sdk;
    const Bucket = this.#options.bucket;
    let removed = 0;
    let marker: { readonly KeyMarker?: string; readonly UploadIdMarker?: string } | undefined = {};
    while (marker !== undefined) {
      const input = { Bucket, Prefix: this.#prefix, ...marker };
      const page: ListMultipartUploadsCommandOutput = await this.#attempt(
        's3:ListBucketMultipartUploads',
        () => this.#client.send(new ListMultipartUploadsCommand(input)),
      );
      for (const { Key, UploadId, Initiated } of page.Uploads ?? []) {
        if (Key === undefined || (Initiated?.getTime() ?? before) >= before) continue;
        await this.#abort({ Bucket, Key, UploadId });
        removed += 1;
      }
      const { NextKeyMarker: KeyMarker, NextUploadIdMarker: UploadIdMarker } = page;
      const isLast = page.IsTruncated !== true || KeyMarker === undefined;
      marker = isLast ? undefined : { KeyMarker, ...(UploadIdMarker !== undefined && { UploadIdMarker }) };
    }
    return removed;
  }

  async check(): Promise<StoreTrouble | undefined> {
    const stopping = new AbortController();
    const cancel = this.#parts.clock.after(CHECK_TIMEOUT_MS, () => stopping.abort());
    try {
      if (this.#isProven) return await this.#silence(stopping.signal);
      const { clock } = this.#parts;
      const known = this.#withoutRemoval;
      if (known !== undefined && clock.elapsed() < known.until)
        return (await this.#silence(stopping.signal)) ?? known.trouble;
      const trouble = await this.#missingRight(stopping.signal);
      this.#isProven = trouble === undefined;
      const until = clock.elapsed() + RETRIED_AFTER_MS;
      this.#withoutRemoval = trouble?.isBlocking === false ? { trouble, until } : undefined;
      return trouble;
    } finally {
      cancel();
    }
  }

  /** Says why the bucket does not answer. */
  async #silence(abortSignal: AbortSignal): Promise<StoreTrouble | undefined> {
    const { Bucket, Key } = this.#object(this.#probe);
    const command = new this.#sdk.ListObjectsV2Command({ Bucket, Prefix: Key, MaxKeys: 1 });
    return this.#client.send(command, { abortSignal }).then(
      () => {
        this.#transfers.answered();
        return undefined;
      },
      (error: unknown) => ({ text: this.#says('s3:ListBucket', error), isBlocking: true }),
    );
  }

  isExclusive(): Promise<boolean> {
    this.#exclusive ??= this.#proveExclusive().catch((error: unknown) => {
      this.#exclusive = undefined;
      throw this.#unavailable('s3:PutObject', error);
    });
    return this.#exclusive;
  }

  /** Each kind of put must be refused with 412 when the key is taken. */
  async #proveExclusive(): Promise<boolean> {
    const sdk = this.#sdk;
    const client = this.#client;
    const object = { ...this.#object(`probes/${this.#parts.ids.uuid()}`), ...this.#encryption };
    const { Bucket, Key } = object;
    const Body = Buffer.from('probe');
    const isRefused = (put: Promise<unknown>) =>
      put.then(
        () => false,
        (error: unknown) => {
          const status = statusOf(error);
          if (status !== 412 && status !== 501) throw error;
          return status === 412;
        },
      );
    await client.send(new sdk.PutObjectCommand({ ...object, Body }));
    try {
      const again = new sdk.PutObjectCommand({ ...object, Body, IfNoneMatch: '*' });
      if (!(await isRefused(client.send(again)))) return false;
      const { UploadId } = await client.send(new sdk.CreateMultipartUploadCommand(object));
      const upload = { Bucket, Key, UploadId };
      try {
        const part = new sdk.UploadPartCommand({ ...upload, PartNumber: 1, Body });
        const { ETag } = await client.send(part);
        const MultipartUpload = { Parts: [{ ETag, PartNumber: 1 }] };
        const complete = { ...upload, MultipartUpload, IfNoneMatch: '*' };
        return await isRefused(client.send(new sdk.CompleteMultipartUploadCommand(complete)));
      } finally {
        await this.#abort(upload).catch(() => {});
      }
    } finally {
      await client.send(new sdk.DeleteObjectCommand({ Bucket, Key })).catch(() => {});
    }
  }

  async #missingRight(abortSignal: AbortSignal): Promise<StoreTrouble | undefined> {
    const sdk = this.#sdk;
    const object = this.#object(this.#probe);
    const { Bucket, Key } = object;
    const client = this.#client;
    const options = { abortSignal };
    const put = { ...object, ...this.#encryption, Body: Buffer.from('probe') };
    const rights: readonly (readonly [right: string, use: () => Promise<unknown>])[] = [
      ['s3:PutObject', () => client.send(new sdk.PutObjectCommand(put), options)],
      [
        's3:PutObject',
        () =>
          this.#proveConditions(() =>
            client.send(new sdk.PutObjectCommand({ ...put, IfNoneMatch: '*' }), options),
          ),
      ],
      // An answer to HEAD has no body that names the error.
      ['s3:GetObject', () => client.send(new sdk.GetObjectCommand(object), options).then(drain)],
      [
        's3:ListBucket',
        () => client.send(new sdk.ListObjectsV2Command({ Bucket, Prefix: Key, MaxKeys: 1 }), options),
      ],
      [
        's3:ListBucketMultipartUploads',
        () =>
          client.send(new sdk.ListMultipartUploadsCommand({ Bucket, Prefix: Key, MaxUploads: 1 }), options),
      ],
      [
        's3:AbortMultipartUpload',
        async () => {
          const begun = new sdk.CreateMultipartUploadCommand({ ...object, ...this.#encryption });
          const { UploadId } = await client.send(begun, options);
          await client.send(new sdk.AbortMultipartUploadCommand({ ...object, UploadId }), options);
        },
      ],
      ['s3:DeleteObject', () => client.send(new sdk.DeleteObjectCommand(object), options)],
    ];
    for (const [right, use] of rights) {
      try {
        await use();
      } catch (error) {
        return {
          text: this.#says(right, error),
          isBlocking: !(isRefused(error) && RIGHTS_OF_REMOVAL.includes(right)),
        };
      }
    }
    return undefined;
  }

  get isConditional(): boolean {
    return this.#isConditional;
  }

  /** 412 is the only proof: a server that does not know the condition answers 501, or 200 and stores. */
  async #proveConditions(putAgain: () => Promise<unknown>): Promise<void> {
    try {
      await putAgain();
      this.#isConditional = false;
    } catch (error) {
      const status = statusOf(error);
      if (status !== 412 && status !== 501) throw error;
      this.#isConditional = status === 412;
    }
  }

  async #putFile(
    key: string,
    { path, length }: ObjectFile,
    options: PutOptions,
  ): Promise<'stored' | 'exists'> {
    const handle = await open(path, 'r');
    try {
      if (length > PART_BYTES) return await this.#putParts(key, handle, length, options);
      return await this.#putWhole(key, await readPart(handle, 0, length), options);
    } finally {
      await handle.close();
    }
  }

  async #putWhole(
    key: string,
    Body: Buffer,
    options: PutOptions,
    isAgain = false,
  ): Promise<'stored' | 'exists'> {
    const condition = this.#condition(options);
    const made = this.#made(key, options);
    const headers = {
      'content-type': 'application/octet-stream',
      ...(condition.IfNoneMatch && { 'if-none-match': condition.IfNoneMatch }),
      ...(made.ServerSideEncryption && { 'x-amz-server-side-encryption': made.ServerSideEncryption }),
      ...(options.owner !== undefined && { 'x-amz-meta-owner': options.owner }),
    };
    try {
      return await this.#within(Body.length, async (limits) => {
        const plain = await this.#plain.send({ method: 'PUT', key: made.Key, headers, body: Body }, limits);
        if (plain?.status === 412) return 'exists';
        const command = new this.#sdk.PutObjectCommand({ ...made, ...condition, Body });
        if (plain === undefined) await this.#client.send(command, limits);
        return 'stored';
      });
    } catch (error) {
      if (statusOf(error) === 412) return 'exists';
      // Another put under the key, or its removal, was under way.
      if (statusOf(error) === 409 && !isAgain) return this.#putWhole(key, Body, options, true);
      const mayBePlain = condition.IfNoneMatch !== undefined && options.owner === undefined;
      if (statusOf(error) !== 501 || !mayBePlain) throw error;
      this.#isConditional = false;
      return this.#putWhole(key, Body, options);
    }
  }

  async #putParts(
    key: string,
    handle: FileHandle,
    length: number,
    options: PutOptions,
  ): Promise<'stored' | 'exists'> {
    const sdk = this.#sdk;
    if (options.replace !== true && (await this.head(key)) !== undefined) return 'exists';
    const object = this.#object(key);
    const begun = await this.#client.send(new sdk.CreateMultipartUploadCommand(this.#made(key, options)));
    const upload = { ...object, UploadId: begun.UploadId };
    try {
      const Parts: { ETag: string | undefined; PartNumber: number }[] = [];
      for (let at = 0; at < length; at += PART_BYTES) {
        const PartNumber = Parts.length + 1;
        const Body = await readPart(handle, at, Math.min(PART_BYTES, length - at));
        const part = new sdk.UploadPartCommand({ ...upload, PartNumber, Body });
        const { ETag } = await this.#within(Body.length, (limits) => this.#client.send(part, limits));
        Parts.push({ ETag, PartNumber });
      }
      const complete = new sdk.CompleteMultipartUploadCommand({
        ...upload,
        MultipartUpload: { Parts },
        ...this.#condition(options),
      });
      await this.#within(length, (limits) => this.#client.send(complete, limits));
      return 'stored';
    } catch (error) {
      // What cannot be removed now is removed by a sweep.
      await this.#abort(upload).catch(() => {});
      if (statusOf(error) === 412) return 'exists';
      throw error;
    }
  }

  /** A put with an owner relies on `isExclusive`; that this server seems to know no conditions since does not count. */
  #condition({ replace = false, owner }: PutOptions): { readonly IfNoneMatch?: '*' } {
    return !replace && (owner !== undefined || this.#isConditional) ? { IfNoneMatch: '*' } : {};
  }

  #made(key: string, { owner }: PutOptions) {
    return { ...this.#object(key), ...this.#encryption, ...(owner !== undefined && { Metadata: { owner } }) };
  }

  /** Limits the time of a transfer by the bytes that it moves. */
  #within<Answer>(
    bytes: number,
    send: (limits: { readonly requestTimeout: number; readonly abortSignal: AbortSignal }) => Promise<Answer>,
  ): Promise<Answer> {
    return within(this.#parts.clock, this.#parts.requestTimeout + Math.ceil(bytes / SLOWEST), send);
  }

  async #abort(upload: { Bucket: string; Key: string; UploadId: string | undefined }): Promise<void> {
    const command = new this.#sdk.AbortMultipartUploadCommand(upload);
    await this.#ifPresent('s3:AbortMultipartUpload', () => this.#client.send(command));
  }

  #isTooLong(key: string): boolean {
    return Buffer.byteLength(`${this.#prefix}${key}`) > MAX_KEY_BYTES;
  }

  #object(key: string): { readonly Bucket: string; readonly Key: string } {
    return { Bucket: this.#options.bucket, Key: `${this.#prefix}${key}` };
  }

  async #ifPresent<Answer>(right: string, call: () => Promise<Answer>): Promise<Answer | undefined> {
    try {
      return await call();
    } catch (error) {
      if (statusOf(error) === 404 && (error as ClientError).name !== 'NoSuchBucket') return undefined;
      throw this.#unavailable(right, error);
    }
  }

  async #attempt<Answer>(right: string, call: () => Promise<Answer>): Promise<Answer> {
    try {
      return await call();
    } catch (error) {
      throw this.#unavailable(right, error);
    }
  }

  #unavailable(right: string, error: unknown): Retryable {
    if (error instanceof Retryable) return error;
    const text = this.#says(right, error);
    return isRefused(error) ? new StoreRefusal(text) : new Retryable('storage.unavailable', text);
  }

  #says(right: string, error: unknown): string {
    this.#isProven = false;
    if (!RIGHTS_OF_REMOVAL.includes(right)) this.#withoutRemoval = undefined;
    return explained(this.location, right, error);
  }
}

async function drain({ Body }: { readonly Body?: { transformToByteArray(): Promise<unknown> } | undefined }) {
  await Body?.transformToByteArray();
}

async function readPart(handle: FileHandle, position: number, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(length);
  for (let filled = 0; filled < length; ) {
    const { bytesRead } = await handle.read(bytes, filled, length - filled, position + filled);
    if (bytesRead === 0) throw new Fatal('internal', 'A file became shorter while it was stored.');
    filled += bytesRead;
  }
  return bytes;
}
