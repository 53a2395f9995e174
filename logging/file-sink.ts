/**
 * Writes lines to files that roll by time and size. The caller never waits for the disk: lines queue in memory, up to
 * a bound, and one write at a time takes them away. A disk that is full or a folder that cannot be written costs
 * lines, never the service; it is tried again until it works.
 *
 * Files are opened for appending, so that two processes (a second one that is about to be refused, say) and programs
 * that cut files off in place do no harm.
 *
 * Source: Batch Signing Service API, "What the service does" 13; batch-gaps §12.
 */
import { closeSync, openSync, writeSync } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import { type LogFileName, LogFileNames, periodAt, type RollingInterval } from './file-names.ts';
import { LEVELS, type Level } from './line.ts';
import { hasRoom, type LineSink } from './line-sink.ts';

export interface FileSinkOptions {
  /** `Logging:File:Path`, absolute. */
  readonly path: string;
  readonly interval: RollingInterval;
  /** Bytes after which a file is followed by `_001` and so on. */
  readonly sizeLimit: number;
  /** Files kept, the one being written included. */
  readonly retained: number;
  /** Less severe lines are not for this sink. */
  readonly least: Level;
  readonly clock: {
    /** Milliseconds since the epoch. */
    now(): number;
    after(delay: number, task: () => void): () => void;
  };
  /** Told once when lines cannot be written, with the reason, and once when they can again (undefined). */
  readonly onTrouble: (why: string | undefined) => void;
}

/** Pause before a failed write is tried again, milliseconds. */
const RETRY_AFTER = 2000;
/** Most bytes of one write, unless a single line has more. */
const ONE_WRITE = 256 * 1024;
/** A flush waits no longer for a disk that does not answer, milliseconds. */
const FLUSH_LIMIT = 5000;
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
  /** Bytes. */
  size: number;
}

class FileSink implements LineSink {
  readonly #options: FileSinkOptions;
  readonly #names: LogFileNames;
  readonly #least: number;
  /** Lines taken and not yet given to a write. */
  #queue: Waiting[] = [];
  /** Characters not yet on their way to the disk. */
  #waiting = 0;
  /** What a write is putting down, or what is left of one that failed. */
  #chunk: Buffer | undefined;
  #chunkPeriod = '';
  #file: OpenFile | undefined;
  #working = false;
  #troubled = false;
  #dropped = 0;
  #settled: (() => void)[] = [];

  constructor(options: FileSinkOptions) {
    this.#options = options;
    this.#names = new LogFileNames(options.path);
    this.#least = severity(options.least);
  }

  get dropped(): number {
    return this.#dropped;
  }

  write(line: string, level: Level): void {
    if (severity(level) < this.#least) return;
    if (!hasRoom(level, line.length, this.#waiting)) {
      this.#dropped += 1;
      return;
    }
    this.#waiting += line.length;
    this.#queue.push({ line, period: periodAt(this.#options.clock.now(), this.#options.interval) });
    // While there is trouble, the pause until the next try decides.
    if (!this.#working && !this.#troubled) void this.#work();
  }

  flush(): Promise<void> {
    if (this.#idle() || (this.#troubled && !this.#working)) return Promise.resolve();
    return new Promise((resolve) => {
      const cancel = this.#options.clock.after(FLUSH_LIMIT, resolve);
      this.#settled.push(() => {
        cancel();
        resolve();
      });
    });
  }

  /** A chunk that is being written at this very moment is written again: a line twice is better than none. */
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
      // The process is ending and the disk takes nothing; there is nobody left to tell.
    }
    this.#queue = [];
    this.#waiting = 0;
  }

  #idle(): boolean {
    return this.#chunk === undefined && this.#queue.length === 0;
  }

  /** One turn after the other until nothing waits or the disk refuses. */
  async #work(): Promise<void> {
    this.#working = true;
    try {
      while (!this.#idle()) {
        this.#chunk ??= this.#take();
        await this.#put();
        this.#recovered();
      }
    } catch (error) {
      await this.#forgetFile();
      this.#failed(error);
    } finally {
      this.#working = false;
    }
    const settled = this.#settled;
    this.#settled = [];
    for (const resolve of settled) resolve();
  }

  /** Lines of one period, joined; the queue holds at least one. */
  #take(): Buffer {
    this.#chunkPeriod = this.#queue[0]?.period ?? '';
    const { sizeLimit } = this.#options;
    const left = this.#file?.name.period === this.#chunkPeriod ? sizeLimit - this.#file.size : 0;
    // What the open file still takes; a new one when the next line does not fit.
    const fits = Buffer.byteLength(this.#queue[0]?.line ?? '') <= left;
    const most = Math.min(ONE_WRITE, fits ? left : sizeLimit);
    const lines: string[] = [];
    let bytes = 0;
    for (const { line, period } of this.#queue) {
      bytes += Buffer.byteLength(line);
      if (period !== this.#chunkPeriod || (lines.length > 0 && bytes > most)) break;
      lines.push(line);
      this.#waiting -= line.length;
    }
    this.#queue = this.#queue.slice(lines.length);
    return Buffer.from(lines.join(''), 'utf8');
  }

  async #put(): Promise<void> {
    while (this.#chunk !== undefined && this.#chunk.length > 0) {
      const file = await this.#fileFor(this.#chunkPeriod, this.#chunk.length);
      const { bytesWritten } = await file.handle.write(this.#chunk, 0, this.#chunk.length);
      file.size += bytesWritten;
      // What a full disk took of a line is followed by its rest, once there is room.
      this.#chunk = this.#chunk.subarray(bytesWritten);
    }
    this.#chunk = undefined;
  }

  /** The open file, or the next one when the period is over or the file would grow beyond its limit. */
  async #fileFor(period: string, length: number): Promise<OpenFile> {
    const open = this.#file;
    const { sizeLimit } = this.#options;
    if (open?.name.period === period && (open.size === 0 || open.size + length <= sizeLimit)) return open;
    await this.#forgetFile();
    const sequence = open?.name.period === period ? open.name.sequence + 1 : await this.#latest(period);
    return this.#open({ period, sequence }, length);
  }

  async #open(name: LogFileName, length: number): Promise<OpenFile> {
    const path = this.#names.pathOf(name);
    const handle = await open(path, 'a', MODE);
    const { size } = await handle.stat();
    if (size > 0 && size + length > this.#options.sizeLimit) {
      await handle.close();
      return this.#open({ ...name, sequence: name.sequence + 1 }, length);
    }
    const file = { handle, name, size };
    this.#file = file;
    await this.#removeOldest(name);
    return file;
  }

  /** Where an earlier run, or this one before a failure, stopped. */
  async #latest(period: string): Promise<number> {
    await mkdir(this.#names.folder, { recursive: true, mode: FOLDER_MODE });
    const own = this.#names.among(await readdir(this.#names.folder));
    return own.filter((name) => name.period === period).at(-1)?.sequence ?? 0;
  }

  /** A file that cannot be removed stays; that is no reason to write nothing. */
  async #removeOldest(current: LogFileName): Promise<void> {
    const own = this.#names.among(await readdir(this.#names.folder).catch(() => []));
    const kept = this.#names.pathOf(current);
    const others = own.map((name) => this.#names.pathOf(name)).filter((path) => path !== kept);
    const surplus = others.slice(0, Math.max(0, others.length - (this.#options.retained - 1)));
    for (const path of surplus) {
      const known = await stat(path).catch(() => undefined);
      if (known?.isFile()) await rm(path).catch(() => {});
    }
  }

  async #forgetFile(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.handle.close().catch(() => {});
  }

  #failed(error: unknown): void {
    const first = !this.#troubled;
    this.#troubled = true;
    this.#options.clock.after(RETRY_AFTER, () => {
      if (!this.#working) void this.#work();
    });
    if (first) this.#options.onTrouble(reasonOf(error));
  }

  #recovered(): void {
    if (!this.#troubled) return;
    this.#troubled = false;
    this.#options.onTrouble(undefined);
  }
}

function severity(level: Level): number {
  return Object.keys(LEVELS).indexOf(level);
}

function reasonOf(error: unknown): string {
  return String((error as { code?: unknown }).code ?? 'unknown');
}
