import test from 'ava';
import { jittered, pauseAfter } from '../../base/backoff.ts';

test('pauses double from the first to the longest for any number of failures', (t) => {
  const backoff = { firstMs: 1000, maxMs: 10_000 };
  t.deepEqual(
    [1, 2, 3, 4, 5, 5000].map((failures) => pauseAfter(failures, backoff)),
    [1000, 2000, 4000, 8000, 10_000, 10_000],
  );
});

test('jitter adds at most a quarter of a pause', (t) => {
  t.is(jittered(1000, 0), 1000);
  t.is(jittered(1000, 0.5), 875);
  t.is(jittered(1000, 0.9999), 750);
});
