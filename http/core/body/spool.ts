/** FIFO file for a body that arrives faster than it is read; the file is unlinked while open. */
import { closeSync, ftruncateSync, openSync, read, unlinkSync, writeSync } from 'node:fs';

export class Spool {
  readonly #file: number;
  #written = 0;
  #readUpTo = 0;
  #reading = false;
  #closed = false;

  /** Creates the file and unlinks it, so that nothing remains however the process ends. */
  constructor(path: string) {
    this.#file = openSync(path, 'wx+', 0o600);
    unlinkSync(path);
  }

  /** Bytes in the queue. */
  get length(): number {
    return this.#written - this.#readUpTo;
  }

  /** Blocks until the system has the bytes: the caller runs in a synchronous callback. */
  append(bytes: Uint8Array): void {
    let at = 0;
    while (at < bytes.length) {
      at += writeSync(this.#file, bytes, at, bytes.length - at, this.#written + at);
    }
    this.#written += bytes.length;
  }

  /** Reads the oldest bytes, at most the length of `into`; one call at a time. */
  async read(into: Buffer): Promise<Buffer> {
    this.#reading = true;
    try {
      const byteCount = Math.min(into.length, this.length);
      const got = await new Promise<number>((resolve, reject) => {
        read(this.#file, into, 0, byteCount, this.#readUpTo, (error, bytesRead) =>
          error === null ? resolve(bytesRead) : reject(error),
        );
      });
      this.#readUpTo += got;
      if (this.length === 0 && !this.#closed) {
        ftruncateSync(this.#file, 0);
        this.#written = 0;
        this.#readUpTo = 0;
      }
      return into.subarray(0, got);
    } finally {
      this.#reading = false;
      if (this.#closed) closeSync(this.#file);
    }
  }

  /** May be called at any time and more than once. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    // The descriptor of a closed file may be reused before a pending read runs.
    if (!this.#reading) closeSync(this.#file);
  }
}
