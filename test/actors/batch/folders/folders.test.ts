import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Clock, createRuntime, Fatal, systemClock, systemIds } from '@sealwright/runtime';
import { MemoryStore } from '@sealwright/runtime/testing';
import test from 'ava';
import { Folder } from '../../../../actors/batch/folders/folders.ts';
import { definitions } from '../../../../actors/batch/registry.ts';
import type { FolderName, ProfileName } from '../../../../machines/ids.ts';

import { batchFixture } from '../batch-harness.ts';

const LOG = { debug() {}, info() {}, warn() {}, error() {} };

/** Every pause is a short one. */
const hasty: Clock = {
  ...systemClock,
  after: (delay, task) => systemClock.after(Math.min(delay, 20), task),
};

test('a file whose path is too long counts as one failure and is not offered again until it changes', async (t) => {
  const path = await mkdtemp(join(tmpdir(), 'sealwright-folder-'));
  t.teardown(() => rm(path, { recursive: true, force: true }));
  const store = new MemoryStore();
  const actors = await createRuntime({
    store,
    clock: systemClock,
    ids: systemIds,
    log: LOG,
    actors: definitions.filter(({ kind }) => kind === 'input-folder'),
    start: 'never',
  });
  const taken: string[] = [];
  let heard = () => {};
  const folder = new Folder(
    {
      name: 'default' as FolderName,
      path,
      profile: 'default' as ProfileName,
      budget: 2,
      settings: {
        stability: { intervalMs: 20, requiredSamples: 2, timeoutMs: 10_000 },
        concurrency: 4,
        ignoredExtensions: [],
        ignoredPrefixes: [],
        sweepIntervalMs: 1_000,
      },
    },
    { actors, store, clock: hasty, log: LOG },
    {
      enqueueStable: async (_, { fileName }) => {
        taken.push(fileName);
        heard();
        if (fileName === 'long') throw new Fatal('job.path-too-long', 'The path is too long.');
        return 'enqueued';
      },
      isTaken: () => false,
    },
  );
  t.teardown(() => folder.stop());
  await folder.start();
  const drop = async (fileName: string, content: string) => {
    const count = taken.length;
    const offered = new Promise<void>((resolve) => {
      heard = () => {
        if (taken.slice(count).includes(fileName)) resolve();
      };
    });
    await writeFile(join(path, fileName), content);
    await offered;
  };
  await drop('long', 'content');
  for (const name of ['a', 'b', 'c', 'd', 'e']) await drop(name, 'content');
  t.deepEqual(taken, ['long', 'a', 'b', 'c', 'd', 'e']);
  t.is((await folder.report()).status, 'Running');
  await drop('long', 'content that changed');
  t.is(taken.filter((name) => name === 'long').length, 2);
});

test('an upload is not offered by the watcher of its folder, and is when its job has left another file behind', async (t) => {
  const it = await batchFixture(t);
  const { folders, jobs, pipeline } = it.batch;
  const offers = async () => (await folders.list())[0]?.processedCount;
  await pipeline.pause(null);
  const id = await it.upload('a.txt', 'a');
  const path = (await jobs.get(id)).originalPath;
  // Files are offered in the order in which they came.
  await writeFile(join(it.layout.input, 'b.txt'), 'b');
  await it.reach('Queued', 2);
  t.is(await offers(), 1);
  await jobs.cancel(id, null);
  await writeFile(path, 'another');
  await it.reach('Queued', 2);
  t.is(await offers(), 2);
});
