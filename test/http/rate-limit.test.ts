import test from 'ava';
import { createRateLimiter } from '../../http/rate-limit.ts';
import type { Refusal } from '../../machines/refusals.ts';
import { SimulatedClock } from '../../runtime/clock.ts';

test('a window lets its permits through, refuses the rest and does not count them', (t) => {
  const clock = new SimulatedClock();
  const limiter = createRateLimiter({ permits: 2, windowSeconds: 60 }, clock);
  limiter.take('a');
  clock.advance(30_500);
  limiter.take('a');
  for (let refused = 0; refused < 5; refused += 1) {
    const error = t.throws(() => limiter.take('a'), { code: 'rate-limited' });
    t.is((error as Refusal).retryAfterSeconds, 30);
  }
  limiter.take('b');
  clock.advance(29_499);
  t.is((t.throws(() => limiter.take('a')) as Refusal).retryAfterSeconds, 1);
  clock.advance(1);
  limiter.take('a');
  limiter.take('a');
  t.throws(() => limiter.take('a'));
});

test('the limiter forgets ended windows and never remembers more clients than it may', (t) => {
  const clock = new SimulatedClock();
  const limiter = createRateLimiter({ permits: 1, windowSeconds: 10 }, clock, 100);
  for (let client = 0; client < 1000; client += 1) limiter.take(`c${client}`);
  t.is(limiter.size, 100);
  t.throws(() => limiter.take('c999'));
  clock.advance(10_000);
  limiter.take('new');
  t.is(limiter.size, 1);
});

/** What has become of promises so far. */
async function settled(waiting: readonly (Promise<unknown> | undefined)[]): Promise<string[]> {
  const open = Symbol();
  return Promise.all(
    waiting.map(async (one) => {
      // One turn of the loop is enough for a promise that was settled before.
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

test('requests beyond the permits wait for the next windows in their order, as many as the queue holds', async (t) => {
  const clock = new SimulatedClock();
  const limiter = createRateLimiter({ permits: 2, windowSeconds: 10, queueLimit: 3 }, clock);
  t.is(limiter.take('a'), undefined);
  t.is(limiter.take('a'), undefined);
  const waiting = [limiter.take('a'), limiter.take('a'), limiter.take('a')];
  t.throws(() => limiter.take('a'), { code: 'rate-limited' });
  t.is(limiter.take('b'), undefined, 'another client has its own window and queue');
  clock.advance(9_999);
  t.deepEqual(await settled(waiting), ['waits', 'waits', 'waits']);
  clock.advance(1);
  t.deepEqual(await settled(waiting), ['in', 'in', 'waits']);
  const last = limiter.take('a');
  t.deepEqual(await settled([last]), ['waits'], 'the window is used up by those who waited');
  clock.advance(10_000);
  t.deepEqual(await settled([...waiting, last]), ['in', 'in', 'in', 'in']);
  t.not(limiter.take('a'), undefined, 'and so is the one after it');
});

test('who comes while the alarm is late does not go before those who wait', async (t) => {
  let now = 0;
  const clock = { elapsed: () => now, after: () => () => {} };
  const limiter = createRateLimiter({ permits: 1, windowSeconds: 10, queueLimit: 2 }, clock);
  limiter.take('a');
  const first = limiter.take('a');
  now = 10_001;
  const second = limiter.take('a');
  t.deepEqual(await settled([first, second]), ['in', 'waits']);
});

test('who leaves the queue makes room and takes no permit', async (t) => {
  const clock = new SimulatedClock();
  const limiter = createRateLimiter({ permits: 1, windowSeconds: 10, queueLimit: 1 }, clock);
  limiter.take('a');
  let leave = () => {};
  const gone = limiter.take('a', (how) => {
    leave = how;
  });
  t.throws(() => limiter.take('a'), { code: 'rate-limited' });
  leave();
  t.deepEqual(await settled([gone]), ['in']);
  const next = limiter.take('a');
  t.deepEqual(await settled([next]), ['waits']);
  clock.advance(10_000);
  t.deepEqual(await settled([next]), ['in']);
});

test('closing refuses everybody who waits and leaves no alarm', async (t) => {
  const clock = new SimulatedClock();
  const limiter = createRateLimiter({ permits: 1, windowSeconds: 10, queueLimit: 5 }, clock);
  limiter.take('a');
  const waiting = [limiter.take('a'), limiter.take('a')];
  t.is(clock.pending, 1);
  const outcome = settled(waiting);
  limiter.close();
  t.deepEqual(await outcome, ['service.busy', 'service.busy']);
  t.is(clock.pending, 0);
});

test('looking at the limit takes nothing, and refuses as taking would', (t) => {
  const limiter = createRateLimiter({ permits: 1, windowSeconds: 10 }, new SimulatedClock());
  for (let look = 0; look < 3; look += 1) limiter.check('a');
  limiter.take('a');
  t.is((t.throws(() => limiter.check('a'), { code: 'rate-limited' }) as Refusal).retryAfterSeconds, 10);
});
