/**
 * A pool thread may be stopped at each moment of its start, and of its replacement's start; the process goes on. What a
 * terminated thread does is done before its task counts as lost.
 */
import { execFileSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { systemClock } from '@sealwright/runtime';
import test from 'ava';
import type { PoolTask } from '../../../actors/pool/tasks.ts';
import { PoolThread } from '../../../actors/pool/worker-group.ts';
import { NO_TRUST } from '../../../actors/shared/signing/trust-options.ts';
import { roundsOf } from '../../project/rounds.ts';

const ROUNDS = roundsOf(5, 100);
/** A deadline that has passed at once; no other timer of the thread is so short. */
const LATE = 1;

/** A deadline that passes when `pass` is called. */
const ON_CALL = 2;

const folder = tmpdir();

function startThread(
  faults = '',
  worker = '../../../actors/pool/worker/worker.js',
): { readonly thread: PoolThread; readonly loaded: Promise<void>; readonly pass: () => void } {
  let onLoaded = () => {};
  let pass = () => {};
  const loaded = new Promise<void>((resolve) => {
    onLoaded = resolve;
  });
  const thread = new PoolThread({
    atOnce: 1,
    filename: new URL(worker, import.meta.url).href,
    setup: {
      processing: folder,
      output: folder,
      error: folder,
      profiles: [],
      trust: NO_TRUST,
      encryptionKey: undefined,
      faults,
    },
    isWarmedUp: false,
    resourceLimits: { maxOldGenerationSizeMb: 256 },
    clock: {
      after(ms, task) {
        if (ms !== LATE && ms !== ON_CALL) return systemClock.after(ms, task);
        if (ms === LATE) task();
        else pass = task;
        return () => {};
      },
    },
    log: { error() {} },
    onLoaded: () => onLoaded(),
  });
  return { thread, loaded, pass: () => pass() };
}

test('a pool thread starts with fault points armed that only the main thread knows', async (t) => {
  const { thread, loaded } = startThread('portal.upload.kept=kill:1,pool.sign.staged=kill:1');
  await loaded;
  await thread.close();
  t.is(thread.room, 0);
});

test('pool threads that are stopped or replaced at each moment of their start end after loading', async (t) => {
  t.timeout(600_000);
  const began = systemClock.elapsed();
  const first = startThread();
  await first.loaded;
  const loading = systemClock.elapsed() - began;
  await first.thread.close();
  for (let round = 0; round < ROUNDS; round += 1) {
    const { thread, loaded } = startThread();
    if (round % 2 === 1) {
      await loaded;
      await t.throwsAsync(thread.run([], LATE), { name: 'DeadlineMissed' });
    }
    await systemClock.sleep((loading * ((round * 37) % 100)) / 100);
    await (round % 4 < 2 ? thread.close() : thread.destroy());
    t.is(thread.room, 0);
  }
});

test('a task counts as lost only when its terminated thread has returned from a native call', async (t) => {
  const pipe = join(mkdtempSync(join(tmpdir(), 'sealwright-pool-')), 'pipe');
  execFileSync('mkfifo', [pipe]);
  t.teardown(() => rmSync(dirname(pipe), { recursive: true }));
  const { thread, loaded, pass } = startThread('', './blocked-worker.js');
  await loaded;
  let isLost = false;
  const lost = thread.run([pipe as unknown as PoolTask], ON_CALL).finally(() => {
    isLost = true;
  });
  const writer = await openWhenRead(pipe);
  pass();
  for (let turn = 0; turn < 100; turn += 1) await setImmediate();
  t.false(isLost);
  closeSync(writer);
  await t.throwsAsync(lost, { name: 'DeadlineMissed' });
  await thread.close();
});

/** Opens a named pipe for writing as soon as somebody reads it. */
async function openWhenRead(pipe: string): Promise<number> {
  for (;;) {
    try {
      return openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENXIO') throw error;
      await setImmediate();
    }
  }
}
