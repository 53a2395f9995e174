import type { StoredActor } from '@sealwright/runtime';
import { openLmdbStore } from '@sealwright/runtime/lmdb';
import { MemoryStore, SimulatedClock } from '@sealwright/runtime/testing';
import test from 'ava';
import { stepOf } from '../../contract/steps.ts';
import { reached } from '../../project/waiting.ts';
import { folderFor } from '../folder.ts';
import { createTestRuntime, settle, T1, T2 } from '../test-runtime.ts';

const HOUR = 3_600_000;

test('a deadline fires once at its time', async (t) => {
  const { runtime, system, clock, store } = createTestRuntime();
  runtime.start();
  await system.create(T1, null);
  await system.send(T1, { type: 'WAIT' });
  clock.advance(999);
  await settle();
  t.is((await system.read(T1))?.state, 'asleep');
  clock.advance(1);
  await settle();
  t.like(await system.read(T1), { state: 'awake', context: { count: 1 } });
  t.is(await store.nextTimerDue(), undefined);
  clock.advance(HOUR);
  await settle();
  t.is((await system.read(T1))?.context.count, 1);
  await runtime.stop();
});

test('a deadline of a left state never fires', async (t) => {
  const { runtime, system, clock } = createTestRuntime();
  runtime.start();
  await system.create(T1, null);
  await system.send(T1, { type: 'WAIT' });
  await system.send(T1, { type: 'WAKE' });
  clock.advance(HOUR);
  await settle();
  t.is((await system.read(T1))?.context.count, 0);
  await runtime.stop();
});

test('a deadline moved while its event was in the queue does not fire early', async (t) => {
  const { runtime, system, clock, faults } = createTestRuntime();
  runtime.start();
  await system.create(T1, null);
  await system.send(T1, { type: 'WAIT' });
  let proceed = (): void => {};
  faults.arm(
    'timer.due.before-fire',
    () =>
      new Promise((resolve) => {
        proceed = resolve;
      }),
  );
  clock.advance(1000);
  await settle();
  await system.send(T1, { type: 'WAKE' });
  await system.send(T1, { type: 'WAIT' });
  proceed();
  await settle();
  t.like(await system.read(T1), { state: 'asleep', context: { count: 0 } });
  clock.advance(1000);
  await settle();
  t.like(await system.read(T1), { state: 'awake', context: { count: 1 } });
  await runtime.stop();
});

test('deadlines survive a restart, and each overdue one fires once', async (t) => {
  const folder = folderFor(t);
  const store = openLmdbStore({ folder });
  const clock = new SimulatedClock();
  const before = createTestRuntime({ store, clock });
  const actors = Array.from({ length: 600 }, (_, n) => ({ kind: 'tally', id: `${n}` }));
  await Promise.all(
    actors.map(async (actor) => {
      await before.system.create(actor, null);
      await before.system.send(actor, { type: 'WAIT' });
    }),
  );
  await store.close();
  const again = openLmdbStore({ folder });
  t.teardown(() => again.close());
  clock.advance(HOUR);
  const after = createTestRuntime({ store: again, clock });
  after.runtime.start();
  await reached(async () => (await again.nextTimerDue()) === undefined, settle);
  t.deepEqual(await again.counters('tally.'), { 'tally.count': 600 });
  await after.runtime.stop();
});

test('after the wall clock is set forward, due timers fire within half a minute', async (t) => {
  const { runtime, system, clock } = createTestRuntime();
  runtime.start();
  await system.create(T1, null);
  clock.setWallClock(-HOUR);
  await system.send(T1, { type: 'WAIT' });
  clock.setWallClock(HOUR);
  clock.advance(1000);
  await settle();
  t.is((await system.read(T1))?.state, 'awake');
  await runtime.stop();
});

test('a wall clock set forward before a distant alarm is noticed by the periodic check', async (t) => {
  const { runtime, system, clock, store } = createTestRuntime();
  await system.create(T1, null);
  clock.setWallClock(HOUR);
  await system.send(T1, { type: 'WAIT' });
  clock.setWallClock(-HOUR);
  runtime.start();
  await settle();
  clock.advance(60_000);
  await settle();
  t.is((await system.read(T1))?.state, 'asleep', 'set back: the deadline is an hour away');
  t.is(await store.nextTimerDue(), clock.now() + HOUR - 59_000);
  clock.setWallClock(HOUR);
  clock.advance(30_000);
  await settle();
  t.is((await system.read(T1))?.state, 'awake');
  await runtime.stop();
});

test('a stopped actor keeps its deadline and the others continue to fire', async (t) => {
  const { runtime, system, clock, store } = createTestRuntime();
  runtime.start();
  for (const actor of [T1, T2]) {
    await system.create(actor, null);
    await system.send(actor, { type: 'WAIT' });
  }
  for (let n = 0; n < 6; n++) await t.throwsAsync(system.send(T1, { type: 'THROW' }));
  clock.advance(1000);
  await settle();
  t.is((await system.read(T2))?.state, 'awake');
  t.is((await system.read(T1))?.state, 'asleep');
  t.not(await store.nextTimerDue(), undefined);
  await system.send(T2, { type: 'WAIT' });
  clock.advance(1000);
  await settle();
  t.is((await system.read(T2))?.context.count, 2, 'a parked deadline holds up no other');
  await system.restart(T1);
  await settle();
  t.like(await system.read(T1), { state: 'awake', context: { count: 1 } });
  await runtime.stop();
});

test('a deadline behind 300 that cannot be delivered fires', async (t) => {
  const { runtime, system, clock } = createTestRuntime({ restarts: { restarts: 0 } });
  runtime.start();
  for (let n = 0; n < 300; n++) {
    const stopped = { kind: 'tally', id: `stopped-${n}` };
    await system.create(stopped, null);
    await system.send(stopped, { type: 'WAIT' });
    await t.throwsAsync(system.send(stopped, { type: 'THROW' }));
  }
  clock.advance(500);
  await system.create(T1, null);
  await system.send(T1, { type: 'WAIT' });
  clock.advance(500);
  await settle();
  t.is((await system.read(T1))?.state, 'asleep');
  clock.advance(500);
  await settle();
  t.is((await system.read(T1))?.state, 'awake');
  await system.send(T1, { type: 'WAIT' });
  clock.advance(1000);
  await settle();
  t.is((await system.read(T1))?.context.count, 2, 'also one that is armed later');
  await runtime.stop();
});

test('an earlier deadline that is armed later fires first', async (t) => {
  const { runtime, system, clock } = createTestRuntime();
  runtime.start();
  await system.create(T1, null);
  await system.create(T2, null);
  clock.setWallClock(10_000);
  await system.send(T1, { type: 'WAIT' });
  clock.setWallClock(-10_000);
  await system.send(T2, { type: 'WAIT' });
  clock.advance(1000);
  await settle();
  t.is((await system.read(T2))?.state, 'awake');
  t.is((await system.read(T1))?.state, 'asleep');
  clock.advance(10_000);
  await settle();
  t.is((await system.read(T1))?.state, 'awake');
  await runtime.stop();
});

test('no deadline fires after a stop', async (t) => {
  const store = new MemoryStore();
  const { runtime, system, clock } = createTestRuntime({ store });
  runtime.start();
  await system.create(T1, null);
  await system.send(T1, { type: 'WAIT' });
  await runtime.stop();
  clock.advance(HOUR);
  await settle();
  t.is((await system.read(T1))?.state, 'asleep');
  t.is(clock.pending, 0, 'no alarm is left behind');
});

test('a deadline whose delivery failed comes again ten seconds later, and only once', async (t) => {
  const { runtime, system, clock, faults, logged } = createTestRuntime();
  runtime.start();
  await system.create(T1, null);
  await system.send(T1, { type: 'WAIT' });
  faults.arm('timer.due.before-fire', () => {
    throw new Error('once');
  });
  clock.advance(1000);
  await settle();
  t.is((await system.read(T1))?.state, 'asleep');
  t.is(logged.filter((line) => line.startsWith('A timer could not be delivered')).length, 1);
  clock.advance(9999);
  await settle();
  t.is((await system.read(T1))?.state, 'asleep');
  clock.advance(1);
  await settle();
  t.like(await system.read(T1), { state: 'awake', context: { count: 1 } });
  await runtime.stop();
});

test('a deadline comes again a second after the store failed to say which ones are due', async (t) => {
  const store = new MemoryStore();
  const dueTimers = store.dueTimers.bind(store);
  let failures = 0;
  store.dueTimers = async (now, limit) => {
    if (now < due || failures > 0) return dueTimers(now, limit);
    failures += 1;
    throw new Error('once');
  };
  const { runtime, system, clock } = createTestRuntime({ store });
  const due = clock.now() + 1000;
  await system.create(T1, null);
  await system.send(T1, { type: 'WAIT' });
  clock.advance(1000);
  runtime.start();
  await settle();
  t.is((await system.read(T1))?.state, 'asleep');
  clock.advance(1000);
  await settle();
  t.like(await system.read(T1), { state: 'awake', context: { count: 1 } });
  await runtime.stop();
});

test('a deadline that the actor does not accept is logged, counted and removed', async (t) => {
  const { runtime, system, clock, store, logged, unaccepted } = createTestRuntime({
    cachedActors: 0,
  });
  await system.create(T1, null);
  const timer = { name: 'gone', due: clock.now() + 5, event: { type: 'GONE' } };
  const stored = (await store.load(T1)) as StoredActor;
  const actor = { ...stored, timers: { gone: timer.due } };
  await store.commit({
    ...stepOf(T1, 1, { timers: { arm: [timer], disarm: [] } }, actor),
    actor: { ...actor, revision: 2 },
  });
  runtime.start();
  await settle();
  clock.advance(5);
  await settle();
  t.is(await store.nextTimerDue(), undefined);
  t.deepEqual(unaccepted, ['deadline to t1']);
  t.regex(logged.join('\n'), /did not accept a deadline.*tally\/t1.*GONE/);
  await runtime.stop();
});

test('a deadline that is armed while the deadlines are read fires at its time', async (t) => {
  const store = new MemoryStore();
  const { runtime, system, clock } = createTestRuntime({ store });
  await system.create(T1, null);
  const dueTimers = store.dueTimers.bind(store);
  let reads = 0;
  store.dueTimers = async (now, limit) => {
    reads += 1;
    const due = await dueTimers(now, limit);
    // The second read of a round looks for the next deadline.
    if (reads === 2) await system.send(T1, { type: 'WAIT' });
    return due;
  };
  runtime.start();
  await settle();
  t.is((await system.read(T1))?.state, 'asleep');
  clock.advance(1000);
  await settle();
  t.is((await system.read(T1))?.state, 'awake');
  await runtime.stop();
});
