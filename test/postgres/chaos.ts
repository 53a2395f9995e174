/**
 * Several nodes on one database under load, while they are killed and suspended, their connections are cut and delayed,
 * and the database is stopped as by a crash. At the end nothing acknowledged is missing or torn, and what others were
 * told again carries the id of the first time.
 */
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { seededIds } from '@sealwright/runtime/testing';
import pg from 'pg';
import { actorKey } from '#runtime/store/postgres/steps-as-arrays.js';
import { samplePdf } from '../../bench/samples.ts';
import { Service } from '../service/service.ts';
import { brokenPromises, sha256 } from '../service/signing/evidence.ts';
import { type Announcements, startAnnouncements } from './chaos-announcements.ts';
import type { Cluster } from './cluster.ts';
import { type FaultyLine, startProxy } from './proxy.ts';
import { SupervisedNode } from './runs/supervised-node.ts';

const MAIN = fileURLToPath(new URL('../../main.js', import.meta.url));
const run = promisify(execFile);

export interface ChaosOptions {
  readonly root: string;
  readonly cluster: Cluster;
  readonly nodes: number;
  /** Requests to be acknowledged: changes of drafts, a third of them uploads. */
  readonly requests: number;
  /** Faults while they are sent; the kinds take turns. */
  readonly faults: number;
  readonly seed: number;
  readonly leaseSeconds: number;
  readonly say: (text: string) => void;
}

export interface ChaosReport {
  readonly acknowledged: number;
  /** Uploads among them; the others changed drafts. */
  readonly uploads: number;
  /** Broken promises, in words. */
  readonly broken: readonly string[];
  /** Milliseconds from the end of a node to the moment its work belonged to others. */
  readonly takeOverMs: readonly number[];
  /** Documents that were made, and webhook calls and mails that came again. */
  readonly documents: number;
  readonly repeats: Announcements['repeats'];
}

/** Time for one check of all jobs and files, milliseconds, and more for each request. */
const CHECK_TIMEOUT_MS = 120_000;
const CHECK_MS_PER_REQUEST = 40;

/** Time without any progress after which a run is given up, milliseconds. */
const STANDSTILL_MS = 180_000;

/**
 * One of so many requests is an upload: it costs some 60 ms of processor time until its signed file is announced. The
 * others change a draft, one step of an actor that the next change finds on another node.
 */
const UPLOAD_EVERY = 3;

/** One of so many requests makes a document and approves it; one of so many drops a file into the folder. */
const DOCUMENT_EVERY = 75;
const DROP_EVERY = 30;

/** Requests in flight: enough for nodes to commit several steps in one transaction. */
const SENDERS = 12;

const FAULTS = ['kill', 'suspend', 'cut', 'delay', 'database'] as const;

class Node extends SupervisedNode {
  constructor(
    name: string,
    readonly line: FaultyLine,
    start: () => Promise<Service>,
  ) {
    super(name, start);
  }
}

export async function runChaos(
  t: Parameters<typeof Service.startOne>[0],
  options: ChaosOptions,
): Promise<ChaosReport> {
  const { root, cluster, leaseSeconds, say } = options;
  const schema = `chaos_${options.seed}`;
  const random = seededIds(options.seed);
  const pick = (below: number) => random.bytes(4).readUInt32BE(0) % below;
  const direct = new pg.Pool({ connectionString: cluster.url, max: 2, options: `-c search_path=${schema}` });
  direct.on('error', () => {});
  const announcements = await startAnnouncements(t);
  const nodes: Node[] = [];
  for (let number = 1; number <= options.nodes; number += 1) {
    const line = await startProxy(cluster.port);
    const name = `node-${number}`;
    const settings = {
      ...announcements.settings,
      'Runtime:Store': 'postgres',
      'Runtime:Postgres:Url': `postgres://sealwright@127.0.0.1:${line.port}/postgres`,
      'Runtime:Postgres:Schema': schema,
      'Runtime:Postgres:PoolSize': 4,
      'Runtime:LeaseSeconds': leaseSeconds,
      'Runtime:NodeName': name,
      // Ended actors are packed after a checkpoint.
      'History:CheckpointMinutes': 1,
      'Runtime:Shards': 1,
      'Pipeline:MaxConcurrency': 4,
    };
    nodes.push(new Node(name, line, () => Service.startOne(t, { root, settings })));
  }
  for (const node of nodes) await node.begin();
  const living = () => nodes.flatMap(({ service }) => (service === undefined ? [] : [service]));

  const anyNode = () => living()[pick(nodes.length)] ?? living()[0];

  const load = { accepted: [] as string[], dropped: [] as string[] };
  let acknowledged = 0;
  let isSending = true;
  let sent = 0;
  const send = async () => {
    const change = await announcements.draft(anyNode);
    while (isSending && acknowledged < options.requests) {
      sent += 1;
      const name = `chaos-${options.seed}-${sent}`;
      const isPdf = sent % (3 * UPLOAD_EVERY) === 0;
      const content = isPdf ? samplePdf(3000, name) : `text of ${name}`;
      if (sent % DOCUMENT_EVERY === 7) await announcements.document(name, anyNode);
      else if (sent % DROP_EVERY === 1) {
        await writeFile(join(root, 'input', `${name}.txt`), content);
        load.dropped.push(sha256(content));
      } else if (sent % UPLOAD_EVERY === 0) {
        await upload(`${name}${isPdf ? '.pdf' : '.txt'}`, content);
        acknowledged += 1;
      } else {
        await change(name);
        acknowledged += 1;
      }
    }
  };
  /** Repeats under one key until it is answered: the job is the same however often it was received. */
  const upload = async (name: string, content: Uint8Array | string) => {
    const jobs = new Set<string>();
    for (;;) {
      const service = anyNode();
      try {
        if (service === undefined) throw new Error('No node is there.');
        const form = new FormData();
        form.set('file', new Blob([content as string]), name);
        const response = await service.fetch('/api/files', {
          method: 'POST',
          body: form,
          headers: { 'Idempotency-Key': name },
          signal: AbortSignal.timeout(leaseSeconds * 10_000),
        });
        if (response.status !== 202) throw new Error(`${response.status}: ${await response.text()}`);
        jobs.add(((await response.json()) as { jobId: string }).jobId);
        load.accepted.push(...jobs);
        return;
      } catch {
        await sleep(50);
      }
    }
  };
  /** Waits until so many requests are acknowledged. */
  const reach = async (goal: number) => {
    let last = acknowledged;
    let since = performance.now();
    while (acknowledged < goal) {
      await sleep(20);
      if (acknowledged > last) {
        last = acknowledged;
        since = performance.now();
      }
      if (performance.now() - since > STANDSTILL_MS)
        throw new Error(`Nothing was acknowledged for ${STANDSTILL_MS / 1000} s: ${await openWork(direct)}`);
    }
  };
  const senders = Array.from({ length: SENDERS }, send);

  const takeOverMs: number[] = [];
  const sessionsOf = async (name: string, before: number) =>
    (await direct.query('SELECT token FROM sessions WHERE node = $1 AND token <= $2', [name, before])).rows;
  const tokenOf = async (name: string): Promise<number | undefined> => {
    const { rows } = await direct.query<{ token: string }>('SELECT token FROM sessions WHERE node = $1', [
      name,
    ]);
    return rows[0] && Number(rows[0].token);
  };
  for (let at = 0; at < options.faults; at += 1) {
    // Each fault meets nodes at work.
    const goal = Math.min(options.requests, Math.floor((options.requests * (at + 1)) / (options.faults + 1)));
    await reach(goal);
    const kind = FAULTS[at % FAULTS.length] ?? 'kill';
    const node = nodes[pick(nodes.length)] as Node;
    say(`${acknowledged} acknowledged; ${kind} ${kind === 'database' ? '' : node.name}`);
    const { service } = node;
    if (kind === 'database') {
      await cluster.stop('immediate');
      await cluster.start();
    } else if (kind === 'cut') node.line.cutAll();
    else if (kind === 'delay') {
      node.line.pause();
      await sleep(leaseSeconds * 2500);
      node.line.resume();
    } else if (service !== undefined) {
      const token = await tokenOf(node.name);
      const begun = performance.now();
      if (kind === 'kill') await service.kill();
      else service.suspend();
      while (token !== undefined && (await sessionsOf(node.name, token)).length > 0) {
        await sleep(10);
        if (performance.now() - begun > STANDSTILL_MS) throw new Error(`Nobody took over ${node.name}.`);
      }
      takeOverMs.push(Math.round(performance.now() - begun));
      if (kind === 'suspend') service.resume();
    }
  }
  await Promise.all(senders);
  isSending = false;

  say(`${acknowledged} acknowledged; waiting for the end of all work`);
  const patience = CHECK_TIMEOUT_MS + options.requests * CHECK_MS_PER_REQUEST;
  const end = performance.now() + 2 * patience;
  let broken: readonly string[] = ['no node answered'];
  let last: string | undefined;
  /** Steps of a draft. */
  const stepsOf = async (id: string) => {
    const { rows } = await direct.query<{ revision: string }>('SELECT revision FROM actors WHERE key = $1', [
      actorKey({ kind: 'draft', id }),
    ]);
    return Number(rows[0]?.revision);
  };
  const checked = (service: Service) =>
    service
      .idle(20)
      .then(() => settled(direct))
      .then(async () => [
        ...(await brokenPromises(service, load)),
        ...(await announcements.broken(service, stepsOf)).slice(0, 20),
      ])
      // Another node may still receive them, for all that is known; a later start removes them.
      .then((found) => found.filter((promise) => !/^input\/\..*\.part was left behind$/.test(promise)))
      .catch((error: Error) => [error.message.slice(0, 500)]);
  while (broken.length > 0 && performance.now() < end) {
    await sleep(300);
    const [service] = living();
    if (service === undefined) continue;
    // A request to a node that ended meanwhile may never settle.
    const late = sleep(patience, ['the check did not end'], { ref: false });
    broken = await Promise.race([checked(service), late]);
    if (broken[0] !== last) say(`${broken.length} left: ${broken[0] ?? ''}`);
    last = broken[0];
  }
  if (broken.length > 0) say(`left in the store: ${await openWork(direct)}`);
  const report = [...broken, ...(await tornJournals(direct))];
  const { rows: packed } = await direct.query(
    'SELECT count(*) AS count FROM actors WHERE packed IS NOT NULL',
  );
  say(`${packed[0]?.count} actors are packed`);
  await direct.end();
  await Promise.all(nodes.map((node) => node.end()));
  await Promise.all(nodes.map(({ line }) => line.close()));
  report.push(...(await brokenHistory(root, cluster.url, schema)));
  const { documents, repeats } = announcements;
  const uploads = load.accepted.length;
  return { acknowledged, uploads, broken: report, takeOverMs, documents, repeats };
}

/** Resolves once no effect is left to do, or when that takes long: the check then says what is missing. */
export async function settled(direct: pg.Pool): Promise<void> {
  const end = performance.now() + STANDSTILL_MS;
  while (performance.now() < end) {
    const { rows } = await direct.query('SELECT FROM effects LIMIT 1');
    if (rows.length === 0) return;
    await sleep(100);
  }
}

/** Sessions, effects and jobs that have not ended, for the report of a failure. */
async function openWork(direct: pg.Pool): Promise<string> {
  const { rows } = await direct.query(
    `SELECT json_build_object(
      'sessions', (SELECT json_agg(json_build_object('node', node, 'token', token, 'seen', seen_at)) FROM sessions),
      'effects', (SELECT json_agg(json_build_object('owner', owner, 'lease', lease, 'due', due, 'queue', encode(queue, 'escape'),
        'failures', failures, 'error', last_error, 'key', encode(key, 'escape'))) FROM (SELECT * FROM effects LIMIT 20) AS first),
      'now', extract(epoch FROM clock_timestamp()) * 1000,
      'counted', (SELECT json_object_agg(convert_from(name, 'UTF8'), value) FROM (
        SELECT name, sum(value) AS value FROM (SELECT * FROM counters UNION ALL SELECT * FROM counter_deltas) AS every
          WHERE name >= 'jobs/'::bytea AND name < 'jobs0'::bytea GROUP BY name HAVING sum(value) <> 0) AS sums)) AS text`,
  );
  return JSON.stringify(rows[0]?.text);
}

/** Journals with gaps, and actors whose revision is not the stored one. */
export async function tornJournals(direct: pg.Pool): Promise<readonly string[]> {
  const { rows: gaps } = await direct.query(
    `SELECT encode(actor, 'escape') AS actor FROM journal GROUP BY actor HAVING count(*) <> max(id) OR min(id) <> 1`,
  );
  const { rows: torn } = await direct.query(
    `SELECT encode(key, 'escape') AS actor FROM actors
      WHERE (packed IS NULL) <> (revision > 0) OR CASE WHEN packed IS NULL THEN (body::json ->> 'revision')::bigint <> revision
          OR (body::json ->> 'journalLength')::bigint <> (SELECT count(*) FROM journal WHERE journal.actor = actors.key)
        ELSE EXISTS (SELECT FROM journal WHERE journal.actor = actors.key) END`,
  );
  const { rows: counted } = await direct.query<{ jobs: string; counted: string }>(
    `SELECT (SELECT count(*) FROM rows WHERE key >= '\\x026a6f62730000' AND key < '\\x026a6f62730000ff') AS jobs,
      (SELECT COALESCE(sum(value), 0) FROM (SELECT name, value FROM counters UNION ALL SELECT name, delta FROM counter_deltas) AS every
        WHERE name >= 'jobs/'::bytea AND name < 'jobs0'::bytea) AS counted`,
  );
  const [counts] = counted;
  return [
    ...gaps.map(({ actor }) => `the journal of ${actor} has gaps`),
    ...torn.map(({ actor }) => `${actor} is torn`),
    ...(counts?.jobs === counts?.counted
      ? []
      : [`${counts?.jobs} jobs are stored, ${counts?.counted} counted`]),
  ];
}

/** Chains of history lines that do not verify: a line belongs to exactly one accepted message. */
export async function brokenHistory(root: string, url: string, schema: string): Promise<readonly string[]> {
  const settings = [
    `--Storage:Root=${root}`,
    '--Runtime:Store=postgres',
    `--Runtime:Postgres:Url=${url}`,
    `--Runtime:Postgres:Schema=${schema}`,
  ];
  try {
    await run(process.execPath, [MAIN, 'verify-history', ...settings]);
    return [];
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    return [`the history does not verify: ${stdout}${stderr}`.slice(0, 1000)];
  }
}
