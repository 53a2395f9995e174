/**
 * Two nodes of an earlier version and one of this one under uploads on one database, then three of this one, then back,
 * node by node: `node dist/test/postgres/runs/versions-run.js --earlier FOLDER`, where FOLDER holds a built checkout of the
 * earlier version. Exit code 1: an upload is lost or doubled, or has failed, or a node of the earlier version did not start.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Service } from '../../service/service.ts';
import { startServer } from '../cluster.ts';

const { values } = parseArgs({
  options: { earlier: { type: 'string', default: '' }, seconds: { type: 'string', default: '5' } },
});
const EARLIER = join(resolve(values.earlier), 'dist', 'main.js');
const NAMES = ['node-1', 'node-2', 'node-3'] as const;
type Name = (typeof NAMES)[number];
/** Milliseconds of load between two changes. */
const LOAD_MS = Number(values.seconds) * 1000;

const cluster = await startServer();
if (cluster === undefined) throw new Error('PostgreSQL 15 or newer is missing.');
const root = await mkdtemp(join(tmpdir(), 'sealwright-versions-'));
const tasks: (() => unknown)[] = [];
const living = new Map<Name, Service>();
const start = async (name: Name, main?: string): Promise<void> => {
  const service = await Service.startOne(
    { teardown: (task) => void tasks.push(task) },
    {
      root,
      ...(main !== undefined && { main }),
      settings: {
        'Runtime:Store': 'postgres',
        'Runtime:Postgres:Url': cluster.url,
        'Runtime:LeaseSeconds': 5,
        'Runtime:NodeName': name,
        'Runtime:Shards': 1,
      },
    },
  );
  living.set(name, service);
};

const broken: string[] = [];
const jobs: string[] = [];
const refused = new Map<string, number>();
let sent = 0;
let isSending = true;
async function send(): Promise<void> {
  while (isSending) {
    sent += 1;
    const name = `versions-${sent}.txt`;
    for (let attempt = sent; ; attempt += 1) {
      const all = [...living.values()];
      const form = new FormData();
      form.set('file', new Blob([`text of ${name}`]), name);
      const answer = await all[attempt % all.length]
        ?.fetch('/api/files', { method: 'POST', body: form, headers: { 'Idempotency-Key': name } })
        .then(async (response) => ({ status: response.status, text: await response.text() }))
        .catch((error: Error) => ({ status: error.name, text: '' }));
      if (answer?.status === 202) {
        jobs.push((JSON.parse(answer.text) as { jobId: string }).jobId);
        break;
      }
      const why = String(answer?.status ?? 'no node');
      refused.set(why, (refused.get(why) ?? 0) + 1);
      await sleep(50);
    }
    await sleep(50);
  }
}

/** Replaces a node: drained by SIGTERM, without requests from then on. */
async function replace(name: Name, main?: string): Promise<void> {
  const service = living.get(name);
  living.delete(name);
  const code = await service?.stop();
  if (code !== 0) broken.push(`${name} ended with ${code}`);
  await start(name, main);
}

/** Says which versions run, after some time under load. */
async function stage(what: string): Promise<void> {
  const before = jobs.length;
  await sleep(LOAD_MS);
  console.log(`${what}: ${jobs.length - before} uploads in ${LOAD_MS / 1000} s`);
}

/** Jobs beside those of acknowledged uploads, and those that are not completed. */
async function brokenJobs(service: Service): Promise<readonly string[]> {
  const found: {
    id: string;
    fileName: string;
    source: string;
    status: string;
    errorMessage: string | null;
  }[] = [];
  for (let page = 1; ; page += 1) {
    const { items } = await service.json<{ items: typeof found }>(`/api/jobs?pageSize=200&page=${page}`);
    if (items.length === 0) break;
    found.push(...items);
  }
  const own = new Set(jobs);
  const wrong = found.filter(({ id, status }) => !own.has(id) || status !== 'Completed');
  const lost = jobs.filter((id) => !found.some((job) => job.id === id));
  return [
    ...wrong.map(({ fileName, source, status, errorMessage }) =>
      [fileName, source, status, errorMessage ?? ''].join(' '),
    ),
    ...lost.map((id) => `the accepted upload ${id} has no job`),
  ];
}

try {
  for (const name of NAMES) await start(name, EARLIER);
  const senders = Array.from({ length: 3 }, send);
  await stage('three nodes of the earlier version');
  await replace('node-3');
  await stage('two of the earlier and one of this version');
  for (const name of ['node-1', 'node-2'] as const) await replace(name);
  await stage('three of this version');
  for (const name of NAMES) await replace(name, EARLIER);
  await stage('three of the earlier version again');
  for (const name of NAMES) await replace(name);
  await stage('three of this version again');
  isSending = false;
  await Promise.all(senders);
  const [service] = living.values();
  await service?.idle(300);
  if (service !== undefined) broken.push(...(await brokenJobs(service)));
} catch (error) {
  broken.push(String(error));
} finally {
  isSending = false;
  for (const task of tasks.reverse()) await task();
  await cluster.remove();
  await rm(root, { recursive: true, force: true });
}
const answers = [...refused].map(([why, count]) => `${why}: ${count}`).join(', ') || 'none';
console.log(`${jobs.length} uploads acknowledged; requests that were not: ${answers}`);
for (const promise of broken) console.log(promise);
process.exit(broken.length === 0 ? 0 : 1);
