/** A job whose task stalls is seen before its deadline: in the readiness, in the counts, and among the stuck actors. */

import test from 'ava';
import { reached } from '../../../project/waiting.ts';
import { batchFixture } from '../batch-harness.ts';

test('a job whose task computes endlessly is stuck in every view until its deadline fails it', async (t) => {
  const { batch, upload, reach } = await batchFixture(t, {
    watch: false,
    poolFaults: 'pool.sign.staged/spin.txt=spin',
    taskTimeout: 6_000,
  });
  const id = await upload('spin.txt', 'content');
  const check = async () => (await batch.health.checks()).find(({ name }) => name === 'pool');
  t.like(await check(), { status: 'Healthy' });
  await reached(async () => (await check())?.status === 'Degraded');
  t.regex((await check())?.detail ?? '', new RegExp(`^1 of its tasks stall; sign for ${id} has been `));
  t.is((await batch.inspection.stoppedActors()).hung, 1);
  const { pool } = await batch.inspection.runtime();
  t.like(pool.stalled[0], { task: 'sign', subject: id, deadlineMs: 6_000 });
  const page = await batch.inspection.list({ kind: 'job', stuck: true, limit: 10 });
  t.deepEqual(
    page?.items.map((item) => item.id),
    [id],
  );
  const waiting = await upload('next.txt', 'content');
  t.truthy(waiting);
  await reach('Failed', 1);
  t.like(await batch.jobs.get(id), { errorCode: 'pool.deadline' });
  await reached(async () => (await check())?.status === 'Healthy');
  t.is((await batch.inspection.stoppedActors()).hung, 0);
});

test('the queue shows the waiting time of its oldest job', async (t) => {
  const { batch, upload } = await batchFixture(t, { watch: false });
  t.is(await batch.pipeline.oldestQueuedAt(), null);
  await batch.pipeline.pause(null);
  const id = await upload('a.txt', 'content');
  const first = await batch.jobs.get(id);
  await upload('b.txt', 'content');
  t.is(await batch.pipeline.oldestQueuedAt(), first?.queuedAt ?? -1);
});
