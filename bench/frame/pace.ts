/**
 * Operations at a fixed rate, whatever becomes of the earlier ones: each is begun when it is due, and how long it took
 * counts from then. A server that stalls for a second is so seen by everybody who came in that second, not only by
 * the one who was being answered (no coordinated omission).
 */
import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../../runtime/index.ts';
import type { Latency } from './bench.ts';
import { LatencyRecorder } from './latency.ts';

export interface Pace {
  /** Operations that fall due in a second. Above 0. */
  readonly perSecond: number;
  /** Seconds that count. */
  readonly seconds: number;
  /** Seconds before them that do not. @default 0 */
  readonly warmUp?: number;
}

/** Milliseconds: timers come late by about as much, so the rest is waited out awake. */
const AWAKE = 1.5;
/** Operations that are late are begun in one go, but others of this process get their turn between so many. */
const AT_ONCE = 64;

/** `refused`: the other side was asked for too much, said so, and is to be asked again later. */
export type Ending = 'done' | 'refused';

/**
 * @param work begins operation `n`, from 0, warm-up included, and resolves when it has ended; how long those that are
 *   refused took counts for nothing, only how many they are
 * @returns latencies of those after the warm-up; rejects with the first failure, once all have ended
 */
export async function atRate(
  clock: Clock,
  { perSecond, seconds, warmUp = 0 }: Pace,
  work: (n: number) => Promise<Ending>,
): Promise<Latency> {
  const recorder = new LatencyRecorder();
  const first = Math.round(perSecond * warmUp);
  const all = first + Math.max(1, Math.round(perSecond * seconds));
  const begun = clock.elapsed();
  let refused = 0;
  const operation = async (n: number, due: number): Promise<void> => {
    const ending = await work(n);
    if (n < first) return;
    if (ending === 'refused') refused += 1;
    else recorder.record(clock.elapsed() - due);
  };
  const underWay: Promise<void>[] = [];
  for (let n = 0; n < all; n += 1) {
    const due = begun + (n * 1000) / perSecond;
    if (clock.elapsed() < due) await until(clock, due);
    else if (n % AT_ONCE === 0) await setImmediate();
    const one = operation(n, due);
    // Looked at below; until then a failure is nobody's.
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
