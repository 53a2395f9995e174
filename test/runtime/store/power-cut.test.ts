/**
 * A power cut takes what no sync has brought to the disk, in any order. A worker under load is watched by strace; from
 * what it wrote and synced come the files a power cut would have left at many moments, and each is opened and looked at
 * as after a kill. SEALWRIGHT_POWER_CUTS sets at how many moments the power goes.
 */
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openLmdbStore } from '@sealwright/runtime/lmdb';
import { seededIds } from '@sealwright/runtime/testing';
import ava, { type ExecutionContext } from 'ava';
import { stepOf } from '../../contract/steps.ts';
import { roundsOf } from '../../project/rounds.ts';
import { withTools } from '../../verifiers/tool.ts';
import { addPromise, type Breach, lookAtLedgers } from '../crash/ledger-evidence.ts';
import { StrictReceiver } from '../crash/strict-receiver.ts';
import { folderFor } from '../folder.ts';
import { DISK_CALLS, type Fate, TornFile } from './power-cut.ts';
import { bytesIn, readCalls, traced } from './system-calls.ts';

const test = withTools(ava, 'strace');

const WORKER = new URL('../crash/kill-worker.js', import.meta.url).pathname;
const MOMENTS = Number(process.env['SEALWRIGHT_POWER_CUTS'] ?? roundsOf(5, 100));
/** Steps the worker makes before it is killed. */
const STEPS = 40 * MOMENTS;
const FATES: readonly Fate[] = ['lost', 'kept', 'dice', 'dice'];

interface Recording {
  readonly file: TornFile;
  /** Lines the worker wrote, and where in the log each began. */
  readonly said: readonly { readonly line: string; readonly at: number }[];
  readonly end: number;
}

/** A life of the worker on a disk, from a store that is empty and safe to its kill. */
async function record(t: ExecutionContext, folder: string): Promise<Recording> {
  const store = join(folder, 'store');
  await openLmdbStore({ folder: store }).close();
  const data = join(store, 'data.mdb');
  const base = readFileSync(data);
  const receiver = new StrictReceiver();
  const port = await receiver.listen();
  const said = join(folder, 'said');
  const log = join(folder, 'calls');
  const stdout = openSync(said, 'w');
  const worker = traced([WORKER, folder, String(port), 'run'], {
    log,
    calls: DISK_CALLS,
    paths: [data, said],
    stdout,
    env: { SEALWRIGHT_FAULTS: `step.committed.before-reply=kill:${STEPS}` },
  });
  await once(worker, 'exit');
  closeSync(stdout);
  await receiver.close();
  t.deepEqual(receiver.breaches, []);
  const calls = await readCalls(log);
  const isSpeech = ({ name, args }: (typeof calls)[number]) => name === 'write' && args.startsWith('1, ');
  return {
    file: new TornFile(
      base,
      calls.filter((call) => !isSpeech(call)),
    ),
    said: calls
      .filter(isSpeech)
      .map(({ args, begun }) => ({ line: String(bytesIn(args)).trim(), at: begun })),
    end: calls.at(-1)?.ended ?? 0,
  };
}

/** Everything that is broken in the file a power cut leaves; a step taken after it must be taken. */
async function broken(
  folder: string,
  content: Buffer,
  promised: ReadonlyMap<string, number>,
): Promise<readonly Breach[]> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  writeFileSync(join(folder, 'data.mdb'), content);
  const store = openLmdbStore({ folder });
  try {
    const { breaches } = await lookAtLedgers(store, { promised });
    const next = await store.commit(stepOf({ kind: 'after', id: 'the-cut' }, 0, {}));
    return next.ok ? breaches : [...breaches, { promise: 'torn', text: 'the next step was refused' }];
  } finally {
    await store.close();
  }
}

function promisesBefore({ said }: Recording, moment: number): ReadonlyMap<string, number> {
  const promised = new Map<string, number>();
  for (const { line, at } of said) if (at < moment) addPromise(promised, line);
  return promised;
}

test('every acknowledged step survives a power cut, and no step is torn', async (t) => {
  t.timeout(600_000);
  const folder = folderFor(t);
  const recording = await record(t, folder);
  const acknowledged = recording.said.filter(({ line }) => line.startsWith('ack ')).length;
  t.true(acknowledged > STEPS / 20, `${acknowledged} acknowledged`);
  const dice = seededIds(Number(process.env['SEALWRIGHT_KILL_SEED'] ?? 1));
  const roll = (limit: number) => dice.bytes(4).readUInt32LE() % limit;
  let cuts = 0;
  for (let n = 0; n < MOMENTS; n++) {
    const moment = 1 + roll(recording.end);
    for (const fate of FATES) {
      const content = recording.file.after(moment, fate, roll);
      const breaches = await broken(join(folder, 'cut'), content, promisesBefore(recording, moment));
      t.deepEqual(breaches, [], `power cut at line ${moment}, unsynced sectors: ${fate}`);
      cuts += 1;
    }
  }
  // The same looks at a program whose syncs do nothing, to know that they would see it.
  const unsafe = recording.file.withoutSyncs().after(recording.end, 'lost', roll);
  const seen = await broken(join(folder, 'cut'), unsafe, promisesBefore(recording, recording.end));
  t.true(seen.some(({ promise }) => promise === 'lost'));
  const { writes, syncs } = recording.file.size;
  t.log(`${acknowledged} acknowledged, ${writes} writes, ${syncs} syncs, ${cuts} power cuts`);
});
