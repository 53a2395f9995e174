/** Uploads whose process died, or whose store went quiet, between the commit of their job and their final name. */
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type ActorCalls,
  type ActorStore,
  createRuntime,
  Faults,
  Retryable,
  systemClock,
  systemIds,
} from '@sealwright/runtime';
import test from 'ava';
import { JobCounts } from '../../../actors/batch/job-records/job-counts.ts';
import { JobObjects } from '../../../actors/batch/objects/job-objects.ts';
import { recover } from '../../../actors/batch/recovery.ts';
import { definitions } from '../../../actors/batch/registry.ts';
import { uploadName } from '../../../actors/shared/files/storage-layout.ts';
import { reached } from '../../project/waiting.ts';
import { Service, temporaryRoot } from '../../service/service.ts';
import { SILENT } from '../portal/uploads/upload-harness.ts';
import { FolderObjects } from '../shared/objects/folder-objects.ts';
import { batchFixture } from './batch-harness.ts';

const ALL = { statuses: [], profile: undefined, page: 1, pageSize: 10 } as const;

test('the input of an upload canceled before its final rename survives the restart', async (t) => {
  const first = await batchFixture(t, { start: false, watch: false });
  const committed = new Promise<void>((resolve) => {
    first.faults.arm('upload.committed', () => {
      resolve();
      return new Promise(() => {});
    });
  });
  void first.upload('a.txt', 'content');
  await committed;
  const [job] = (await first.batch.jobs.list(ALL)).items;
  if (!job) return t.fail('there is no job');
  await first.batch.jobs.cancel(job.id, null);
  await first.close();
  const second = await batchFixture(t, { root: first.layout.root, start: false, watch: false });
  t.deepEqual(second.batch.recovery, { failed: 0, uploadsKept: 1, uploadsDropped: 0, orphans: 0 });
  t.is(await readFile(job.originalPath, 'utf8'), 'content');
});

test.serial(
  'the input of an upload in progress before its final rename survives, and a retry signs it',
  async (t) => {
    const root = await temporaryRoot(t);
    const faults = 'upload.committed=hang,effect.leased.before-run=hang';
    const first = await Service.start(t, { root, faults });
    first.upload('a.txt', 'content').catch(() => {});
    await first.until('the job to be claimed', async () => (await first.count('Processing')) || undefined);
    t.deepEqual(
      (await readdir(join(root, 'input'))).filter((name) => !name.startsWith('.')),
      [],
      'it has no final name yet',
    );
    await first.kill();
    const second = await Service.start(t, { root });
    const [job] = await second.jobs();
    if (!job) return t.fail('there is no job');
    t.is(job.status, 'Failed');
    t.is(await readFile(job.originalPath, 'utf8'), 'content');
    const retried = await second.json<{ newJobId: string }>(`/api/jobs/${job.id}/retry`, { method: 'POST' });
    t.is((await second.finished(retried.newJobId)).status, 'Completed');
    await second.kill();
  },
);

/** Stores the next job and says that it could not tell, as a disk does whose answer got lost. */
function forgetful(store: ActorStore): ActorStore {
  return new Proxy(store, {
    get(target, name) {
      if (name === 'commit') {
        return async (...steps: Parameters<ActorStore['commit']>) => {
          await target.commit(...steps);
          throw new Retryable('store.unavailable', 'The disk did not answer.');
        };
      }
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

function runtimeOn(store: ActorStore) {
  return createRuntime({ store, actors: definitions, start: 'never', log: SILENT });
}

/** The real store; of the other nodes, recovery only asks for their number. */
function withNodes(store: ActorStore, count: number): ActorStore {
  return new Proxy(store, {
    get(target, name) {
      if (name === 'nodes') return { count };
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

test('a node with a disk of its own puts aside the folder of a failed job that another one cleans up', async (t) => {
  const { store, layout } = await batchFixture(t, { start: false, watch: false });
  const objects = new JobObjects(
    new FolderObjects(layout.output),
    {
      actors: await runtimeOn(store),
      store,
      clock: systemClock,
      ids: systemIds,
      log: SILENT,
      faults: new Faults(),
    },
    layout,
  );
  const name = randomUUID();
  for (const [nodes, isPutAside] of [
    [1, false],
    [2, true],
  ] as const) {
    await mkdir(join(layout.processing, name), { recursive: true });
    const untidy = { read: () => Promise.resolve({ state: 'Failed', context: { untidy: true } }) };
    const on = {
      actors: untidy as object as ActorCalls,
      store: withNodes(store, nodes),
      counts: new JobCounts({}),
      log: SILENT,
    };
    const { orphans } = await recover({ ...on, objects }, layout);
    t.is(orphans, 0);
    t.is(existsSync(join(layout.error, name)), isPutAside, `${nodes} nodes`);
    t.is(existsSync(join(layout.processing, name)), !isPutAside, `${nodes} nodes`);
  }
});

test('an upload that another node may be receiving survives the start of a node', async (t) => {
  const { store, layout } = await batchFixture(t, { start: false, watch: false });
  const upload = uploadName(join(layout.input, `${randomUUID()}.txt`));
  const counts = new JobCounts({});
  const log = SILENT;
  const actors = await runtimeOn(store);
  for (const [nodes, hoursOld, dropped] of [
    [2, 0, 0],
    [1, 0, 1],
    [2, 2, 1],
  ] as const) {
    await writeFile(upload, 'half of the bytes');
    const time = Date.now() / 1000 - hoursOld * 3600;
    await utimes(upload, time, time);
    const report = await recover({ actors, store: withNodes(store, nodes), counts, log }, layout);
    t.is(report.uploadsDropped, dropped, `${nodes} nodes, ${hoursOld} hours`);
    t.is(existsSync(upload), dropped === 0);
  }
  t.deepEqual(await readdir(layout.input), []);
});

test('an upload whose step may be stored keeps its file for the decision of recovery', async (t) => {
  const root = await mkdtemp(join(tmpdir(), 'sealwright-ambiguous-'));
  t.teardown(() => rm(root, { recursive: true, force: true }));
  const first = await batchFixture(t, { root, start: false, watch: false, wrapStore: forgetful });
  const { jobs } = first.batch;
  const sink = await jobs.uploads.openUpload('a.txt');
  await sink.write(Buffer.from('content'));
  const { format, profile } = jobs.uploads.plan({ fileName: 'a.txt', format: undefined, profile: undefined });
  await t.throwsAsync(jobs.uploads.acceptUpload(sink, { fileName: 'a.txt', format, profile }), {
    code: 'store.unavailable',
  });
  await sink.abort();
  await first.close();
  const second = await batchFixture(t, { root, watch: false });
  t.is(second.batch.recovery.uploadsKept, 1);
  await second.reach('Completed', 1);
  // The input is put away after its job is Completed.
  await reached(async () => (await readdir(second.layout.input)).length === 0);
});

test('an upload that was refused leaves no file', async (t) => {
  const { batch, layout } = await batchFixture(t, { start: false, watch: false });
  const sink = await batch.jobs.uploads.openUpload('a.txt');
  await t.throwsAsync(
    batch.jobs.uploads.acceptUpload(sink, {
      fileName: 'a.txt',
      format: 'Cades',
      profile: 'default' as never,
    }),
    { code: 'upload.empty' },
  );
  await sink.abort();
  t.false(existsSync(join(layout.input, 'a.txt')));
  t.deepEqual(await readdir(layout.input), []);
});
