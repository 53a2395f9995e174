/** Bytes of a file that arrives. */
import { createHash, type Hash } from 'node:crypto';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { Retryable } from '@sealwright/runtime';
import { HEADER_BYTES } from '@sealwright/signatures';
import { writingLarge } from '../../shared/files/large-writes.ts';

/** For the service and its group. */
const FILE_MODE = 0o640;

/** Bytes of one upload that are held in memory before they are written to a file. */
const HELD_BYTES = 128 * 1024;

/** A file that is hashed as it is written. */
interface HashedFile {
  readonly handle: FileHandle;
  readonly sha256: Hash;
  readonly md5: Hash;
}

/** Bytes on their way into a file: a few are held in memory, more are written and hashed as they pass. */
export class BlobSink {
  readonly #path: string;
  /** Bytes held by all sinks. */
  readonly #held: { bytes: number };
  #chunks: Buffer[] = [];
  #file: HashedFile | undefined;
  #length = 0;
  #head = Buffer.alloc(0);
  #done = false;

  constructor(path: string, held: { bytes: number }) {
    this.#path = path;
    this.#held = held;
  }

  get length(): number {
    return this.#length;
  }

  /** The first bytes that were written, `HEADER_BYTES` at most. */
  get head(): Buffer {
    return this.#head;
  }

  /** The memory is the caller's again once the promise has settled. @throws {Retryable} `storage.unavailable` */
  async write(bytes: Uint8Array): Promise<void> {
    this.#length += bytes.length;
    const missing = HEADER_BYTES - this.#head.length;
    if (missing > 0) this.#head = Buffer.concat([this.#head, bytes.subarray(0, missing)]);
    if (this.#file === undefined) {
      this.#chunks.push(Buffer.from(bytes));
      this.#held.bytes += bytes.length;
      if (this.#length > HELD_BYTES) await this.useFile();
    } else await this.#append(this.#file, bytes);
  }

  /** Writes what is held, and all that follows, to a file. @throws {Retryable} `storage.unavailable` */
  async useFile(): Promise<HashedFile> {
    const handle = await open(this.#path, 'wx', FILE_MODE).catch((error: unknown) => {
      throw unavailable(error);
    });
    const file = { handle, sha256: createHash('sha256'), md5: createHash('md5') };
    this.#file = file;
    const chunks = this.#chunks;
    this.#release();
    for (const bytes of chunks) await this.#append(file, bytes);
    return file;
  }

  /**
   * Uses up a sink without a file. The bytes count as held until `release` is called. Undefined when it has a file.
   */
  takeHeld(): { readonly bytes: Buffer; readonly release: () => void } | undefined {
    if (this.#done) throw new TypeError('The sink is used up.');
    if (this.#file !== undefined) return undefined;
    this.#done = true;
    const [only = Buffer.alloc(0), ...more] = this.#chunks;
    const bytes = more.length === 0 ? only : Buffer.concat(this.#chunks);
    return { bytes, release: () => this.#release() };
  }

  #release(): void {
    for (const { length } of this.#chunks) this.#held.bytes -= length;
    this.#chunks = [];
  }

  async #append({ handle, sha256, md5 }: HashedFile, bytes: Uint8Array): Promise<void> {
    sha256.update(bytes);
    md5.update(bytes);
    let written = 0;
    while (written < bytes.length) {
      try {
        const from = written;
        const write = () => handle.write(bytes, from, bytes.length - from);
        written += (await writingLarge(this.#length, write)).bytesWritten;
      } catch (error) {
        throw unavailable(error);
      }
    }
  }

  /** Makes the bytes durable under their temporary name. Once. */
  async finish(): Promise<{ readonly path: string; readonly sha256: string; readonly md5: string }> {
    if (this.#done) throw new TypeError('The sink is used up.');
    const file = this.#file ?? (await this.useFile());
    try {
      await writingLarge(this.#length, () => file.handle.datasync());
    } catch (error) {
      await this.abort();
      throw unavailable(error);
    }
    this.#done = true;
    await file.handle.close();
    return { path: this.#path, sha256: file.sha256.digest('hex'), md5: file.md5.digest('base64') };
  }

  async abort(): Promise<void> {
    if (this.#done) return;
    this.#done = true;
    this.#release();
    if (this.#file === undefined) return;
    await this.#file.handle.close().catch(() => {});
    await rm(this.#path, { force: true });
  }
}

/** A disk that refuses now may not later; anything else is a mistake of ours. */
export function unavailable(error: unknown): unknown {
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (code === undefined || syscall === undefined) return error;
  return new Retryable('storage.unavailable', `The portal's folder cannot be used (${code}).`);
}
