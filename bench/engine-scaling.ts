/**
 * What two threads sign beside one. Where two threads of the machine share a core, or neighbours use it too, nothing can
 * gain a factor of two: what openssl gains, and what plain `crypto.sign` gains in the same threads, are the limits.
 */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { serializeSigner } from '../crypto/keys/transfer.ts';
import { validateFile } from '../crypto/validation/validate.ts';
import { KEYS, type KeyName, type LocalAuthority, startLocalAuthority } from './engine/authority.ts';
import type { ScalingOrder, ScalingResult, ScalingSetup } from './engine/scaling-worker.ts';
import { type Bench, type BenchContext, Unverified } from './frame/bench.ts';
import { memoryFolder, opensslSpeed } from './frame/limits.ts';

const TARGET = 'target 12 of docs/engine-targets.md';
/** One thread, two, one, two, …: so often. Other work on the machine then meets both alike. */
const ROUNDS = 3;
const ROOM = 1 << 30;

export const bench: Bench = {
  name: 'scaling',
  question: 'how many times as much two threads sign as one',
  limits: ['`openssl speed -multi 2` beside one process', 'plain `crypto.sign` in the same threads'],
  run,
};

async function run(context: BenchContext): Promise<void> {
  const authority = await startLocalAuthority();
  const folder = mkdtempSync(join(memoryFolder(ROOM) ?? context.settings.folder, '.bench-'));
  try {
    for (const [n, key] of KEYS.entries()) {
      context.progress(key, n, KEYS.length);
      await scale(key, authority, folder, context);
    }
    context.progress('done', KEYS.length, KEYS.length);
  } finally {
    rmSync(folder, { recursive: true, force: true });
    authority.close();
  }
}

async function scale(
  key: KeyName,
  authority: LocalAuthority,
  folder: string,
  context: BenchContext,
): Promise<void> {
  const { settings, limit, figure } = context;
  const setup: ScalingSetup = { signer: serializeSigner(authority.signers[key]), folder };
  const threads = [startThread(setup), startThread(setup)];
  try {
    const plain = await gained(threads, 'crypto.sign', settings.seconds);
    const openssl = opensslGain(key, settings.seconds);
    limit({ name: `crypto.sign ${key}, two threads beside one`, value: plain.gain, unit: '×' });
    if (openssl !== undefined)
      limit({ name: `openssl ${key}, two processes beside one`, value: openssl, unit: '×' });
    const engine = await gained(threads, 'pdf', settings.seconds, (outputs) =>
      verify(outputs, authority, context),
    );
    const name = `sign Pades B 28 KB ${key}`;
    figure({ name: `${name}, one thread`, value: engine.one, unit: '/s', better: 'more' });
    figure({ name: `${name}, two threads`, value: engine.two, unit: '/s', better: 'more' });
    figure({
      name: `${name}, two threads beside one`,
      value: engine.gain,
      unit: '×',
      better: 'more',
      limit: `crypto.sign ${key}, two threads beside one`,
      aim: { of: 'value', atLeast: 1.9, source: TARGET },
    });
  } finally {
    await Promise.all(threads.map((thread) => thread.end()));
  }
}

interface Thread {
  ask(order: ScalingOrder): Promise<ScalingResult>;
  end(): Promise<unknown>;
}

function startThread(workerData: ScalingSetup): Thread {
  const worker = new Worker(new URL('./engine/scaling-worker.js', import.meta.url), { workerData });
  return {
    async ask(order) {
      const answer = once(worker, 'message');
      worker.postMessage(order);
      const [result] = (await answer) as [ScalingResult];
      return result;
    },
    end: () => worker.terminate(),
  };
}

interface Gain {
  /** A second of the clock. */
  readonly one: number;
  readonly two: number;
  readonly gain: number;
}

async function gained(
  threads: readonly Thread[],
  work: ScalingOrder['work'],
  seconds: number,
  check: (outputs: readonly string[]) => Promise<void> = async () => {},
): Promise<Gain> {
  const part = seconds / ROUNDS;
  let files = 0;
  const together = async (some: readonly Thread[]): Promise<number> => {
    const results = await Promise.all(
      some.map((thread) => thread.ask({ work, seconds: part, name: `${work}-${files++}` })),
    );
    await check(results.flatMap(({ outputs }) => outputs));
    return results.reduce((sum, { perSecond }) => sum + perSecond, 0);
  };
  await together(threads);
  let one = 0;
  let two = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    // Neither thread is the one that is always alone.
    one += await together(threads.slice(round % 2).slice(0, 1));
    two += await together(threads);
  }
  return { one: one / ROUNDS, two: two / ROUNDS, gain: two / one };
}

function opensslGain(key: KeyName, seconds: number): number | undefined {
  const algorithm = key === 'rsa2048' ? 'rsa2048' : 'ecdsap256';
  const one = opensslSpeed(algorithm, seconds, { processes: 1 });
  const two = opensslSpeed(algorithm, seconds, { processes: 2 });
  return one === undefined || two === undefined ? undefined : two / one;
}

async function verify(
  outputs: readonly string[],
  { trust }: LocalAuthority,
  { verified }: BenchContext,
): Promise<void> {
  for (const path of outputs) {
    const report = await validateFile({ format: 'Pades', path, at: Date.now() + 60_000, trust });
    if (report.indication !== 'TOTAL-PASSED') throw new Unverified(`${path}: ${report.indication}`);
    rmSync(path);
  }
  verified('the engine', outputs.length);
}
