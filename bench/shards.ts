/**
 * Benchmark of actors on worker threads: processor time of a step compared with one on the main thread, in all threads
 * and in the busiest one; and unavailability of actors after the loss of their thread.
 *
 * Unavailability is measured from the loss, as this thread detects or causes it, to the first response of an actor of
 * that shard. The detection time of a thread in an endless loop (`ShardOptions.heartbeatTimeoutMs`) is reported separately, and
 * so is the time to exhaust a heap.
 */
import { systemClock } from '@sealwright/runtime';
import type { Bench, BenchContext } from './frame/bench.ts';
import { LatencyRecorder } from './frame/latency.ts';
import { busiest, threadCosts } from './frame/processes.ts';
import { middle } from './frame/rate.ts';
import { ACTORS, address, type ShardedRuntime, startShardedRuntime } from './shards/sharded-runtime.ts';

const IN_FLIGHT = 64;
/** Thread losses of each kind per second of measuring. */
const LOSSES = 10;
/** Heap limit of threads that exhaust it, megabytes. */
const SMALL_HEAP = 64;
const AIM = 'runtime: a lost thread is replaced, and its actors answer again, within 250 ms';
const KINDS = ['terminated', 'EXIT', 'HOARD', 'SPIN'] as const;

export const bench: Bench = {
  name: 'shards',
  question:
    'what a step of an actor costs on threads, and how long they are silent when their thread is lost',
  limits: ['the same steps with all actors on the main thread'],
  run,
};

async function run(context: BenchContext): Promise<void> {
  const { seconds, quick, only } = context.settings;
  const rounds = quick ? 1 : Math.ceil(LOSSES * seconds);
  const parts = [
    { name: 'cost', measure: () => costOfShards(context) },
    { name: 'busiest', measure: () => busiestThread(context) },
    ...KINDS.map((kind) => ({ name: `lost ${kind}`, measure: () => silence(kind, rounds, context) })),
  ].filter(({ name }) => only.length === 0 || only.some((word) => name.includes(word)));
  for (const [n, { name, measure }] of parts.entries()) {
    context.progress(name, n, parts.length);
    await measure();
  }
  context.progress('done', parts.length, parts.length);
}

async function silence(kind: (typeof KINDS)[number], rounds: number, context: BenchContext): Promise<void> {
  const sharded = await startShardedRuntime(2, context, SMALL_HEAP);
  const { system, inspector, crashShard } = sharded.runtime;
  const shardOf = new Map<number, number>();
  for (let n = 0; n < ACTORS; n += 1) {
    const actor = await inspector.actor(address(n));
    shardOf.set(n, actor?.shard ?? 0);
  }
  const silent = new LatencyRecorder();
  const noticed = new LatencyRecorder();
  for (let round = 0; round < rounds; round += 1) {
    // Uses another actor each time: one that terminates several threads is stopped.
    const victim = round;
    const neighbour = [...shardOf].find(([n, shard]) => n > 1000 && shard === shardOf.get(victim))?.[0] ?? 0;
    const started = performance.now();
    const lost = new Promise<number>((resolve) => {
      sharded.lost = resolve;
    });
    if (kind === 'terminated') void crashShard?.(shardOf.get(victim) ?? 0);
    else void system.send(address(victim), { type: kind }).catch(() => {});
    const at = await lost;
    noticed.record(at - started);
    const outcome = await system.send(address(neighbour), { type: 'TURN' });
    if (!outcome.accepted) throw new Error(outcome.reason);
    silent.record(performance.now() - at);
    // Waits until the next spare thread is loaded; two losses within that time are another case.
    await systemClock.sleep(1500);
  }
  for (const [what, recorder] of [
    ['silent', silent],
    ['until noticed', noticed],
  ] as const) {
    const latency = recorder.latency();
    context.figure(`a thread lost (${kind.toLowerCase()}): ${what}, longest`, latency.longest, 'ms', {
      latency,
      ...(what === 'silent' && { aim: { of: 'value', atMost: 250, source: AIM } }),
    });
  }
  await sharded.close();
}

const MANY_IN_FLIGHT = 256;
const MANY_SHARDS = 4;
/** Threads that host actors, beside the main thread alone. */
const COMPARED = [1, 2];
/** Duration of one round; short, so that other load affects all sides of a comparison alike. */
const ROUND_MS = 250;
const COST_AIM = 'docs/performance.md, "Several threads"';

/** Compares the processor time of all threads in alternating rounds. */
async function costOfShards(context: BenchContext): Promise<void> {
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
  context.figure(
    `a step on the main thread, ${IN_FLIGHT} in flight: processor time`,
    middle(alone, Number),
    'µs',
  );
  for (const shards of COMPARED) {
    const ratios = (costs.get(shards) ?? []).map((cost, round) => cost / (alone[round] ?? Number.NaN));
    context.figure(
      `a step on ${shards === 1 ? 'a shard' : `${shards} shards`}: processor time ÷ the same on the main thread`,
      middle(ratios, Number),
      '×',
      { aim: { of: 'value', atMost: 1.15, source: COST_AIM } },
    );
  }
}

/** Measures which thread limits the rate where each has a processor of its own. */
async function busiestThread(context: BenchContext): Promise<void> {
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
    context.figure(name(role), (busiest(before, after, threads) * 1000) / steps, 'µs', {
      ...(threads === undefined && { aim: { of: 'value', atMost: 40, source: COST_AIM } }),
    });
  }
}

async function warmed(sharded: ShardedRuntime, { settings }: BenchContext, inFlight: number): Promise<void> {
  if (!settings.quick) await sharded.warmUp(inFlight);
}
