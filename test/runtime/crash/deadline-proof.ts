/** Deadlines over kills and clocks that are an hour off: each that is due fires once, a cancelled one never. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { openLmdbStore } from '@sealwright/runtime/lmdb';
import { seededIds } from '@sealwright/runtime/testing';
import type { ExecutionContext } from 'ava';
import { roundsOf } from '../../project/rounds.ts';
import { folderFor } from '../folder.ts';
import { type DeadlineContext, fateOf, HOUR } from './deadline.ts';

const WORKER = new URL('./deadline-worker.js', import.meta.url).pathname;
/** Both points take turns. */
const KILLS = roundsOf(2, 4);

interface Census {
  readonly rung: number;
  readonly cancelled: number;
  readonly armed: number;
  /** Rings too many, too early, or of cancelled ones. */
  readonly wrong: number;
}

export async function proveDeadlines(t: ExecutionContext, count: number): Promise<void> {
  const folder = folderFor(t, existsSync('/dev/shm') ? '/dev/shm' : undefined);
  const cancelled = new Set<number>();
  const dice = seededIds(count);
  const live = async (mode: string, off: number, faults = ''): Promise<string | number | null> => {
    const child = spawn(process.execPath, [WORKER, folder, mode, String(count), String(off)], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, SEALWRIGHT_FAULTS: faults },
    });
    const lines = createInterface({ input: child.stdout });
    const read = once(lines, 'close');
    lines.on('line', (line) => {
      const [, n] = /^cancelled (\d+)$/.exec(line) ?? [];
      if (n !== undefined) cancelled.add(Number(n));
    });
    const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
    await read;
    return signal ?? code;
  };
  t.is(await live('arm', 0), 0);
  const near = Array.from({ length: count }, (_, n) => fateOf(n)).filter((fate) => fate === 'near').length;
  const began = performance.now();
  t.is(await live('fire', -HOUR), 0);
  t.like(await censusOf(t, folder, count, cancelled), { rung: 0, wrong: 0 }, 'an hour slow: nothing is due');
  for (let kill = 0; kill < KILLS; kill++) {
    const point = kill % 2 === 0 ? 'timer.due.before-fire' : 'step.committed.before-reply';
    const pass = 1 + (dice.bytes(4).readUInt32LE() % Math.floor(near / (KILLS + 1)));
    t.is(await live('fire', 0, `${point}=kill:${pass}`), 'SIGKILL', `${point}:${pass}`);
    t.is((await censusOf(t, folder, count, cancelled)).wrong, 0, `${point}:${pass}`);
  }
  t.is(await live('fire', 0), 0);
  const now = await censusOf(t, folder, count, cancelled);
  t.true(now.rung >= near && now.wrong === 0, JSON.stringify(now));
  t.is(now.armed, count / 10, 'what is far away waits');
  t.is(await live('fire', HOUR), 0);
  const last = await censusOf(t, folder, count, cancelled);
  t.deepEqual(last, { rung: now.rung + count / 10, cancelled: now.cancelled, armed: 0, wrong: 0 });
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  t.log(`${count} armed, ${KILLS} kills, all told in ${seconds} s: ${JSON.stringify(last)}`);
}

async function censusOf(
  t: ExecutionContext,
  folder: string,
  count: number,
  cancelled: ReadonlySet<number>,
): Promise<Census> {
  const census = { rung: 0, cancelled: 0, armed: 0, wrong: 0 };
  const store = openLmdbStore({ folder: join(folder, 'store') });
  try {
    const found = new Set<string>();
    for (let after: string | undefined; ; ) {
      const page = await store.actors({
        kind: 'deadline',
        limit: 1000,
        ...(after !== undefined && { after }),
      });
      for (const { address, state, context } of page) {
        const { rings, wrong } = context as unknown as DeadlineContext;
        const n = Number(address.id);
        if (Number.isNaN(n)) continue;
        found.add(address.id);
        const promised = cancelled.has(n) || fateOf(n) === 'cancelled';
        if (wrong || rings > 1 || (promised && (rings > 0 || state !== 'cancelled'))) census.wrong += 1;
        census[state as 'rung' | 'cancelled' | 'armed'] += 1;
      }
      after = page.at(-1)?.address.id;
      if (after === undefined) break;
    }
    t.is(found.size, count, 'every actor is there');
  } finally {
    await store.close();
  }
  return census;
}
