/**
 * What becomes of a service that is asked for ten times as much as it can do, while its pool signs: how long those that are
 * let in take beside a quiet service, how soon the others are told to come back, and whether memory stays flat.
 */
import { type Bench, type BenchContext, Unverified } from './frame/bench.ts';
import { LatencyRecorder } from './frame/latency.ts';
import { Client } from './http/client.ts';
import { type Flood, flows, uploads } from './overload/floods.ts';
import { processorShares, Watch } from './overload/watch.ts';
import { type Program, startProgram } from './program.ts';

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
const LEAST_BUSY = 3;
/** Seconds in which a rush becomes an overload and is worked off; they are not counted. */
const RUSH = { quick: 1, usual: 5 };
/** As many times the seconds of a run. */
const FLOOD = { quick: 10, usual: 60 };
const AIM = 'issue 6, overload';

export const bench: Bench = {
  name: 'overload',
  question: 'what ten times the load that can be sustained does to those that are let in, and to the others',
  limits: ['the same requests at a quarter of the rate that can be sustained'],
  run,
};

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

/** Resolves once all that was accepted is done: what piles up is not sustained, and no quiet service works it off. */
async function drained({ waiting }: Flood, { clock }: BenchContext): Promise<void> {
  while ((await waiting()) > 0) await clock.sleep(20);
}
