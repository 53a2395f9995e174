import { setTimeout as sleep } from 'node:timers/promises';

/** Shorter than the two minutes after which ava ends a run in which no test ends. */
const LIMIT_MS = 100_000;

/** Pause before the next look at something that others do, milliseconds: the longer it takes, the rarer the looks. */
export function pauseAfter(waitedMs: number): number {
  return Math.min(200, 10 + waitedMs / 10);
}

/** Resolves once it is so; rejects after 100 s, with the code of the condition. */
export async function reached(
  isSo: () => unknown,
  pause: () => Promise<unknown> = () => sleep(5),
): Promise<void> {
  const end = performance.now() + LIMIT_MS;
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error(`waited ${LIMIT_MS / 1000} s in vain for ${isSo}`);
    await pause();
  }
}
