import { randomBytes } from 'node:crypto';
import net from 'node:net';
import test from 'ava';
import { reached } from '../../project/waiting.ts';
import { KEY, RawClient, startServer } from '../harness.ts';

const GET = (path: string, headers = '') => `GET ${path} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`;

test('garbage, old versions and contradictory lengths are refused and the server continues', async (t) => {
  const { port, url } = await startServer(t);
  for (const [text, status] of [
    ['GET / HTTP/1.1\r\n\r\n', 400],
    ['GET / HTTP/1.0\r\nHost: x\r\n\r\n', 505],
    ['POST /api/files HTTP/1.1\r\nHost: x\r\nContent-Length: abc\r\n\r\n', 400],
    ['POST /api/files HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n', 400],
    ['POST /api/files HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n', 400],
    ['POST /api/files HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 5\r\n\r\nabcde', 400],
    ['GET /api/health HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nContent-Length: 5\r\n\r\nabcde', 400],
    ['GET /api/health HTTP/1.1\r\nHost: x\r\nContent-Length:\r\n\r\n', 400],
    ['POST /api/files HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\nabc', 400],
    [
      'POST /api/files HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n',
      400,
    ],
    [
      'POST /api/files HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n',
      400,
    ],
  ] as const) {
    const client = await RawClient.connect(port);
    await client.send(text);
    await client.whenClosed;
    t.regex(client.received, new RegExp(`^HTTP/1\\.1 ${status} `), text);
    t.is(client.received.split('HTTP/1.1 ').length, 2, text);
  }
  for (const rude of [randomBytes(2000), Buffer.alloc(2000), Buffer.from('\r\n\r\n\r\n')]) {
    const client = await RawClient.connect(port);
    await client.send(rude);
    client.reset();
  }
  t.is((await fetch(`${url}/api/health`)).status, 200);
});

test('what stands where the body may be is never read as a request', async (t) => {
  const { port } = await startServer(t);
  const hidden = GET('/api/health');
  for (const [first, second] of [
    ['', `${hidden.length}`],
    ['0', `${hidden.length}`],
  ]) {
    const client = await RawClient.connect(port);
    const lengths = `Content-Length: ${first}\r\nContent-Length: ${second}\r\n`;
    await client.send(GET('/api/health', lengths) + hidden);
    await client.whenClosed;
    t.notRegex(client.received, /200 OK|Healthy/);
  }
  for (const method of ['GET', 'HEAD']) {
    const client = await RawClient.connect(port);
    const lengths = `Content-Length: 0\r\nContent-Length: ${hidden.length}\r\n`;
    await client.send(GET('/api/health', lengths).replace('GET', method));
    await client.until(/^HTTP\/1\.1 400 [\s\S]*\r\n\r\n/);
    await client.send(hidden);
    await client.whenClosed;
    t.notRegex(client.received, /200 OK|Healthy/, method);
  }
});

test('heads up to 16 KiB are read, and larger ones are refused with 431', async (t) => {
  const { port } = await startServer(t);
  const large = await RawClient.connect(port);
  await large.send(GET('/api/health', `X: ${'a'.repeat(12_000)}\r\n`));
  await large.until(/Healthy/);
  t.regex(large.received, /^HTTP\/1\.1 200 /);
  large.reset();
  for (const head of [`X: ${'a'.repeat(20_000)}\r\n`, 'X: a\r\n'.repeat(5000)]) {
    const client = await RawClient.connect(port);
    await client.send(GET('/api/health', head));
    await client.whenClosed;
    t.regex(client.received, /^HTTP\/1\.1 431 /);
  }
});

test('a request that arrives byte by byte is answered', async (t) => {
  const { port, service } = await startServer(t);
  const job = await service.add();
  const client = await RawClient.connect(port);
  for (const byte of GET(`/api/jobs/${job.id}`, `X-API-Key: ${KEY}\r\n`)) await client.send(byte);
  await client.until(/"history"/);
  t.regex(client.received, /^HTTP\/1\.1 200 /);
  client.reset();
});

test('pipelined requests on a connection are answered in order', async (t) => {
  const { port } = await startServer(t);
  const client = await RawClient.connect(port);
  for (let round = 1; round <= 20; round += 1) {
    await client.send(GET(round % 2 === 0 ? '/api/health' : '/api/ready'));
    await client.until(new RegExp(`(?:HTTP/1\\.1 200[\\s\\S]*?\\}){${round}}$`));
  }
  t.is(client.received.match(/HTTP\/1\.1 200/g)?.length, 20);
  const answers = [...client.received.matchAll(/\{"status":"(Healthy|Ready)"/g)].map(([, status]) => status);
  t.deepEqual(answers, Array.from({ length: 10 }, () => ['Ready', 'Healthy']).flat());
  client.reset();
});

test('a client that disconnects before its answer harms nothing', async (t) => {
  const { port, call, service, seen } = await startServer(t);
  let open = () => {};
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  let asked = 0;
  service.health.checks = async () => {
    asked += 1;
    await gate;
    return [];
  };
  const clients = await Promise.all(Array.from({ length: 20 }, () => RawClient.connect(port)));
  await Promise.all(clients.map((client) => client.send(GET('/api/ready'))));
  await reached(() => asked >= 20);
  for (const client of clients) client.reset();
  await Promise.all(clients.map(({ whenClosed }) => whenClosed));
  await call('/api/health');
  open();
  const gone = () => seen.filter(({ route, status }) => route === '/api/ready' && status === 0).length;
  await reached(() => gone() >= 20);
  t.is((await call('/api/ready')).status, 200);
});

test('a client that disconnects in the middle of a download harms nothing', async (t) => {
  const { port, call, service, seen } = await startServer(t);
  const job = await service.add();
  await service.finish(job.id, randomBytes(8_000_000));
  for (let round = 0; round < 10; round += 1) {
    const client = await RawClient.connect(port);
    await client.send(GET(`/api/jobs/${job.id}/output`, `X-API-Key: ${KEY}\r\n`));
    await client.until(/Content-Disposition/);
    client.reset();
    await client.whenClosed;
  }
  const ended = () => seen.filter(({ route }) => route === '/api/jobs/{id}/output').length;
  await reached(() => ended() >= 10);
  const whole = await call(`/api/jobs/${job.id}/output`);
  t.is((await whole.arrayBuffer()).byteLength, 8_000_000);
});

test('a slow reader receives every byte of a download, without buffering in memory', async (t) => {
  const { port, service } = await startServer(t);
  const job = await service.add();
  const bytes = randomBytes(6_000_000);
  await service.finish(job.id, bytes);
  const client = await RawClient.connect(port);
  const pieces: Buffer[] = [];
  client.socket.on('data', (piece) => {
    pieces.push(piece);
    // Every chunk is accepted one turn later, so that the sender finds the socket full repeatedly.
    client.socket.pause();
    setImmediate(() => client.socket.resume());
  });
  await client.send(GET(`/api/jobs/${job.id}/output`, `X-API-Key: ${KEY}\r\nConnection: close\r\n`));
  await client.whenClosed;
  const received = Buffer.concat(pieces);
  t.true(received.subarray(received.indexOf('\r\n\r\n') + 4).equals(bytes));
});

test('a client that sends requests and never reads is disconnected, and one that reads late receives every byte', async (t) => {
  const { port, url } = await startServer(t);
  const headers = { 'X-API-Key': KEY };
  const text = await (await fetch(`${url}/openapi/v1.json`, { headers })).text();
  const ask = GET('/openapi/v1.json', `X-API-Key: ${KEY}\r\n`);
  const asked = 200;
  /** Bytes received in all, by a client that begins to read after everybody else was answered. */
  const received = async (requests: number, isEnough: (bytes: number) => boolean) => {
    const socket = net.connect(port, '127.0.0.1');
    socket.on('error', () => {});
    socket.pause();
    socket.write(ask.repeat(requests));
    t.is((await fetch(`${url}/api/health`)).status, 200);
    let bytes = 0;
    await new Promise<void>((resolve) => {
      socket.on('close', () => resolve());
      socket.on('data', (chunk) => {
        bytes += chunk.length;
        if (isEnough(bytes)) resolve();
      });
      socket.resume();
    });
    socket.destroy();
    return bytes;
  };
  const all = asked * text.length;
  const got = await received(asked, (bytes) => bytes >= all);
  t.true(got < all / 2, `${got} bytes of ${all} were kept for it`);
  t.true((await received(1, (bytes) => bytes >= text.length)) >= text.length);
});

test('the answer to a body of unknown members names at most twenty and stays small', async (t) => {
  const { call } = await startServer(t);
  const names = Array.from({ length: 1200 }, (_, index) => [`a${index}`, 1]);
  const answer = await call('/api/jobs/retry', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(Object.fromEntries(names)),
  });
  t.is(answer.status, 400);
  const text = await answer.text();
  t.is(Object.keys(JSON.parse(text).errors).length, 20);
  t.true(text.length < 16 * 1024);
});
