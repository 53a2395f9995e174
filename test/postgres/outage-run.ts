/**
 * Measures what clients of three nodes behind a plain balancer see when something ends:
 * `node dist/test/postgres/outage-run.js [--lease-seconds 5]`. Prints a line for each event: requests that failed, the
 * time from the first to the last of them, and the slowest answer.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Service } from '../service/service.ts';
import { startBalancer } from './balancer.ts';
import { startServer } from './cluster.ts';

const { values } = parseArgs({ options: { 'lease-seconds': { type: 'string', default: '5' } } });
const leaseSeconds = Number(values['lease-seconds']);

/** Milliseconds between two requests, and for how long they are sent before and after the event. */
const EVERY_MS = 50;
const BEFORE_MS = 3_000;
const AFTER_MS = leaseSeconds * 2_000 + 2_000;
const TIMEOUT_MS = 30_000;

interface Request {
  readonly what: 'read' | 'upload';
  readonly begun: number;
  readonly tookMs: number;
  /** Undefined: no answer. */
  readonly status: number | undefined;
}

const cluster = await startServer();
if (cluster === undefined) throw new Error('PostgreSQL 15 or newer is missing.');
const root = await mkdtemp(join(tmpdir(), 'sealwright-outage-'));
const tasks: (() => unknown)[] = [];
const start = (name: string) =>
  Service.startOne(
    { teardown: (task) => void tasks.push(task) },
    {
      root,
      settings: {
        'Runtime:Store': 'postgres',
        'Runtime:Postgres:Url': cluster.url,
        'Runtime:LeaseSeconds': leaseSeconds,
        'Runtime:NodeName': name,
        'Runtime:Shards': 1,
      },
    },
  );
const nodes = new Map<string, Service>();
for (const name of ['node-1', 'node-2', 'node-3']) nodes.set(name, await start(name));
/** Nodes that a health check has taken out. */
const out = new Set<string>();
const balancer = await startBalancer(() =>
  [...nodes].filter(([name]) => !out.has(name)).map(([, { url }]) => Number(new URL(url).port)),
);
const one = () => nodes.get('node-1') as Service;
const key = await one().key();

async function ask(what: Request['what'], number: number): Promise<Request> {
  const begun = performance.now();
  const status = await (async () => {
    const form = new FormData();
    form.set('file', new Blob([`text ${number}`]), `${number}.txt`);
    const url = `http://127.0.0.1:${balancer.port}/api/${what === 'read' ? 'jobs?pageSize=1' : 'files'}`;
    const response = await fetch(url, {
      headers: { 'X-API-Key': key, Connection: 'close' },
      signal: AbortSignal.timeout(TIMEOUT_MS),
      ...(what === 'upload' && { method: 'POST', body: form }),
    });
    await response.text();
    return response.status;
  })().catch(() => undefined);
  return { what, begun, tookMs: performance.now() - begun, status };
}

let sent = 0;
async function observe(event: string, happen: () => Promise<void>): Promise<void> {
  const pending: Promise<Request>[] = [];
  let isOver = false;
  const sending = (async () => {
    while (!isOver) {
      sent += 1;
      pending.push(ask(sent % 4 === 0 ? 'upload' : 'read', sent));
      await sleep(EVERY_MS);
    }
  })();
  await sleep(BEFORE_MS);
  await happen();
  await sleep(AFTER_MS);
  isOver = true;
  await sending;
  const requests = await Promise.all(pending);
  const failed = requests.filter(({ status }) => status === undefined || status >= 400);
  const answered = requests.filter((request) => !failed.includes(request));
  const begins = failed.map(({ begun }) => begun);
  const window = failed.length === 0 ? 0 : Math.max(...begins) - Math.min(...begins);
  const slowest = Math.max(...answered.map(({ tookMs }) => tookMs));
  const codes = [...new Set(failed.map(({ status }) => status ?? 'cut off'))].join(', ');
  console.log(
    `${event}: ${failed.length} of ${requests.length} failed (${codes}), over ${Math.round(window)} ms; slowest answer ${Math.round(slowest)} ms`,
  );
}

/** Waits until the node is no longer among the living ones; prints how long. */
async function takenOver(name: string): Promise<void> {
  const begun = performance.now();
  await one().until(`${name} to be gone`, async () => {
    const { nodes: living } = await one().json<{ nodes: { name: string }[] }>('/api/runtime');
    return living.some((node) => node.name === name) ? undefined : true;
  });
  console.log(`  taken over after ${Math.round(performance.now() - begun)} ms`);
}

await observe('nothing happens', async () => {});
await observe('a node is killed', async () => {
  await nodes.get('node-2')?.kill();
  await takenOver('node-2');
});
nodes.set('node-2', await start('node-2'));
await observe('a node is suspended, and the balancer drops it after 2 s', async () => {
  const node = nodes.get('node-3') as Service;
  node.suspend();
  const taken = takenOver('node-3');
  await sleep(2000);
  out.add('node-3');
  await taken;
  node.resume();
  await node.gone;
});
nodes.set('node-3', await start('node-3'));
out.clear();
await observe('a node is drained', async () => {
  await fetch(`${one().url}/api/runtime/nodes/node-2/drain`, {
    method: 'POST',
    headers: { 'X-API-Key': key },
  });
  await nodes.get('node-2')?.gone;
});
nodes.set('node-2', await start('node-2'));
await observe('the database crashes and starts again', async () => {
  const begun = performance.now();
  await cluster.stop('immediate');
  await cluster.start();
  console.log(`  away for ${Math.round(performance.now() - begun)} ms`);
});
await observe('the database is away for 5 s', async () => {
  await cluster.stop('fast');
  await sleep(5000);
  await cluster.start();
});
await balancer.close();
for (const task of tasks.reverse()) await task();
await cluster.remove();
await rm(root, { recursive: true, force: true });
