/**
 * Benchmark of the cost of inspection data (state index, message counts, times) while it is not read: the same steps
 * with and without it, in two processes that alternate turns of a fraction of a second.
 *
 * The measure is the processor time of a process per step, and its difference between two consecutive turns, which
 * other load affects equally. Several pairs of processes are used, since compilation differs between processes.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Bench, BenchContext } from './frame/bench.ts';
import { spentBy } from './frame/processes.ts';
import { middle } from './frame/rate.ts';
import type { Order, StepCost } from './shards/inspected-steps.ts';

const EVENTS = { 'steps that change the state': 'TURN', 'steps that do not': 'STAY' } as const;
const PAIRS = 4;
/** Turns of each process in a pair. */
const TURNS = 16;
/** Milliseconds of each turn, times the seconds of a run; the first turn is longer. */
const TURN = 250;
const WARM_UP = 2500;
const STEPS = fileURLToPath(new URL('./shards/inspected-steps.js', import.meta.url));
const WITHOUT = ['--import', fileURLToPath(new URL('./shards/without-inspection.js', import.meta.url))];
const AIM = 'runtime: inspection costs less than 3 % while it is not used';

export const bench: Bench = {
  name: 'inspection',
  question: 'cost of the inspection functions while they are not used',
  limits: ['the same steps with what only serves looking taken out'],
  run,
};

async function run(context: BenchContext): Promise<void> {
  const pairs = context.settings.quick ? 1 : PAIRS;
  const kinds = Object.entries(EVENTS);
  for (const [kind, [what, type]] of kinds.entries()) {
    const turns: Turn[] = [];
    for (let pair = 0; pair < pairs; pair += 1) {
      context.progress(what, kind * pairs + pair, kinds.length * pairs);
      turns.push(...(await takeTurns(type, context)));
    }
    tell(what, turns, context);
  }
  context.progress('done', kinds.length * pairs, kinds.length * pairs);
}

/** Microseconds per step in two consecutive turns. */
interface Turn {
  readonly looked: number;
  readonly bare: number;
}

async function takeTurns(type: string, context: BenchContext): Promise<readonly Turn[]> {
  const { seconds, quick } = context.settings;
  const looked = await start(context.temporaryFolder(), type, []);
  const bare = await start(context.temporaryFolder(), type, WITHOUT);
  try {
    for (const child of [looked, bare]) await costOf(child, WARM_UP * seconds);
    const turns: Turn[] = [];
    for (let turn = 0; turn < (quick ? 4 : TURNS); turn += 1) {
      // Alternates the order, since the first process warms up the machine for the second.
      const order = turn % 2 === 0 ? [looked, bare] : [bare, looked];
      const costs = new Map<ChildProcess, number>();
      for (const child of order) costs.set(child, await costOf(child, TURN * seconds));
      turns.push({ looked: costs.get(looked) ?? 0, bare: costs.get(bare) ?? 0 });
    }
    return turns;
  } finally {
    for (const child of [looked, bare]) await end(child, context);
  }
}

async function start(folder: string, type: string, execArgv: readonly string[]): Promise<ChildProcess> {
  const child = fork(STEPS, [folder, type], { execArgv: [...execArgv], stdio: ['ignore', 2, 2, 'ipc'] });
  await answer(child);
  return child;
}

async function costOf(child: ChildProcess, millis: number): Promise<number> {
  child.send({ millis } satisfies Order);
  return ((await answer(child)) as StepCost).micros;
}

async function answer(child: ChildProcess): Promise<unknown> {
  const heard = new AbortController();
  const gone = once(child, 'exit', heard).then(() => {
    throw new Error('The process that takes the steps has ended.');
  });
  try {
    const [message] = await Promise.race([once(child, 'message', heard), gone]);
    return message;
  } finally {
    heard.abort();
  }
}

async function end(child: ChildProcess, { spent }: BenchContext): Promise<void> {
  const used = spentBy(child.pid);
  if (used) spent(used);
  const ended = once(child, 'exit');
  child.disconnect();
  await ended;
}

function tell(what: string, turns: readonly Turn[], { limit, figure }: BenchContext): void {
  const bare = turns.map((turn) => turn.bare);
  const looked = turns.map((turn) => turn.looked);
  const costs = turns.map((turn) => (turn.looked / turn.bare - 1) * 100).sort((left, right) => left - right);
  // 95 % confidence interval of the median of n values, for any distribution.
  const spread = 0.98 * Math.sqrt(costs.length);
  const at = (place: number) => costs[Math.min(costs.length - 1, Math.max(0, Math.round(place)))] ?? 0;
  const half = (costs.length - 1) / 2;
  const name = `${what}, without inspection`;
  limit(name, middle(bare, Number), 'µs');
  figure(what, middle(looked, Number), 'µs', { limit: name });
  figure(`${what}, what inspection adds`, middle(costs, Number), '%', {
    aim: { of: 'value', atMost: 3, source: AIM },
  });
  figure(`${what}, at least (95 %)`, at(half - spread), '%');
  figure(`${what}, at most (95 %)`, at(half + spread), '%');
}
