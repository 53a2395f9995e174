/**
 * The process that is killed while deadlines fire.
 *
 * node deadline-worker.js <folder> arm|fire <count> <milliseconds its clock is off>
 *
 * `arm` makes the actors and cancels those of that fate; nothing fires. `fire` cancels the contested ones, says
 * `cancelled <n>` of each that took it, and ends once nothing is due and a deadline armed last has fired.
 */
import { join } from 'node:path';
import { type Clock, Faults, systemClock, systemIds } from '@sealwright/runtime';
import { openLmdbStore } from '@sealwright/runtime/lmdb';
import { buildRuntime } from '#runtime/runtime.js';
import { deadline, fateOf, HOUR } from './deadline.ts';

const [, , folder = '', mode = '', counted = '', off = ''] = process.argv;
const count = Number(counted);
const clock: Clock = { ...systemClock, now: () => systemClock.now() + Number(off) };
const faults = Faults.parse(process.env['SEALWRIGHT_FAULTS']);
const store = openLmdbStore({ folder: join(folder, 'store'), faults });
const silent = () => {};
const { system, start, stop } = buildRuntime({
  store,
  clock,
  ids: systemIds,
  log: { debug: silent, info: silent, warn: silent, error: silent },
  faults,
  definitions: [deadline],
  handlers: {},
});

const addressOf = (id: string | number) => ({ kind: 'deadline', id: String(id) });

async function arm(id: string | number, delay: number): Promise<void> {
  await system.create(addressOf(id), { delay, due: clock.now() + delay });
}

async function armAll(): Promise<void> {
  for (let from = 0; from < count; from += 512) {
    const batch = Array.from({ length: Math.min(512, count - from) }, (_, n) => from + n);
    await Promise.all(batch.map((n) => arm(n, fateOf(n) === 'far' ? HOUR : 1)));
    const cancelled = batch.filter((n) => fateOf(n) === 'cancelled');
    await Promise.all(cancelled.map((n) => system.send(addressOf(n), { type: 'CANCEL' })));
  }
}

async function cancelContested(): Promise<void> {
  for (let n = count - 1; n >= 0; n--) {
    if (fateOf(n) !== 'contested') continue;
    const outcome = await system.send(addressOf(n), { type: 'CANCEL' });
    if (!outcome.accepted) continue;
    process.stdout.write(`cancelled ${n}\n`);
  }
}

if (mode === 'arm') await armAll();
else {
  start();
  if (Number(off) === 0) await cancelContested();
  const probe = systemIds.uuid();
  await arm(probe, 1);
  const isOver = async () =>
    (await system.read(addressOf(probe)))?.state === 'rung' &&
    (await store.dueTimers(clock.now(), 1)).length === 0;
  while (!(await isOver())) await systemClock.sleep(10);
}
await stop();
await store.close();
