import { execFile, fork } from 'node:child_process';
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import https from 'node:https';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import test from 'ava';
import { systemClock } from '#runtime/model/clock.js';
import { systemIds } from '#runtime/model/ids.js';
import { SimulatedClock } from '#runtime/testing/simulated-clock.js';
import { createBatchServer } from '../../../http/index.ts';
import { reached } from '../../project/waiting.ts';
import { openTestService } from '../batch/test-service.ts';
import { BASE_SETTINGS, KEY, RawClient, recorder, startServer } from '../harness.ts';

const run = promisify(execFile);

test('a port in use is refused with a code, also when another listener of the service has it', async (t) => {
  const { port, service } = await startServer(t);
  const second = createBatchServer({
    service,
    settings: { ...BASE_SETTINGS, port },
    clock: systemClock,
    ids: systemIds,
    log: recorder([]),
  });
  await t.throwsAsync(second.listen(), { code: 'listen.failed' });
  await second.close();
});

test('close waits for the current request, answers it, and refuses new ones', async (t) => {
  const { port, server, service, call } = await startServer(t);
  let open = () => {};
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  const asked = new Promise<void>((resolve) => {
    service.health.checks = async () => {
      resolve();
      await gate;
      return [];
    };
  });
  const idle = await RawClient.connect(port);
  await idle.send('GET /api/health HTTP/1.1\r\nHost: x\r\n\r\n');
  await idle.until(/Healthy/);
  const waiting = call('/api/ready');
  await asked;
  let closed = false;
  const closing = server.close().then(() => {
    closed = true;
  });
  await idle.send('GET /api/health HTTP/1.1\r\nHost: x\r\n\r\n');
  await idle.whenClosed;
  t.regex(idle.received, /503 Service Unavailable[\s\S]*Retry-After: 1[\s\S]*"code":"service\.busy"/);
  await t.throwsAsync(RawClient.connect(port), { code: 'ECONNREFUSED' });
  t.false(closed);
  open();
  t.is((await waiting).status, 200);
  await closing;
  await server.close();
});

test('close ends requests that are unanswered at the end of the shutdown time', async (t) => {
  const { server, service, call, lines } = await startServer(t, { shutdownTimeout: 20 });
  const asked = new Promise<void>((resolve) => {
    service.health.checks = () => {
      resolve();
      return new Promise(() => {});
    };
  });
  const waiting = t.throwsAsync(call('/api/ready'));
  await asked;
  await server.close();
  await waiting;
  t.like(
    lines.find(({ level }) => level === 'warn'),
    { properties: { Count: 1 } },
  );
});

test('close of a server that never listened returns at once', async (t) => {
  const service = await openTestService();
  t.teardown(() => service.remove());
  const server = createBatchServer({
    service,
    settings: BASE_SETTINGS,
    clock: systemClock,
    ids: systemIds,
    log: recorder([]),
  });
  await t.notThrowsAsync(server.close());
});

/** A request over TLS: its status, and who the certificate names. */
function askOverTls(url: string, agent: https.Agent): Promise<object> {
  return new Promise((resolve, reject) => {
    const request = https.get(`${url}/api/health`, { rejectUnauthorized: false, agent }, (answer) => {
      const { subject } = (answer.socket as TLSSocket).getPeerCertificate();
      const hsts = answer.headers['strict-transport-security'];
      answer.resume().once('end', () => resolve({ status: answer.statusCode, hsts, name: subject.CN }));
    });
    request.on('error', reject);
  });
}

for (const httpLibrary of ['auto', 'node'] as const) {
  test(`HTTPS is served directly, and a renewed certificate is taken up: ${httpLibrary}`, async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'sealwright-tls-'));
    t.teardown(() => rm(folder, { recursive: true, force: true }));
    const keyPath = join(folder, 'key.pem');
    const certificatePath = join(folder, 'cert.pem');
    const makeCertificate = (name: string) => {
      const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '1'];
      const files = ['-keyout', keyPath, '-out', certificatePath];
      return run('openssl', ['req', '-x509', ...kind, ...files, '-subj', `/CN=${name}`]);
    };
    await makeCertificate('first');
    const clock = new SimulatedClock();
    const { url, lines } = await startServer(t, { httpLibrary, tls: { certificatePath, keyPath } }, clock);
    t.true(url.startsWith('https://'));
    const agent = new https.Agent({ keepAlive: true, maxSockets: 1 });
    t.teardown(() => agent.destroy());
    const answer = (name: string) => ({ status: 200, hsts: 'max-age=63072000', name });
    const anew = () => askOverTls(url, new https.Agent({ maxCachedSessions: 0 }));
    const told = (text: RegExp) => {
      clock.advance(60_000);
      return reached(() => lines.some((line) => text.test(line.text)));
    };
    t.deepEqual(await askOverTls(url, agent), answer('first'));
    await makeCertificate('second');
    await told(/was renewed/);
    t.deepEqual(await anew(), answer('second'));
    t.deepEqual(await askOverTls(url, agent), answer('first'), 'An open connection goes on.');
    await reached(() => clock.pending > 0);
    await writeFile(certificatePath, 'no certificate');
    await told(/cannot be used/);
    t.deepEqual(await anew(), answer('second'));
  });
}

test('a 200 MB upload needs at most 64 MB more memory than a small one, and the process ends', async (t) => {
  const server = fork(fileURLToPath(new URL('upload-server.js', import.meta.url)), {
    stdio: ['ignore', 1, 2, 'ipc'],
  });
  t.teardown(() => server.kill('SIGKILL'));
  const exited = new Promise<number | string | null>((resolve) =>
    server.once('exit', (code, signal) => resolve(code ?? signal)),
  );
  const next = () =>
    Promise.race([
      new Promise<{ port: number; folder: string; peak: number }>((resolve) =>
        server.once('message', (message) => resolve(message as never)),
      ),
      exited.then((how) => Promise.reject(new Error(`The server ended with ${how}.`))),
    ]);
  const { port, folder } = await next();
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const measure = () => {
    const answer = next();
    server.send('measure');
    return answer;
  };
  // Compares peaks: the memory of small uploads (code, pools, uncollected garbage) is not that of a large one, and
  // differs between machines.
  for (let round = 0; round < 3; round += 1) t.regex(await uploadZeros(port, 16_000_000), /^HTTP\/1\.1 202 /);
  const before = await measure();
  const size = 200_000_000;
  t.regex(await uploadZeros(port, size), /^HTTP\/1\.1 202 /);
  const after = await measure();
  const sizes = await Promise.all(
    (await readdir(join(folder, 'input'))).map(
      async (name) => (await stat(join(folder, 'input', name))).size,
    ),
  );
  t.is(Math.max(...sizes), size);
  const added = (after.peak - before.peak) / 1024 / 1024;
  t.log(`${Math.round(before.peak / 1024 / 1024)} MB and ${Math.round(added)} MB more`);
  t.true(added < 64, `${added} MB`);
  server.send('close');
  t.is(await exited, 0);
});

/** Sends a file of this size as fast as the server reads it; returns the reply. */
async function uploadZeros(port: number, size: number): Promise<string> {
  const start = '--b\r\nContent-Disposition: form-data; name="file"; filename="big.bin"\r\n\r\n';
  const tail = '\r\n--b--\r\n';
  const socket = net.connect(port, '127.0.0.1');
  let received = '';
  const answered = new Promise<string>((resolve, reject) => {
    socket.on('error', reject);
    socket.on('close', () => reject(new Error(`The server closed the connection: ${received}`)));
    socket.on('data', (piece) => {
      received += piece.toString('latin1');
      if (received.includes('\r\n\r\n')) resolve(received);
    });
  });
  const write = (data: string | Uint8Array) =>
    new Promise<void>((resolve) => {
      socket.write(data, () => resolve());
    });
  await write(
    `POST /api/files HTTP/1.1\r\nHost: x\r\nX-API-Key: ${KEY}\r\nContent-Type: multipart/form-data; boundary=b\r\n` +
      `Content-Length: ${start.length + size + tail.length}\r\n\r\n${start}`,
  );
  const piece = Buffer.alloc(100_000);
  for (let sent = 0; sent < size; sent += piece.length) await write(piece);
  await write(tail);
  const answer = await answered;
  socket.destroy();
  return answer;
}
