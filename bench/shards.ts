/**
 * Actors on threads of their own: steps a second with one thread, two and four; messages between threads for a thousand
 * steps; and how long the actors of a thread that is lost are silent. Run: `node dist/bench/shards.js [losses of each kind]`.
 *
 * The silence is counted from the loss, as this thread learns of it or brings it about, to the first answer of an actor
 * of that shard. A thread that computes for ever is noticed by its silence first (`ShardOptions.patience`); that time stands
 * beside it, and so does the time a heap takes to be filled.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { MessagePort, Worker } from 'node:worker_threads';
import { createRuntime, openLmdbStore, type Runtime, systemClock, systemIds } from '../runtime/index.ts';
import { benched } from './shards/actors.ts';

const ACTORS = 2000;
const IN_FLIGHT = 64;
const SECONDS = 4;
const PATIENCE = 2000;
const KINDS = ['terminated', 'EXIT', 'HOARD', 'SPIN'] as const;
const HEAP = 64;

let posted = 0;
for (const sender of [MessagePort.prototype, Worker.prototype]) {
  const post = sender.postMessage;
  sender.postMessage = function counting(this: never, ...message: never) {
    posted += 1;
    post.apply(this, message);
  };
}

interface World {
  readonly runtime: Runtime;
  /** Told when a thread is lost, with `performance.now()`. */
  lost: (at: number) => void;
  close(): Promise<void>;
}

async function open(shards: number): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), 'sealwright-shards-'));
  const store = openLmdbStore({ folder });
  const quiet = (): void => {};
  const world: World = {
    lost: quiet,
    runtime: createRuntime({
      store,
      clock: systemClock,
      ids: systemIds,
      log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
      definitions: [benched],
      handlers: {},
      ...(shards > 1 && {
        shards: {
          count: shards,
          parts: new URL('./shards/actors.js', import.meta.url).href,
          faults: '',
          memory: HEAP,
          patience: PATIENCE,
          losses: { restarts: 1_000_000 },
          onReplaced: () => world.lost(performance.now()),
          onLost: (why) => {
            throw new Error(why);
          },
        },
      }),
    }),
    async close() {
      await world.runtime.stop();
      await store.close();
      rmSync(folder, { recursive: true });
    },
  };
  for (let n = 0; n < ACTORS; n += 200) {
    await Promise.all(Array.from({ length: 200 }, (_, k) => world.runtime.system.create(address(n + k), {})));
  }
  return world;
}

const address = (n: number) => ({ kind: 'benched', id: `b${n}` });

async function speed(shards: number): Promise<void> {
  const world = await open(shards);
  const { system, inspector } = world.runtime;
  let next = 0;
  let steps = 0;
  const lane = async (until: number): Promise<void> => {
    while (performance.now() < until) {
      const outcome = await system.tell(address(next++ % ACTORS), { type: 'TURN' });
      if (!outcome.accepted) throw new Error(outcome.because);
      await outcome.durable;
      steps += 1;
    }
  };
  const lanes = (millis: number) =>
    Promise.all(Array.from({ length: IN_FLIGHT }, () => lane(performance.now() + millis)));
  /** Messages sent by all threads: this one, those of the shards, and the writer, which tells two threads of each group. */
  const messages = async (): Promise<{ readonly here: number; readonly all: number }> => {
    const here = posted;
    if (shards === 1) return { here, all: here * 2 };
    let all = here;
    const seen = new Set<number>();
    for (let n = 0; seen.size < shards; n += 1) {
      const { shard = 0, state } = (await inspector.actor(address(n))) ?? {};
      if (seen.has(shard) || state !== 'On') continue;
      seen.add(shard);
      const outcome = await system.tell(address(n), { type: 'COUNT' });
      const counted = outcome.accepted && (outcome.actor.context as { posted: number; groups: number });
      if (counted) all += counted.posted + 2 * counted.groups;
    }
    return { here, all };
  };
  await lanes((SECONDS * 1000) / 4);
  const before = await messages();
  const cpu = process.cpuUsage();
  steps = 0;
  const start = performance.now();
  await lanes(SECONDS * 1000);
  const seconds = (performance.now() - start) / 1000;
  const { user, system: kernel } = process.cpuUsage(cpu);
  const after = await messages();
  const per = (count: number) => Math.round((count / steps) * 1000);
  console.log(
    `${String(shards).padStart(2)} threads  ${String(Math.round(steps / seconds)).padStart(6)} steps/s  ` +
      `${String(Math.round((user + kernel) / steps)).padStart(4)} us of all processors a step  ` +
      `messages between threads for 1,000 steps: ${per(after.all - before.all)}, of them from the main thread ${per(after.here - before.here)}`,
  );
  await world.close();
}

async function silence(kind: (typeof KINDS)[number], rounds: number): Promise<void> {
  const world = await open(2);
  const { system, inspector, crashShard } = world.runtime;
  const shardOf = new Map<number, number>();
  for (let n = 0; n < ACTORS; n += 1) {
    const actor = await inspector.actor(address(n));
    shardOf.set(n, actor?.shard ?? 0);
  }
  const silent: number[] = [];
  const noticed: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    // Another actor each time: one that costs thread after thread is stopped.
    const victim = round;
    const neighbour = [...shardOf].find(([n, shard]) => n > 1000 && shard === shardOf.get(victim))?.[0] ?? 0;
    const told = performance.now();
    const lost = new Promise<number>((resolve) => {
      world.lost = resolve;
    });
    if (kind === 'terminated') void crashShard?.(shardOf.get(victim) ?? 0);
    else void system.tell(address(victim), { type: kind }).catch(() => {});
    const at = await lost;
    noticed.push(at - told);
    const outcome = await system.tell(address(neighbour), { type: 'TURN' });
    if (!outcome.accepted) throw new Error(outcome.because);
    silent.push(performance.now() - at);
    // The next spare has to load; two losses within that time are a matter of their own.
    await systemClock.sleep(1500);
  }
  console.log(
    `${kind.padEnd(10)}  ${rounds} losses: silent for ${quantiles(silent)} ms; noticed after ${quantiles(noticed)} ms`,
  );
  await world.close();
}

function quantiles(values: number[]): string {
  values.sort((left, right) => left - right);
  const at = (part: number) =>
    Math.round(values[Math.min(values.length - 1, Math.floor(values.length * part))] ?? 0);
  return `p50 ${at(0.5)}, p99 ${at(0.99)}, longest ${at(1)}`;
}

const rounds = Number(process.argv[2] ?? 50);
console.log(`${cpus()[0]?.model ?? 'unknown processor'}, ${cpus().length} cores, Node ${process.version}`);
const only = process.argv[3];
for (const shards of [1, 2, 4]) if (only === undefined || only === 'speed') await speed(shards);
for (const kind of KINDS) if (only === undefined || only === kind) await silence(kind, rounds);
