/** Threads of a group start by need. */
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '@sealwright/runtime';
import test, { type ExecutionContext } from 'ava';
import type { PoolReply } from '../../../actors/pool/tasks.ts';
import { WorkerGroup, type WorkerGroupOptions } from '../../../actors/pool/worker-group.ts';
import { NO_TRUST } from '../../../actors/shared/signing/trust-options.ts';
import { reached } from '../../project/waiting.ts';
import { folderFor } from '../../runtime/folder.ts';

/** A group whose threads leave a file each time one loads, and when it first has a task; they answer once `go` is there. */
function groupIn(
  t: ExecutionContext,
  limits: Pick<WorkerGroupOptions, 'threads' | 'eagerThreads' | 'atOnce'>,
) {
  const folder = folderFor(t);
  const processing = join(folder, 'threads');
  mkdirSync(processing);
  const group = new WorkerGroup({
    ...limits,
    batchSize: () => 1,
    filename: new URL('./counted-worker.js', import.meta.url).href,
    setup: {
      processing,
      output: folder,
      error: folder,
      profiles: [],
      trust: NO_TRUST,
      encryptionKey: undefined,
      faults: '',
    },
    resourceLimits: { maxOldGenerationSizeMb: 64 },
    clock: systemClock,
    log: { error() {} },
  });
  t.teardown(() => group.destroy());
  const said = () =>
    readdirSync(processing)
      .map((name) => name.replace(/-.*/, ''))
      .sort();
  const run = () =>
    new Promise<PoolReply>((answer, lost) => {
      const task = { task: 'stage', jobId: 'job', fileName: 'a.txt', originalPath: 'a.txt' } as const;
      const limits = { partition: '', deadlineMs: 60_000, since: 0, bytes: 0, isSuspect: false };
      group.add({ task, ...limits, answer, lost });
    });
  return { group, run, said, go: () => writeFileSync(join(folder, 'go'), '') };
}

/** Numbers of the threads that answered. */
async function threadsOf(answers: readonly Promise<PoolReply>[]): Promise<ReadonlySet<unknown>> {
  return new Set((await Promise.all(answers)).map((reply) => !reply.ok && reply.message));
}

test('a group begins with its eager threads, and one more starts for each task that finds none free', async (t) => {
  const { group, run, said, go } = groupIn(t, { threads: 3, eagerThreads: 1, atOnce: 1 });
  await reached(() => said().length > 0);
  const answers = [run(), run()];
  await reached(() => said().filter((what) => what === 'task').length === 2);
  go();
  t.is((await threadsOf(answers)).size, 2, 'each task has a thread');
  await run();
  t.deepEqual(
    said(),
    ['cold', 'task', 'task', 'warm'],
    'a thread that a task waits for does not warm up; the third is not needed',
  );
  t.is(group.threads, 3);
});

test('a task that would share a thread starts another one', async (t) => {
  const { run, said, go } = groupIn(t, { threads: 2, eagerThreads: 0, atOnce: 32 });
  const answers = [run()];
  await reached(() => said().includes('task'));
  // The other thread takes tasks that come when it has loaded.
  await reached(() => {
    answers.push(run());
    return said().filter((what) => what === 'task').length === 2;
  });
  go();
  t.is((await threadsOf(answers)).size, 2);
});
