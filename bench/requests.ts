/**
 * Benchmark of the HTTP layer of the whole program: requests per second with every connection busy, compared with a
 * bare server that sends the same bodies, and latency at half that rate. An upload counts when it is answered, that
 * is, when it is on disk; the bare server writes, syncs and links a file too.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import {
  type Bench,
  type BenchContext,
  type Cpu,
  type Figure,
  type Spent,
  Unverified,
} from './frame/bench.ts';
import { atRate } from './frame/pace.ts';
import { spentBy, usedFor } from './frame/processes.ts';
import type { BareAnswers } from './http/bare-server.ts';
import { Client, getRequest, type Outcome, uploadRequests } from './http/client.ts';
import { type Program, startProgram } from './program.ts';
import { samplePdf } from './samples.ts';

const CONNECTIONS = 64;
/** Rounds alternate program and bare server, so that other load on the machine affects both. */
const ROUNDS = 3;
/** Requests of the program before the measurement, or as many as it answers in that time: compiled code, full caches. */
const WARM_UP = 6000;
const LONGEST_WARM_UP_MS = 6000;
/** Share of the reached rate at which latency is measured. */
const PACE = 0.5;
const UPLOAD = 10_000;
const AIM = 'bench/README.md';

export const bench: Bench = {
  name: 'http',
  question: 'requests a second the whole program answers, uploads included, and how long they take',
  limits: [
    'a bare server of the same library that answers with the same bodies, asked by the same client; it writes, syncs and links a file for each upload',
  ],
  run,
};

interface Route {
  readonly name: string;
  readonly expected: number;
  /** Builds the next request, for the program and the bare server. */
  readonly request: () => Buffer;
  readonly aim?: Figure['aim'];
}

async function run(context: BenchContext): Promise<void> {
  const program = await startProgram(context, context.temporaryFolder(), {
    'Portal:Enabled': false,
    'Batch:Url': 'http://127.0.0.1:0',
  });
  const { batchKey } = program;
  const upload = uploadRequests('/api/files', batchKey, samplePdf(UPLOAD));
  const id = await firstJob(program, context);
  const jobPath = `/api/jobs/${id}`;
  const body = async (path: string) => (await fetch(`${program.batch}${path}`, { headers: batchKey })).text();
  const bodies = { '/api/health': await body('/api/health'), [jobPath]: await body(jobPath) };
  const bare = await startBare({
    bodies,
    accepted: await acceptedBody(program),
    // On the same disk as the program's files.
    uploads: context.temporaryFolder(),
  });
  const health = getRequest('/api/health', {});
  const job = getRequest(jobPath, batchKey);
  const routes: readonly Route[] = [
    { name: 'GET /api/health', expected: 200, request: () => health },
    {
      name: 'GET /api/jobs/{id}',
      expected: 200,
      request: () => job,
      aim: { of: 'share', atLeast: 0.6, source: AIM },
    },
    {
      name: 'POST /api/files, 10 KB',
      expected: 202,
      request: upload,
      aim: { of: 'share', atLeast: 0.7, source: AIM },
    },
  ];
  try {
    const before = await queued(program);
    let accepted = 0;
    for (const [n, route] of routes.entries()) {
      context.progress(route.name, n, routes.length);
      const done = await measureRoute(route, program, bare, context);
      if (route.expected === 202) accepted += done;
    }
    context.progress('done', routes.length, routes.length);
    const kept = (await queued(program)) - before;
    if (kept !== accepted) throw new Unverified(`${accepted} uploads were accepted, ${kept} are queued.`);
    context.verified('counting the queue', kept);
  } finally {
    bare.close();
    await program.stop();
  }
}

/** Uploads one file, waits for its completion, and pauses the pipeline so that later uploads are not signed. */
async function firstJob(program: Program, { clock }: BenchContext): Promise<string> {
  const { jobId } = await upload(program);
  for (;;) {
    const { status } = await program.ask<{ status: string }>('batch', `/api/jobs/${jobId}`);
    if (status === 'Completed') break;
    if (status === 'Failed') throw new Error('The first job failed.');
    await clock.sleep(20);
  }
  await program.ask('batch', '/api/pipeline/pause', { method: 'POST' });
  return jobId;
}

async function acceptedBody(program: Program): Promise<string> {
  return JSON.stringify(await upload(program));
}

function upload(program: Program): Promise<{ readonly jobId: string }> {
  const body = new FormData();
  body.set('file', new Blob([new Uint8Array(samplePdf(UPLOAD))], { type: 'application/pdf' }), 'first.pdf');
  return program.ask('batch', '/api/files', { method: 'POST', body });
}

async function queued(program: Program): Promise<number> {
  const path = '/api/jobs?status=Queued&pageSize=1';
  return (await program.ask<{ totalCount: number }>('batch', path)).totalCount;
}

interface Bare {
  readonly url: string;
  spent(): Spent | undefined;
  close(): void;
}

async function startBare(answers: BareAnswers): Promise<Bare> {
  const child = fork(new URL('./http/bare-server.js', import.meta.url));
  child.send(answers);
  const [port] = await once(child, 'message');
  return {
    url: `http://127.0.0.1:${port}`,
    spent: () => spentBy(child.pid),
    close: () => child.disconnect(),
  };
}

/** @returns how many requests the program accepted */
async function measureRoute(
  { name, expected, request, aim }: Route,
  program: Program,
  bare: Bare,
  context: BenchContext,
): Promise<number> {
  const { seconds, quick } = context.settings;
  const [ours, theirs] = await Promise.all([
    Client.open(program.batch, CONNECTIONS, expected),
    Client.open(bare.url, CONNECTIONS, expected),
  ]);
  try {
    const part = (seconds * 1000) / ROUNDS;
    let warm = 0;
    const warmBy = performance.now() + (quick ? 0 : LONGEST_WARM_UP_MS);
    do warm += (await ours.flatOut(part, request)).done;
    while (warm < WARM_UP && performance.now() < warmBy);
    await theirs.flatOut(part, request);
    const own: Outcome[] = [];
    const other: Outcome[] = [];
    const before = program.spent();
    const bareBefore = bare.spent();
    for (let round = 0; round < ROUNDS; round += 1) {
      own.push(await ours.flatOut(part, request));
      other.push(await theirs.flatOut(part, request));
    }
    const { cpu } = usedFor(doneIn(own), before, program.spent());
    const { cpu: bareCpu } = usedFor(doneIn(other), bareBefore, bare.spent());
    const value = best(own);
    const limit = `bare server, ${name}`;
    context.limit(limit, best(other), '/s');
    let paced = 0;
    const pace = { perSecond: Math.max(1, value * PACE), seconds, warmUp: seconds / 5 };
    const latency = await atRate(context.clock, pace, async () => {
      const ending = await ours.ask(request());
      if (ending === 'done') paced += 1;
      return ending;
    });
    context.figure(name, value, '/s', { limit, latency, ...(cpu && { cpu }), ...(aim && { aim }) });
    if (cpu && bareCpu) tellByProcessor(name, cpu, bareCpu, context);
    return warm + doneIn(own) + paced;
  } finally {
    ours.close();
    theirs.close();
  }
}

/** Reports by processor time of the servers: the client shares the processors and limits the faster server's rate. */
function tellByProcessor(name: string, ours: Cpu, bare: Cpu, { limit, figure }: BenchContext): void {
  const perSecond = ({ user, system }: Cpu) => 1000 / (user + system);
  const named = `${name}, by the server's processor time`;
  const limited = `bare server, ${named}`;
  limit(limited, perSecond(bare), '/CPU s');
  figure(named, perSecond(ours), '/CPU s', { limit: limited });
}

function doneIn(outcomes: readonly Outcome[]): number {
  return outcomes.reduce((sum, { done }) => sum + done, 0);
}

/** Returns the best of several rounds: other load only reduces the rate. */
function best(outcomes: readonly Outcome[]): number {
  return Math.max(...outcomes.map(({ done, millis }) => (done / millis) * 1000));
}
