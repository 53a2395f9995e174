/** A pool thread may be stopped at each moment of its start, and of its replacement's start; the process goes on. */

import { tmpdir } from 'node:os';
import { systemClock } from '@sealwright/runtime';
import test from 'ava';
import { PoolThread } from '../../../actors/pool/worker-group.ts';
import { NO_TRUST } from '../../../actors/shared/trust.ts';
import { roundsOf } from '../../project/rounds.ts';

const ROUNDS = roundsOf(5, 12, 100);
/** A deadline that has passed at once; no other timer of the thread is so short. */
const LATE = 1;

const folder = tmpdir();

function startThread(faults = ''): { readonly thread: PoolThread; readonly loaded: Promise<void> } {
  let onLoaded = () => {};
  const loaded = new Promise<void>((resolve) => {
    onLoaded = resolve;
  });
  const thread = new PoolThread({
    atOnce: 1,
    filename: new URL('../../../actors/pool/worker/worker.js', import.meta.url).href,
    setup: {
      ...{ processing: folder, output: folder, error: folder },
      ...{ profiles: [], trust: NO_TRUST, encryptionKey: undefined, faults },
    },
    isWarmedUp: false,
    resourceLimits: { maxOldGenerationSizeMb: 256 },
    clock: {
      after(ms, task) {
        if (ms !== LATE) return systemClock.after(ms, task);
        task();
        return () => {};
      },
    },
    log: { error() {} },
    onLoaded: () => onLoaded(),
  });
  return { thread, loaded };
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
