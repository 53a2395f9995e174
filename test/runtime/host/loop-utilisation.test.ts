/** Share of time in which the event loop of a thread was busy. */
import test from 'ava';
import { LoopUtilisation } from '#runtime/host/actor-host.js';

test('the share is between 0 and 1, and reads within a second receive the same one', (t) => {
  const utilisation = new LoopUtilisation();
  const first = utilisation.read();
  t.true(first >= 0 && first <= 1);
  t.is(utilisation.read(), first);
});
