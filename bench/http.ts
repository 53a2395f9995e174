/**
 * What the HTTP layer costs: requests a second of two routes beside a bare uWebSockets server that answers the
 * same number of bytes, in the same run, with the same client. One process serves, another one asks.
 *
 * Run: `node dist/bench/http.js [requests per target]`. Prints a table, then one line of JSON.
 */
import { fork } from 'node:child_process';
import net from 'node:net';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { createBatchServer, loadUws } from '../http/index.ts';
import { systemClock } from '../runtime/clock.ts';
import { systemIds } from '../runtime/ids.ts';
import { createMemoryService } from '../test/http/memory-service.ts';

const KEY = 'a-key-for-the-bench-0123456789';
const CONNECTIONS = 16;
const ROUNDS = 3;

interface Target {
  readonly name: string;
  readonly port: number;
  readonly path: string;
}

/** Asks over keep-alive connections, one request in flight on each; resolves with requests a second. */
async function ask(target: Target, requests: number): Promise<number> {
  const head = `GET ${target.path} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${KEY}\r\n\r\n`;
  let left = requests;
  const started = systemClock.elapsed();
  const connection = () =>
    new Promise<void>((resolve, reject) => {
      const socket = net.connect(target.port, '127.0.0.1');
      // All answers of a target have the same length, so the first one tells how to count the others.
      let answerLength = 0;
      let text = '';
      let received = 0;
      const next = () => {
        if (left === 0) {
          socket.destroy();
          resolve();
          return;
        }
        left -= 1;
        socket.write(head);
      };
      socket.on('error', reject);
      socket.on('connect', next);
      socket.on('data', (piece) => {
        received += piece.length;
        if (answerLength === 0) {
          text += piece.toString('latin1');
          const end = text.indexOf('\r\n\r\n');
          const length = /content-length: (\d+)/i.exec(text)?.[1];
          if (end < 0 || length === undefined) return;
          if (!text.startsWith('HTTP/1.1 200')) reject(new Error(text.slice(0, end)));
          answerLength = end + 4 + Number(length);
        }
        if (received < answerLength) return;
        received -= answerLength;
        next();
      });
    });
  await Promise.all(Array.from({ length: CONNECTIONS }, connection));
  return requests / ((systemClock.elapsed() - started) / 1000);
}

async function client(): Promise<void> {
  process.on('message', async ({ target, requests }: { target: Target; requests: number }) => {
    process.send?.(await ask(target, requests));
  });
}

async function serve(requests: number): Promise<void> {
  const service = await createMemoryService();
  const job = service.jobs.add();
  const quiet = { debug() {}, info() {}, warn() {}, error() {} };
  const window = { permits: 1, windowSeconds: 1 };
  const server = createBatchServer({
    service,
    settings: {
      host: '127.0.0.1',
      port: 0,
      apiKey: KEY,
      previousApiKey: '',
      apiKeyHeader: 'X-API-Key',
      cookieName: 'batch-auth',
      sessionHours: 8,
      allowedHosts: ['*'],
      requireHttps: false,
      forwarded: undefined,
      maxUploadBytes: 1_000_000,
      production: true,
      rateLimiting: { enabled: true, upload: window, actions: window },
      shutdownTimeout: 1000,
    },
    clock: systemClock,
    ids: systemIds,
    log: quiet,
  });
  const ours = Number(new URL((await server.listen()).url).port);
  const jobPath = `/api/jobs/${job.id}`;
  const jobText = await (
    await fetch(`http://127.0.0.1:${ours}${jobPath}`, { headers: { 'X-API-Key': KEY } })
  ).text();

  const uws = loadUws();
  const bareApp = uws.App();
  bareApp.any('/*', (response, request) => {
    response.end(request.getUrl() === '/api/health' ? '{"status":"Healthy"}' : jobText);
  });
  const bareSocket = await new Promise<Parameters<typeof uws.us_socket_local_port>[0]>((resolve, reject) => {
    bareApp.listen('127.0.0.1', 0, uws.LIBUS_LISTEN_EXCLUSIVE_PORT, (socket) =>
      socket === false ? reject(new Error('No port for the bare server.')) : resolve(socket),
    );
  });
  const bare = uws.us_socket_local_port(bareSocket);

  const asker = fork(fileURLToPath(import.meta.url), ['client']);
  const measure = (target: Target, count: number) =>
    new Promise<number>((resolve) => {
      asker.once('message', (rate) => resolve(rate as number));
      asker.send({ target, requests: count });
    });
  const targets: readonly Target[] = [
    { name: 'bare health', port: bare, path: '/api/health' },
    { name: 'health', port: ours, path: '/api/health' },
    { name: 'bare job', port: bare, path: jobPath },
    { name: 'job', port: ours, path: jobPath },
  ];
  // The best of several rounds: other work on the machine only ever takes away.
  const best = new Map<string, number>();
  for (const target of targets) await measure(target, Math.ceil(requests / 4));
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const target of targets) {
      const rate = await measure(target, requests);
      best.set(target.name, Math.max(rate, best.get(target.name) ?? 0));
    }
  }
  asker.disconnect();
  bareApp.close();
  await server.close();
  await service.remove();

  const rate = (name: string) => Math.round(best.get(name) ?? 0);
  const rows = [
    { route: 'GET /api/health', perSecond: rate('health'), bare: rate('bare health') },
    { route: 'GET /api/jobs/{id}', perSecond: rate('job'), bare: rate('bare job') },
  ].map((row) => ({ ...row, ratio: Math.round((row.perSecond / row.bare) * 100) / 100 }));
  console.table(rows);
  console.log(
    JSON.stringify({
      bench: 'http',
      at: new Date(systemClock.now()).toISOString(),
      node: process.version,
      cpu: cpus()[0]?.model,
      cores: cpus().length,
      connections: CONNECTIONS,
      requests,
      rows,
    }),
  );
}

if (process.argv[2] === 'client') await client();
else await serve(Number(process.argv[2] ?? 20_000));
