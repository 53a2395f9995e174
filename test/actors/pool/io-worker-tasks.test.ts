/** Tasks that wait for others, in threads of their own. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clock, systemClock } from '@sealwright/runtime';
import test from 'ava';
import { SigningPool } from '../../../actors/pool/pool.ts';
import { NO_TRUST } from '../../../actors/shared/signing/trust-options.ts';
import { reached } from '../../project/waiting.ts';
import { batchFixture } from '../batch/batch-harness.ts';

test('a network task over its deadline is abandoned, and one on the same thread is repeated on a new one', async (t) => {
  const { layout } = await batchFixture(t, { start: false, watch: false });
  const deadlines: (() => void)[] = [];
  const clock: Clock = {
    ...systemClock,
    after: (_, task) => {
      deadlines.push(task);
      return () => {};
    },
  };
  const pool = new SigningPool({
    threads: 1,
    clock,
    log: { debug() {}, info() {}, warn() {}, error() {} },
    waitsForNetwork: () => true,
    setup: {
      ...layout,
      faults: 'pool.tidy.removed=hang',
      profiles: [],
      trust: NO_TRUST,
      encryptionKey: undefined,
    },
  });
  t.teardown(() => pool.destroy());
  const path = (name: string) => join(layout.input, name);
  await writeFile(path('a.txt'), '');
  await writeFile(path('b.txt'), 'content');
  const empty = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
  const late = pool.run({
    task: 'tidy',
    jobId: 'job-a',
    fileName: 'a.txt',
    originalPath: path('a.txt'),
    input: { sha256: empty, length: 0, mtimeMs: 0, inode: '', readAt: 0 },
  });
  await reached(() => !existsSync(path('a.txt')));
  const other = pool.run({ task: 'stage', jobId: 'job-b', fileName: 'b.txt', originalPath: path('b.txt') });
  deadlines[0]?.();
  const gone = await late;
  t.true(!gone.ok && gone.code === 'pool.deadline', JSON.stringify(gone));
  const done = await other;
  t.true(done.ok, JSON.stringify(done));
});

test('failures of tasks name files, and not where the server keeps them', async (t) => {
  const { layout } = await batchFixture(t, { start: false, watch: false });
  const pool = new SigningPool({
    threads: 1,
    clock: systemClock,
    log: { debug() {}, info() {}, warn() {}, error() {} },
    setup: { ...layout, faults: '', profiles: [], trust: NO_TRUST, encryptionKey: undefined },
  });
  t.teardown(() => pool.destroy());
  const path = join(layout.input, 'stored-name');
  await writeFile(path, '<a/>');
  await truncate(path, 2 ** 30);
  const at = systemClock.now();
  const answer = await pool.run({
    task: 'validate',
    documentId: 'v',
    path,
    fileName: 'a.xml',
    format: 'Xades',
    at,
  });
  t.regex(answer.ok ? JSON.stringify(answer.result) : answer.message, /^The file has 1073741824 bytes/);
  const gone = join(layout.input, 'gone');
  const merged = await pool.run({
    task: 'portal.merge',
    documentId: 'm',
    files: [{ path: gone, title: 'Annex' }],
    title: 'All',
    at,
    maxBytes: 1000,
    output: join(layout.input, 'merged'),
  });
  t.regex(merged.ok ? '' : merged.message, /^[^/]*Annex[^/]*$/);
});

(process.platform === 'linux' ? test : test.skip)(
  'threads of the pool stand behind the one that answers requests',
  async (t) => {
    const { layout } = await batchFixture(t, { start: false, watch: false });
    const nice = () =>
      readdirSync('/proc/self/task').map((thread) => {
        const fields = readFileSync(`/proc/self/task/${thread}/stat`, 'latin1')
          .split(') ')
          .at(-1)
          ?.split(' ');
        return { isMain: thread === String(process.pid), nice: Number(fields?.[16]) };
      });
    const own = nice().find(({ isMain }) => isMain)?.nice ?? 0;
    const pool = new SigningPool({
      threads: 2,
      clock: systemClock,
      log: { debug() {}, info() {}, warn() {}, error() {} },
      setup: { ...layout, faults: '', profiles: [], trust: NO_TRUST, encryptionKey: undefined },
    });
    t.teardown(() => pool.destroy());
    await writeFile(join(layout.input, 'c.txt'), 'content');
    await pool.run({
      task: 'stage',
      jobId: 'job-c',
      fileName: 'c.txt',
      originalPath: join(layout.input, 'c.txt'),
    });
    t.is(nice().find(({ isMain }) => isMain)?.nice, own);
    t.true(nice().some((thread) => thread.nice === Math.min(19, Math.max(own, 5))) || own > 5);
  },
);
