import { setImmediate as nextTurn } from 'node:timers/promises';
import { SimulatedClock, seededIds } from '@sealwright/runtime/testing';
import test from 'ava';
import { Changes } from '../../../../actors/shared/coordination/changes.ts';

test('a wait ends with the next step, at its timeout, or at the stop, and at once for an unknown version', async (t) => {
  const clock = new SimulatedClock(0);
  const changes = new Changes(clock, seededIds(1));
  const first = await changes.wait('', 1000);
  const next = changes.wait(first, 1000);
  changes.observe();
  const second = await next;
  t.not(second, first);
  t.is(await changes.wait(first, 1000), second);
  const timed = changes.wait(second, 1000);
  await clock.advance(1000);
  t.is(await timed, second);
  const stopped = changes.wait(second, 1000);
  changes.stop();
  t.is(await stopped, second);
  t.is(await changes.wait(second, 1000), second);
});

test('callers with an interval receive the same version, one in each interval while there are changes', async (t) => {
  const { clock, changes } = fixture();
  const first = await changes.waitShared('', 20_000, 5000);
  changes.observe();
  t.is(await changes.waitShared('', 20_000, 5000), first, 'the version of this time');
  const announcedAt: number[] = [];
  let known = first;
  for (let step = 0; step < 30; step += 1) {
    const waits = [1, 2, 3].map(() => changes.waitShared(known, 20_000, 5000));
    const isDone = Promise.all(waits).then((versions) => {
      const [version = ''] = versions;
      t.deepEqual(new Set(versions), new Set([version]));
      t.true(changes.includes(version, known));
      t.false(changes.includes(known, version));
      t.false(changes.includes(version, 'another process.1'));
      announcedAt.push(clock.elapsed());
      known = version;
      return true;
    });
    let done = false;
    void isDone.then(() => {
      done = true;
    });
    while (!done) {
      changes.observe();
      await clock.advance(500);
    }
    await isDone;
  }
  const gaps = announcedAt.map((at, n) => at - (announcedAt[n - 1] ?? 0)).slice(5);
  t.true(
    gaps.every((gap) => gap === 5000),
    gaps.join(', '),
  );
});

test('after a quiet time three versions are announced a second apart, the first at once', async (t) => {
  const { clock, changes } = fixture();
  let known = await changes.waitShared('', 20_000, 5000);
  await clock.advance(60_000);
  const next = changes.waitShared(known, 20_000, 5000);
  changes.observe();
  known = await next;
  t.is(known, changes.version, 'at once');
  for (const pause of [1000, 1000]) {
    changes.observe();
    const wait = changes.waitShared(known, 20_000, 5000);
    await clock.advance(pause - 1);
    t.is(await settled(wait), undefined);
    await clock.advance(1);
    known = await wait;
    t.is(known, changes.version);
  }
  changes.observe();
  const late = changes.waitShared(known, 20_000, 5000);
  await clock.advance(1000);
  t.is(await settled(late), undefined, 'the fourth waits for its interval');
  await clock.advance(4000);
  t.is(await late, changes.version);
});

test('a wait with an interval ends at its timeout and at the stop, and returns at once when too many wait', async (t) => {
  const { clock, changes } = fixture();
  const version = await changes.waitShared('', 20_000, 5000);
  const timed = changes.waitShared(version, 20_000, 5000);
  await clock.advance(20_000);
  t.is(await timed, version);
  const waits = Array.from({ length: 200 }, () => changes.waitShared(version, 20_000, 5000));
  t.is(await changes.waitShared(version, 20_000, 5000), version, 'unchanged');
  changes.stop();
  t.deepEqual(new Set(await Promise.all(waits)), new Set([version]));
});

test('a version that a caller with an interval receives includes each step before its announcement', async (t) => {
  const { clock, changes } = fixture();
  const first = await changes.waitShared('', 20_000, 5000);
  const waiting = changes.waitShared(first, 20_000, 5000);
  for (let step = 0; step < 10; step += 1) changes.observe();
  const before = changes.version;
  await clock.advance(1000);
  t.true(changes.includes(await waiting, before));
});

function fixture() {
  const clock = new SimulatedClock(0);
  return { clock, changes: new Changes(clock, seededIds(1)) };
}

/** Undefined for a promise that is not settled yet. */
function settled<Value>(promise: Promise<Value>): Promise<Value | undefined> {
  return Promise.race([promise, nextTurn(undefined)]);
}
