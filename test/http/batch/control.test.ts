/** Pipeline, folders, rescan, cleanup, events and whoami over HTTP. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SimulatedClock } from '@sealwright/runtime/testing';
import test from 'ava';
import { listEvents } from '../../../contracts/batch/events.ts';
import { cleanUp, listFolders, rescanFolders } from '../../../contracts/batch/folders.ts';
import { readPipeline } from '../../../contracts/batch/pipeline.ts';
import { readIdentity } from '../../../contracts/batch/system.ts';
import { reached } from '../../project/waiting.ts';
import { assertProblem, startServer } from '../harness.ts';
import { onWire } from '../on-wire.ts';

const post = (body?: object): RequestInit =>
  body === undefined
    ? { method: 'POST' }
    : { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };

test('the pipeline state counts jobs in flight by format', async (t) => {
  const { call, service } = await startServer(t);
  for (const fileName of ['a.pdf', 'b.pdf', 'c.txt']) await service.add({ fileName, status: 'Processing' });
  const response = await call('/api/pipeline/state');
  t.is(response.status, 200);
  t.deepEqual(onWire(readPipeline.reply, await response.json()), {
    paused: false,
    pausedAtUtc: null,
    resumedAtUtc: null,
    pausedBy: 'system',
    reason: null,
    held: null,
    maxConcurrency: 4,
    jobsInFlight: 3,
    jobsInFlightByFormat: { pades: 2, cades: 1, xades: 0, total: 3 },
  });
});

test('pause and resume return the new state, and a repetition changes nothing', async (t) => {
  const serviceClock = new SimulatedClock(1_000);
  const { call, service } = await startServer(t, {}, undefined, { serviceClock });
  service.runEffects();
  for (const [body, reason] of [
    [{ reason: ' stock taking ' }, 'stock taking'],
    [{ reason: 'other', Reason: 'x', 'who?': {} }, 'stock taking'],
  ] as const) {
    const response = await call('/api/pipeline/pause', post(body));
    t.is(response.status, 200);
    t.is(response.headers.get('x-ignored-members'), body.reason === 'other' ? 'Reason, who%3F' : null);
    t.like(onWire(readPipeline.reply, await response.json()), { paused: true, pausedBy: 'operator', reason });
  }
  serviceClock.advance(1_000);
  const resumed = onWire(readPipeline.reply, await (await call('/api/pipeline/resume', post())).json());
  t.like(resumed, { paused: false, pausedAtUtc: '1970-01-01T00:00:01.000Z', reason: null });
  t.is(resumed.resumedAtUtc, '1970-01-01T00:00:02.000Z');
  const list = async () => onWire(listEvents.reply, await (await call('/api/events')).json());
  await reached(async () => (await list()).totalCount === 2);
  const events = await list();
  t.deepEqual(
    events.items.map(({ kind }) => kind),
    ['PipelineResumed', 'PipelinePaused'],
  );
});

test('a reason of 512 characters pauses and one of 513 is refused', async (t) => {
  const { call, service } = await startServer(t);
  await assertProblem(
    t,
    await call('/api/pipeline/pause', post({ reason: 'x'.repeat(513) })),
    'validation.reason-too-long',
  );
  t.false((await service.pipeline.state()).paused);
  t.is((await call('/api/pipeline/pause', post({ reason: 'x'.repeat(512) }))).status, 200);
});

test('a reason over the body limit is refused as a reason that is too long', async (t) => {
  const { call, service } = await startServer(t);
  const answer = await call('/api/pipeline/pause', post({ reason: 'x'.repeat(20_000) }));
  await assertProblem(t, answer, 'validation.reason-too-long');
  t.false((await service.pipeline.state()).paused);
});

test('folders list their watchers', async (t) => {
  const { call, service } = await startServer(t);
  for (let file = 0; file < 51; file += 1) await writeFile(join(service.input, `${file}.pdf`), 'x');
  const { folders } = onWire(listFolders.reply, await (await call('/api/folders')).json());
  t.like(folders[0], { name: 'default', status: 'Initializing', fileCount: 50, fileCountCapped: true });
  t.is(folders[0]?.lastEnqueueAt, null);
});

test('rescan sums up its folders, and an unknown folder is refused with the list of them', async (t) => {
  const { call, service } = await startServer(t);
  await service.add();
  for (const name of ['new.pdf', 'half.part']) await writeFile(join(service.input, name), 'x');
  const all = onWire(rescanFolders.reply, await (await call('/api/rescan', post())).json());
  t.deepEqual(all.totals, { folders: 1, scanned: 3, enqueued: 1, alreadyActive: 1, ignored: 1, errors: 0 });
  t.is((await call('/api/rescan?folder=default', post())).status, 200);
  const problem = await assertProblem(
    t,
    await call('/api/rescan?folder=nowhere', post()),
    'folder.not-found',
  );
  t.regex(problem.detail ?? '', /default/);
});

test('cleanup removes jobs older than the configured age', async (t) => {
  const serviceClock = new SimulatedClock(1_000);
  const { call, service } = await startServer(t, {}, undefined, { serviceClock, batch: { keepJobs: 5_000 } });
  await service.add({ status: 'Completed' });
  serviceClock.advance(5_001);
  await service.add({ status: 'Completed' });
  const body = onWire(cleanUp.reply, await (await call('/api/cleanup', post())).json());
  t.is(body.deleted, 1);
  t.is(service.count(), 1);
});

test('cleanup without an age removes nothing and reports so', async (t) => {
  const { call } = await startServer(t);
  const body = onWire(cleanUp.reply, await (await call('/api/cleanup', post())).json());
  t.is(body.deleted, 0);
});

test('events are filtered by kind, and an unknown kind is refused', async (t) => {
  const { call, service } = await startServer(t);
  service.runEffects();
  await call('/api/pipeline/pause', post());
  await call('/api/pipeline/resume', post());
  const count = async (kind: string) =>
    onWire(listEvents.reply, await (await call(`/api/events?kind=${kind}`)).json()).totalCount;
  await reached(async () => (await count('pipelineresumed')) === 1);
  t.is(await count('pipelinepaused'), 1);
  await assertProblem(t, await call('/api/events?kind=Nothing'), 'validation.filter-invalid');
});

test('whoami returns the operator and the scheme', async (t) => {
  const { call } = await startServer(t);
  t.deepEqual(onWire(readIdentity.reply, await (await call('/api/whoami')).json()), {
    operator: 'operator',
    scheme: 'ApiKey',
  });
});
