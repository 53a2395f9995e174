/**
 * The thread that samples files of watched folders, one message for many files: an asynchronous call of
 * `node:fs` for each file wakes two threads, which costs ten times the call itself. One thread serves all folders of the
 * process. While it does not answer, as on a file system that hangs, the callers use `node:fs`.
 */
import type { Worker } from 'node:worker_threads';
import type { Clock } from '@sealwright/runtime';
import { startIdleThread } from '../../shared/coordination/idle-thread.ts';
import type { FileSample } from './stability.ts';

export interface SampleRequest {
  readonly path: string;
  readonly answer: (sample: FileSample) => void;
}

/** Paths of one message. */
export type ToSampleThread = readonly string[];

/** Answers in the order of the paths. */
export type FromSampleThread = readonly FileSample[];

export interface SampleBatch {
  readonly requests: readonly SampleRequest[];
  readonly clock: Pick<Clock, 'after'>;
  /** Called with the requests instead of their answers when the thread is late or lost. */
  readonly onLost: (requests: readonly SampleRequest[]) => void;
}

/** Time without an answer after which callers use `node:fs`, milliseconds. */
const LATE_MS = 1_000;

/** Memory limits; the thread keeps nothing between two messages. */
const MEMORY = { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 4 };

export class SampleThread {
  readonly #module: URL;
  readonly #lateMs: number;
  #worker: Worker | undefined;
  #isOnline = false;
  #isLost = false;
  /** Batches that the thread has not answered, oldest first. An answer to a batch that was given up is ignored. */
  #unanswered: { readonly batch: SampleBatch; isGivenUp: boolean }[] = [];
  #cancelWait: (() => void) | undefined;

  constructor(module: URL = new URL('./sample-worker.js', import.meta.url), lateMs: number = LATE_MS) {
    this.#module = module;
    this.#lateMs = lateMs;
  }

  /** Returns false when the thread is starting, late or lost; the batch is not sent then. The first call starts it. */
  take(batch: SampleBatch): boolean {
    if (!this.#isOnline || this.#worker === undefined) {
      if (this.#worker === undefined && !this.#isLost) this.#start();
      return false;
    }
    if (this.#unanswered[0]?.isGivenUp) return false;
    this.#unanswered.push({ batch, isGivenUp: false });
    if (this.#unanswered.length === 1) {
      this.#worker.ref();
      this.#await(batch.clock);
    }
    this.#worker.postMessage(batch.requests.map(({ path }) => path) satisfies ToSampleThread);
    return true;
  }

  #start(): void {
    this.#worker = startIdleThread<FromSampleThread>(
      this.#module,
      { resourceLimits: MEMORY },
      {
        online: () => {
          this.#isOnline = true;
        },
        answer: (answers) => this.#answer(answers),
        lost: () => this.#lose(),
      },
    );
  }

  #answer(samples: FromSampleThread): void {
    const answered = this.#unanswered.shift();
    this.#cancelWait?.();
    const next = this.#unanswered[0];
    if (next === undefined) this.#worker?.unref();
    else this.#await(next.batch.clock);
    if (answered === undefined || answered.isGivenUp) return;
    for (const [at, { answer }] of answered.batch.requests.entries()) answer(samples[at] ?? { is: 'gone' });
  }

  #await(clock: Pick<Clock, 'after'>): void {
    this.#cancelWait = clock.after(this.#lateMs, () => this.#giveUp());
  }

  /** Gives up all batches: those behind the late one wait as long, whatever their folder. */
  #giveUp(): void {
    const lost = this.#unanswered.filter(({ isGivenUp }) => !isGivenUp);
    for (const one of lost) one.isGivenUp = true;
    // No caller waits for the thread any more.
    this.#worker?.unref();
    for (const { batch } of lost) batch.onLost(batch.requests);
  }

  /** Not restarted: the same cause would probably end it again. */
  #lose(): void {
    this.#isLost = true;
    this.#isOnline = false;
    this.#worker = undefined;
    this.#cancelWait?.();
    this.#giveUp();
    this.#unanswered = [];
  }
}
