/** Processor time and wake-ups of the threads of a process, from outside. Linux only. */
import { readdirSync, readFileSync } from 'node:fs';

export interface ThreadCost {
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

/** Returns the processor time of the busiest thread between two samples, milliseconds. */
export function busiest(before: ThreadCosts, after: ThreadCosts): number {
  return Math.max(...[...after].map(([thread, { cpuMs }]) => cpuMs - (before.get(thread)?.cpuMs ?? 0)));
}
