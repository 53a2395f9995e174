/** Everything that becomes of an input whose signed output is published. */

import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type EffectContext,
  type EffectKey,
  isFatal,
  isRetryable,
  Retryable,
  systemClock,
} from '@sealwright/runtime';
import { CryptoError } from '@sealwright/signatures';
import test from 'ava';
import { jobHandlers } from '../../../../actors/batch/effects/index.ts';
import { tidyHandler } from '../../../../actors/batch/effects/tidy.ts';
import { describeDiskError, INPUT_BUSY, isMomentary } from '../../../../actors/pool/disk-errors.ts';
import { SigningPool } from '../../../../actors/pool/pool.ts';
import { DiskSync } from '../../../../actors/shared/files/disk-sync.ts';
import { uploadName } from '../../../../actors/shared/files/storage-layout.ts';
import { NO_TRUST } from '../../../../actors/shared/signing/trust-options.ts';
import type { TidyInput } from '../../../../machines/batch/job-effects.ts';
import { HastyClock } from '../../../project/hasty-clock.ts';
import { reached } from '../../../project/waiting.ts';
import { handlerTable } from '../../../runtime/any-effect.ts';
import { batchFixture } from '../../batch/batch-harness.ts';

/** These handlers use nothing of the runtime. */
const NO_CONTEXT = {} as EffectContext;

test('an input that cannot be removed is signed once, also after a restart, until it changes', async (t) => {
  const outside = await mkdtemp(join(tmpdir(), 'sealwright-left-'));
  t.teardown(() => rm(outside, { recursive: true, force: true }));
  const folder = join(outside, 'in');
  const aside = join(outside, 'aside');
  await mkdir(folder);
  await writeFile(join(folder, 'a.txt'), 'content');
  const clock = new HastyClock();
  const first = await batchFixture(t, { otherFolder: folder, clock });
  // From its publishing on, nothing can be looked at, let alone removed, behind the path of the input.
  first.faults.arm('effect.leased.before-run/tidy', async () => {
    await rename(folder, aside);
    await symlink(folder, folder);
  });
  await first.reach('Completed', 1);
  clock.haste(300);
  const givenUp = () => first.batch.events.list({ kinds: ['InputNotRemoved'], page: 1, pageSize: 2 });
  await reached(async () => (await givenUp()).totalCount > 0);
  t.true((await givenUp()).items[0]?.message.startsWith('The input could not be removed'));
  clock.haste(1);
  await rm(folder);
  await rename(aside, folder);
  // A file that comes later is offered after the one that was there.
  await writeFile(join(folder, 'b.txt'), 'the folder is watched');
  await first.reach('Completed', 2);
  t.is(first.batch.count(), 2);
  t.true(existsSync(join(folder, 'a.txt')));
  await first.close();

  const second = await batchFixture(t, { root: first.layout.root, otherFolder: folder });
  await writeFile(join(folder, 'c.txt'), 'still watched');
  await second.reach('Completed', 3);
  t.is(second.batch.count(), 3);
  await writeFile(join(folder, 'a.txt'), 'other content');
  await second.reach('Completed', 4);
  // The inputs are put away after their jobs are Completed.
  await reached(async () => (await readdir(folder)).length === 0);
  t.is(second.batch.count(), 4);
});

test('a removal that takes too long is given up after as many attempts as one that fails', async (t) => {
  let runs = 0;
  const handler = tidyHandler({
    pool: {
      run: async () => {
        runs += 1;
        throw new Retryable('effect.time-limit', 'as the runtime says it');
      },
    },
    disk: new DiskSync(),
    objects: undefined,
    originals: undefined,
  } as never).handler;
  const effect = { do: 'tidy', fileName: 'a', originalPath: '/in/a', input: null } as never;
  const attempt = (failures: number) =>
    handler.run(effect, { failures, actor: { id: 'job' } } as never, NO_CONTEXT);
  t.true(isRetryable(await t.throwsAsync(attempt(10))));
  t.false(isRetryable(await t.throwsAsync(attempt(12))));
  t.is(runs, 1);
});

test('an input that cannot be opened is tried again for some seconds before its job fails', async (t) => {
  const original = '/in/a.txt';
  const failure = (code: string, more: object = {}) => Object.assign(new Error(code), { code, ...more });
  const opened = { path: original, syscall: 'open' };
  for (const code of ['EACCES', 'EBUSY', 'EIO', 'ESTALE'])
    t.true(isMomentary(failure(code, opened), original), code);
  t.true(isMomentary(failure('EIO', { path: uploadName(original), dest: original }), original));
  t.false(isMomentary(failure('ENOENT', opened), original));
  t.false(isMomentary(failure('EACCES', { path: '/processing/a.txt' }), original));
  t.false(isMomentary(failure('EACCES', { ...opened, dest: '/processing/a.txt' }), original));
  t.true(isMomentary(failure('ESTALE', { ...opened, dest: '/processing/a.txt' }), original));
  // What is wrong for all jobs holds the pipeline, also where the signing library says that it cannot write or read.
  const said = (code: 'output.unwritable' | 'input.unreadable', cause: string) =>
    describeDiskError(
      new CryptoError(code, 'No.', { cause: failure(cause, { path: '/processing/a.txt' }) }),
      ['/processing'],
    ).code;
  t.is(said('output.unwritable', 'ENOSPC'), 'disk.full');
  for (const code of ['EROFS', 'EACCES', 'EMFILE', 'ENFILE'])
    t.is(said('output.unwritable', code), 'disk.not-writable', code);
  t.is(said('input.unreadable', 'EMFILE'), 'disk.not-writable');
  t.is(describeDiskError(failure('ENFILE')).code, 'disk.not-writable');
  t.is(said('input.unreadable', 'EACCES'), 'input.unreadable');
  t.is(said('output.unwritable', 'EIO'), 'output.unwritable');
  // One folder that may not be used fails its jobs; it would hold those of all others.
  const work = join(tmpdir(), 'x').slice(0, -2);
  const saidOf = (places: object, folders = [work]) =>
    describeDiskError(failure('EACCES', places), folders).code;
  t.is(saidOf({ path: `${work}/1/a.txt`, dest: `${work}/sub/a.txt` }), 'output.unwritable');
  t.is(saidOf({ path: '/input/a.txt', dest: `${work}/1/a.txt` }), 'input.unreadable');
  t.is(saidOf({ path: `${work}/1/a.txt`, dest: '/none/a.txt' }, [work, '/none']), 'disk.not-writable');

  const refused = { ok: false, code: INPUT_BUSY, message: 'The file may not be read', ms: 0 };
  const { sign } = handlerTable(
    jobHandlers({
      pool: { run: async () => refused },
      clock: systemClock,
      storage: { writable: async () => {} },
    } as never),
  );
  const effect = { do: 'sign', fileName: 'a.txt', originalPath: original } as never;
  const attempt = (failures: number) =>
    sign?.run(effect, { failures, actor: { id: 'job' } } as never, NO_CONTEXT) ?? Promise.resolve(null);
  t.true(isRetryable(await t.throwsAsync(attempt(0), { message: refused.message })));
  t.true(isRetryable(await t.throwsAsync(attempt(3))));
  t.false(isRetryable(await t.throwsAsync(attempt(4), { code: 'input.unreadable' })));
});

for (const name of ['sign', 'release', 'dispatch'] as const)
  test(`an error of ${name} that nobody foresaw fails its job at once: a second attempt could do it twice`, async (t) => {
    const handler = handlerTable(
      jobHandlers({
        pool: {
          run: async () => {
            throw new Error('nobody foresaw this');
          },
        },
        clock: systemClock,
        storage: { writable: async () => {}, held: null },
        remote: { profileOf: () => ({ portal: {}, profile: {} }) },
      } as never),
    )[name];
    const effect = { do: name, fileName: 'a.txt', originalPath: '/in/a.txt' } as never;
    const attempt = { failures: 0, actor: { id: 'job' } } as never;
    const error = await t.throwsAsync(async () => handler?.run(effect, attempt, NO_CONTEXT));
    t.true(isFatal(error));
    t.is(error.message, 'nobody foresaw this');
  });

test('the removal of an input is durable before the result is sent to its job, and a missing folder is not a failure', async (t) => {
  const { layout } = await batchFixture(t, { start: false, watch: false });
  const asked: string[] = [];
  class SeenDisk extends DiskSync {
    override directory(path: string): Promise<void> {
      asked.push(`${path} ${existsSync(join(path, 'a.txt')) ? 'with' : 'without'} a.txt`);
      return super.directory(path);
    }
  }
  const pool = new SigningPool({
    threads: 1,
    clock: systemClock,
    log: { debug() {}, info() {}, warn() {}, error() {} },
    setup: { ...layout, faults: '', profiles: [], trust: NO_TRUST, encryptionKey: undefined },
  });
  t.teardown(() => pool.close());
  const { handler } = tidyHandler({ pool, disk: new SeenDisk() });
  const originalPath = join(layout.input, 'a.txt');
  await writeFile(originalPath, '');
  const effect: TidyInput & { readonly do: 'tidy' } = {
    do: 'tidy',
    originalPath,
    fileName: 'a.txt',
    input: {
      sha256: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
      length: 0,
      mtimeMs: 0,
      inode: '',
      readAt: 0,
    },
  };
  const attempt = {
    key: 'job/x/1/0' as EffectKey,
    actor: { kind: 'job', id: 'x' },
    failures: 0,
    signal: new AbortController().signal,
  };
  t.deepEqual(await handler.run(effect, attempt, NO_CONTEXT), { type: 'TIDIED', diverged: false });
  t.deepEqual(asked, [`${layout.input} without a.txt`]);
  await rm(layout.input, { recursive: true });
  t.deepEqual(await handler.run(effect, attempt, NO_CONTEXT), { type: 'TIDIED', diverged: false });
});
