import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import type { JobId } from '../../../machines/ids.ts';
import { ON_POSTGRES } from '../../postgres/test-store.ts';
import { reached } from '../../project/waiting.ts';
import { batchFixture } from './batch-harness.ts';

test('queued jobs are claimed oldest first, at most MaxConcurrency at once', async (t) => {
  const { batch, services, upload, reach } = await batchFixture(t, {
    start: false,
    maxConcurrency: 2,
    watch: false,
  });
  const ids: JobId[] = [];
  for (let index = 0; index < 12; index += 1) ids.push(await upload(`${index}.txt`, `content ${index}`));
  t.is(batch.count(['Queued']), 12, 'nothing is claimed before the start');
  let most = 0;
  const watching = setInterval(() => {
    most = Math.max(most, batch.inFlight());
  }, 1);
  await services.start();
  await reach('Completed', 12);
  clearInterval(watching);
  t.true(most >= 1 && most <= 2, `${most} jobs were in flight`);
  const claimed = await Promise.all(
    ids.map(
      async (id) =>
        (await batch.jobs.get(id)).history.find((line) => line.status === 'Processing')?.timestamp ?? 0,
    ),
  );
  // The two in flight may be on threads of their own; a later job waits for one of them.
  for (const [place, at] of claimed.entries()) {
    t.true(
      claimed.slice(place + 2).every((later) => later >= at),
      `place ${place}`,
    );
  }
});

test('a concurrent cancel and claim end in exactly one of the two, with the documented answer', async (t) => {
  const { batch, upload, reach } = await batchFixture(t, { watch: false, maxConcurrency: 4 });
  let canceled = 0;
  for (let index = 0; index < 30; index += 1) {
    const id = await upload(`${index}.txt`, `content ${index}`);
    const outcome = await batch.jobs.cancel(id, null).then(
      () => 'canceled',
      (error: { code: string }) => error.code,
    );
    t.true(['canceled', 'job.race-lost', 'job.not-queued'].includes(outcome), outcome);
    if (outcome === 'canceled') canceled += 1;
  }
  await reach('Canceled', canceled);
  await reach('Completed', 30 - canceled);
  t.is(batch.count(), 30);
});

test('lists are newest first, filtered by state and profile, and agree with their total', async (t) => {
  const { batch, upload } = await batchFixture(t, { start: false, watch: false });
  const ids: JobId[] = [];
  for (let index = 0; index < 9; index += 1) ids.push(await upload(`${index}.txt`, 'x'));
  for (const id of ids.slice(0, 3)) await batch.jobs.cancel(id, 'not needed');
  const query = { statuses: [], profile: undefined, page: 1, pageSize: 4 } as const;
  const first = await batch.jobs.list(query);
  t.is(first.totalCount, 9);
  t.deepEqual(
    first.items.map((job) => job.id),
    [...ids].reverse().slice(0, 4),
  );
  t.deepEqual(
    (await batch.jobs.list({ ...query, page: 3 })).items.map((job) => job.id),
    [ids[0]],
  );
  t.deepEqual((await batch.jobs.list({ ...query, page: 4 })).items, []);
  const queued = await batch.jobs.list({ ...query, statuses: ['Queued'], page: 2 });
  t.deepEqual([queued.totalCount, queued.items.map((job) => job.id)], [6, [ids[4], ids[3]]]);
  const either = await batch.jobs.list({ ...query, statuses: ['Queued', 'Canceled'], pageSize: 200 });
  t.deepEqual(
    either.items.map((job) => job.id),
    [...ids].reverse(),
    'ranges are merged by order',
  );
  t.is((await batch.jobs.list({ ...query, profile: 'DEFAULT' })).totalCount, 9, 'names compare without case');
  t.deepEqual(await batch.jobs.list({ ...query, profile: 'nobody' }), { items: [], totalCount: 0 });
});

test('a watcher with an exhausted budget stops for good with its reason, and other folders and the next start continue', async (t) => {
  const outside = await mkdtemp(join(tmpdir(), 'sealwright-deep-'));
  t.teardown(() => rm(outside, { recursive: true, force: true }));
  const deep = join(outside, ...Array.from({ length: 4 }, () => 'd'.repeat(180)));
  await mkdir(deep, { recursive: true });
  const first = await batchFixture(t, { budget: 1, otherFolder: deep });
  await writeFile(join(deep, `${'n'.repeat(200)}.txt`), 'its path is longer than the store takes');
  const failing = async () =>
    (await first.batch.health.checks()).find((check) => check.name === 'input-folder:other');
  await reached(async () => (await failing())?.status === 'Unhealthy');
  t.regex((await failing())?.detail ?? '', /the watcher stopped: The path is \d+ characters long/);
  await writeFile(join(deep, 'fine.txt'), 'the watcher has stopped');
  await writeFile(join(first.layout.input, 'elsewhere.txt'), 'this folder goes on');
  await first.reach('Completed', 1);
  t.true(existsSync(join(deep, 'fine.txt')));
  t.true(first.complaints.some((line) => line.includes('used up its budget')));
  await first.close();
  await rm(join(deep, `${'n'.repeat(200)}.txt`));
  const second = await batchFixture(t, { root: first.layout.root, budget: 1, otherFolder: deep });
  await second.reach('Completed', 2);
  // The cause is gone and the service was restarted. The original goes after its job has ended.
  await reached(() => !existsSync(join(deep, 'fine.txt')));
});

test('readiness names engine and path of the store, and reports when it accepts no writes', async (t) => {
  const engine = (folder: string) =>
    ON_POSTGRES ? /^reachable \(PostgreSQL 1\d/ : new RegExp(`^reachable \\(LMDB \\(${folder}\\)\\)$`);
  const { batch, store, layout } = await batchFixture(t, { start: false });
  const database = async () => (await batch.health.checks()).find((check) => check.name === 'database');
  const healthy = await database();
  t.is(healthy?.status, 'Healthy');
  t.regex(healthy?.detail ?? '', engine(layout.db));
  await store.close();
  const closed = await database();
  t.is(closed?.status, 'Unhealthy');
  t.regex(closed?.detail ?? '', /cannot be written: (?:It|The store) is closed\.$/);
});

test('a retry creates a new job with the failed one as its parent, one at a time', async (t) => {
  const { batch, upload, reach } = await batchFixture(t, { watch: false });
  const id = await upload('broken.pdf', 'no PDF');
  await reach('Failed', 1);
  await batch.pipeline.pause(null);
  const child = await batch.jobs.retry(id);
  t.like(child, { parentJobId: id, status: 'Queued', source: 'Retry', fileName: 'broken.pdf' });
  await t.throwsAsync(batch.jobs.retry(id), { code: 'job.already-processing' });
  await t.throwsAsync(batch.jobs.retry(child.id), { code: 'job.not-failed' });
  const parent = await batch.jobs.get(id);
  t.is(parent.status, 'Failed');
  t.is(parent.history.at(-1)?.message, `Retried as job ${child.id}.`);
  t.is((await batch.jobs.get(child.id)).history[0]?.message, `Retry of job ${id}.`);
  await batch.jobs.cancel(child.id, null);
  await rm(parent.originalPath);
  await t.throwsAsync(batch.jobs.retry(id), { code: 'job.input-missing' });
});

test('recovery renames committed uploads, drops unanswered ones and moves working folders without a job', async (t) => {
  const first = await batchFixture(t, { start: false, watch: false });
  const { layout } = first;
  const kept = await first.upload('kept.txt', 'kept');
  const { originalPath } = await first.batch.jobs.get(kept);
  const name = originalPath.slice(layout.input.length + 1);
  await first.close();
  await rename(originalPath, join(layout.input, `.${name}.part`));
  await writeFile(join(layout.input, '.00000000-0000-4000-8000-000000000000.pdf.part'), 'never answered');
  await mkdir(join(layout.processing, 'stranger'));
  await writeFile(join(layout.processing, 'stranger', 'a.txt'), 'whose?');
  const second = await batchFixture(t, { root: layout.root, start: false, watch: false });
  t.deepEqual(second.batch.recovery, { failed: 0, uploadsKept: 1, uploadsDropped: 1, orphans: 1 });
  t.deepEqual(await readdir(layout.input), [name]);
  t.is(await readFile(join(layout.error, 'stranger', 'a.txt'), 'utf8'), 'whose?');
  await second.close();
  const third = await batchFixture(t, { root: layout.root, watch: false });
  t.deepEqual(third.batch.recovery, { failed: 0, uploadsKept: 0, uploadsDropped: 0, orphans: 0 });
  await third.reach('Completed', 1);
});

test('a removed output and an output that does not exist yet have codes of their own', async (t) => {
  const { batch, upload, reach, layout } = await batchFixture(t, { watch: false });
  const id = await upload('a.txt', 'content');
  await reach('Completed', 1);
  const output = await batch.jobs.output(id);
  t.true(existsSync(output.path));
  await rm(join(layout.output, output.fileName));
  await t.throwsAsync(batch.jobs.output(id), { code: 'job.output-gone' });
  const broken = await upload('broken.pdf', 'no PDF');
  await reach('Failed', 1);
  await t.throwsAsync(batch.jobs.output(broken), { code: 'job.output-unavailable' });
});

test('readiness needs no license and reports one that is not Base64', async (t) => {
  const { batch, close } = await batchFixture(t, { start: false, watch: false });
  const license = async (of: typeof batch) =>
    (await of.health.checks()).find(({ name }) => name === 'license');
  t.like(await license(batch), { name: 'license', status: 'Healthy', detail: 'not required' });
  await close();
  const other = await batchFixture(t, { start: false, watch: false, license: 'not Base64!' });
  t.like(await license(other.batch), {
    name: 'license',
    status: 'Unhealthy',
    detail: 'Signing:License is not Base64',
  });
});

test('a job with a missing input fails with a code and a remedy', async (t) => {
  const { batch, services, upload, reach } = await batchFixture(t, { start: false, watch: false });
  const id = await upload('a.txt', 'content');
  await rm((await batch.jobs.get(id)).originalPath);
  await services.start();
  await reach('Failed', 1);
  const { errorCode, errorMessage } = await batch.jobs.get(id);
  t.is(errorCode, 'input.missing');
  t.regex(errorMessage ?? '', /^The file \/.* is no longer there: .* Put it back/);
});
