/** A thread that hosts the actors of one shard. It starts without a shard, so that it can be a spare. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { expose } from 'comlink';
import { Host } from '../host/host.ts';
import { Supervisor } from '../host/supervisor.ts';
import { systemClock } from '../model/clock.ts';
import type { StepOutcome } from '../model/definition.ts';
import { Faults } from '../model/faults.ts';
import { systemIds } from '../model/ids.ts';
import type { Log } from '../model/ports.ts';
import { openShardStore } from '../store/lmdb/lmdb-shard.ts';
import { warmUp } from './warm-up.ts';
import {
  ComputingMark,
  type FromShard,
  type LogLevel,
  plainFailure,
  type ShardAnswer,
  type ShardApi,
  type ShardCall,
  type ShardModule,
  type ShardThreadData,
  type ToShard,
} from './wire.ts';

/** Sampling interval of the event loop delay, milliseconds. */
const CHECK_INTERVAL_MS = 20;

const { port, parts, mark: memory, store: shared, setup } = workerData as ShardThreadData;
const mark = new ComputingMark(memory);
const { shardModule } = (await import(parts)) as { readonly shardModule?: ShardModule };
if (shardModule === undefined)
  throw new Error(
    'The module for the threads exports no `shardModule`: `export const shardModule = shardActors(actors)`.',
  );
const definitions = new Map(shardModule.definitions.map((definition) => [definition.kind, definition]));
const delay = monitorEventLoopDelay({ resolution: CHECK_INTERVAL_MS });
delay.enable();

const faults = Faults.parseDeclared(setup.faults);
const store = openShardStore(shared, faults);
const declared = shardModule.definitions.flatMap(({ effects = [] }) => effects);
const partitions = new Map(
  setup.effects.map((name) => {
    const partitioning = declared.find((effect) => effect.name === name)?.partitioning;
    return [name, partitioning === undefined ? null : partitioning.partitionOf] as const;
  }),
);
await warmUp(store);

let host: Host | undefined;
let answers: ShardAnswer[] = [];

const api: ShardApi = {
  async report() {
    const [report] = (await host?.reports()) ?? [];
    if (report === undefined) throw new Error('The thread hosts no shard yet.');
    const late = (nanoseconds: number) => Math.max(0, nanoseconds / 1e6 - CHECK_INTERVAL_MS);
    const none = delay.count === 0;
    return {
      ...report,
      eventLoopDelay: {
        p50Ms: none ? 0 : late(delay.percentile(50)),
        p99Ms: none ? 0 : late(delay.percentile(99)),
        maxMs: none ? 0 : late(delay.max),
      },
    };
  },
  ping: () => true,
};

expose(api, port as MessagePort);
parentPort?.on('message', (message: ToShard) => {
  if (typeof message !== 'string') host = hostOf(message.shard);
  else for (const call of JSON.parse(message) as readonly ShardCall[]) void answer(call);
});

function hostOf(shard: number): Host {
  return new Host({
    shard,
    store,
    clock: systemClock,
    ids: systemIds,
    log: { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') },
    faults,
    supervisor: new Supervisor(setup.restarts),
    definitions,
    effects: partitions,
    cached: setup.cached,
    committed: () => {},
    computing: (actor) => {
      mark.actor = actor;
    },
  });
}

function notifyOwner(message: FromShard): void {
  parentPort?.postMessage(message);
}

async function answer(call: ShardCall): Promise<void> {
  const { seq } = call;
  try {
    const outcome = await run(call);
    if (outcome === 'step') return;
    reply({ seq, serial: store.serial, ok: true, outcome });
  } catch (error) {
    reply({ seq, serial: store.serial, ok: false, failure: plainFailure(error) });
  }
}

/** Returns `step` when a step that names the call is stored: the writing thread has sent it to the main thread. */
async function run(call: ShardCall): Promise<StepOutcome | 'step' | null> {
  if (host === undefined) throw new Error('The thread hosts no shard yet.');
  if (call.call === 'create')
    return unlessStored(await host.create(call.address, call.input, { ...call.delivery, call: call.seq }));
  if (call.call === 'deliver')
    return unlessStored(await host.deliver(call.address, call.event, { ...call.delivery, call: call.seq }));
  if (call.call === 'restart') return host.restart(call.address);
  if (call.call === 'end') return host.end(call.address);
  if (call.call === 'giveUp') return host.stopActor(call.address, call.error);
  await host.settle(call.address, call.effect, call.letter);
  return null;
}

function unlessStored(outcome: StepOutcome): StepOutcome | 'step' {
  return outcome.accepted ? 'step' : outcome;
}

/** Sends all answers of one turn together. */
function reply(one: ShardAnswer): void {
  answers.push(one);
  if (answers.length > 1) return;
  setImmediate(() => {
    notifyOwner({ type: 'answers', answers });
    answers = [];
  });
}

function line(level: LogLevel): Log['info'] {
  return (text, properties) => notifyOwner({ type: 'log', level, text, properties });
}
