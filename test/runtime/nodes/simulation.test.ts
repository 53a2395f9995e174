/** Leases and take-over of several nodes, simulated from seeds. `simulation-run.ts` runs thousands of them. */
import test from 'ava';
import { roundsOf } from '../../project/rounds.ts';
import { type Mutation, simulate } from './simulation.ts';

const SEEDS = Number(process.env['SEALWRIGHT_SIMULATION_SEEDS'] ?? roundsOf(20, 120));

test('nodes that are suspended, killed and disconnected lose no effect, and duplicate none', async (t) => {
  let takenOver = 0;
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const report = await simulate(seed);
    if (report.broken.length > 0) t.log(report.trace.join('\n'));
    t.deepEqual(
      report.broken,
      [],
      `seed ${seed}: node dist/test/runtime/nodes/simulation-run.js --seeds 1 --first ${seed}`,
    );
    takenOver += report.takenOver;
  }
  t.true(takenOver > SEEDS, 'sessions were taken over');
});

test('a seed gives the same run each time', async (t) => {
  const first = await simulate(7);
  t.true(first.trace.length > 20);
  t.deepEqual((await simulate(7)).trace, first.trace);
});

const MUTATIONS: readonly (readonly [mutation: Mutation, breaks: RegExp])[] = [
  ['no fencing', /after it was taken over|without the lease/],
  ['outcomes twice', /was committed 2 times/],
  ['no take-over of timers', /not done after .* deadlines \["/],
  ['two singletons', /acquired "sweep" while session/],
  ['take-over right after an outage', /within one lease of an outage/],
];
for (const [mutation, breaks] of MUTATIONS) {
  test(`the simulation finds a defect: ${mutation}`, async (t) => {
    for (let seed = 1; seed <= 300; seed += 1) {
      const { broken } = await simulate(seed, mutation);
      if (broken.length === 0) continue;
      t.regex(broken.join('; '), breaks);
      return;
    }
    t.fail('no seed found it');
  });
}
