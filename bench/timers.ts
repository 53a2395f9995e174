/**
 * Benchmark of stored deadlines: armed per second, and time until all deadlines that expired during a stop have
 * fired. Compared with the same number of messages to the same machine, since a deadline fires as a message.
 */

import {
  type ActorAddress,
  type ActorDefinition,
  type ActorStore,
  type BuiltRuntime,
  systemClock,
} from '@sealwright/runtime';
import { openLmdbStore } from '@sealwright/runtime/lmdb';
import { assign, setup } from 'xstate';
import { type Bench, type BenchContext, Unverified } from './frame/bench.ts';
import { quietRuntime } from './frame/quiet.ts';

/** Deadlines per second of measuring. */
const PER_SECOND = 10_000;
/** Concurrent messages. */
const IN_FLIGHT = 64;
const DAY = 86_400_000;

export const bench: Bench = {
  name: 'timers',
  question: 'stored deadlines a second that are armed, and that fire once they are overdue',
  limits: ['as many steps of the same machine by message, 64 in flight'],
  run,
};

interface Context {
  readonly rung: number;
}

const machine = setup({
  types: { context: {} as Context },
  actions: { ring: assign({ rung: ({ context }) => context.rung + 1 }) },
}).createMachine({
  id: 'alarm',
  context: { rung: 0 },
  initial: 'Off',
  states: {
    Off: { on: { ARM: 'Armed', TURN: 'Off' } },
    Armed: { on: { RING: 'Rung' }, after: { [DAY]: { target: 'Rung', actions: 'ring' } } },
    Rung: { type: 'final' },
  },
});

const definition: ActorDefinition = {
  kind: 'alarm',
  machine,
  version: 1,
  counters: ({ state, context }) => ({
    [`alarm.${state}`]: 1,
    'alarm.rung': (context as unknown as Context).rung,
  }),
};

async function run(context: BenchContext): Promise<void> {
  const folder = context.temporaryFolder();
  const count = Math.ceil(PER_SECOND * context.settings.seconds);
  const store = openLmdbStore({ folder });
  const before = openRuntime(store, 0);
  const all = Array.from({ length: 2 * count }, (_, n) => address(n));
  await inFlight(all, (actor) => before.system.create(actor, null));
  // Half of the actors have deadlines, the others receive messages.
  const [armed, moved] = [all.slice(0, count), all.slice(count)];
  const tell = (type: string) => async (actor: ActorAddress) => {
    const outcome = await before.system.send(actor, { type });
    if (!outcome.accepted) throw new Error(`${type} was refused: ${outcome.reason}`);
    await outcome.durable;
  };
  context.progress('arming', 0, 3);
  const arming = await timed(() => inFlight(armed, tell('ARM')));
  context.progress('by message', 1, 3);
  await inFlight(moved, tell('ARM'));
  const byMessage = await timed(() => inFlight(moved, tell('RING')));
  const limit = 'steps by message';
  context.limit(limit, count / byMessage, '/s');
  context.figure('armed', count / arming, '/s', { limit });
  await before.stop();

  context.progress('firing', 2, 3);
  const after = openRuntime(store, 2 * DAY);
  const firing = await timed(async () => {
    after.start();
    while ((await store.counters('alarm.'))['alarm.Armed'] !== undefined) await context.clock.sleep(5);
  });
  const { 'alarm.rung': rung = 0 } = await store.counters('alarm.');
  await after.stop();
  await store.close();
  if (rung !== count) throw new Unverified(`${count} deadlines were armed, ${rung} fired.`);
  context.verified('counting', rung);
  context.figure('overdue ones fired', count / firing, '/s', { limit });
  context.progress('done', 3, 3);
}

function address(n: number): ActorAddress {
  return { kind: 'alarm', id: `alarm-${n}` };
}

/** @param ahead milliseconds by which the clock is fast */
function openRuntime(store: ActorStore, ahead: number): BuiltRuntime {
  const clock = { ...systemClock, now: () => systemClock.now() + ahead };
  return quietRuntime({ store, clock, definitions: [definition] });
}

async function inFlight(
  actors: readonly ActorAddress[],
  work: (actor: ActorAddress) => Promise<unknown>,
): Promise<void> {
  const left = actors.values();
  const worker = async (): Promise<void> => {
    for (const actor of left) await work(actor);
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, worker));
}

/** Measures the duration of the work in seconds. */
async function timed(work: () => Promise<void>): Promise<number> {
  const from = performance.now();
  await work();
  return (performance.now() - from) / 1000;
}
