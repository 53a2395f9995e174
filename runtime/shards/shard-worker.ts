/** A thread that hosts the actors of one shard. It starts without one, so that a spare can wait for its turn. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { parentPort, workerData } from 'node:worker_threads';
import { expose } from 'comlink';
import { systemClock } from '../clock.ts';
import type { StepOutcome } from '../definition.ts';
import { declaredFaultPoints, Faults } from '../faults.ts';
import { Host } from '../host.ts';
import type { Log } from '../ports.ts';
import { openShardStore } from '../store/lmdb-shard.ts';
import { Supervisor } from '../supervisor.ts';
import { plainFailure } from './failures.ts';
import { warmUp } from './warm-up.ts';
import type {
  FromShard,
  LogLevel,
  PlainOutcome,
  ShardAnswer,
  ShardApi,
  ShardCall,
  ShardParts,
  ShardThreadData,
} from './wire.ts';
import { WorkMark } from './work-mark.ts';

/** How often the event loop is looked at, milliseconds. */
const LOOK_EVERY = 20;

const { port, parts, mark: memory, store: shared, setup } = workerData as ShardThreadData;
const mark = new WorkMark(memory);
const { shardParts } = (await import(parts)) as { readonly shardParts: ShardParts };
const definitions = new Map(shardParts.definitions.map((definition) => [definition.kind, definition]));
const delay = monitorEventLoopDelay({ resolution: LOOK_EVERY });
delay.enable();

const faults = Faults.parse(knownHere(setup.faults));
const store = openShardStore(shared, faults);
const lanes = setup.effects.map((name) => [name, shardParts.lanes[name] ?? null] as const);
await warmUp(store);

let host: Host | undefined;
let answers: ShardAnswer[] = [];
/** Calls of `take` that are not answered yet. */
let taken: ((answers: readonly ShardAnswer[]) => void)[] = [];

const api: ShardApi = {
  begin(shard) {
    host = new Host({
      shard,
      store,
      clock: systemClock,
      log: { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') },
      faults,
      supervisor: new Supervisor(setup.restarts),
      definitions,
      effects: new Map(lanes),
      cached: setup.cached,
      committed: () => {},
      computing: (actor) => {
        mark.actor = actor;
      },
    });
  },
  take(calls) {
    for (const call of calls) void answer(call);
    return new Promise((resolve) => taken.push(resolve));
  },
  async report() {
    const [report] = (await host?.reports()) ?? [];
    if (report === undefined) throw new Error('The thread hosts no shard yet.');
    const late = (nanoseconds: number) => Math.max(0, nanoseconds / 1e6 - LOOK_EVERY);
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

expose(api, port);

function tell(message: FromShard): void {
  parentPort?.postMessage(message);
}

/** Points of the services lie on the main thread; the names of those are unknown here. */
function knownHere(faults: string): string {
  const declared = declaredFaultPoints();
  return faults
    .split(',')
    .filter((part) => Object.hasOwn(declared, (part.split(/[=/]/)[0] ?? '').trim()))
    .join(',');
}

async function answer(call: ShardCall): Promise<void> {
  const { seq } = call;
  try {
    const outcome = await run(call);
    give({ seq, serial: store.serial, ok: true, outcome: outcome && plain(outcome) });
  } catch (error) {
    give({ seq, serial: store.serial, ok: false, failure: plainFailure(error) });
  }
}

async function run(call: ShardCall): Promise<StepOutcome | null> {
  if (host === undefined) throw new Error('The thread hosts no shard yet.');
  if (call.call === 'create') return told(await host.create(call.address, call.input, call.seq));
  if (call.call === 'deliver')
    return told(await host.deliver(call.address, call.event, { ...call.delivery, call: call.seq }));
  if (call.call === 'restart') return host.restart(call.address);
  if (call.call === 'giveUp') return host.giveUp(call.address, call.error);
  await host.settle(call.address, call.effect);
  return null;
}

/** The step of a message that was accepted says what became of it. */
function told(outcome: StepOutcome): StepOutcome | null {
  return outcome.accepted ? null : outcome;
}

function plain(outcome: StepOutcome): PlainOutcome {
  if (!outcome.accepted) return outcome;
  return { accepted: true, actor: outcome.actor, revision: outcome.revision };
}

/** All answers of one turn go together, as the reply to a batch of calls where one waits for it. */
function give(one: ShardAnswer): void {
  answers.push(one);
  if (answers.length > 1) return;
  setImmediate(() => {
    const all = answers;
    const [first = unasked, ...others] = taken;
    answers = [];
    taken = [];
    first(all);
    for (const other of others) other([]);
  });
}

function unasked(all: readonly ShardAnswer[]): void {
  tell({ type: 'answers', answers: all });
}

function line(level: LogLevel): Log['info'] {
  return (text, properties) => tell({ type: 'log', level, text, properties });
}
