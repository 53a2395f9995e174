/**
 * Threads for tasks of one class with their queue.
 *
 * Waiting tasks go to the next free thread in small batches: the hand-over of a task costs about a tenth of signing a
 * small file, and a batch pays it once. A batch holds tasks of one organization; organizations take turns. When a
 * thread is lost or its batch exceeds the time limit, each task of the batch is retried alone, so that a bad task
 * affects only itself.
 */
import { setImmediate } from 'node:timers/promises';
import type { Clock } from '@sealwright/runtime';
import { FairQueue } from './fair-queue.ts';
import { DeadlineMissed } from './pool-failures.ts';
import { PoolThread, type PoolThreadOptions } from './pool-thread.ts';
import type { PoolReply, PoolTask } from './tasks.ts';

/** A task and its caller. */
export interface Waiting {
  readonly task: PoolTask;
  /** Organization; `''` for the service itself. */
  readonly partition: string;
  /** Milliseconds from the start of its batch. */
  readonly deadlineMs: number;
  /** Monotonic time of the request, milliseconds. */
  readonly since: number;
  /** True: its batch was lost with a thread, and this task may be the cause. */
  isSuspect: boolean;
  readonly answer: (answer: PoolReply) => void;
  /** Called instead when its thread was lost or exceeded the time limit. */
  readonly lost: (error: unknown) => void;
}

export interface WorkerGroupOptions extends Omit<PoolThreadOptions, 'onLoaded' | 'isWarmedUp'> {
  readonly threads: number;
  /** Maximum number of tasks per batch. */
  readonly batchSize: number;
  /** True: threads start with the first task. */
  readonly isLazy: boolean;
  readonly clock: Pick<Clock, 'after' | 'elapsed'>;
  /** Group that retries tasks whose shared thread was lost. @default this group */
  readonly retryIn?: Pick<WorkerGroup, 'add'>;
}

/** A running batch. */
export interface RunningBatch {
  readonly tasks: readonly Waiting[];
  readonly thread: PoolThread;
  readonly startedAt: number;
  readonly deadlineMs: number;
}

export class WorkerGroup {
  readonly #options: WorkerGroupOptions;
  readonly #queue = new FairQueue<Waiting>();
  readonly #running = new Set<RunningBatch>();
  readonly #runningOf = new Map<string, number>();
  #threads: readonly PoolThread[] = [];
  #pumping: Promise<void> | undefined;
  #isClosed = false;

  constructor(options: WorkerGroupOptions) {
    this.#options = options;
    if (!options.isLazy) this.#start();
  }

  get threads(): number {
    return this.#threads.length;
  }

  /** Tasks that wait for a thread. */
  get waiting(): number {
    return this.#queue.size;
  }

  waitingOf(partition: string): number {
    return this.#queue.sizeOf(partition);
  }

  get running(): ReadonlySet<RunningBatch> {
    return this.#running;
  }

  /** Queues a task; after `close` or `destroy` it is answered as lost at once. */
  add(waiting: Waiting): void {
    if (this.#isClosed) {
      waiting.lost(poolStopping());
      return;
    }
    this.#queue.push(waiting.partition, waiting);
    if (this.#threads.length === 0) this.#start();
    // Tasks requested in the same turn of the event loop form a batch.
    this.#pumping ??= setImmediate().then(() => {
      this.#pumping = undefined;
      this.#pump();
    });
  }

  /** Terminates the threads at once; running tasks are answered as lost. */
  async destroy(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#threads.map((thread) => thread.destroy()));
    this.#dropWaiting();
  }

  /** Waits for running tasks, drops waiting ones, terminates the threads. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#dropWaiting();
    await Promise.all(this.#threads.map((thread) => thread.close()));
  }

  #start(): void {
    // A thread that starts with its first task does not let that task wait for more than its code.
    const isWarmedUp = !this.#options.isLazy;
    const options = { ...this.#options, isWarmedUp, onLoaded: () => this.#pump() };
    this.#threads = Array.from({ length: this.#options.threads }, () => new PoolThread(options));
  }

  #dropWaiting(): void {
    for (;;) {
      const taken = this.#queue.dequeue((_, items) => items.length);
      if (taken === undefined) return;
      for (const waiting of taken.items) waiting.lost(poolStopping());
    }
  }

  #pump(): void {
    if (this.#isClosed) return;
    const batches = this.#options.threads * this.#options.atOnce;
    // Limits one organization to leave room for another. The service itself is not limited.
    const bound = (partition: string) => (partition === '' ? batches : Math.max(1, batches - 1));
    for (;;) {
      const thread = this.#freeThread();
      if (thread === undefined) return;
      const share = Math.ceil(this.#queue.size / this.#options.threads);
      const taken = this.#queue.dequeue((partition, items) => {
        if ((this.#runningOf.get(partition) ?? 0) >= bound(partition)) return 0;
        const suspect = items.findIndex(({ isSuspect }) => isSuspect);
        if (suspect === 0) return 1;
        return Math.min(share, this.#options.batchSize, suspect < 0 ? items.length : suspect);
      });
      if (taken === undefined) return;
      void this.#work(thread, taken.partition, taken.items);
    }
  }

  /** The thread with the most free capacity. */
  #freeThread(): PoolThread | undefined {
    let free: PoolThread | undefined;
    for (const thread of this.#threads) if (thread.room > (free?.room ?? 0)) free = thread;
    return free;
  }

  async #work(thread: PoolThread, partition: string, tasks: readonly Waiting[]): Promise<void> {
    const deadlineMs = Math.max(...tasks.map((one) => one.deadlineMs));
    const batch = { tasks, thread, startedAt: this.#options.clock.elapsed(), deadlineMs };
    this.#running.add(batch);
    this.#runningOf.set(partition, (this.#runningOf.get(partition) ?? 0) + 1);
    try {
      const answers = await thread.run(
        tasks.map(({ task }) => task),
        deadlineMs,
      );
      for (const [index, waiting] of tasks.entries()) {
        const answer = answers[index];
        if (answer === undefined) waiting.lost(new Error('it was not answered'));
        else waiting.answer(answer);
      }
    } catch (error) {
      for (const waiting of tasks) this.#failed(waiting, tasks.length, error);
    } finally {
      this.#running.delete(batch);
      const others = (this.#runningOf.get(partition) ?? 1) - 1;
      if (others === 0) this.#runningOf.delete(partition);
      else this.#runningOf.set(partition, others);
      this.#pump();
    }
  }

  /** Fails a task that was alone on its lost thread; retries any other once, alone. */
  #failed(waiting: Waiting, batchSize: number, error: unknown): void {
    const isGuilty = batchSize === 1 && (this.#options.atOnce === 1 || error instanceof DeadlineMissed);
    if (this.#isClosed || isGuilty || waiting.isSuspect) {
      waiting.lost(error);
      return;
    }
    waiting.isSuspect = true;
    if (this.#options.retryIn !== undefined) this.#options.retryIn.add(waiting);
    else this.#queue.unshift(waiting.partition, waiting);
  }
}

function poolStopping(): Error {
  return new Error('The pool is stopping.');
}
