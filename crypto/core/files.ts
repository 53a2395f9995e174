/** A file to sign or check: opened once, read by position, and checked for changes at the end. */
import {
  closeSync,
  constants,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  unlinkSync,
  writeSync,
  writevSync,
} from 'node:fs';
import { CryptoError, type InputFile, type MemoryOutput, type OutputFile } from './types.ts';

/** The output file of a signature: new, without access for others, synced before success is reported. */
export interface Target {
  readonly path: string;
  /** Bytes appended so far. */
  readonly length: number;
  /** Appends the buffers in order. @throws {CryptoError} `output.unwritable` */
  write(...parts: readonly Uint8Array[]): void;
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
 * Creates a file that must not exist yet, mode 0640; or collects the bytes.
 * @throws {CryptoError} `output.exists`; `output.unwritable` with the system's error code in the message
 */
export function createTarget(path: OutputFile): Target {
  if (typeof path !== 'string') return new MemoryTarget(path);
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

class MemoryTarget implements Target {
  readonly path = 'the output';
  readonly #output: MemoryOutput;
  #bytes = Buffer.alloc(0);
  #length = 0;

  constructor(output: MemoryOutput) {
    this.#output = output;
  }

  get length(): number {
    return this.#length;
  }

  write(...parts: readonly Uint8Array[]): void {
    const length = parts.reduce((sum, part) => sum + part.length, this.#length);
    if (length > this.#bytes.length) {
      const larger = Buffer.alloc(Math.max(length, 2 * this.#bytes.length));
      larger.set(this.#bytes.subarray(0, this.#length));
      this.#bytes = larger;
    }
    for (const part of parts) {
      this.#bytes.set(part, this.#length);
      this.#length += part.length;
    }
  }

  truncate(length: number): void {
    this.#length = Math.min(length, this.#length);
  }

  sync(): void {}

  close(): void {
    this.#output.bytes = this.#bytes.subarray(0, this.#length);
  }

  discard(): void {
    this.#bytes = Buffer.alloc(0);
  }
}

function unwritable(path: string, error: unknown): CryptoError {
  const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
  return new CryptoError('output.unwritable', `${path} can't be written: ${code}.`, { cause: error });
}

/** Files up to this size, in bytes, are read once as a whole; larger ones in chunks of this size. */
export const IN_MEMORY_BYTES = 1 << 20;

export interface Source {
  readonly path: string;
  /** Bytes, when the file was opened. */
  readonly size: number;
  /** Password of an encrypted PDF. */
  readonly password?: string | undefined;
  /** Modification time in milliseconds with its fraction, equal to `fs.Stats.mtimeMs`. */
  readonly mtimeMs: number;
  /** `<device>:<inode>`, both decimal. */
  readonly inode: string;
  /**
   * Reads up to `length` bytes from `offset`; fewer only at the end of the file. May return a view of cached bytes:
   * read-only.
   * @throws {CryptoError} `input.unreadable`, `input.changed` when the file became shorter
   */
  read(offset: number, length: number): Buffer;
  /**
   * Reads the bytes of `[from, to)` in order, in chunks of at most 1 MiB. A chunk is only valid until the next one is
   * requested.
   * @throws {CryptoError} as `read`
   */
  chunks(from?: number, to?: number): Iterable<Buffer>;
  /** @throws {CryptoError} `input.changed` when length or modification time changed since the file was opened */
  assertUnchanged(): void;
  /** Safe to call more than once. */
  close(): void;
}

/**
 * Opens a regular file without following a symbolic link in the last path component; bytes are read where they are.
 * @throws {CryptoError} `input.unreadable` with the system's error code in the message
 */
export function openSource(path: InputFile, password?: string): Source {
  if (typeof path !== 'string') {
    if (!ArrayBuffer.isView(path))
      throw new CryptoError('request.invalid', 'A file is a path or bytes (Uint8Array).');
    return { ...memorySource('content', Buffer.from(path.buffer, path.byteOffset, path.length)), password };
  }
  // O_NONBLOCK: opening a named pipe must fail at once and not wait for a writer.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const fd = guarded(path, () => openSync(path, flags));
  try {
    const stat = guarded(path, () => fstatSync(fd, { bigint: true }));
    if (!stat.isFile()) throw new CryptoError('input.unreadable', `${path} is not a regular file.`);
    if (stat.size > BigInt(Number.MAX_SAFE_INTEGER)) {
      throw new CryptoError('input.too-large', `${path} is too large.`);
    }
    return new FileSource(path, fd, stat, password);
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

interface FileIdentity {
  readonly size: bigint;
  readonly mtimeNs: bigint;
  readonly dev: bigint;
  readonly ino: bigint;
}

class FileSource implements Source {
  readonly path: string;
  readonly password: string | undefined;
  readonly size: number;
  readonly mtimeMs: number;
  readonly inode: string;
  readonly #opened: FileIdentity;
  #fd: number | undefined;
  #whole: Buffer | undefined;

  constructor(path: string, fd: number, stat: FileIdentity, password: string | undefined) {
    this.path = path;
    this.password = password;
    this.size = Number(stat.size);
    // The same arithmetic as fs.Stats, so that the two compare equal.
    this.mtimeMs = Number(stat.mtimeNs / 1_000_000_000n) * 1000 + Number(stat.mtimeNs % 1_000_000_000n) / 1e6;
    this.inode = `${stat.dev}:${stat.ino}`;
    this.#opened = stat;
    this.#fd = fd;
  }

  read(offset: number, length: number): Buffer {
    const from = Math.min(Math.max(offset, 0), this.size);
    const count = Math.min(Math.max(length, 0), this.size - from);
    if (this.size <= IN_MEMORY_BYTES) {
      this.#whole ??= this.#fill(Buffer.allocUnsafe(this.size), 0);
      return this.#whole.subarray(from, from + count);
    }
    return this.#fill(Buffer.allocUnsafe(count), from);
  }

  *chunks(from = 0, to = this.size): Generator<Buffer> {
    const end = Math.min(to, this.size);
    if (this.size <= IN_MEMORY_BYTES) {
      if (end > from) yield this.read(from, end - from);
      return;
    }
    const piece = Buffer.allocUnsafe(Math.min(IN_MEMORY_BYTES, Math.max(end - from, 0)));
    for (let at = from; at < end; at += piece.length) {
      yield this.#fill(piece.subarray(0, Math.min(piece.length, end - at)), at);
    }
  }

  assertUnchanged(): void {
    const fd = this.#open();
    const now = guarded(this.path, () => fstatSync(fd, { bigint: true }));
    if (now.size !== this.#opened.size || now.mtimeNs !== this.#opened.mtimeNs) throw changed(this.path);
  }

  close(): void {
    if (this.#fd === undefined) return;
    closeSync(this.#fd);
    this.#fd = undefined;
  }

  #fill(target: Buffer, position: number): Buffer {
    const fd = this.#open();
    for (let done = 0; done < target.length; ) {
      const at = done;
      const count = guarded(this.path, () => readSync(fd, target, at, target.length - at, position + at));
      if (count === 0) throw changed(this.path);
      done += count;
    }
    return target;
  }

  #open(): number {
    if (this.#fd === undefined) throw new CryptoError('input.unreadable', `${this.path} is closed.`);
    return this.#fd;
  }
}

export function changed(path: string): CryptoError {
  return new CryptoError('input.changed', `${path} changed while it was being read.`);
}

/** Longest path that an error names, characters; the systems have no longer ones. */
const MAX_PATH_SHOWN = 4096;

function guarded<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    // The content of a file in the place of its path must not get into logs.
    const name = path.length > MAX_PATH_SHOWN ? `A path of ${path.length} characters` : path;
    throw new CryptoError('input.unreadable', `${name} can't be read: ${code}.`, { cause: error });
  }
}

/** Creates a source over bytes in memory, under a file name. */
export function memorySource(path: string, bytes: Buffer): Source {
  return {
    path,
    size: bytes.length,
    mtimeMs: 0,
    inode: '',
    read: (offset, length) => bytes.subarray(Math.max(offset, 0), Math.max(offset, 0) + Math.max(length, 0)),
    *chunks(from = 0, to = bytes.length) {
      const end = Math.min(to, bytes.length);
      for (let at = from; at < end; at += IN_MEMORY_BYTES) {
        yield bytes.subarray(at, Math.min(at + IN_MEMORY_BYTES, end));
      }
    },
    assertUnchanged: () => {},
    close: () => {},
  };
}

/** Byte range of a file as a separate source. Closing it leaves the file open. */
export class SourceRange implements Source {
  readonly path: string;
  readonly size: number;
  readonly mtimeMs: number;
  readonly inode: string;
  readonly #whole: Source;
  readonly #start: number;

  /** @param path name in messages @param start offset in `whole`, bytes */
  constructor(whole: Source, path: string, start: number, size: number) {
    this.path = path;
    this.size = size;
    this.mtimeMs = whole.mtimeMs;
    this.inode = whole.inode;
    this.#whole = whole;
    this.#start = start;
  }

  read(offset: number, length: number): Buffer {
    const from = Math.min(Math.max(offset, 0), this.size);
    return this.#whole.read(this.#start + from, Math.min(Math.max(length, 0), this.size - from));
  }

  chunks(from = 0, to = this.size): Iterable<Buffer> {
    return this.#whole.chunks(this.#start + from, this.#start + Math.min(to, this.size));
  }

  assertUnchanged(): void {
    this.#whole.assertUnchanged();
  }

  close(): void {}
}
