import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import type { JobId } from '../../../../machines/ids.ts';
import { reached } from '../../../project/waiting.ts';
import { type BatchFixture, batchFixture } from '../batch-harness.ts';

const BROKEN = '<unfinished';
const EVERYTHING = { limit: 1000, countOnly: false } as const;

/** Uploads as many files that no format can sign, and waits until each has failed. */
async function failing({ upload, reach }: BatchFixture, count: number): Promise<JobId[]> {
  const ids: JobId[] = [];
  for (let index = 0; index < count; index += 1) ids.push(await upload(`${index}.xml`, BROKEN));
  await reach('Failed', count);
  return ids;
}

/** Clears until so many jobs are gone: what still has files to put away stays for the next time. */
async function cleared(it: BatchFixture, deleted: number): Promise<{ deleted: number; skipped: number }> {
  const sum = { deleted: 0, skipped: 0 };
  await reached(async () => {
    const report = await it.batch.bulk.clear();
    sum.deleted += report.deleted;
    sum.skipped = report.skipped;
    return sum.deleted >= deleted;
  });
  return sum;
}

test('a bulk retry creates one new job for each failed one, and a second bulk retry skips them', async (t) => {
  const it = await batchFixture(t, { watch: false });
  const ids = await failing(it, 3);
  const { bulk, jobs, pipeline } = it.batch;
  await pipeline.pause(null);
  const counted = await bulk.retryMany({ ...EVERYTHING, countOnly: true });
  t.deepEqual(counted, { matched: 3, done: 0, skipped: 0, items: [] });
  const first = await bulk.retryMany({ ...EVERYTHING, limit: 2 });
  t.like(first, { matched: 3, done: 2, skipped: 0 });
  t.deepEqual(
    first.items.map(({ jobId }) => jobId),
    ids.slice(0, 2),
    'oldest first',
  );
  for (const { jobId, newJobId } of first.items) {
    const child = await jobs.get(newJobId ?? jobId);
    t.like(child, { parentJobId: jobId, source: 'Retry', status: 'Queued' });
    t.is((await jobs.get(jobId)).history.at(-1)?.message, `Retried as job ${newJobId}.`);
  }
  const second = await bulk.retryMany(EVERYTHING);
  t.like(second, { matched: 1, done: 1, skipped: 0 });
  t.is(second.items[0]?.jobId, ids[2]);
  t.like(await bulk.retryMany(EVERYTHING), { matched: 0, done: 0 });
  await pipeline.resume(null);
  await it.reach('Failed', 6);
  const third = await bulk.retryMany({ ...EVERYTHING, countOnly: true });
  t.is(third.matched, 3, 'a retry that failed is what is retried next');
});

test('a bulk retry reports a reason for each job that cannot be retried, and continues with the others', async (t) => {
  const it = await batchFixture(t, { watch: false });
  const [first, second] = await failing(it, 2);
  if (!first || !second) return t.fail();
  await rm((await it.batch.jobs.get(first)).originalPath);
  const { errorCode } = await it.batch.jobs.get(second);
  const report = await it.batch.bulk.retryMany({ ...EVERYTHING, errorCode: errorCode ?? '' });
  t.like(report, { matched: 2, done: 1, skipped: 1 });
  t.deepEqual(report.items[0], { jobId: first, newJobId: null, code: 'job.input-missing' });
  t.is((await it.batch.bulk.retryMany({ ...EVERYTHING, profile: 'other' })).matched, 0);
  t.is((await it.batch.bulk.retryMany({ ...EVERYTHING, since: Date.now() + 60_000 })).matched, 0);
});

test('a bulk cancel ends every queued job with its reason, and changes no other', async (t) => {
  const it = await batchFixture(t, { watch: false });
  const done = await it.upload('done.txt', 'x');
  await it.reach('Completed', 1);
  await it.batch.pipeline.pause(null);
  const ids = [await it.upload('a.txt', 'a'), await it.upload('b.txt', 'b')];
  const { bulk, jobs } = it.batch;
  t.is((await bulk.cancelMany({ ...EVERYTHING, statuses: ['AwaitingSigner'] }, null)).matched, 0);
  const report = await bulk.cancelMany(EVERYTHING, 'wrong batch');
  t.like(report, { matched: 2, done: 2, skipped: 0 });
  for (const id of ids) t.is((await jobs.get(id)).history.at(-1)?.message, 'Operator canceled: wrong batch.');
  t.is((await jobs.get(done)).status, 'Completed');
});

test('clearing removes finished jobs, keeps the others and every file, and records an event', async (t) => {
  const it = await batchFixture(t, { watch: false });
  const completed = await it.upload('a.txt', 'a');
  const failed = (await failing(it, 1))[0];
  await it.reach('Completed', 1);
  if (!failed) return t.fail();
  const { outputFileName } = await it.batch.jobs.get(completed);
  const { originalPath } = await it.batch.jobs.get(failed);
  await it.batch.pipeline.pause(null);
  const queued = await it.upload('b.txt', 'b');
  t.deepEqual(await cleared(it, 2), { deleted: 2, skipped: 1 });
  t.is(it.batch.count(), 1);
  const { jobs, events } = it.batch;
  for (const id of [completed, failed]) await t.throwsAsync(jobs.get(id), { code: 'job.not-found' });
  t.is((await jobs.get(queued)).status, 'Queued');
  const list = await jobs.list({ statuses: [], page: 1, pageSize: 10 });
  t.deepEqual(
    list.items.map(({ id }) => id),
    [queued],
  );
  t.true((await stat(join(it.layout.output, outputFileName ?? ''))).isFile());
  t.is(await readFile(originalPath, 'utf8'), BROKEN);
  const { items } = await events.list({ kinds: ['JobsCleared'], page: 1, pageSize: 10 });
  t.is(items.length >= 1, true);
  t.is(items.at(-1)?.actor, 'operator');
  const root = it.layout.root;
  await it.close();
  const again = await batchFixture(t, { watch: false, root, start: false });
  t.is(again.batch.count(), 1);
  await t.throwsAsync(again.batch.jobs.get(completed), { code: 'job.not-found' });
});

test('a canceled file whose job was cleared is not taken by its watcher, until it changes', async (t) => {
  const it = await batchFixture(t);
  await it.batch.pipeline.pause(null);
  const path = join(it.layout.input, 'keep.txt');
  await writeFile(path, 'not to be signed');
  await it.reach('Queued', 1);
  const [job] = (await it.batch.jobs.list({ statuses: [], page: 1, pageSize: 1 })).items;
  if (!job) return t.fail();
  await it.batch.jobs.cancel(job.id, null);
  t.deepEqual(await cleared(it, 1), { deleted: 1, skipped: 0 });
  const root = it.layout.root;
  await it.close();
  const again = await batchFixture(t, { root });
  await writeFile(join(again.layout.input, 'next.txt'), 'to be queued');
  await again.reach('Queued', 1);
  t.is(again.batch.count(), 1, 'the canceled file was seen at the start and left alone');
  await writeFile(path, 'another content');
  await again.reach('Queued', 2);
  await again.batch.pipeline.resume(null);
  await again.reach('Completed', 2);
  t.deepEqual((await readdir(again.layout.output)).sort(), ['keep.signed.txt', 'next.signed.txt']);
  const rows = await again.store.rows({ view: 'paths', limit: 10 });
  t.false(
    rows.some(({ key }) => key.length > 1),
    'nothing is remembered for ever',
  );
});

test('clearing a batch of jobs uses one transaction, or one for each half', async (t) => {
  // The transactions of this thread are counted.
  const it = await batchFixture(t, { watch: false, shards: 1 });
  const ids = await failing(it, 40);
  // Putting aside and recording come after the end of a job: then all forty can go, and nothing else is written.
  const settled = async () => {
    const jobs = await Promise.all(ids.map((id) => it.store.load({ kind: 'job', id })));
    const { totalCount } = await it.batch.events.list({ kinds: ['JobFailed'], page: 1, pageSize: 1 });
    return (
      totalCount === 40 &&
      jobs.every((job) => (job?.context as { untidy?: boolean } | undefined)?.untidy === false)
    );
  };
  await reached(settled);
  // The step is stored before the host knows of it: a later answer arrives after the host has it.
  await it.batch.pipeline.pause(null);
  // How many there are before each transaction: with one for each job, every number from forty down would be seen.
  const before: number[] = [];
  const count = async () => {
    it.faults.arm('store.group.before-transaction', count);
    before.push(Object.values(await it.store.counters('jobs/Failed/')).reduce((sum, one) => sum + one, 0));
  };
  it.faults.arm('store.group.before-transaction', count);
  const { deleted } = await it.batch.bulk.clear();
  it.faults.disarm();
  t.is(deleted, 40);
  const seen = [...new Set(before)];
  t.is(seen[0], 40);
  t.is(seen.at(-1), 0);
  t.true(seen.length <= 3, `${before}`);
});
