/**
 * Benchmark of signing and validation on one core, by format, level, size and key.
 *
 * One thread; the local authority for levels T and up is a separate process. Every measured signature is validated
 * afterwards, and one of each case by an independent program.
 */
import { createHash, sign } from 'node:crypto';
import { type KeyName, type LocalAuthority, startLocalAuthority } from './engine/authority.ts';
import {
  aimOf,
  allCases,
  type BenchCase,
  contentOf,
  hashingLimit,
  isUsual,
  limitOf,
  nameOf,
  type Place,
} from './engine/cases.ts';
import { caseRunner } from './engine/jobs.ts';
import type { Bench, BenchContext } from './frame/bench.ts';
import { memoryFolder, opensslSpeed } from './frame/limits.ts';
import { measure } from './frame/rate.ts';
import { noise } from './samples.ts';

/** Limit of output bytes that are kept until verification. */
const ROOM = 1 << 30;

export const bench: Bench = {
  name: 'engine',
  question: 'files signed and validated by one thread, in a second of processor time',
  limits: [
    '`openssl speed` and plain `crypto.sign` with the same kind of key',
    'plain SHA-256 over the same content in memory, where hashing takes longer than signing',
  ],
  run,
};

async function run(context: BenchContext): Promise<void> {
  const { settings } = context;
  const cases = allCases().filter((one) => chosen(one, settings.only) && (!settings.quick || isUsual(one)));
  if (cases.length === 0) throw new Error(`No case has the words of ${settings.only.join(', ')}.`);
  const authority = await startLocalAuthority();
  const memory = memoryFolder(ROOM);
  const folders = new Map<Place, string>([['disk', context.temporaryFolder()]]);
  if (memory !== undefined) folders.set('shm', context.temporaryFolder(memory));
  const runCase = caseRunner({ authority, context, folders });
  try {
    for (const key of new Set(cases.map((one) => one.key))) await tellKeyLimits(key, authority, context);
    await tellHashingLimits(cases, context);
    for (const [n, one] of cases.entries()) {
      context.progress(nameOf(one), n, cases.length);
      const rate = await runCase(one);
      if (rate === undefined) continue;
      const { perCpuSecond: value, latency, cpu } = rate;
      const name = nameOf(one);
      context.figure(name, value, '/CPU s', { latency, cpu, ...limitOf(one), ...aimOf(one) });
    }
    context.progress('done', cases.length, cases.length);
  } finally {
    authority.close();
  }
}

/** True when a case has all words of one filter, such as `Pades B`. */
function chosen(one: BenchCase, only: readonly string[]): boolean {
  const name = ` ${nameOf(one)} `.toLowerCase();
  const has = (words: string) =>
    words
      .toLowerCase()
      .split(/\s+/)
      .every((word) => name.includes(` ${word} `));
  return only.length === 0 || only.some(has);
}

async function tellKeyLimits(key: KeyName, authority: LocalAuthority, context: BenchContext): Promise<void> {
  const { seconds } = context.settings;
  const { key: own } = authority.signers[key];
  if (own.where !== 'memory') throw new Error('The key is not in memory.');
  const openssl = opensslSpeed(key === 'rsa2048' ? 'rsa2048' : 'ecdsap256', seconds);
  if (openssl !== undefined) context.limit(`openssl speed ${key}`, openssl, '/CPU s');
  const data = noise(200, 'attributes');
  const node = await measure(seconds, () => void sign('sha256', data, own.keyObject));
  context.limit(`crypto.sign ${key}`, node.perCpuSecond, '/CPU s');
}

async function tellHashingLimits(cases: readonly BenchCase[], context: BenchContext): Promise<void> {
  const reported = new Set<string>();
  for (const one of cases) {
    const { limit } = limitOf(one);
    if (limit !== hashingLimit(one) || reported.has(limit)) continue;
    reported.add(limit);
    const content = contentOf(one);
    const hash = await measure(
      context.settings.seconds / 2,
      () => void createHash('sha256').update(content).digest(),
    );
    context.limit(limit, hash.perCpuSecond, '/CPU s');
  }
}
