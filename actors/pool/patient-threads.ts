/**
 * Threads for tasks that mostly wait for others: many such tasks share one thread, and none of them holds up the threads
 * that sign without asking anybody. They start with the first task.
 *
 * A thread that shares tasks cannot be taken from one of them alone, so a task that overruns the deadline ends them all,
 * and new ones begin.
 */
import { Piscina } from 'piscina';
import type { Clock, Log } from '../../runtime/index.ts';
import type { PoolAnswer, PoolTask } from './tasks.ts';

/** Tasks under way in one thread: as many as jobs may be in flight (`Pipeline:MaxConcurrency`). */
const AT_ONCE = 32;

export interface PatientOptions {
  readonly threads: number;
  /** Tasks under way in one thread. @default 32 */
  readonly atOnce?: number;
  /** Milliseconds. */
  readonly deadlineMs: number;
  /** The module with the worker's entry `run`. */
  readonly filename: string;
  readonly workerData: unknown;
  readonly resourceLimits: { readonly maxOldGenerationSizeMb: number };
  readonly clock: Pick<Clock, 'after'>;
  readonly log: Pick<Log, 'error'>;
  /** What a task rejects with that overran the deadline. */
  readonly missed: () => Error;
}

export class PatientThreads {
  readonly #options: PatientOptions;
  #piscina: Piscina | undefined;

  constructor(options: PatientOptions) {
    this.#options = options;
  }

  /** Rejects when the thread is lost or the task is late. */
  async run(task: PoolTask): Promise<PoolAnswer | undefined> {
    const { clock, deadlineMs, missed } = this.#options;
    const piscina = this.#threads();
    let cancel = () => {};
    const late = new Promise<never>((_, reject) => {
      cancel = clock.after(deadlineMs, () => {
        reject(missed());
        if (this.#piscina === piscina) this.#piscina = undefined;
        void piscina.destroy();
      });
    });
    const work: Promise<readonly PoolAnswer[]> = piscina.run([task]);
    try {
      const [answer] = await Promise.race([work, late]);
      return answer;
    } finally {
      cancel();
      // The loser of the race is nobody's any more.
      work.catch(() => {});
    }
  }

  /** Waits for what is under way. */
  async close(): Promise<void> {
    await this.#piscina?.close();
  }

  /** Ends the threads at once. */
  async destroy(): Promise<void> {
    await this.#piscina?.destroy();
  }

  #threads(): Piscina {
    const { threads, atOnce = AT_ONCE, filename, workerData, resourceLimits, log } = this.#options;
    this.#piscina ??= new Piscina({
      filename,
      name: 'run',
      minThreads: 1,
      maxThreads: threads,
      concurrentTasksPerWorker: atOnce,
      idleTimeout: Number.POSITIVE_INFINITY,
      recordTiming: false,
      workerData,
      resourceLimits,
      // Told to nobody, a thread that fails before it has a task would end the process.
    }).on('error', (error: Error) => {
      log.error('A pool thread failed outside a task.', { Error: error.message });
    });
    return this.#piscina;
  }
}
