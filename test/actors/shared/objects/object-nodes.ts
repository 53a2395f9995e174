/**
 * Nodes on a database and a bucket, each with a folder of its own, under uploads, kills and lost disks. Counts what was
 * lost or doubled. Source: docs/decisions/0285-jobs-in-an-object-store.md.
 */
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock, systemIds } from '@sealwright/runtime';
import type { ExecutionContext } from 'ava';
import { openS3, type S3Options } from '../../../../actors/shared/objects/s3-objects.ts';
import { type Job, Service, temporaryRoot } from '../../../service/service.ts';

export interface StartOptions {
  readonly url: string;
  /** Undefined: all nodes share a folder. */
  readonly bucket: S3Options | undefined;
  readonly nodes: number;
}

export interface NodesOptions extends StartOptions {
  readonly requests: number;
  /** Kills of a node whose disk is lost with it. */
  readonly kills: number;
  readonly say?: (text: string) => void;
}

export interface NodesReport {
  readonly acknowledged: number;
  readonly refused: number;
  readonly kills: number;
  readonly retried: number;
  readonly lost: readonly string[];
  readonly doubled: readonly string[];
  /** Jobs per second from the first request to the last end. */
  readonly rate: number;
}

/** Requests at the same time. */
const CLIENTS = 12;
const LEASE_SECONDS = 2;
const SHORT_MS = 100;

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

type Fixture = Pick<ExecutionContext, 'teardown'>;

export class Nodes {
  readonly all: Service[] = [];
  #keys: string | undefined;
  #shared: string | undefined;

  constructor(
    private readonly t: Fixture,
    private readonly options: StartOptions,
  ) {}

  async start(at: number): Promise<void> {
    const { bucket, url } = this.options;
    const fresh = { teardown: (task: () => Promise<void>) => this.t.teardown(task) };
    if (bucket === undefined) this.#shared ??= await temporaryRoot(fresh);
    const root = this.#shared ?? (await temporaryRoot(fresh));
    mkdirSync(root, { recursive: true });
    if (this.#keys !== undefined && bucket) cpSync(this.#keys, join(root, 'keys'), { recursive: true });
    this.all[at] = await Service.startOne(this.t, {
      root,
      settings: {
        'Runtime:Store': 'postgres',
        'Runtime:Postgres:Url': url,
        'Runtime:NodeName': `node-${at}`,
        'Runtime:Postgres:PoolSize': 4,
        'Runtime:LeaseSeconds': LEASE_SECONDS,
        'Runtime:Shards': 1,
        ...(bucket && {
          'Storage:Objects:Kind': 'S3',
          'Storage:Objects:S3:ForcePathStyle': true,
          'Storage:Objects:S3:Endpoint': bucket.endpoint ?? '',
          'Storage:Objects:S3:Bucket': bucket.bucket,
          'Storage:Objects:S3:Prefix': bucket.prefix,
          'Storage:Objects:S3:AccessKeyId': bucket.accessKeyId ?? '',
          'Storage:Objects:S3:SecretAccessKey': bucket.secretAccessKey ?? '',
        }),
      },
    });
    if (this.#keys === undefined && bucket) {
      this.#keys = await temporaryRoot(fresh);
      cpSync(join(root, 'keys'), this.#keys, { recursive: true });
    }
  }

  /**
   * Resolves with a node once no job is queued or in flight. One that came too late to renew its lease has ended itself: it is
   * started again, as a supervisor does, and whoever asked it asks again.
   */
  async idle(seconds: number): Promise<Service> {
    for (const end = Date.now() + seconds * 1000; ; ) {
      for (const [at, node] of this.all.entries()) if (!node.isRunning) await this.start(at);
      const [first] = this.all;
      if (first === undefined) throw new Error('There is no node.');
      try {
        await first.idle((end - Date.now()) / 1000);
        return first;
      } catch (error) {
        if (!(error instanceof TypeError) || Date.now() > end) throw error;
        await systemClock.sleep(SHORT_MS);
      }
    }
  }

  /** Kills a node, loses its disk, and starts another one in its place. */
  async lose(at: number): Promise<void> {
    const node = this.all[at];
    await node?.kill();
    if (this.#shared === undefined) rmSync(node?.root ?? '', { recursive: true, force: true });
    await this.start(at);
  }
}

export async function startNodes(t: Fixture, options: StartOptions): Promise<Nodes> {
  const nodes = new Nodes(t, options);
  await nodes.start(0);
  await Promise.all(Array.from({ length: options.nodes - 1 }, (_, at) => nodes.start(at + 1)));
  return nodes;
}

/** Uploads the files of these numbers, each until it is acknowledged. */
export async function uploadAll(
  { all }: Pick<Nodes, 'all'>,
  {
    from,
    to,
    acknowledged = new Map(),
    onRefused = () => {},
  }: {
    readonly from: number;
    readonly to: number;
    /** Jobs by number. */
    readonly acknowledged?: Map<number, string>;
    readonly onRefused?: () => void;
  },
): Promise<void> {
  let begun = from;
  const client = async () => {
    for (let number = begun++; number < to; number = begun++) {
      const form = new FormData();
      form.set(
        'file',
        new Blob([`<file number="${number}"/>`]),
        number % 3 === 0 ? 'same.xml' : `${number}.xml`,
      );
      for (;;) {
        const node = all[Math.floor(Math.random() * all.length)];
        try {
          const answer = await node?.fetch('/api/files', {
            method: 'POST',
            headers: { 'Idempotency-Key': `file-${number}` },
            body: form,
          });
          if (answer?.status === 202) {
            acknowledged.set(number, ((await answer.json()) as { jobId: string }).jobId);
            break;
          }
          await answer?.text();
        } catch {
          // The node was killed.
        }
        onRefused();
        await systemClock.sleep(SHORT_MS);
      }
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
}

/** Uploads files, kills nodes meanwhile, retries what failed, and compares what was acknowledged with what is there. */
export async function runNodes(t: Fixture, options: NodesOptions): Promise<NodesReport> {
  const { nodes: count, requests, kills, bucket, say = () => {} } = options;
  const nodes = await startNodes(t, options);
  const acknowledged = new Map<number, string>();
  let refused = 0;
  let killed = 0;
  const began = performance.now();
  const onRefused = () => {
    refused += 1;
  };
  const clients = uploadAll(nodes, { from: 0, to: requests, acknowledged, onRefused });
  for (; killed < kills; killed += 1) {
    const due = ((killed + 1) * requests) / (kills + 1);
    while (acknowledged.size < due) await systemClock.sleep(SHORT_MS);
    await nodes.lose(killed % count);
    say(`node ${killed % count} was killed and lost its disk; ${acknowledged.size} uploads acknowledged`);
  }
  await clients;
  let first = await nodes.idle(240);
  const rate = acknowledged.size / ((performance.now() - began) / 1000);
  let retried = 0;
  for (let failed = await first.count('Failed'); ; ) {
    const jobs = await first.jobs('&status=Failed');
    const parents = new Set(
      (await first.jobs()).map((job) => (job as Job & { parentJobId: string | null }).parentJobId),
    );
    for (const { id } of jobs.filter((job) => !parents.has(job.id))) {
      await first.json(`/api/jobs/${id}/retry`, { method: 'POST' });
      retried += 1;
    }
    first = await nodes.idle(240);
    const now = await first.count('Failed');
    if (now === failed) break;
    failed = now;
  }
  return {
    acknowledged: acknowledged.size,
    refused,
    kills: killed,
    retried,
    rate,
    ...(await compare(first, acknowledged, bucket)),
  };
}

/** Reads each acknowledged output, and each object that no completed job names. */
async function compare(
  node: Service,
  acknowledged: ReadonlyMap<number, string>,
  bucket: S3Options | undefined,
): Promise<Pick<NodesReport, 'lost' | 'doubled'>> {
  const lost: string[] = [];
  const doubled: string[] = [];
  const jobs = (await node.jobs()) as readonly (Job & { readonly parentJobId: string | null })[];
  const childOf = new Map(jobs.map((job) => [job.parentJobId, job.id]));
  const outputs = new Map<string, string>();
  const roots = new Set<string>();
  for (const [number, jobId] of acknowledged) {
    let id = jobId;
    roots.add(jobId);
    for (let child = childOf.get(id); child !== undefined; child = childOf.get(id)) id = child;
    const job = await node.job(id);
    const answer = await node.fetch(`/api/jobs/${id}/output`);
    const bytes = Buffer.from(await answer.arrayBuffer());
    const isWhole = sha256(bytes) === job.outputSha256 && bytes.includes(`<file number="${number}"`);
    if (job.status !== 'Completed' || answer.status !== 200 || !isWhole)
      lost.push(`file ${number}: job ${id} is ${job.status}, output ${answer.status} ${bytes.length}`);
    if (outputs.has(job.outputFileName ?? '')) doubled.push(`two jobs have ${job.outputFileName}`);
    outputs.set(job.outputFileName ?? '', id);
  }
  for (const { id, parentJobId } of jobs)
    if (parentJobId === null && !roots.has(id)) doubled.push(`job ${id} is of no acknowledged upload`);
  if (bucket !== undefined) {
    const objects = await openS3(bucket, { clock: systemClock, ids: systemIds });
    for (let next: string | undefined = undefined; ; ) {
      const page: Awaited<ReturnType<typeof objects.list>> = await objects.list('batch/output/', next);
      for (const { key } of page.objects) {
        if (!outputs.has(key.slice('batch/output/'.length))) doubled.push(`${key} is of no job`);
      }
      next = page.next;
      if (next === undefined) break;
    }
  }
  return { lost, doubled };
}
