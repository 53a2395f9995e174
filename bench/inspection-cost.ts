/**
 * What it costs that operators could look at actors when none does: the same steps with and without census, tallies and
 * times, by turns, in processes of their own. Run: `node dist/bench/inspection-cost.js [rounds] [seconds]`.
 *
 * What counts is the processor time of the whole process for a step; steps a second hang on the disk as well.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createRuntime, openLmdbStore, systemClock, systemIds } from '../runtime/index.ts';
import { benched } from './shards/actors.ts';

const ACTORS = 2000;
const IN_FLIGHT = 64;
const EVENTS = { 'steps that change the state': 'TURN', 'steps that do not': 'STAY' } as const;

interface Cost {
  readonly micros: number;
  readonly perSecond: number;
}

async function measure(type: string, seconds: number): Promise<Cost> {
  const folder = mkdtempSync(join(tmpdir(), 'sealwright-inspection-'));
  const store = openLmdbStore({ folder });
  const quiet = (): void => {};
  const { system, stop } = createRuntime({
    store,
    clock: systemClock,
    ids: systemIds,
    log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
    definitions: [benched],
    handlers: {},
  });
  const address = (n: number) => ({ kind: 'benched', id: `b${n}` });
  await Promise.all(Array.from({ length: ACTORS }, (_, n) => system.create(address(n), {})));
  let next = 0;
  let steps = 0;
  const lane = async (until: number): Promise<void> => {
    while (performance.now() < until) {
      const outcome = await system.tell(address(next++ % ACTORS), { type });
      if (!outcome.accepted) throw new Error(outcome.because);
      steps += 1;
    }
  };
  const lanes = (millis: number) =>
    Promise.all(Array.from({ length: IN_FLIGHT }, () => lane(performance.now() + millis)));
  await lanes(seconds * 400);
  steps = 0;
  const cpu = process.cpuUsage();
  const start = performance.now();
  await lanes(seconds * 1000);
  const taken = performance.now() - start;
  const { user, system: kernel } = process.cpuUsage(cpu);
  await stop();
  await store.close();
  rmSync(folder, { recursive: true });
  return { micros: (user + kernel) / steps, perSecond: (steps / taken) * 1000 };
}

function median(values: readonly number[]): number {
  return [...values].sort((left, right) => left - right)[values.length >> 1] ?? 0;
}

const [, self = '', first = '7', second = '2', only] = process.argv;
if (only !== undefined) console.log(JSON.stringify(await measure(only, Number(second))));
else {
  const without = ['--import', fileURLToPath(new URL('./shards/without-inspection.js', import.meta.url))];
  for (const [what, type] of Object.entries(EVENTS)) {
    const costs: { readonly on: Cost[]; readonly off: Cost[] } = { on: [], off: [] };
    for (let round = 0; round < Number(first); round += 1)
      for (const [name, options] of [
        ['on', []],
        ['off', without],
      ] as const) {
        const out = execFileSync(process.execPath, [...options, self, first, second, type], {
          encoding: 'utf8',
        });
        costs[name].push(JSON.parse(out) as Cost);
      }
    const micros = (name: 'on' | 'off') => median(costs[name].map((cost) => cost.micros));
    const rate = (name: 'on' | 'off') => Math.round(median(costs[name].map((cost) => cost.perSecond)));
    console.log(
      `${what}: ${micros('on').toFixed(1)} us with, ${micros('off').toFixed(1)} us without: ` +
        `${((micros('on') / micros('off') - 1) * 100).toFixed(1)} % more; ${rate('on')} and ${rate('off')} steps/s`,
    );
  }
}
