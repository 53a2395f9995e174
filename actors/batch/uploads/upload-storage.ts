/**
 * Writes uploads to the input folder under a name that watchers ignore, until their job exists.
 *
 * Only operations that wait for the disk run on other threads: stat and close of a synced file take microseconds, less
 * than a thread switch. Small uploads of a busy service go to a thread of their own (`upload-thread.ts`).
 *
 * Source: docs/batch-values.md §3.
 */
import { createHash, type Hash } from 'node:crypto';
import { closeSync, fdatasync, fstatSync, open, write } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { basename, dirname, extname } from 'node:path';
import { promisify } from 'node:util';
import { type Ids, Retryable } from '@sealwright/runtime';
import { HEADER_BYTES } from '@sealwright/signatures';
import type { FileStamp } from '../../../machines/batch/job-context.ts';
import { Refusal } from '../../../machines/refusals.ts';
import type { DiskSync } from '../../shared/files/disk-sync.ts';
import { writingLarge } from '../../shared/files/large-writes.ts';
import { PATH_LIMIT, UPLOAD_MODE, uploadName } from '../../shared/files/storage-layout.ts';
import type { JobObjects } from '../objects/job-objects.ts';
import { SLOT_BYTES, type UploadSlot, UploadThread, WORD } from './upload-thread.ts';

/** Maximum length of a stored extension; longer ones are dropped. */
const EXTENSION_LIMIT = 32;

/** The extension of the stored file: the client's, when it is safe for file systems and shells. */
function storedExtension(fileName: string): string {
  const extension = extname(fileName);
  return extension.length <= EXTENSION_LIMIT && /^\.[\p{L}\p{N}_-]+$/u.test(extension) ? extension : '';
}

/** Serves the process. */
const THREAD = new UploadThread();

const NO_BYTES = Buffer.alloc(0);

/** The first bytes of a file, with those of its next chunk, whose memory is used again. */
function longerHead(head: Buffer, chunk: Uint8Array): Buffer {
  const missing = HEADER_BYTES - head.length;
  return missing > 0 ? Buffer.concat([head, chunk.subarray(0, missing)]) : head;
}

/** One upload in progress: its bytes are in a file, or in a slot of the thread until `finish`. */
export class Upload {
  /** Path of the file once its job exists. */
  readonly path: string;
  readonly #temporary: string;
  /** Undefined: not created, or closed. */
  #file: number | undefined;
  #slot: UploadSlot | undefined;
  /** Place of the first byte in the slot. */
  #from = 0;
  /** False while nothing can have the temporary name. */
  #isCreated: boolean;
  /** Renames the file, if a thread has stored it. */
  #thread: Pick<UploadSlot, 'rename'> | undefined;
  readonly #disk: DiskSync;
  readonly #hash: Hash | undefined;
  readonly #objects: JobObjects | undefined;
  #isStored = false;
  #length = 0;
  #head: Buffer = NO_BYTES;
  #done = false;

  constructor({
    path,
    target,
    disk,
    hash,
    objects,
  }: {
    readonly path: string;
    /** Descriptor of its file, or a slot; owned by this object from now on. */
    readonly target: number | UploadSlot;
    readonly disk: DiskSync;
    /** Updated with each byte; undefined: no SHA-256 needed. */
    readonly hash: Hash | undefined;
    /** Place where it is stored; undefined: at its path. Needs a file. */
    readonly objects?: JobObjects | undefined;
  }) {
    this.#hash = hash;
    this.#objects = objects;
    this.path = path;
    this.#temporary = uploadName(path);
    this.#isCreated = typeof target === 'number';
    if (typeof target === 'number') this.#file = target;
    else this.#slot = target;
    this.#disk = disk;
  }

  get length(): number {
    return this.#length;
  }

  /** The first bytes, `HEADER_BYTES` at most. */
  get head(): Buffer {
    return this.#head;
  }

  /** Original of the job. */
  get location(): string {
    return this.#objects?.locationOf(basename(this.path)) ?? this.path;
  }

  /** Wait for it before the next call, and before the memory of the chunk is used again. */
  write(chunk: Uint8Array): Promise<void> | undefined {
    const before = this.#length;
    this.#length += chunk.length;
    this.#head = longerHead(this.#head, chunk);
    this.#hash?.update(chunk);
    if (this.#slot === undefined || this.#length > SLOT_BYTES) return this.#writeFile(chunk, before);
    if (before === 0) this.#from = chunk.byteOffset % WORD;
    this.#slot.bytes.set(chunk, this.#from + before);
    return undefined;
  }

  /** @param before number of bytes before the chunk */
  async #writeFile(chunk: Uint8Array, before: number): Promise<void> {
    if (this.#slot !== undefined) {
      // Copied: the slot may serve another upload as soon as it is released.
      const first = this.#slot.bytes.slice(this.#from, this.#from + before);
      this.#releaseSlot();
      this.#file = await create(this.#temporary);
      this.#isCreated = true;
      await writeAll(this.#file, first);
    }
    const file = this.#file;
    if (file !== undefined) await writingLarge(before, () => writeAll(file, chunk));
  }

  /** SHA-256 of all bytes, lower-case hex; call once. Undefined without a hash. */
  sha256(): string | undefined {
    return this.#hash?.digest('hex');
  }

  /** Syncs bytes and name; returns the stamp that a watcher would see. */
  async finish(): Promise<FileStamp> {
    if (this.#slot !== undefined) {
      this.#isCreated = true;
      this.#thread = this.#slot;
      try {
        return await this.#slot.store(this.#temporary, this.#length, this.#from);
      } finally {
        this.#releaseSlot();
      }
    }
    const file = this.#file;
    if (file === undefined) throw new Error('The upload has no file.');
    if (this.#objects !== undefined) {
      const { size, mtimeMs } = fstatSync(file);
      this.#close();
      // Set first: a failed attempt may have stored it.
      this.#isStored = true;
      await this.#objects.storeInput(this.location, { path: this.#temporary, length: size });
      return { size, mtimeMs };
    }
    const named = this.#disk.directory(dirname(this.path));
    // Awaited below; prevents an unhandled rejection until then.
    named.catch(() => {});
    await writingLarge(this.#length, () => promisify(fdatasync)(file));
    const { size, mtimeMs } = fstatSync(file);
    this.#close();
    await named;
    return { size, mtimeMs };
  }

  /** Renames the file to its final name, unless staging has done so. */
  async rename(): Promise<void> {
    this.#done = true;
    try {
      if (this.#thread !== undefined) {
        // The job is stored: the end of the thread is no reason to refuse it.
        await this.#thread.rename(this.#temporary, this.path).catch(() => rename(this.#temporary, this.path));
      } else if (this.#objects === undefined) await rename(this.#temporary, this.path);
      else await this.#objects.keepCopy(this.location, this.#temporary, this.path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }

  /** Marks the file as possibly known to a job: `abort` no longer removes it, recovery decides. */
  keep(): void {
    this.#done = true;
  }

  /** Removes a file that certainly belongs to no job. */
  async remove(): Promise<void> {
    await rm(this.#temporary, { force: true });
    if (this.#isStored) await this.#objects?.removeInput(this.location);
  }

  /** Discards the bytes. Idempotent; allowed at any time. */
  async abort(): Promise<void> {
    if (this.#done) return;
    this.#done = true;
    this.#releaseSlot();
    this.#close();
    // What cannot be removed is an object that no job names.
    if (this.#isCreated) await this.remove().catch(() => {});
  }

  #releaseSlot(): void {
    this.#slot?.release();
    this.#slot = undefined;
  }

  #close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }
}

/** Rejects with {Retryable} `storage.full` without room, `storage.unavailable` when the folder cannot be written. */
function create(path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    open(path, 'wx', UPLOAD_MODE, (error, descriptor) =>
      error === null ? resolve(descriptor) : reject(unavailable(error)),
    );
  });
}

async function writeAll(file: number, bytes: Uint8Array): Promise<void> {
  let written = 0;
  while (written < bytes.length) {
    const from = written;
    written += await new Promise<number>((resolve, reject) => {
      write(file, bytes, from, bytes.length - from, null, (error, count) =>
        error === null ? resolve(count) : reject(unavailable(error)),
      );
    });
  }
}

/** An upload under a key that a job holds: the bytes are compared and not stored. */
export class RepeatedUpload {
  readonly #hash = createHash('sha256');
  #length = 0;
  #head: Buffer = NO_BYTES;

  get length(): number {
    return this.#length;
  }

  /** As of an upload. */
  get head(): Buffer {
    return this.#head;
  }

  write(chunk: Uint8Array): undefined {
    this.#length += chunk.length;
    this.#head = longerHead(this.#head, chunk);
    this.#hash.update(chunk);
  }

  /** Lower-case hex; call once. */
  sha256(): string {
    return this.#hash.digest('hex');
  }

  async abort(): Promise<void> {}
}

export class UploadStorage {
  readonly #folder: string;
  readonly #ids: Ids;
  readonly #disk: DiskSync;

  /** @param folder absolute path of `{Root}/input`; must exist @param objects where uploads are stored instead */
  constructor(
    folder: string,
    ids: Ids,
    disk: DiskSync,
    private readonly objects?: JobObjects,
  ) {
    this.#folder = objects?.folder ?? folder;
    this.#ids = ids;
    this.#disk = disk;
  }

  /** @throws {Refusal} `job.path-too-long`; {Retryable} `storage.full` without room, `storage.unavailable` when the folder cannot be written */
  async open(fileName: string, hashed: boolean): Promise<Upload> {
    const path = this.#newPath(fileName);
    const file = await create(uploadName(path));
    return new Upload({
      path,
      target: file,
      disk: this.#disk,
      hash: hashed ? createHash('sha256') : undefined,
      objects: this.objects,
    });
  }

  /** The same for a job: `finish` may be what creates the file, and rejects then. */
  openJob(fileName: string, hashed: boolean): Upload | Promise<Upload> {
    const path = this.#newPath(fileName);
    const opened = (target: number | UploadSlot) =>
      new Upload({
        path,
        target,
        disk: this.#disk,
        hash: hashed ? createHash('sha256') : undefined,
        objects: this.objects,
      });
    const slot = this.objects === undefined ? THREAD.slot() : undefined;
    return slot === undefined ? create(uploadName(path)).then(opened) : opened(slot);
  }

  #newPath(fileName: string): string {
    const path = `${this.#folder}/${this.#ids.uuid()}${storedExtension(fileName)}`;
    if (path.length > PATH_LIMIT)
      throw new Refusal('job.path-too-long', `The stored path would be ${path.length} characters long.`);
    return path;
  }
}

/** Retry-After of uploads refused for lack of disk space, milliseconds. */
const FULL_PAUSE_MS = 10_000;

/** Codes of a folder that is missing, failing or may not be written, and of too many open files. */
const UNAVAILABLE: ReadonlySet<string> = new Set([
  'EROFS',
  'EPERM',
  'EACCES',
  'ENOENT',
  'EMFILE',
  'ENFILE',
  'EIO',
  'ESTALE',
  'ENXIO',
  'ENODEV',
  'ETIMEDOUT',
  'EHOSTDOWN',
]);

/** Converts a refusal of the disk, or of any sync, to a retryable error. */
export function unavailable(error: unknown): unknown {
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return new Retryable('storage.full', `There is no room for the file (${code}).`, FULL_PAUSE_MS);
  if (code !== undefined && (UNAVAILABLE.has(code) || syscall === 'fsync' || syscall === 'fdatasync')) {
    return new Retryable('storage.unavailable', `The input folder cannot be written (${code}).`);
  }
  return error;
}
