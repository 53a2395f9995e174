/**
 * Benchmark of durable steps per second on PostgreSQL: one, two and three nodes, compared with the commit function alone,
 * with plain `pg` writing the same rows in the same transactions, and with pg-boss where it is installed.
 *
 * Needs a server: SEALWRIGHT_POSTGRES_URL. Processor time of the database is that of its processes on this machine.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { Fatal } from '@sealwright/runtime';
import pg from 'pg';
import type { Bench, BenchContext } from './frame/bench.ts';
import { spentBy } from './frame/processes.ts';
import { middle, rateOf } from './frame/rate.ts';
import type { FromSide, ToSide } from './postgres/side-process.ts';
import type { SideOptions } from './postgres/sides.ts';

const IN_FLIGHT = 64;
/** Rounds alternate all sides, so that other load affects all; the median round of each counts. */
const ROUNDS = 3;
const NODES = [1, 2, 3];
/** Beside three nodes: as many that share nothing, since processes alone cost each other time on few processors. */
const APART = '3 nodes apart';
const AIM = 'docs/performance.md';

/** Beside the sources: packages of others are no part of the product. */
const PEER = new URL('../../bench/peers/pg-boss.js', import.meta.url);
const PEER_PACKAGE = new URL('../../bench/peers/node_modules/pg-boss/package.json', import.meta.url);
const SIDE = new URL('./postgres/side-process.js', import.meta.url);

export const bench: Bench = {
  name: 'postgres',
  question:
    'durable steps of actors a second on PostgreSQL, with one and several nodes, and what one costs where',
  limits: ['plain pg: the same rows in the same transactions, one statement for each table'],
  run,
};

interface Window {
  readonly perSecond: number;
  /** Processor time of one step, milliseconds. */
  readonly node: number;
  readonly database: number;
  readonly p50: number;
}

/** Processes of one side. */
interface RunningSide {
  measure(seconds: number): Promise<Window>;
  close(): Promise<void>;
}

async function run(context: BenchContext): Promise<void> {
  const url = process.env['SEALWRIGHT_POSTGRES_URL'];
  if (url === undefined)
    throw new Fatal(
      'bench.no-postgres',
      'Set SEALWRIGHT_POSTGRES_URL to a server whose schemas may be dropped.',
    );
  const { quick, seconds } = context.settings;
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const sides = new Map<string, RunningSide>();
  const open = async (name: string, side: string, schema: string, processes: number) => {
    for (const name of [schema, ...NODES.map((_, at) => `${schema}_${at}`)])
      await client.query(`DROP SCHEMA IF EXISTS ${name} CASCADE`);
    sides.set(
      name,
      await startSide(client, side, { url, schema, isApart: name === APART, process: 0 }, processes),
    );
  };
  await open('plain pg', 'plain', 'bench_plain', 1);
  await open('commit_steps alone', 'commit', 'bench_commit', 1);
  for (const nodes of quick ? [1] : NODES)
    await open(`${nodes} node${nodes > 1 ? 's' : ''}`, 'runtime', `bench_nodes_${nodes}`, nodes);
  if (!quick) await open(APART, 'runtime', 'bench_apart', 3);
  if (existsSync(PEER_PACKAGE)) await open('pg-boss 10.4.2', 'pg-boss', 'pgboss_bench', 1);
  const windows = new Map<string, Window[]>();
  let done = 0;
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const [name, side] of sides) {
      context.progress(name, done++, (ROUNDS + 1) * sides.size);
      const window = await side.measure(seconds);
      // The first round warms up.
      if (round > 0) windows.set(name, [...(windows.get(name) ?? []), window]);
    }
  }
  for (const side of sides.values()) await side.close();
  const limit = 'plain pg, 64 in flight';
  context.limit(limit, middle(windows.get('plain pg') ?? [], rateOf).perSecond, '/s');
  for (const [name, measured] of windows) {
    const { perSecond, node, database } = middle(measured, rateOf);
    const isNode = name === '1 node';
    context.figure(`steps, ${name}, 64 in flight each`, perSecond, '/s', {
      limit,
      ...(isNode && { aim: { of: 'share', atLeast: 0.6, source: AIM } as const }),
    });
    context.figure(`processor time of a step, ${name}: node`, node * 1000, 'µs');
    context.figure(`processor time of a step, ${name}: database`, database * 1000, 'µs');
  }
  const apart = windows.get(APART) ?? [];
  const shares = (windows.get('3 nodes') ?? []).flatMap((window, round) => {
    const other = apart[round];
    return other === undefined ? [] : [costOf(window) / costOf(other)];
  });
  if (shares.length > 0)
    context.figure(`processor time of a step, 3 nodes: times that of ${APART}`, middle(shares, Number), '×', {
      aim: { of: 'value', atMost: 1.5, source: AIM },
    });
  for (const nodes of quick ? [1] : NODES) {
    const schema = `bench_nodes_${nodes}`;
    const { rows } = await client.query<{ wrong: string; actors: string }>(
      `SELECT count(*) AS actors, count(*) FILTER (WHERE (body::json ->> 'revision')::bigint <> revision
          OR revision - 1 <> (SELECT count(*) FROM ${schema}.journal WHERE actor = actors.key)) AS wrong
        FROM ${schema}.actors`,
    );
    if (Number(rows[0]?.wrong) !== (context.settings.damage ? 1 : 0))
      throw new Fatal(
        'bench.unverified',
        `${rows[0]?.wrong} actors of ${schema} have another number of journal lines.`,
      );
    context.verified(`the store of ${nodes} nodes, read again`, Number(rows[0]?.actors));
  }
  await client.end();
}

function costOf({ node, database }: Window): number {
  return node + database;
}

async function startSide(
  client: pg.Client,
  side: string,
  options: SideOptions & { readonly isApart: boolean },
  processes: number,
): Promise<RunningSide> {
  const children: { send(message: ToSide): void; next(): Promise<FromSide>; gone: Promise<unknown> }[] = [];
  for (let number = 0; number < processes; number += 1) {
    const script = side === 'pg-boss' ? PEER : SIDE;
    const schema = options.isApart ? `${options.schema}_${number}` : options.schema;
    const child = fork(script, [side, JSON.stringify({ ...options, schema, process: number })], {
      stdio: ['ignore', 2, 2, 'ipc'],
    });
    const gone = once(child, 'exit');
    const next = async (): Promise<FromSide> => {
      const ended = gone.then(() => Promise.reject(new Error(`The process of ${side} ended.`)));
      const [message] = await Promise.race([once(child, 'message'), ended]);
      return message as FromSide;
    };
    await next();
    children.push({ send: (message) => void child.send(message), next, gone });
  }
  return {
    async measure(seconds) {
      const before = await databaseTime(client);
      const results = children.map(({ next }) => next());
      for (const { send } of children) send({ type: 'measure', seconds, inFlight: IN_FLIGHT });
      const measured = (await Promise.all(results)).filter((one) => one.type === 'measured');
      const steps = measured.reduce((total, one) => total + one.steps, 0);
      return {
        perSecond: measured.reduce((total, one) => total + one.steps / one.seconds, 0),
        node: measured.reduce((total, { cpu }) => total + cpu, 0) / steps,
        database: (await timeSince(client, before)) / steps,
        p50: Math.max(...measured.map(({ p50 }) => p50)),
      };
    },
    async close() {
      for (const { send, gone } of children) {
        send({ type: 'close' });
        await gone;
      }
    },
  };
}

/** Processor time of the processes of the database on this machine so far, milliseconds, by process id. */
async function databaseTime(client: pg.Client): Promise<ReadonlyMap<number, number>> {
  const { rows } = await client.query<{ pid: number }>('SELECT pid FROM pg_stat_activity');
  return new Map(
    rows.map(({ pid }) => {
      const spent = spentBy(pid);
      return [pid, spent === undefined ? 0 : spent.user + spent.system];
    }),
  );
}

async function timeSince(client: pg.Client, before: ReadonlyMap<number, number>): Promise<number> {
  let total = 0;
  for (const [pid, time] of await databaseTime(client)) total += time - (before.get(pid) ?? 0);
  return total;
}
