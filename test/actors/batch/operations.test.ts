/** Large operations over real jobs. Source: docs/decisions/0050-large-operations.md. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Clock, systemClock } from '@sealwright/runtime';
import test from 'ava';
import type { OperationRequest } from '../../../actors/batch/operations.ts';
import type { JobId } from '../../../machines/ids.ts';
import { reached } from '../../project/waiting.ts';
import { type BatchFixture, batchFixture } from './batch-harness.ts';

const BROKEN = '<unfinished';

async function uploads(it: BatchFixture, count: number, extension = 'xml'): Promise<readonly JobId[]> {
  const names = Array.from({ length: count }, (_, index) => `${index}.${extension}`);
  return Promise.all(names.map((name) => it.upload(name, BROKEN)));
}

function request(action: OperationRequest['action'], filter: object = {}): OperationRequest {
  return { action, filter: { statuses: [], ...filter }, reason: 'outage' };
}

async function ended(it: BatchFixture, id: string) {
  for (;;) {
    const operation = await it.batch.operations.get(id);
    if (operation.endedAt !== null) return operation;
    await systemClock.sleep(10);
  }
}

test('an operation is counted first and then acts on every job that matches, in batches', async (t) => {
  const it = await batchFixture(t, { watch: false });
  await it.batch.pipeline.pause(null);
  await uploads(it, 300);
  await uploads(it, 3, 'bin');
  const cancelXml = request('cancel', { formats: ['Xades'] });
  t.is(await it.batch.operations.count(cancelXml), 300);
  t.is(it.batch.count(['Queued']), 303, 'counting changes nothing');
  const { id, matched } = await it.batch.operations.start(cancelXml, 'operator');
  t.is(matched, 300);
  t.like(await ended(it, id), { state: 'Completed', done: 300, skipped: 0 });
  t.is(it.batch.count(['Canceled']), 300);
  t.is(it.batch.count(['Queued']), 3);
  const { items, totalCount } = await it.batch.operations.list(1, 10);
  t.is(totalCount, 1);
  t.is(items[0]?.id, id);
  const recorded = () => it.batch.events.list({ kinds: ['OperationEnded'], page: 1, pageSize: 5 });
  await reached(async () => (await recorded()).totalCount > 0);
  t.regex(
    (await recorded()).items[0]?.message ?? '',
    /cancel completed: 300 jobs matched, 300 done, 0 skipped/,
  );
});

test('an operation continues after a restart, and processes every job once', async (t) => {
  const first = await batchFixture(t, { watch: false });
  await first.batch.pipeline.pause(null);
  const ids = await uploads(first, 300);
  const { id } = await first.batch.operations.start(request('cancel'), 'operator');
  await first.close();
  const left = await batchFixture(t, { root: first.layout.root, watch: false });
  t.like(await ended(left, id), { state: 'Completed', matched: 300, done: 300, skipped: 0 });
  t.is(left.batch.count(['Canceled']), 300);
  const { history } = await left.batch.jobs.get(ids[299] as JobId);
  t.deepEqual(
    history.map(({ message }) => message),
    ['Uploaded.', 'Operator canceled: outage.'],
  );
});

test('an operation processes all existing jobs and none that it creates, also after the clock was set back', async (t) => {
  const root = await mkdtemp(join(tmpdir(), 'sealwright-operation-'));
  t.teardown(() => rm(root, { recursive: true, force: true }));
  const first = await batchFixture(t, { root, watch: false });
  await uploads(first, 20);
  await first.reach('Failed', 20);
  await first.close();
  const behind: Clock = {
    now: () => systemClock.now() - 3_600_000,
    elapsed: () => systemClock.elapsed(),
    after: (delay, task) => systemClock.after(delay, task),
    sleep: (delay, signal) => systemClock.sleep(delay, signal),
  };
  const it = await batchFixture(t, { root, watch: false, clock: behind });
  await uploads(it, 1);
  await it.reach('Failed', 21);
  const { id } = await it.batch.operations.start(request('retry'), 'operator');
  t.like(await ended(it, id), { state: 'Completed', matched: 21, done: 21, skipped: 0 });
  await it.reach('Failed', 42);
  const createdTo = behind.now() + 1_800_000;
  t.is(await it.batch.operations.count(request('clear', { createdTo })), 22, 'only those made since');
});

test('a repeated batch retries no job twice and counts the same', async (t) => {
  const it = await batchFixture(t, { watch: false });
  const ids = await uploads(it, 20);
  await it.reach('Failed', 20);
  await it.batch.pipeline.pause(null);
  // The outcome of the first batch is lost, as by a crash between its work and its commit.
  let lost = false;
  it.faults.arm(
    'effect.done.before-outcome/operate',
    () => {
      lost = true;
      throw new Error('lost on purpose');
    },
    2,
  );
  const { id } = await it.batch.operations.start(request('retry'), 'operator');
  t.like(await ended(it, id), { state: 'Completed', done: 20, skipped: 0 });
  t.true(lost);
  t.is(it.batch.count(['Queued']), 20);
  const { totalCount } = await it.batch.jobs.list({
    statuses: [],
    parentJobId: ids[0] as JobId,
    page: 1,
    pageSize: 10,
  });
  t.is(totalCount, 1);
});

test('an operation counts by code the jobs it cannot change, and continues with the others', async (t) => {
  const it = await batchFixture(t, { watch: false });
  const ids = await uploads(it, 5);
  await it.reach('Failed', 5);
  await it.batch.pipeline.pause(null);
  await rm((await it.batch.jobs.get(ids[2] as JobId)).originalPath);
  const { id } = await it.batch.operations.start(request('retry'), 'operator');
  t.like(await ended(it, id), { done: 4, skipped: 1, skippedByCode: { 'job.input-missing': 1 } });
});

test('a canceled operation stops after its batch, and its changes stay', async (t) => {
  const it = await batchFixture(t, { watch: false });
  await it.batch.pipeline.pause(null);
  await uploads(it, 300);
  let release = () => {};
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  let isReached = false;
  it.faults.arm(
    'effect.done.before-outcome/operate',
    () => {
      isReached = true;
      return gate;
    },
    2,
  );
  const { id } = await it.batch.operations.start(request('cancel'), 'operator');
  await reached(() => isReached);
  t.is((await it.batch.operations.cancel(id, 'key:night')).state, 'Canceling');
  release();
  t.like(await ended(it, id), { state: 'Canceled', done: 128, matched: 300 });
  t.is(it.batch.count(['Canceled']), 128);
  // The event names who ended it, not who began it.
  const endedBy = async () =>
    (await it.batch.events.list({ kinds: ['OperationEnded'], page: 1, pageSize: 1 })).items[0]?.actor;
  await reached(async () => (await endedBy()) !== undefined);
  t.is(await endedBy(), 'key:night');
  await t.throwsAsync(it.batch.operations.cancel(id, 'operator'), { code: 'operation.not-running' });
});

test('a clearing operation forgets the finished jobs that match', async (t) => {
  const it = await batchFixture(t, { watch: false });
  const ids = await uploads(it, 4);
  await it.reach('Failed', 4);
  await it.batch.pipeline.pause(null);
  await uploads(it, 2, 'bin');
  for (let left = 4; left > 0; ) {
    const { id } = await it.batch.operations.start(request('clear', { formats: ['Xades'] }), 'operator');
    left -= (await ended(it, id)).done;
  }
  await t.throwsAsync(it.batch.jobs.get(ids[0] as JobId), { code: 'job.not-found' });
  t.is(it.batch.count(), 2);
});

test('a fifth concurrent operation is refused', async (t) => {
  const it = await batchFixture(t, { watch: false, start: false });
  for (let index = 0; index < 4; index += 1) await it.batch.operations.start(request('clear'), 'operator');
  await t.throwsAsync(it.batch.operations.start(request('clear'), 'operator'), {
    code: 'operation.limit-reached',
  });
});
