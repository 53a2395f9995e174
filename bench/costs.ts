/**
 * Costs of a flow, a file and a step in counts and processor time, beside what a minimal program needs: figures that
 * other load on the machine changes little.
 */
import { flowCosts } from './costs/flow-costs.ts';
import { pipelineCosts } from './costs/pipeline-costs.ts';
import type { Bench, BenchContext } from './frame/bench.ts';

const PARTS: readonly { readonly name: string; measure(context: BenchContext): Promise<void> }[] = [
  { name: 'flow', measure: flowCosts },
  { name: 'pipeline', measure: pipelineCosts },
];

export const bench: Bench = {
  name: 'costs',
  question: 'what a flow, a file and a step cost in processor time, steps, commits, tasks and wake-ups',
  limits: ['one RSA-2048 `crypto.sign`, one durable LMDB commit, the bare loop of file work'],
  run,
};

async function run(context: BenchContext): Promise<void> {
  const { only } = context.settings;
  for (const { name, measure } of PARTS)
    if (only.length === 0 || only.some((word) => name.includes(word))) await measure(context);
}
