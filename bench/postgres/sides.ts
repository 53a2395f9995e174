/** The compared sides: the runtime on PostgreSQL, its commit function alone, and plain `pg` writing the same rows. */

import { systemClock } from '@sealwright/runtime';
import { openPostgresStore } from '@sealwright/runtime/postgres-parts';
import pg from 'pg';
import { migrateSchema } from '#runtime/store/postgres/migrate-schema.js';
import { commitStatements } from '#runtime/store/postgres/postgres-statements.js';
import { StatementWatch } from '#runtime/store/postgres/statement-watch.js';
import { type EncodedStep, encodeStep } from '#runtime/store/postgres/steps-as-arrays.js';
import { QUIET, quietRuntime } from '../frame/quiet.ts';
import { addressOf, definition, input, newborn, stepOf } from '../step/actor.ts';

/** Actors of one process; each step is of the next one. */
const ACTORS_PER_PROCESS = 1500;

export interface StepSide {
  /** Resolves when the next step is durable. */
  step(): Promise<void>;
  close(): Promise<void>;
}

export interface SideOptions {
  readonly url: string;
  readonly schema: string;
  /** Number of this process, from 0; each has actors of its own. */
  readonly process: number;
}

/** The runtime, as a node of the service has it. */
export async function runtimeSide({ url, schema, process }: SideOptions): Promise<StepSide> {
  const store = await openPostgresStore({
    url,
    schema,
    poolSize: 10,
    node: `bench-${process}`,
    leaseSeconds: 5,
    clock: systemClock,
    log: QUIET,
  });
  const clock = store.nodes?.clock ?? systemClock;
  const never = {
    after: 'visible',
    run: () => new Promise<never>(() => {}),
    failed: () => ({ type: 'NEVER' }),
  } as const;
  const runtime = quietRuntime({ store, clock, definitions: [definition], handlers: { never } });
  const first = process * ACTORS_PER_PROCESS;
  for (let at = 0; at < ACTORS_PER_PROCESS; at += 100) {
    const some = Array.from({ length: 100 }, (_, k) => first + at + k);
    await Promise.all(some.map((n) => runtime.system.create(addressOf(n), { ...input(n) })));
  }
  let next = 0;
  return {
    async step() {
      const n = next++;
      const type = Math.floor(n / ACTORS_PER_PROCESS) % 2 === 0 ? 'CLAIM' : 'RESTARTED';
      const outcome = await runtime.system.send(addressOf(first + (n % ACTORS_PER_PROCESS)), { type });
      if (!outcome.accepted) throw new Error(`A step was refused: ${outcome.reason}.`);
    },
    async close() {
      await runtime.stop(0);
      await store.close();
    },
  };
}

/** Groups of concurrent steps, prepared before: while one is in progress, the next one is collected. */
function grouped(
  prepare: (n: number) => EncodedStep,
  write: (group: readonly EncodedStep[]) => Promise<void>,
) {
  let waiting: { readonly step: EncodedStep; readonly answer: () => void }[] = [];
  let isBusy = false;
  let next = 0;
  const work = async (): Promise<void> => {
    isBusy = true;
    await undefined;
    while (waiting.length > 0) {
      const group = waiting;
      waiting = [];
      await write(group.map(({ step }) => step));
      for (const { answer } of group) answer();
    }
    isBusy = false;
  };
  return () =>
    new Promise<void>((answer) => {
      waiting.push({ step: prepare(next++), answer });
      if (!isBusy) void work();
    });
}

/** The steps of all actors: created, then claimed and restarted in turn with the revisions they have by then. */
function preparedSteps(first: number) {
  const created = Array.from({ length: ACTORS_PER_PROCESS }, (_, at) => newborn(first + at));
  const actors = created.map(({ actor }) => actor);
  return {
    created: created.map((step) => encodeStep(step)),
    next: (n: number): EncodedStep => {
      const at = n % ACTORS_PER_PROCESS;
      const actor = actors[at];
      if (actor === undefined) throw new Error('No such actor.');
      const step = stepOf(actor, actor.state === 'Queued' ? 'CLAIM' : 'RESTARTED', 2);
      actors[at] = step.actor;
      return encodeStep(step);
    },
  };
}

/** Calls of the function `commit_steps`, with nothing around it. */
export async function commitSide(options: SideOptions): Promise<StepSide> {
  const { pool, token } = await openPlain(options);
  const watch = new StatementWatch(new pg.Pool({ connectionString: options.url, max: 1 }));
  const statements = commitStatements(pool, watch);
  const steps = preparedSteps(options.process * ACTORS_PER_PROCESS);
  const write = async (group: readonly EncodedStep[]): Promise<void> => {
    const { outcomes } = await statements.commit(token, group, false);
    if (outcomes.some((outcome) => outcome !== 'ok')) throw new Error(`A step was refused: ${outcomes}.`);
  };
  for (let at = 0; at < steps.created.length; at += 100) await write(steps.created.slice(at, at + 100));
  return {
    step: grouped(steps.next, write),
    close: () => Promise.all([pool.end(), watch.close()]).then(() => {}),
  };
}

/** Writes the same rows in the same transactions by one statement for each table. */
export async function plainSide(options: SideOptions): Promise<StepSide> {
  const { pool } = await openPlain(options);
  const client = await pool.connect();
  const steps = preparedSteps(options.process * ACTORS_PER_PROCESS);
  const write = (group: readonly EncodedStep[]): Promise<void> => writePlain(client, group);
  for (let at = 0; at < steps.created.length; at += 100) await write(steps.created.slice(at, at + 100));
  return {
    step: grouped(steps.next, write),
    close: async () => {
      client.release();
      await pool.end();
    },
  };
}

async function openPlain({ url, schema }: SideOptions) {
  const setup = new pg.Client({ connectionString: url });
  await setup.connect();
  await setup.query(`CREATE SCHEMA IF NOT EXISTS ${schema}`);
  await setup.end();
  const pool = new pg.Pool({ connectionString: url, max: 2, options: `-c search_path=${schema}` });
  await migrateSchema(pool, schema);
  const { rows } = await pool.query<{ token: string }>(
    `INSERT INTO sessions (node, lease, info, slot) VALUES ('plain', '1 day', '{}', 0) RETURNING token`,
  );
  return { pool, token: Number(rows[0]?.token) };
}

async function writePlain(client: pg.PoolClient, group: readonly EncodedStep[]): Promise<void> {
  const column = (name: string) => group.flatMap(({ columns }) => columns[name] ?? []);
  const keys = column('key');
  const drops = keys.filter((_, at) => column('drops')[at] === true);
  const run = (name: string, text: string, ...values: unknown[]) =>
    client.query({ name: `plain-${name}`, text, values });
  await client.query('BEGIN');
  await run(
    'actors',
    `INSERT INTO actors (key, revision, body)
        SELECT key, revision + 1, body FROM unnest($1::bytea[], $2::bigint[], $3::text[]) AS t (key, revision, body)
        ON CONFLICT (key) DO UPDATE SET revision = EXCLUDED.revision, body = EXCLUDED.body
          WHERE actors.revision = EXCLUDED.revision - 1`,
    keys,
    column('basedOn'),
    column('body'),
  );
  await run(
    'journal',
    'INSERT INTO journal (actor, id, line) SELECT * FROM unnest($1::bytea[], $2::bigint[], $3::text[])',
    group.flatMap(({ columns }) => (columns['lineId'] ?? []).map(() => columns['key']?.[0])),
    column('lineId'),
    column('line'),
  );
  await run(
    'drop',
    `DELETE FROM effects USING unnest($1::bytea[]) AS own
        WHERE key > own || '\\x01'::bytea AND key < own || '\\x02'::bytea`,
    drops,
  );
  await run(
    'effects',
    `INSERT INTO effects (key, due, failures, body)
        SELECT * FROM unnest($1::bytea[], $2::bigint[], $3::integer[], $4::text[])`,
    column('effectKey'),
    column('effectDue'),
    column('effectFailures'),
    column('effectBody'),
  );
  await run('remove', 'DELETE FROM rows WHERE key = ANY ($1)', column('remove'));
  await run(
    'put',
    `INSERT INTO rows (key, value) SELECT * FROM unnest($1::bytea[], $2::text[])
        ON CONFLICT (key) DO UPDATE SET value = EXCLUDED.value`,
    column('putKey'),
    column('putValue'),
  );
  await run(
    'counters',
    `INSERT INTO counter_deltas (name, delta)
        SELECT name, sum(delta) FROM unnest($1::bytea[], $2::bigint[]) AS t (name, delta)
        GROUP BY name HAVING sum(delta) <> 0`,
    column('counterName'),
    column('counterChange'),
  );
  await client.query('COMMIT');
}
