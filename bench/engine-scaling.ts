/**
 * Benchmark of two signing threads against one. Threads that share a core, or a busy machine, prevent a factor of
 * two: the gains of openssl and of plain `crypto.sign` in the same threads are the limits.
 */
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { serializeSigner, validateFile } from '@sealwright/signatures';
import { KEYS, type KeyName, type LocalAuthority, startLocalAuthority } from './engine/authority.ts';
import type { ScalingOrder, ScalingResult, ScalingSetup } from './engine/scaling-worker.ts';
import { type Bench, type BenchContext, type Cpu, Unverified } from './frame/bench.ts';
import { memoryFolder, opensslSpeed } from './frame/limits.ts';

const TARGET = 'target 12 of bench/engine-targets.md';
/** Rounds that alternate one and two threads, so that other load on the machine affects both. */
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
  const folder = context.temporaryFolder(memoryFolder(ROOM));
  try {
    for (const [n, key] of KEYS.entries()) {
      context.progress(key, n, KEYS.length);
      await scale(key, authority, folder, context);
    }
    context.progress('done', KEYS.length, KEYS.length);
  } finally {
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
    limit(`crypto.sign ${key}, two threads beside one`, plain.gain, '×');
    if (openssl !== undefined) limit(`openssl ${key}, two processes beside one`, openssl, '×');
    const engine = await gained(threads, 'pdf', settings.seconds, (outputs) =>
      verify(outputs, authority, context),
    );
    const name = `sign Pades B 28 KB ${key}`;
    const one = engine.one;
    const two = engine.two;
    figure(`${name}, one thread`, one.perSecond, '/s', { cpu: one.cpu });
    figure(`${name}, two threads`, two.perSecond, '/s', { cpu: two.cpu });
    figure(`${name}, two threads beside one`, engine.gain, '×', {
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

interface Speed {
  /** Rate by wall-clock time. */
  readonly perSecond: number;
  /** Processor time: threads that wait for each other use less, threads that share a core more. */
  readonly cpu: Cpu;
}

interface Gain {
  readonly one: Speed;
  readonly two: Speed;
  readonly gain: number;
}

async function gained(
  threads: readonly Thread[],
  work: ScalingOrder['work'],
  seconds: number,
  check: (outputs: readonly string[]) => Promise<void> = async () => {},
): Promise<Gain> {
  let orders = 0;
  const together = async (some: readonly Thread[]): Promise<Speed> => {
    const before = process.cpuUsage();
    const order = { work, seconds: seconds / ROUNDS };
    const results = await Promise.all(
      some.map((thread) => thread.ask({ ...order, name: `${work}-${orders++}` })),
    );
    const { user, system } = process.cpuUsage(before);
    await check(results.flatMap(({ outputs }) => outputs));
    const calls = results.reduce((sum, result) => sum + result.calls, 0);
    return {
      perSecond: results.reduce((sum, result) => sum + result.perSecond, 0),
      cpu: { user: user / 1000 / calls, system: system / 1000 / calls },
    };
  };
  await together(threads);
  const ones: Speed[] = [];
  const twos: Speed[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    // Alternates the thread that runs alone.
    ones.push(await together(threads.slice(round % 2).slice(0, 1)));
    twos.push(await together(threads));
  }
  const one = mean(ones);
  const two = mean(twos);
  return { one, two, gain: two.perSecond / one.perSecond };
}

function mean(speeds: readonly Speed[]): Speed {
  const of = (value: (speed: Speed) => number) =>
    speeds.reduce((sum, speed) => sum + value(speed), 0) / speeds.length;
  return {
    perSecond: of(({ perSecond }) => perSecond),
    cpu: { user: of(({ cpu }) => cpu.user), system: of(({ cpu }) => cpu.system) },
  };
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
