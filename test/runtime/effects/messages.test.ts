import {
  type ActorStore,
  type Committed,
  type EffectHandler,
  Fatal,
  Retryable,
  type Step,
  systemClock,
  systemIds,
} from '@sealwright/runtime';
import { MemoryStore } from '@sealwright/runtime/testing';
import test, { type ExecutionContext } from 'ava';
import { buildRuntime } from '#runtime/runtime.js';
import { openTestStore } from '../../postgres/test-store.ts';
import { reached } from '../../project/waiting.ts';
import { folderFor } from '../folder.ts';
import { createTestRuntime, echo, heard, settle, T1, T2, tally } from '../test-runtime.ts';

const QUIET = { debug() {}, info() {}, warn() {}, error() {} };

/** Never resolves, and ignores its signal. */
const hung: EffectHandler = { ...echo, run: () => new Promise(() => {}) };

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Takes a turn of the event loop for each commit, as a store on a disk does. */
class UnhurriedStore extends MemoryStore {
  override async commit(step: Step): Promise<Committed> {
    await turn();
    return super.commit(step);
  }
}

function onEachStore(title: string, check: (t: ExecutionContext, store: ActorStore) => Promise<void>): void {
  test(`${title} (memory)`, (t) => check(t, new UnhurriedStore()));
  test(`${title} (disk or database)`, async (t) => {
    const store = await openTestStore({ folder: folderFor(t) });
    t.teardown(() => store.close());
    await check(t, store);
  });
}

/** A runtime with the clock of the machine, and what the receivers of messages have heard, in order. */
function realRuntime(store: ActorStore, work: EffectHandler, effectsInFlight: number) {
  const arrived: string[] = [];
  const runtime = buildRuntime({
    store,
    clock: systemClock,
    ids: systemIds,
    log: QUIET,
    definitions: [tally],
    handlers: { work },
    onCommitted: (step) => {
      if (step.actor.address.id === T2.id) arrived.push(heard(step).at(-1) ?? '');
    },
    effects: { atOnce: effectsInFlight },
  });
  return { runtime, arrived };
}

async function until(t: ExecutionContext, what: string, condition: () => boolean): Promise<void> {
  await reached(condition, settle);
  t.true(condition(), what);
}

onEachStore(
  'messages of one actor to another arrive in order while others keep the mailbox of the receiver full',
  async (t, store) => {
    const { runtime, arrived } = realRuntime(store, echo, 64);
    runtime.start();
    for (const actor of [T1, T2]) await runtime.system.create(actor, null);
    let refused = 0;
    let isOver = false;
    const outside = Array.from({ length: 16 }, async () => {
      while (!isOver) {
        const sent = runtime.system.send(T2, { type: 'ADD', what: 'outside' });
        const wasRefused = await sent.then(
          () => false,
          () => true,
        );
        if (wasRefused) refused += 1;
        if (wasRefused) await turn();
      }
    });
    const told = Array.from({ length: 24 }, (_, n) => `${n}`);
    const tell = (what: string) =>
      runtime.system.send(T1, { type: 'SEND', to: T2, event: { type: 'ADD', what } });
    for (let n = 0; n < told.length; n += 8) await Promise.all(told.slice(n, n + 8).map(tell));
    const messages = () => arrived.filter((what) => /^\d+$/.test(what));
    await until(t, 'all messages arrive', () => messages().length >= told.length);
    isOver = true;
    await Promise.all(outside);
    t.deepEqual(messages(), told);
    t.true(refused > 0, 'the mailbox was full');
    await runtime.stop();
  },
);

onEachStore(
  'messages between actors arrive while all slots of effects hang, and a stop ends after its grace',
  async (t, store) => {
    const { runtime, arrived } = realRuntime(store, hung, 4);
    runtime.start();
    for (const actor of [T1, T2]) await runtime.system.create(actor, null);
    for (let n = 0; n < 6; n++) await runtime.system.send(T1, { type: 'WORK', what: `${n}` });
    await until(t, 'the slots are taken', () => runtime.stats().effectsInFlight === 4);
    await runtime.system.send(T1, { type: 'SEND', to: T2, event: { type: 'ADD', what: 'through' } });
    await until(t, 'the message arrives', () => arrived.includes('through'));
    await runtime.stop(10);
    const pending = await store.pendingEffects(T1);
    t.is(pending.length, 6);
    t.true(pending.every(({ failures }) => failures === 0));
  },
);

test('a handler that exceeds its time limit and ignores its signal is abandoned, and its late outcome is not used', async (t) => {
  const outcomes: ((what: string) => void)[] = [];
  const signals: AbortSignal[] = [];
  const work: EffectHandler = {
    ...echo,
    timeLimitMs: 5000,
    run: (_, { signal }) => {
      signals.push(signal);
      return new Promise((resolve) => outcomes.push((what) => resolve({ type: 'WORKED', what })));
    },
  };
  const { runtime, system, store, clock, logged } = createTestRuntime({
    work,
    effects: { atOnce: 1 },
  });
  runtime.start();
  await system.create(T1, null);
  await system.send(T1, { type: 'WORK', what: 'x' });
  await settle();
  clock.advance(4999);
  t.false(signals[0]?.aborted);
  clock.advance(1);
  t.true(signals[0]?.aborted);
  clock.advance(1000);
  await settle();
  t.like((await store.pendingEffects(T1))[0], {
    failures: 1,
    lastError: 'The handler of "work" did not end within 5000 milliseconds.',
  });
  clock.advance(1000);
  await settle();
  t.is(outcomes.length, 2, 'it runs again');
  outcomes[0]?.('late');
  await settle();
  t.true(logged.some((line) => line.startsWith('An abandoned effect ended')));
  outcomes[1]?.('in time');
  await settle();
  t.deepEqual((await system.read(T1))?.context.heard, ['in time']);
  await runtime.stop();
});

for (const [name, failed] of [
  ['is tried again', undefined],
  ['has its failed outcome', echo.failed],
] as const) {
  test(`an effect beyond its time limit ${name} although the store refuses for a while`, async (t) => {
    const store = new MemoryStore();
    let refusals = 0;
    const refuse = (): void => {
      if (refusals-- > 0) throw new Retryable('store.unavailable', 'not now');
    };
    const deferEffect = store.deferEffect.bind(store);
    store.deferEffect = async (...given) => {
      refuse();
      await deferEffect(...given);
    };
    const commit = store.commit.bind(store);
    store.commit = async (step) => {
      refuse();
      return commit(step);
    };
    let runs = 0;
    const work: EffectHandler = {
      after: 'visible',
      timeLimitMs: 5000,
      tries: failed === undefined ? 9 : 1,
      ...(failed && { failed }),
      run: (effect) => {
        runs += 1;
        return runs === 1 ? new Promise(() => {}) : Promise.resolve({ type: 'WORKED', what: effect.what });
      },
    };
    const { runtime, system, clock } = createTestRuntime({ store, work });
    runtime.start();
    await system.create(T1, null);
    await system.send(T1, { type: 'WORK', what: 'x' });
    await settle();
    refusals = 2;
    for (let second = 0; second < 10; second++) {
      clock.advance(1000);
      await settle();
    }
    t.is(runs, failed === undefined ? 2 : 1);
    t.deepEqual((await system.read(T1))?.context.heard, [failed === undefined ? 'x' : 'effect.time-limit']);
    await runtime.stop();
  });
}

test('effects have the time limit of the runtime where their handlers have none', async (t) => {
  const { runtime, system, store, clock } = createTestRuntime({
    work: { ...hung, tries: 1 },
    effects: { timeoutMs: 700 },
  });
  runtime.start();
  await system.create(T1, null);
  await system.send(T1, { type: 'WORK', what: 'x' });
  await settle();
  clock.advance(1700);
  await settle();
  t.deepEqual((await system.read(T1))?.context.heard, ['effect.time-limit']);
  t.deepEqual(await store.pendingEffects(T1), []);
  await runtime.stop();
});

test('orderly stops use up no tries, whether the handler ends, fails or hangs', async (t) => {
  const store = new MemoryStore();
  const reactions: EffectHandler['run'][] = [
    (_, { signal }) =>
      new Promise((resolve) => signal.addEventListener('abort', () => resolve({ type: 'WORKED' }))),
    (_, { signal }) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('cut off')))),
    hung.run,
  ];
  for (const [n, run] of reactions.entries()) {
    const { runtime, system, clock } = createTestRuntime({ store, work: { ...echo, tries: 2, run } });
    runtime.start();
    if (n === 0) {
      await system.create(T1, null);
      await system.send(T1, { type: 'WORK', what: 'x' });
    }
    await settle();
    t.is(runtime.stats().effectsInFlight, 1, `start ${n}`);
    const stopped = runtime.stop(500);
    clock.advance(1500);
    await stopped;
    t.like((await store.pendingEffects(T1))[0], { failures: 0, lastError: null }, `stop ${n}`);
  }
  const { system } = createTestRuntime({ store });
  t.like(await system.read(T1), { revision: 2, context: { heard: [] } });
});

test('a handler that returns no event fails with an error that names it, and its actor goes on', async (t) => {
  for (const outcome of [undefined, {}, { type: 7 }, { type: 'WORKED', what: new Date(0) }]) {
    const work = { ...echo, run: async () => outcome as unknown as null };
    const { runtime, system } = createTestRuntime({ work, effects: { atOnce: 1 } });
    runtime.start();
    await system.create(T1, null);
    for (let n = 0; n < 8; n++) await system.send(T1, { type: 'WORK', what: `${n}` });
    await settle();
    t.like(await system.read(T1), { stopped: false });
    t.deepEqual((await system.read(T1))?.context.heard, Array(8).fill('effect.malformed-outcome'));
    await runtime.stop();
  }
});

test('an effect that used up its tries without a message for that is set aside, and runs again when an operator asks', async (t) => {
  let runs = 0;
  for (const error of [new Error('plain'), new Retryable('busy', 'not now')]) {
    runs = 0;
    const work: EffectHandler = {
      after: 'visible',
      tries: 2,
      run: async () => {
        runs += 1;
        if (runs <= 2) throw error;
        return { type: 'WORKED', what: 'at last' };
      },
    };
    const { runtime, system, store, clock, logged } = createTestRuntime({ work });
    runtime.start();
    await system.create(T1, null);
    await system.send(T1, { type: 'WORK', what: 'x' });
    for (let minute = 0; minute < 20; minute++) {
      await settle();
      clock.advance(60_000);
    }
    t.is(runs, 2);
    const [failed] = await store.failedEffects({ limit: 9 });
    t.like(failed, { failures: 2, lastError: `effect.set-aside: ${error.message}` });
    t.true(logged.some((line) => line.startsWith('An effect is set aside')));
    t.true(await runtime.runAgain(T1));
    await settle();
    t.deepEqual((await system.read(T1))?.context.heard, ['at last']);
    await runtime.stop();
  }
});

for (const [what, end, kept] of [
  [
    'returns nothing',
    () => undefined as unknown as null,
    /^effect\.set-aside: The handler of "work" returned neither null nor an event\. .* not undefined/,
  ],
  [
    'throws a fatal error',
    () => {
      throw new Fatal('broken', 'for good');
    },
    /^effect\.set-aside: for good$/,
  ],
] as const)
  test(`an effect whose handler ${what} is set aside at once where the handler has no message for a failure`, async (t) => {
    let runs = 0;
    const work: EffectHandler = {
      after: 'visible',
      run: async () => {
        runs += 1;
        return end();
      },
    };
    const { runtime, system, store, clock } = createTestRuntime({ work });
    runtime.start();
    await system.create(T1, null);
    await system.send(T1, { type: 'WORK', what: 'x' });
    await settle();
    clock.advance(600_000);
    await settle();
    t.is(runs, 1);
    t.regex((await store.pendingEffects(T1))[0]?.lastError ?? '', kept);
    await runtime.stop();
  });

test('a message that makes its receiver throw is set aside, stops nobody, and later ones of the pair wait for it', async (t) => {
  const { runtime, system, store, clock, logged } = createTestRuntime();
  runtime.start();
  await system.create(T1, null);
  await system.create(T2, null);
  await system.send(T1, { type: 'SEND', to: T2, event: { type: 'THROW' } });
  await system.send(T1, { type: 'SEND', to: T2, event: { type: 'ADD', what: 'after' } });
  await settle();
  t.deepEqual((await system.read(T2))?.context.heard, [], 'the later one waits');
  for (let second = 0; second < 40; second++) {
    await settle();
    clock.advance(1000);
  }
  t.like(await system.read(T2), { stopped: false, context: { heard: ['after'] } });
  t.deepEqual(
    (await store.failedEffects({ limit: 9 })).map(({ failures, lastError }) => [failures, lastError]),
    [[5, 'effect.set-aside: this machine throws on purpose']],
  );
  t.is(logged.filter((line) => line.startsWith('An effect is set aside')).length, 1);
  await runtime.stop();
});

test('outcomes and messages that nobody accepts are logged and counted', async (t) => {
  const { runtime, system, store, logged, unaccepted } = createTestRuntime();
  await system.create(T1, null);
  await system.create(T2, null);
  await system.send(T1, { type: 'SEND', to: { kind: 'tally', id: 'nobody' }, event: { type: 'ADD' } });
  await system.send(T1, { type: 'SEND', to: T2, event: { type: 'WAKE' } });
  await system.send(T1, { type: 'SEND', to: T2, event: { type: 'ADD' } });
  await system.send(T2, { type: 'WORK', what: 'x' });
  await system.send(T1, { type: 'WORK', what: 'x' });
  await system.send(T1, { type: 'END' });
  runtime.start();
  await settle();
  t.deepEqual(unaccepted.sort(), ['outcome to t1', 'tell to nobody', 'tell to t2']);
  const lines = logged.filter((line) => line.startsWith('The receiver did not accept'));
  t.is(lines.length, 3);
  t.true(lines.some((line) => line.includes('"event":"WORKED"') && line.includes('"receiver":"tally/t1"')));
  t.deepEqual([...(await store.pendingEffects(T1)), ...(await store.pendingEffects(T2))], []);
  await runtime.stop();
});
