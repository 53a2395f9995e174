/** Resource use of another process. */
import { readFileSync } from 'node:fs';
import type { Spent } from './bench.ts';

/** Milliseconds per clock tick: Linux counts 100 ticks per second. */
const TICK = 10;

/** Returns undefined without /proc, or when the process has ended. */
export function spentBy(pid: number | undefined): Spent | undefined {
  try {
    // The program name, in parentheses, can contain spaces; user and system time are fields 14 and 15.
    const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)?.split(' ') ?? [];
    const peak = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1];
    return { user: Number(fields[11]) * TICK, system: Number(fields[12]) * TICK, peak: Number(peak) / 1024 };
  } catch {
    return undefined;
  }
}

/** Returns the use between two samples, per operation. */
export function usedFor(
  operations: number,
  before: Spent | undefined,
  after: Spent | undefined,
): { readonly cpu?: { readonly user: number; readonly system: number } } {
  if (before === undefined || after === undefined || operations === 0) return {};
  return {
    cpu: {
      user: (after.user - before.user) / operations,
      system: (after.system - before.system) / operations,
    },
  };
}
