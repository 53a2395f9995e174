/** Tests both HTTP libraries. `Hosting__HttpLibrary=node` runs the other suites on the second one, too. */
import { randomBytes } from 'node:crypto';
import test from 'ava';
import { SimulatedClock } from '#runtime/testing/simulated-clock.js';
import { unavailableUws } from '../../../http/core/transport/uws.ts';
import { reached } from '../../project/waiting.ts';
import { KEY, RawClient, startServer, type TestServer } from '../harness.ts';

const LIBRARIES = ['auto', 'node'] as const;
const GET = (path: string, headers = '') => `GET ${path} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`;
const statuses = ({ received }: RawClient) =>
  [...received.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, code]) => code);

/** Replaces the readiness checks by ones that wait for the returned function. */
function hold({ service }: TestServer): { readonly asked: Promise<void>; readonly release: () => void } {
  let release = () => {};
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  const asked = new Promise<void>((resolve) => {
    service.health.checks = async () => {
      resolve();
      await gate;
      return [];
    };
  });
  return { asked, release };
}

for (const httpLibrary of LIBRARIES) {
  const start = (t: Parameters<typeof startServer>[0], more = {}) => startServer(t, { httpLibrary, ...more });

  test(`${httpLibrary}: requests that arrive together are answered in order while each is answered at once`, async (t) => {
    const { port } = await start(t);
    const client = await RawClient.connect(port);
    await client.send(GET('/api/health') + GET('/nowhere') + GET('/api/health', 'Connection: close\r\n'));
    await client.until(/(?:HTTP\/1\.1 [\s\S]*){3}\}$/);
    t.deepEqual(statuses(client), ['200', '404', '200']);
    client.reset();
  });

  test(`${httpLibrary}: a request before the answer to the previous one ends the connection`, async (t) => {
    const server = await start(t);
    const { asked, release } = hold(server);
    const client = await RawClient.connect(server.port);
    await client.send(GET('/api/ready'));
    await asked;
    await client.send(GET('/api/health'));
    await client.whenClosed;
    release();
    t.is(client.received, '');
  });

  test(`${httpLibrary}: a head of too many headers is refused, and the largest one is read`, async (t) => {
    const { port } = await start(t);
    for (const [count, status] of [
      [95, '200'],
      [200, '431'],
    ] as const) {
      const client = await RawClient.connect(port);
      await client.send(GET('/api/health', 'X-A: b\r\n'.repeat(count)));
      await client.until(/\r\n\r\n/);
      t.deepEqual(statuses(client), [status], `${count}`);
      client.reset();
    }
  });

  test(`${httpLibrary}: a request with two hosts is refused`, async (t) => {
    const { port } = await start(t, { allowedHosts: ['x'] });
    for (const [hosts, status] of [
      ['Host: x\r\nX-Host: y\r\n', '200'],
      ['Host: x\r\nHost: y\r\n', '400'],
    ] as const) {
      const client = await RawClient.connect(port);
      await client.send(`GET /api/health HTTP/1.1\r\n${hosts}\r\n`);
      await client.until(/\r\n\r\n/);
      t.deepEqual(statuses(client), [status], hosts);
      client.reset();
    }
  });

  test(`${httpLibrary}: the credentials are judged before the body arrives`, async (t) => {
    const { port } = await start(t);
    const client = await RawClient.connect(port);
    const head = 'POST /api/files HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=b\r\n';
    await client.send(`${head}Expect: 100-continue\r\nContent-Length: 100000\r\n\r\n`);
    await client.until(/HTTP\/1\.1 4/);
    t.is(statuses(client).at(-1), '401');
    client.reset();
  });

  test(`${httpLibrary}: a download that is not read waits for its client, and ends whole`, async (t) => {
    const { port, service } = await start(t);
    const job = await service.add();
    const bytes = randomBytes(3_000_000);
    await service.finish(job.id, bytes);
    const client = await RawClient.connect(port);
    client.socket.pause();
    await client.send(GET(`/api/jobs/${job.id}/output`, `X-API-Key: ${KEY}\r\nConnection: close\r\n`));
    t.is((await fetch(`http://127.0.0.1:${port}/api/health`)).status, 200);
    client.socket.resume();
    await client.whenClosed;
    t.true(Buffer.from(client.received.slice(-bytes.length), 'latin1').equals(bytes));
  });
}

test('node: chunk extensions, trailers, an empty first line and absolute targets are read', async (t) => {
  const { port } = await startServer(t, { httpLibrary: 'node', allowedHosts: ['x'] });
  const form =
    '--b\r\nContent-Disposition: form-data; name="file"; filename="a.pdf"\r\n\r\n%PDF-1.7 test\r\n--b--\r\n';
  const chunked = `${form.length.toString(16)};name="value";x\r\n${form}\r\n0;last\r\nX-Trailer: x\r\n\r\n`;
  const post = `POST /api/files HTTP/1.1\r\nHost: x\r\nX-API-Key: ${KEY}\r\nContent-Type: multipart/form-data; boundary=b\r\n`;
  for (const [request, status] of [
    [`${post}Transfer-Encoding: chunked\r\n\r\n${chunked}`, '202'],
    [`\r\n${GET('/api/health')}`, '200'],
    ['GET http://x/api/health?a=b HTTP/1.1\r\nHost: y\r\n\r\n', '200'],
    ['GET http://y/api/jobs HTTP/1.1\r\nHost: x\r\n\r\n', '400'],
    ['GET http://x HTTP/1.1\r\nHost: x\r\n\r\n', '302'],
    ['GET http://x@y/api/health HTTP/1.1\r\nHost: x\r\n\r\n', '404'],
  ] as const) {
    const client = await RawClient.connect(port);
    await client.send(request);
    await client.until(/\r\n\r\n/);
    t.deepEqual(statuses(client), [status], request);
    client.reset();
  }
});

test('node: a client that waits for 100 Continue gets it when its body is wanted', async (t) => {
  const { port } = await startServer(t, { httpLibrary: 'node' });
  const client = await RawClient.connect(port);
  const head = `POST /api/jobs/retry HTTP/1.1\r\nHost: x\r\nX-API-Key: ${KEY}\r\nContent-Type: application/json\r\n`;
  await client.send(`${head}Expect: 100-continue\r\nContent-Length: 2\r\n\r\n`);
  await client.until(/100 Continue/);
  await client.send('{}');
  await client.until(/HTTP\/1\.1 [245]/);
  t.is(statuses(client)[0], '100');
  t.not(statuses(client)[1], '100');
  client.reset();
});

test('node: a body that stops, or drips, is dropped after ten seconds', async (t) => {
  const connectionClock = new SimulatedClock();
  const server = await startServer(t, { httpLibrary: 'node', connectionClock });
  const head = `POST /api/files HTTP/1.1\r\nHost: x\r\nX-API-Key: ${KEY}\r\nContent-Type: multipart/form-data; boundary=b\r\n`;
  for (const path of ['/api/files', '/nowhere']) {
    const client = await RawClient.connect(server.port);
    await client.send(`${head.replace('/api/files', path)}Content-Length: 100000\r\n\r\n--b`);
    if (path === '/nowhere') await client.until(/404/);
    await reached(() => connectionClock.pending > 0);
    connectionClock.advance(9000);
    await client.send('\r\n');
    await server.call('/api/health');
    t.false(client.closed);
    connectionClock.advance(1000);
    await client.whenClosed;
  }
  t.is((await server.call('/api/health')).status, 200);
});

test('node: an idle connection is kept for the time of Hosting:KeepAliveSeconds, which clients are told', async (t) => {
  const connect = async ({ port }: TestServer) => {
    const client = await RawClient.connect(port);
    await client.send(GET('/api/health'));
    await client.until(/\r\n\r\n/);
    return client;
  };
  const kept = await connect(await startServer(t, { httpLibrary: 'node' }));
  t.regex(kept.received, /^Keep-Alive: timeout=38\r$/im);
  // It is the younger one, and ends first.
  const short = await connect(await startServer(t, { httpLibrary: 'node', keepAliveSeconds: 1 }));
  await short.whenClosed;
  t.false(kept.closed);
  await kept.send(GET('/api/health', 'Connection: close\r\n'));
  await kept.whenClosed;
  t.deepEqual(statuses(kept), ['200', '200']);
});

test('auto: a time for idle connections that the library ignores is named in a warning', async (t) => {
  const warned = async (keepAliveSeconds?: number) => {
    const { lines } = await startServer(t, { httpLibrary: 'auto', keepAliveSeconds });
    return lines.filter(({ text }) => text.startsWith('Hosting:KeepAliveSeconds has no effect')).length;
  };
  t.is(await warned(), 0);
  t.is(await warned(75), unavailableUws() === undefined ? 1 : 0);
});
