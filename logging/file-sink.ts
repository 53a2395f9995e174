/**
 * Writes lines to files that roll by time and size. The caller never waits for the disk: lines queue in memory, up to a
 * bound, and one write at a time takes them away. Lines below Warning wait a moment for others, because each write
 * wakes another thread. A disk that is full or a folder that cannot be written costs lines, never the service; it is
 * tried again until it works. Files are opened for appending, so that two processes (a second one that is about to be
 * refused, say) and programs that cut files off in place do no harm; one that was moved away or removed is made anew.
 *
 * Source: docs/batch-values.md §0 (13), §12.
 */
import { closeSync, openSync, writeSync } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import { type LogFileName, LogFileNames, periodAt, type RollingInterval } from './file-names.ts';
import { LEVELS, type Level } from './line.ts';
import { hasRoom, type LineSink, mayWait, WRITE_DELAY_MS } from './sinks.ts';

export interface FileSinkOptions {
  /** `Logging:File:Path`, absolute. */
  readonly path: string;
  readonly interval: RollingInterval;
  /** Maximum bytes of a file before `_001` and so on. */
  readonly sizeLimit: number;
  /** Maximum number of files, including the current one. */
  readonly retained: number;
  /** Files last written longer ago, in milliseconds, are removed when a new one is created. @default none */
  readonly maxAge?: number;
  /** Minimum level of this sink. */
  readonly least: Level;
  readonly clock: {
    /** Milliseconds since the epoch. */
    now(): number;
    after(delay: number, task: () => void): () => void;
  };
  /** Called once when lines cannot be written, with the reason, and once when they can again (undefined). */
  readonly onFailure: (why: string | undefined) => void;
}

/** Pause before a failed write is retried, milliseconds. */
const RETRY_MS = 2000;
/** Maximum bytes of one write, unless a single line has more. */
const MAX_WRITE_BYTES = 256 * 1024;
/** Flush timeout, milliseconds. */
const FLUSH_LIMIT_MS = 5000;
/** Time between two looks whether the file is still in its place, milliseconds. */
const LOOK_MS = 1000;
const MODE = 0o640;
const FOLDER_MODE = 0o750;

export function createFileSink(options: FileSinkOptions): LineSink {
  return new FileSink(options);
}

interface Waiting {
  readonly line: string;
  readonly period: string;
}

interface OpenFile {
  readonly handle: FileHandle;
  readonly name: LogFileName;
  readonly inode: number;
  /** Bytes. */
  size: number;
  /** Last look at its place, milliseconds since the epoch. */
  seenAt: number;
}

class FileSink implements LineSink {
  readonly #options: FileSinkOptions;
  readonly #names: LogFileNames;
  readonly #least: number;
  /** Lines queued and not yet part of a write. */
  #queue: Waiting[] = [];
  /** Characters not yet being written. */
  #waiting = 0;
  /** Number of queued lines, from the first, that are not to wait for others. */
  #due = 0;
  #cancelDelay: (() => void) | undefined;
  /** Data of the current write, or the rest of a failed one. */
  #chunk: Buffer | undefined;
  #chunkPeriod = '';
  #file: OpenFile | undefined;
  #working = false;
  #isFailing = false;
  #dropped = 0;
  #settled: (() => void)[] = [];

  constructor(options: FileSinkOptions) {
    this.#options = options;
    this.#names = new LogFileNames(options.path);
    this.#least = LEVELS[options.least].severity;
  }

  get dropped(): number {
    return this.#dropped;
  }

  write(line: string, level: Level): void {
    if (LEVELS[level].severity < this.#least) return;
    if (!hasRoom(level, line.length, this.#waiting)) {
      this.#dropped += 1;
      return;
    }
    this.#waiting += line.length;
    this.#queue.push({ line, period: periodAt(this.#options.clock.now(), this.#options.interval) });
    if (mayWait(level, this.#waiting))
      this.#cancelDelay ??= this.#options.clock.after(WRITE_DELAY_MS, () => this.#writeQueued());
    else this.#writeQueued();
  }

  flush(): Promise<void> {
    if (this.#idle() || (this.#isFailing && !this.#working)) return Promise.resolve();
    this.#writeQueued();
    return new Promise((resolve) => {
      const cancel = this.#options.clock.after(FLUSH_LIMIT_MS, resolve);
      this.#settled.push(() => {
        cancel();
        resolve();
      });
    });
  }

  /** Writes a chunk again that is being written: a duplicate line is better than none. */
  flushSync(): void {
    const file = this.#file;
    if (file === undefined && this.#idle()) return;
    try {
      const rest = this.#queue.map(({ line }) => line);
      const period = periodAt(this.#options.clock.now(), this.#options.interval);
      const path = this.#names.pathOf(file?.name ?? { period, sequence: 0 });
      const descriptor = openSync(path, 'a', MODE);
      try {
        if (this.#chunk !== undefined) writeSync(descriptor, this.#chunk);
        writeSync(descriptor, rest.join(''));
      } finally {
        closeSync(descriptor);
      }
    } catch {
      // The process is ending and the disk accepts nothing.
    }
    this.#queue = [];
    this.#waiting = 0;
    this.#due = 0;
  }

  /** Lets nothing that is queued wait for others. After a failure, the retry pause decides. */
  #writeQueued(): void {
    this.#cancelDelay?.();
    this.#cancelDelay = undefined;
    this.#due = this.#queue.length;
    if (!this.#working && !this.#isFailing) void this.#work();
  }

  #idle(): boolean {
    return this.#chunk === undefined && this.#queue.length === 0;
  }

  /** Writes until no line is due or the disk fails. */
  async #work(): Promise<void> {
    this.#working = true;
    try {
      while (this.#chunk !== undefined || this.#due > 0) {
        this.#chunk ??= this.#nextChunk();
        await this.#writeChunk();
        this.#recovered();
      }
    } catch (error) {
      await this.#closeFile();
      this.#failed(error);
    } finally {
      this.#working = false;
    }
    const settled = this.#settled;
    this.#settled = [];
    for (const resolve of settled) resolve();
  }

  /** Joins the lines of one period; the queue holds at least one. */
  #nextChunk(): Buffer {
    this.#chunkPeriod = this.#queue[0]?.period ?? '';
    const { sizeLimit } = this.#options;
    const left = this.#file?.name.period === this.#chunkPeriod ? sizeLimit - this.#file.size : 0;
    // Remaining bytes of the open file; a new one when the next line does not fit.
    const fits = Buffer.byteLength(this.#queue[0]?.line ?? '') <= left;
    const most = Math.min(MAX_WRITE_BYTES, fits ? left : sizeLimit);
    const lines: string[] = [];
    let bytes = 0;
    for (const { line, period } of this.#queue) {
      bytes += Buffer.byteLength(line);
      if (period !== this.#chunkPeriod || (lines.length > 0 && bytes > most)) break;
      lines.push(line);
      this.#waiting -= line.length;
    }
    this.#queue = this.#queue.slice(lines.length);
    this.#due = Math.max(0, this.#due - lines.length);
    return Buffer.from(lines.join(''), 'utf8');
  }

  async #writeChunk(): Promise<void> {
    while (this.#chunk !== undefined && this.#chunk.length > 0) {
      const file = await this.#fileFor(this.#chunkPeriod, this.#chunk.length);
      const { bytesWritten } = await file.handle.write(this.#chunk, 0, this.#chunk.length);
      file.size += bytesWritten;
      // The rest of a line that a full disk truncated is written first, once there is space.
      this.#chunk = this.#chunk.subarray(bytesWritten);
    }
    this.#chunk = undefined;
  }

  /** Returns the open file, or the next one when the period is over or the file would exceed its limit. */
  async #fileFor(period: string, length: number): Promise<OpenFile> {
    const open = this.#file;
    const { sizeLimit } = this.#options;
    const fits = open?.name.period === period && (open.size === 0 || open.size + length <= sizeLimit);
    if (fits && (await this.#isInPlace(open))) return open;
    await this.#closeFile();
    if (fits) return this.#open(open.name, length);
    const sequence = open?.name.period === period ? open.name.sequence + 1 : await this.#latest(period);
    return this.#open({ period, sequence }, length);
  }

  /** False when a program that rotates files, or a person, took the file away: what is written to it is lost. */
  async #isInPlace(file: OpenFile): Promise<boolean> {
    const now = this.#options.clock.now();
    if (Math.abs(now - file.seenAt) < LOOK_MS) return true;
    file.seenAt = now;
    const found = await stat(this.#names.pathOf(file.name)).catch(() => undefined);
    return found?.ino === file.inode;
  }

  async #open(name: LogFileName, length: number): Promise<OpenFile> {
    const path = this.#names.pathOf(name);
    const handle = await open(path, 'a', MODE);
    const { size, ino: inode } = await handle.stat();
    if (size > 0 && size + length > this.#options.sizeLimit) {
      await handle.close();
      return this.#open({ ...name, sequence: name.sequence + 1 }, length);
    }
    const file = { handle, name, inode, size, seenAt: this.#options.clock.now() };
    this.#file = file;
    await this.#removeOldest(name);
    return file;
  }

  /** Returns the file in which an earlier run, or this one before a failure, stopped. */
  async #latest(period: string): Promise<number> {
    await mkdir(this.#names.folder, { recursive: true, mode: FOLDER_MODE });
    const own = this.#names.among(await readdir(this.#names.folder));
    return own.filter((name) => name.period === period).at(-1)?.sequence ?? 0;
  }

  /** A file that cannot be removed stays; logging continues. */
  async #removeOldest(current: LogFileName): Promise<void> {
    const own = this.#names.among(await readdir(this.#names.folder).catch(() => []));
    const kept = this.#names.pathOf(current);
    const others = own.map((name) => this.#names.pathOf(name)).filter((path) => path !== kept);
    const { retained, maxAge = Number.POSITIVE_INFINITY, clock } = this.#options;
    const surplus = Math.max(0, others.length - (retained - 1));
    for (const [index, path] of others.entries()) {
      const known = await stat(path).catch(() => undefined);
      if (!known?.isFile()) continue;
      if (index < surplus || known.mtimeMs < clock.now() - maxAge) await rm(path).catch(() => {});
    }
  }

  async #closeFile(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.handle.close().catch(() => {});
  }

  #failed(error: unknown): void {
    const first = !this.#isFailing;
    this.#isFailing = true;
    this.#options.clock.after(RETRY_MS, () => {
      if (!this.#working) void this.#work();
    });
    if (first) this.#options.onFailure(reasonOf(error));
  }

  #recovered(): void {
    if (!this.#isFailing) return;
    this.#isFailing = false;
    this.#options.onFailure(undefined);
  }
}

function reasonOf(error: unknown): string {
  return String((error as { code?: unknown }).code ?? 'unknown');
}
