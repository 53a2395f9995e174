/** The output file of a signature: new, without access for others, synced before success is reported. */
import {
  closeSync,
  constants,
  fdatasyncSync,
  ftruncateSync,
  openSync,
  unlinkSync,
  writeSync,
  writevSync,
} from 'node:fs';
import { CryptoError } from './types.ts';

export interface Target {
  readonly path: string;
  /** Bytes appended so far. */
  readonly length: number;
  /** Appends the buffers in order. @throws {CryptoError} `output.unwritable` */
  write(...parts: readonly Uint8Array[]): void;
  /** Overwrites bytes that were appended before. @throws {CryptoError} `output.unwritable` */
  writeAt(position: number, bytes: Uint8Array): void;
  /** Truncates the file to `length` bytes. @throws {CryptoError} `output.unwritable` */
  truncate(length: number): void;
  /** Returns when data and length are on the disk. @throws {CryptoError} `output.unwritable` */
  sync(): void;
  /** Safe to call more than once. @throws {CryptoError} `output.unwritable` */
  close(): void;
  /** Closes and removes the file; never throws. Does nothing after a successful `close`. */
  discard(): void;
}

/**
 * Creates a file that must not exist yet, mode 0640.
 * @throws {CryptoError} `output.exists`; `output.unwritable` with the system's error code in the message
 */
export function createTarget(path: string): Target {
  const flags = constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY | constants.O_NOFOLLOW;
  try {
    return new FileTarget(path, openSync(path, flags, 0o640));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') {
      throw new CryptoError('output.exists', `${path} exists already.`);
    }
    throw unwritable(path, error);
  }
}

class FileTarget implements Target {
  readonly path: string;
  #fd: number | undefined;
  #length = 0;
  /** True after a successful close or after removal: `discard` has no effect. */
  #settled = false;

  constructor(path: string, fd: number) {
    this.path = path;
    this.#fd = fd;
  }

  get length(): number {
    return this.#length;
  }

  write(...parts: readonly Uint8Array[]): void {
    const [only] = parts;
    if (parts.length === 1 && only !== undefined) {
      this.#put(only, this.#length);
      this.#length += only.length;
      return;
    }
    let total = 0;
    for (const part of parts) total += part.length;
    const fd = this.#open();
    const written = this.#guarded(() => writevSync(fd, [...parts], this.#length));
    // `writev` may write less on a full disk or a signal: the rest is written buffer by buffer.
    let skip = written;
    let at = this.#length;
    for (const part of parts) {
      const done = Math.min(skip, part.length);
      skip -= done;
      if (done < part.length) this.#put(part.subarray(done), at + done);
      at += part.length;
    }
    this.#length += total;
  }

  writeAt(position: number, bytes: Uint8Array): void {
    if (position < 0 || position + bytes.length > this.#length) {
      throw new CryptoError('output.unwritable', `${this.path} is shorter than the place to write at.`);
    }
    this.#put(bytes, position);
  }

  truncate(length: number): void {
    const fd = this.#open();
    if (length >= this.#length) return;
    this.#guarded(() => ftruncateSync(fd, length));
    this.#length = length;
  }

  sync(): void {
    const fd = this.#open();
    this.#guarded(() => fdatasyncSync(fd));
  }

  close(): void {
    const fd = this.#fd;
    if (fd === undefined) return;
    this.#fd = undefined;
    // Some file systems report a lost write at close.
    this.#guarded(() => closeSync(fd));
    this.#settled = true;
  }

  discard(): void {
    if (this.#settled) return;
    try {
      this.close();
    } catch {
      // The file is removed anyway.
    }
    this.#settled = true;
    try {
      unlinkSync(this.path);
    } catch {
      // The file or its folder is already removed.
    }
  }

  #put(bytes: Uint8Array, position: number): void {
    const fd = this.#open();
    for (let done = 0; done < bytes.length; ) {
      const at = done;
      done += this.#guarded(() => writeSync(fd, bytes, at, bytes.length - at, position + at));
    }
  }

  #open(): number {
    if (this.#fd === undefined) throw new CryptoError('output.unwritable', `${this.path} is closed.`);
    return this.#fd;
  }

  #guarded<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw unwritable(this.path, error);
    }
  }
}

function unwritable(path: string, error: unknown): CryptoError {
  const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
  return new CryptoError('output.unwritable', `${path} can't be written: ${code}.`);
}
