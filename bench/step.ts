/**
 * Benchmark of durable steps per second, sequential and concurrent, compared with plain LMDB writing the same rows.
 *
 * One step = one message to one actor: read, pure transition, one commit with snapshot, journal line, three list
 * rows, an effect added or dropped, four counters; answered when durable. Four of five actors are not in memory when
 * their message arrives: the runtime keeps about 1,000 of the 5,000.
 */
import { openLmdbStore } from '@sealwright/runtime/lmdb';
import { stepText } from '#runtime/store/lmdb/lmdb-step-text.js';
import type { Bench, BenchContext } from './frame/bench.ts';
import { measure, measureWaiting, type Rate } from './frame/rate.ts';
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
    context.limit({ name: limit, value: middle(bare).perSecond, unit: '/s' });
    context.figure({
      name: `plain LMDB alone, ${inFlight} in flight`,
      better: 'more',
      ...figureOf(middle(bare)),
    });
    context.figure({
      name: `durable steps, ${inFlight} in flight`,
      better: 'more',
      limit,
      ...figureOf(middle(ours)),
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
  context.figure({ name: 'pure step', better: 'more', ...figureOf(pure) });
  context.figure({
    name: 'wake and step, before the flush',
    value: rate.latency.p50 * 1000,
    unit: 'µs',
    better: 'less',
    latency: rate.latency,
    cpu: rate.cpu,
    aim: { of: 'p99', atMost: 0.1, source: AIM },
  });
}

function middle(rounds: readonly Rate[]): Rate {
  const sorted = [...rounds].sort((left, right) => left.perSecond - right.perSecond);
  const found = sorted[Math.floor(sorted.length / 2)];
  if (found === undefined) throw new Error('Nothing was measured.');
  return found;
}

function figureOf({ perSecond, latency, cpu }: Rate) {
  return { value: perSecond, unit: '/s', latency, cpu } as const;
}
