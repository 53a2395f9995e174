import test from 'ava';
import { pauseAfter } from '../../machines/backoff.ts';

test('pauses double from the first to the longest for any number of failures', (t) => {
  const backoff = { firstMs: 1000, maxMs: 10_000 };
  t.deepEqual(
    [1, 2, 3, 4, 5, 5000].map((failures) => pauseAfter(failures, backoff)),
    [1000, 2000, 4000, 8000, 10_000, 10_000],
  );
});
