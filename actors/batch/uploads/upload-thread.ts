/**
 * The thread that stores small uploads, one message for all of a turn: three asynchronous calls of `node:fs` for each
 * file wake two threads each, which costs more than the calls. Its syncs run at once on libuv's threads and share one
 * sync of the folder. The bytes cross in shared memory. One thread serves the process; it
 * starts when the process has had some uploads.
 */
import type { Worker } from 'node:worker_threads';
import { Retryable } from '@sealwright/runtime';
import type { FileStamp } from '../../../machines/batch/job-context.ts';
import { startIdleThread } from '../../shared/coordination/idle-thread.ts';

/** Largest upload that the thread stores, bytes. */
export const SLOT_BYTES = 64 * 1024;
/** Bytes of a word: V8 copies to shared memory word by word only where both sides begin alike, else byte by byte. */
export const WORD = 8;
/** Bytes of a slot: content may begin anywhere in its first word. */
const STRIDE = SLOT_BYTES + WORD;
/** Uploads that the thread stores at once. */
const SLOTS = 128;
/** Number of the upload that starts the thread: a process with few has no use for it. */
const FIRST = 32;
/** Memory limits; the thread keeps nothing between two messages. */
const MEMORY = { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 4 };

/** Data with which the thread starts. */
export interface UploadThreadData {
  readonly memory: SharedArrayBuffer;
}

export interface ToUploadThread {
  /** Files to write and to sync, with their bytes in the memory. */
  readonly stored: readonly { readonly path: string; readonly at: number; readonly length: number }[];
  readonly renamed: readonly { readonly from: string; readonly to: string }[];
}

/** An error of the system. */
export interface SystemFault {
  readonly code: string;
  readonly syscall: string;
}

/** Answers in the order of one message; those of `renamed` come at once, those of `stored` after the syncs. */
export type FromUploadThread =
  | {
      readonly is: 'stored';
      readonly message: number;
      readonly answers: readonly (FileStamp | SystemFault)[];
    }
  | { readonly is: 'renamed'; readonly answers: readonly (SystemFault | null)[] };

/** Memory for the bytes of one upload. */
export interface UploadSlot {
  /** `SLOT_BYTES + WORD` long; begins with a word. */
  readonly bytes: Uint8Array;
  /**
   * Resolves when the bytes and the name are durable. Rejects with errors of the system.
   * @param from their place in `bytes` @default 0
   */
  store(path: string, length: number, from?: number): Promise<FileStamp>;
  /** Renames a file. Rejects with errors of the system. Allowed after `release`. */
  rename(from: string, to: string): Promise<void>;
  /** Call once, not during `store`. */
  release(): void;
}

interface Waiting<Answer> {
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

type Storing = ToUploadThread['stored'][number] & Waiting<FileStamp>;
type Renaming = ToUploadThread['renamed'][number] & Waiting<void>;

export class UploadThread {
  readonly #memory = new SharedArrayBuffer(SLOTS * STRIDE);
  readonly #bytes = new Uint8Array(this.#memory);
  /** Numbers of unused slots; the last used ones are taken first, so that little memory is touched. */
  readonly #free = Array.from({ length: SLOTS }, (_, n) => SLOTS - 1 - n);
  #worker: Worker | undefined;
  #isOnline = false;
  #uploads = 0;
  #stores: Storing[] = [];
  #renames: Renaming[] = [];
  /** No map: its former tables, once old, keep what was in them from the collector of the young generation. */
  #storing: { readonly message: number; readonly stores: readonly Storing[] }[] = [];
  #renaming: Renaming[] = [];
  #messages = 0;
  #isScheduled = false;

  constructor(
    private readonly first: number = FIRST,
    private readonly module: URL = new URL('./upload-worker.js', import.meta.url),
  ) {}

  /** Memory for the bytes of an upload; undefined: the caller writes a file. */
  slot(): UploadSlot | undefined {
    this.#uploads += 1;
    if (this.#uploads === this.first) {
      try {
        this.#start();
      } catch {
        // The system makes no more threads: no reason to refuse this upload.
      }
    }
    const slot = this.#isOnline ? this.#free.pop() : undefined;
    if (slot === undefined) return undefined;
    const at = slot * STRIDE;
    return {
      bytes: this.#bytes.subarray(at, at + STRIDE),
      store: (path, length, from = 0) => this.#store(path, at + from, length),
      rename: (from, to) => this.#rename(from, to),
      release: () => void this.#free.push(slot),
    };
  }

  #store(path: string, at: number, length: number): Promise<FileStamp> {
    return new Promise((resolve, reject) => {
      this.#stores.push({ path, at, length, resolve, reject });
      this.#schedule();
    });
  }

  #rename(from: string, to: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#renames.push({ from, to, resolve, reject });
      this.#schedule();
    });
  }

  #start(): void {
    const data: UploadThreadData = { memory: this.#memory };
    const options = { workerData: data, resourceLimits: MEMORY };
    this.#worker = startIdleThread<FromUploadThread>(this.module, options, {
      online: () => {
        this.#isOnline = true;
      },
      answer: (message) => this.#answer(message),
      lost: () => this.#lose(),
    });
  }

  /** Sends at the end of this turn of the event loop. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#send();
    });
  }

  #send(): void {
    const stores = this.#stores;
    const renames = this.#renames;
    this.#stores = [];
    this.#renames = [];
    if (this.#worker === undefined) {
      reject([...stores, ...renames], lost());
      return;
    }
    this.#worker.ref();
    this.#messages += 1;
    if (stores.length > 0) this.#storing.push({ message: this.#messages, stores });
    this.#renaming.push(...renames);
    this.#worker.postMessage({
      stored: stores.map(({ path, at, length }) => ({ path, at, length })),
      renamed: renames.map(({ from, to }) => ({ from, to })),
    } satisfies ToUploadThread);
  }

  #answer(message: FromUploadThread): void {
    if (message.is === 'renamed') {
      const { answers } = message;
      for (const [n, { resolve, reject }] of this.#renaming.splice(0, answers.length).entries()) {
        const fault = answers[n] ?? null;
        if (fault === null) resolve();
        else reject(systemError(fault));
      }
    } else {
      const at = this.#storing.findIndex(({ message: sent }) => sent === message.message);
      const [stored] = at < 0 ? [] : this.#storing.splice(at, 1);
      for (const [n, { resolve, reject }] of (stored?.stores ?? []).entries()) {
        const answer = message.answers[n];
        if (answer !== undefined && 'size' in answer) resolve(answer);
        else reject(systemError(answer ?? { code: 'EIO', syscall: 'write' }));
      }
    }
    if (this.#storing.length === 0 && this.#renaming.length === 0) this.#worker?.unref();
  }

  /** Not restarted: the same cause would probably end it again. */
  #lose(): void {
    this.#isOnline = false;
    this.#worker = undefined;
    reject([...this.#storing.flatMap(({ stores }) => stores), ...this.#renaming.splice(0)], lost());
    this.#storing = [];
  }
}

function reject(waiting: readonly Pick<Waiting<never>, 'reject'>[], error: Error): void {
  for (const one of waiting) one.reject(error);
}

function lost(): Retryable {
  return new Retryable('storage.unavailable', 'The thread that stores uploads has ended.');
}

function systemError({ code, syscall }: SystemFault): Error {
  return Object.assign(new Error(`${code}: ${syscall}`), { code, syscall });
}
