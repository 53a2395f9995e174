/**
 * What it costs that operators could look at actors when none does: the same steps with and without census, tallies and
 * times, by turns, in processes of their own.
 *
 * What counts is the processor time of the whole process for a step; steps a second hang on the disk as well.
 */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Bench, BenchContext } from './frame/bench.ts';
import type { StepCost } from './shards/inspected-steps.ts';

const EVENTS = { 'steps that change the state': 'TURN', 'steps that do not': 'STAY' } as const;
/** With and without take turns; of each the middle one counts. */
const ROUNDS = 7;
const STEPS = fileURLToPath(new URL('./shards/inspected-steps.js', import.meta.url));
const WITHOUT = ['--import', fileURLToPath(new URL('./shards/without-inspection.js', import.meta.url))];
const AIM = 'runtime: inspection costs less than 3 % when nobody looks';

export const bench: Bench = {
  name: 'inspection',
  question: 'what it costs that actors could be looked at, while nobody looks',
  limits: ['the same steps with what only serves looking taken out'],
  run,
};

async function run(context: BenchContext): Promise<void> {
  const { quick, seconds } = context.settings;
  const rounds = quick ? 1 : ROUNDS;
  const of = 2 * rounds * Object.keys(EVENTS).length;
  let done = 0;
  for (const [what, type] of Object.entries(EVENTS)) {
    const costs: { readonly with: StepCost[]; readonly without: StepCost[] } = { with: [], without: [] };
    for (let round = 0; round < rounds; round += 1) {
      for (const [side, options] of [
        ['with', []],
        ['without', WITHOUT],
      ] as const) {
        context.progress(what, done++, of);
        const words = [...options, STEPS, context.room(), type, String(seconds)];
        costs[side].push(JSON.parse(execFileSync(process.execPath, words, { encoding: 'utf8' })));
      }
    }
    const micros = (side: StepCost[]) => middle(side.map((cost) => cost.micros));
    const limit = `${what}, without inspection`;
    context.limit({ name: limit, value: micros(costs.without), unit: 'µs' });
    context.figure({
      name: what,
      value: micros(costs.with),
      unit: 'µs',
      better: 'less',
      limit,
      aim: { of: 'share', atLeast: 0.97, source: AIM },
    });
  }
  context.progress('done', of, of);
}

function middle(values: readonly number[]): number {
  return [...values].sort((left, right) => left - right)[values.length >> 1] ?? 0;
}
