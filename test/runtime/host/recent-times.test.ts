/** Quantiles of recent durations. */
import test from 'ava';
import { RecentTimes } from '#runtime/host/host.js';

test('quantiles of no duration are zero, and those of a few include the last one', (t) => {
  const times = new RecentTimes();
  t.deepEqual(times.quantiles(), { p50Ms: 0, p99Ms: 0, maxMs: 0 });
  times.add(4);
  t.deepEqual(times.quantiles(), { p50Ms: 4, p99Ms: 4, maxMs: 4 });
  times.add(9);
  times.add(1);
  t.deepEqual(times.quantiles(), { p50Ms: 4, p99Ms: 9, maxMs: 9 });
});

test('a full window is sorted again after 64 further durations', (t) => {
  const times = new RecentTimes();
  for (let count = 0; count < 2000; count += 1) times.add(1);
  t.is(times.quantiles().maxMs, 1);
  times.add(7);
  t.is(times.quantiles().maxMs, 1);
  for (let count = 0; count < 63; count += 1) times.add(1);
  t.is(times.quantiles().maxMs, 7);
});
