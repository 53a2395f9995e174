/**
 * Operations at a fixed rate, independent of earlier ones: each starts when it is due, and its latency counts from
 * then. A stall thus affects all operations due in that time, not only the one in progress (no coordinated omission).
 */
import { setImmediate } from 'node:timers/promises';
import type { Clock } from '@sealwright/runtime';
import type { Latency } from './bench.ts';
import { LatencyRecorder } from './latency.ts';

export interface Pace {
  /** Operations due per second. Above 0. */
  readonly perSecond: number;
  /** Measured seconds. */
  readonly seconds: number;
  /** Seconds of warm-up. @default 0 */
  readonly warmUp?: number;
}

/** Milliseconds before the due time in which the loop spins, since timers are late by about as much. */
const AWAKE = 1.5;
/** Maximum of overdue operations started before the event loop runs again. */
const CONCURRENCY = 64;

/** `refused`: the other side is overloaded and asks to retry later. */
export type Ending = 'done' | 'refused';

/**
 * Runs operations at a fixed rate.
 * @param work starts operation `n`, from 0, warm-up included, and resolves when it has ended; latencies of refused
 *   operations are not recorded, only their number
 * @returns latencies after the warm-up; rejects with the first failure, once all have ended
 */
export async function atRate(
  clock: Clock,
  { perSecond, seconds, warmUp = 0 }: Pace,
  work: (n: number) => Promise<Ending>,
): Promise<Latency> {
  const recorder = new LatencyRecorder();
  const first = Math.round(perSecond * warmUp);
  const all = first + Math.max(1, Math.round(perSecond * seconds));
  const startedAt = clock.elapsed();
  let refused = 0;
  const operation = async (n: number, due: number): Promise<void> => {
    const ending = await work(n);
    if (n < first) return;
    if (ending === 'refused') refused += 1;
    else recorder.record(clock.elapsed() - due);
  };
  const underWay: Promise<void>[] = [];
  for (let n = 0; n < all; n += 1) {
    const due = startedAt + (n * 1000) / perSecond;
    if (clock.elapsed() < due) await until(clock, due);
    else if (n % CONCURRENCY === 0) await setImmediate();
    const one = operation(n, due);
    // The failure is handled below; this prevents an unhandled rejection.
    one.catch(() => {});
    underWay.push(one);
  }
  const failed = (await Promise.allSettled(underWay)).find((end) => end.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  return { ...recorder.latency(), rate: perSecond, refused };
}

async function until(clock: Clock, due: number): Promise<void> {
  const left = due - clock.elapsed();
  if (left > AWAKE) await clock.sleep(left - AWAKE);
  while (clock.elapsed() < due) await setImmediate();
}
