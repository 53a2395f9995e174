/** Process of one benchmark, so that benchmarks do not affect each other. */
import { mkdtempSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describeFailure, systemClock } from '@sealwright/runtime';
import { CATALOG, isBenchName } from './catalog.ts';
import type { BenchContext, BenchMessage, Order, Spent } from './frame/bench.ts';

const folders: string[] = [];
process.on('exit', () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
// The parent process has ended.
process.once('disconnect', () => process.exit(1));
process.once('message', (order) => void obey(order as Order));

function send(message: BenchMessage): void {
  process.send?.(message);
}

function context({ settings }: Order): BenchContext {
  return {
    settings,
    clock: systemClock,
    temporaryFolder(below = settings.folder) {
      const folder = resolve(mkdtempSync(join(below, '.bench-')));
      folders.push(folder);
      return folder;
    },
    progress: (label, done, of) => send({ type: 'progress', label, done, of }),
    limit: (name, value, unit) => send({ type: 'limit', limit: { name, value, unit } }),
    figure: (name, value, unit, details) =>
      send({
        type: 'figure',
        figure: {
          name,
          value,
          unit,
          better: unit.endsWith('/s') || unit.endsWith('CPU s') ? 'more' : 'less',
          ...details,
        },
      }),
    verified: (by, outputs) => send({ type: 'verified', by, outputs }),
    spent: (spent) => send({ type: 'spent', spent }),
  };
}

async function obey(order: Order): Promise<void> {
  let failure: { code: string; message: string } | undefined;
  try {
    if (!isBenchName(order.name)) throw new Error(`No benchmark is called ${order.name}.`);
    const { bench } = await CATALOG[order.name].load();
    send({ type: 'begun', question: bench.question, against: bench.limits });
    await bench.run(context(order));
  } catch (error) {
    const { code, message } = describeFailure(error);
    failure = { code, message };
  }
  process.send?.({ type: 'ended', spent: spent(), ...(failure && { failure }) } satisfies BenchMessage, () =>
    process.exit(0),
  );
}

/** Returns the resource use of this process with all its threads. */
function spent(): Spent {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  // `maxRSS` is in KiB.
  return { user: userCPUTime / 1000, system: systemCPUTime / 1000, peak: maxRSS / 1024 };
}
