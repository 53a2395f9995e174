/**
 * Takes the bytes of uploads into the input folder, under a name no watcher looks at, until their job exists.
 * Source: batch-gaps §3, "stored upload".
 */
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { FileStamp } from '../machines/job.ts';
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
  readonly #file: FileHandle;
  readonly #disk: DiskSync;
  #length = 0;
  #done = false;

  constructor(path: string, file: FileHandle, disk: DiskSync) {
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
      const rest = this.#file.write(chunk, written, chunk.length - written);
      const { bytesWritten } = await rest.catch((error: unknown) => {
        throw unavailable(error);
      });
      written += bytesWritten;
    }
  }

  /** Makes bytes and name durable; what the watcher would see of the file. */
  async finish(): Promise<FileStamp> {
    await this.#file.datasync();
    const { size, mtimeMs } = await this.#file.stat();
    await this.#file.close();
    await this.#disk.directory(join(this.path, '..'));
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
    await this.#file.close().catch(() => {});
    await rm(this.#temporary, { force: true });
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
    try {
      return new Upload(path, await open(uploadName(path), 'wx', 0o640), this.#disk);
    } catch (error) {
      throw unavailable(error);
    }
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
