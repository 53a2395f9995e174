/**
 * How many units of work does a durable library finish in a second? A unit: it is asked for, a function does it once, and its end is stored.
 *
 *   npm ci --prefix bench/peers && npm run build && node bench/peers/durable.js [--seconds 5] [--at-once 16] [--postgres postgres://…]
 *
 * The function does nothing, so what is measured is what durability costs. XState alone stores nothing. Without `--postgres` the rows on PostgreSQL are left
 * out. Not measured: systems that need a server of their own (Temporal, Restate), and BullMQ, which needs Redis.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createRuntime, defineActor, defineEffect } from '@sealwright/runtime';
import { lmdb } from '@sealwright/runtime/lmdb';
import { memory } from '@sealwright/runtime/memory';
import { postgres } from '@sealwright/runtime/postgres';
import { createActor, fromPromise, setup } from 'xstate';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '5' },
    'at-once': { type: 'string', default: '16' },
    postgres: { type: 'string' },
  },
});
const seconds = Number(values.seconds);
const atOnce = Number(values['at-once']);
const folder = mkdtempSync(join(tmpdir(), 'durable-'));
const work = async () => {};

/** An actor that does one unit for each message. */
const done = defineEffect('work', { run: async () => ({ type: 'DONE' }) });
const worker = defineActor('worker', {
  version: 1,
  effects: [done],
  machine: setup({ actions: { work: done.action } }).createMachine({
    initial: 'idle',
    states: {
      idle: { on: { WORK: 'busy' } },
      busy: { entry: { type: 'work', params: {} }, on: { DONE: 'idle' } },
    },
  }),
});

async function ours(store) {
  const waiting = new Map();
  const runtime = await createRuntime({
    store,
    actors: [worker],
    onCommitted({ actor, settles }) {
      if (settles !== null) waiting.get(actor.address.id)?.();
    },
  });
  for (let at = 0; at < atOnce; at += 1) await runtime.create(worker, `w-${at}`);
  return {
    async unit(at) {
      const id = `w-${at}`;
      const ended = new Promise((resolve) => waiting.set(id, resolve));
      await runtime.send(worker, id, { type: 'WORK' });
      await ended;
    },
    stop: () => runtime.stop(),
  };
}

async function xstateAlone() {
  const machine = setup({ actors: { work: fromPromise(work) } }).createMachine({
    initial: 'idle',
    states: {
      idle: { on: { WORK: 'busy' } },
      busy: { invoke: { src: 'work', onDone: 'idle' } },
    },
  });
  const actors = Array.from({ length: atOnce }, () => createActor(machine).start());
  return {
    unit: (at) =>
      new Promise((resolve) => {
        const actor = actors[at];
        actor.send({ type: 'WORK' });
        const { unsubscribe } = actor.subscribe(({ value }) => {
          if (value !== 'idle') return;
          unsubscribe();
          resolve();
        });
      }),
    stop: async () => {},
  };
}

async function pgBoss(url) {
  const { default: PgBoss } = await import('pg-boss');
  const boss = new PgBoss({ connectionString: url, schema: 'pgboss_durable', supervise: false, schedule: false });
  boss.on('error', () => {});
  await boss.start();
  await boss.createQueue('work');
  return {
    async unit() {
      await boss.send('work', {});
      const [job] = await boss.fetch('work');
      await work();
      if (job !== undefined) await boss.complete('work', job.id);
    },
    stop: () => boss.stop({ graceful: false }),
  };
}

async function dbos(url) {
  const { DBOS } = await import('@dbos-inc/dbos-sdk');
  const workflow = DBOS.registerWorkflow(() => DBOS.runStep(work, { name: 'work' }), { name: 'unit' });
  DBOS.setConfig({ name: 'durable', applicationVersion: '1', systemDatabaseUrl: url, logLevel: 'error' });
  await DBOS.launch();
  return { unit: () => workflow(), stop: () => DBOS.shutdown() };
}

const SIDES = {
  'XState alone (nothing is stored)': xstateAlone,
  'sealwright, memory (nothing is stored)': () => ours(memory()),
  'sealwright, LMDB': () => ours(lmdb(join(folder, 'lmdb'))),
  ...(values.postgres !== undefined && {
    'sealwright, PostgreSQL': () => ours(postgres(values.postgres, { schema: 'sealwright_durable' })),
    'pg-boss, PostgreSQL': () => pgBoss(values.postgres),
    'DBOS, PostgreSQL': () => dbos(values.postgres),
  }),
};

const rows = {};
for (const [name, open] of Object.entries(SIDES)) {
  const side = await open();
  await measure(side, Math.min(1, seconds));
  rows[name] = await measure(side, seconds);
  await side.stop();
}
rmSync(folder, { recursive: true, force: true });
console.log(
  `date    ${new Date().toISOString()}\nnode    ${process.version}\nmachine ${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}\nat once ${atOnce}\n`,
);
console.table(rows);
process.exit(0);

async function measure({ unit }, duration) {
  const begun = performance.now();
  const before = process.cpuUsage();
  const took = [];
  await Promise.all(
    Array.from({ length: atOnce }, async (_, at) => {
      while (performance.now() < begun + duration * 1000) {
        const from = performance.now();
        await unit(at);
        took.push(performance.now() - from);
      }
    }),
  );
  const { user, system } = process.cpuUsage(before);
  took.sort((one, other) => one - other);
  return {
    'per second': Math.round((took.length * 1000) / (performance.now() - begun)),
    'per CPU second': Math.round(took.length / ((user + system) / 1e6)),
    'p50 ms': Number((took[took.length >> 1] ?? 0).toFixed(2)),
  };
}
