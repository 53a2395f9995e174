import { rm } from 'node:fs/promises';
import { SimulatedClock } from '@sealwright/runtime/testing';
import test from 'ava';
import { cancelJobs, clearJobs, retryJobs } from '../../../contracts/batch/bulk.ts';
import { listProfiles, readStatistics } from '../../../contracts/batch/statistics.ts';
import { assertProblem, startServer } from '../harness.ts';
import { onWire } from '../on-wire.ts';
import { callsOf } from './test-service.ts';

function post(body?: unknown): RequestInit {
  if (body === undefined) return { method: 'POST' };
  return { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
}

test('a bulk retry passes its selection on and answers the result for each job', async (t) => {
  const serviceClock = new SimulatedClock(Date.UTC(2026, 10, 21));
  const { call, service } = await startServer(t, {}, undefined, { serviceClock });
  const calls = callsOf(service.bulk, 'retryMany');
  await service.add({ status: 'Failed', profile: 'invoices' });
  const without = await service.add({ status: 'Failed', profile: 'invoices' });
  await rm(without.originalPath);
  await service.add({ status: 'Failed' });
  const since = '2026-11-20T00:00:00.000Z';
  const asked = { status: 'Failed', profile: 'invoices', errorCode: 'pdf.malformed', since, limit: 7 };
  const traced = { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' };
  const sent = post(asked);
  const response = await call('/api/jobs/retry', { ...sent, headers: { ...sent.headers, ...traced } });
  t.is(response.status, 200);
  const body = onWire(retryJobs.reply, await response.json());
  t.like(body, { matched: 2, created: 1, skipped: 1 });
  t.is(body.items[1]?.code, 'job.input-missing');
  const query = calls.at(-1)?.[0];
  t.regex(query?.request?.TraceId ?? '', /^00-4bf92f3577b34da6a3ce929d0e0e4736-[0-9a-f]{16}-01$/);
  t.deepEqual(query, {
    profile: 'invoices',
    errorCode: 'pdf.malformed',
    since: Date.parse(since),
    limit: 7,
    countOnly: false,
    // Errors of a single job are logged with the id of the request.
    request: {
      RequestId: response.headers.get('x-request-id') ?? '',
      TraceId: query?.request?.TraceId ?? '',
    },
  });
});

test('a bulk action without a body applies to all eligible jobs, a thousand at most', async (t) => {
  const { call, service } = await startServer(t);
  const retries = callsOf(service.bulk, 'retryMany');
  const cancels = callsOf(service.bulk, 'cancelMany');
  t.is((await call('/api/jobs/retry', post())).status, 200);
  t.is((await call('/api/jobs/cancel', post({ countOnly: true, reason: ' wrong batch ' }))).status, 200);
  t.like(retries[0]?.[0], { limit: 1000, countOnly: false, profile: undefined });
  t.like(cancels[0]?.[0], { countOnly: true, statuses: [] });
  t.is(cancels[0]?.[1], 'wrong batch');
});

test('a bulk cancel may name its states and lists no new jobs', async (t) => {
  const { call, service } = await startServer(t);
  const cancels = callsOf(service.bulk, 'cancelMany');
  for (const status of ['AwaitingSigner', 'Queued'] as const) await service.add({ status });
  const response = await call('/api/jobs/cancel', post({ status: 'AwaitingSigner' }));
  const body = onWire(cancelJobs.reply, await response.json());
  t.like(body, { matched: 1, canceled: 1, skipped: 0 });
  t.deepEqual(cancels.at(-1)?.[0].statuses, ['AwaitingSigner']);
  await call('/api/jobs/cancel', post({ status: ['Queued', 'AwaitingSigner'] }));
  t.deepEqual(cancels.at(-1)?.[0].statuses, ['Queued', 'AwaitingSigner']);
});

test('a bulk action with an unknown member is refused with its name and changes nothing', async (t) => {
  const { call, service } = await startServer(t);
  const calls = [callsOf(service.bulk, 'retryMany'), callsOf(service.bulk, 'cancelMany')];
  for (const [path, bad, member] of [
    ['retry', { profil: 'invoices' }, 'profil'],
    ['retry', { toString: 1 }, 'toString'],
    ['retry', { status: 'Completed' }, 'status'],
    ['retry', { limit: 0 }, 'limit'],
    ['retry', { limit: 1001 }, 'limit'],
    ['retry', { limit: 2.5 }, 'limit'],
    ['retry', { limit: '5' }, 'limit'],
    ['retry', { since: 'yesterday' }, 'since'],
    ['retry', { since: 5 }, 'since'],
    ['retry', { countOnly: 'yes' }, 'countOnly'],
    ['retry', { reason: 'why' }, 'reason'],
    ['retry', { profile: '' }, 'profile'],
    ['cancel', { status: 'Failed' }, 'status'],
    ['cancel', { status: ['Queued', 'Processing'] }, 'status'],
    ['cancel', { reason: 5 }, 'reason'],
  ] as const) {
    const problem = await assertProblem(
      t,
      await call(`/api/jobs/${path}`, post(bad)),
      'validation.body-invalid',
    );
    t.deepEqual(Object.keys(problem.errors ?? {}), [member], JSON.stringify(bad));
  }
  const long = await call('/api/jobs/cancel', post({ reason: 'x'.repeat(513) }));
  await assertProblem(t, long, 'validation.reason-too-long');
  t.is(calls.flat().length, 0);
});

test('clearing returns the number of removed jobs and a message, and counts as an action', async (t) => {
  const { call, service } = await startServer(t, {
    rateLimiting: {
      enabled: true,
      upload: { permits: 1, windowSeconds: 60 },
      actions: { permits: 3, windowSeconds: 60 },
    },
  });
  for (const status of ['Completed', 'Failed', 'Canceled', 'Completed', 'Queued', 'Processing'] as const)
    await service.add({ status });
  const response = await call('/api/jobs', { method: 'DELETE' });
  t.is(response.status, 200);
  t.deepEqual(onWire(clearJobs.reply, await response.json()), {
    deleted: 4,
    skipped: 2,
    message: 'Finished jobs forgotten: 4. 2 stay: their files are still moved, or their upload keys hold.',
  });
  t.is((await call('/api/jobs/retry', post())).status, 200);
  t.is((await call('/api/jobs/cancel', post())).status, 200);
  await assertProblem(t, await call('/api/jobs', { method: 'DELETE' }), 'rate-limited');
});

test('profiles list the options of an upload, and remote profiles have no certificate', async (t) => {
  const { call } = await startServer(t);
  const { profiles } = onWire(listProfiles.reply, await (await call('/api/profiles')).json());
  t.deepEqual(
    profiles.map((profile) => [profile.name, profile.default, profile.certificate?.notAfter ?? null]),
    [
      ['default', true, '2030-03-17T17:46:40.000Z'],
      ['invoices', false, '2030-03-17T17:46:40.000Z'],
      ['contracts', false, null],
    ],
  );
});

test('statistics take a window in minutes, hours or days, a day when none is named', async (t) => {
  const { call, service } = await startServer(t);
  const calls = callsOf(service.statistics, 'over');
  for (const query of ['', '?window=15m', '?window=24h', '?window=7d', '?window=31d'])
    onWire(readStatistics.reply, await (await call(`/api/statistics${query}`)).json());
  t.deepEqual(
    calls.map(([window]) => window / 60_000),
    [1440, 15, 1440, 10_080, 44_640],
  );
  for (const bad of ['', '0m', '32d', '5', '1w', '-1h', '1.5h', '999999m', '1h&window=2h']) {
    const problem = await assertProblem(
      t,
      await call(`/api/statistics?window=${bad}`),
      'validation.filter-invalid',
    );
    t.deepEqual(Object.keys(problem.errors ?? {}), ['window'], bad);
  }
});

test('the list passes every filter on, and names each invalid one', async (t) => {
  const { call, service } = await startServer(t);
  const lists = callsOf(service.jobs, 'list');
  const id = 'f81d4fae-7dec-41d0-8765-00a0c91e6bf6';
  const query = new URLSearchParams({
    status: 'failed',
    profile: 'invoices',
    format: 'pades,XADES',
    source: 'retry',
    folder: 'contracts',
    fileName: 'Ünïcode & more.pdf',
    createdFrom: '2026-11-20',
    createdTo: '2026-11-21T12:00:00+02:00',
    parentJobId: id,
  });
  t.is((await call(`/api/jobs?${query}`)).status, 200);
  t.like(lists.at(-1)?.[0], {
    statuses: ['Failed'],
    profile: 'invoices',
    formats: ['Pades', 'Xades'],
    sources: ['Retry'],
    folder: 'contracts',
    fileName: 'Ünïcode & more.pdf',
    createdFrom: Date.UTC(2026, 10, 20),
    createdTo: Date.UTC(2026, 10, 21, 10),
    parentJobId: id as never,
  });
  for (const [name, value] of [
    ['format', 'pdf'],
    ['source', 'upload,mail'],
    ['createdFrom', 'yesterday'],
    ['createdFrom', '2026-02-30'],
    ['createdTo', '2026-11-21T12:00:00'],
    ['parentJobId', 'f81d4fae'],
    ['folder', 'a&folder=b'],
  ]) {
    const problem = await assertProblem(
      t,
      await call(`/api/jobs?${name}=${value}`),
      'validation.filter-invalid',
    );
    t.deepEqual(Object.keys(problem.errors ?? {}), [name], value);
  }
});
