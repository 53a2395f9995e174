import test from 'ava';
import { SimulatedClock } from '#runtime/testing/simulated-clock.js';
import { createRateLimiter } from '../../../http/core/access/rate-limit.ts';
import type { Refusal } from '../../../machines/refusals.ts';

test('a window admits its permits, refuses further requests and does not count those', (t) => {
  const clock = new SimulatedClock();
  const limiter = createRateLimiter({ permits: 2, windowSeconds: 60 }, clock);
  limiter.acquire('a');
  clock.advance(30_500);
  limiter.acquire('a');
  for (let refused = 0; refused < 5; refused += 1) {
    const error = t.throws(() => limiter.acquire('a'), { code: 'rate-limited' });
    t.is((error as Refusal).retryAfterSeconds, 30);
  }
  limiter.acquire('b');
  clock.advance(29_499);
  t.is((t.throws(() => limiter.acquire('a')) as Refusal).retryAfterSeconds, 1);
  clock.advance(1);
  limiter.acquire('a');
  limiter.acquire('a');
  t.throws(() => limiter.acquire('a'));
});

test('the limiter removes ended windows and stores at most its maximum of clients', (t) => {
  const clock = new SimulatedClock();
  const limiter = createRateLimiter({ permits: 1, windowSeconds: 10 }, clock, 100);
  for (let client = 0; client < 1000; client += 1) limiter.acquire(`c${client}`);
  t.is(limiter.size, 100);
  t.throws(() => limiter.acquire('c999'));
  clock.advance(10_000);
  limiter.acquire('new');
  t.is(limiter.size, 1);
});

/** Settled promises so far. */
async function settled(waiting: readonly (Promise<unknown> | undefined)[]): Promise<string[]> {
  const open = Symbol();
  return Promise.all(
    waiting.map(async (one) => {
      // One turn of the loop is enough for a settled promise.
      const outcome = await Promise.race([
        Promise.resolve(one).then(
          () => 'in',
          ({ code }) => String(code),
        ),
        new Promise((resolve) => setImmediate(() => resolve(open))),
      ]);
      return outcome === open ? 'waits' : String(outcome);
    }),
  );
}

test('requests over the permits wait for the next windows in order, up to the queue limit', async (t) => {
  const clock = new SimulatedClock();
  const limiter = createRateLimiter({ permits: 2, windowSeconds: 10, queueLimit: 3 }, clock);
  t.is(limiter.acquire('a'), undefined);
  t.is(limiter.acquire('a'), undefined);
  const waiting = [limiter.acquire('a'), limiter.acquire('a'), limiter.acquire('a')];
  t.throws(() => limiter.acquire('a'), { code: 'rate-limited' });
  t.is(limiter.acquire('b'), undefined, 'another client has its own window and queue');
  clock.advance(9_999);
  t.deepEqual(await settled(waiting), ['waits', 'waits', 'waits']);
  clock.advance(1);
  t.deepEqual(await settled(waiting), ['in', 'in', 'waits']);
  const last = limiter.acquire('a');
  t.deepEqual(await settled([last]), ['waits'], 'the window is used up by those who waited');
  clock.advance(10_000);
  t.deepEqual(await settled([...waiting, last]), ['in', 'in', 'in', 'in']);
  t.not(limiter.acquire('a'), undefined, 'and so is the one after it');
});

test('a new request does not overtake waiting ones when the timer is late', async (t) => {
  let now = 0;
  const clock = { elapsed: () => now, after: () => () => {} };
  const limiter = createRateLimiter({ permits: 1, windowSeconds: 10, queueLimit: 2 }, clock);
  limiter.acquire('a');
  const first = limiter.acquire('a');
  now = 10_001;
  const second = limiter.acquire('a');
  t.deepEqual(await settled([first, second]), ['in', 'waits']);
});

test('a request that leaves the queue frees its place and uses no permit', async (t) => {
  const clock = new SimulatedClock();
  const limiter = createRateLimiter({ permits: 1, windowSeconds: 10, queueLimit: 1 }, clock);
  limiter.acquire('a');
  let leave = () => {};
  const gone = limiter.acquire('a', (how) => {
    leave = how;
  });
  t.throws(() => limiter.acquire('a'), { code: 'rate-limited' });
  leave();
  t.deepEqual(await settled([gone]), ['in']);
  const next = limiter.acquire('a');
  t.deepEqual(await settled([next]), ['waits']);
  clock.advance(10_000);
  t.deepEqual(await settled([next]), ['in']);
});

test('close refuses all waiting requests and removes the timer', async (t) => {
  const clock = new SimulatedClock();
  const limiter = createRateLimiter({ permits: 1, windowSeconds: 10, queueLimit: 5 }, clock);
  limiter.acquire('a');
  const waiting = [limiter.acquire('a'), limiter.acquire('a')];
  t.is(clock.pending, 1);
  const outcome = settled(waiting);
  limiter.close();
  t.deepEqual(await outcome, ['service.busy', 'service.busy']);
  t.is(clock.pending, 0);
});

test('a check of the limit uses no permit, and refuses like an acquisition', (t) => {
  const limiter = createRateLimiter({ permits: 1, windowSeconds: 10 }, new SimulatedClock());
  for (let look = 0; look < 3; look += 1) limiter.check('a');
  limiter.acquire('a');
  t.is((t.throws(() => limiter.check('a'), { code: 'rate-limited' }) as Refusal).retryAfterSeconds, 10);
});
