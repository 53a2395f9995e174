/**
 * What becomes of a service that is asked for ten times as much as it can do, while its pool signs: how long those that are
 * let in take beside a quiet service, how soon the others are told to come back, and whether memory stays flat.
 */
import { readFileSync } from 'node:fs';
import { type Bench, type BenchContext, type Spent, Unverified } from './frame/bench.ts';
import { LatencyRecorder } from './frame/latency.ts';
import { Client, getRequest, uploadRequests } from './http/client.ts';
import { type Program, startProgram } from './program.ts';
import { samplePdf } from './samples.ts';

/** Of the client: enough for every request that is answered late. */
const CONNECTIONS = 512;
/** Busy connections with which a service that has no more than it can do is asked. */
const LANES = 16;
/** What a quiet service is asked for, and what too much is, of the rate that can be sustained. */
const QUIET = 0.25;
const TOO_MUCH = 10;
/** As many times the seconds of a run. */
const QUIET_FOR = 10;
/** Seconds of busy connections at least, before they count and after: what has just been started is slow. */
const LEAST_BUSY = 2;
/** Seconds in which a rush becomes an overload and is worked off; they are not counted. */
const RUSH = { quick: 1, usual: 5 };
/** As many times the seconds of a run. */
const FLOOD = { quick: 10, usual: 60 };
/** As often is memory looked at, and are health and metrics asked for, in milliseconds. */
const LOOK_EVERY = 100;
const UPLOAD = 10_000;
const AIM = 'issue 6, overload';

export const bench: Bench = {
  name: 'overload',
  question: 'what ten times the load that can be sustained does to those that are let in, and to the others',
  limits: ['the same requests at a quarter of the rate that can be sustained'],
  run,
};

interface Flood {
  readonly name: string;
  readonly url: string;
  /** Of a request that is done. */
  readonly status: number;
  readonly request: () => Buffer;
  /** Requests that left something behind, ours included that asked for nothing before. */
  readonly kept: () => Promise<number>;
  /** Work that was accepted and is not done yet. */
  readonly waiting: () => Promise<number>;
}

interface Seen {
  /** For which no connection was free: all of them wait for answers. */
  unsent: number;
  /** Let in before it counted. */
  rush: number;
  readonly admitted: LatencyRecorder;
  readonly refused: LatencyRecorder;
  /** How late our own client began. */
  readonly begun: LatencyRecorder;
}

async function run(context: BenchContext): Promise<void> {
  const { settings } = context;
  const program = await startProgram(context, context.room(), { 'Metrics:RequireApiKey': false });
  try {
    for (const flood of [uploads(program), await flows(program)]) await overload(flood, program, context);
    context.progress('done', settings.seconds, settings.seconds);
  } finally {
    await program.stop();
  }
}

async function overload(flood: Flood, program: Program, context: BenchContext): Promise<void> {
  const { limit, figure } = context;
  const { seconds, quick } = context.settings;
  const pace = quick ? 'quick' : 'usual';
  const counted = seconds * FLOOD[pace];
  const { name } = flood;
  const before = await flood.kept();
  let accepted = 0;
  const few = await Client.open(flood.url, LANES, flood.status);
  context.progress(`${name}, what can be sustained`, 0, 3);
  const busy = 1000 * (quick ? seconds : Math.max(LEAST_BUSY, seconds));
  const work = async () => {
    const begun = context.clock.elapsed();
    const { done } = await few.flatOut(busy, flood.request);
    await drained(flood, context);
    accepted += done;
    return (done / (context.clock.elapsed() - begun)) * 1000;
  };
  await work();
  const sustained = await work();
  few.close();
  figure({ name: `${name}, sustained`, value: sustained, unit: '/s', better: 'more' });

  const client = await Client.open(flood.url, CONNECTIONS, flood.status);
  try {
    context.progress(`${name}, quiet`, 1, 3);
    const calm = await offer(
      client,
      flood,
      sustained * QUIET,
      { seconds: seconds * QUIET_FOR, warmUp: 0 },
      context,
    );
    accepted += calm.admitted.count;
    await drained(flood, context);
    const reference = `${name}, p99 of a quiet service`;
    limit({ name: reference, value: calm.admitted.latency().p99, unit: 'ms' });

    context.progress(`${name}, ten times as much`, 2, 3);
    const watch = new Watch(program, flood.url);
    const shares = processorShares(program, context);
    const much = await offer(
      client,
      flood,
      sustained * TOO_MUCH,
      { seconds: counted, warmUp: RUSH[pace] },
      context,
    );
    const { service, client: ours } = shares();
    const watched = await watch.end();
    accepted += much.rush + much.admitted.count;
    const per = (recorder: LatencyRecorder) => recorder.count / counted;
    const rate = sustained * TOO_MUCH;
    figure({
      name: `${name}, let in of ten times as much`,
      value: per(much.admitted),
      unit: '/s',
      better: 'more',
    });
    figure({ name: `${name}, told to come back`, value: per(much.refused), unit: '/s', better: 'less' });
    figure({
      name: `${name}, not sent for want of a connection`,
      value: much.unsent / counted,
      unit: '/s',
      better: 'less',
    });
    figure({
      name: `${name}, p99 of those let in`,
      value: much.admitted.latency().p99,
      unit: 'ms',
      better: 'less',
      limit: reference,
      latency: { ...much.admitted.latency(), rate, refused: much.refused.count },
      aim: { of: 'share', atLeast: 0.5, source: AIM },
    });
    figure({
      name: `${name}, p99 until told to come back`,
      value: much.refused.latency().p99,
      unit: 'ms',
      better: 'less',
      latency: much.refused.latency(),
      aim: { of: 'value', atMost: 50, source: AIM },
    });
    figure({
      name: `${name}, p99 our client was late`,
      value: much.begun.latency().p99,
      unit: 'ms',
      better: 'less',
    });
    for (const [who, value] of [
      ['the service', service],
      ['our client', ours],
    ] as const)
      figure({ name: `${name}, of one processor ${who} used`, value, unit: '%', better: 'less' });
    for (const [what, recorder] of [
      ['health', watched.health],
      ['metrics', watched.metrics],
    ] as const) {
      const latency = recorder.latency();
      figure({ name: `${name}, p99 of ${what}`, value: latency.p99, unit: 'ms', better: 'less', latency });
    }
    figure({
      name: `${name}, memory at the end beside the middle`,
      value: watched.growth,
      unit: '%',
      better: 'less',
      aim: { of: 'value', atMost: 110, source: AIM },
    });
    figure({
      name: `${name}, p99 the event loop was late`,
      value: watched.loop,
      unit: 'ms',
      better: 'less',
      aim: { of: 'value', atMost: 20, source: AIM },
    });
  } finally {
    client.close();
  }
  const kept = (await flood.kept()) - before;
  if (kept !== accepted) throw new Unverified(`${accepted} of ${name} were accepted, ${kept} are there.`);
  context.verified(`counting ${name}`, kept);
}

/** Begins each request when it is due, whatever became of the others. Rejects with the first that was answered otherwise. */
async function offer(
  client: Client,
  { request }: Flood,
  perSecond: number,
  { seconds, warmUp }: { readonly seconds: number; readonly warmUp: number },
  { clock }: BenchContext,
): Promise<Seen> {
  const seen: Seen = {
    unsent: 0,
    rush: 0,
    admitted: new LatencyRecorder(),
    refused: new LatencyRecorder(),
    begun: new LatencyRecorder(),
  };
  const underWay = new Set<Promise<void>>();
  let failure: unknown;
  const first = clock.elapsed();
  const one = async (due: number, counts: boolean): Promise<void> => {
    const begun = clock.elapsed();
    if (counts) seen.begun.record(begun - due);
    const ending = await client.ask(request());
    const now = clock.elapsed();
    if (!counts) seen.rush += ending === 'done' ? 1 : 0;
    else if (ending === 'done') seen.admitted.record(now - due);
    else seen.refused.record(now - begun);
  };
  const uncounted = Math.round(perSecond * warmUp);
  const all = uncounted + Math.round(perSecond * seconds);
  for (let n = 0; n < all && failure === undefined; ) {
    const due = (at: number) => first + (at * 1000) / perSecond;
    // In small groups, so that answers are read between them.
    for (let group = 0; group < 32 && n < all && due(n) <= clock.elapsed(); group += 1, n += 1) {
      if (underWay.size >= CONNECTIONS) {
        if (n >= uncounted) seen.unsent += 1;
        continue;
      }
      const done = one(due(n), n >= uncounted).catch((error: unknown) => {
        failure = error;
      });
      underWay.add(done);
      void done.then(() => underWay.delete(done));
    }
    // Never awake for nothing: the service shares the processors with us.
    if (due(n) > clock.elapsed()) await clock.sleep(1);
    else await new Promise<void>((resolve) => setImmediate(resolve));
  }
  await Promise.all(underWay);
  if (failure !== undefined) throw failure;
  return seen;
}

/** Begins to look at who uses the processors; what is returned tells it in percent of one of them. */
function processorShares(program: Program, { clock }: BenchContext) {
  const [begun, before, own] = [clock.elapsed(), program.spent(), process.cpuUsage()];
  return (): { readonly service: number; readonly client: number } => {
    const [millis, after, mine] = [clock.elapsed() - begun, program.spent(), process.cpuUsage(own)];
    const used = (spent: Spent | undefined) => (spent ? spent.user + spent.system : Number.NaN);
    return {
      service: ((used(after) - used(before)) / millis) * 100,
      client: ((mine.user + mine.system) / 1000 / millis) * 100,
    };
  };
}

/** Resolves once all that was accepted is done: what piles up is not sustained, and no quiet service works it off. */
async function drained({ waiting }: Flood, { clock }: BenchContext): Promise<void> {
  while ((await waiting()) > 0) await clock.sleep(20);
}

/** Looks at the program while it is asked for too much. */
class Watch {
  readonly #program: Program;
  readonly #health = new LatencyRecorder();
  readonly #metrics = new LatencyRecorder();
  readonly #memory: number[] = [];
  readonly #done: Promise<void>;
  #ended = false;

  constructor(program: Program, url: string) {
    this.#program = program;
    this.#done = this.#look(url);
  }

  async #look(url: string): Promise<void> {
    const [health, metrics] = await Promise.all([
      Client.open(url, 1, 200),
      Client.open(this.#program.batch, 1, 200),
    ]);
    const [healthRequest, metricsRequest] = [getRequest('/api/health', {}), getRequest('/api/metrics', {})];
    try {
      while (!this.#ended) {
        let from = performance.now();
        if ((await health.ask(healthRequest)) === 'refused') throw new Error('Health was refused.');
        this.#health.record(performance.now() - from);
        from = performance.now();
        if ((await metrics.ask(metricsRequest)) === 'refused') throw new Error('The metrics were refused.');
        this.#metrics.record(performance.now() - from);
        this.#memory.push(residentBytes(this.#program.pid));
        await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY));
      }
    } finally {
      health.close();
      metrics.close();
    }
  }

  async end() {
    this.#ended = true;
    await this.#done;
    const { batch, batchKey } = this.#program;
    const answer = await fetch(`${batch}/api/runtime`, { headers: batchKey });
    const { eventLoopDelay } = (await answer.json()) as { eventLoopDelay: { p99Ms: number } };
    const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
    const { length } = this.#memory;
    const middle = mean(this.#memory.slice(Math.floor(length * 0.4), Math.floor(length * 0.6) + 1));
    const end = mean(this.#memory.slice(Math.floor(length * 0.8)));
    return {
      health: this.#health,
      metrics: this.#metrics,
      growth: (end / middle) * 100,
      loop: eventLoopDelay.p99Ms,
    };
  }
}

/** NaN where the system does not tell. */
function residentBytes(pid: number | undefined): number {
  try {
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]) * 1024;
  } catch {
    return Number.NaN;
  }
}

function uploads(program: Program): Flood {
  const { batch, batchKey } = program;
  const jobs = async (filter: string) =>
    (await json<{ totalCount: number }>(batch, `/api/jobs?pageSize=1${filter}`, batchKey)).totalCount;
  return {
    name: 'uploads',
    url: program.batch,
    status: 202,
    request: uploadRequests('/api/files', program.batchKey, samplePdf(UPLOAD)),
    kept: () => jobs(''),
    waiting: async () => {
      const counts = ['Queued', 'Processing', 'Verifying'].map((status) => jobs(`&status=${status}`));
      return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
    },
  };
}

/** Documents made of one file that was uploaded before: the start of a flow. */
async function flows({ portal, portalKey }: Program): Promise<Flood> {
  const form = new FormData();
  form.set(
    'file',
    new Blob([new Uint8Array(samplePdf(UPLOAD))], { type: 'application/pdf' }),
    'contract.pdf',
  );
  const { id, name, contentType } = await json<{ id: string; name: string; contentType: string }>(
    portal,
    '/api/uploads',
    portalKey,
    form,
  );
  const body = Buffer.from(
    JSON.stringify({
      files: [{ displayName: 'Contract', id, name, contentType }],
      flowActions: [
        { type: 'Signer', user: { name: 'Ana', email: 'ana@example.org' }, allowElectronicSignature: true },
      ],
      disableNotifications: true,
    }),
  );
  const head = [
    'POST /api/documents HTTP/1.1',
    'Host: localhost',
    ...Object.entries(portalKey).map(([header, value]) => `${header}: ${value}`),
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
  ].join('\r\n');
  const request = Buffer.concat([Buffer.from(`${head}\r\n\r\n`), body]);
  return {
    name: 'flows',
    url: portal,
    status: 200,
    request: () => request,
    kept: async () =>
      (await json<{ totalCount: number }>(portal, '/api/documents?Limit=1', portalKey)).totalCount,
    waiting: async () => 0,
  };
}

async function json<Body>(
  url: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body?: FormData,
): Promise<Body> {
  const answer = await fetch(`${url}${path}`, { headers, ...(body && { method: 'POST', body }) });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`);
  return JSON.parse(text) as Body;
}
