/**
 * Three nodes whose clocks differ by twelve minutes: one is right, one six minutes ahead, one six minutes behind. Leases,
 * timers and stored times follow the clock of the database.
 */
import anyTest, { type ExecutionContext, type TestFn } from 'ava';
import pg from 'pg';
import { type Receiver, startReceiver } from '../actors/portal/webhooks/receiver.ts';
import { startAuthority } from '../pki/authority.ts';
import { Service, temporaryRoot } from '../service/service.ts';
import { brokenPromises } from '../service/signing/evidence.ts';
import { localProfile } from '../service/signing/profiles.ts';
import { withTools } from '../verifiers/tool.ts';
import { startServer } from './cluster.ts';

/** More than the time of an authority's time-stamp may be off, 5 minutes. */
const OFF_MS = 6 * 60_000;
const LEASE_SECONDS = 3;
const SHIFTED_CLOCK = new URL('./shifted-clock.js', import.meta.url).href;

/** Shortest pause before a failed webhook call is repeated, milliseconds, less what clocks may differ. */
const RETRY_PAUSE_MS = 10_000;

/** Difference between the clock of the database and that of this test, milliseconds: they are on one machine. */
const NOISE_MS = 2000;

interface Node {
  readonly name: string;
  readonly version: string;
  readonly isThis: boolean;
  readonly startedAt: string;
  readonly silentMs: number;
  readonly leaseMs: number;
  readonly session: number;
  readonly draining: boolean;
  readonly leases: readonly string[];
  readonly lagMs: number;
  readonly storeMs: number;
}

interface ClusterFixture {
  /** The first has the right clock, the second is ahead, the third behind. */
  readonly nodes: readonly [Service, Service, Service];
  readonly receiver: Receiver;
  /** Calls of the receiver, with the time of each. */
  readonly calls: { readonly at: number; readonly id: string; readonly job: string }[];
  readonly database: pg.Pool;
  readonly begun: number;
}

const test = withTools(anyTest as TestFn<ClusterFixture>, 'postgres');
const tasks: (() => unknown)[] = [];
const teardown = (task: () => unknown) => void tasks.push(task);

test.before(async (t) => {
  const begun = Date.now();
  const calls: ClusterFixture['calls'] = [];
  const receiver = await startReceiver({ teardown }, ({ headers, body }, response) => {
    const { data } = JSON.parse(body) as { data: { id: string; fileName: string } };
    const call = { at: Date.now(), id: String(headers['webhook-id']), job: data.id };
    const isFirst = calls.every(({ id }) => id !== call.id);
    calls.push(call);
    response.writeHead(isFirst && data.fileName.startsWith('repeated') ? 500 : 204).end();
  });
  const cluster = await startServer();
  teardown(() => cluster.remove());
  const root = await temporaryRoot({ teardown });
  const authority = await startAuthority();
  teardown(() => authority.close());
  const stamped = await localProfile(root, 0, {
    name: 'stamped',
    signer: authority.pki.signer('p-256'),
    members: {
      Format: 'Cades',
      Level: 'T',
      'Timestamp:Url': authority.timestampUrl,
    },
  });
  const start = (name: string, shift: number) =>
    Service.startOne(
      { teardown },
      {
        root,
        env: { NODE_OPTIONS: `--import=${SHIFTED_CLOCK}`, SEALWRIGHT_TEST_CLOCK_MS: String(shift) },
        settings: {
          ...stamped,
          'Signing:Trust:Roots:0': authority.pki.rootFile,
          'Signing:Trust:AllowPrivate': true,
          'Runtime:Store': 'postgres',
          'Runtime:Postgres:Url': cluster.url,
          'Runtime:Postgres:PoolSize': 4,
          'Runtime:LeaseSeconds': LEASE_SECONDS,
          'Runtime:NodeName': name,
          'Runtime:Shards': 1,
          'Pipeline:MaxConcurrency': 2,
          'Notifications:Webhooks:0:Url': `${receiver.url}/jobs`,
          'Notifications:Webhooks:0:Secret': `whsec_${Buffer.alloc(32, 3).toString('base64')}`,
        },
      },
    );
  // The node that makes the keys and certificates is one with a wrong clock.
  const ahead = await start('ahead', OFF_MS);
  const behind = await start('behind', -OFF_MS);
  const right = await start('right', 0);
  const database = new pg.Pool({ connectionString: cluster.url, max: 1 });
  database.on('error', () => {});
  teardown(() => database.end());
  t.context = { nodes: [right, ahead, behind], receiver, calls, database, begun };
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

/** Fails unless the time was between the start of the test and now, on the clock of the test. */
function assertNow(t: ExecutionContext<ClusterFixture>, time: string, what: string): void {
  const at = Date.parse(time);
  t.true(at >= t.context.begun - NOISE_MS && at <= Date.now() + NOISE_MS, `${what}: ${time}`);
}

const nodesOf = async (service: Service) =>
  (await service.json<{ nodes: readonly Node[] }>('/api/runtime')).nodes;

onNodes('each node shows all nodes with version, lease, lag and store latency', async (t, nodes) => {
  for (const [at, name] of ['right', 'ahead', 'behind'].entries()) {
    const service = nodes[at] as Service;
    // A node reports lag and latency with its heartbeats.
    const view = await service.until('all nodes to have reported', async () => {
      const found = await nodesOf(service);
      return found.length === 3 && found.every(({ storeMs }) => storeMs > 0) ? found : undefined;
    });
    t.deepEqual(
      view.map((node) => node.name),
      ['ahead', 'behind', 'right'],
    );
    t.deepEqual(
      view.filter(({ isThis }) => isThis).map((node) => node.name),
      [name],
    );
    t.is(new Set(view.map(({ session }) => session)).size, 3);
    const leases = view.flatMap((node) => node.leases);
    t.is(new Set(leases).size, leases.length, 'a lease belongs to one node');
    t.true(leases.length > 0);
    for (const node of view) {
      t.regex(node.version, /^\d+\.\d+\.\d+/, node.name);
      t.is(node.leaseMs, LEASE_SECONDS * 1000);
      t.true(node.silentMs >= 0 && node.silentMs < OFF_MS / 2, `${node.name} silent for ${node.silentMs}`);
      t.true(node.lagMs >= 0 && node.lagMs < OFF_MS / 2, `${node.name} lags by ${node.lagMs}`);
      t.false(node.draining);
      assertNow(t, node.startedAt, `start of ${node.name}`);
    }
  }
});

onNodes(
  'nodes with wrong clocks do each piece of work once, take over from a killed node and fire its timers when due',
  async (t, nodes) => {
    const [right, ahead, behind] = nodes;
    const { calls, database } = t.context;
    for (const [node, shift] of [
      [right, 0],
      [ahead, OFF_MS],
      [behind, -OFF_MS],
    ] as const)
      t.regex(node.printed, new RegExp(`clock of thread [1-9]\\d* is ${shift} ms off`), 'pool threads too');

    const accepted: string[] = [];
    const upload = async (node: Service, name: string) => {
      const { jobId } = await node.upload(name, `text of ${name}`);
      accepted.push(jobId);
      return jobId;
    };
    // Any node may sign a job: more are uploaded until each node has a timer for a call that was refused.
    const repeated: string[] = [];
    const armed = new Set<string>();
    await right.until('a timer of each node', async () => {
      const found = await database?.query<{ node: string; key: string }>(
        `SELECT node, encode(key, 'escape') AS key FROM timers JOIN sessions ON owner = token`,
      );
      const timers = found?.rows ?? [];
      for (const id of repeated) if (timers.some(({ key }) => key.includes(id))) armed.add(id);
      if (new Set(timers.map(({ node }) => node)).size === 3) return true;
      if (armed.size === repeated.length && repeated.length < 60)
        for (const node of nodes) repeated.push(await upload(node, `repeated-${repeated.length}.txt`));
      return undefined;
    });

    let isGone = false;
    const load = Promise.all(
      nodes.map(async (node, of) => {
        for (let at = 0; at < 12 || (node === ahead && !isGone && at < 500); at += 1)
          await upload(node, `${of}-${at}.txt`).catch((error: unknown) => {
            if (node !== ahead) throw error;
            isGone = true;
          });
      }),
    );
    const sessions = async () => (await nodesOf(right)).map(({ name }) => name);
    await right.until('work on all nodes', async () => (accepted.length >= 12 ? true : undefined));
    const leases = new Set((await nodesOf(right)).flatMap((node) => node.leases));
    await ahead.kill();
    await load;
    await right.until('the lease of the killed node to be over', async () =>
      (await sessions()).includes('ahead') ? undefined : true,
    );
    t.deepEqual(await sessions(), ['behind', 'right'], 'the others have kept theirs');
    await right.until('its leases to belong to the others', async () => {
      const found = (await nodesOf(behind)).flatMap((node) => node.leases);
      return [...leases].every((name) => found.includes(name)) ? true : undefined;
    });

    await behind.idle();
    const broken = async () =>
      (await brokenPromises(right, { accepted, dropped: [] })).filter(
        (promise) => !/^input\/\..*\.part was left behind$/.test(promise),
      );
    await right
      .until('everything to be put away', async () => ((await broken()).length === 0 ? true : undefined))
      .catch(async () => t.deepEqual(await broken(), []));
    for (const { id } of await right.jobs()) {
      const { status, history } = await behind.json<{
        status: string;
        history: readonly { status: string; timestamp: string }[];
      }>(`/api/jobs/${id}`);
      const ends = history.filter((line) => /^(Completed|Failed|Canceled)$/.test(line.status));
      t.deepEqual(
        ends.map((line) => line.status),
        [status],
        `job ${id} ended once`,
      );
      for (const line of history) assertNow(t, line.timestamp, `${line.status} of job ${id}`);
    }

    const callsOf = (id: string) => calls.filter((call) => call.job === id);
    await right.until('all ends of jobs to be announced', async () => {
      const announced = new Set(calls.map(({ job }) => job));
      const isAgain = repeated.every((id) => callsOf(id).length > 1);
      return isAgain && (await right.jobs()).every(({ id }) => announced.has(id)) ? true : undefined;
    });
    // Pool threads compare the time of a time-stamp with the clock of the database.
    for (const id of armed) {
      const { status, errorMessage } = await right.job(id);
      t.is(status, 'Completed', errorMessage ?? '');
    }
    for (const id of accepted) t.is(new Set(callsOf(id).map((call) => call.id)).size, 1);
    for (const id of armed) {
      const [first, second] = callsOf(id);
      t.true((second?.at ?? 0) - (first?.at ?? 0) > RETRY_PAUSE_MS, `the call for ${id} was repeated early`);
    }
    t.is(await right.stop(), 0);
    t.is(await behind.stop(), 0);
  },
);
