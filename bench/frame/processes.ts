/** Resource use of another process. */
import { readdirSync, readFileSync } from 'node:fs';
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

interface ThreadCost {
  /** Milliseconds of processor time. */
  readonly cpuMs: number;
  /** Times the thread slept and was woken. */
  readonly wakeUps: number;
}

/** Costs by number of the thread. */
export type ThreadCosts = ReadonlyMap<string, ThreadCost>;

export function threadCosts(pid: number | 'self'): ThreadCosts {
  const costs = new Map<string, ThreadCost>();
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    try {
      const folder = `/proc/${pid}/task/${thread}`;
      const [nanoseconds = '0'] = readFileSync(`${folder}/schedstat`, 'latin1').split(' ');
      const wakeUps = /^voluntary_ctxt_switches:\s+(\d+)/m.exec(
        readFileSync(`${folder}/status`, 'latin1'),
      )?.[1];
      costs.set(thread, { cpuMs: Number(nanoseconds) / 1e6, wakeUps: Number(wakeUps) });
    } catch {
      // The thread has just ended.
    }
  }
  return costs;
}

/** Sums the difference of two samples by role; threads without a role are `runtime`: compilation and collection. */
export function costsByRole(
  before: ThreadCosts,
  after: ThreadCosts,
  roles: { readonly [thread: string]: string },
): ReadonlyMap<string, ThreadCost> {
  const sums = new Map<string, ThreadCost>();
  for (const [thread, { cpuMs, wakeUps }] of after) {
    const role = roles[thread] ?? 'runtime';
    const sum = sums.get(role) ?? { cpuMs: 0, wakeUps: 0 };
    const from = before.get(thread) ?? { cpuMs: 0, wakeUps: 0 };
    sums.set(role, {
      cpuMs: sum.cpuMs + cpuMs - from.cpuMs,
      wakeUps: sum.wakeUps + wakeUps - from.wakeUps,
    });
  }
  return sums;
}

/**
 * Returns the processor time of the busiest thread between two samples, milliseconds.
 * @param among @default all threads
 */
export function busiest(before: ThreadCosts, after: ThreadCosts, among?: readonly string[]): number {
  const used = [...after].map(([thread, { cpuMs }]) =>
    among === undefined || among.includes(thread) ? cpuMs - (before.get(thread)?.cpuMs ?? 0) : 0,
  );
  return Math.max(0, ...used);
}
