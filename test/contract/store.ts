/** The contract of `ActorStore`, and promises of the runtime about what a store keeps, run against every implementation. */
import { generateKeyPairSync } from 'node:crypto';
import type { ActorDefinition, ActorStore, Step } from '@sealwright/runtime';
import { createCheckpointSigner, HistorySealer } from '@sealwright/runtime/history';
import {
  SimulatedClock,
  type StoreUnderTest,
  storeContract as storePromises,
} from '@sealwright/runtime/testing';
import ava, { type ExecutionContext, type SerialFn, type TestFn } from 'ava';
import { setup } from 'xstate';
import { migrateStore } from '#runtime/step/migrate.js';
import {
  createTestRuntime,
  gate,
  mortalTally,
  T1,
  T2,
  type TallyContext,
  until,
} from '../runtime/test-runtime.ts';
import { A, stepOf } from './steps.ts';

export type { StoreUnderTest };

async function must(t: ExecutionContext, store: ActorStore, step: Step): Promise<void> {
  t.true((await store.commit(step)).ok, 'the step must be committed');
}

const WAITER = { kind: 'waiter', id: 'w' };
const LEAVER = { kind: 'waiter', id: 'l' };
const QUIET = { debug() {}, info() {}, warn() {}, error() {} };

/** An actor that waits in `state` until a deadline, or until it leaves. */
function waiter(
  wait: { readonly state?: string; readonly id?: string; readonly after?: object },
  version = 1,
): ActorDefinition {
  const { state = 'Waiting', id = 'waiter', after = {} } = wait;
  return {
    kind: 'waiter',
    version,
    ...(version > 1 && { migrations: { 1: { migrate: ({ context }) => ({ state, context }) } } }),
    machine: setup({ types: {}, delays: { pause: 900, retention: 800 } }).createMachine({
      id,
      initial: state,
      states: { [state]: { after, on: { LEAVE: 'Away' } }, Away: {}, Over: {} },
    }),
  };
}

const AFTER_200 = { 200: 'Over' };
const CHANGED_MACHINES: readonly {
  readonly title: string;
  readonly before: ActorDefinition;
  readonly after: ActorDefinition;
}[] = [
  {
    title: 'another literal delay',
    before: waiter({ after: AFTER_200 }),
    after: waiter({ after: { 150: 'Over' } }),
  },
  {
    title: 'a name for a literal delay',
    before: waiter({ after: AFTER_200 }),
    after: waiter({ after: { pause: 'Over' } }),
  },
  {
    title: 'one of two delays',
    before: waiter({ after: { 200: 'Over', retention: 'Away' } }),
    after: waiter({ after: { retention: 'Away', 150: 'Over' } }),
  },
  {
    title: 'another id of the machine',
    before: waiter({ after: AFTER_200 }),
    after: waiter({ after: AFTER_200, id: 'patient' }),
  },
  {
    title: 'another name of the state',
    before: waiter({ after: { retention: 'Over' } }),
    after: waiter({ after: { retention: 'Over', 950: 'Away' }, state: 'Idle' }, 2),
  },
  {
    title: 'a new deadline in a new version',
    before: waiter({}),
    after: waiter({ after: { pause: 'Over' } }, 2),
  },
  {
    title: 'a new deadline in the same version',
    before: waiter({}),
    after: waiter({ after: { pause: 'Over' } }),
  },
];

export function storeContract(
  name: string,
  open: (t: ExecutionContext) => Promise<StoreUnderTest>,
  test: TestFn | SerialFn = ava,
): void {
  const promise = (
    title: string,
    check: (t: ExecutionContext, store: ActorStore, under: StoreUnderTest) => Promise<void>,
  ): void => {
    test(`${name}: ${title}`, async (t) => {
      const under = await open(t);
      await check(t, under.store, under);
    });
  };

  for (const { title, check } of storePromises)
    promise(title, async (t, _, under) => void (await t.notThrowsAsync(check(under))));

  promise('a step replaces lines of the journal of its actor', async (t, store) => {
    const written = (id: number, message: string) => ({ id, at: id, state: 'Open', message, cause: 'WRITE' });
    const other = { kind: A.kind, id: `${A.id}0` };
    for (const actor of [A, other])
      await must(t, store, stepOf(actor, 0, { journal: [1, 2, 3].map((id) => written(id, `text ${id}`)) }));
    const journal = [written(1, ''), written(3, ''), written(4, 'erased')];
    await must(t, store, stepOf(A, 1, { journal }));
    t.deepEqual(await store.journal(A), [written(1, ''), written(2, 'text 2'), ...journal.slice(1)]);
    t.is((await store.journal(other))[0]?.message, 'text 1');
  });

  promise(
    'an actor that is made anew repeats no key: late outcomes do not reach it, its messages arrive',
    async (t, store) => {
      const { runs, handler } = gate();
      const { runtime, system } = createTestRuntime({ store, work: handler, definition: mortalTally });
      t.teardown(async () => {
        for (const run of runs) run.done();
        await runtime.stop();
      });
      runtime.start();
      const heardBy = async (address: typeof T1) =>
        ((await system.read(address))?.context as TallyContext | undefined)?.heard ?? [];
      await system.create(T2, null);
      for (const [at, what] of ['first', 'second'].entries()) {
        await system.create(T1, null);
        await system.send(T1, { type: 'WORK', what });
        await system.send(T1, { type: 'SEND', to: T2, event: { type: 'ADD', what } });
        await until(`the effect of life ${what}`, () => runs.length === at + 1);
        await until(`the message of life ${what}`, async () => (await heardBy(T2)).includes(what));
        if (what === 'first') await system.send(T1, { type: 'END' });
      }
      t.not(runs[0]?.key, runs[1]?.key);
      runs[0]?.done();
      await until('the late outcome', () => runtime.stats().effectsInFlight === 1);
      t.deepEqual(await heardBy(T1), [], 'the outcome of the first life');
      runs[1]?.done();
      await until('the outcome', async () => (await heardBy(T1)).length > 0);
      t.deepEqual([await heardBy(T1), await heardBy(T2)], [['second'], ['first', 'second']]);
      t.deepEqual(await store.pendingEffects(T1), []);
    },
  );

  for (const { title, before, after } of CHANGED_MACHINES) {
    promise(`a deadline fires in a machine that changed: ${title}`, async (t, store, under) => {
      const clock = new SimulatedClock();
      const first = createTestRuntime({ store, clock, definition: before });
      for (const address of [WAITER, LEAVER]) await first.system.create(address, null);
      const reopened = (await under.reopen?.()) ?? store;
      await migrateStore(reopened, [after], { log: QUIET, now: clock.now() });
      const { runtime, system, unaccepted } = createTestRuntime({
        store: reopened,
        clock,
        definition: after,
      });
      t.teardown(() => runtime.stop());
      runtime.start();
      t.true((await system.send(LEAVER, { type: 'LEAVE' })).accepted);
      const { timers } = (await reopened.load(LEAVER)) ?? {};
      t.deepEqual(timers, {}, 'a state that is left cancels its deadline');
      clock.advance(1000);
      await until('the deadline', async () => {
        // A read of the deadlines that began before sets an alarm that is due already.
        clock.advance(0);
        return (await system.read(WAITER))?.state === 'Over';
      });
      t.is(await reopened.nextTimerDue(), undefined);
      t.is((await system.read(LEAVER))?.state, 'Away');
      t.deepEqual(unaccepted, []);
    });
  }

  promise('a checkpoint seals each end of an actor that was made anew', async (t, store) => {
    const { privateKey } = generateKeyPairSync('ed25519');
    const sealer = new HistorySealer({
      store,
      clock: new SimulatedClock(),
      log: QUIET,
      signer: createCheckpointSigner(privateKey),
      every: 60_000,
      kinds: ['job'],
      publishes: false,
    });
    await sealer.start();
    const ended = (hash: string) => ({
      view: 'history-unsealed',
      key: ['job', 'a', 3, hash],
      value: { line: 1, hash },
    });
    await must(t, store, stepOf(A, 0, { rows: { put: [ended('11'), ended('22')], remove: [] } }));
    t.like(await sealer.seal(), { sequence: 1, leaves: 2 });
    t.deepEqual(await store.rows({ view: 'history-unsealed', limit: 9 }), []);
    await sealer.stop();
  });
}
