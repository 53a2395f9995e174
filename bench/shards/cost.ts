/** Processor time of a step of an actor on a thread of its own, compared with one on the main thread. */
import { type ThreadCosts, threadCosts } from '../costs/thread-costs.ts';
import type { BenchContext } from '../frame/bench.ts';
import { type ShardedRuntime, startShardedRuntime } from './sharded-runtime.ts';

const IN_FLIGHT = 64;
const MANY_IN_FLIGHT = 256;
const MANY_SHARDS = 4;
/** Threads that host actors, beside the main thread alone. */
const COMPARED = [1, 2];
/** Duration of one round; short, so that other load affects all sides of a comparison alike. */
const ROUND_MS = 250;
const AIM = 'docs/performance.md, "Several threads"';

/** Compares the processor time of all threads in alternating rounds. */
export async function costOfShards(context: BenchContext): Promise<void> {
  const sides = new Map<number, ShardedRuntime>();
  for (const shards of [0, ...COMPARED]) sides.set(shards, await startShardedRuntime(shards, context));
  const costs = new Map<number, number[]>([...sides.keys()].map((shards) => [shards, []]));
  const rounds = context.settings.quick ? 1 : Math.ceil(context.settings.seconds * 12);
  for (const sharded of sides.values()) await warmed(sharded, context, IN_FLIGHT);
  for (let round = 0; round < rounds; round += 1) {
    for (const [shards, sharded] of sides) {
      const before = process.cpuUsage();
      const steps = await sharded.steps(ROUND_MS, IN_FLIGHT);
      const { user, system } = process.cpuUsage(before);
      costs.get(shards)?.push((user + system) / steps);
    }
  }
  for (const sharded of sides.values()) await sharded.close();
  const alone = costs.get(0) ?? [];
  context.figure({
    name: `a step on the main thread, ${IN_FLIGHT} in flight: processor time`,
    value: median(alone),
    unit: 'µs',
    better: 'less',
  });
  for (const shards of COMPARED) {
    const ratios = (costs.get(shards) ?? []).map((cost, round) => cost / (alone[round] ?? Number.NaN));
    context.figure({
      name: `a step on ${shards === 1 ? 'a shard' : `${shards} shards`}: processor time ÷ the same on the main thread`,
      value: median(ratios),
      unit: '×',
      better: 'less',
      aim: { of: 'value', atMost: 1.15, source: AIM },
    });
  }
}

/** Measures which thread limits the rate where each has a processor of its own. */
export async function busiestThread(context: BenchContext): Promise<void> {
  const sharded = await startShardedRuntime(MANY_SHARDS, context);
  await warmed(sharded, context, MANY_IN_FLIGHT);
  const before = threadCosts('self');
  const steps = await sharded.steps(context.settings.seconds * 3000, MANY_IN_FLIGHT);
  const after = threadCosts('self');
  const { store, shards } = sharded.threads;
  await sharded.close();
  const roles = { 'main thread': [String(process.pid)], 'writing thread': store, 'busiest shard': shards };
  const name = (role: string) => `${role}, ${MANY_SHARDS} shards, ${MANY_IN_FLIGHT} in flight: a step`;
  for (const [role, threads] of [['busiest single thread', undefined] as const, ...Object.entries(roles)]) {
    context.figure({
      name: name(role),
      value: (busiestOf(before, after, threads) * 1000) / steps,
      unit: 'µs',
      better: 'less',
      ...(threads === undefined && { aim: { of: 'value', atMost: 40, source: AIM } }),
    });
  }
}

async function warmed(sharded: ShardedRuntime, { settings }: BenchContext, inFlight: number): Promise<void> {
  if (!settings.quick) await sharded.warmUp(inFlight);
}

/** @param among @default all threads */
function busiestOf(before: ThreadCosts, after: ThreadCosts, among?: readonly string[]): number {
  const used = [...after].map(([thread, { cpuMs }]) =>
    among === undefined || among.includes(thread) ? cpuMs - (before.get(thread)?.cpuMs ?? 0) : 0,
  );
  return Math.max(0, ...used);
}

function median(values: readonly number[]): number {
  return [...values].sort((left, right) => left - right)[values.length >> 1] ?? Number.NaN;
}
