import { readdir, rm } from 'node:fs/promises';
import { systemClock } from '@sealwright/runtime';
import test from 'ava';
import type { UploadKey } from '../../../../actors/batch/job-records/upload-idempotency.ts';
import type { JobView } from '../../../../contracts/batch/jobs.ts';
import type { JobFormat } from '../../../../machines/batch/job-context.ts';
import type { ProfileName } from '../../../../machines/ids.ts';
import { type BatchFixture, type BatchFixtureOptions, batchFixture } from '../batch-harness.ts';

const KEY: UploadKey = { caller: 'operator', key: 'order-17' };
const HOUR = 3_600_000;

async function send(
  { batch }: BatchFixture,
  key: UploadKey | undefined,
  content: string,
  { fileName = 'a.txt', format = 'Cades' }: { readonly fileName?: string; readonly format?: JobFormat } = {},
): Promise<JobView> {
  const sink = await batch.jobs.uploads.openUpload(fileName, key);
  await sink.write(Buffer.from(content));
  const profile = 'default' as ProfileName;
  try {
    return await batch.jobs.uploads.acceptUpload(sink, { fileName, format, profile, key });
  } catch (error) {
    await sink.abort();
    throw error;
  }
}

/** Real waiting, and a wall clock that tests may set forward. */
function movable(): { readonly clock: BatchFixtureOptions['clock'] & object; forward(by: number): void } {
  let offset = 0;
  const clock = {
    now: () => systemClock.now() + offset,
    elapsed: () => systemClock.elapsed(),
    after: (delay: number, task: () => void) => systemClock.after(delay, task),
    sleep: (delay: number, signal?: AbortSignal) => systemClock.sleep(delay, signal),
  };
  return {
    clock,
    forward(by) {
      offset += by;
    },
  };
}

test('concurrent uploads under one key create one job, and the bytes of the others are dropped', async (t) => {
  const it = await batchFixture(t, { start: false, watch: false });
  const jobs = await Promise.all(Array.from({ length: 8 }, () => send(it, KEY, 'the same content')));
  t.is(new Set(jobs.map(({ id }) => id)).size, 1);
  t.is(it.batch.count(), 1);
  t.deepEqual(
    (await readdir(it.layout.input)).map((name) => `${it.layout.input}/${name}`),
    [jobs[0]?.originalPath],
  );
});

test('a key belongs to its caller, and uploads without a key are separate', async (t) => {
  const it = await batchFixture(t, { start: false, watch: false });
  const mine = await send(it, KEY, 'x');
  const theirs = await send(it, { ...KEY, caller: 'somebody else' }, 'x');
  await send(it, undefined, 'x');
  await send(it, undefined, 'x');
  t.not(mine.id, theirs.id);
  t.is(it.batch.count(), 4);
  t.is((await send(it, KEY, 'x')).id, mine.id);
  t.is(it.batch.count(), 4);
});

test('a key is recorded for 24 hours, over restarts and the end of its job, and is free afterwards', async (t) => {
  const { clock, forward } = movable();
  const it = await batchFixture(t, { watch: false, clock });
  const first = await send(it, KEY, 'one');
  await it.reach('Completed', 1);
  const root = it.layout.root;
  await it.close();
  const again = await batchFixture(t, { root, watch: false, clock });
  t.is((await send(again, KEY, 'one')).id, first.id);
  forward(24 * HOUR - 60_000);
  t.is((await send(again, KEY, 'one')).id, first.id);
  t.is((await again.batch.bulk.clear()).deleted, 0, 'a client may still ask for it');
  forward(2 * 60_000);
  const second = await send(again, KEY, 'four');
  t.not(second.id, first.id);
  t.is((await send(again, KEY, 'four')).id, second.id);
  t.is((await again.batch.jobs.get(first.id)).status, 'Completed');
  await again.reach('Completed', 2);
  t.is((await again.batch.jobs.list({ statuses: [], page: 1, pageSize: 5 })).totalCount, 2);
});

test('a refused upload frees its key', async (t) => {
  const it = await batchFixture(t, { start: false, watch: false });
  await t.throwsAsync(send(it, KEY, ''), { code: 'upload.empty' });
  t.is(it.batch.count(), 0);
  const job = await send(it, KEY, 'x');
  t.is(it.batch.count(), 1);
  await rm(job.originalPath);
});

test('a key reused for another content, name or format is refused, and its content not stored, also concurrently', async (t) => {
  const it = await batchFixture(t, { start: false, watch: false });
  const first = await send(it, KEY, 'one');
  const mismatch = (error: unknown, differs: RegExp) => {
    t.is((error as { code?: string }).code, 'idempotency.mismatch');
    t.regex((error as Error).message, differs);
  };
  mismatch(await t.throwsAsync(send(it, KEY, 'two')), /another content\./);
  mismatch(await t.throwsAsync(send(it, KEY, 'one', { fileName: 'b.txt' })), /another file name\./);
  mismatch(await t.throwsAsync(send(it, KEY, 'one', { format: 'Xades' })), /another format\./);
  t.is((await send(it, KEY, 'one')).id, first.id);
  const key = { ...KEY, key: 'order-19' };
  const outcomes = await Promise.allSettled(['x', 'y'].map((content) => send(it, key, content)));
  t.deepEqual(outcomes.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
  t.is(it.batch.count(), 2);
  t.is((await readdir(it.layout.input)).length, 2);
});
