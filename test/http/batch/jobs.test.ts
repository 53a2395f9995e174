import { randomBytes, randomUUID } from 'node:crypto';
import { closeSync, openSync, readdirSync, readlinkSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '@sealwright/runtime';
import { SimulatedClock } from '@sealwright/runtime/testing';
import test from 'ava';
import { Retryable } from '#runtime/model/failures.js';
import type { HealthCheck } from '../../../actors/index.ts';
import { cancelJob, listJobs, readJob, retryJob } from '../../../contracts/batch/jobs.ts';
import { readHealth, readReadiness } from '../../../contracts/batch/system.ts';
import { createBatchMetrics } from '../../../http/index.ts';
import type { JobId } from '../../../machines/ids.ts';
import { Refusal } from '../../../machines/refusals.ts';
import { reached } from '../../project/waiting.ts';
import { assertProblem, KEY, startServer } from '../harness.ts';
import { onWire } from '../on-wire.ts';
import { callsOf } from './test-service.ts';

const post = (
  body?: string,
  headers: Record<string, string> = { 'content-type': 'application/json' },
): RequestInit => (body === undefined ? { method: 'POST' } : { method: 'POST', body, headers });

test('health is answered without credentials', async (t) => {
  const { url } = await startServer(t);
  const response = await fetch(`${url}/api/health`);
  t.is(response.status, 200);
  t.deepEqual(onWire(readHealth.replies[200], await response.json()), { status: 'Healthy' });
});

test('readiness names the failed check and answers 503', async (t) => {
  const { call, service } = await startServer(t);
  const good = await call('/api/ready');
  t.is(good.status, 200);
  const ready = onWire(readReadiness.replies[200], await good.json());
  t.is(ready.status, 'Ready');
  t.like(ready.checks[0], { name: 'database', status: 'Healthy' });
  service.health.add(() => [{ name: 'input-folder:other', status: 'Unhealthy', detail: 'missing' }]);
  const bad = await call('/api/ready');
  t.is(bad.status, 503);
  t.is(bad.headers.get('content-type'), 'application/json; charset=utf-8');
  const body = onWire(readReadiness.replies[200], await bad.json());
  t.is(body.status, 'NotReady');
  const other = { name: 'input-folder:other', status: 'Unhealthy', detail: 'missing' };
  t.deepEqual(body.checks.at(-1), other);
});

test('a degraded check leaves the service ready, and the metrics include the same checks', async (t) => {
  const { service, call } = await startServer(t, {}, systemClock, {
    metrics: createBatchMetrics({ folders: [], profiles: [], process: false }, () => 0),
  });
  let checks: readonly HealthCheck[] = [{ name: 'profile:old', status: 'Degraded', detail: 'expired' }];
  service.health.add(() => checks);
  const answer = await call('/api/ready');
  t.is(answer.status, 200);
  const body = onWire(readReadiness.replies[200], await answer.json());
  t.is(body.status, 'Ready');
  t.deepEqual(body.checks.at(-1), { name: 'profile:old', status: 'Degraded', detail: 'expired' });
  const metrics = async () => (await (await call('/api/metrics')).text()).split('\n');
  const first = await metrics();
  for (const line of [
    'batch_health_check{check="database",status="Healthy"} 1',
    'batch_health_check{check="database",status="Unhealthy"} 0',
    'batch_health_check{check="profile:old",status="Degraded"} 1',
    'batch_health_check{check="profile:old",status="Healthy"} 0',
  ])
    t.true(first.includes(line), line);
  checks = [{ name: 'other', status: 'Unhealthy', detail: 'closed' }];
  const second = await metrics();
  t.true(second.includes('batch_health_check{check="other",status="Unhealthy"} 1'));
  t.false(
    second.some((line) => line.includes('profile:old')),
    'a part that is gone has no check',
  );
});

test('every response carries the security headers and a request id, and no server name', async (t) => {
  const { url, call } = await startServer(t);
  const answers = [await fetch(`${url}/api/health`), await fetch(`${url}/nowhere`), await call('/api/jobs')];
  const ids = new Set<string | null>();
  for (const { headers } of answers) {
    t.is(headers.get('x-content-type-options'), 'nosniff');
    t.is(headers.get('referrer-policy'), 'no-referrer');
    t.is(headers.get('x-frame-options'), 'DENY');
    t.is(headers.get('content-security-policy'), "default-src 'self'; frame-ancestors 'none'");
    t.is(headers.get('cache-control'), 'no-store');
    t.is(headers.get('server'), null);
    t.is(headers.get('uwebsockets'), null);
    t.is(headers.get('strict-transport-security'), null);
    t.regex(headers.get('x-request-id') ?? '', /^0H[0-9A-V]{11}:[0-9A-F]{8}$/);
    ids.add(headers.get('x-request-id'));
  }
  t.is(ids.size, answers.length);
});

test('protected routes refuse missing and wrong keys and name the scheme', async (t) => {
  const { url, call } = await startServer(t, { previousApiKey: 'the-previous-key' });
  const id = randomUUID();
  for (const [method, path] of [
    ['POST', '/api/files'],
    ['GET', '/api/jobs'],
    ['GET', `/api/jobs/${id}`],
    ['GET', `/api/jobs/${id}/output`],
    ['POST', `/api/jobs/${id}/cancel`],
    ['POST', `/api/jobs/${id}/retry`],
  ] as const) {
    for (const headers of [{}, { 'X-API-Key': 'wrong' }]) {
      const response = await fetch(`${url}${path}`, { method, headers });
      await assertProblem(t, response, 'auth.invalid-credentials');
      t.is(response.headers.get('www-authenticate'), 'ApiKey header="X-API-Key"');
    }
  }
  t.is((await call('/api/jobs', { headers: { 'x-api-key': 'the-previous-key' } })).status, 200);
});

test('an empty configured key is a configuration fault, and anonymous routes are still answered', async (t) => {
  const { url } = await startServer(t, { apiKey: '', apiKeyHeader: 'X-Key' });
  const response = await fetch(`${url}/api/jobs`, { headers: { 'X-Key': KEY } });
  await assertProblem(t, response, 'auth.misconfigured');
  t.is(response.headers.get('www-authenticate'), 'ApiKey header="X-Key"');
  t.is((await fetch(`${url}/api/health`)).status, 200);
});

test('unknown paths are 404 and known paths with another method are 405 with Allow', async (t) => {
  const { url, call } = await startServer(t);
  await assertProblem(t, await fetch(`${url}/nowhere`), 'route.not-found');
  await assertProblem(t, await call('/api/jobs/'), 'route.not-found');
  await assertProblem(t, await call('/api/jobs/a/b/c'), 'route.not-found');
  await assertProblem(t, await call('/api/%zz'), 'route.not-found');
  const files = await call('/api/files');
  await assertProblem(t, files, 'route.method-not-allowed');
  t.is(files.headers.get('allow'), 'POST');
  const jobs = await call('/api/jobs', { method: 'PUT' });
  await assertProblem(t, jobs, 'route.method-not-allowed');
  t.is(jobs.headers.get('allow'), 'DELETE, GET, HEAD');
  const cancel = await call(`/api/jobs/${randomUUID()}/cancel`, { method: 'PUT' });
  await assertProblem(t, cancel, 'route.method-not-allowed');
  t.is(cancel.headers.get('allow'), 'POST');
});

test('HEAD returns the headers of GET without a body', async (t) => {
  const { url, call, service } = await startServer(t);
  const job = await service.add();
  const get = await call(`/api/jobs/${job.id}`);
  const head = await call(`/api/jobs/${job.id}`, { method: 'HEAD' });
  t.is(head.status, 200);
  t.is(head.headers.get('content-length'), String((await get.arrayBuffer()).byteLength));
  t.is((await head.arrayBuffer()).byteLength, 0);
  t.is((await fetch(`${url}/api/health`, { method: 'HEAD' })).status, 200);
  const missing = await call('/api/jobs/none', { method: 'HEAD' });
  t.is(missing.status, 404);
  t.is(await missing.text(), '');
});

test('a problem includes its request in development and omits it in production', async (t) => {
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  const open = await startServer(t);
  const inOpen = await assertProblem(
    t,
    await open.call('/api/jobs/x', { headers: { traceparent } }),
    'job.not-found',
  );
  t.is(inOpen.instance, '/api/jobs/x');
  t.regex(inOpen.detail ?? '', /"x"/);
  t.regex(inOpen.traceId, /^00-0af7651916cd43dd8448eb211c80319c-(?!b7ad6b7169203331)[0-9a-f]{16}-01$/);
  const closed = await startServer(t, { production: true });
  const inClosed = await assertProblem(t, await closed.call('/api/jobs/x'), 'job.not-found');
  t.deepEqual(Object.keys(inClosed), ['type', 'title', 'status', 'code', 'traceId', 'requestId']);
  const line = closed.lines.find(({ text }) => text === 'Request refused.');
  t.like(line?.properties, {
    Code: 'job.not-found',
    RequestId: inClosed.requestId,
    TraceId: inClosed.traceId,
  });
});

test('an unexpected failure is answered with 500, with its stack in the log, and in the answer only in development', async (t) => {
  for (const production of [false, true]) {
    const { call, service, lines } = await startServer(t, { production });
    const job = await service.add();
    service.jobs.cancel = async () => {
      throw new TypeError('something inside');
    };
    const body = await assertProblem(t, await call(`/api/jobs/${job.id}/cancel`, post()), 'internal');
    t.is(/something inside/.test(JSON.stringify(body)), !production);
    const line = lines.find(({ level }) => level === 'error');
    t.regex(String(line?.properties['Exception']), /something inside/);
    t.is(line?.properties['RequestId'], body.requestId);
  }
});

test('a busy service answers 503 with Retry-After', async (t) => {
  const { call, service } = await startServer(t);
  const job = await service.add();
  service.jobs.cancel = async () => {
    throw new Retryable('mailbox.full', 'Too many messages wait.', 2500);
  };
  const response = await call(`/api/jobs/${job.id}/cancel`, post());
  await assertProblem(t, response, 'service.busy');
  t.is(response.headers.get('retry-after'), '3');
});

test('the list is paged, newest first, and returns its query', async (t) => {
  const { call, service } = await startServer(t);
  const ids: JobId[] = [];
  while (ids.length < 60) ids.unshift((await service.add()).id);
  const first = onWire(listJobs.reply, await (await call('/api/jobs')).json());
  t.like(first, { page: 1, pageSize: 50, totalCount: 60 });
  t.deepEqual(
    first.items.map(({ id }) => id),
    ids.slice(0, 50) as string[],
  );
  const second = onWire(listJobs.reply, await (await call('/api/jobs?page=2')).json());
  t.is(second.items.length, 10);
  const large = onWire(listJobs.reply, await (await call('/api/jobs?pageSize=201')).json());
  t.like(large, { pageSize: 200, totalCount: 60 });
  const beyond = onWire(listJobs.reply, await (await call('/api/jobs?page=99&pageSize=7')).json());
  t.deepEqual(beyond, { items: [], page: 99, pageSize: 7, totalCount: 60 });
});

test('the list filters by states in any letter case and by profile', async (t) => {
  const { call, service } = await startServer(t);
  for (const status of ['Queued', 'Failed', 'Completed', 'Failed'] as const) await service.add({ status });
  const count = async (query: string) =>
    onWire(listJobs.reply, await (await call(`/api/jobs?${query}`)).json()).totalCount;
  t.is(await count('status=failed'), 2);
  t.is(await count('status=FAILED,Queued'), 3);
  t.is(await count('status=Failed&status=completed'), 3);
  t.is(await count('status=Failed&status=failed'), 2);
  t.is(await count('profile=Default'), 4);
  t.is(await count('profile=long-gone'), 0);
  t.is(await count('unknown=1'), 4);
});

test('invalid filters are refused with the name of each', async (t) => {
  const { call } = await startServer(t);
  for (const [query, member] of [
    ['status=Running', 'status'],
    ['status=Failed,', 'status'],
    ['status=', 'status'],
    ['page=0', 'page'],
    ['page=-1', 'page'],
    ['page=1.5', 'page'],
    ['page=1e3', 'page'],
    ['page=99999999999', 'page'],
    ['page=1&page=2', 'page'],
    ['pageSize=0', 'pageSize'],
    ['pageSize=many', 'pageSize'],
    ['pageSize=', 'pageSize'],
    ['profile=a&profile=b', 'profile'],
  ] as const) {
    const body = await assertProblem(t, await call(`/api/jobs?${query}`), 'validation.filter-invalid');
    t.deepEqual(Object.keys(body.errors ?? {}), [member], query);
  }
  const both = await assertProblem(t, await call('/api/jobs?page=x&pageSize=0'), 'validation.filter-invalid');
  t.deepEqual(both.errors, {
    page: ['must be an integer of at least 1'],
    pageSize: ['must be an integer of at least 1'],
  });
});

test('one job has every field, nulls included, and times in milliseconds', async (t) => {
  const serviceClock = new SimulatedClock(Date.UTC(2026, 10, 21, 5, 0, 0, 123));
  const { call, service } = await startServer(t, {}, systemClock, { serviceClock });
  const job = await service.add();
  const body = onWire(readJob.reply, await (await call(`/api/jobs/${job.id}`)).json());
  t.is(body.createdAt, '2026-11-21T05:00:00.123Z');
  t.is(body.errorMessage, null);
  t.is(body.awaitingSignerSince, null);
  t.deepEqual(body.history, [
    { id: 1, timestamp: '2026-11-21T05:00:00.123Z', status: 'Queued', message: 'Uploaded.' },
  ]);
});

test('unknown and malformed ids are answered as missing jobs', async (t) => {
  const { call } = await startServer(t);
  for (const id of [randomUUID(), 'x', '%00', '..%2f..', 'a%20b', 'é'.repeat(200)]) {
    await assertProblem(t, await call(`/api/jobs/${id}`), 'job.not-found');
    await assertProblem(t, await call(`/api/jobs/${id}/output`), 'job.not-found');
    await assertProblem(t, await call(`/api/jobs/${id}/cancel`, post()), 'job.not-found');
    await assertProblem(t, await call(`/api/jobs/${id}/retry`, post()), 'job.not-found');
  }
});

test('an id is taken in upper case too, as databases and clients of other platforms write it', async (t) => {
  const { call, service } = await startServer(t);
  const job = await service.add();
  const upper = job.id.toUpperCase();
  t.is(onWire(readJob.reply, await (await call(`/api/jobs/${upper}`)).json()).id, job.id);
  const list = await (await call(`/api/jobs?parentJobId=${upper}`)).json();
  t.is(onWire(listJobs.reply, list).totalCount, 0);
  const canceled = await call(`/api/jobs/${upper}/cancel`, post());
  t.deepEqual(onWire(cancelJob.reply, await canceled.json()), { jobId: job.id, status: 'Canceled' });
});

test('cancel accepts an optional reason, trims it, and returns the state of the job', async (t) => {
  const { call, service } = await startServer(t);
  const calls = callsOf(service.jobs, 'cancel');
  const cancel = async (init: RequestInit) => {
    const job = await service.add();
    const response = await call(`/api/jobs/${job.id}/cancel`, init);
    t.is(response.status, 200, await response.clone().text());
    t.deepEqual(onWire(cancelJob.reply, await response.json()), { jobId: job.id, status: 'Canceled' });
    return calls.at(-1)?.[1];
  };
  t.is(await cancel(post()), null);
  t.is(await cancel(post('')), null);
  t.is(await cancel(post('{}')), null);
  t.is(await cancel(post('{"reason":null}')), null);
  t.is(await cancel(post('{"reason":"  "}')), null);
  t.is(await cancel(post('{"reason":" wrong file. ","other":1}')), 'wrong file.');
  t.is(
    await cancel(post('{"reason":"x"}', { 'content-type': 'application/vnd.x+json; charset=utf-8' })),
    'x',
  );
  t.is(await cancel(post(JSON.stringify({ reason: ` ${'é'.repeat(512)} ` }))), 'é'.repeat(512));
});

test('cancel refuses a long reason and malformed bodies', async (t) => {
  const { call, service } = await startServer(t);
  const calls = callsOf(service.jobs, 'cancel');
  const job = await service.add();
  const path = `/api/jobs/${job.id}/cancel`;
  const long = await assertProblem(
    t,
    await call(path, post(JSON.stringify({ reason: 'x'.repeat(513) }))),
    'validation.reason-too-long',
  );
  t.deepEqual(Object.keys(long.errors ?? {}), ['reason']);
  for (const bad of ['{', 'null', '[]', '"x"', '1', '{"reason":5}', '{"reason":["x"]}', ' ']) {
    await assertProblem(t, await call(path, post(bad)), 'validation.body-invalid');
  }
  // Only a reason can make such a body longer than the limit.
  await assertProblem(t, await call(path, post('x'.repeat(20_000))), 'validation.reason-too-long');
  await assertProblem(
    t,
    await call(path, post('reason=x', { 'content-type': 'text/plain' })),
    'validation.body-invalid',
  );
  t.is(calls.length, 0);
  t.is((await service.jobs.get(job.id)).status, 'Queued');
});

test('cancel and retry return the refusals of the service', async (t) => {
  const { call, service } = await startServer(t);
  const running = await service.add({ status: 'Processing' });
  await assertProblem(t, await call(`/api/jobs/${running.id}/cancel`, post()), 'job.not-queued');
  await assertProblem(t, await call(`/api/jobs/${running.id}/retry`, post()), 'job.not-failed');
  const failed = await service.add({ status: 'Failed' });
  t.is((await call(`/api/jobs/${failed.id}/retry`, post())).status, 200);
  await assertProblem(t, await call(`/api/jobs/${failed.id}/retry`, post()), 'job.already-processing');
  const without = await service.add({ status: 'Failed' });
  await rm(without.originalPath);
  await assertProblem(t, await call(`/api/jobs/${without.id}/retry`, post()), 'job.input-missing');
  const { id } = await service.add();
  const read = service.actors.read.bind(service.actors);
  service.actors.read = (async (...asked: Parameters<typeof read>) => {
    const found = await read(...asked);
    service.actors.read = read;
    await service.send(id, { type: 'CLAIM' });
    return found;
  }) as typeof read;
  await assertProblem(t, await call(`/api/jobs/${id}/cancel`, post()), 'job.race-lost');
  service.jobs.retry = async () => {
    throw new Refusal('profile.not-found', 'The profile is no longer configured.');
  };
  await assertProblem(t, await call(`/api/jobs/${failed.id}/retry`, post()), 'profile.not-found');
});

test('retry creates a new job with the id of its parent', async (t) => {
  const { call, service } = await startServer(t);
  const failed = await service.add({ status: 'Failed' });
  const response = await call(`/api/jobs/${failed.id}/retry`, post());
  t.is(response.status, 200);
  const body = onWire(retryJob.reply, await response.json());
  t.is(body.parentJobId, failed.id);
  t.not(body.newJobId, failed.id);
});

test('actions share one window per client, and reads are not limited', async (t) => {
  const { call, service } = await startServer(t, {
    rateLimiting: {
      enabled: true,
      upload: { permits: 1, windowSeconds: 60 },
      actions: { permits: 3, windowSeconds: 60 },
    },
  });
  const job = await service.add({ status: 'Processing' });
  for (const action of ['cancel', 'retry', 'cancel']) {
    t.is((await call(`/api/jobs/${job.id}/${action}`, post())).status, 409);
  }
  const refused = await call(`/api/jobs/${job.id}/retry`, post());
  await assertProblem(t, refused, 'rate-limited');
  const seconds = Number(refused.headers.get('retry-after'));
  t.true(Number.isInteger(seconds) && seconds >= 1 && seconds <= 60);
  for (let read = 0; read < 10; read += 1) t.is((await call('/api/jobs')).status, 200);
});

test('requests without the key use no permits of other clients', async (t) => {
  const { call, service } = await startServer(t, {
    rateLimiting: {
      enabled: true,
      upload: { permits: 1, windowSeconds: 60 },
      actions: { permits: 1, windowSeconds: 60 },
    },
  });
  const job = await service.add();
  for (let attempt = 0; attempt < 3; attempt += 1) {
    const response = await call(`/api/jobs/${job.id}/cancel`, {
      method: 'POST',
      headers: { 'x-api-key': 'wrong' },
    });
    t.is(response.status, 401);
  }
  t.is((await call(`/api/jobs/${job.id}/cancel`, post())).status, 200);
});

test('the output is sent whole, byte for byte, with its name, type and digest', async (t) => {
  const { call, service } = await startServer(t);
  for (const length of [0, 1, 1000, 262_144, 262_145, 5_000_000]) {
    const job = await service.add();
    const bytes = randomBytes(length);
    const output = await service.finish(job.id, bytes, 'relatório.signed.pdf');
    const response = await call(`/api/jobs/${job.id}/output`);
    t.is(response.status, 200);
    t.is(response.headers.get('content-type'), 'application/pdf');
    t.is(response.headers.get('content-length'), String(length));
    t.is(response.headers.get('accept-ranges'), 'bytes');
    t.is(response.headers.get('etag'), `"${output.sha256}"`);
    t.is(
      response.headers.get('content-disposition'),
      `attachment; filename="relat_rio.signed.pdf"; filename*=UTF-8''relat%C3%B3rio.signed.pdf`,
    );
    t.true(bytes.equals(Buffer.from(await response.arrayBuffer())), `${length} bytes`);
  }
});

(process.platform === 'linux' ? test : test.skip)(
  'every answer about an output closes its file',
  async (t) => {
    const open = '/proc/self/fd';
    const { call, service } = await startServer(t);
    const { id } = await service.add();
    const { path, sha256 } = await service.finish(id, randomBytes(5_000_000));
    const isOpen = () =>
      readdirSync(open).some((descriptor) => {
        try {
          return readlinkSync(join(open, descriptor)) === path;
        } catch {
          // The listing itself was among them.
          return false;
        }
      });
    const handle = openSync(path, 'r');
    t.true(isOpen(), 'an open file is seen');
    closeSync(handle);
    const asked: readonly RequestInit[] = [
      {},
      { method: 'HEAD' },
      ...[{ range: 'bytes=0-9' }, { range: 'bytes=5000000-' }, { 'if-none-match': `"${sha256}"` }].map(
        (headers) => ({ headers }),
      ),
    ];
    const closed = (what: string) =>
      reached(() => !isOpen()).catch((error: Error) => {
        throw new Error(`the file stays open after ${what}`, { cause: error });
      });
    for (const init of asked) {
      await (await call(`/api/jobs/${id}/output`, init)).arrayBuffer();
      await closed(JSON.stringify(init));
    }
    const abort = new AbortController();
    await call(`/api/jobs/${id}/output`, { signal: abort.signal });
    abort.abort();
    await closed('an aborted download');
    t.pass();
  },
);

test('single ranges of the output are answered', async (t) => {
  const { call, service } = await startServer(t);
  const job = await service.add();
  const bytes = randomBytes(700_000);
  const { sha256 } = await service.finish(job.id, bytes);
  const get = (headers: Record<string, string>) => call(`/api/jobs/${job.id}/output`, { headers });
  for (const [range, from, to] of [
    ['bytes=0-0', 0, 0],
    ['bytes=100-', 100, 699_999],
    ['bytes=-5', 699_995, 699_999],
    ['bytes=5-9999999', 5, 699_999],
    ['bytes=300000-600000', 300_000, 600_000],
  ] as const) {
    const response = await get({ range });
    t.is(response.status, 206);
    t.is(response.headers.get('content-range'), `bytes ${from}-${to}/700000`);
    t.true(bytes.subarray(from, to + 1).equals(Buffer.from(await response.arrayBuffer())), range);
  }
  const outside = await get({ range: 'bytes=700000-' });
  t.is(outside.status, 416);
  t.is(outside.headers.get('content-range'), 'bytes */700000');
  await assertProblem(t, outside, 'range.not-satisfiable');
  t.is((await get({ range: 'bytes=0-1,5-6' })).status, 200);
  t.is((await get({ range: 'bytes=0-1', 'if-range': '"other"' })).status, 200);
  t.is((await get({ range: 'bytes=0-1', 'if-range': `"${sha256}"` })).status, 206);
  const same = await get({ 'if-none-match': `"x", W/"${sha256}"` });
  t.is(same.status, 304);
  t.is(await same.text(), '');
  const head = await call(`/api/jobs/${job.id}/output`, { method: 'HEAD' });
  t.is(head.headers.get('content-length'), '700000');
});

test('an output that does not exist yet and a removed one have codes of their own', async (t) => {
  const { call, service } = await startServer(t);
  const job = await service.add();
  await assertProblem(t, await call(`/api/jobs/${job.id}/output`), 'job.output-unavailable');
  const { path } = await service.finish(job.id, randomBytes(10));
  await rm(path);
  await assertProblem(t, await call(`/api/jobs/${job.id}/output`), 'job.output-gone');
});

test('every request is observed once, with its route instead of its path', async (t) => {
  const { call, service, seen } = await startServer(t);
  const job = await service.add();
  await (await call(`/api/jobs/${job.id}`)).text();
  await (await call('/api/nowhere')).text();
  t.deepEqual(
    seen.map(({ method, route, status }) => ({ method, route, status })),
    [
      { method: 'GET', route: '/api/jobs/{id}', status: 200 },
      { method: 'GET', route: '(none)', status: 404 },
    ],
  );
  t.true(seen.every(({ milliseconds }) => milliseconds >= 0));
});
