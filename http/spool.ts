/**
 * Where a body goes when it comes faster than it can be taken away: a nameless file, first in, first out.
 */
import { closeSync, ftruncateSync, openSync, read, unlinkSync, writeSync } from 'node:fs';

export class Spool {
  readonly #file: number;
  #written = 0;
  #taken = 0;
  #reading = false;
  #closed = false;

  /** Makes the file and removes its name, so that nothing is left behind however the process ends. */
  constructor(path: string) {
    this.#file = openSync(path, 'wx+', 0o600);
    unlinkSync(path);
  }

  /** Bytes waiting. */
  get length(): number {
    return this.#written - this.#taken;
  }

  /** Blocks until the system has the bytes: the caller is in a loop that does not wait for anybody. */
  append(bytes: Uint8Array): void {
    let at = 0;
    while (at < bytes.length) {
      at += writeSync(this.#file, bytes, at, bytes.length - at, this.#written + at);
    }
    this.#written += bytes.length;
  }

  /** The oldest bytes, at most as many as `into` holds; asked for one at a time. */
  async take(into: Buffer): Promise<Buffer> {
    this.#reading = true;
    try {
      const wanted = Math.min(into.length, this.length);
      const got = await new Promise<number>((resolve, reject) => {
        read(this.#file, into, 0, wanted, this.#taken, (error, bytesRead) =>
          error === null ? resolve(bytesRead) : reject(error),
        );
      });
      this.#taken += got;
      if (this.length === 0 && !this.#closed) {
        ftruncateSync(this.#file, 0);
        this.#written = 0;
        this.#taken = 0;
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
    // The number of a closed file may name another one by the time a read under way gets to it.
    if (!this.#reading) closeSync(this.#file);
  }
}
