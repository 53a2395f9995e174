/**
 * Threads for tasks of one class with their queue.
 *
 * Waiting tasks go to the next free thread in small batches: the hand-over of a task costs about a tenth of signing a
 * small file, and a batch pays it once. A batch holds tasks of one organization; organizations take turns. When a
 * thread is lost or its batch exceeds the time limit, each task of the batch is retried alone, so that a bad task
 * affects only itself.
 */
import { setImmediate } from 'node:timers/promises';
import type { Clock, Log } from '@sealwright/runtime';
import { Piscina } from 'piscina';
import { HeartbeatCell } from './heartbeat-cell.ts';
import { DeadlineMissed } from './pool-failures.ts';
import type { PoolReply, PoolTask } from './tasks.ts';
import type { ThreadData, WorkerSetup } from './worker-setup.ts';

/**
 * One thread of the pool, replaced when it is lost or a batch exceeds its time limit.
 *
 * A thread accepts batches and is terminated only after it has loaded: terminating one while it loads a native module
 * aborts the process.
 */
interface PoolThreadOptions {
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
const RELOAD_PAUSE_MS = 1000;

/** Maximum wait for a terminated thread that is inside a native call, milliseconds. */
const END_WAIT_MS = 5000;

export class PoolThread {
  readonly #options: PoolThreadOptions;
  readonly heartbeat = new HeartbeatCell();
  #piscina!: Piscina;
  /** Of replaced threads: resolves when one has ended. */
  readonly #ends = new WeakMap<Piscina, Promise<void>>();
  #loaded!: Promise<boolean>;
  #isLoaded = false;
  #isEnding = false;
  #running = 0;

  constructor(options: PoolThreadOptions) {
    this.#options = options;
    this.#start();
  }

  /** True while it starts, or its successor does. */
  get isLoading(): boolean {
    return !this.#isLoaded && !this.#isEnding;
  }

  /** Number of batches it can accept now. */
  get room(): number {
    return this.#isLoaded ? this.#options.atOnce - this.#running : 0;
  }

  /**
   * Rejects when the thread is lost; with `DeadlineMissed` when this batch exceeded its time limit. A terminated thread
   * first returns from a native call, which may write a file: the caller, who removes the files of the task, learns of
   * the end when nothing can follow, or after `END_WAIT_MS`.
   */
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
      await this.#ends.get(piscina);
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
      else this.#options.clock.after(RELOAD_PAUSE_MS, () => this.#loaded === loaded && this.#replace());
    });
  }

  /** Terminates the loaded thread and starts another one. */
  #replace(): void {
    const ended = this.#piscina;
    this.#start();
    const end = new Promise<void>((resolve) => {
      const cancel = this.#options.clock.after(END_WAIT_MS, resolve);
      void ended.destroy().finally(() => {
        cancel();
        resolve();
      });
    });
    this.#ends.set(ended, end);
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

/**
 * Round-robin queue over partitions, so that a partition with many items does not delay the others. FIFO within a
 * partition.
 */
export class FairQueue<Item> {
  /** The next partition to serve comes first. */
  readonly #partitions = new Map<string, Item[]>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Number of items of one partition. */
  sizeOf(partition: string): number {
    return this.#partitions.get(partition)?.length ?? 0;
  }

  push(partition: string, item: Item): void {
    const items = this.#partitions.get(partition);
    if (items === undefined) this.#partitions.set(partition, [item]);
    else items.push(item);
    this.#size += 1;
  }

  /** Inserts an item at the head of its partition. */
  unshift(partition: string, item: Item): void {
    const items = this.#partitions.get(partition);
    if (items === undefined) this.#partitions.set(partition, [item]);
    else items.unshift(item);
    this.#size += 1;
  }

  /**
   * Removes the first items of the next partition and moves on to the one after it.
   * @param lengthOf number of waiting items that may be taken together; 0 skips the partition
   */
  dequeue(
    lengthOf: (partition: string, items: readonly Item[]) => number,
  ): { readonly partition: string; readonly items: readonly Item[] } | undefined {
    for (const [partition, waiting] of this.#partitions) {
      const length = lengthOf(partition, waiting);
      if (length <= 0) continue;
      const items = waiting.splice(0, length);
      this.#size -= items.length;
      this.#partitions.delete(partition);
      if (waiting.length > 0) this.#partitions.set(partition, waiting);
      return { partition, items };
    }
    return undefined;
  }
}

/** A task and its caller. */
export interface Waiting {
  readonly task: PoolTask;
  /** Organization; `''` for the service itself. */
  readonly partition: string;
  /** Milliseconds from the start of its batch. */
  readonly deadlineMs: number;
  /** Monotonic time of the request, milliseconds. */
  readonly since: number;
  /** Size of its file; 0 where unknown. */
  readonly bytes: number;
  /** True: its batch was lost with a thread, and this task may be the cause. */
  isSuspect: boolean;
  readonly answer: (answer: PoolReply) => void;
  /** Called instead when its thread was lost or exceeded the time limit. */
  readonly lost: (error: unknown) => void;
}

/** Shares of the waiting tasks. */
export interface TaskShares {
  /** One of all threads. */
  readonly ofAll: number;
  /** One of the threads that are free now. */
  readonly ofFree: number;
}

/** Tasks of a batch, at most, whose files have more than `LIGHT_BYTES` together. */
const HEAVY_BATCH = 8;

/** Files that take some 100 ms together. A batch of larger ones would keep one thread for seconds while another is idle. */
const LIGHT_BYTES = 1 << 20;

/** Number of the first tasks, at most `most`, that one thread takes. @param share of all threads in the waiting tasks */
function lightEnough(items: readonly Waiting[], most: number, share: number): number {
  let bytes = 0;
  for (const [taken, item] of items.slice(0, most).entries()) {
    bytes += item.bytes;
    if (taken >= Math.min(share, HEAVY_BATCH) && bytes > LIGHT_BYTES) return taken;
  }
  return most;
}

export interface WorkerGroupOptions extends Omit<PoolThreadOptions, 'onLoaded' | 'isWarmedUp'> {
  readonly threads: number;
  /** Number of tasks in a batch that begins with this task. */
  readonly batchSize: (first: PoolTask, shares: TaskShares) => number;
  /** Threads that start at once. The others, up to `threads`, start when tasks wait for one. */
  readonly eagerThreads: number;
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
  readonly #threads: PoolThread[] = [];
  #pumping: Promise<void> | undefined;
  #isClosed = false;
  #isRetrying = false;

  constructor(options: WorkerGroupOptions) {
    this.#options = options;
    for (let n = 0; n < options.eagerThreads; n += 1) this.#start(true);
  }

  /** Threads that it may use; 0 before the first has started. */
  get threads(): number {
    return this.#threads.length === 0 ? 0 : this.#options.threads;
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

  /** @param isWarmedUp false where a task waits for the thread, which it would delay */
  #start(isWarmedUp: boolean): void {
    const options = { ...this.#options, isWarmedUp, onLoaded: () => this.#pump() };
    this.#threads.push(new PoolThread(options));
  }

  /** Starts threads until as many load as tasks wait. */
  #grow(): void {
    let loading = this.#threads.filter((thread) => thread.isLoading).length;
    try {
      for (; loading < this.#queue.size && this.#threads.length < this.#options.threads; loading += 1)
        this.#start(false);
    } catch (error) {
      this.#growLater(error);
    }
  }

  /** Tries again after a pause: the system may make no more threads now. Those that run take the tasks meanwhile. */
  #growLater(error: unknown): void {
    if (this.#isRetrying) return;
    this.#isRetrying = true;
    this.#options.log.error('A pool thread could not start.', { Error: String(error) });
    this.#options.clock.after(RELOAD_PAUSE_MS, () => {
      this.#isRetrying = false;
      this.#pump();
    });
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
      // A thread that has tasks shares its time among them, which another one would have.
      if (thread === undefined || thread.room < this.#options.atOnce) this.#grow();
      if (thread === undefined) return;
      const unstarted = this.#options.threads - this.#threads.length;
      const free = this.#threads.filter(({ room }) => room > 0).length + unstarted;
      const shares = {
        ofAll: Math.ceil(this.#queue.size / this.#options.threads),
        ofFree: Math.ceil(this.#queue.size / free),
      };
      const taken = this.#queue.dequeue((partition, items) => {
        if ((this.#runningOf.get(partition) ?? 0) >= bound(partition)) return 0;
        const suspect = items.findIndex(({ isSuspect }) => isSuspect);
        if (suspect === 0) return 1;
        const [first] = items;
        if (first === undefined) return 0;
        const most = Math.min(
          this.#options.batchSize(first.task, shares),
          suspect < 0 ? items.length : suspect,
        );
        return lightEnough(items, most, shares.ofAll);
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
