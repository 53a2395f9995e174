/** Retention by age, and waiting for the end of a job. Source: docs/decisions/0050-large-operations.md and docs/webhooks.md. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '@sealwright/runtime';
import test from 'ava';
import { reached } from '../../../project/waiting.ts';
import { movableClock } from '../../portal/uploads/upload-harness.ts';
import { batchFixture } from '../batch-harness.ts';

const HOUR = 3_600_000;

test('finished jobs older than the configured age are removed automatically, and their files stay', async (t) => {
  const first = await batchFixture(t, { watch: false });
  const signed = await first.upload('a.bin', 'content');
  const broken = await first.upload('b.xml', '<unfinished');
  await first.reach('Completed', 1);
  await first.reach('Failed', 1);
  const { outputFileName } = await first.batch.jobs.get(signed);
  await first.batch.pipeline.pause(null);
  const queued = await first.upload('c.bin', 'content');
  const { root } = first.layout;
  await first.close();

  const younger = await batchFixture(t, { root, watch: false, keepJobs: HOUR });
  t.is(await younger.batch.retention.sweep(), 0, 'nobody is old enough');
  t.is(younger.batch.count(), 3);
  await younger.close();

  const older = await batchFixture(t, { root, watch: false, keepJobs: 1 });
  while (older.batch.count() > 1) {
    await older.batch.retention.sweep();
    await systemClock.sleep(10);
  }
  for (const id of [signed, broken]) await t.throwsAsync(older.batch.jobs.get(id), { code: 'job.not-found' });
  t.is((await older.batch.jobs.get(queued)).status, 'Queued', 'what is not finished stays');
  t.true(existsSync(join(older.layout.output, outputFileName ?? '')));
  const { items } = await older.batch.events.list({ kinds: ['JobsCleared'], page: 1, pageSize: 5 });
  t.like(items[0], { actor: 'system' });
});

test('a job that waited for long is removed by the age of its end', async (t) => {
  const clock = movableClock();
  const it = await batchFixture(t, { watch: false, keepJobs: HOUR, clock });
  await it.batch.pipeline.pause(null);
  const id = await it.upload('a.bin', 'content');
  clock.forward(2 * HOUR);
  await it.batch.pipeline.resume(null);
  await it.reach('Completed', 1);
  // Its input is put away.
  await reached(async () =>
    JSON.stringify(await it.store.load({ kind: 'job', id })).includes('"untidy":false'),
  );
  t.is(await it.batch.retention.sweep(), 0);
  t.is(it.batch.count(), 1);
  clock.forward(HOUR + 60_000);
  t.is(await it.batch.retention.sweep(), 1);
});

test('without an age nothing is removed', async (t) => {
  const it = await batchFixture(t, { watch: false });
  await it.upload('a.bin', 'content');
  await it.reach('Completed', 1);
  t.false(it.batch.retention.isConfigured);
  t.is(await it.batch.retention.sweep(), 0);
  t.is(it.batch.count(), 1);
});

test('waiting for a job ends with the job, at once when it has ended, at the timeout, and with the service', async (t) => {
  const it = await batchFixture(t, { watch: false });
  const { jobs, pipeline } = it.batch;
  await pipeline.pause(null);
  const id = await it.upload('a.bin', 'content');
  t.is(await jobs.whenEnded(id, 1), undefined);
  const waiting = jobs.whenEnded(id, HOUR);
  await pipeline.resume(null);
  t.like(await waiting, { id, status: 'Completed' });
  t.like(await jobs.whenEnded(id, HOUR), { status: 'Completed' });
  await pipeline.pause(null);
  const other = await it.upload('b.bin', 'content');
  const cut = jobs.whenEnded(other, HOUR);
  await Promise.all([t.notThrowsAsync(cut.catch(() => {})), systemClock.sleep(10).then(() => it.close())]);
});
