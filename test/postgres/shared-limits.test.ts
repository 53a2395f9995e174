/** Rate limits of requests: all nodes of a service together admit what the settings say. */
import { request } from 'node:http';
import { openPostgresStore } from '@sealwright/runtime/postgres-parts';
import ava, { type ExecutionContext } from 'ava';
import pg from 'pg';
import { systemClock } from '#runtime/model/clock.js';
import { until } from '../actors/portal/service.ts';
import { SILENT } from '../actors/portal/uploads/upload-harness.ts';
import { Service, temporaryRoot } from '../service/service.ts';
import { withTools } from '../verifiers/tool.ts';
import { startServer } from './cluster.ts';

const test = withTools(ava, 'postgres');

const UPLOADS = 5;
const WINDOW_SECONDS = 3600;

interface Answer {
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly code: unknown;
}

/** Uploads a file from one address of this machine. */
function upload(node: Service, key: string, name: string, localAddress: string): Promise<Answer> {
  const boundary = 'limit';
  const body = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\n\r\n${name}\r\n--${boundary}--\r\n`;
  return new Promise((resolve, reject) => {
    const sent = request(
      `${node.url}/api/files`,
      {
        method: 'POST',
        localAddress,
        agent: false,
        headers: { 'X-API-Key': key, 'Content-Type': `multipart/form-data; boundary=${boundary}` },
      },
      (answer) => {
        let text = '';
        answer.on('data', (chunk: Buffer) => {
          text += chunk;
        });
        answer.on('error', reject);
        answer.on('end', () =>
          resolve({
            status: answer.statusCode ?? 0,
            retryAfter: answer.headers['retry-after'],
            code: (JSON.parse(text) as { code?: unknown }).code,
          }),
        );
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

/** Refusals say how long the window lasts. */
function checkRefused(t: ExecutionContext, answers: readonly Answer[]): void {
  for (const { status, retryAfter, code } of answers) {
    t.deepEqual([status, code], [429, 'rate-limited']);
    const seconds = Number(retryAfter);
    t.true(Number.isInteger(seconds) && seconds >= 1 && seconds <= WINDOW_SECONDS, retryAfter);
  }
}

test('the limits of a client are one limit of all nodes, also of a node that starts later', async (t) => {
  t.timeout(180_000);
  const cluster = await startServer();
  t.teardown(() => cluster.remove());
  const root = await temporaryRoot(t);
  const start = (node: string) =>
    Service.startOne(t, {
      root,
      settings: {
        'Runtime:Store': 'postgres',
        'Runtime:Postgres:Url': cluster.url,
        'Runtime:Postgres:PoolSize': 4,
        'Runtime:LeaseSeconds': 10,
        'Runtime:NodeName': node,
        'Runtime:Shards': 1,
        'Portal:Enabled': true,
        'Portal:Url': 'http://127.0.0.1:0',
        'RateLimiting:Enabled': true,
        'RateLimiting:Upload:PermitsPerWindow': UPLOADS,
        'RateLimiting:Upload:WindowSeconds': WINDOW_SECONDS,
        'RateLimiting:Actions:PermitsPerWindow': 2,
        'RateLimiting:Actions:WindowSeconds': 1,
        'RateLimiting:Actions:QueueLimit': 3,
      },
    });
  const nodes = [await start('node-1'), await start('node-2')];
  const key = await (nodes[0] as Service).key();
  let files = 0;
  const toEachNode = async (times: number, address: string) => {
    const asked: Promise<Answer>[] = [];
    for (let number = 0; number < times; number += 1)
      for (const node of nodes) {
        files += 1;
        asked.push(upload(node, key, `file-${files}.txt`, address));
      }
    const answers = await Promise.all(asked);
    return {
      admitted: answers.filter(({ status }) => status === 202),
      refused: answers.filter(({ status }) => status !== 202),
    };
  };

  const first = await toEachNode(4, '127.0.0.1');
  t.is(first.admitted.length, UPLOADS);
  t.is(first.refused.length, 8 - UPLOADS);
  checkRefused(t, first.refused);

  nodes.push(await start('node-3'));
  const full = await toEachNode(1, '127.0.0.1');
  t.is(full.refused.length, 3, 'each node refuses, also one that has admitted nothing');
  checkRefused(t, full.refused);

  const other = await toEachNode(2, '127.0.0.2');
  t.is(other.admitted.length, UPLOADS, 'another client has a limit of its own');
  checkRefused(t, other.refused);

  // The window of the first client ends.
  const client = new pg.Client({ connectionString: cluster.url, options: '-c search_path=sealwright' });
  await client.connect();
  t.teardown(() => client.end());
  const ended = await client.query(
    `UPDATE permits SET since = since - make_interval(secs => $1) WHERE name = 'upload/127.0.0.1'`,
    [WINDOW_SECONDS],
  );
  t.is(ended.rowCount, 1);
  const next = await toEachNode(3, '127.0.0.1');
  t.is(next.admitted.length, UPLOADS, 'a new window of all nodes');
  checkRefused(t, next.refused);
  checkRefused(t, (await toEachNode(1, '127.0.0.2')).refused);

  // Requests for links to sign in: ten a minute from one client, whichever node it asks.
  const asked = await Promise.all(
    Array.from({ length: 4 }, () => nodes).flatMap((all) =>
      all.map((node) =>
        fetch(`${node.portalUrl}/sign-in`, {
          method: 'POST',
          body: new URLSearchParams({ email: 'nobody@example.org' }),
        }),
      ),
    ),
  );
  t.deepEqual(asked.map(({ status }) => status).sort(), [
    ...Array<number>(10).fill(200),
    ...Array<number>(2).fill(429),
  ]);

  // Uploads have not used up the limit of actions, and actions above it wait on their node for a later window.
  const states = await Promise.all([...nodes, ...nodes].map((node) => node.fetch('/api/pipeline/state')));
  t.deepEqual(
    states.map(({ status }) => status),
    [200, 200, 200, 200, 200, 200],
  );
  await client.end();
  for (const node of nodes) t.is(await node.stop(), 0);
});

test('permits are kept as long as the longest window, also one of several days', async (t) => {
  const cluster = await startServer();
  t.teardown(() => cluster.remove());
  const windowSeconds = 3 * 86_400;
  const store = await openPostgresStore({
    url: cluster.url,
    schema: 'windows',
    poolSize: 2,
    statementTimeoutMs: 30_000,
    node: 'one',
    leaseSeconds: 10,
    longestWindowSeconds: windowSeconds,
    clock: systemClock,
    log: SILENT,
  });
  t.teardown(() => store.close());
  const take = (name: string) => store.nodes?.takePermit(name, 1, windowSeconds);
  for (const name of ['recent', 'over']) t.is(await take(name), 0);
  const client = new pg.Client({ connectionString: cluster.url, options: '-c search_path=windows' });
  await client.connect();
  t.teardown(() => client.end());
  const age = (name: string, days: number) =>
    client.query('UPDATE permits SET since = since - make_interval(days => $1) WHERE name = $2', [
      days,
      name,
    ]);
  await age('recent', 2);
  await age('over', 4);
  await until(async () => {
    const { rows } = await client.query(`SELECT FROM permits WHERE name = 'over'`);
    return rows.length === 0 ? true : undefined;
  });
  t.true(((await take('recent')) ?? 0) > 0, 'its window lasts another day');
  t.is(await take('over'), 0);
  // Settings have no upper limit; the numbers of the database have one.
  const most = Number.MAX_SAFE_INTEGER;
  for (const permits of [most, 2 ** 31 - 1])
    for (let request = 0; request < 2; request += 1)
      t.is(await store.nodes?.takePermit(`most of ${permits}`, permits, most), 0);
});
