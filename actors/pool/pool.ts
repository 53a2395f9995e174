/**
 * Thread pool that signs, verifies and moves files.
 *
 * Tasks wait in three queues with threads of their own: small tasks, large tasks, and tasks that mostly wait for the
 * network. A large task does not delay small ones, and a slow authority delays only tasks that need it. Each queue
 * serves organizations round robin. Every task has a time and a memory limit; exceeding one returns an error code and
 * replaces the thread.
 */
import type { Clock, Log } from '@sealwright/runtime';
import { AnswersTogether } from './answers-together.ts';
import { lostAnswer, subjectOf } from './pool-failures.ts';
import type { PoolReply, PoolTask } from './tasks.ts';
import {
  type RunningBatch,
  type TaskShares,
  type Waiting,
  WorkerGroup,
  type WorkerGroupOptions,
} from './worker-group.ts';
import type { WorkerSetup } from './worker-setup.ts';

/** Finds tasks that run longer than expected, before their time limit ends them. */
interface StalledTask {
  readonly task: string;
  /** Id of the job or document of the task. */
  readonly subject: string;
  readonly runningMs: number;
  /** Time limit, counted from the task's start. */
  readonly deadlineMs: number;
  /** `computing`: the thread does not respond; `waiting`: the thread responds, the task makes no progress. */
  readonly state: 'computing' | 'waiting';
}

/**
 * Milliseconds without a heartbeat after which a thread counts as unresponsive: an idle event loop beats every second.
 */
const SILENT_MS = 5000;

/** Oldest first. */
function stalledTasks(
  batches: Iterable<RunningBatch>,
  clock: Pick<Clock, 'now' | 'elapsed'>,
): readonly StalledTask[] {
  const elapsed = clock.elapsed();
  const now = clock.now();
  const found: StalledTask[] = [];
  for (const { tasks, thread, startedAt, deadlineMs } of batches) {
    const runningMs = elapsed - startedAt;
    if (runningMs < stalledAfter(deadlineMs)) continue;
    const state = now - thread.heartbeat.lastBeat > SILENT_MS ? 'computing' : 'waiting';
    for (const { task } of tasks) {
      const subject = subjectOf(task);
      const id = 'JobId' in subject ? subject.JobId : subject.DocumentId;
      found.push({ task: task.task, subject: id, runningMs, deadlineMs, state });
    }
  }
  return found.sort((one, other) => other.runningMs - one.runningMs);
}

/** Organization and size of a task. */
interface TaskScope {
  /** Id of the requesting organization, the unit of fair queuing; absent: the service itself. */
  readonly organization?: string | undefined;
  /** Size of the task's file in bytes, where known. */
  readonly bytes?: number | undefined;
}

/** Size in bytes from which a task counts as large and runs on separate threads. */
const LARGE_BYTES = 4 * 1024 * 1024;

/** Time limits of interactive tasks, milliseconds, plus one second per 2 MiB. Others use the limit of the pool. */
const INTERACTIVE_MS: { readonly [Name in PoolTask['task']]?: number } = {
  'portal.store': 30_000,
  'portal.inspect': 30_000,
  'portal.text-tags': 30_000,
  'portal.first-page-size': 5_000,
  // The first one of a thread loads the library: seconds on a busy machine. The document is shown meanwhile.
  'portal.first-page': 15_000,
  'portal.picture': 30_000,
  'portal.describe': 30_000,
  'portal.begin': 30_000,
  'portal.render': 30_000,
  'portal.generation': 30_000,
  'portal.fill': 30_000,
  'portal.merge': 120_000,
  'portal.zip': 120_000,
};
const BYTES_PER_SECOND = 2 * 1024 * 1024;

/** Fraction of its time limit after which a task counts as stalled. */
const STALLED_PART = 1 / 4;

/** Limits of one task: duration and choice of threads. */
function isLarge({ bytes = 0 }: TaskScope): boolean {
  return bytes >= LARGE_BYTES;
}

/** Time limit of a task in milliseconds. @param deadlineMs the maximum for any task */
function deadlineOf({ task }: PoolTask, { bytes = 0 }: TaskScope, deadlineMs: number): number {
  const interactive = INTERACTIVE_MS[task];
  if (interactive === undefined) return deadlineMs;
  return Math.min(deadlineMs, interactive + (bytes / BYTES_PER_SECOND) * 1000);
}

/** Milliseconds after which a running task counts as stalled. */
function stalledAfter(deadlineMs: number): number {
  return deadlineMs * STALLED_PART;
}

export interface SigningPoolOptions {
  /** Maximum number of threads; whole number, at least 1. */
  readonly threads: number;
  /** Threads that start, and run the code of small tasks once, before the first task. @default 1 */
  readonly eagerThreads?: number | undefined;
  /**
   * Time limit of tasks (`Pipeline:TaskTimeoutSeconds`), milliseconds; interactive tasks have a lower one. @default 15
   * minutes
   */
  readonly deadlineMs?: number;
  /**
   * Heap limit per thread, MiB. Gradual growth beyond it ends only the thread; one very large allocation at the limit
   * ends the process (decision 0035). @default 1024
   */
  readonly memory?: number;
  readonly setup: WorkerSetup;
  /** True for tasks that mostly wait for the network; they have threads of their own. @default none */
  readonly waitsForNetwork?: (task: PoolTask) => boolean;
  readonly clock: Clock;
  readonly log: Log;
}

/** Accumulated cost of one kind of task, milliseconds. */
export interface StageCost {
  readonly tasks: number;
  /** Working time of the threads. */
  readonly busyMs: number;
  /** Time from the request to the reply, including the queue. */
  readonly wholeMs: number;
}

/** Default time limit of a task, milliseconds. */
const DEADLINE_MS = 15 * 60_000;

/** Default heap limit, MiB. Files are read in chunks or as buffers outside the heap: no task needs nearly as much. */
const HEAP_MIB = 1024;

/**
 * Tasks per batch: large enough to amortize the hand-over, small enough that a slow task delays few others. A batch is
 * answered as one, so its jobs share steps in one transaction, syncs and the next claim: a free thread takes up to two
 * shares of them while others are busy, if their files are small. People wait for the other tasks.
 */
const BATCH_SIZE = { job: 16, portal: 8 };

function batchSize({ task }: PoolTask, { ofAll, ofFree }: TaskShares): number {
  if (task.startsWith('portal.')) return Math.min(ofAll, BATCH_SIZE.portal);
  return Math.min(ofFree, 2 * ofAll, BATCH_SIZE.job);
}

/** Concurrent tasks in one I/O thread: the maximum number of jobs in flight (`Pipeline:MaxConcurrency`). */
const WAITING_AT_ONCE = 64;

/** Maximum number of waiting tasks per organization and queue. Tasks of the service itself are bounded by their callers. */
const MAX_WAITING = 1000;

/** Waiting tasks per thread from which a further one is not quick: seconds, for files just below `LARGE_BYTES`. */
const MAX_QUICK_WAITING = 100;

export class SigningPool {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #deadline: number;
  readonly #threads: number;
  readonly #stages = new Map<PoolTask['task'], { tasks: number; busyMs: number; wholeMs: number }>();
  readonly #waitsForNetwork: (task: PoolTask) => boolean;
  readonly #small: WorkerGroup;
  readonly #large: WorkerGroup;
  /** Threads for tasks that wait for the network; many tasks share a thread. */
  readonly #io: WorkerGroup;
  /** Threads for network tasks whose shared thread was lost and which may be the cause. */
  readonly #ioAlone: WorkerGroup;
  readonly #together: AnswersTogether;

  constructor(options: SigningPoolOptions) {
    this.#clock = options.clock;
    this.#log = options.log;
    this.#deadline = options.deadlineMs ?? DEADLINE_MS;
    this.#threads = options.threads;
    this.#together = new AnswersTogether(options.clock);
    this.#waitsForNetwork = options.waitsForNetwork ?? (() => false);
    const shared: Omit<WorkerGroupOptions, 'atOnce' | 'batchSize' | 'eagerThreads'> = {
      threads: options.threads,
      filename: new URL('./worker/worker.js', import.meta.url).href,
      setup: { ...options.setup, threads: options.threads },
      resourceLimits: { maxOldGenerationSizeMb: options.memory ?? HEAP_MIB },
      clock: options.clock,
      log: options.log,
    };
    this.#small = new WorkerGroup({
      ...shared,
      atOnce: 1,
      batchSize,
      eagerThreads: options.eagerThreads ?? 1,
    });
    const lazy = { ...shared, batchSize: () => 1, eagerThreads: 0 };
    this.#large = new WorkerGroup({ ...lazy, atOnce: 1 });
    this.#ioAlone = new WorkerGroup({ ...lazy, threads: 1, atOnce: 1 });
    this.#io = new WorkerGroup({ ...lazy, atOnce: WAITING_AT_ONCE, retryIn: this.#ioAlone });
  }

  /** Never rejects: every outcome is a reply. Codes: those of the task, `pool.*`. */
  run<Task extends PoolTask>(task: Task, scope: TaskScope = {}): Promise<PoolReply<Task['task']>> {
    const group = this.#groupOf(task, scope);
    const partition = scope.organization ?? '';
    if (partition !== '' && group.waitingOf(partition) >= MAX_WAITING)
      return Promise.resolve({
        ok: false,
        ms: 0,
        code: 'pool.full',
        message: 'Too many tasks of the organization wait for the pool.',
      });
    // People wait for the tasks of the portal.
    const isTogether = group === this.#io && (task.task === 'sign' || task.task === 'release');
    return new Promise((resolve) => {
      const waiting: Waiting = {
        task,
        partition,
        deadlineMs: deadlineOf(task, scope, this.#deadline),
        since: this.#clock.elapsed(),
        bytes: scope.bytes ?? 0,
        isSuspect: false,
        answer: (answer) => {
          this.#count(waiting, answer);
          const give = () => resolve(answer as PoolReply<Task['task']>);
          if (isTogether) this.#together.add(give);
          else give();
        },
        lost: (error) => this.#lost(waiting, error),
      };
      group.add(waiting);
    });
  }

  /** Most threads of each queue. */
  get threads(): number {
    return this.#threads;
  }

  /** False for tasks of large files, those that wait for the network, and all while many wait. */
  isQuick(task: PoolTask, scope: TaskScope): boolean {
    const group = this.#groupOf(task, scope);
    return group === this.#small && group.waiting < MAX_QUICK_WAITING * this.#threads;
  }

  /**
   * Number of threads, busy threads and waiting tasks of the queues for small and large tasks. I/O threads and their
   * tasks are not counted.
   */
  get load(): { readonly threads: number; readonly busy: number; readonly waiting: number } {
    const groups = [this.#small, this.#large];
    const sum = (of: (group: WorkerGroup) => number) => groups.reduce((total, group) => total + of(group), 0);
    return {
      threads: sum(({ threads }) => threads),
      busy: sum(({ running }) => running.size),
      waiting: sum(({ waiting }) => waiting),
    };
  }

  /** Cost per kind of task. */
  get stages(): ReadonlyMap<PoolTask['task'], StageCost> {
    return this.#stages;
  }

  /** Tasks that run longer than expected, oldest first. */
  stalled(): readonly StalledTask[] {
    return stalledTasks(this.#batches(), this.#clock);
  }

  /** Terminates the threads at once; running tasks are answered as lost. */
  async destroy(): Promise<void> {
    await Promise.all(this.#groups().map((group) => group.destroy()));
    this.#together.give();
  }

  /** Waits for running tasks, drops waiting ones, terminates the threads. */
  async close(): Promise<void> {
    await Promise.all(this.#groups().map((group) => group.close()));
    this.#together.give();
  }

  #groups(): readonly WorkerGroup[] {
    return [this.#small, this.#large, this.#io, this.#ioAlone];
  }

  #groupOf(task: PoolTask, scope: TaskScope): WorkerGroup {
    if (this.#waitsForNetwork(task)) return this.#io;
    return isLarge(scope) ? this.#large : this.#small;
  }

  *#batches(): Generator<RunningBatch> {
    for (const group of this.#groups()) yield* group.running;
  }

  #count({ task, since }: Waiting, { ms }: PoolReply): void {
    const stage = this.#stages.get(task.task) ?? { tasks: 0, busyMs: 0, wholeMs: 0 };
    stage.tasks += 1;
    stage.busyMs += ms;
    stage.wholeMs += this.#clock.elapsed() - since;
    this.#stages.set(task.task, stage);
  }

  #lost({ task, answer }: Waiting, error: unknown): void {
    const lost = lostAnswer(task, error);
    this.#log.error('A pool task was lost.', { Task: task.task, ...subjectOf(task), Error: lost.message });
    answer(lost);
  }
}
