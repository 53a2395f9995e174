/**
 * Time, randomness and network of a simulation, all from one seed: the same seed gives the same order of everything.
 * Code of the product runs between two events until it waits for another one.
 */
import { type Clock, Retryable } from '@sealwright/runtime';
import type { Link } from '@sealwright/runtime/testing';

/** Milliseconds after which a node gives up waiting for an answer. */
const ANSWER_TIMEOUT_MS = 1000;

/** Maximum time in which the database may run a statement whose node gave up, milliseconds. */
const LATE_MS = 4000;

/** Random numbers from a seed (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A process: what it has scheduled does not happen once it is killed, and waits while it is suspended. */
export interface SimulatedProcess {
  isAlive: boolean;
  suspendedUntil: number;
  /** Difference of its wall clock, milliseconds. */
  readonly skew: number;
}

interface ScheduledEvent {
  readonly at: number;
  readonly order: number;
  readonly process: SimulatedProcess | undefined;
  readonly task: () => void;
}

export class SimulatedCluster {
  readonly random: () => number;
  readonly trace: string[] = [];
  /** Statements that reached the database. */
  statements = 0;
  /** True: statements are delayed and lost. */
  isRough = true;
  /** Times from which and until which the database answers nothing, in the order of their starts. */
  readonly #outages: { readonly from: number; readonly until: number }[] = [];
  #now = 0;
  #order = 0;
  /** Binary heap, earliest first. */
  readonly #events: ScheduledEvent[] = [];

  constructor(seed: number) {
    this.random = randomFrom(seed);
  }

  get now(): number {
    return this.#now;
  }

  /** Whole number from `low` to `high`. */
  between(low: number, high: number): number {
    return low + Math.floor(this.random() * (high - low + 1));
  }

  /** Takes the database away for some milliseconds. */
  beginOutage(length: number): void {
    this.say(`the database is away for ${length} ms`);
    const until = Math.max(this.#now + length, this.#outages.at(-1)?.until ?? 0);
    this.#outages.push({ from: this.#now, until });
  }

  /** True when the database was away for at least `length` milliseconds, and came back after `since`. */
  hadOutage(length: number, since: number): boolean {
    return this.#outages.some(
      ({ from, until }) => until > since && Math.min(until, this.#now) - from >= length,
    );
  }

  say(text: string): void {
    this.trace.push(`${String(this.#now).padStart(6)} ${text}`);
  }

  schedule(delay: number, task: () => void, process?: SimulatedProcess): () => void {
    let isCanceled = false;
    this.#push({
      at: this.#now + Math.max(0, delay),
      order: this.#order++,
      process,
      task: () => {
        if (!isCanceled) task();
      },
    });
    return () => {
      isCanceled = true;
    };
  }

  /** Runs events until `isOver`, at most until `end`. False when the end came first. */
  async run(end: number, isOver: () => boolean): Promise<boolean> {
    for (;;) {
      if (isOver()) return true;
      const event = this.#pop();
      if (event === undefined || event.at > end) return false;
      const { process, at } = event;
      if (process !== undefined && !process.isAlive) continue;
      if (process !== undefined && process.suspendedUntil > at) {
        this.#push({ ...event, at: process.suspendedUntil });
        continue;
      }
      this.#now = at;
      event.task();
      // Everything that this event caused at once.
      await new Promise(setImmediate);
    }
  }

  /** The clock of a process. */
  clockOf(process: SimulatedProcess): Clock {
    const after = (delay: number, task: () => void) => this.schedule(delay, task, process);
    return {
      now: () => Math.floor(this.#now + process.skew),
      elapsed: () => this.#now,
      after,
      sleep: (delay, signal) =>
        new Promise((resolve, reject) => {
          after(delay, () => (signal?.aborted ? reject(signal.reason) : resolve()));
        }),
    };
  }

  /** The way of a process to the database, with delays that reorder statements, and losses. */
  linkOf(process: SimulatedProcess): Link {
    return (statement) =>
      new Promise((resolve, reject) => {
        const lost = () => reject(new Retryable('store.unavailable', 'The connection was lost.'));
        if (this.#now < (this.#outages.at(-1)?.until ?? 0)) {
          this.schedule(this.between(1, 50), lost, process);
          return;
        }
        const fate = this.isRough ? this.random() : 1;
        const run = (answer: (result: () => void) => void): void => {
          this.statements += 1;
          statement().then(
            (result) => answer(() => resolve(result)),
            (error) => answer(() => reject(error)),
          );
        };
        if (fate < 0.01) this.schedule(ANSWER_TIMEOUT_MS, lost, process);
        else if (fate < 0.02) {
          this.say('a statement runs, and its answer is lost');
          this.schedule(this.between(0, LATE_MS), () => run(() => {}));
          this.schedule(ANSWER_TIMEOUT_MS, lost, process);
        } else {
          const slow = fate < 0.1 ? 300 : 4;
          this.schedule(this.between(0, slow), () =>
            run((answer) => this.schedule(this.between(0, slow), answer, process)),
          );
        }
      });
  }

  #push(event: ScheduledEvent): void {
    const heap = this.#events;
    let at = heap.push(event) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = heap[parent];
      if (above === undefined || isBefore(above, event)) break;
      heap[at] = above;
      at = parent;
    }
    heap[at] = event;
  }

  #pop(): ScheduledEvent | undefined {
    const heap = this.#events;
    const [first] = heap;
    const last = heap.pop();
    if (first === undefined || last === undefined || heap.length === 0) return first;
    let at = 0;
    for (;;) {
      const left = heap[2 * at + 1];
      const right = heap[2 * at + 2];
      if (left === undefined) break;
      const [child, next] =
        right !== undefined && isBefore(right, left) ? [right, 2 * at + 2] : [left, 2 * at + 1];
      if (isBefore(last, child)) break;
      heap[at] = child;
      at = next;
    }
    heap[at] = last;
    return first;
  }
}

function isBefore(left: ScheduledEvent, right: ScheduledEvent): boolean {
  return left.at < right.at || (left.at === right.at && left.order < right.order);
}
