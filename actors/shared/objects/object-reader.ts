/** Reads an object like a file that is sent. Source: docs/decisions/0279-object-store.md. */
import { open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { Fatal } from '@sealwright/runtime';

/** Attempts to go on reading after a failure. */
const READ_ATTEMPTS = 3;
/** Bytes that a copy writes at once. */
const COPY_BYTES = 256 * 1024;

/** A file that is read from the object store, in order; another position begins anew there. */
export class ObjectReader {
  #stream: Readable | undefined;
  #chunks: AsyncIterator<Buffer> | undefined;
  #ready: Buffer = Buffer.alloc(0);
  #position = 0;

  constructor(
    private readonly length: number,
    private readonly openAt: (from: number) => Promise<Readable | undefined>,
  ) {}

  async stat(): Promise<{ readonly size: number }> {
    return { size: this.length };
  }

  async read(
    into: Buffer,
    offset: number,
    length: number,
    position: number,
  ): Promise<{ readonly bytesRead: number }> {
    if (position >= this.length) return { bytesRead: 0 };
    if (position !== this.#position) await this.close();
    this.#position = position;
    for (let attempt = 1; this.#ready.length === 0; attempt++) {
      try {
        this.#ready = await this.#nextChunk();
      } catch (error) {
        await this.close();
        if (attempt >= READ_ATTEMPTS) throw error;
      }
    }
    const bytesRead = this.#ready.copy(into, offset, 0, Math.min(length, this.#ready.length));
    this.#ready = this.#ready.subarray(bytesRead);
    this.#position += bytesRead;
    return { bytesRead };
  }

  /** Writes all of it into a new file, and ends reading. */
  async copyTo(path: string): Promise<void> {
    const file = await open(path, 'wx', 0o640);
    try {
      const chunk = Buffer.allocUnsafe(Math.min(COPY_BYTES, this.length));
      for (let at = 0; at < this.length; ) {
        const { bytesRead } = await this.read(chunk, 0, chunk.length, at);
        // `write` may write a part only.
        await file.appendFile(chunk.subarray(0, bytesRead));
        at += bytesRead;
      }
    } finally {
      await this.close();
      await file.close();
    }
  }

  async close(): Promise<void> {
    this.#stream?.destroy();
    this.#stream = undefined;
    this.#chunks = undefined;
    this.#ready = Buffer.alloc(0);
  }

  async #nextChunk(): Promise<Buffer> {
    if (this.#chunks === undefined) {
      this.#stream = await this.openAt(this.#position);
      if (this.#stream === undefined)
        throw new Fatal('internal', 'A stored file was removed while it was sent.');
      this.#chunks = this.#stream[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
    }
    const { done, value } = await this.#chunks.next();
    if (done === true) throw new Fatal('internal', 'A stored file became shorter while it was sent.');
    return value;
  }
}
