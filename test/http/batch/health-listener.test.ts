import test from 'ava';
import { createHealthListener } from '../../../http/core/health-listener.ts';
import { RawClient } from '../harness.ts';

const READY = { status: 200, body: { status: 'Ready' } };
const AT = { host: '127.0.0.1', port: 0, readiness: async () => READY };

test('health and readiness are answered over HTTP/1.0 and HTTP/1.1 at their own address, and no other path is served', async (t) => {
  const answers = [READY, { status: 503, body: { status: 'NotReady' } }];
  const readiness = async () => answers.shift() ?? Promise.reject(new Error('The store is closed.'));
  const listener = createHealthListener({ ...AT, readiness });
  const { url } = await listener.listen();
  t.teardown(() => listener.close());
  const port = Number(new URL(url).port);
  for (const [request, wanted] of [
    ['GET /api/health HTTP/1.0\r\n\r\n', /^HTTP\/1\.1 200 OK\r\n[\s\S]*\r\n\r\n{"status":"Healthy"}$/],
    ['GET /api/health?x HTTP/1.1\r\nHost: x\r\n\r\n', /^HTTP\/1\.1 200 [\s\S]*{"status":"Healthy"}$/],
    ['HEAD /api/health HTTP/1.0\r\n\r\n', /^HTTP\/1\.1 200 [\s\S]*\r\n\r\n$/],
    ['POST /api/health HTTP/1.0\r\nContent-Length: 0\r\n\r\n', /^HTTP\/1\.1 405 /],
    ['GET /api/ready HTTP/1.0\r\n\r\n', /^HTTP\/1\.1 200 [\s\S]*{"status":"Ready"}$/],
    ['GET /api/ready HTTP/1.0\r\n\r\n', /^HTTP\/1\.1 503 [\s\S]*{"status":"NotReady"}$/],
    ['GET /api/ready HTTP/1.0\r\n\r\n', /^HTTP\/1\.1 503 [\s\S]*{"status":"NotReady"}$/],
    ['GET /api/jobs HTTP/1.0\r\n\r\n', /^HTTP\/1\.1 404 /],
    [`GET /${'x'.repeat(5000)} HTTP/1.0\r\n\r\n`, /^HTTP\/1\.1 431 /],
  ] as const) {
    const client = await RawClient.connect(port);
    await client.send(request);
    await client.whenClosed;
    t.regex(client.received, wanted, request.slice(0, 40));
  }
});

test('a port in use is reported as for the other listeners', async (t) => {
  const first = createHealthListener(AT);
  const { url } = await first.listen();
  t.teardown(() => first.close());
  const second = createHealthListener({ ...AT, port: Number(new URL(url).port) });
  await t.throwsAsync(second.listen(), { code: 'listen.failed' });
});
