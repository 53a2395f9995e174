/**
 * Time. `systemClock` is the only place in the product that asks the machine what time it is;
 * `SimulatedClock` is the time of tests, which moves only when told to.
 */
import type { Clock, Millis } from './ports.ts';

/** Longest delay a Node timer takes before it fires at once, milliseconds. */
const LONGEST_TIMER = 2 ** 31 - 1;

function systemAfter(delay: Millis, task: () => void): () => void {
  let timer: NodeJS.Timeout;
  const arm = (left: number): void => {
    const part = Math.min(left, LONGEST_TIMER);
    timer = setTimeout(() => (left > part ? arm(left - part) : task()), Math.max(0, part));
  };
  arm(delay);
  return () => clearTimeout(timer);
}

/** `sleep` in terms of `after`: rejects with the signal's reason when aborted. */
function sleepOn(after: Clock['after'], delay: Millis, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason);
      return;
    }
    const abort = (): void => {
      cancel();
      reject(signal?.reason);
    };
    const cancel = after(delay, () => {
      signal?.removeEventListener('abort', abort);
      resolve();
    });
    signal?.addEventListener('abort', abort, { once: true });
  });
}

/** The machine's own clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  after: systemAfter,
  sleep: (delay, signal) => sleepOn(systemAfter, delay, signal),
};

interface Alarm {
  readonly at: number;
  readonly order: number;
  readonly task: () => void;
}

/**
 * A clock that stands still until `advance` is called. Alarms follow elapsed time, so that a jump of the wall
 * clock neither fires nor delays them, as with the machine's clock.
 */
export class SimulatedClock implements Clock {
  #wall: Millis;
  #elapsed = 0;
  #order = 0;
  #alarms: Alarm[] = [];

  constructor(start: Millis = Date.UTC(2026, 0, 1)) {
    this.#wall = start;
  }

  now(): Millis {
    return this.#wall;
  }

  elapsed(): number {
    return this.#elapsed;
  }

  /** Alarms that wait. */
  get pending(): number {
    return this.#alarms.length;
  }

  after(delay: Millis, task: () => void): () => void {
    const alarm: Alarm = { at: this.#elapsed + Math.max(0, delay), order: this.#order++, task };
    this.#alarms.push(alarm);
    return () => {
      this.#alarms = this.#alarms.filter((other) => other !== alarm);
    };
  }

  sleep(delay: Millis, signal?: AbortSignal): Promise<void> {
    return sleepOn((wait, task) => this.after(wait, task), delay, signal);
  }

  /** Lets `duration` milliseconds pass: alarms run in the order of their time, also those armed meanwhile. */
  advance(duration: Millis): void {
    const end = this.#elapsed + duration;
    for (;;) {
      const next = this.#earliest(end);
      if (next === undefined) break;
      this.#alarms = this.#alarms.filter((other) => other !== next);
      this.#moveTo(Math.max(next.at, this.#elapsed));
      next.task();
    }
    this.#moveTo(end);
  }

  /** The wall clock is set forward (or back, if negative) by `difference` milliseconds; no time passes. */
  jumpWall(difference: Millis): void {
    this.#wall += difference;
  }

  #moveTo(elapsed: number): void {
    this.#wall += elapsed - this.#elapsed;
    this.#elapsed = elapsed;
  }

  #earliest(end: number): Alarm | undefined {
    let best: Alarm | undefined;
    for (const alarm of this.#alarms) {
      if (alarm.at > end) continue;
      if (best === undefined || alarm.at < best.at || (alarm.at === best.at && alarm.order < best.order))
        best = alarm;
    }
    return best;
  }
}
