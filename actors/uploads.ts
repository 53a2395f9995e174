/**
 * Takes the bytes of uploads into the input folder, under a name no watcher looks at, until their job exists.
 *
 * Many small files come at once, so each of them makes few ways to other threads: for what waits for the disk. Looking
 * at an open file and closing one that is synced are a matter of microseconds, less than such a way.
 *
 * Source: batch-gaps §3, "stored upload".
 */
import { closeSync, fdatasync, fstatSync, open, write } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';
import type { FileStamp } from '../machines/job-context.ts';
import { Refusal } from '../machines/refusals.ts';
import { type Ids, Retryable } from '../runtime/index.ts';
import type { UploadSink } from './api.ts';
import type { DiskSync } from './disk-sync.ts';
import { PATH_LIMIT, uploadName } from './storage-layout.ts';

/** Longer extensions are a client's idea of a joke; the stored name does without them. */
const EXTENSION_LIMIT = 32;

/** Extension of the stored file: the client's, where it is plain text a file system and a shell can live with. */
function storedExtension(fileName: string): string {
  const extension = extname(fileName);
  return extension.length <= EXTENSION_LIMIT && /^\.[\p{L}\p{N}_-]+$/u.test(extension) ? extension : '';
}

/** One upload on its way to the disk. */
export class Upload implements UploadSink {
  /** Where the file will be once its job exists. */
  readonly path: string;
  readonly #temporary: string;
  readonly #file: number;
  readonly #disk: DiskSync;
  #length = 0;
  #closed = false;
  #done = false;

  /** @param file its descriptor, which is this object's from now on */
  constructor(path: string, file: number, disk: DiskSync) {
    this.path = path;
    this.#temporary = uploadName(path);
    this.#file = file;
    this.#disk = disk;
  }

  get length(): number {
    return this.#length;
  }

  async write(chunk: Uint8Array): Promise<void> {
    this.#length += chunk.length;
    let written = 0;
    while (written < chunk.length) {
      const from = written;
      written += await new Promise<number>((resolve, reject) => {
        write(this.#file, chunk, from, chunk.length - from, null, (error, count) =>
          error === null ? resolve(count) : reject(unavailable(error)),
        );
      });
    }
  }

  /** Makes bytes and name durable; what the watcher would see of the file. */
  async finish(): Promise<FileStamp> {
    const named = this.#disk.directory(dirname(this.path));
    // Awaited below; by then it may have failed.
    named.catch(() => {});
    await new Promise<void>((resolve, reject) => {
      fdatasync(this.#file, (error) => (error === null ? resolve() : reject(error)));
    });
    const { size, mtimeMs } = fstatSync(this.#file);
    this.#close();
    await named;
    return { size, mtimeMs };
  }

  /** Gives the file its final name; staging may have done so already. */
  async rename(): Promise<void> {
    this.#done = true;
    try {
      await rename(this.#temporary, this.path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }

  /** A job may know the file by now: `abort` removes nothing any more, and recovery decides what becomes of it. */
  leave(): void {
    this.#done = true;
  }

  /** Takes away what no job knows, once that is certain. */
  async remove(): Promise<void> {
    await rm(this.#temporary, { force: true });
  }

  async abort(): Promise<void> {
    if (this.#done) return;
    this.#done = true;
    this.#close();
    await rm(this.#temporary, { force: true });
  }

  #close(): void {
    if (this.#closed) return;
    this.#closed = true;
    closeSync(this.#file);
  }
}

export class Uploads {
  readonly #folder: string;
  readonly #ids: Ids;
  readonly #disk: DiskSync;

  /** `folder`: absolute path of `{Root}/input`; must exist. */
  constructor(folder: string, ids: Ids, disk: DiskSync) {
    this.#folder = folder;
    this.#ids = ids;
    this.#disk = disk;
  }

  /** @throws {Refusal} `job.path-too-long`; {Retryable} `storage.unavailable` when the folder cannot be written */
  async open(fileName: string): Promise<Upload> {
    const path = join(this.#folder, `${this.#ids.uuid()}${storedExtension(fileName)}`);
    if (path.length > PATH_LIMIT)
      throw new Refusal('job.path-too-long', `The stored path would be ${path.length} characters long.`);
    const file = await new Promise<number>((resolve, reject) => {
      open(uploadName(path), 'wx', 0o640, (error, descriptor) =>
        error === null ? resolve(descriptor) : reject(unavailable(error)),
      );
    });
    return new Upload(path, file, this.#disk);
  }
}

/** A disk that is full or read-only now may not be later. */
export function unavailable(error: unknown): unknown {
  const code = (error as NodeJS.ErrnoException).code;
  if (
    code === 'ENOSPC' ||
    code === 'EROFS' ||
    code === 'EDQUOT' ||
    code === 'EMFILE' ||
    code === 'ENFILE' ||
    code === 'EACCES' ||
    code === 'ENOENT'
  ) {
    return new Retryable('storage.unavailable', `The input folder cannot be written (${code}).`);
  }
  return error;
}
