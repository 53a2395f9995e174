/**
 * What the runtime promises when the process dies: at every named fault point and at random moments under load.
 * SEALWRIGHT_KILL_ROUNDS sets how many random kills are made (default 6); the proof of the issue runs more.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import test, { type ExecutionContext } from 'ava';
import { openLmdbStore, RUNTIME_FAULT_POINTS, seededIds } from '../../runtime/index.ts';
import { folderFor } from './folder.ts';
import { LEDGERS, type LedgerContext } from './ledger.ts';

const WORKER = new URL('./kill-worker.js', import.meta.url).pathname;
const RANDOM_ROUNDS = Number(process.env['SEALWRIGHT_KILL_ROUNDS'] ?? 6);

/** The highest revision acknowledged per actor, over all lives. */
type Promises = Map<string, number>;

async function live(
  folder: string,
  promised: Promises,
  faults: string,
  killAfter: number,
): Promise<string | null> {
  const child: ChildProcess = spawn(process.execPath, [WORKER, folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, SEALWRIGHT_FAULTS: faults },
  });
  if (child.stdout === null) throw new Error('no output');
  const exited = once(child, 'exit') as Promise<[number | null, string | null]>;
  const lines = createInterface({ input: child.stdout });
  let acks = 0;
  lines.on('line', (line) => {
    const [word, id, revision] = line.split(' ');
    if (word !== 'ack' || id === undefined) return;
    promised.set(id, Math.max(promised.get(id) ?? 0, Number(revision)));
    // A kill by count lands anywhere in the steps in flight, and needs no clock.
    if (++acks === killAfter) child.kill('SIGKILL');
  });
  const [, signal] = await exited;
  return signal;
}

/** Looks at what a killed process has left, as the next one will find it. */
async function inspect(
  t: ExecutionContext,
  folder: string,
  promised: Promises,
  where: string,
): Promise<void> {
  const store = openLmdbStore({ folder: join(folder, 'store') });
  const done = new Set(readWork(folder));
  let asked = 0;
  let worked = 0;
  for (const address of LEDGERS) {
    const actor = await store.load(address);
    const context = (actor?.context ?? { asked: 0, done: [], rested: 0 }) as unknown as LedgerContext;
    t.true(
      (actor?.revision ?? 0) >= (promised.get(address.id) ?? 0),
      `${where}: ${address.id} lost an acknowledged step`,
    );
    t.is(
      new Set(context.done).size,
      context.done.length,
      `${where}: ${address.id} consumed an outcome twice`,
    );
    const pending = await store.pendingEffects(address);
    const open = pending.map(({ effect }) => Number(effect['n']));
    const all = [...context.done, ...open].sort((left, right) => left - right);
    t.deepEqual(
      all,
      Array.from({ length: context.asked }, (_, n) => n),
      `${where}: ${address.id} lost or made up work`,
    );
    t.is(
      (await store.journal(address)).length,
      context.asked + context.done.length,
      `${where}: torn journal`,
    );
    t.is(actor?.journalLength ?? 0, context.asked + context.done.length, `${where}: torn journal length`);
    t.is(
      (await store.dueTimers(Number.MAX_SAFE_INTEGER, 99)).filter(({ actor: { id } }) => id === address.id)
        .length,
      Object.keys(actor?.timers ?? {}).length,
      `${where}: torn deadlines`,
    );
    if (actor !== undefined) {
      const [row] = await store.rows({ view: 'ledger', prefix: [address.id], limit: 1 });
      t.deepEqual(row?.value, { asked: context.asked, worked: context.done.length }, `${where}: torn row`);
    }
    asked += context.asked;
    worked += context.done.length;
  }
  const counters = await store.counters('');
  t.is(counters['asked'] ?? 0, asked, `${where}: torn counter`);
  t.is(counters['worked'] ?? 0, worked, `${where}: torn counter`);
  t.true(done.size >= worked, `${where}: an outcome was consumed whose work was never done`);
  await store.close();
}

function readWork(folder: string): readonly string[] {
  try {
    return readFileSync(join(folder, 'work'), 'utf8').split('\n').filter(Boolean);
  } catch {
    return [];
  }
}

test('killed at every fault point and at random moments, it loses no acknowledged step, tears none and consumes each outcome once', async (t) => {
  t.timeout(120_000);
  const folder = folderFor(t);
  const promised: Promises = new Map();
  const random = seededIds(Number(process.env['SEALWRIGHT_KILL_SEED'] ?? 1)).bytes(1000);
  for (const [n, point] of Object.keys(RUNTIME_FAULT_POINTS).entries()) {
    const pass = 1 + (random.readUInt8(n) % 40);
    const signal = await live(folder, promised, `${point}=kill:${pass}`, -1);
    t.is(signal, 'SIGKILL', `${point} was never passed ${pass} times`);
    await inspect(t, folder, promised, `${point}:${pass}`);
  }
  for (let round = 0; round < RANDOM_ROUNDS; round++) {
    const after = 1 + (random.readUInt16BE(2 * round + 100) % 400);
    await live(folder, promised, '', after);
    await inspect(t, folder, promised, `random kill after ${after}`);
  }
  const drained = spawn(process.execPath, [WORKER, folder, 'drain'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [code] = (await once(drained, 'exit')) as [number | null];
  t.is(code, 0);
  await inspect(t, folder, promised, 'after draining');
  const store = openLmdbStore({ folder: join(folder, 'store') });
  const { asked = 0, worked = 0 } = await store.counters('');
  await store.close();
  t.is(worked, asked, 'all that was asked for has come back');
  t.is(new Set(readWork(folder)).size, asked, 'every piece of work was done at least once');
  const steps = [...promised.values()].reduce((sum, revision) => sum + revision, 0);
  t.log(`${steps} steps acknowledged, ${asked} effects, ${readWork(folder).length} tries`);
});
