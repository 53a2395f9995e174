/** What another process has used so far. */
import { readFileSync } from 'node:fs';
import type { Spent } from './bench.ts';

/** Milliseconds in a clock tick: what Linux tells of other processes counts a hundred a second. */
const TICK = 10;

/** Undefined where the system does not tell (it needs /proc), or once the process has gone. */
export function spentBy(pid: number | undefined): Spent | undefined {
  try {
    // The name of the program, in brackets, may hold spaces; user and system time are fields 14 and 15 of the line.
    const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)?.split(' ') ?? [];
    const peak = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1];
    return { user: Number(fields[11]) * TICK, system: Number(fields[12]) * TICK, peak: Number(peak) / 1024 };
  } catch {
    return undefined;
  }
}

/** What was used between two looks, over so many operations. */
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
