import test from 'ava';
import { LeaseDeadline } from '#runtime/model/lease-deadline.js';

test('a thread continues at once while the lease is held, and otherwise after its extension', async (t) => {
  let now = 1000;
  const node = new LeaseDeadline(() => now);
  const thread = new LeaseDeadline(() => now, node.memory);
  let looks = 0;
  const sleep = async () => {
    looks += 1;
    if (looks === 3) node.set(now + 500);
  };
  t.false(thread.isHeld, 'nothing is held before the first heartbeat');
  node.set(now + 500);
  t.is(thread.held(sleep, 100), undefined);
  now += 500;
  t.false(thread.isHeld);
  t.true(await thread.held(sleep, 100));
  t.is(looks, 3);
  t.true(thread.isHeld);
});
