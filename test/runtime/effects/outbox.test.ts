import { cpSync } from 'node:fs';
import {
  type Committed,
  type EffectHandler,
  type EffectKey,
  Fatal,
  Retryable,
  type Step,
} from '@sealwright/runtime';
import { openLmdbStore } from '@sealwright/runtime/lmdb';
import { MemoryStore, SimulatedClock } from '@sealwright/runtime/testing';
import test from 'ava';
import { reached } from '../../project/waiting.ts';
import { folderFor } from '../folder.ts';
import { createTestRuntime, echo, gate, heard, settle, T1, T2 } from '../test-runtime.ts';

test('a committed effect runs at once and its outcome reaches the actor in one step', async (t) => {
  const { runtime, system, store, committed } = createTestRuntime();
  runtime.start();
  await system.create(T1, null);
  await system.send(T1, { type: 'WORK', what: 'x' });
  const step = await committed((one) => heard(one).includes('x'));
  t.regex(step.settles ?? '', /^tally\/t1\/2\/\d+$/);
  t.deepEqual(await store.pendingEffects(T1), []);
  await runtime.stop();
});

test('a store that was restored from a backup gives out no key of the time after the backup', async (t) => {
  const folder = folderFor(t);
  const backup = folderFor(t);
  const store = openLmdbStore({ folder });
  await createTestRuntime({ store }).system.create(T1, null);
  await store.close();
  cpSync(folder, backup, { recursive: true });
  const keys: (string | undefined)[] = [];
  for (const copy of [folder, backup]) {
    const opened = openLmdbStore({ folder: copy });
    const { system } = createTestRuntime({ store: opened, seed: 2 + keys.length });
    t.like(await system.send(T1, { type: 'WORK', what: 'x' }), { accepted: true, revision: 2 });
    keys.push((await opened.pendingEffects(T1))[0]?.key);
    await opened.close();
  }
  t.not(keys[0], keys[1]);
});

test('an effect without an outcome is removed without a step, and runs once', async (t) => {
  let runs = 0;
  const work: EffectHandler = {
    ...echo,
    run: async () => {
      runs += 1;
      return null;
    },
  };
  const { runtime, system, store, clock } = createTestRuntime({ work });
  runtime.start();
  await system.create(T1, null);
  await system.send(T1, { type: 'WORK', what: 'x' });
  await settle();
  clock.advance(1000);
  await settle();
  t.is(runs, 1);
  t.deepEqual(await store.pendingEffects(T1), []);
  t.is((await system.read(T1))?.revision, 2);
  await runtime.stop();
});

test('an effect that its handler declares unnecessary is not stored, and other effects of its kind run', async (t) => {
  const runs: unknown[] = [];
  const work: EffectHandler = {
    ...echo,
    isNeeded: ({ what }) => what !== 'for nobody',
    async run({ what }) {
      runs.push(what);
      return null;
    },
  };
  const { runtime, system, store } = createTestRuntime({ work });
  await system.create(T1, null);
  t.true((await system.send(T1, { type: 'WORK', what: 'for nobody' })).accepted);
  t.deepEqual(await store.pendingEffects(T1), []);
  await system.send(T1, { type: 'WORK', what: 'for somebody' });
  t.is((await store.pendingEffects(T1)).length, 1);
  runtime.start();
  await settle();
  t.deepEqual(runs, ['for somebody']);
  await runtime.stop();
});

test('a stop removes the effects without an outcome, so that the next start does not repeat them', async (t) => {
  const work: EffectHandler = { ...echo, run: async () => null };
  const { runtime, system, store } = createTestRuntime({ work });
  runtime.start();
  await system.create(T1, null);
  await system.send(T1, { type: 'WORK', what: 'x' });
  await settle();
  t.is((await store.pendingEffects(T1)).length, 1);
  await runtime.stop();
  t.deepEqual(await store.pendingEffects(T1), []);
});

test('effects wait for start, and actors accept messages before it', async (t) => {
  const { runtime, system, store, committed } = createTestRuntime();
  await system.create(T1, null);
  await system.send(T1, { type: 'WORK', what: 'x' });
  await settle();
  t.is((await store.pendingEffects(T1)).length, 1);
  runtime.start();
  await committed((step) => heard(step).includes('x'));
  await runtime.stop();
  t.pass();
});

test('pending effects of an earlier process run after the next start, oldest first', async (t) => {
  const store = new MemoryStore();
  const before = createTestRuntime({ store });
  await before.system.create(T1, null);
  for (const what of ['a', 'b', 'c']) await before.system.send(T1, { type: 'WORK', what });
  const after = createTestRuntime({ store, effects: { atOnce: 1 } });
  after.runtime.start();
  const last = await after.committed((step) => heard(step).length === 3);
  t.deepEqual(heard(last), ['a', 'b', 'c']);
  await after.runtime.stop();
});

test('at most the allowed number of effects runs, and the others follow', async (t) => {
  const { runs, handler } = gate();
  const { runtime, system, committed } = createTestRuntime({
    work: handler,
    effects: { atOnce: 2 },
  });
  runtime.start();
  await system.create(T1, null);
  for (const what of ['a', 'b', 'c', 'd']) await system.send(T1, { type: 'WORK', what });
  await settle();
  t.deepEqual(
    runs.map(({ what }) => what),
    ['a', 'b'],
  );
  t.is(runtime.stats().effectsInFlight, 2);
  for (let n = 0; n < 4; n++) {
    runs[n]?.done();
    await settle();
  }
  await committed((step) => heard(step).length === 4);
  t.is(runs.length, 4);
  await runtime.stop();
});

test('a retryable failure is retried after growing pauses with the same key', async (t) => {
  const tries: { key: string; failures: number; at: number }[] = [];
  const work: EffectHandler = {
    ...echo,
    run: async (effect, { key, failures }) => {
      tries.push({ key, failures, at: clock.elapsed() });
      if (failures < 3) throw new Retryable('busy', 'not now');
      return { type: 'WORKED', what: effect.what };
    },
  };
  const { runtime, system, clock, committed } = createTestRuntime({ work });
  runtime.start();
  await system.create(T1, null);
  await system.send(T1, { type: 'WORK', what: 'x' });
  for (let second = 0; second < 10; second++) {
    await settle();
    clock.advance(1000);
  }
  await committed((step) => heard(step).includes('x'));
  t.deepEqual(
    tries.map(({ failures }) => failures),
    [0, 1, 2, 3],
  );
  t.is(new Set(tries.map(({ key }) => key)).size, 1);
  const gaps = tries.slice(1).map(({ at }, n) => at - (tries[n]?.at ?? 0));
  for (const [n, gap] of gaps.entries())
    t.true(gap >= 750 * 2 ** n && gap <= 1000 * 2 ** n + 1000, `pause ${n}: ${gap}`);
  await runtime.stop();
});

test('a failure may set no longer pause than five minutes', async (t) => {
  let runs = 0;
  const work: EffectHandler = {
    ...echo,
    run: async () => {
      runs += 1;
      throw new Retryable('busy', 'next year', 365 * 86_400_000);
    },
  };
  const { runtime, system, store, clock } = createTestRuntime({ work });
  runtime.start();
  await system.create(T1, null);
  await system.send(T1, { type: 'WORK', what: 'x' });
  await settle();
  t.is((await store.pendingEffects(T1))[0]?.dueAt, clock.now() + 5 * 60_000);
  for (let minute = 0; minute < 5; minute += 1) {
    clock.advance(60_000);
    await settle();
  }
  t.is(runs, 2);
  await runtime.stop();
});

test('an effect without an outcome whose removal failed is removed later without a restart, and runs once', async (t) => {
  const memory = new MemoryStore();
  let refusals = 1;
  const store = new Proxy(memory, {
    get(target, name) {
      if (name === 'settleEffects' && refusals > 0)
        return async () => {
          refusals -= 1;
          throw new Retryable('store.unavailable', 'disk full');
        };
      const value = Reflect.get(target, name) as unknown;
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  let runs = 0;
  const work: EffectHandler = {
    ...echo,
    run: async () => {
      runs += 1;
      return null;
    },
  };
  const { runtime, system, clock } = createTestRuntime({ store, work });
  runtime.start();
  await system.create(T1, null);
  await system.send(T1, { type: 'WORK', what: 'x' });
  await settle();
  clock.advance(100);
  await settle();
  t.is(refusals, 0);
  t.is((await memory.pendingEffects(T1)).length, 1);
  clock.advance(1000);
  await settle();
  t.deepEqual(await memory.pendingEffects(T1), []);
  t.is(runs, 1);
  await runtime.stop();
});

test('many effects that listen to their signals cause no warning', async (t) => {
  const warnings: string[] = [];
  const look = ({ name }: Error) => void warnings.push(name);
  process.prependListener('warning', look);
  const EFFECTS = 32;
  let ended = (): void => {};
  const end = new Promise<void>((resolve) => {
    ended = resolve;
  });
  let running = 0;
  const work: EffectHandler = {
    ...echo,
    async run(effect, { signal }) {
      signal.addEventListener('abort', () => {});
      running += 1;
      await end;
      return { type: 'WORKED', what: effect.what };
    },
  };
  const { runtime, system, committed } = createTestRuntime({ work });
  runtime.start();
  await system.create(T1, null);
  for (let n = 0; n < EFFECTS; n += 1) await system.send(T1, { type: 'WORK', what: `${n}` });
  await settle();
  t.is(running, EFFECTS);
  ended();
  await committed((step) => heard(step).length === EFFECTS);
  await runtime.stop();
  process.removeListener('warning', look);
  t.deepEqual(
    warnings.filter((name) => name === 'MaxListenersExceededWarning'),
    [],
  );
});

test('a failure may set the pause before its retry', async (t) => {
  let runs = 0;
  const work: EffectHandler = {
    ...echo,
    run: async () => {
      runs++;
      throw new Retryable('busy', 'later', 60_000);
    },
  };
  const { runtime, system, store, clock } = createTestRuntime({ work });
  runtime.start();
  await system.create(T1, null);
  await system.send(T1, { type: 'WORK', what: 'x' });
  await settle();
  const [pending] = await store.pendingEffects(T1);
  t.like(pending, { failures: 1, lastError: 'later', dueAt: clock.now() + 60_000 });
  clock.advance(59_000);
  await settle();
  t.is(runs, 1);
  clock.advance(1001);
  await settle();
  t.is(runs, 2);
  await runtime.stop();
});

for (const thrown of [new Retryable('busy', 'later'), Object.assign(new Error('reset'), { code: 'busy' })])
  test(`a fatal failure at once, and a ${thrown.name} at the last try, become the failed outcome`, async (t) => {
    const attempts = new Map<string, number>();
    const run = (what: string, failures: number) => {
      attempts.set(what, failures + 1);
      if (what === 'fatal') throw new Fatal('broken', 'for good');
      throw thrown;
    };
    const work: EffectHandler = {
      ...echo,
      tries: 3,
      run: async (effect, { failures }) => run(effect.what, failures),
    };
    const { runtime, system, store, clock, committed } = createTestRuntime({ work });
    runtime.start();
    await system.create(T1, null);
    await system.send(T1, { type: 'WORK', what: 'fatal' });
    await committed((step) => heard(step).includes('broken'));
    await system.send(T1, { type: 'WORK', what: 'busy' });
    for (let second = 0; second < 5; second++) {
      await settle();
      clock.advance(1000);
    }
    await committed((step) => heard(step).includes('busy'));
    t.deepEqual(Object.fromEntries(attempts), { fatal: 1, busy: 3 });
    t.deepEqual(await store.pendingEffects(T1), []);
    await runtime.stop();
  });

/** Values that handlers have thrown elsewhere, and that a hostile library could throw. */
const THROWN: readonly (readonly [name: string, value: unknown, kept: string])[] = [
  ['nothing', undefined, 'undefined'],
  ['null', null, 'null'],
  ['a text', 'no route', 'no route'],
  ['a symbol', Symbol('away'), 'Symbol(away)'],
  ['an object without a prototype', Object.create(null), 'The error cannot be read.'],
  [
    'an error whose members throw',
    Object.defineProperties(new Error(), {
      message: {
        get(): string {
          throw new Error('a getter');
        },
      },
      retryable: {
        get(): boolean {
          throw new Error('a getter');
        },
      },
    }),
    'The error cannot be read.',
  ],
  ['a text no database keeps', new Error('a\0b\ud800'), 'a\ufffdb\ufffd'],
  ['a long text', new Error('x'.repeat(5_000_000)), `${'x'.repeat(8000)}…`],
  [
    'a pause that is a text',
    Object.assign(new Error('later'), { retryable: true, retryAfter: 'soon' }),
    'later',
  ],
  ['a pause below nothing', new Retryable('busy', 'later', -5e15), 'later'],
  ['a pause of nothing', new Retryable('busy', 'later', 0), 'later'],
  ['a pause that is no number', new Retryable('busy', 'later', Number.NaN), 'later'],
];

for (const [name, value, kept] of THROWN)
  test(`an effect that throws ${name} is tried again in a second, and its error is kept`, async (t) => {
    const work: EffectHandler = {
      ...echo,
      run: async (effect, { failures }) => {
        if (failures === 0) throw value;
        return { type: 'WORKED', what: effect.what };
      },
    };
    const { runtime, system, store, clock, committed } = createTestRuntime({ work });
    runtime.start();
    await system.create(T1, null);
    await system.send(T1, { type: 'WORK', what: 'x' });
    await settle();
    const [pending] = await store.pendingEffects(T1);
    t.like(pending, { failures: 1, lastError: kept });
    t.true((pending?.dueAt ?? 0) >= clock.now() + 100 && (pending?.dueAt ?? 0) <= clock.now() + 1000);
    const done = committed((step) => heard(step).includes('x'));
    clock.advance(1000);
    await done;
    await runtime.stop();
  });

test('an effect without a message for permanent failure is retried after every other error until it succeeds', async (t) => {
  let left = 3;
  const work: EffectHandler = {
    after: 'visible',
    async run() {
      left -= 1;
      if (left > 0) throw new Error('for now');
      return { type: 'WORKED', what: 'at last' };
    },
  };
  const { runtime, system, store, clock, committed } = createTestRuntime({ work });
  runtime.start();
  await system.create(T1, null);
  const done = committed((step) => heard(step).includes('at last'));
  await system.send(T1, { type: 'WORK', what: 'x' });
  await settle();
  t.like((await store.pendingEffects(T1))[0], { failures: 1, lastError: 'for now' });
  for (let second = 0; second < 5; second++) {
    await settle();
    clock.advance(1000);
  }
  await done;
  t.deepEqual(await store.pendingEffects(T1), []);
  await runtime.stop();
});

test('an outcome that the machine ignores settles the effect', async (t) => {
  const { runs, handler } = gate();
  const { runtime, system, store } = createTestRuntime({ work: handler });
  runtime.start();
  await system.create(T1, null);
  await system.send(T1, { type: 'WORK', what: 'x' });
  await settle();
  await system.send(T1, { type: 'END' });
  runs[0]?.done();
  await settle();
  t.deepEqual(await store.pendingEffects(T1), []);
  t.like(await system.read(T1), { state: 'over', context: { heard: [] } });
  await runtime.stop();
});

test('the outcome of a dropped effect is ignored', async (t) => {
  const { runs, handler } = gate();
  const { runtime, system, store } = createTestRuntime({ work: handler });
  runtime.start();
  await system.create(T1, null);
  await system.send(T1, { type: 'WORK', what: 'x' });
  await settle();
  await system.send(T1, { type: 'DROP' });
  runs[0]?.done();
  await settle();
  t.like(await system.read(T1), { revision: 3, context: { heard: [] } });
  t.is(await store.nextEffectDue(), undefined);
  t.is(runtime.stats().effectsInFlight, 0);
  await runtime.stop();
});

test('stop starts no further effect and waits for running effects', async (t) => {
  const { runs, handler } = gate();
  const { runtime, system, store } = createTestRuntime({ work: handler, effects: { atOnce: 1 } });
  runtime.start();
  await system.create(T1, null);
  await system.send(T1, { type: 'WORK', what: 'a' });
  await system.send(T1, { type: 'WORK', what: 'b' });
  await settle();
  let stopped = false;
  const stopping = runtime.stop().then(() => {
    stopped = true;
  });
  await settle();
  t.false(stopped);
  runs[0]?.done();
  await stopping;
  t.is(runs.length, 1);
  t.deepEqual(
    (await store.pendingEffects(T1)).map(({ effect }) => effect['what']),
    ['b'],
  );
});

test('an effect whose lease is answered after a stop does not start, and is free for the next start', async (t) => {
  const store = new MemoryStore();
  const leaseEffects = store.leaseEffects.bind(store);
  let answer = (): void => {};
  const held = new Promise<void>((resolve) => {
    answer = resolve;
  });
  store.leaseEffects = async (...given) => {
    const leased = await leaseEffects(...given);
    if (leased.length > 0) await held;
    return leased;
  };
  const { runs, handler } = gate();
  const { runtime, system, clock } = createTestRuntime({ store, work: handler });
  runtime.start();
  await system.create(T1, null);
  await system.send(T1, { type: 'WORK', what: 'a' });
  await settle();
  const stopping = runtime.stop(500);
  clock.advance(2000);
  answer();
  await settle();
  t.is(runs.length, 0);
  await stopping;
  const next = createTestRuntime({ store, work: handler, clock });
  next.runtime.start();
  await settle();
  t.is(runs.length, 1);
  runs[0]?.done();
  await next.runtime.stop();
});

test('after the grace period a running effect is aborted and stays stored', async (t) => {
  const { runs, handler } = gate();
  const { runtime, system, store, clock } = createTestRuntime({ work: handler });
  runtime.start();
  await system.create(T1, null);
  await system.send(T1, { type: 'WORK', what: 'a' });
  await settle();
  const stopping = runtime.stop(500);
  runs[0]?.signal.addEventListener('abort', () => runs[0]?.fail(new Error('gave up')));
  await settle();
  t.false(runs[0]?.signal.aborted);
  clock.advance(500);
  await stopping;
  t.like((await store.pendingEffects(T1))[0], { failures: 0, lastError: null });
});

test('a message from actor to actor is consumed once and its effect settled in the same step', async (t) => {
  const { runtime, system, store, committed } = createTestRuntime();
  runtime.start();
  await system.create(T1, null);
  await system.create(T2, null);
  await system.send(T1, { type: 'SEND', to: T2, event: { type: 'ADD', what: 'hello' } });
  const step = await committed((one) => one.actor.address.id === 't2' && heard(one).includes('hello'));
  t.regex(step.settles ?? '', /^tally\/t1\/2\/\d+$/);
  t.deepEqual(step.actor.consumed, [step.settles ?? '']);
  t.deepEqual(await store.pendingEffects(T1), []);
  await runtime.stop();
});

/** Loses the answer to the first step that settles an effect, and records the effects it settles. */
class LostAnswerStore extends MemoryStore {
  readonly settled: EffectKey[] = [];
  #hasLost = false;

  override async commit(step: Step): Promise<Committed> {
    const committed = await super.commit(step);
    if (step.settles === null || this.#hasLost) return committed;
    this.#hasLost = true;
    throw new Retryable('store.unavailable', 'The answer was lost.');
  }

  override settleEffects(keys: readonly EffectKey[]): Promise<void> {
    this.settled.push(...keys);
    return super.settleEffects(keys);
  }
}

test('the store records that an effect has ended after the answer about its message was lost', async (t) => {
  const store = new LostAnswerStore();
  const { runtime, system, clock } = createTestRuntime({ store });
  runtime.start();
  await system.create(T1, null);
  await system.create(T2, null);
  await system.send(T1, { type: 'SEND', to: T2, event: { type: 'ADD', what: 'hello' } });
  for (let pause = 0; pause < 20; pause++) {
    await settle();
    clock.advance(100);
  }
  t.is(store.settled.length, 1);
  t.regex(store.settled[0] ?? '', /^tally\/t1\/2\/\d+$/);
  t.is((await system.read(T2))?.revision, 2, 'it is consumed once');
  await runtime.stop();
});

test('a message to an unknown actor is removed', async (t) => {
  const { runtime, system, store } = createTestRuntime();
  runtime.start();
  await system.create(T1, null);
  await system.create(T2, null);
  await system.send(T1, { type: 'SEND', to: { kind: 'tally', id: 'nobody' }, event: { type: 'ADD' } });
  await system.send(T1, { type: 'SEND', to: T2, event: { type: 'WAKE' } });
  await settle();
  t.deepEqual(await store.pendingEffects(T1), []);
  await runtime.stop();
});

test('a message to a stopped actor waits until its restart', async (t) => {
  const { runtime, system, clock, committed } = createTestRuntime();
  runtime.start();
  await system.create(T1, null);
  await system.create(T2, null);
  for (let n = 0; n < 6; n++) await t.throwsAsync(system.send(T2, { type: 'THROW' }));
  await system.send(T1, { type: 'SEND', to: T2, event: { type: 'ADD', what: 'late' } });
  await settle();
  clock.advance(1000);
  await settle();
  await system.restart(T2);
  clock.advance(5000);
  await committed((step) => step.actor.address.id === 't2' && heard(step).includes('late'));
  await runtime.stop();
  t.pass();
});

test('an outcome waits while the mailbox is full, and the effect does not run twice', async (t) => {
  let runs = 0;
  const { runs: open, handler } = gate();
  const counted: EffectHandler = {
    ...handler,
    run: (effect, attempt, context) => {
      runs++;
      return handler.run(effect, attempt, context);
    },
  };
  const { runtime, system, clock, committed } = createTestRuntime({ work: counted });
  runtime.start();
  await system.create(T1, null);
  await system.send(T1, { type: 'WORK', what: 'x' });
  await settle();
  open[0]?.done();
  const flood = Array.from({ length: 9 }, () => system.send(T1, { type: 'ADD' }));
  await Promise.all(flood);
  await settle();
  clock.advance(100);
  await committed((step) => heard(step).includes('x'));
  t.is(runs, 1);
  await runtime.stop();
});

test('a wall clock set back an hour delays neither new effects nor retries', async (t) => {
  let tries = 0;
  const work: EffectHandler = {
    ...echo,
    run: async (effect) => {
      if (++tries === 2) throw new Retryable('busy', 'once');
      return { type: 'WORKED', what: effect.what };
    },
  };
  const { runtime, system, clock, committed } = createTestRuntime({ work });
  runtime.start();
  await system.create(T1, null);
  await system.send(T1, { type: 'WORK', what: 'a' });
  await committed((step) => heard(step).includes('a'));
  clock.setWallClock(-3_600_000);
  await system.send(T1, { type: 'WORK', what: 'b' });
  await settle();
  clock.advance(1001);
  await committed((step) => heard(step).includes('b'));
  t.is(tries, 3);
  await runtime.stop();
});

test('an effect that must be durable starts only after the flush', async (t) => {
  const store = new MemoryStore();
  const order: string[] = [];
  const slow = Object.assign(Object.create(store) as MemoryStore, {
    flushed: async () => {
      order.push('flush');
      await settle();
      order.push('flushed');
    },
  });
  for (const name of [
    'load',
    'commit',
    'leaseEffects',
    'nextEffectDue',
    'dueTimers',
    'nextTimerDue',
  ] as const) {
    Object.defineProperty(slow, name, { value: (store[name] as () => unknown).bind(store) });
  }
  const work: EffectHandler = {
    ...echo,
    after: 'durable',
    run: async (effect) => {
      order.push('run');
      return { type: 'WORKED', what: effect.what };
    },
  };
  const { runtime, system, committed } = createTestRuntime({ store: slow, work });
  runtime.start();
  await system.create(T1, null);
  await system.send(T1, { type: 'WORK', what: 'x' });
  await committed((step) => heard(step).includes('x'));
  t.deepEqual(order, ['flush', 'flushed', 'run']);
  await runtime.stop();
});

test('a thousand effects on disk each run once', async (t) => {
  const folder = folderFor(t);
  const store = openLmdbStore({ folder });
  t.teardown(() => store.close());
  const done = new Map<string, number>();
  const work: EffectHandler = {
    ...echo,
    run: async (effect, { key }) => {
      done.set(key, (done.get(key) ?? 0) + 1);
      return { type: 'WORKED', what: effect.what };
    },
  };
  const { runtime, system } = createTestRuntime({ store, work, effects: { atOnce: 16 } });
  runtime.start();
  const actors = Array.from({ length: 100 }, (_, n) => ({ kind: 'tally', id: `${n}` }));
  await Promise.all(
    actors.map(async (actor) => {
      await system.create(actor, null);
      for (let n = 0; n < 10; n++) await system.send(actor, { type: 'WORK', what: `${n}` });
    }),
  );
  await reached(async () => (await store.counters('tally.'))['tally.count'] === 1000, settle);
  t.is(done.size, 1000);
  t.true([...done.values()].every((times) => times === 1));
  await runtime.stop();
});

test('an effect whose retry cannot be stored is retried while the process lives', async (t) => {
  const store = new MemoryStore();
  let refusals = 3;
  const flaky = Object.create(store) as MemoryStore;
  for (const name of [
    'load',
    'commit',
    'leaseEffects',
    'nextEffectDue',
    'dueTimers',
    'nextTimerDue',
    'flushed',
  ] as const) {
    Object.defineProperty(flaky, name, { value: (store[name] as () => unknown).bind(store) });
  }
  Object.defineProperty(flaky, 'deferEffect', {
    value: async (...given: Parameters<MemoryStore['deferEffect']>) => {
      if (refusals-- > 0) throw new Retryable('store.unavailable', 'disk full');
      return store.deferEffect(...given);
    },
  });
  let tries = 0;
  const work: EffectHandler = {
    ...echo,
    run: async (effect) => {
      if (++tries === 1) throw new Retryable('busy', 'once');
      return { type: 'WORKED', what: effect.what };
    },
  };
  const { runtime, system, clock, committed } = createTestRuntime({ store: flaky, work });
  runtime.start();
  await system.create(T1, null);
  await system.send(T1, { type: 'WORK', what: 'x' });
  for (let second = 0; second < 6; second++) {
    await settle();
    clock.advance(1000);
  }
  await committed((step) => heard(step).includes('x'));
  t.is(tries, 2);
  await runtime.stop();
});

test('effects committed before the wall clock was set back an hour run at once', async (t) => {
  const { runtime, system, clock } = createTestRuntime();
  await system.create(T1, null);
  await system.send(T1, { type: 'WORK', what: 'x' });
  clock.setWallClock(-3_600_000);
  runtime.start();
  await settle();
  t.deepEqual((await system.read(T1))?.context.heard, ['x']);
  await runtime.stop();
});

test('after a start with the wall clock set back an hour new effects run at once and retries after their own pause', async (t) => {
  const folder = folderFor(t);
  const ahead = new SimulatedClock();
  ahead.setWallClock(3_600_000);
  let tries = 0;
  const busy: EffectHandler = {
    ...echo,
    run: async () => {
      tries += 1;
      throw new Retryable('busy', 'not now', 24 * 3_600_000);
    },
  };
  const first = openLmdbStore({ folder });
  const before = createTestRuntime({ store: first, clock: ahead, work: busy });
  before.runtime.start();
  await before.system.create(T1, null);
  await before.system.send(T1, { type: 'WORK', what: 'failed' });
  await reached(async () => (await first.failedEffectCount()) > 0, settle);
  await before.runtime.stop();
  // A runtime that is not started stores effects and runs none.
  await createTestRuntime({ store: first, clock: ahead }).system.send(T1, { type: 'WORK', what: 'fresh' });
  await first.close();

  const store = openLmdbStore({ folder });
  const clock = new SimulatedClock();
  const after = createTestRuntime({ store, clock });
  after.runtime.start();
  const fresh = await after.committed((step) => heard(step).includes('fresh'));
  t.deepEqual(heard(fresh), ['fresh']);
  const [waiting] = await store.pendingEffects(T1);
  t.is(waiting?.failures, tries);
  t.true(
    waiting !== undefined && waiting.dueAt <= clock.now() + 300_000,
    'five minutes, whatever it asked for',
  );
  for (let minute = 0; minute < 5; minute += 1) {
    await settle();
    clock.advance(60_000);
  }
  await after.committed((step) => heard(step).includes('failed'));
  await after.runtime.stop();
  await store.close();
});

test('pauses keep growing over restarts, under the same key, and a failing effect is shown with its failures', async (t) => {
  const folder = folderFor(t);
  const clock = new SimulatedClock();
  const tries: { key: string; failures: number; at: number }[] = [];
  const work: EffectHandler = {
    ...echo,
    run: async (_, { key, failures }) => {
      tries.push({ key, failures, at: clock.now() });
      throw new Retryable('busy', 'not now');
    },
  };
  for (let life = 0; life < 5; life++) {
    const store = openLmdbStore({ folder });
    const { runtime, system } = createTestRuntime({ store, clock, work });
    if (life === 0) {
      await system.create(T1, null);
      await system.send(T1, { type: 'WORK', what: 'x' });
    }
    runtime.start();
    for (let second = 0; tries.length <= life; second++) {
      await settle();
      if (second > 0) clock.advance(250);
    }
    await reached(async () => (await store.failedEffects({ limit: 1 }))[0]?.failures === life + 1, settle);
    const page = await runtime.inspector.list({ kind: 'tally', stuck: true, limit: 9 });
    t.like(page?.items[0]?.trouble, { failures: life + 1, lastError: 'not now' });
    await runtime.stop();
    await store.close();
  }
  t.deepEqual(
    tries.map(({ failures }) => failures),
    [0, 1, 2, 3, 4],
  );
  t.is(new Set(tries.map(({ key }) => key)).size, 1);
  const pauses = tries.slice(1).map(({ at }, n) => at - (tries[n]?.at ?? 0));
  for (const [n, pause] of pauses.entries()) t.true(pause >= 750 * 2 ** n, `pause ${n}: ${pause}`);
});
