/** A thread that hosts actors may be ended at each moment of its start; the process goes on. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@sealwright/runtime';
import { openLmdbStore } from '@sealwright/runtime/lmdb';
import test from 'ava';
import { ShardThread } from '#runtime/shards/shard-thread.js';
import { roundsOf } from '../project/rounds.ts';

const ROUNDS = roundsOf(5, 100);
/** Milliseconds: longer than a thread takes to load on a quiet machine. */
const SPREAD = 250;

test('threads that are ended at each moment of their start end after loading, and do not abort the process', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'sealwright-threads-'));
  const store = openLmdbStore({ folder });
  t.teardown(async () => {
    await store.close();
    await rm(folder, { recursive: true, force: true });
  });
  const share = store.shareWithThreads?.bind(store);
  if (share === undefined) return t.fail();
  const options = {
    parts: new URL('./shards/counting-module.js', import.meta.url).href,
    memory: 512,
    share,
    setup: { effects: [], cached: 10, restarts: { restarts: 1, within: 1000 }, faults: '' },
  };
  for (let round = 0; round < ROUNDS; round += 1) {
    const threads = [0, 1].map(() => new ShardThread(options));
    for (const thread of threads) thread.loaded.catch(() => {});
    await Promise.all(
      threads.map(async (thread, index) => {
        await systemClock.sleep((round * 83 + index * 41) % SPREAD);
        if (index === 0) await thread.close();
        else await thread.terminate('It was told to.');
        await thread.revoke();
      }),
    );
  }
  t.pass();
});
