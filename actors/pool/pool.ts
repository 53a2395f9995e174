/**
 * The pool of threads that sign, verify and move files. A task that takes its thread down, or overruns its
 * deadline, costs itself only: the thread is replaced and the task is answered with a code.
 */
import { Piscina } from 'piscina';
import type { Clock, Log } from '../../runtime/index.ts';
import type { WorkerSetup } from './setup.ts';
import type { PoolAnswer, PoolTask } from './tasks.ts';

export interface SigningPoolOptions {
  /** Threads. Whole number, at least 1. */
  readonly threads: number;
  /** Milliseconds after which a task is given up and its thread replaced. @default 15 minutes */
  readonly deadlineMs?: number;
  /** Tasks that may wait for a thread. @default 4096 */
  readonly queueLimit?: number;
  readonly setup: WorkerSetup;
  readonly clock: Clock;
  readonly log: Log;
}

const DEADLINE = 15 * 60_000;
const QUEUE_LIMIT = 4096;
const TASKS_PER_THREAD = 2;

export class SigningPool {
  readonly #piscina: Piscina;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #deadline: number;
  readonly #stages = new Map<PoolTask['task'], { tasks: number; busyMs: number; wholeMs: number }>();

  constructor(options: SigningPoolOptions) {
    this.#clock = options.clock;
    this.#log = options.log;
    this.#deadline = options.deadlineMs ?? DEADLINE;
    this.#piscina = new Piscina({
      filename: new URL('./worker.js', import.meta.url).href,
      name: 'run',
      minThreads: options.threads,
      maxThreads: options.threads,
      // A thread that is done finds its next task waiting, and need not be woken for it.
      concurrentTasksPerWorker: TASKS_PER_THREAD,
      maxQueue: options.queueLimit ?? QUEUE_LIMIT,
      idleTimeout: Number.POSITIVE_INFINITY,
      recordTiming: false,
      workerData: options.setup,
    });
    this.#piscina.on('error', (error: Error) => {
      this.#log.error('A pool thread failed outside a task.', { Error: error.message });
    });
  }

  /** Never rejects: every way a task can end is an answer. */
  async run<Task extends PoolTask>(task: Task): Promise<PoolAnswer<Task['task']>> {
    const deadline = new AbortController();
    const start = this.#clock.elapsed();
    const cancel = this.#clock.after(this.#deadline, () => deadline.abort());
    try {
      const answer: PoolAnswer<Task['task']> = await this.#piscina.run(task, { signal: deadline.signal });
      this.#count(task.task, answer.ms, this.#clock.elapsed() - start);
      return answer;
    } catch (error) {
      return this.#lost(task, deadline.signal.aborted, error);
    } finally {
      cancel();
    }
  }

  #count(task: PoolTask['task'], busyMs: number, wholeMs: number): void {
    const stage = this.#stages.get(task) ?? { tasks: 0, busyMs: 0, wholeMs: 0 };
    stage.tasks += 1;
    stage.busyMs += busyMs;
    stage.wholeMs += wholeMs;
    this.#stages.set(task, stage);
  }

  /** Per kind of task: how many, how long threads worked on them, how long they took with waiting for a thread. */
  get stages(): ReadonlyMap<
    PoolTask['task'],
    { readonly tasks: number; readonly busyMs: number; readonly wholeMs: number }
  > {
    return this.#stages;
  }

  #lost(task: PoolTask, late: boolean, error: unknown): PoolAnswer<never> {
    const reason = error instanceof Error ? error.message : String(error);
    this.#log.error('A pool task was lost.', { Task: task.task, JobId: task.jobId, Error: reason });
    return late
      ? {
          ok: false,
          ms: this.#deadline,
          code: 'pool.deadline',
          message: `The ${task.task} task took longer than ${this.#deadline / 1000} s and was given up.`,
        }
      : {
          ok: false,
          ms: 0,
          code: 'pool.worker-lost',
          message: `The thread of the ${task.task} task was lost: ${reason}`,
        };
  }

  /** Starts the threads' work early, so that the first job does not wait for keys to load. */
  async warm(): Promise<void> {
    await Promise.all(this.#piscina.threads.map(() => this.#piscina.run({ task: 'warm' })));
  }

  /** Waits for running tasks, drops waiting ones, ends the threads. */
  async close(): Promise<void> {
    await this.#piscina.close();
  }
}
