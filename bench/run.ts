/** Runs benchmarks one after the other, each in its own process, and combines their results. */
import { fork } from 'node:child_process';
import { loadavg } from 'node:os';
import type { Clock } from '@sealwright/runtime';
import { Progress, type Screen } from '../logging/progress.ts';
import { type BenchName, CATALOG } from './catalog.ts';
import type { BenchMessage, BenchSettings, Failure, Figure, Limit, Order, Spent } from './frame/bench.ts';
import { type BenchReport, judged } from './frame/bench-report.ts';

/** Runs benchmarks. Never rejects: a failure is part of the report. */
export function runBench(
  name: BenchName,
  settings: BenchSettings,
  { screen, clock }: { screen: Screen; clock: Clock },
): Promise<BenchReport> {
  const progress = new Progress(name, screen, clock);
  const startedAt = clock.elapsed();
  const loadBefore = load();
  const limits: Limit[] = [];
  const figures: Figure[] = [];
  const verified: { [by: string]: number } = {};
  let about: { readonly question: string; readonly against: readonly string[] } = {
    question: '',
    against: [],
  };
  let spent: Spent = { user: 0, system: 0, peak: 0 };
  let failure: Failure | undefined = { code: 'bench.died', message: 'Its process died.' };

  const receive = (message: BenchMessage): void => {
    if (message.type === 'begun') about = { question: message.question, against: message.against };
    else if (message.type === 'progress') progress.show(message.label, message.done, message.of);
    else if (message.type === 'limit') limits.push(message.limit);
    else if (message.type === 'figure') figures.push(message.figure);
    else if (message.type === 'verified')
      verified[message.by] = (verified[message.by] ?? 0) + message.outputs;
    else if (message.type === 'spent') spent = together(spent, message.spent);
    else {
      spent = beside(spent, message.spent);
      failure = message.failure;
    }
  };
  return new Promise((resolve) => {
    // Output of a benchmark is for the console and never part of a result.
    const child = fork(new URL('./child.js', import.meta.url), { stdio: ['ignore', 2, 2, 'ipc'] });
    child.on('message', (message) => receive(message as BenchMessage));
    child.on('error', (error) => {
      failure = { code: 'bench.died', message: error.message };
    });
    child.on('close', () => {
      progress.end();
      resolve({
        name,
        profile: CATALOG[name].profile,
        ...about,
        ...(failure && { failure }),
        seconds: (clock.elapsed() - startedAt) / 1000,
        load: { before: loadBefore, after: load() },
        spent,
        limits,
        figures: figures.map((figure) => judged(figure, limits, settings.quick)),
        verified,
      });
    });
    child.send({ name, settings } satisfies Order);
  });
}

/** Mean number of processes of the machine that ran or waited, of the last minute. */
function load(): number {
  return Math.round((loadavg()[0] ?? 0) * 10) / 10;
}

/** Combines processes that ran one after the other: sums the times, takes the larger peak. */
function together(one: Spent, other: Spent): Spent {
  return {
    user: one.user + other.user,
    system: one.system + other.system,
    peak: Math.max(one.peak, other.peak),
  };
}

/** Combines child processes with the benchmark's own process, which ran concurrently. */
function beside(others: Spent, own: Spent): Spent {
  return { ...together(others, own), peak: others.peak + own.peak };
}
