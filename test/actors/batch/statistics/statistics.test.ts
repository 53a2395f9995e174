import type { Row } from '@sealwright/runtime';
import { MemoryStore, SimulatedClock } from '@sealwright/runtime/testing';
import test from 'ava';
import { DurationSketch, StatisticsService } from '../../../../actors/batch/jobs/statistics.ts';
import { A, stepOf } from '../../../contract/steps.ts';
import { batchFixture } from '../batch-harness.ts';

const MINUTE = 60_000;

test('a quantile sketch is exact in count, sum and maximum, and its quantiles are at most one percent off', (t) => {
  const sketch = new DurationSketch();
  t.is(sketch.quantile(0.5), 0);
  const values = Array.from({ length: 2_000 }, (_, index) => 1.007 ** index / 100);
  for (const value of values) sketch.add(value);
  t.is(sketch.count, values.length);
  t.true(Math.abs(sketch.sum - values.reduce((sum, value) => sum + value, 0)) < 1);
  t.is(sketch.max, Math.max(...values));
  for (const share of [0.01, 0.25, 0.5, 0.95, 1]) {
    const exact = values[Math.ceil(share * values.length) - 1] ?? 0;
    t.true(Math.abs(sketch.quantile(share) / exact - 1) < 0.0101, `${share}`);
  }
  const still = new DurationSketch();
  still.add(0);
  still.add(-5);
  t.deepEqual([still.quantile(0.5), still.max, still.sum], [0, 0, 0]);
});

test('statistics count jobs that ended within the window and measure only completed ones', async (t) => {
  const clock = new SimulatedClock(Date.UTC(2026, 10, 21));
  const now = clock.now();
  const store = new MemoryStore();
  const ended = (minutesAgo: number, value: Row['value']): Row => ({
    view: 'ended',
    key: [now - minutesAgo * MINUTE, minutesAgo],
    value,
  });
  const done = { state: 'Completed', method: 'Local' };
  const put = [
    ended(0.5, { ...done, queueWait: 10, sign: 2, verify: 1, output: 3, encrypted: true }),
    ended(5, { ...done, queueWait: 30, sign: 4 }),
    ended(6, { state: 'Completed', method: 'RemoteSigner' }),
    ended(7, { state: 'Failed', method: 'Local' }),
    ended(8, { state: 'Canceled', method: 'Local' }),
    ended(16, { ...done, queueWait: 9_999 }),
  ];
  await store.commit(stepOf(A, 0, { rows: { put, remove: [] } }));
  const statistics = new StatisticsService({ store, clock });
  const quarter = await statistics.over(15 * MINUTE);
  t.like(quarter, { since: now - 15 * MINUTE, completed: 3, failed: 1, canceled: 1, encrypted: 1 });
  t.is(quarter.throughputPerMinute, 1);
  t.deepEqual(quarter.perMethod, { Local: 2, RemoteSigner: 1 });
  t.like(quarter.perStage.queueWait, { count: 2, avgMs: 20, maxMs: 30 });
  t.like(quarter.perStage.sign, { count: 2, avgMs: 3, maxMs: 4 });
  t.like(quarter.perStage.output, { count: 1, avgMs: 3, maxMs: 3 });
  t.is((await statistics.over(20 * MINUTE)).completed, 4);
  const none = await statistics.over(1);
  t.deepEqual(none.perStage.sign, { count: 0, avgMs: null, p50Ms: null, p95Ms: null, maxMs: null });
  const { queueWaitMs, signMs, ...counts } = await statistics.series(16 * MINUTE, 4);
  // A sketch is at most 1 % off. The job of the third interval was signed remotely.
  const rough = (ms: number | null) => ms && Number(ms.toPrecision(1));
  t.deepEqual(queueWaitMs.map(rough), [10_000, null, 30, 10]);
  t.deepEqual(signMs.map(rough), [null, null, 4, 2]);
  t.deepEqual(counts, {
    since: now - 16 * MINUTE,
    intervalSeconds: (4 * MINUTE) / 1000,
    completed: [1, 0, 2, 1],
    failed: [0, 0, 1, 0],
    canceled: [0, 0, 1, 0],
  });
});

test('statistics of real jobs have their stages and results', async (t) => {
  const it = await batchFixture(t, { watch: false });
  for (const name of ['a.txt', 'b.txt', 'broken.xml']) await it.upload(name, '<content of a test');
  await it.reach('Completed', 2);
  await it.reach('Failed', 1);
  await it.batch.pipeline.pause(null);
  await it.batch.jobs.cancel(await it.upload('c.txt', 'c'), null);
  const figures = await it.batch.statistics.over(60 * MINUTE);
  t.like(figures, { completed: 2, failed: 1, canceled: 1, throughputPerMinute: 2 });
  t.deepEqual(figures.perMethod, { Local: 2, RemoteSigner: 0 });
  t.is(figures.perStage.queueWait.count, 2);
  t.is(figures.perStage.sign.count, 2);
  t.is(figures.perStage.output.count, 2);
  t.true((figures.perStage.sign.maxMs ?? 0) > 0);
  t.true(figures.lifetimePerMinute > 0);
});
