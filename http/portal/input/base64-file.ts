/**
 * A file as Base64 inside a JSON text, encoded while it is sent: a file of a hundred megabytes needs a few hundred
 * KiB of memory.
 */
import type { FileHandle } from 'node:fs/promises';
import type { ByteSource } from '../../core/reply.ts';

/** A multiple of three, so that only the last chunk is padded. */
const CHUNK_BYTES = 192 * 1024 * 3;

/** `before` + the file in Base64 + `after`; read in order, from the start. */
export class Base64File implements ByteSource {
  readonly length: number;
  readonly #file: FileHandle;
  readonly #fileLength: number;
  readonly #after: string;
  #ready: Buffer;
  #consumed = 0;
  #read = 0;
  #finished = false;

  constructor(file: FileHandle, fileLength: number, before: string, after: string) {
    this.#file = file;
    this.#fileLength = fileLength;
    this.#ready = Buffer.from(before);
    this.#after = after;
    this.length = Buffer.byteLength(before) + 4 * Math.ceil(fileLength / 3) + Buffer.byteLength(after);
  }

  async read(into: Buffer, offset: number, length: number): Promise<{ readonly bytesRead: number }> {
    if (this.#consumed === this.#ready.length) await this.#refill();
    const bytesRead = this.#ready.copy(into, offset, this.#consumed, this.#consumed + length);
    this.#consumed += bytesRead;
    return { bytesRead };
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  async #refill(): Promise<void> {
    this.#consumed = 0;
    const byteCount = Math.min(CHUNK_BYTES, this.#fileLength - this.#read);
    if (byteCount === 0) {
      this.#ready = Buffer.from(this.#finished ? '' : this.#after);
      this.#finished = true;
      return;
    }
    const chunk = Buffer.allocUnsafe(byteCount);
    let filled = 0;
    while (filled < byteCount) {
      const { bytesRead } = await this.#file.read(chunk, filled, byteCount - filled, this.#read + filled);
      if (bytesRead === 0) throw new Error('The file became shorter while it was sent.');
      filled += bytesRead;
    }
    this.#read += byteCount;
    this.#ready = Buffer.from(chunk.toString('base64'), 'latin1');
  }
}
