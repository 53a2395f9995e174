/** Three nodes behind a balancer: addresses of clients in limits that the nodes share, in evidence and in the history. */
import { connect } from 'node:net';
import anyTest, { type ExecutionContext, type TestFn } from 'ava';
import { SAMPLE } from '../actors/portal/service.ts';
import { Service, temporaryRoot } from '../service/service.ts';
import { withTools } from '../verifiers/tool.ts';
import { startBalancer } from './balancer.ts';
import { startServer } from './cluster.ts';

const SECRET = 'ab'.repeat(32);
const PERMITS = 4;
const WINDOW_SECONDS = 3600;
/** Addresses of clients, as the balancer gives them. */
const ANN = '192.0.2.1';
const BOB = '192.0.2.2';
const EVE = '2001:db8:1:2::3';

interface ClusterFixture {
  readonly nodes: readonly [Service, Service, Service];
  /** Addresses of balancers before both services; each connection reaches the next node. */
  readonly batch: string;
  readonly portal: string;
}

const test = withTools(anyTest as TestFn<ClusterFixture>, 'postgres');
const tasks: (() => unknown)[] = [];
const teardown = (task: () => unknown) => void tasks.push(task);
const portOf = (url: string) => Number(new URL(url).port);

test.before(async (t) => {
  const cluster = await startServer();
  teardown(() => cluster.remove());
  const root = await temporaryRoot({ teardown });
  const start = (name: string) =>
    Service.startOne(
      { teardown },
      {
        root,
        settings: {
          'Runtime:Store': 'postgres',
          'Runtime:Postgres:Url': cluster.url,
          'Runtime:Postgres:PoolSize': 4,
          'Runtime:LeaseSeconds': 5,
          'Runtime:NodeName': name,
          'Runtime:Shards': 1,
          'RateLimiting:Enabled': true,
          'RateLimiting:Upload:PermitsPerWindow': PERMITS,
          'RateLimiting:Upload:WindowSeconds': WINDOW_SECONDS,
          'Hosting:ForwardedHeaders:Enabled': true,
          'Hosting:ForwardedHeaders:KnownProxies:0': '127.0.0.1',
          'Portal:Enabled': true,
          'Portal:Bootstrap:Organization': 'Acme',
          'Portal:Bootstrap:Application': 'App',
          'Portal:Bootstrap:Secret': SECRET,
        },
      },
    );
  const nodes = [await start('node-1'), await start('node-2'), await start('node-3')] as const;
  const before = async (port: (node: Service) => number) => {
    const balancer = await startBalancer(() => nodes.map(port));
    teardown(() => balancer.close());
    return `http://127.0.0.1:${balancer.port}`;
  };
  const batch = await before(({ url }) => portOf(url));
  const portal = await before(({ portalUrl }) => portOf(portalUrl));
  t.context = { nodes, batch, portal };
});

test.after.always(async () => {
  for (const task of tasks.reverse()) await task();
});

/** Runs `check` on the nodes. */
function onNodes(
  title: string,
  check: (t: ExecutionContext<ClusterFixture>, nodes: readonly [Service, Service, Service]) => Promise<void>,
): void {
  test.serial(title, async (t) => {
    t.timeout(120_000);
    const { nodes } = t.context;
    await check(t, nodes);
  });
}

/** Uploads a file as this client through the balancer of the batch service, or to the node given. */
async function upload(t: ExecutionContext<ClusterFixture>, client: string, to?: Service): Promise<Response> {
  // In one piece with its head: a connection that closes after a refusal may lose the reply while more is sent.
  const body =
    '--b\r\nContent-Disposition: form-data; name="file"; filename="text.txt"\r\n\r\ntext\r\n--b--\r\n';
  return fetch(`${to?.url ?? t.context.batch}/api/files`, {
    method: 'POST',
    body,
    headers: {
      'Content-Type': 'multipart/form-data; boundary=b',
      'X-API-Key': (await t.context.nodes?.[0].key()) ?? '',
      'X-Forwarded-For': client,
      Connection: 'close',
    },
  });
}

onNodes('each client has one limit at all nodes together', async (t, nodes) => {
  for (const client of [ANN, BOB, EVE]) {
    // The client wrote the first address itself.
    for (let at = 0; at < PERMITS; at += 1) t.is((await upload(t, `${BOB}, ${client}`)).status, 202);
    for (const node of nodes) {
      const refused = await upload(t, client, node);
      t.is(refused.status, 429);
      const seconds = Number(refused.headers.get('Retry-After'));
      t.true(seconds > 0 && seconds <= WINDOW_SECONDS, `${seconds}`);
    }
  }
  t.is((await upload(t, '2001:db8:1:2:ffff::4')).status, 429, 'one network of IPv6 is one client');
  t.is((await upload(t, '2001:db8:1:3::3')).status, 202);
});

onNodes('history and evidence have the address of each client, whichever node it reached', async (t) => {
  const call = async <Body>(client: string, path: string, body?: object): Promise<Body> => {
    const isForm = body instanceof FormData;
    const answer = await fetch(`${t.context.portal}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        'X-Api-Key': `App|${SECRET}`,
        'X-Forwarded-For': client,
        Connection: 'close',
        ...(!isForm && body && { 'Content-Type': 'application/json' }),
      },
      ...(body && { body: isForm ? body : JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${text}`);
    return (text === '' ? undefined : JSON.parse(text)) as Body;
  };
  const form = new FormData();
  form.set('content', new Blob([new Uint8Array(SAMPLE.content)], { type: SAMPLE.type }), SAMPLE.name);
  const file = await call<{ id: string }>(ANN, '/api/uploads', form);
  const user = { name: 'ann', email: 'ann@example.com', identifier: 'ann' };
  const [made] = await call<{ documentId: string }[]>(ANN, '/api/documents', {
    files: [{ ...file, displayName: SAMPLE.name }],
    flowActions: [{ type: 'Signer', step: 1, allowElectronicSignature: true, user }],
  });
  const path = `/api/documents/${made?.documentId}`;
  interface Detail {
    readonly status: string;
    readonly flowActions: readonly { readonly id: string; readonly status: string }[];
  }
  let detail = await call<Detail>(ANN, path);
  while (detail.flowActions[0]?.status !== 'Pending') detail = await call<Detail>(ANN, path);
  await call(BOB, `${path}/electronic-signature`, { flowActionId: detail.flowActions[0]?.id });
  while (detail.status !== 'Concluded') detail = await call<Detail>(ANN, path);
  const { items } = await call<{ items: { type: string; ipAddress: string | null }[] }>(
    EVE,
    `${path}/history`,
  );
  const addressOf = (type: string) => items.find((entry) => entry.type === type)?.ipAddress;
  t.is(addressOf('Created'), ANN);
  t.is(addressOf('Signed'), BOB);
  const { signers } = await call<{ signers: { evidences?: { ipAddress?: string } }[] }>(
    EVE,
    `${path}/signatures-details`,
  );
  t.is(signers[0]?.evidences?.ipAddress, BOB);
});

/** Sends bytes, and resolves with everything that is answered until the connection is closed. */
function exchange(port: number, bytes: Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
    let text = '';
    socket.setEncoding('latin1');
    socket.on('data', (more) => {
      text += more;
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(text));
    socket.setTimeout(60_000, () => socket.destroy(new Error(`no end after ${JSON.stringify(text)}`)));
  });
}

/** A PROXY header of version 2 for a client with this address. */
function binaryHeader(client: string): Buffer {
  const header = Buffer.alloc(28);
  header.write('0d0a0d0a000d0a515549540a', 'hex');
  // Version 2 and PROXY; TCP over IPv4; 12 bytes of addresses and ports.
  header.set([0x21, 0x11, 0, 12, ...client.split('.').map(Number), 127, 0, 0, 1], 12);
  return header;
}

onNodes('an address in a header of the PROXY protocol is not believed', async (t, [one]) => {
  const other = '192.0.2.77';
  const lines = [
    'Host: localhost',
    `X-API-Key: ${await one.key()}`,
    'Content-Length: 0',
    'Connection: close',
  ];
  const request = Buffer.from(`POST /api/pipeline/resume HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
  const text = Buffer.from(`PROXY TCP4 ${other} 127.0.0.1 5000 80\r\n`);
  const refused = await exchange(portOf(one.url), Buffer.concat([text, request]));
  t.regex(refused, /^HTTP\/1\.1 (400|505) /);
  // The HTTP library skips version 2.
  const answer = await exchange(portOf(one.url), Buffer.concat([binaryHeader(other), request]));
  if (answer !== '') t.regex(answer, /^HTTP\/1\.1 (200|400|505) /);
  await one.json('/api/pipeline/state');
  const clients = one.printed.matchAll(/Route: "\/api\/pipeline\/resume".*?Client: "([^"]*)"/g);
  for (const [, client] of clients) t.is(client, '127.0.0.1');
  t.false(one.printed.includes(other));
});
