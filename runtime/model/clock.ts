/** Clocks. `systemClock` is the only place in the product that reads the system time. */
import type { Clock, Millis } from './ports.ts';

/** Longest delay of a Node timer, milliseconds; a longer one fires at once. */
const MAX_TIMER = 2 ** 31 - 1;

/** Clocks of nodes differ by less, milliseconds: by half of a statement's time (`StoreClock`). */
export const CLOCKS_DIFFER_MS = 5000;

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
export function sleepWith(
  after: Clock['after'],
  delay: Millis,
  signal: AbortSignal | undefined,
): Promise<void> {
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
