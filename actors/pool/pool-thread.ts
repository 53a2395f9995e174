/**
 * One thread of the pool, replaced when it is lost or a batch exceeds its time limit.
 *
 * A thread accepts batches and is terminated only after it has loaded: terminating one while it loads a native module
 * aborts the process (see `runtime/thread-end.ts`).
 */

import type { Clock, Log } from '@sealwright/runtime';
import { Piscina } from 'piscina';
import { HeartbeatCell } from './heartbeat-cell.ts';
import { DeadlineMissed } from './pool-failures.ts';
import type { PoolReply, PoolTask } from './tasks.ts';
import type { ThreadData, WorkerSetup } from './worker-setup.ts';

export interface PoolThreadOptions {
  /** Maximum number of concurrent batches. */
  readonly atOnce: number;
  /** Module that exports the worker function `run`. */
  readonly filename: string;
  readonly setup: WorkerSetup;
  /** See `ThreadData`. */
  readonly isWarmedUp: boolean;
  readonly resourceLimits: { readonly maxOldGenerationSizeMb: number };
  readonly clock: Pick<Clock, 'after'>;
  readonly log: Pick<Log, 'error'>;
  /** Called when the thread can accept batches again. */
  readonly onLoaded: () => void;
}

/** Pause after a failed load, milliseconds. */
const RELOAD_PAUSE = 1000;

export class PoolThread {
  readonly #options: PoolThreadOptions;
  readonly heartbeat = new HeartbeatCell();
  #piscina!: Piscina;
  #loaded!: Promise<boolean>;
  #isLoaded = false;
  #isEnding = false;
  #running = 0;

  constructor(options: PoolThreadOptions) {
    this.#options = options;
    this.#start();
  }

  /** Number of batches it can accept now. */
  get room(): number {
    return this.#isLoaded ? this.#options.atOnce - this.#running : 0;
  }

  /** Rejects when the thread is lost; with `DeadlineMissed` when this batch exceeded its time limit. */
  async run(tasks: readonly PoolTask[], deadlineMs: number): Promise<readonly PoolReply[]> {
    const piscina = this.#piscina;
    let isLate = false;
    this.#running += 1;
    const cancel = this.#options.clock.after(deadlineMs, () => {
      if (this.#piscina !== piscina || this.#isEnding) return;
      isLate = true;
      this.#replace();
    });
    try {
      return await piscina.run(tasks);
    } catch (error) {
      throw isLate ? new DeadlineMissed(deadlineMs) : error;
    } finally {
      cancel();
      this.#running -= 1;
    }
  }

  /** Terminates the thread once it has loaded; its running batches reject. */
  async destroy(): Promise<void> {
    await this.#mayEnd();
    await this.#piscina.destroy();
  }

  /** Waits for running batches, then terminates the thread. */
  async close(): Promise<void> {
    await this.#mayEnd();
    await this.#piscina.close();
  }

  async #mayEnd(): Promise<void> {
    this.#isEnding = true;
    this.#isLoaded = false;
    // A thread lost meanwhile has a successor that loads.
    for (let loaded: Promise<boolean> | undefined; loaded !== this.#loaded; ) {
      loaded = this.#loaded;
      await loaded;
    }
  }

  #start(): void {
    const { filename, atOnce, setup, resourceLimits, log, isWarmedUp } = this.#options;
    const data: ThreadData = { setup, heartbeat: this.heartbeat.memory, isWarmedUp };
    const piscina = new Piscina({
      filename,
      name: 'run',
      minThreads: 1,
      maxThreads: 1,
      concurrentTasksPerWorker: atOnce,
      idleTimeout: Number.POSITIVE_INFINITY,
      recordTiming: false,
      workerData: data,
      resourceLimits,
    });
    this.#piscina = piscina;
    // An 'error' event without a listener would end the process.
    piscina.on('error', (error: Error) => {
      log.error('A pool thread failed outside a task.', { Error: error.message });
    });
    piscina.on('workerDestroy', () => {
      if (this.#piscina === piscina) this.#load(piscina);
    });
    this.#load(piscina);
  }

  #load(piscina: Piscina): void {
    this.#isLoaded = false;
    const loaded = isLoadedIn(piscina);
    this.#loaded = loaded;
    void loaded.then((isLoaded) => {
      if (this.#loaded !== loaded || this.#isEnding) return;
      this.#isLoaded = isLoaded;
      if (isLoaded) this.#options.onLoaded();
      else this.#options.clock.after(RELOAD_PAUSE, () => this.#loaded === loaded && this.#replace());
    });
  }

  /** Terminates the loaded thread and starts another one. */
  #replace(): void {
    const ended = this.#piscina;
    this.#start();
    ended.destroy().catch(() => {});
  }
}

/** False when the thread failed to load. */
async function isLoadedIn(piscina: Piscina): Promise<boolean> {
  // When it reports a lost thread, the library has not removed it from its list yet. No upstream issue found;
  // seen in piscina 5.3.2.
  await undefined;
  let fail = (_: unknown): void => {};
  const failed = new Promise<never>((_, reject) => {
    fail = reject;
  });
  piscina.once('error', fail);
  try {
    await Promise.race([piscina.run([]), failed]);
    return true;
  } catch {
    return false;
  } finally {
    piscina.off('error', fail);
  }
}
