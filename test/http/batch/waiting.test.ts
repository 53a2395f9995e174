import { readFile } from 'node:fs/promises';
import test, { type ExecutionContext } from 'ava';
import { SimulatedClock } from '#runtime/testing/simulated-clock.js';
import type { RateWindow } from '../../../http/core/access/rate-limit.ts';
import { reached } from '../../project/waiting.ts';
import { ask, codeOf } from '../ask.ts';
import { form, KEY, pdf, RawClient, startServer, type TestServer } from '../harness.ts';

const ONE_WAITS: RateWindow = { permits: 1, windowSeconds: 60, queueLimit: 1 };

async function start(t: ExecutionContext) {
  const clock = new SimulatedClock();
  const server = await startServer(
    t,
    { rateLimiting: { enabled: true, upload: ONE_WAITS, actions: ONE_WAITS } },
    clock,
  );
  return { ...server, clock };
}

/** Turns the event loop until the condition holds. */
async function until(isSo: () => boolean): Promise<void> {
  await reached(isSo);
}

const state = ({ port }: TestServer) =>
  ask(port, 'GET', { path: '/api/pipeline/state', headers: { 'X-API-Key': KEY } });

test('a request over the permits waits for the next window, and one over the queue limit is refused', async (t) => {
  const server = await start(t);
  t.is((await state(server)).status, 200);
  const waiting = state(server);
  await until(() => server.clock.pending === 1);
  const refused = await state(server);
  t.deepEqual([codeOf(refused), refused.headers['retry-after']], ['rate-limited', '60']);
  server.clock.advance(60_000);
  t.is((await waiting).status, 200);
});

test('an upload that waits keeps its bytes', async (t) => {
  const server = await start(t);
  const upload = (content: string) => {
    const body = form([['file', pdf(content)]]);
    return server.call('/api/files', { method: 'POST', body });
  };
  t.is((await upload('first')).status, 202);
  const content = `%PDF-1.7 ${'x'.repeat(500_000)}`;
  const waiting = upload(content);
  // A body in several pieces has a timer, too; the limit is asked before the body is read.
  await until(() => server.clock.pending >= 1);
  server.clock.advance(60_000);
  const answer = await waiting;
  t.is(answer.status, 202);
  const { originalPath } = (await answer.json()) as { originalPath: string };
  t.is(await readFile(originalPath, 'utf8'), content);
});

test('a client that disconnects while it waits frees its place and uses no permit', async (t) => {
  const server = await start(t);
  t.is((await state(server)).status, 200);
  const client = await RawClient.connect(server.port);
  await client.send(`GET /api/pipeline/state HTTP/1.1\r\nHost: x\r\nX-API-Key: ${KEY}\r\n\r\n`);
  await until(() => server.clock.pending === 1);
  client.reset();
  await until(() => server.seen.some(({ status }) => status === 0));
  const two = [state(server), state(server)];
  const refused = await Promise.race(two);
  t.is(refused.status, 429, 'the queue holds one of them');
  server.clock.advance(60_000);
  const statuses = (await Promise.all(two)).map(({ status }) => status);
  t.deepEqual(statuses.sort(), [200, 429]);
});

test('a waiting request is answered at once when the service stops', async (t) => {
  const server = await start(t);
  t.is((await state(server)).status, 200);
  const waiting = state(server);
  await until(() => server.clock.pending === 1);
  await server.server.close();
  const answer = await waiting;
  t.deepEqual([answer.status, codeOf(answer)], [503, 'service.busy']);
});
