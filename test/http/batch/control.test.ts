/** Pipeline, folders, rescan, cleanup, events and whoami over HTTP. */
import test from 'ava';
import { listEvents } from '../../../contracts/batch/events.ts';
import { cleanUp, listFolders, rescanFolders } from '../../../contracts/batch/folders.ts';
import { readPipeline } from '../../../contracts/batch/pipeline.ts';
import { readIdentity } from '../../../contracts/batch/system.ts';
import { assertProblem, startServer } from '../harness.ts';
import { onWire } from '../on-wire.ts';

const post = (body?: object): RequestInit =>
  body === undefined
    ? { method: 'POST' }
    : { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };

test('the pipeline state counts jobs in flight by format', async (t) => {
  const { call } = await startServer(t);
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
  const { call } = await startServer(t);
  for (const [body, reason] of [
    [{ reason: ' stock taking ' }, 'stock taking'],
    [{ reason: 'other' }, 'stock taking'],
  ] as const) {
    const response = await call('/api/pipeline/pause', post(body));
    t.is(response.status, 200);
    t.like(onWire(readPipeline.reply, await response.json()), { paused: true, pausedBy: 'operator', reason });
  }
  const resumed = onWire(readPipeline.reply, await (await call('/api/pipeline/resume', post())).json());
  t.like(resumed, { paused: false, pausedAtUtc: '1970-01-01T00:00:01.000Z', reason: null });
  t.is(resumed.resumedAtUtc, '1970-01-01T00:00:02.000Z');
  const events = onWire(listEvents.reply, await (await call('/api/events')).json());
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
  t.false(service.pipeline.view.paused);
  t.is((await call('/api/pipeline/pause', post({ reason: 'x'.repeat(512) }))).status, 200);
});

test('a reason over the body limit is refused as a reason that is too long', async (t) => {
  const { call, service } = await startServer(t);
  const answer = await call('/api/pipeline/pause', post({ reason: 'x'.repeat(20_000) }));
  await assertProblem(t, answer, 'validation.reason-too-long');
  t.false(service.pipeline.view.paused);
});

test('folders list their watchers', async (t) => {
  const { call } = await startServer(t);
  const { folders } = onWire(listFolders.reply, await (await call('/api/folders')).json());
  t.like(folders[0], { name: 'default', status: 'Running', fileCount: 50, fileCountCapped: true });
  t.is(folders[0]?.lastEnqueueAt, '1970-01-01T00:00:05.000Z');
});

test('rescan sums up its folders, and an unknown folder is refused with the list of them', async (t) => {
  const { call } = await startServer(t);
  const all = onWire(rescanFolders.reply, await (await call('/api/rescan', post())).json());
  t.deepEqual(all.totals, { folders: 1, scanned: 4, enqueued: 1, alreadyActive: 1, ignored: 1, errors: 1 });
  t.is((await call('/api/rescan?folder=default', post())).status, 200);
  const problem = await assertProblem(
    t,
    await call('/api/rescan?folder=nowhere', post()),
    'folder.not-found',
  );
  t.regex(problem.detail ?? '', /default/);
});

test('cleanup removes jobs older than the configured age', async (t) => {
  const { call, service } = await startServer(t);
  Object.assign(service.retention, { isConfigured: true, due: 12 });
  const body = onWire(cleanUp.reply, await (await call('/api/cleanup', post())).json());
  t.is(body.deleted, 12);
});

test('cleanup without an age removes nothing and reports so', async (t) => {
  const { call } = await startServer(t);
  const body = onWire(cleanUp.reply, await (await call('/api/cleanup', post())).json());
  t.is(body.deleted, 0);
});

test('events are filtered by kind, and an unknown kind is refused', async (t) => {
  const { call } = await startServer(t);
  await call('/api/pipeline/pause', post());
  await call('/api/pipeline/resume', post());
  const paused = onWire(listEvents.reply, await (await call('/api/events?kind=pipelinepaused')).json());
  t.is(paused.totalCount, 1);
  await assertProblem(t, await call('/api/events?kind=Nothing'), 'validation.filter-invalid');
});

test('whoami returns the operator and the scheme', async (t) => {
  const { call } = await startServer(t);
  t.deepEqual(onWire(readIdentity.reply, await (await call('/api/whoami')).json()), {
    operator: 'operator',
    scheme: 'ApiKey',
  });
});
