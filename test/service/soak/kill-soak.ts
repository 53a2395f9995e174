/**
 * Kills the whole service again and again, at a fault point or at a random moment, starts it anew and looks from
 * outside whether every promise was kept. The long form of `kill.test.ts`.
 *
 * node dist/test/service/soak/kill-soak.js [--rounds 50] [--seed 1] [--files 24]
 *
 * One line per round; the same seed makes the same rounds. Exit code 1 and every broken promise, with the folder
 * left for a look, when one is broken.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { systemClock } from '@sealwright/runtime';
import { RUNTIME_FAULT_POINTS, seededIds } from '@sealwright/runtime/testing';
import { ACTOR_FAULTS } from '../../../actors/index.ts';
import type { JOB_EFFECTS } from '../../../machines/batch/job-effects.ts';
import { Service } from '../service.ts';
import { brokenPromises } from '../signing/evidence.ts';
import { give, type Load } from './load.ts';

const SETTINGS = { 'Pipeline:MaxConcurrency': 4 };
/** Rounds on one folder: each look reads every job so far, so that a long run begins afresh now and then. */
const ROUNDS_PER_FOLDER = 10;
/** Longest wait before a kill at a random moment, or at a point that is not passed often enough, milliseconds. */
const LATEST_KILL = 2_000;
/** Time for which the service may take to put everything in order, seconds. */
const ORDER_WITHIN = 120;

/** Work of jobs; the points of effects are killed at as each of these passes them. */
const EFFECTS = [
  'sign',
  'release',
  'tidy',
  'quarantine',
  'recordEvent',
] as const satisfies readonly (typeof JOB_EFFECTS)[number]['name'][];
const POINTS = [...Object.keys(RUNTIME_FAULT_POINTS), ...Object.keys(ACTOR_FAULTS)].flatMap((point) =>
  point.startsWith('effect.') ? EFFECTS.map((effect) => `${point}/${effect}`) : [point],
);

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '50' },
    seed: { type: 'string', default: '1' },
    files: { type: 'string', default: '24' },
  },
});
const rounds = wholeNumber('rounds', values.rounds);
const files = wholeNumber('files', values.files);
const dice = seededIds(wholeNumber('seed', values.seed));

const ends: (() => unknown)[] = [];
const cleanup = { teardown: (task: () => unknown) => void ends.push(task) };
try {
  process.exitCode = await soak();
} finally {
  for (const end of ends) await end();
}

/** Rolls a whole number from 0 to below `limit`. */
function roll(limit: number): number {
  return dice.bytes(4).readUInt32LE() % limit;
}

function wholeNumber(name: string, text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1) return value;
  process.stderr.write(`--${name} must be a whole number of at least 1\n`);
  process.exit(2);
}

async function soak(): Promise<number> {
  let root = '';
  let load: Load = { accepted: [], dropped: [] };
  for (let round = 1; round <= rounds; round += 1) {
    if (round % ROUNDS_PER_FOLDER === 1) {
      if (root !== '') await rm(root, { recursive: true, force: true });
      root = await mkdtemp(join(tmpdir(), 'sealwright-soak-'));
      load = { accepted: [], dropped: [] };
    }
    const since = systemClock.elapsed();
    const plan = { point: roll(2) === 0 ? POINTS[roll(POINTS.length)] : undefined, pass: 1 + roll(40) };
    const death = await killedUnderLoad(root, load, `round-${round}`, plan);
    const { broken, jobs } = await lookedAt(root, load);
    const seconds = ((systemClock.elapsed() - since) / 1000).toFixed(1);
    process.stdout.write(
      `${round}/${rounds}  ${death}  ${jobs} jobs  ${seconds} s  ${broken.length} broken\n`,
    );
    if (broken.length > 0) {
      process.stdout.write(`${broken.map((line) => `  ${line}\n`).join('')}  seen in ${root}\n`);
      return 1;
    }
  }
  await rm(root, { recursive: true, force: true });
  return 0;
}

/** Starts, gives files, and waits for the end of the process. Says how it came. */
async function killedUnderLoad(
  root: string,
  load: Load,
  round: string,
  { point, pass }: { readonly point: string | undefined; readonly pass: number },
): Promise<string> {
  const faults = point === undefined ? '' : `${point}=kill:${pass}`;
  let service: Service;
  try {
    service = await Service.start(cleanup, { root, settings: SETTINGS, faults });
  } catch (error) {
    // Recovery passes fault points too; then the process dies before it listens.
    if (faults !== '' && String(error).includes('SIGKILL')) return `${faults} while starting`;
    throw error;
  }
  const giving = give(service, load, round, files).catch(() => {});
  // The moment of the kill is what is tried out, so here a plain delay is right.
  const moment = point === undefined ? 20 + roll(LATEST_KILL) : LATEST_KILL;
  const alive = Symbol('alive');
  const first = await Promise.race([service.ended, systemClock.sleep(moment).then(() => alive)]);
  if (first === alive) await service.kill();
  await giving;
  return first === alive ? `killed after ${moment} ms` : faults;
}

/** Lets the service put everything in order and says what is not. */
async function lookedAt(
  root: string,
  load: Load,
): Promise<{ readonly broken: readonly string[]; readonly jobs: number }> {
  const service = await Service.start(cleanup, { root, settings: SETTINGS });
  try {
    await service.idle(ORDER_WITHIN);
    let broken: readonly string[] = [];
    await service
      .until(
        'everything to be put away',
        async () => {
          // A service that catches up may refuse to be asked; then it is asked again.
          broken = await brokenPromises(service, load).catch((error: unknown) => [String(error)]);
          return broken.length === 0 ? true : undefined;
        },
        ORDER_WITHIN / 4,
      )
      .catch(() => {});
    return { broken, jobs: (await service.jobs()).length };
  } finally {
    await service.kill();
  }
}
