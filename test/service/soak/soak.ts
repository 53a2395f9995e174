/**
 * Many jobs of every kind through one service that is paused, stopped and killed meanwhile; at the end files, job
 * states, history, counters, metrics and events must agree.
 *
 * node dist/test/service/soak/soak.js [--jobs 1000] [--seed 1] [--rounds 10] [--keep]
 *
 * One line per round; the same seed makes the same files and acts, though not the same races. Exit code 1, and every
 * disagreement, with the folder left for a look, when there is one.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { systemClock } from '@sealwright/runtime';
import { agreement } from './agreement.ts';
import { type Dice, dice } from './dice.ts';
import { giveOne, type SoakInput } from './giver.ts';
import { Operator } from './operator.ts';
import { SoakService } from './soak-service.ts';

/** Files given side by side. */
const GIVERS = 6;
/** Milliseconds between two acts of the operator, on average. */
const ACT_EVERY = 40;
/** A round may take this long to come to rest, seconds. */
const REST_WITHIN = 1_800;
/** Kills or stops of one round at most. */
const ENDS_A_ROUND = 3;

const { values } = parseArgs({
  options: {
    jobs: { type: 'string', default: '1000' },
    seed: { type: 'string', default: '1' },
    rounds: { type: 'string', default: '10' },
    keep: { type: 'boolean', default: false },
  },
});
const jobs = wholeNumber('jobs', values.jobs);
const seed = wholeNumber('seed', values.seed);
const rounds = Math.min(wholeNumber('rounds', values.rounds), jobs);

const ends: (() => unknown)[] = [];
const cleanup = { teardown: (task: () => unknown) => void ends.unshift(task) };
try {
  process.exitCode = await soak();
} finally {
  for (const end of ends) await end();
}

function wholeNumber(name: string, text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1) return value;
  process.stderr.write(`--${name} must be a whole number of at least 1\n`);
  process.exit(2);
}

async function soak(): Promise<number> {
  const root = await mkdtemp(join(tmpdir(), 'sealwright-soak-'));
  const subject = await SoakService.make(root, cleanup);
  const given: SoakInput = { dropped: [], uploaded: new Map() };
  const operator = new Operator(subject, dice(seed + 1));
  const began = systemClock.elapsed();
  await subject.start();
  for (let round = 1; round <= rounds; round += 1) {
    const chance = dice(seed * 1_000 + round);
    const since = systemClock.elapsed();
    const files = Math.floor((jobs * round) / rounds) - Math.floor((jobs * (round - 1)) / rounds);
    await playRound(subject, given, { operator, chance, plan: { round, files } });
    await subject.rest(chance, REST_WITHIN);
    const seconds = ((systemClock.elapsed() - since) / 1000).toFixed(1);
    const { kills, stops } = subject.counts;
    tell(`${round}/${rounds}  ${files} files  ${seconds} s  ${kills} kills  ${stops} stops so far`);
  }
  const took = (systemClock.elapsed() - began) / 1000;
  const look = () => agreement(subject, given, operator.done, Math.max(1, Math.floor(jobs / 2_000)));
  // The last files are put away after their jobs have ended.
  let verdict = await look();
  for (let tries = 0; verdict.broken.length > 0 && tries < 3; tries += 1) {
    await systemClock.sleep(2_000);
    verdict = await look();
  }
  const acts = [...operator.done.acts].map(([name, count]) => `${count} ${name}`).join(', ');
  tell(`${given.dropped.length} dropped, ${given.uploaded.size} uploaded; ${acts}`);
  tell(
    `${verdict.jobs} jobs ${JSON.stringify(verdict.states)}; ${subject.portal.documents.size} documents on the portal`,
  );
  tell(
    `${subject.counts.kills} kills, ${subject.counts.stops} stops, ${subject.counts.runAgain} effects run again, ${subject.readings.length} readings of the metrics compared`,
  );
  tell(
    `${took.toFixed(0)} s, ${(verdict.jobs / took).toFixed(1)} jobs a second, at most ${(subject.mostMemory / 1e6).toFixed(0)} MB`,
  );
  await subject.stop();
  tell(`${verdict.broken.length} broken`);
  for (const line of verdict.broken) tell(`  ${line}`);
  if (verdict.broken.length > 0 || values.keep) tell(`seen in ${root}`);
  else await rm(root, { recursive: true, force: true });
  return verdict.broken.length > 0 ? 1 : 0;
}

interface Plan {
  readonly round: number;
  readonly files: number;
}

/** Gives the round's files while the operator acts and the service is ended and started again. */
async function playRound(
  subject: SoakService,
  given: SoakInput,
  {
    operator,
    chance,
    plan: { round, files },
  }: { readonly operator: Operator; readonly chance: Dice; readonly plan: Plan },
): Promise<void> {
  let next = 0;
  let giving = true;
  const endings = endingsOf(chance, files);
  /** Nobody gives or acts while the service is being started anew. */
  let restarting: Promise<void> = Promise.resolve();
  const end = async (how: 'kill' | 'stop') => {
    await (how === 'kill' ? subject.kill() : subject.stop());
    await subject.start();
  };
  const giver = async (number: number) => {
    const own = dice(seed * 1_000_000 + round * 100 + number);
    for (let file = next++; file < files; file = next++) {
      const how = endings.get(file);
      // In the middle of everything: the others go on.
      if (how !== undefined) restarting = restarting.then(() => end(how));
      await giveOne(subject, given, own, `${round}-${file}`);
    }
  };
  const acting = async () => {
    while (giving) {
      await operator.act();
      subject.decide(chance);
      await systemClock.sleep(chance.roll(2 * ACT_EVERY));
    }
  };
  const acts = acting();
  await Promise.all(Array.from({ length: GIVERS }, (_, number) => giver(number)));
  giving = false;
  await Promise.all([acts, restarting]);
}

/** At which file of a round the service ends, and how. */
function endingsOf(chance: Dice, files: number): ReadonlyMap<number, 'kill' | 'stop'> {
  const count = chance.roll(ENDS_A_ROUND + 1);
  return new Map(
    Array.from({ length: count }, () => [chance.roll(files), chance.percent(60) ? 'kill' : 'stop'] as const),
  );
}

function tell(line: string): void {
  process.stdout.write(`${line}\n`);
}
