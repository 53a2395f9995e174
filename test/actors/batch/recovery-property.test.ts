/** Random states of store and disk, as crashes leave them; recovery must put each in order, once. Source: docs/batch-values.md §7. */

import { createHash } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { existsSync } from 'node:fs';
import { link, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createRuntime,
  type EffectHandler,
  Fatal,
  type HandledEffect,
  Retryable,
  systemClock,
} from '@sealwright/runtime';
import { openLmdbStore } from '@sealwright/runtime/lmdb';
import { seededIds } from '@sealwright/runtime/testing';
import test, { type ExecutionContext } from 'ava';
import { JobFactory } from '../../../actors/batch/job-records/job-factory.ts';
import { JOB } from '../../../actors/batch/job-records/kinds.ts';
import { definitions } from '../../../actors/batch/registry.ts';
import { type StorageLayout, storageLayout } from '../../../actors/index.ts';
import { uploadName } from '../../../actors/shared/files/storage-layout.ts';
import { OrderNumbers } from '../../../actors/shared/ids/order-numbers.ts';
import type { JobDetail } from '../../../contracts/batch/jobs.ts';
import { JOB_STATES } from '../../../contracts/batch/words.ts';
import {
  type FileDigest,
  type JobState,
  RESTART_MESSAGE,
  type StagedInput,
} from '../../../machines/batch/job-context.ts';
import type { JobId, ProfileName } from '../../../machines/ids.ts';
import { roundsOf } from '../../project/rounds.ts';
import { reached } from '../../project/waiting.ts';
import { handlersByName } from '../../runtime/any-effect.ts';
import { dice } from '../../service/soak/dice.ts';
import { type BatchFixture, batchFixture } from './batch-harness.ts';

const LOG = { debug() {}, info() {}, warn() {}, error() {} };
/** Each costs seconds: threads are started three times. */
const SEEDS = Array.from({ length: roundsOf(3, 12) }, (_, at) => at + 1);
const JOBS = 24;

/** Events that lead a new job to each state it may be in when the process dies. */
const WAYS = JOB_STATES;
type Way = JobState;

const sha256 = (content: string | Buffer) => createHash('sha256').update(content).digest('hex');

interface RecordedJob {
  readonly id: JobId;
  readonly way: Way;
  readonly path: string;
  readonly content: string;
}

interface Fate {
  readonly way: Way;
  readonly input: StagedInput;
  readonly signed: FileDigest;
  readonly outputFileName: string;
}

/** Handlers that take each job as far as its fate says and are then cut off, as by a crash. */
function handlersFor(fates: ReadonlyMap<string, Fate>): readonly HandledEffect<unknown>[] {
  const never = (signal: AbortSignal) =>
    new Promise<never>((_, reject) => {
      // One signal for all that is cut off together.
      setMaxListeners(0, signal);
      signal.addEventListener('abort', () => reject(new Retryable('test.cut-off', 'The process dies.')));
    });
  const doing = (answer: (fate: Fate) => object | undefined): EffectHandler => ({
    after: 'durable',
    async run(_, { actor, signal }) {
      const fate = fates.get(actor.id);
      const answered = fate && answer(fate);
      return (answered as { readonly type: string } | undefined) ?? never(signal);
    },
    failed: (_, { code, message }) => ({ type: 'FAIL', code, message }),
  });
  const table: { readonly [name: string]: EffectHandler } = {
    sign: doing(({ way, input, signed }) => {
      if (way === 'Failed') throw new Fatal('pdf.malformed', 'It is none.');
      return way === 'Processing' ? undefined : { type: 'SIGNED', input, signed };
    }),
    dispatch: doing(({ input }) => ({ type: 'DISPATCHED', documentId: 'there', input })),
    release: doing(({ way, outputFileName }) =>
      way === 'Completed' ? { type: 'RELEASED', outputFileName } : undefined,
    ),
  };
  return handlersByName(
    definitions,
    table,
    doing(() => undefined),
  );
}

/** Fills store and disk with what some crash could have left; returns the jobs and what lies in orphaned folders. */
async function wreckage(layout: StorageLayout, seed: number) {
  const chance = dice(seed);
  const ids = seededIds(seed);
  for (const folder of [layout.input, layout.processing, layout.output, layout.error])
    await mkdir(folder, { recursive: true });
  const store = openLmdbStore({ folder: layout.db });
  /** Way in which each job is to be found; what it asks for beyond that is never done. */
  const fates = new Map<string, Fate>();
  const runtime = await createRuntime({
    store,
    actors: definitions,
    handlers: handlersFor(fates),
    ids,
    log: LOG,
    deadLetters: false,
    effects: { atOnce: 1_000 },
  });
  const maker = new JobFactory({ actors: runtime, ids }, new OrderNumbers(systemClock, 0));
  const made: RecordedJob[] = [];
  for (let index = 0; index < JOBS; index += 1) {
    const way = chance.pick(WAYS) ?? 'Queued';
    const path = join(layout.input, `${ids.uuid()}.txt`);
    const content = `content ${index} of ${seed}`;
    const outcome = await maker.create({
      fileName: `${index}.txt`,
      originalPath: path,
      format: 'Cades',
      profileName: 'default' as ProfileName,
      source: 'Upload',
      folder: null,
      parentJobId: null,
      seen: { size: content.length, mtimeMs: 1 },
      message: 'Uploaded.',
    });
    if (!outcome.accepted) throw new Error('the job was not made');
    const id = outcome.id as JobId;
    made.push({ id, way, path, content });
    const digest = { sha256: sha256(content), length: content.length };
    const input = { ...digest, mtimeMs: 1, inode: '1:1', readAt: 10_000 };
    fates.set(id, { way, input, signed: digest, outputFileName: `${index}.signed.txt` });
    if (way === 'Canceled') await runtime.send(JOB, id, { type: 'CANCEL', reason: null });
    else if (way !== 'Queued')
      await runtime.send(JOB, id, { type: way === 'AwaitingSigner' ? 'CLAIM_REMOTE' : 'CLAIM' });
    await reached(async () => (await runtime.read(JOB, id))?.state === way);
    // An upload may not have its final name yet; only that of a completed job may be gone.
    const gone = way === 'Completed' && chance.percent(50);
    // Staging gives an upload its final name, if it has none by then.
    const unnamed = (way === 'Queued' || way === 'Canceled' || way === 'Processing') && chance.percent(40);
    if (!gone) await writeFile(unnamed ? uploadName(path) : path, content);
    const working = join(layout.processing, id);
    const started = way !== 'Queued' && way !== 'Canceled';
    if (started && (way === 'AwaitingSigner' || chance.percent(70))) {
      await mkdir(working);
      await writeFile(join(working, `${index}.txt`), content);
      if (way !== 'Processing' || chance.percent(50))
        await writeFile(join(working, `${index}.signed.txt`), `signed ${content}`);
    }
    const signed = join(working, `${index}.signed.txt`);
    const output = join(layout.output, `${index}.signed.txt`);
    if (way === 'Completed') {
      if (existsSync(signed)) await link(signed, output);
      else await writeFile(output, `signed ${content}`);
    } else if ((way === 'Processing' || way === 'Verifying') && existsSync(signed) && chance.percent(60))
      await link(signed, output);
    // A recovery that was cut short itself.
    if ((way === 'Processing' || way === 'Failed') && chance.percent(20)) {
      await mkdir(join(layout.error, id));
      await writeFile(join(layout.error, id, 'earlier'), content);
    }
  }
  const orphans: string[] = [];
  for (let count = chance.roll(4); count > 0; count -= 1) {
    const name = chance.percent(50) ? ids.uuid() : `left-${count}`;
    await mkdir(join(layout.processing, name, 'deep'), { recursive: true });
    const content = `orphan ${ids.uuid()}`;
    await writeFile(join(layout.processing, name, 'deep', 'file'), content);
    orphans.push(content);
    if (chance.percent(50)) await mkdir(join(layout.error, name), { recursive: true });
  }
  if (chance.percent(50)) await mkdir(join(layout.processing, '.spare-9-1'));
  let strays = 0;
  for (let count = chance.roll(3); count > 0; count -= 1, strays += 1)
    await writeFile(
      uploadName(join(layout.input, `${ids.uuid()}.pdf`)),
      'of a client that never got an answer',
    );
  await runtime.stop({ graceMs: 0 });
  await store.close();
  return { made, orphans, strays };
}

/** Every job with its history, and every file with its digest. */
async function picture({
  batch,
  layout,
}: BatchFixture): Promise<{ jobs: readonly JobDetail[]; files: Record<string, string> }> {
  const { items } = await batch.jobs.list({ statuses: [], page: 1, pageSize: 200 });
  const jobs = await Promise.all(items.map(({ id }) => batch.jobs.get(id)));
  const files: Record<string, string> = {};
  for (const folder of ['input', 'processing', 'output', 'error'] as const) {
    for (const entry of await readdir(layout[folder], { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name);
      // A thread of the pool signs a sample there, at any time after its start.
      if (path.includes('/.spare-warm-')) continue;
      files[path.slice(layout.root.length + 1)] = entry.isFile() ? sha256(await readFile(path)) : 'directory';
    }
  }
  return { jobs, files: Object.fromEntries(Object.entries(files).sort()) };
}

async function inOrder(t: ExecutionContext, seed: number): Promise<void> {
  const root = await mkdtemp(join(tmpdir(), 'sealwright-recovery-'));
  t.teardown(() => rm(root, { recursive: true, force: true }));
  const layout = storageLayout(root);
  const { made, orphans, strays } = await wreckage(layout, seed);
  const off = { root, start: false, watch: false, maxConcurrency: 1, threads: 1 } as const;

  const first = await batchFixture(t, off);
  const flying = made.filter(({ way }) => way === 'Processing' || way === 'Verifying').length;
  t.is(first.batch.recovery.failed, flying);
  t.is(first.batch.recovery.uploadsDropped, strays);
  const once = await picture(first);
  const before = new Map(made.map((job) => [job.id, job]));
  for (const job of once.jobs) {
    const { way, path, content } = before.get(job.id) ?? { way: 'Queued' as Way, path: '', content: '' };
    const flew = way === 'Processing' || way === 'Verifying';
    t.is(job.status, flew ? 'Failed' : way, job.id);
    if (flew) t.is(job.errorMessage, RESTART_MESSAGE);
    if (way !== 'Completed')
      t.is(await readFile(path, 'utf8'), content, `${way}: the input has its name and its content`);
  }
  const kept = new Set(Object.values(once.files));
  for (const content of orphans)
    t.true(kept.has(sha256(content)), 'what belonged to no job is put aside, not thrown away');
  t.is(
    (await first.batch.events.list({ kinds: ['RecoverySwept'], page: 1, pageSize: 9 })).totalCount,
    flying + orphans.length > 0 ? 1 : 0,
  );
  await first.close();

  const second = await batchFixture(t, off);
  t.deepEqual(second.batch.recovery, { failed: 0, uploadsKept: 0, uploadsDropped: 0, orphans: 0 });
  t.deepEqual(await picture(second), once, 'a second recovery changes nothing');
  await second.close();

  // Once it runs, what jobs still owed is done: nothing unfinished stays where finished things are.
  const third = await batchFixture(t, { ...off, start: true });
  const count = (...ways: readonly Way[]) => made.filter(({ way }) => ways.includes(way)).length;
  await third.reach('Completed', count('Queued', 'Completed'));
  const waiting = made.filter(({ way }) => way === 'AwaitingSigner').map(({ id }) => id);
  const working = async () =>
    (await readdir(layout.processing)).filter((name) => !name.startsWith('.spare-')).sort();
  // Putting aside comes after the end of a job; ava's own limit ends a wait in vain.
  await reached(async () => (await working()).length <= waiting.length);
  t.deepEqual(await working(), [...waiting].sort(), 'working folders of waiting jobs, and no other');
  const { jobs } = await picture(third);
  const outputs = jobs.flatMap(({ status, outputFileName }) =>
    status === 'Completed' ? [outputFileName] : [],
  );
  t.deepEqual(
    (await readdir(layout.output)).sort(),
    outputs.sort(),
    'an output for each completed job, and no other',
  );
}

for (const seed of SEEDS) {
  test.serial(
    `recovery restores consistency from any crash state, and a second recovery changes nothing (seed ${seed})`,
    (t) => inOrder(t, seed),
  );
}
