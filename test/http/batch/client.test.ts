/** The client of `clients/` against the batch service, and its own rules against a scripted server. */
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import type { BatchOperations } from '../../../clients/typescript/batch.d.ts';
import { ApiError, Client } from '../../../clients/typescript/client.ts';
import type { PortalOperations } from '../../../clients/typescript/portal.d.ts';
import { form, KEY, pdf, startServer } from '../harness.ts';

test('the client follows a job from its upload to its output, and controls the pipeline', async (t) => {
  const { api } = await startServer(t);
  const accepted = await api.call('POST /api/files', {
    body: form([['file', pdf()]]),
    query: { format: 'Pades' },
  });
  // With `wait`, the answer is the finished job.
  const jobId = 'jobId' in accepted ? accepted.jobId : accepted.id;
  const params = { id: jobId };
  t.like(await api.call('GET /api/jobs/{id}', { params }), { id: jobId, fileName: 'a.pdf' });
  const list = await api.call('GET /api/jobs', { query: { status: ['Queued', 'Processing'], pageSize: 10 } });
  t.deepEqual(
    list.items.map(({ id }) => id),
    [jobId],
  );
  t.like(await api.call('POST /api/pipeline/pause'), { paused: true });
  t.like(await api.call('GET /api/pipeline/state'), { paused: true });
  t.like(await api.call('POST /api/pipeline/resume'), { paused: false });
  t.like(await api.call('POST /api/jobs/{id}/cancel', { params }), { status: 'Canceled' });
  const error = await t.throwsAsync(api.response('GET /api/jobs/{id}/output', { params }));
  t.true(api.isRefusal(error, 'job.output-unavailable', 'job.output-gone'));
  t.regex(error instanceof ApiError ? error.requestId : '', /^0H/);
  for (const operation of [
    'GET /api/health',
    'GET /api/whoami',
    'GET /api/profiles',
    'GET /api/folders',
    'GET /api/events',
    'GET /api/statistics',
    'GET /api/runtime',
    'GET /api/actors',
    'GET /api/changes',
    'GET /api/mails',
    'GET /api/operations',
    'GET /api/webhooks/deliveries',
  ] as const)
    t.is(typeof (await api.call(operation)), 'object', operation);
});

async function scripted(
  t: ExecutionContext,
  answer: (
    tries: number,
    request: IncomingMessage,
  ) => readonly [status: number, body?: string, type?: string],
) {
  let tries = 0;
  const server: Server = createServer((request, response) => {
    tries += 1;
    const [status, body = '', type = 'application/json'] = answer(tries, request);
    response.writeHead(status, { 'content-type': type, ...(status === 503 && { 'retry-after': '0' }) });
    response.end(body);
  });
  // A connection that ends between two tries, on a busy machine, would count as a lost answer.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  return {
    client: new Client<BatchOperations>({ url, key: KEY }),
    url,
    tries: () => tries,
  };
}

test('a file in a bucket is read there without the key, and asked for again where the bucket is busy', async (t) => {
  const seen: string[] = [];
  let tries = 0;
  const bucket = createServer((request, response) => {
    seen.push(JSON.stringify([request.url, request.headers['x-api-key'], request.headers.range]));
    tries += 1;
    response.writeHead(tries === 1 ? 503 : 206, tries === 1 ? { 'retry-after': '0' } : {});
    response.end('igned');
  });
  await new Promise<void>((resolve) => bucket.listen(0, '127.0.0.1', resolve));
  t.teardown(() => bucket.close());
  const place = `http://127.0.0.1:${(bucket.address() as AddressInfo).port}/a?signature`;
  const service = createServer((request, response) => {
    t.is(request.headers['x-api-key'], KEY);
    response.writeHead(302, { location: place }).end();
  });
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
  t.teardown(() => service.close());
  const url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
  const answer = await new Client<BatchOperations>({ url, key: KEY }).response('GET /api/jobs/{id}/output', {
    params: { id: 'a' },
    query: { redirect: 'true' },
    headers: { Range: 'bytes=1-' },
  });
  t.is(await answer.text(), 'igned');
  t.deepEqual(seen, Array(2).fill(JSON.stringify(['/a?signature', undefined, 'bytes=1-'])));
});

test('repeatable calls are retried when the service is busy, others are sent once', async (t) => {
  const busy = await scripted(t, (tries) => (tries < 3 ? [503] : [200, '{"status":"Healthy"}']));
  t.deepEqual(await busy.client.call('GET /api/health'), { status: 'Healthy' });
  t.is(busy.tries(), 3);
  const post = await scripted(t, () => [503, '{"code":"service.busy","title":"Busy."}']);
  const refused = await t.throwsAsync(post.client.call('POST /api/pipeline/pause'), { instanceOf: ApiError });
  t.like(refused, { status: 503, code: 'service.busy', message: 'Busy.' });
  t.is(post.tries(), 1);
});

test('calls that may have an idempotency key are repeated under one key, which is the caller’s or made', async (t) => {
  const keys: unknown[] = [];
  const keyed = await scripted(t, (tries, { headers }) => {
    keys.push(headers['idempotency-key']);
    return tries % 2 === 1 ? [503] : [202, '{"jobId":"1"}'];
  });
  const send = (headers?: { readonly [name: string]: string }) =>
    keyed.client.call('POST /api/files', { body: form([['file', pdf()]]), ...(headers && { headers }) });
  await send();
  await send();
  await send({ 'Idempotency-Key': 'mine' });
  t.is(keyed.tries(), 6);
  const [first, again, second, , mine, mineAgain] = keys;
  t.regex(String(first), /^[0-9a-f]{32}$/);
  t.is(again, first);
  t.not(second, first);
  t.deepEqual([mine, mineAgain], ['mine', 'mine']);
  const once = new Client<BatchOperations>({ url: keyed.url, key: KEY, retries: 0 });
  await t.throwsAsync(once.call('POST /api/files', { body: form([['file', pdf()]]) }));
  t.is(keys.at(-1), undefined);
  // The service does not read the header here.
  const post = await scripted(t, () => [503]);
  const headers = { 'Idempotency-Key': 'a' };
  await t.throwsAsync(post.client.call('POST /api/pipeline/pause', { headers }));
  t.is(post.tries(), 1);
});

test('a DELETE that is refused as gone after an answer was lost succeeds, and otherwise is refused', async (t) => {
  const gone = '{"code":"DocumentDraftNotFound","message":"Gone."}';
  for (const [first, isDone] of [
    [502, true],
    [504, true],
    [503, false],
    [429, false],
  ] as const) {
    const { url } = await scripted(t, (tries) => (tries === 1 ? [first] : [422, gone]));
    const client = new Client<PortalOperations>({ url });
    const call = client.call('DELETE /api/document-drafts/{id}', { params: { id: '1' } });
    if (isDone) t.is(await call, undefined);
    else t.like(await t.throwsAsync(call, { instanceOf: ApiError }), { code: 'DocumentDraftNotFound' });
  }
});

test('a signal ends the wait, a file is read from the response, and a path needs its parameters', async (t) => {
  const stopping = new AbortController();
  const gone = await scripted(t, () => {
    stopping.abort(new Error('stopped'));
    return [503];
  });
  await t.throwsAsync(gone.client.call('GET /api/health', { signal: stopping.signal }));
  t.is(gone.tries(), 1);
  const file = await scripted(t, () => [200, '%PDF-1.7', 'application/pdf']);
  const params = { id: '1' };
  await t.throwsAsync(file.client.call('GET /api/jobs/{id}/output', { params }), { message: /response\(\)/ });
  t.is(await (await file.client.response('GET /api/jobs/{id}/output', { params })).text(), '%PDF-1.7');
  for (const id of ['', '.', '..'])
    await t.throwsAsync(file.client.call('GET /api/jobs/{id}', { params: { id } }), { message: /needs id/ });
  t.is(file.tries(), 2);
});
