import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { reached } from '../../../project/waiting.ts';
import { batchFixture } from '../batch-harness.ts';

test('the relative path of a file from a recursive folder is repeated below output, so equal names stay separate', async (t) => {
  const it = await batchFixture(t, { recursive: true, outputCollision: 'fail' });
  const { input, output } = it.layout;
  for (const directory of ['.', 'a', 'a/b']) {
    await mkdir(join(input, directory), { recursive: true });
    await writeFile(join(input, directory, 'x.txt'), `in ${directory}`);
  }
  await it.reach('Completed', 3);
  t.deepEqual((await readdir(output, { recursive: true })).sort(), [
    'a',
    'a/b',
    'a/b/x.signed.txt',
    'a/x.signed.txt',
    'x.signed.txt',
  ]);
  const { items } = await it.batch.jobs.list({ statuses: [], page: 1, pageSize: 10 });
  t.deepEqual(new Set(items.map(({ fileName }) => fileName)), new Set(['x.txt']));
  for (const { id, originalPath } of items) {
    const { outputFileName } = await it.batch.jobs.get(id);
    const directory = originalPath.slice(input.length + 1, -'x.txt'.length);
    t.is(outputFileName, `${directory}x.signed.txt`);
    const served = await it.batch.jobs.output(id);
    t.is(served.path, join(output, outputFileName ?? ''));
    t.is(served.fileName, 'x.signed.txt');
    t.true((await readFile(served.path)).includes(`in ${directory.slice(0, -1) || '.'}`));
  }
});

test('a failed job from a directory below is retried into the same directory below output', async (t) => {
  const it = await batchFixture(t, { recursive: true });
  const { input, output } = it.layout;
  await mkdir(join(input, 'orders'));
  // In the place of the directory that the output goes to.
  await writeFile(join(output, 'orders'), 'in the way');
  await writeFile(join(input, 'orders', 'x.txt'), 'content');
  await it.reach('Failed', 1);
  const [failed] = (await it.batch.jobs.list({ statuses: ['Failed'], page: 1, pageSize: 1 })).items;
  if (!failed) throw new Error('the failed job is not listed');
  t.regex(failed.errorMessage ?? '', /orders/);
  await rm(join(output, 'orders'));
  await it.batch.jobs.retry(failed.id);
  await it.reach('Completed', 1);
  t.deepEqual(await readdir(output, { recursive: true }), ['orders', 'orders/x.signed.txt']);
});

test('an output below an uncommitted linked directory is removed when the job fails', async (t) => {
  const it = await batchFixture(t, { recursive: true, poolFaults: 'pool.release.linked=throw:1' });
  const { input, output, error } = it.layout;
  await mkdir(join(input, 'sub'));
  await writeFile(join(input, 'sub', 'x.txt'), 'content');
  await it.reach('Failed', 1);
  // Files are put aside after the end of the job.
  await reached(async () =>
    (await readdir(error, { recursive: true })).some((path) => path.endsWith('/x.signed.txt')),
  );
  await it.close();
  t.deepEqual(await readdir(output, { recursive: true }), ['sub']);
  const [id] = await readdir(error);
  t.true((await readdir(join(error, id ?? ''))).includes('x.signed.txt'));
});

test('a rescan takes files from directories below a recursive folder, except excluded ones, and counts skipped directories', async (t) => {
  const it = await batchFixture(t, { recursive: true, start: false });
  const { input } = it.layout;
  await mkdir(join(input, 'a', 'b'), { recursive: true });
  await mkdir(join(input, '.hidden'));
  for (const path of ['x.txt', 'a/x.txt', 'a/b/x.txt', 'a/empty.txt', '.hidden/x.txt'])
    await writeFile(join(input, path), path.includes('empty') ? '' : path);
  const { folders } = await it.batch.folders.rescan(undefined);
  t.like(folders[0], { scanned: 5, enqueued: 3, alreadyActive: 0, ignored: 2, errors: 0 });
  t.deepEqual(folders[0]?.enqueuedFiles, ['a/b/x.txt', 'a/x.txt', 'x.txt']);
  t.is((await it.batch.folders.list())[0]?.fileCount, 4);
  const again = await it.batch.folders.rescan(undefined);
  t.like(again.folders[0], { enqueued: 0, alreadyActive: 3 });
});

test('a rescan counts files and directories whose names are not UTF-8 as errors', async (t) => {
  const it = await batchFixture(t, { recursive: true, start: false });
  const { input } = it.layout;
  const badly = (name: string) => Buffer.concat([Buffer.from(`${input}/${name}`), Buffer.from([0xe7])]);
  await mkdir(badly('folder'));
  await writeFile(Buffer.concat([badly('folder'), Buffer.from('/x.txt')]), 'x');
  await writeFile(badly('file'), 'x');
  await writeFile(join(input, 'good.txt'), 'x');
  const { folders } = await it.batch.folders.rescan(undefined);
  t.like(folders[0], { enqueued: 1, ignored: 0, errors: 2 });
});
