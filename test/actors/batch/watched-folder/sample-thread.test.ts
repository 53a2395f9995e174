/** Samples of many files at once: on the thread, and by `node:fs` while the thread does not answer. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import test from 'ava';
import { systemClock } from '#runtime/model/clock.js';
import { createFileReader } from '../../../../actors/batch/watched-folder/file-reader.ts';
import { type SampleBatch, SampleThread } from '../../../../actors/batch/watched-folder/sample-thread.ts';

const folder = mkdtempSync(join(tmpdir(), 'sealwright-samples-'));
test.after.always(() => rmSync(folder, { recursive: true, force: true }));

const NAMES = ['file', 'empty', 'directory', 'link', 'missing', 'file/below', 'file', 'missing'];
writeFileSync(join(folder, 'file'), 'content');
writeFileSync(join(folder, 'empty'), '');
mkdirSync(join(folder, 'directory'));
symlinkSync('file', join(folder, 'link'));

/** A thread, and the number of batches that it took. */
function counted(thread: SampleThread) {
  const taken = { batches: 0 };
  return {
    taken,
    take(batch: SampleBatch) {
      const isTaken = thread.take(batch);
      if (isTaken) taken.batches += 1;
      return isTaken;
    },
  };
}

type Counted = ReturnType<typeof counted>;

async function look(thread: Counted, names: readonly string[] = NAMES) {
  const reader = createFileReader(folder, { limit: 64, clock: systemClock, thread });
  const samples = await Promise.all(names.map((name) => reader.sample(name)));
  await reader.idle();
  return { kinds: samples.map(({ is }) => is), samples };
}

/** Looks until the thread has taken a batch; it takes none before it has loaded. */
async function lookByThread(thread: Counted) {
  for (;;) {
    const seen = await look(thread);
    if (thread.taken.batches > 0) return seen;
    await setImmediate();
  }
}

test('the thread and node:fs return the same samples', async (t) => {
  const thread = counted(new SampleThread());
  const byLibrary = await look(counted(new SampleThread(new URL('data:text/javascript,throw 1'))));
  const byThread = await lookByThread(thread);
  t.deepEqual(byThread, byLibrary);
  t.deepEqual(byThread.kinds, [
    'file',
    'not-a-file',
    'directory',
    'not-a-file',
    'gone',
    'gone',
    'file',
    'gone',
  ]);
});

test('few files are sampled by node:fs', async (t) => {
  const thread = counted(new SampleThread());
  await lookByThread(thread);
  const before = thread.taken.batches;
  t.deepEqual((await look(thread, ['file'])).kinds, ['file']);
  t.is(thread.taken.batches, before);
});

test('node:fs samples for a thread that does not answer, and for one that ends', async (t) => {
  const silent = 'import { parentPort } from "node:worker_threads"; parentPort.on("message", () => {});';
  const ending =
    'import { parentPort } from "node:worker_threads"; parentPort.on("message", () => process.exit());';
  for (const text of [silent, ending]) {
    const module = new URL(`data:text/javascript,${encodeURIComponent(text)}`);
    const thread = counted(new SampleThread(module, 50));
    const seen = await lookByThread(thread);
    t.is(seen.kinds[0], 'file');
    // Nothing more is given to it.
    const before = thread.taken.batches;
    t.deepEqual(await look(thread), seen);
    t.is(thread.taken.batches, before);
  }
});
