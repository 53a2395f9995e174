/** Time and chance of this machine, for callers who pass none. */
import { randomBytes } from 'node:crypto';

/** Milliseconds since the epoch. */
export const machineTime = (): number => Date.now();

export const machineRandom = (length: number): Buffer => randomBytes(length);

/** Calls `run` after that many milliseconds; the result cancels that. */
export function machineAfter(ms: number, run: () => void): () => void {
  const timer = setTimeout(run, ms);
  return () => clearTimeout(timer);
}

export const machineWait = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
