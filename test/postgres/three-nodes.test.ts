/** One service of three nodes: what is done at one of them holds at the others at once. */
import anyTest, { type ExecutionContext, type TestFn } from 'ava';
import { headersOf, type Relay, startRelay } from '../actors/portal/mails/relay.ts';
import { SAMPLE } from '../actors/portal/service.ts';
import { type Receiver, startReceiver } from '../actors/portal/webhooks/receiver.ts';
import { ask, logIn } from '../http/ask.ts';
import { reached } from '../project/waiting.ts';
import { Service, temporaryRoot } from '../service/service.ts';
import { withTools } from '../verifiers/tool.ts';
import { startBalancer } from './balancer.ts';
import { startServer } from './cluster.ts';

const NODES = ['node-1', 'node-2', 'node-3'] as const;
const SECRET = 'ab'.repeat(32);
const LEASE_SECONDS = 4;

interface ClusterFixture {
  readonly nodes: readonly [Service, Service, Service];
  /** Address of a balancer before all portals. */
  readonly portal: string;
  /** Hears from all nodes what happens to documents. */
  readonly receiver: Receiver;
  readonly relay: Relay;
  /** Starts the node of this number, from 0. */
  start(at: number): Promise<Service>;
}

const test = withTools(anyTest as TestFn<ClusterFixture>, 'postgres');
const tasks: (() => unknown)[] = [];
const portOf = (url: string) => Number(new URL(url).port);

test.before(async (t) => {
  const teardown = (task: () => unknown) => void tasks.push(task);
  const receiver = await startReceiver({ teardown });
  const relay = await startRelay({ teardown });
  const cluster = await startServer();
  teardown(() => cluster.remove());
  const root = await temporaryRoot({ teardown });
  const start = (at: number) =>
    Service.startOne(
      { teardown },
      {
        root,
        settings: {
          'Runtime:Store': 'postgres',
          'Runtime:Postgres:Url': cluster.url,
          'Runtime:Postgres:PoolSize': 4,
          'Runtime:LeaseSeconds': LEASE_SECONDS,
          'Runtime:NodeName': NODES[at] ?? '',
          'Runtime:Shards': 1,
          'Pipeline:MaxConcurrency': 2,
          'Portal:Enabled': true,
          'Portal:Bootstrap:Organization': 'Acme',
          'Portal:Bootstrap:Application': 'App',
          'Portal:Bootstrap:Secret': SECRET,
          'Portal:Organizations:0:Name': 'Acme',
          'Portal:Organizations:0:Webhook:Url': `${receiver.url}/documents`,
          'Portal:Organizations:0:Webhook:AuthType': 'Bearer',
          'Portal:Organizations:0:Webhook:Token': 'three',
          'Portal:WebhookAllowPrivate': true,
          'Portal:Smtp:Host': '127.0.0.1',
          'Portal:Smtp:Port': relay.port,
          'Portal:Smtp:From': 'portal@example.test',
        },
      },
    );
  const nodes = [await start(0), await start(1), await start(2)] as const;
  const balancer = await startBalancer(() => nodes.map(({ portalUrl }) => portOf(portalUrl)));
  teardown(() => balancer.close());
  t.context = { nodes, portal: `http://127.0.0.1:${balancer.port}`, receiver, relay, start };
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
    t.timeout(180_000);
    const { nodes } = t.context;
    await check(t, nodes);
  });
}

/** Calls the portal; each call reaches the next node. */
async function call<Body>(t: ExecutionContext<ClusterFixture>, path: string, body?: object): Promise<Body> {
  const isForm = body instanceof FormData;
  const answer = await fetch(`${t.context.portal}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      'X-Api-Key': `App|${SECRET}`,
      Connection: 'close',
      ...(!isForm && body && { 'Content-Type': 'application/json' }),
    },
    ...(body && { body: isForm ? body : JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${text}`);
  return (text === '' ? undefined : JSON.parse(text)) as Body;
}

onNodes('a document is made, signed and concluded by calls that each reach another node', async (t) => {
  const form = new FormData();
  form.set('content', new Blob([new Uint8Array(SAMPLE.content)], { type: SAMPLE.type }), SAMPLE.name);
  const upload = await call<{ id: string }>(t, '/api/uploads', form);
  const signer = (name: string, step: number) => ({
    type: 'Signer',
    step,
    allowElectronicSignature: true,
    user: { name, email: `${name}@example.com`, identifier: name },
  });
  const [made] = await call<{ documentId: string }[]>(t, '/api/documents', {
    files: [{ ...upload, displayName: SAMPLE.name }],
    flowActions: [signer('ann', 1), signer('bob', 2)],
  });
  interface Detail {
    readonly status: string;
    readonly flowActions: readonly { readonly id: string; readonly status: string }[];
  }
  const detail = () => call<Detail>(t, `/api/documents/${made?.documentId}`);
  for (const at of [0, 1]) {
    let actions = (await detail()).flowActions;
    while (actions[at]?.status !== 'Pending') actions = (await detail()).flowActions;
    await call(t, `/api/documents/${made?.documentId}/electronic-signature`, {
      flowActionId: actions[at]?.id,
    });
    t.is((await detail()).flowActions[at]?.status, 'Completed', 'the next node knows at once');
  }
  let { status } = await detail();
  while (status !== 'Concluded') ({ status } = await detail());
  const { totalCount } = await call<{ totalCount: number }>(t, '/api/documents');
  t.is(totalCount, 1);

  const { receiver, relay } = t.context;
  const types = ['DocumentsCreated', 'DocumentSigned', 'DocumentSigned', 'DocumentConcluded'];
  await reached(() => receiver.calls.length >= types.length);
  t.deepEqual(
    receiver.calls.map(({ headers, body }) => [
      headers['webhook-sequence'],
      (JSON.parse(body) as { type: string }).type,
    ]),
    types.map((type, at) => [String(at + 1), type]),
    'the receiver hears of each step in its order, whichever node told it',
  );
  for (const email of ['ann@example.com', 'bob@example.com']) {
    const mails = () => relay.taken.filter(({ to }) => to.includes(email));
    await reached(() => mails().length >= 2);
    const subjects = mails().map(({ raw }) => headersOf(raw).get('subject') ?? '');
    // Each goes when the relay takes it: mails have no order among each other.
    t.deepEqual(subjects.map((text) => /Please_sign|Completed/.exec(text)?.[0]).sort(), [
      'Completed',
      'Please_sign',
    ]);
  }
});

onNodes(
  'a pause at one node applies to uploads at the others, and uploads under one key make one job',
  async (t, nodes) => {
    const [one, two, three] = nodes;
    const order = (node: Service, action: string) => node.json(`/api/pipeline/${action}`, { method: 'POST' });
    await order(one, 'pause');
    const upload = async (node: Service) => {
      const form = new FormData();
      form.set('file', new Blob(['the same']), 'same.txt');
      const headers = { 'Idempotency-Key': 'three-nodes' };
      const answer = await node.fetch('/api/files', { method: 'POST', body: form, headers });
      return answer.status === 202 ? ((await answer.json()) as { jobId: string }).jobId : undefined;
    };
    const ids = new Set((await Promise.all(nodes.map(upload))).filter((id) => id !== undefined));
    t.is(ids.size, 1);
    const [id = ''] = ids;
    for (const node of nodes) t.is((await node.job(id)).status, 'Queued');
    await order(three, 'resume');
    t.is((await two.finished(id)).status, 'Completed');
    t.is((await one.job(id)).status, 'Completed');
  },
);

onNodes(
  'a session starts at one node, is valid at the others, and ends at all of them',
  async (t, [one, two, three]) => {
    const { cookie } = await logIn(portOf(one.url), await one.key());
    const statusOf = async (node: Service, path: string) =>
      (await ask(portOf(node.url), 'GET', { path, headers: { Cookie: cookie } })).status;
    t.is(await statusOf(two, '/api/jobs'), 200);
    t.is(await statusOf(two, '/api/whoami'), 200);
    const ended = await ask(portOf(two.url), 'POST', {
      path: '/api/auth/logout',
      headers: {
        Cookie: cookie,
        'Sec-Fetch-Site': 'same-origin',
      },
    });
    t.true(ended.status < 400, ended.text);
    for (const node of [one, two, three]) t.is(await statusOf(node, '/api/jobs'), 401);
    // What is answered also under load asks no other node: it learns of the end by the next poll.
    for (const node of [one, two, three])
      await reached(async () => (await statusOf(node, '/api/whoami')) === 401);
  },
);

onNodes(
  'the name of a running node is refused, and work of a killed node is completed by the others',
  async (t, nodes) => {
    const [one, two, three] = nodes;
    const refused = await t.throwsAsync(t.context.start(1));
    t.regex(refused?.message ?? '', /ended with 3[\s\S]*node name "node-2"/);
    // No job is in work when its node is killed: what is in work then may fail, and is told so.
    await one.json('/api/pipeline/pause', { method: 'POST' });
    const accepted: string[] = [];
    for (let number = 0; number < 24; number += 1) {
      const node = nodes[number % 3] as Service;
      accepted.push((await node.upload(`${number}.txt`, `text ${number}`)).jobId);
    }
    await two.kill();
    await one.until('the lease of the killed node to be over', async () => {
      const view = await one.json<{ nodes: { name: string }[] }>('/api/runtime');
      return view.nodes.some(({ name }) => name === 'node-2') ? undefined : true;
    });
    await one.json('/api/pipeline/resume', { method: 'POST' });
    for (const id of accepted) t.is((await three.finished(id)).status, 'Completed', id);
    const again = await t.context.start(1);
    t.is((await again.job(accepted[0] ?? '')).id, accepted[0] ?? '');
    t.is(await again.stop(), 0);
  },
);
