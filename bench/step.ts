/**
 * Benchmark of durable steps per second, sequential and concurrent, compared with plain LMDB writing the same rows.
 *
 * One step = one message to one actor: read, pure transition, one commit with snapshot, journal line, three list
 * rows, an effect added or dropped, four counters; answered when durable. Four of five actors are not in memory when
 * their message arrives: the runtime keeps about 1,000 of the 5,000.
 */
import { openLmdbStore } from '@sealwright/runtime/lmdb';
import { stepText } from '#runtime/store/lmdb/lmdb-tables.js';
import type { Bench, BenchContext } from './frame/bench.ts';
import { measure, measureWaiting, middle, type Rate, rateOf } from './frame/rate.ts';
import { addressOf, newborn, stepOf } from './step/actor.ts';
import { plainLmdb, runtimeOn } from './step/sides.ts';

const IN_FLIGHT = [1, 16, 64];
/** Rounds alternate both sides, so that other load affects both; the median round of each counts. */
const ROUNDS = 3;
const AIM = 'docs/performance.md';

export const bench: Bench = {
  name: 'step',
  question: 'durable steps of actors a second, and what one costs before it is written',
  limits: [
    'plain LMDB: the same rows in one transaction for each turn of the event loop, with nothing around it',
  ],
  run,
};

async function run(context: BenchContext): Promise<void> {
  const { settings } = context;
  const counts = settings.quick ? [16] : IN_FLIGHT;
  await wakeAndStep(context, counts.length + 1);
  for (const [n, inFlight] of counts.entries()) {
    context.progress(`${inFlight} in flight`, n + 1, counts.length + 1);
    const plain = plainLmdb(context.temporaryFolder());
    const runtime = await runtimeOn(context.temporaryFolder());
    const bare: Rate[] = [];
    const ours: Rate[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      bare.push(await measureWaiting(settings.seconds, inFlight, () => plain.step()));
      ours.push(await measureWaiting(settings.seconds, inFlight, () => runtime.step()));
    }
    await plain.close();
    context.verified('the store, opened again', await runtime.verify(settings.damage));
    const limit = `plain LMDB, ${inFlight} in flight`;
    const plainly = middle(bare, rateOf);
    const durably = middle(ours, rateOf);
    context.limit(limit, plainly.perSecond, '/s');
    context.figure(`plain LMDB alone, ${inFlight} in flight`, plainly.perSecond, '/s', costOf(plainly));
    context.figure(`durable steps, ${inFlight} in flight`, durably.perSecond, '/s', {
      limit,
      ...costOf(durably),
      ...(inFlight === 64 && { aim: { of: 'value', atLeast: 20_000, source: AIM } }),
    });
  }
}

/** Measures the work for an actor that is not in memory up to its commit: load, read, transition, encode. */
async function wakeAndStep(context: BenchContext, of: number): Promise<void> {
  context.progress('wake and step', 0, of);
  const store = openLmdbStore({ folder: context.temporaryFolder() });
  const asleep = 1000;
  await Promise.all(Array.from({ length: asleep }, (_, n) => store.commit(newborn(n))));
  const actors = await Promise.all(Array.from({ length: asleep }, (_, n) => store.load(addressOf(n))));
  let n = 0;
  const rate = await measureWaiting(context.settings.seconds, 1, async () => {
    const actor = await store.load(addressOf(n++ % asleep));
    if (actor !== undefined) stepText(stepOf(actor, 'CLAIM', n));
  });
  const texts = actors.map((actor) => JSON.stringify(actor));
  const pure = await measure(context.settings.seconds, () => {
    stepOf(JSON.parse(texts[n++ % asleep] ?? ''), 'CLAIM', n);
  });
  await store.close();
  context.figure('pure step', pure.perSecond, '/s', costOf(pure));
  context.figure('wake and step, before the flush', rate.latency.p50 * 1000, 'µs', {
    ...costOf(rate),
    aim: { of: 'p99', atMost: 0.1, source: AIM },
  });
}

const costOf = ({ latency, cpu }: Rate) => ({ latency, cpu });
