/**
 * Benchmark of a service that receives ten times its sustainable load while its pool signs: latency of accepted
 * requests compared with an idle service, delay of the refusals, and memory growth.
 */
import { join } from 'node:path';
import { type Bench, type BenchContext, Unverified } from './frame/bench.ts';
import { LatencyRecorder } from './frame/latency.ts';
import { Client } from './http/client.ts';
import { type Flood, flows, uploads } from './overload/floods.ts';
import { processorShares, serviceTimes, Watch } from './overload/watch.ts';
import { type Program, startProgram } from './program.ts';

/**
 * `Pipeline:MaxConcurrency`, as in the benchmark `pipeline`. With the default of one job at a time the rate that can be
 * sustained is that of a job that waits for the disk, far below what the machine can sign.
 */
const JOBS_AT_ONCE = 16;
/** Client connections: enough for every late response. */
const CONNECTIONS = 512;
/** Busy connections for measuring the sustainable rate. */
const BUSY_CONNECTIONS = 16;
/** Rates of the idle and of the overload phase, as shares of the sustainable rate. */
const QUIET = 0.25;
const TOO_MUCH = 10;
/** Duration of the idle phase, in multiples of the seconds of a run: some thousand requests, of which p99 leaves out dozens. */
const QUIET_FOR = 20;
/** Rounds of busy connections before the one that counts: a new process compiles its code. */
const WARM_UP_ROUNDS = 2;
/** Pause between two looks at the number of unfinished items, milliseconds. */
const DRAIN_POLL_MS = 100;
/** Milliseconds after which the service has written its log lines. */
const LOG_DELAY_MS = 500;
/** Minimum of seconds with busy connections, before and during measuring: a new process is slow. */
const MIN_BUSY = 3;
/** Seconds at the start of the overload, which are not counted. */
const RUSH = { quick: 1, usual: 5 };
/** Duration of the overload, in multiples of the seconds of a run. */
const FLOOD = { quick: 10, usual: 60 };
const AIM = 'docs/decisions/0030-load-shedding.md';

export const bench: Bench = {
  name: 'overload',
  question: 'what ten times the load that can be sustained does to those that are let in, and to the others',
  limits: ['the same requests at a quarter of the rate that can be sustained'],
  run,
};

interface LoadRecord {
  /** Wall-clock milliseconds at which the counted requests began and ended. */
  readonly window: { readonly from: number; readonly until: number };
  /** Requests without a free connection, because all wait for responses. */
  unsent: number;
  /** Requests accepted before measuring. */
  rush: number;
  readonly admitted: LatencyRecorder;
  readonly refused: LatencyRecorder;
  /** Delay with which the client itself started requests. */
  readonly begun: LatencyRecorder;
}

async function run(context: BenchContext): Promise<void> {
  const { seconds } = context.settings;
  for (const floodOf of [uploads, flows]) {
    // Each with a program of its own: the uploads that wait to be signed would slow down the flows.
    const root = context.temporaryFolder();
    const program = await startProgram(context, root, {
      'Metrics:RequireApiKey': false,
      'Pipeline:MaxConcurrency': JOBS_AT_ONCE,
    });
    try {
      await overload(await floodOf(program), { program, logs: join(root, 'logs') }, context);
    } finally {
      await program.stop();
    }
  }
  context.progress('done', seconds, seconds);
}

async function overload(
  flood: Flood,
  { program, logs }: { program: Program; logs: string },
  context: BenchContext,
): Promise<void> {
  const { limit, figure } = context;
  const { seconds, quick } = context.settings;
  const pace = quick ? 'quick' : 'usual';
  const counted = seconds * FLOOD[pace];
  const { name } = flood;
  const byService = async ({ window }: LoadRecord) => {
    await context.clock.sleep(LOG_DELAY_MS);
    return (await serviceTimes(logs, { route: flood.route, status: flood.status, ...window })).latency();
  };
  const before = await flood.kept();
  let accepted = 0;
  const few = await Client.open(flood.url, BUSY_CONNECTIONS, flood.status);
  context.progress(`${name}, what can be sustained`, 0, 3);
  const busy = 1000 * (quick ? seconds : Math.max(MIN_BUSY, seconds));
  const work = async () => {
    const begun = context.clock.elapsed();
    const { done } = await few.flatOut(busy, flood.request);
    await drained(flood, context);
    accepted += done;
    return (done / (context.clock.elapsed() - begun)) * 1000;
  };
  for (let round = 0; round < (quick ? 1 : WARM_UP_ROUNDS); round += 1) await work();
  const sustained = await work();
  few.close();
  figure(`${name}, sustained`, sustained, '/s');

  const client = await Client.open(flood.url, CONNECTIONS, flood.status);
  try {
    context.progress(`${name}, quiet`, 1, 3);
    const calm = await offer(client, flood, context, {
      perSecond: sustained * QUIET,
      seconds: seconds * QUIET_FOR,
      warmUp: 0,
    });
    accepted += calm.admitted.count;
    await drained(flood, context);
    const reference = `${name}, p99 of a quiet service`;
    limit(reference, calm.admitted.latency().p99, 'ms');
    const calmService = await byService(calm);
    const ownReference = `${name}, p99 of a quiet service by its own clock`;
    limit(ownReference, calmService.p99, 'ms');
    figure(`${name}, p50 of a quiet service by its own clock`, calmService.p50, 'ms', {
      latency: { ...calmService, rate: sustained * QUIET },
    });

    context.progress(`${name}, ten times as much`, 2, 3);
    const watch = new Watch(program, flood.url);
    const shares = processorShares(program, context);
    const much = await offer(client, flood, context, {
      perSecond: sustained * TOO_MUCH,
      seconds: counted,
      warmUp: RUSH[pace],
    }).catch(async (error: unknown) => {
      // What ended the run is reported, not what the watch sees while the service stops.
      await watch.end().catch(() => undefined);
      throw error;
    });
    const { service, client: ours } = shares();
    const watched = await watch.end();
    accepted += much.rush + much.admitted.count;
    const per = (recorder: LatencyRecorder) => recorder.count / counted;
    const rate = sustained * TOO_MUCH;
    figure(`${name}, let in of ten times as much`, per(much.admitted), '/s');
    figure(`${name}, told to come back`, per(much.refused), '/s', { better: 'less' });
    figure(`${name}, not sent for want of a connection`, much.unsent / counted, '/s', { better: 'less' });
    figure(`${name}, p99 of those let in`, much.admitted.latency().p99, 'ms', {
      limit: reference,
      latency: { ...much.admitted.latency(), rate, refused: much.refused.count },
    });
    const muchService = await byService(much);
    figure(`${name}, p99 of those let in by the service's clock`, muchService.p99, 'ms', {
      limit: ownReference,
      latency: muchService,
      aim: { of: 'share', atLeast: 0.5, source: AIM },
    });
    figure(`${name}, p99 until told to come back`, much.refused.latency().p99, 'ms', {
      latency: much.refused.latency(),
      aim: { of: 'value', atMost: 50, source: AIM },
    });
    figure(`${name}, p99 our client was late`, much.begun.latency().p99, 'ms');
    for (const [who, value] of [
      ['the service', service],
      ['our client', ours],
    ] as const)
      figure(`${name}, of one processor ${who} used`, value, '%');
    for (const [what, recorder] of [
      ['health', watched.health],
      ['metrics', watched.metrics],
    ] as const) {
      const latency = recorder.latency();
      figure(`${name}, p99 of ${what}`, latency.p99, 'ms', { latency });
    }
    figure(`${name}, memory at the end beside the middle`, watched.growth, '%', {
      aim: { of: 'value', atMost: 110, source: AIM },
    });
    figure(`${name}, anonymous memory at the end beside the middle`, watched.anonymousGrowth, '%');
    for (const [what, bytes] of [
      ['memory', watched.resident],
      ['anonymous memory', watched.anonymous],
    ] as const)
      figure(`${name}, ${what} at the end`, bytes / 2 ** 20, 'MiB');
    figure(`${name}, p99 the event loop was late`, watched.loop, 'ms', {
      aim: { of: 'value', atMost: 20, source: AIM },
    });
  } finally {
    client.close();
  }
  const kept = (await flood.kept()) - before;
  if (kept !== accepted) throw new Unverified(`${accepted} of ${name} were accepted, ${kept} are there.`);
  context.verified(`counting ${name}`, kept);
}

/** Starts each request when it is due, independent of the others. Rejects with the first unexpected response. */
async function offer(
  client: Client,
  { request }: Flood,
  { clock }: BenchContext,
  {
    perSecond,
    seconds,
    warmUp,
  }: { readonly perSecond: number; readonly seconds: number; readonly warmUp: number },
): Promise<LoadRecord> {
  const window = { from: clock.now() + warmUp * 1000, until: 0 };
  const seen: LoadRecord = {
    window,
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
    // Small groups, so that responses are read in between.
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
    // Sleeps instead of spinning: the service shares the processors.
    if (due(n) > clock.elapsed()) await clock.sleep(1);
    else await new Promise<void>((resolve) => setImmediate(resolve));
  }
  await Promise.all(underWay);
  window.until = clock.now();
  if (failure !== undefined) throw failure;
  return seen;
}

/**
 * Resolves when all accepted items are done: a growing queue is not sustained, and an idle phase must not process it.
 */
async function drained({ waiting }: Flood, { clock }: BenchContext): Promise<void> {
  while ((await waiting()) > 0) await clock.sleep(DRAIN_POLL_MS);
}
