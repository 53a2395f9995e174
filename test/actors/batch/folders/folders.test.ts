import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildRuntime, type Clock, Fatal, systemClock, systemIds } from '@sealwright/runtime';
import { MemoryStore } from '@sealwright/runtime/testing';
import test from 'ava';
import { Folder } from '../../../../actors/batch/folders/folders.ts';
import { definitions } from '../../../../actors/batch/registry.ts';
import type { FolderName, ProfileName } from '../../../../machines/ids.ts';

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
  const { system } = buildRuntime({
    store,
    clock: systemClock,
    ids: systemIds,
    log: LOG,
    definitions: definitions.filter(({ kind }) => kind === 'input-folder'),
    handlers: {},
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
        ignoredNames: [],
        sweepIntervalMs: 1_000,
      },
    },
    { system, store, clock: hasty, log: LOG },
    {
      enqueueStable: async (_, { fileName }) => {
        taken.push(fileName);
        heard();
        if (fileName === 'long') throw new Fatal('job.path-too-long', 'The path is too long.');
        return 'enqueued';
      },
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
