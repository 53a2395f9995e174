/**
 * The pool of threads that sign, verify and move files.
 *
 * Tasks that wait while every thread is busy go to the next free one in small batches: passing a task between
 * threads costs about a tenth of signing a small file, and a batch pays it once. A batch whose thread is lost, or
 * that overruns the deadline, is taken apart and each of its tasks is tried once more alone, so that a bad task
 * costs itself only: the thread is replaced and the task is answered with a code.
 */
import { setImmediate } from 'node:timers/promises';
import { Piscina } from 'piscina';
import type { Clock, Log } from '../../runtime/index.ts';
import { PatientThreads } from './patient-threads.ts';
import type { WorkerSetup } from './setup.ts';
import type { PoolAnswer, PoolTask } from './tasks.ts';

export interface SigningPoolOptions {
  /** Threads. Whole number, at least 1. */
  readonly threads: number;
  /** Milliseconds that a thread may work on one batch before it is replaced. @default 15 minutes */
  readonly deadlineMs?: number;
  /**
   * Most megabytes of heap of one thread. What is allocated bit by bit beyond them ends the thread alone; one piece of many
   * megabytes at the limit ends the process (decision 0035). @default 1024
   */
  readonly memory?: number;
  readonly setup: WorkerSetup;
  /**
   * True for tasks that mostly wait for others. They have threads of their own, so that a slow authority holds up
   * nobody else. @default none
   */
  readonly patient?: (task: PoolTask) => boolean;
  readonly clock: Clock;
  readonly log: Log;
}

/** What one kind of task has cost so far, in milliseconds over all tasks. */
export interface StageCost {
  readonly tasks: number;
  /** Work of the threads. */
  readonly busyMs: number;
  /** From asking to the answer, with waiting for a thread. */
  readonly wholeMs: number;
}

const DEADLINE = 15 * 60_000;

/** Files are read in pieces or as buffers, which are not part of the heap; this is far beyond what any task needs. */
const MEMORY = 1024;

/** Large enough to save the passing on, small enough that a large file holds up few others. */
const BATCH_LIMIT = 8;

interface Waiting {
  readonly task: PoolTask;
  readonly since: number;
  readonly answer: (answer: PoolAnswer) => void;
}

export class SigningPool {
  readonly #piscina: Piscina;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #deadline: number;
  readonly #threads: number;
  readonly #stages = new Map<PoolTask['task'], { tasks: number; busyMs: number; wholeMs: number }>();
  readonly #waiting: Waiting[] = [];
  readonly #isPatient: (task: PoolTask) => boolean;
  readonly #patient: PatientThreads;
  /** For patient tasks whose shared thread was lost: one of them may be why. */
  readonly #alone: PatientThreads;
  #batches = 0;
  #pumping: Promise<void> | undefined;
  /** Every thread has loaded what it runs. Ending one while it loads can take the process down with it. */
  readonly #loaded: Promise<unknown>;

  constructor(options: SigningPoolOptions) {
    this.#clock = options.clock;
    this.#log = options.log;
    this.#deadline = options.deadlineMs ?? DEADLINE;
    this.#threads = options.threads;
    this.#isPatient = options.patient ?? (() => false);
    const filename = new URL('./worker.js', import.meta.url).href;
    const resourceLimits = { maxOldGenerationSizeMb: options.memory ?? MEMORY };
    const patient = {
      threads: options.threads,
      deadlineMs: this.#deadline,
      filename,
      workerData: options.setup,
      resourceLimits,
      clock: options.clock,
      log: options.log,
      missed: () => new DeadlineMissed(this.#deadline),
    };
    this.#patient = new PatientThreads(patient);
    this.#alone = new PatientThreads({ ...patient, atOnce: 1 });
    this.#piscina = new Piscina({
      filename,
      name: 'run',
      minThreads: options.threads,
      maxThreads: options.threads,
      idleTimeout: Number.POSITIVE_INFINITY,
      recordTiming: false,
      workerData: options.setup,
      resourceLimits,
    });
    this.#piscina.on('error', (error: Error) => {
      this.#log.error('A pool thread failed outside a task.', { Error: error.message });
    });
    // As many empty batches as there are threads: each gets one.
    this.#loaded = Promise.allSettled(Array.from({ length: options.threads }, () => this.#piscina.run([])));
  }

  /** Never rejects: every way a task can end is an answer. */
  run<Task extends PoolTask>(task: Task): Promise<PoolAnswer<Task['task']>> {
    return new Promise((resolve) => {
      const answer = resolve as (answer: PoolAnswer) => void;
      const waiting = { task, since: this.#clock.elapsed(), answer };
      if (this.#isPatient(task)) {
        void this.#waitFor(waiting);
        return;
      }
      this.#waiting.push(waiting);
      // Tasks asked for in the same turn of the event loop go together.
      this.#pumping ??= setImmediate().then(() => {
        this.#pumping = undefined;
        this.#pump();
      });
    });
  }

  /** Threads there are, those at work, tasks that wait for one. */
  get load(): { readonly threads: number; readonly busy: number; readonly waiting: number } {
    return { threads: this.#piscina.threads.length, busy: this.#batches, waiting: this.#waiting.length };
  }

  /** Per kind of task. */
  get stages(): ReadonlyMap<PoolTask['task'], StageCost> {
    return this.#stages;
  }

  /** Ends the threads at once, whatever they are at; what was asked of them is answered as lost. */
  async destroy(): Promise<void> {
    await Promise.all([this.#piscina.destroy(), this.#patient.destroy(), this.#alone.destroy()]);
  }

  /** Waits for running tasks, drops waiting ones, ends the threads. */
  async close(): Promise<void> {
    await this.#loaded;
    await Promise.all([this.#piscina.close(), this.#patient.close(), this.#alone.close()]);
  }

  #pump(): void {
    while (this.#waiting.length > 0 && this.#batches < this.#threads) {
      const share = Math.ceil(this.#waiting.length / this.#threads);
      void this.#work(this.#waiting.splice(0, Math.min(share, BATCH_LIMIT)));
    }
  }

  async #work(batch: readonly Waiting[]): Promise<void> {
    this.#batches += 1;
    try {
      await this.#answer(batch);
    } catch (error) {
      for (const alone of batch) {
        if (batch.length === 1) this.#give(alone, this.#lost(alone.task, error));
        else
          await this.#answer([alone]).catch((own: unknown) => this.#give(alone, this.#lost(alone.task, own)));
      }
    } finally {
      this.#batches -= 1;
      this.#pump();
    }
  }

  /** A patient task is tried once more, in a thread of its own, when its thread was lost; one that was late is not. */
  async #waitFor(waiting: Waiting): Promise<void> {
    const { task } = waiting;
    const attempt = async (threads: PatientThreads) => {
      const answer = await threads.run(task);
      this.#give(waiting, answer ?? this.#lost(task, new Error('it was not answered')));
    };
    try {
      await attempt(this.#patient);
    } catch (error) {
      if (error instanceof DeadlineMissed) this.#give(waiting, this.#lost(task, error));
      else await attempt(this.#alone).catch((own: unknown) => this.#give(waiting, this.#lost(task, own)));
    }
  }

  /** Rejects when the thread is lost or late; no task of the batch is answered then. */
  async #answer(batch: readonly Waiting[]): Promise<void> {
    const deadline = new AbortController();
    const cancel = this.#clock.after(this.#deadline, () =>
      deadline.abort(new DeadlineMissed(this.#deadline)),
    );
    try {
      const tasks = batch.map(({ task }) => task);
      const answers: readonly PoolAnswer[] = await this.#piscina.run(tasks, { signal: deadline.signal });
      for (const [index, waiting] of batch.entries()) {
        this.#give(waiting, answers[index] ?? this.#lost(waiting.task, new Error('it was not answered')));
      }
    } catch (error) {
      throw deadline.signal.aborted ? deadline.signal.reason : error;
    } finally {
      cancel();
    }
  }

  #give({ task, since, answer }: Waiting, given: PoolAnswer): void {
    const stage = this.#stages.get(task.task) ?? { tasks: 0, busyMs: 0, wholeMs: 0 };
    stage.tasks += 1;
    stage.busyMs += given.ms;
    stage.wholeMs += this.#clock.elapsed() - since;
    this.#stages.set(task.task, stage);
    answer(given);
  }

  #lost(task: PoolTask, error: unknown): PoolAnswer {
    const late = error instanceof DeadlineMissed;
    const reason = error instanceof Error ? error.message : String(error);
    this.#log.error('A pool task was lost.', { Task: task.task, ...subjectOf(task), Error: reason });
    return late
      ? { ok: false, ms: this.#deadline, code: 'pool.deadline', message: `The ${task.task} task ${reason}` }
      : {
          ok: false,
          ms: 0,
          code: 'pool.worker-lost',
          message: `The thread of the ${task.task} task was lost: ${reason}`,
        };
  }
}

/** What a task was about, for the log. */
function subjectOf(task: PoolTask): { readonly JobId: string } | { readonly DocumentId: string } {
  return 'jobId' in task ? { JobId: task.jobId } : { DocumentId: task.documentId };
}

class DeadlineMissed extends Error {
  constructor(deadline: number) {
    super(`was given up after ${deadline / 1000} s.`);
    this.name = 'DeadlineMissed';
  }
}
