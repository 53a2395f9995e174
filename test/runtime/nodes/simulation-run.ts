/**
 * Simulations of nodes: `node dist/test/runtime/nodes/simulation-run.js --seeds 10000 [--first 1] [--nodes 50] [--trace]`. Exit code 1: an
 * invariant was broken; the trace of its seed is printed. `--seeds 1 --first <seed>` repeats one. `--nodes` is also the number of tasks.
 */
import { parseArgs } from 'node:util';
import { simulate } from './simulation.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '10000' },
    first: { type: 'string', default: '1' },
    nodes: { type: 'string' },
    trace: { type: 'boolean', default: false },
  },
});
const first = Number(values.first);
const count = Number(values.seeds);
const nodes = values.nodes === undefined ? undefined : Number(values.nodes);
let takenOver = 0;
let slowest = { seed: first, elapsed: 0 };
for (let seed = first; seed < first + count; seed += 1) {
  const report = await simulate(seed, 'none', nodes);
  takenOver += report.takenOver;
  if (nodes !== undefined)
    console.log(
      `seed ${seed}: ${report.takenOver} taken over, ${report.elapsed} ms, ${Math.round((1000 * report.statements) / report.elapsed / nodes)} statements a second and node`,
    );
  if (report.elapsed > slowest.elapsed) slowest = { seed, elapsed: report.elapsed };
  if (values.trace || report.broken.length > 0) console.log(report.trace.join('\n'));
  if (report.broken.length > 0) {
    console.log(`Seed ${seed}:\n${report.broken.join('\n')}`);
    process.exitCode = 1;
    break;
  }
  if ((seed - first + 1) % 500 === 0)
    console.log(`${seed - first + 1} seeds, ${takenOver} sessions taken over`);
}
console.log(
  `${count} seeds from ${first}; ${takenOver} sessions taken over; the slowest, ${slowest.seed}, took ${slowest.elapsed} ms.`,
);
