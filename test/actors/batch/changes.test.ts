import test from 'ava';
import { Changes } from '../../../actors/batch/changes.ts';
import { SimulatedClock, seededIds } from '../../../runtime/index.ts';

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

test('callers with an interval receive the same version, at most one in the interval', async (t) => {
  const clock = new SimulatedClock(0);
  const changes = new Changes(clock, seededIds(1));
  const first = await changes.waitShared('', 20_000, 5000);
  changes.observe();
  t.is(await changes.waitShared('', 20_000, 5000), first, 'the version of this interval');
  const waits = [1, 2, 3].map(() => changes.waitShared(first, 20_000, 5000));
  await clock.advance(4000);
  changes.observe();
  await clock.advance(1000);
  const [second = ''] = await Promise.all(waits);
  t.deepEqual(new Set(await Promise.all(waits)), new Set([second]));
  t.true(changes.includes(second, first));
  t.false(changes.includes(first, second));
  t.false(changes.includes(second, 'another process.1'));
  await clock.advance(60_000);
  const next = changes.waitShared(second, 20_000, 5000);
  changes.observe();
  t.true(changes.includes(await next, changes.version), 'a change after a quiet time is answered at once');
  const timed = changes.waitShared(changes.version, 20_000, 5000);
  await clock.advance(20_000);
  t.is(await timed, changes.version);
  const stopped = changes.waitShared(changes.version, 20_000, 5000);
  changes.stop();
  t.is(await stopped, changes.version);
});
