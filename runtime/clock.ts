/**
 * Clocks. `systemClock` is the only place in the product that reads the system time; `SimulatedClock` is for tests and
 * advances only through `advance`.
 */
import type { Clock, Millis } from './ports.ts';

/** Longest delay of a Node timer, milliseconds; a longer one fires at once. */
const MAX_TIMER = 2 ** 31 - 1;

function systemAfter(delay: Millis, task: () => void): () => void {
  let timer: NodeJS.Timeout;
  const arm = (left: number): void => {
    const part = Math.min(left, MAX_TIMER);
    timer = setTimeout(() => (left > part ? arm(left - part) : task()), Math.max(0, part));
  };
  arm(delay);
  return () => clearTimeout(timer);
}

/** Implements `sleep` with `after`: rejects with the signal's reason when aborted. */
function sleepWith(after: Clock['after'], delay: Millis, signal: AbortSignal | undefined): Promise<void> {
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

/** The system clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  after: systemAfter,
  sleep: (delay, signal) => sleepWith(systemAfter, delay, signal),
};

/** Monotonic time of the machine, milliseconds, the same in all threads: `elapsed` begins anew in each. */
export function machineTime(): number {
  return Number(process.hrtime.bigint() / 1_000_000n);
}

/**
 * The clock of the store in a thread.
 *
 * @param memory of a `SharedClock`: its time minus `machineTime`, milliseconds
 */
export function threadClock(memory: SharedArrayBuffer): Clock {
  const offset = new BigInt64Array(memory);
  return { ...systemClock, now: () => machineTime() + Number(Atomics.load(offset, 0)) };
}

interface Alarm {
  readonly at: number;
  readonly order: number;
  readonly task: () => void;
}

/**
 * A clock that advances only through `advance`. Alarms follow elapsed time, so that a jump of the wall clock neither
 * fires nor delays them, as with the system clock.
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

  /** Number of pending alarms. */
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
    return sleepWith((wait, task) => this.after(wait, task), delay, signal);
  }

  /** Advances by `duration` milliseconds: alarms fire in the order of their times, including those set meanwhile. */
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

  /** Sets the wall clock forward (or back, if negative) by `difference` milliseconds; no time elapses. */
  setWallClock(difference: Millis): void {
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

/**
 * Wall-clock time that never goes back: when the system clock is set back, due effects stay due and pauses keep their
 * length.
 */
export function steadyTime(clock: Clock): () => Millis {
  let latest = clock.now();
  let seen = clock.elapsed();
  return () => {
    const elapsed = clock.elapsed();
    latest = Math.max(clock.now(), latest + elapsed - seen);
    seen = elapsed;
    return Math.floor(latest);
  };
}
