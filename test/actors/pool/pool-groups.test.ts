/** Organizations take turns in the pool, large tasks hold up no small ones, and threads end only once they are loaded. */

import { existsSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clock, systemClock } from '@sealwright/runtime';
import test, { type ExecutionContext } from 'ava';
import { SigningPool } from '../../../actors/pool/pool.ts';
import { FairQueue } from '../../../actors/pool/worker-group.ts';
import { NO_TRUST } from '../../../actors/shared/signing/trust-options.ts';
import { roundsOf } from '../../project/rounds.ts';
import { reached } from '../../project/waiting.ts';
import { batchFixture } from '../batch/batch-harness.ts';

const LARGE = 60 * 1024 * 1024;

/** A pool whose tasks for files called `hang…` never end, and whose deadlines pass on request. */
async function poolFixture(t: ExecutionContext, threads: number) {
  const { layout } = await batchFixture(t, { start: false, watch: false });
  const deadlines = new Set<() => void>();
  let elapsed = 0;
  const clock: Clock = {
    ...systemClock,
    elapsed: () => elapsed,
    after: (_, task) => {
      deadlines.add(task);
      return () => deadlines.delete(task);
    },
  };
  const pool = new SigningPool({
    threads,
    clock,
    log: { debug() {}, info() {}, warn() {}, error() {} },
    setup: {
      ...layout,
      faults: 'pool.tidy.removed/hang.txt=hang,pool.tidy.removed/spin.txt=spin',
      profiles: [],
      trust: NO_TRUST,
      encryptionKey: undefined,
    },
  });
  t.teardown(() => pool.destroy());
  const path = (name: string) => join(layout.input, name);
  let jobs = 0;
  return {
    pool,
    pass: (ms: number) => {
      elapsed += ms;
    },
    passDeadlines: () => {
      for (const task of [...deadlines]) task();
    },
    /** Begins a task that never ends; `begun` resolves once a thread is at it. */
    hold(organization: string, bytes: number, how: 'hang' | 'spin' = 'hang') {
      jobs += 1;
      const fileName = `${how}.txt`;
      writeFileSync(path(fileName), '');
      const empty = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
      const input = { sha256: empty, length: 0, mtimeMs: 0, inode: '', readAt: 0 };
      const answer = pool.run(
        { task: 'tidy', jobId: `held-${jobs}`, fileName, originalPath: path(fileName), input },
        { organization, bytes },
      );
      const begun = async () => {
        await reached(() => !existsSync(path(fileName)));
      };
      return { answer, begun };
    },
    /** A task that is done at once. */
    async stage(organization: string, bytes = 10) {
      jobs += 1;
      const jobId = `job-${jobs}`;
      await writeFile(path(`${jobId}.txt`), 'content');
      const task = {
        task: 'stage',
        jobId,
        fileName: `${jobId}.txt`,
        originalPath: path(`${jobId}.txt`),
      } as const;
      return pool.run(task, { organization, bytes });
    },
  };
}

test('partitions of a queue take turns, and a waiting one delays no other', (t) => {
  const queue = new FairQueue<number>();
  for (let n = 1; n <= 4; n += 1) queue.push('a', n);
  queue.push('b', 5);
  queue.push('c', 6);
  queue.unshift('c', 7);
  const order: unknown[] = [];
  for (let taken = queue.dequeue(() => 2); taken !== undefined; taken = queue.dequeue(() => 2))
    order.push(taken);
  t.deepEqual(order, [
    { partition: 'a', items: [1, 2] },
    { partition: 'b', items: [5] },
    { partition: 'c', items: [7, 6] },
    { partition: 'a', items: [3, 4] },
  ]);
  t.is(queue.size, 0);
  queue.push('a', 1);
  queue.push('b', 2);
  t.deepEqual(
    queue.dequeue((partition) => (partition === 'a' ? 0 : 1)),
    { partition: 'b', items: [2] },
  );
  t.is(
    queue.dequeue((partition) => (partition === 'a' ? 0 : 1)),
    undefined,
  );
});

test('two large tasks of one organization, on all threads for large tasks, delay no small one', async (t) => {
  const { hold, stage, pool } = await poolFixture(t, 2);
  // The second one waits: one organization leaves a thread to others.
  void hold('greedy', LARGE);
  void hold('greedy', LARGE);
  t.true((await stage('other')).ok, 'a small one of another organization');
  t.true((await stage('greedy')).ok, 'a small one of the same');
  t.true((await stage('other', LARGE)).ok, 'a large one of another organization');
  t.like(pool.load, { waiting: 1 });
});

test('one organization leaves a thread for small tasks to others', async (t) => {
  const { hold, stage } = await poolFixture(t, 2);
  void hold('greedy', 10);
  const waits = stage('greedy');
  t.true((await stage('other')).ok);
  const state = await Promise.race([waits.then(() => 'done'), Promise.resolve('waits')]);
  t.is(state, 'waits');
});

test('a stalled task is listed before its deadline, with the state of its thread', async (t) => {
  for (const [how, state] of [
    ['hang', 'waiting'],
    ['spin', 'computing'],
  ] as const) {
    const { hold, pool, pass, passDeadlines } = await poolFixture(t, 1);
    const { answer, begun } = hold('a', 10, how);
    // A thread that does not respond is one that has not begun, too.
    await begun();
    t.deepEqual(pool.stalled(), []);
    pass(226_000);
    await reached(() => pool.stalled()[0]?.state === state);
    t.like(pool.stalled()[0], {
      task: 'tidy',
      subject: 'held-1',
      runningMs: 226_000,
      deadlineMs: 900_000,
      state,
    });
    passDeadlines();
    t.like(await answer, { ok: false, code: 'pool.deadline' });
    t.deepEqual(pool.stalled(), []);
  }
});

test('a thread takes up to 16 jobs at once, and up to 8 tasks that people wait for', async (t) => {
  for (const [task, size] of [
    ['stage', 16],
    ['portal.picture', 8],
  ] as const) {
    const { pool, hold, pass } = await poolFixture(t, 1);
    const others = (from: number, to: number) => {
      for (let n = from; n < to; n += 1)
        if (task === 'stage')
          void pool.run({ task, jobId: `job-${n}`, fileName: 'a.txt', originalPath: 'missing.txt' });
        else void pool.run({ task, documentId: `document-${n}`, picture: Buffer.alloc(0), pdf: null });
    };
    others(0, size - 1);
    const { begun } = hold('', 10);
    others(size - 1, 3 * size);
    await begun();
    pass(226_000);
    t.is(pool.stalled().length, size);
  }
});

test('a free thread takes the jobs of two threads while the other one is busy', async (t) => {
  const { pool, hold, pass } = await poolFixture(t, 2);
  const { begun } = hold('', 10);
  await begun();
  for (let n = 0; n < 7; n += 1)
    void pool.run({ task: 'stage', jobId: `job-${n}`, fileName: 'a.txt', originalPath: 'missing.txt' });
  const last = hold('', 10);
  await last.begun();
  pass(226_000);
  t.is(pool.stalled().length, 1 + 8);
});

test('a free thread takes its own share alone of jobs with larger files, and at most 8 of them', async (t) => {
  for (const [others, taken] of [
    [7, 4],
    [39, 8],
  ] as const) {
    const { pool, hold, pass } = await poolFixture(t, 2);
    const { begun } = hold('', 10);
    await begun();
    const next = hold('', 10);
    for (let n = 0; n < others; n += 1)
      void pool.run(
        { task: 'stage', jobId: `job-${n}`, fileName: 'a.txt', originalPath: 'missing.txt' },
        { bytes: 1 << 20 },
      );
    await next.begun();
    pass(226_000);
    t.is(pool.stalled().length, 1 + taken);
  }
});

test('pools that are ended at each moment of their start end, and the process continues', async (t) => {
  const { layout } = await batchFixture(t, { start: false, watch: false });
  const rounds = roundsOf(5, 100);
  const setup = { ...layout, faults: '', profiles: [], trust: NO_TRUST, encryptionKey: undefined };
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  for (let round = 0; round < rounds; round += 1) {
    const pool = new SigningPool({ threads: 2, clock: systemClock, log, setup });
    await systemClock.sleep((round * 37) % 300);
    await pool.destroy();
  }
  t.pass();
});

test('a task that is requested after the end of the pool is answered as lost', async (t) => {
  const { layout } = await batchFixture(t, { start: false, watch: false });
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const setup = { ...layout, faults: '', profiles: [], trust: NO_TRUST, encryptionKey: undefined };
  for (const end of ['close', 'destroy'] as const) {
    const pool = new SigningPool({ threads: 1, clock: systemClock, log, setup });
    await pool[end]();
    // The threads for large tasks start with the first of these.
    for (const bytes of [10, LARGE]) {
      const task = { task: 'stage', jobId: 'late', fileName: 'late.txt', originalPath: 'late.txt' } as const;
      t.like(await pool.run(task, { bytes }), { ok: false, code: 'pool.worker-lost' });
    }
  }
});
