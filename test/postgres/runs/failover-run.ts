/**
 * Uploads with `Idempotency-Key` to three nodes whose URL names all members of a Patroni cluster, without a balancer, while
 * its leader is killed, handed over, frozen and cut off from the store of its lease:
 * `node dist/test/postgres/runs/failover-run.js [--faults 20] [--lease-seconds 5]`. Prints for each fault how long no upload was
 * acknowledged, and how long after there was a new leader the first one was. Exit code 1: something acknowledged is lost,
 * doubled or torn, or writes went on too late.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { Service } from '../../service/service.ts';
import { brokenPromises } from '../../service/signing/evidence.ts';
import { brokenHistory, settled, tornJournals } from '../chaos.ts';
import { hasPatroni, type Member, startPatroni } from './patroni.ts';
import { SupervisedNode } from './supervised-node.ts';

const { values } = parseArgs({
  options: {
    faults: { type: 'string', default: '20' },
    'lease-seconds': { type: 'string', default: '5' },
  },
});
const leaseSeconds = Number(values['lease-seconds']);

const SENDERS = 4;
const SCHEMA = 'failover';
/** Time for one fault, and for the check at the end, milliseconds. */
const PATIENCE_MS = 180_000;
/** Time after which a member that should follow the leader is started again, milliseconds. */
const STUCK_MS = 45_000;
/** Time from a new leader to the first step that is stored, milliseconds. */
const AIM_MS = 2000;

const FAULTS = ['kill', 'switch-over', 'freeze', 'partition'] as const;

if (!hasPatroni()) {
  console.error('Missing: packages etcd-server, patroni and postgresql.');
  process.exit(3);
}
const cluster = await startPatroni();
const root = await mkdtemp(join(tmpdir(), 'sealwright-failover-'));
const tasks: (() => unknown)[] = [];
const nodes = ['node-1', 'node-2', 'node-3'].map(
  (name) =>
    new SupervisedNode(name, () =>
      Service.startOne(
        { teardown: (task) => void tasks.push(task) },
        {
          root,
          settings: {
            'Runtime:Store': 'postgres',
            'Runtime:Postgres:Url': cluster.url,
            'Runtime:Postgres:Schema': SCHEMA,
            'Runtime:Postgres:PoolSize': 4,
            'Runtime:LeaseSeconds': leaseSeconds,
            'Runtime:NodeName': name,
            'Runtime:Shards': 1,
          },
        },
      ),
    ),
);
for (const node of nodes) await node.begin();
const living = () => nodes.flatMap(({ service }) => (service === undefined ? [] : [service]));

const accepted: string[] = [];
/** Times at which uploads were acknowledged. */
const acknowledged: number[] = [];
const refused = new Map<string, number>();
let sent = 0;
let isSending = true;
/** Time at which senders give up. */
let givenUp = Number.POSITIVE_INFINITY;
/** Uploads that were never acknowledged; each may be stored. */
let unanswered = 0;
async function send(): Promise<void> {
  while (isSending) {
    sent += 1;
    const name = `failover-${sent}.txt`;
    for (let attempt = sent; ; attempt += 1) {
      const service = living()[attempt % nodes.length] ?? living()[0];
      const form = new FormData();
      form.set('file', new Blob([`text of ${name}`]), name);
      const answer = await service
        ?.fetch('/api/files', {
          method: 'POST',
          body: form,
          headers: { 'Idempotency-Key': name },
          signal: AbortSignal.timeout(15_000),
        })
        .then(async (response) => ({ status: response.status, text: await response.text() }))
        .catch((error: Error) => ({ status: error.name, text: '' }));
      if (answer?.status === 202) {
        accepted.push((JSON.parse(answer.text) as { jobId: string }).jobId);
        acknowledged.push(performance.now());
        break;
      }
      const why = String(answer?.status ?? 'no node');
      refused.set(why, (refused.get(why) ?? 0) + 1);
      if (performance.now() > givenUp) {
        unanswered += 1;
        return;
      }
      await sleep(50);
    }
    await sleep(50);
  }
}

async function until(what: string, ask: () => Promise<boolean> | boolean): Promise<void> {
  const end = performance.now() + PATIENCE_MS;
  while (!(await ask())) {
    if (performance.now() > end) throw new Error(`Waited ${PATIENCE_MS / 1000} s for ${what}.`);
    await sleep(20);
  }
}

async function takesWrites({ port }: Member): Promise<boolean> {
  const client = new pg.Client({
    connectionString: `postgres://app:app@127.0.0.1:${port}/app`,
    connectionTimeoutMillis: 1000,
    query_timeout: 1000,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query<{ is: boolean }>('SELECT pg_is_in_recovery() AS is');
    return rows[0]?.is === false;
  } catch {
    return false;
  } finally {
    client.end().catch(() => {});
  }
}

const late: string[] = [];
/** For each kind of fault: milliseconds from a new leader to an upload, and without one. */
const outages: { kind: string; leader: number; after: number; gap: number }[] = [];
/** Waits for a leader with a synchronous standby; a member that does not become one in time is started again. */
async function safe(): Promise<void> {
  let begun = performance.now();
  await until('a leader with a synchronous standby', async () => {
    if (await cluster.isSafe()) return true;
    if (performance.now() - begun < STUCK_MS) return false;
    begun = performance.now();
    const leader = await cluster.leader();
    for (const member of cluster.members.filter(({ name }) => name !== leader)) {
      console.log(
        `${member.name} is no synchronous standby after ${STUCK_MS / 1000} s, and is started again`,
      );
      console.log((await readFile(member.log, 'utf8')).split('\n').slice(-25).join('\n'));
      await member.kill();
      member.start();
    }
    return false;
  });
}

async function fail(kind: (typeof FAULTS)[number]): Promise<void> {
  await safe();
  await until('uploads', () => (acknowledged.at(-1) ?? 0) > performance.now() - 500);
  let old = cluster.members[0];
  // The members are slow to answer now and then.
  await until('the name of the leader', async () => {
    const name = await cluster.leader();
    old = cluster.members.find((member) => member.name === name);
    return old !== undefined;
  });
  if (old === undefined) return;
  const { name } = old;
  const others = cluster.members.filter((member) => member !== old);
  const before = acknowledged.length;
  const begun = performance.now();
  if (kind === 'kill') await old.kill();
  else if (kind === 'freeze') old.freeze();
  else if (kind === 'partition') old.line.pause();
  else await cluster.switchOver();
  await until('a new leader', async () => (await Promise.all(others.map(takesWrites))).includes(true));
  const led = performance.now();
  await until('an upload after that', () => (acknowledged.at(-1) ?? 0) > led);
  const first = acknowledged.find((at) => at > led) ?? Number.NaN;
  const times = [begun, ...acknowledged.slice(before)];
  const gap = Math.max(...times.slice(1).map((at, number) => at - (times[number] ?? at)));
  if (kind === 'kill') old.start();
  else if (kind === 'freeze') old.thaw();
  else if (kind === 'partition') old.line.resume();
  const after = first - led;
  if (after > AIM_MS) late.push(`writes went on ${Math.round(after)} ms after ${kind} had a new leader`);
  const figures = `new leader after ${Math.round(led - begun)} ms, upload ${Math.round(after)} ms later`;
  outages.push({ kind, leader: led - begun, after, gap });
  console.log(`${kind} of ${name}: ${figures}; ${Math.round(gap)} ms without an acknowledged upload`);
}

const broken: string[] = [];
const noting = async (step: () => Promise<void>): Promise<void> => {
  try {
    await step();
  } catch (error) {
    broken.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
  }
};
const senders = Array.from({ length: SENDERS }, send);
await noting(async () => {
  for (let at = 0; at < Number(values.faults); at += 1) await fail(FAULTS[at % FAULTS.length] ?? 'kill');
});
isSending = false;
givenUp = performance.now() + PATIENCE_MS;
await Promise.all(senders);
if (unanswered > 0) broken.push(`${unanswered} uploads were never acknowledged`);
await noting(safe);
// Without a standby too, all that was acknowledged must be there.
await noting(async () => {
  let port = 0;
  await until('a leader', async () => {
    const ports = await Promise.all(
      cluster.members.map(async (member) => ((await takesWrites(member)) ? member.port : 0)),
    );
    port = Math.max(...ports);
    return port > 0;
  });
  const url = `postgres://app:app@127.0.0.1:${port}/app`;
  const direct = new pg.Pool({ connectionString: url, max: 2, options: `-c search_path=${SCHEMA}` });
  direct.on('error', () => {});
  const [service] = living();
  if (service === undefined) throw new Error('No node is there.');
  await service.idle(PATIENCE_MS / 1000);
  await settled(direct);
  broken.push(...(await brokenPromises(service, { accepted, dropped: [] })), ...(await tornJournals(direct)));
  const { totalCount } = await service.json<{ totalCount: number }>('/api/jobs?pageSize=1');
  if (totalCount < accepted.length || totalCount > accepted.length + unanswered)
    broken.push(`${totalCount} jobs for ${accepted.length} uploads`);
  await direct.end();
  await Promise.all(nodes.map((node) => node.end()));
  broken.push(...(await brokenHistory(root, url, SCHEMA)));
  console.log('All that was acknowledged is checked.');
});
for (const kind of FAULTS) {
  const of = outages.filter((outage) => outage.kind === kind);
  if (of.length === 0) continue;
  const show = (name: 'leader' | 'after' | 'gap'): string => {
    const sorted = of.map((outage) => Math.round(outage[name])).sort((left, right) => left - right);
    return `${sorted[Math.floor(sorted.length / 2)]}/${sorted.at(-1)}`;
  };
  const figures = `new leader ${show('leader')}, upload after it ${show('after')}, no upload ${show('gap')}`;
  console.log(`${of.length} ${kind}, p50/max in ms: ${figures}`);
}
const answers = [...refused].map(([why, count]) => `${why}: ${count}`).join(', ');
console.log(
  `${accepted.length} uploads acknowledged, ${new Set(accepted).size} jobs; not acknowledged: ${answers}`,
);
for (const promise of [...broken, ...late]) console.log(promise);
process.exitCode = broken.length + late.length === 0 ? 0 : 1;
// No supervisor starts its node again.
const ending = Promise.allSettled(nodes.map((node) => node.end()));
for (const task of tasks.reverse()) await task();
await ending;
await cluster.remove(broken.length > 0);
await rm(root, { recursive: true, force: true, maxRetries: 5 });
