/** Signing and publishing as one piece of work of a pool thread. */
import { writeFileSync } from 'node:fs';
import { readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '@sealwright/runtime';
import { validateFile } from '@sealwright/signatures';
import test, { type ExecutionContext } from 'ava';
import { SigningPool } from '../../../actors/pool/pool.ts';
import { poolOptions } from '../../../actors/pool/pool-options.ts';
import type { SignTask } from '../../../actors/pool/tasks.ts';
import type { Profile, SigningChoices } from '../../../actors/shared/signing/profiles.ts';
import type { ProfileName } from '../../../machines/ids.ts';
import { pki } from '../../pki/pki.ts';
import { type BatchFixture, batchFixture } from '../batch/batch-harness.ts';

const SILENT = { debug() {}, info() {}, warn() {}, error() {} };

async function poolOf(
  t: ExecutionContext,
  faults = '',
  choices: SigningChoices = {},
): Promise<{ pool: SigningPool; layout: BatchFixture['layout'] }> {
  const { layout } = await batchFixture(t, { start: false, watch: false });
  const profile: Profile = {
    method: 'Local',
    verify: true,
    encrypt: false,
    name: 'default' as ProfileName,
    format: undefined,
    signer: pki().signer('p-256'),
    anchors: [pki().root.certificate],
    validTo: Date.now() + 86_400_000,
    certificate: 'test',
    choices,
  };
  const pool = new SigningPool({
    threads: 1,
    clock: systemClock,
    log: SILENT,
    ...poolOptions({ profiles: [profile] }, { ...layout, faults }),
  });
  t.teardown(() => pool.close());
  return { pool, layout };
}

function signing(originalPath: string): SignTask {
  return {
    task: 'sign',
    jobId: 'job-a',
    fileName: 'a.txt',
    originalPath,
    format: 'Cades',
    profile: 'default',
    subfolder: '',
    collision: 'suffix',
    at: Date.now(),
  };
}

test('a file signed again after a lost first attempt is published once, from the second attempt', async (t) => {
  const { pool, layout } = await poolOf(t);
  const original = join(layout.input, 'a.txt');
  await writeFile(original, 'content');
  const published = async () => {
    const answer = await pool.run(signing(original));
    if (!answer.ok || answer.result.release?.ok !== true) throw new Error(JSON.stringify(answer));
    const { outputFileName } = answer.result.release.result;
    return { outputFileName, ...(await stat(join(layout.output, outputFileName))) };
  };
  const first = await published();
  const second = await published();
  t.deepEqual(await readdir(layout.output), [first.outputFileName]);
  t.is(second.outputFileName, first.outputFileName);
  t.is(second.ino, (await stat(join(layout.processing, 'job-a', 'a.signed.txt'))).ino);
});

test('in a batch whose thread was lost after publishing, the good file is published once and the bad one removed', async (t) => {
  const { pool, layout } = await poolOf(t, 'pool.release.linked/bad.txt=exit');
  const asked = ['good.txt', 'bad.txt'].map(async (fileName) => {
    const originalPath = join(layout.input, fileName);
    writeFileSync(originalPath, fileName);
    return pool.run({ ...signing(originalPath), jobId: `job-${fileName}`, fileName });
  });
  const [good, bad] = await Promise.all(asked);
  t.true(good?.ok, JSON.stringify(good));
  t.like(bad, { ok: false, code: 'pool.worker-lost' });
  t.deepEqual((await readdir(layout.output)).sort(), ['bad.signed.txt', 'good.signed.txt']);
  const task = { task: 'quarantine', subfolder: '', mayBePublished: true } as const;
  await pool.run({ ...task, jobId: 'job-bad.txt', fileName: 'bad.txt' });
  t.deepEqual(await readdir(layout.output), ['good.signed.txt']);
});

test('a small file that is signed and cannot be released is reported as signed with the reason', async (t) => {
  const { pool, layout } = await poolOf(t, 'pool.release.linked=throw:1');
  const original = join(layout.input, 'a.txt');
  await writeFile(original, 'content');
  const answer = await pool.run(signing(original));
  if (!answer.ok) return t.fail(answer.message);
  t.is(answer.result.input.length, 'content'.length);
  t.like(answer.result.release, { ok: false, code: 'fault.injected' });
});

test('a large file is signed without release, so that the rest of its batch does not wait', async (t) => {
  const { pool, layout } = await poolOf(t);
  const original = join(layout.input, 'a.txt');
  await writeFile(original, Buffer.alloc(1_100_000, 'x'));
  const answer = await pool.run(signing(original));
  if (!answer.ok) return t.fail(answer.message);
  t.is(answer.result.release, undefined);
  t.deepEqual(await readdir(layout.output), []);
});

test('a file is signed under the newest version of a policy by name, and never under one that it does not fit', async (t) => {
  const { pool, layout } = await poolOf(t, '', { policy: 'ICP-Brasil:AD-RB' });
  const original = join(layout.input, 'a.txt');
  await writeFile(original, 'content');
  const answer = await pool.run(signing(original));
  if (!answer.ok || answer.result.release?.ok !== true) return t.fail(JSON.stringify(answer));
  const path = join(layout.output, answer.result.release.result.outputFileName);
  const trust = { anchors: [pki().root.certificate], revocation: 'none' } as const;
  const { signatures } = await validateFile({ format: 'Cades', path, trust, at: Date.now() });
  t.deepEqual(
    signatures.map(({ policy, results }) => [policy, ...results.errors.map(({ type }) => type)]),
    [['2.16.76.1.7.1.1.2.4', 'policy.root']],
  );
  const { pool: other } = await poolOf(t, '', { policy: 'ICP-Brasil:AD-RT' });
  t.like(await other.run(signing(original)), { ok: false, code: 'request.invalid' });
});
