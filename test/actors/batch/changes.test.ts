import test from 'ava';
import { Changes } from '../../../actors/batch/changes.ts';
import { SimulatedClock, seededIds } from '../../../runtime/index.ts';

test('a wait ends with the next step, at its time, or at the stop, and at once for an unknown version', async (t) => {
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
