/** Everything the store on PostgreSQL promises when connections, statements and the server fail. */

import { type ActorStore, systemClock } from '@sealwright/runtime';
import { openPostgresStore } from '@sealwright/runtime/postgres-parts';
import { SimulatedClock } from '@sealwright/runtime/testing';
import ava, { type ExecutionContext } from 'ava';
import pg from 'pg';
import { SCHEMA_VERSION } from '#runtime/model/store-formats.js';
import { openPool } from '#runtime/store/postgres/connection/connection.js';
import { commitStatements } from '#runtime/store/postgres/postgres-statements.js';
import { StatementWatch } from '#runtime/store/postgres/statement-watch.js';
import { SILENT } from '../actors/portal/uploads/upload-harness.ts';
import { A, B, effectOf, stepOf } from '../contract/steps.ts';
import { reached } from '../project/waiting.ts';
import { withTools } from '../verifiers/tool.ts';
import { type Cluster, startServer } from './cluster.ts';
import { type FaultyLine, startProxy } from './proxy.ts';

const test = withTools(ava, 'postgres');

let cluster: Cluster;
let schemas = 0;

test.before(async () => {
  cluster = await startServer();
});
test.after.always(() => cluster?.remove());

interface FaultFixture {
  readonly server: Cluster;
  readonly schema: string;
  readonly proxy: FaultyLine;
  /** Opens a node; its connections go through the proxy. */
  open(
    node: string,
    more?: { readonly leaseSeconds?: number; readonly statementTimeoutMs?: number },
  ): Promise<ActorStore>;
  /** Runs SQL beside the store. */
  query(text: string, values?: readonly unknown[]): Promise<readonly pg.QueryResultRow[]>;
}

function scenario(title: string, check: (t: ExecutionContext, fixture: FaultFixture) => Promise<void>): void {
  test.serial(title, async (t) => {
    const server = cluster;
    schemas += 1;
    const schema = `faults_${schemas}`;
    const proxy = await startProxy(server.port);
    const opened: ActorStore[] = [];
    const url = `postgres://sealwright@127.0.0.1:${proxy.port}/postgres`;
    const direct = new pg.Pool({ connectionString: server.url, max: 4, options: `-c search_path=${schema}` });
    direct.on('error', () => {});
    try {
      await check(t, {
        server,
        schema,
        proxy,
        open: async (node, more) => {
          const store = await openPostgresStore({
            url,
            schema,
            poolSize: 3,
            node,
            leaseSeconds: 5,
            clock: systemClock,
            log: SILENT,
            ...more,
          });
          opened.push(store);
          return store;
        },
        query: async (text, values = []) => (await direct.query(text, [...values])).rows,
      });
    } finally {
      proxy.resume();
      await Promise.all(opened.map((store) => store.close()));
      await direct.end();
      await proxy.close();
    }
  });
}

const UNAVAILABLE = { code: 'store.unavailable' };

scenario(
  'a step whose request is cut is not stored, and the same step is stored when it is sent again',
  async (t, fixture) => {
    const store = await fixture.open('one');
    fixture.proxy.cutNext('commit_steps', 'before-request');
    await t.throwsAsync(store.commit(stepOf(A, 0, { counters: { c: 1 } })), UNAVAILABLE);
    t.is(await store.load(A), undefined);
    t.true((await store.commit(stepOf(A, 0, { counters: { c: 1 } }))).ok);
    t.deepEqual(await store.counters(''), { c: 1 });
  },
);

scenario('a silently dead connection does not block the load of an actor', async (t, fixture) => {
  const store = await fixture.open('one');
  for (const actor of [A, B]) t.true((await store.commit(stepOf(actor, 0))).ok);
  fixture.proxy.stallNext('FROM actors WHERE key = ANY');
  const held = store.load(A);
  const later = store.load(B);
  t.deepEqual([(await held)?.revision, (await later)?.revision], [1, 1]);
  // The dead connection is not used again.
  t.is((await store.load(A))?.revision, 1);
});

for (const others of [0, 1]) {
  for (const lost of ['request', 'answer'] as const) {
    scenario(
      `a commit whose ${lost} a dead connection swallows is stored and told once, with ${others} other nodes`,
      async (t, fixture) => {
        const store = await fixture.open('one');
        if (others > 0) await fixture.open('two');
        const notified: string[] = [];
        store.nodes?.follow({
          committed: ({ actor }) => notified.push(`${actor.address.id}/${actor.revision}`),
          adopted: () => {},
        });
        await store.commit(stepOf(A, 0));
        fixture.proxy.stallNext('commit-steps', lost);
        const step = stepOf(A, 1, { counters: { c: 1 }, effects: [effectOf(A, 2, 0, 5)] });
        t.true((await store.commit(step)).ok);
        await store.nodes?.sync();
        t.deepEqual(notified, ['a/1', 'a/2']);
        t.deepEqual(await store.counters(''), { c: 1 });
        t.is((await store.pendingEffects(A)).length, 1);
        t.false((await store.commit(step)).ok);
      },
    );
  }
}

scenario('reads on a silently dead connection are repeated', async (t, fixture) => {
  const store = await fixture.open('one');
  await fixture.open('two');
  await store.commit(stepOf(A, 0, { counters: { c: 1 } }));
  const reads: readonly (readonly [string, () => Promise<unknown>])[] = [
    ['journal', () => store.journal(A)],
    ['counters', () => store.counters('')],
    ['rows>=false', () => store.rows({ view: 'v', limit: 1 })],
    ['read-changes', async () => store.nodes?.sync()],
    ['FROM leases WHERE session = token', async () => store.nodes?.list()],
    ['INSERT INTO leases', async () => store.nodes?.acquire('l')],
  ];
  for (const [name, read] of reads) {
    fixture.proxy.stallNext(name);
    await t.notThrowsAsync(read(), name);
  }
});

scenario(
  'a statement on a dead connection is found while the store closes, long before its timeout',
  async (t, fixture) => {
    const store = await fixture.open('one', { statementTimeoutMs: 30_000 });
    await store.commit(stepOf(A, 0));
    fixture.proxy.stallNext('journal');
    const read = t.throwsAsync(store.journal(A), UNAVAILABLE);
    await store.close();
    t.notRegex((await read)?.message ?? '', /timeout/);
  },
);

scenario(
  'an answered commit leaves its connection to the statements that use it next',
  async (t, fixture) => {
    const store = await fixture.open('one');
    const options = { url: fixture.server.url, schema: fixture.schema };
    const pool = openPool({ ...options, poolSize: 2 }, () => {});
    const watch = new StatementWatch(openPool({ ...options, poolSize: 1 }, () => {}));
    const { commit, stored } = commitStatements(pool, watch);
    const [session] = await fixture.query('SELECT token FROM sessions');
    const commits: readonly (readonly [string, () => Promise<unknown>])[] = [
      ['accepted', () => commit(Number(session?.['token']), [], false)],
      ['refused', () => t.throwsAsync(commit(-1, [], false), { code: 'LS001' })],
    ];
    try {
      for (const [title, send] of commits) {
        await send();
        const next = await pool.connect();
        try {
          await stored(-1, []);
          await t.notThrowsAsync(next.query('SELECT 1'), title);
        } finally {
          next.release();
        }
      }
    } finally {
      await pool.end();
      await watch.close();
      await store.close();
    }
  },
);

scenario('failed looks for statements that were answered do not count for later ones', async (t, fixture) => {
  const clock = new SimulatedClock();
  let failures = 0;
  const pool = openPool({ url: fixture.server.url, poolSize: 2 }, () => {});
  const nowhere = openPool({ url: 'postgres://sealwright@127.0.0.1:1/postgres', poolSize: 1 }, () => {});
  const log = { debug: () => (failures += 1), warn() {} };
  const watch = new StatementWatch(nowhere, log, clock);
  const holder = await pool.connect();
  try {
    for (const round of [1, 2]) {
      await holder.query('SELECT pg_advisory_lock(1)');
      let isGivenUp = false;
      const waiting = watch.on(pool).query({ text: 'SELECT pg_advisory_xact_lock(1)' });
      waiting.catch(() => {
        isGivenUp = true;
      });
      for (const look of [1, 2]) {
        while (clock.pending === 0 && !isGivenUp) await systemClock.sleep(5);
        clock.advance(750);
        while (failures < 2 * (round - 1) + look && !isGivenUp) await systemClock.sleep(5);
      }
      await holder.query('SELECT pg_advisory_unlock(1)');
      await t.notThrowsAsync(waiting, `round ${round}`);
      // The next look finds no late statement.
      clock.advance(750);
    }
  } finally {
    holder.release(true);
    await pool.end();
    await watch.close();
  }
});

scenario('a heartbeat lost on a dead connection is repeated within the lease', async (t, fixture) => {
  // The death of a connection takes two seconds to find.
  for (const node of ['one', 'two']) await fixture.open(node, { leaseSeconds: 15 });
  const session = async () =>
    (await fixture.query(`SELECT token, seen_at FROM sessions WHERE node = 'one'`))[0];
  const before = await session();
  fixture.proxy.stallNext('UPDATE sessions SET seen_at');
  await reached(async () => Number((await session())?.['seen_at']) - Number(before?.['seen_at']) >= 2500);
  t.is((await session())?.['token'], before?.['token']);
});

scenario(
  'a statement that waits for a lock does not count as one on a dead connection',
  async (t, fixture) => {
    const store = await fixture.open('one');
    await store.commit(stepOf(A, 0));
    const blocker = new pg.Client({
      connectionString: fixture.server.url,
      options: `-c search_path=${fixture.schema}`,
    });
    await blocker.connect();
    await blocker.query('BEGIN');
    await blocker.query('SELECT 1 FROM actors FOR UPDATE');
    const waiting = store.commit(stepOf(A, 1, { counters: { c: 1 } }));
    const looks = new Set<string>();
    while (looks.size < 5) {
      const found = await fixture.query(
        `SELECT query_start::text AS at FROM pg_stat_activity WHERE query LIKE '%IS DISTINCT FROM ''Client''%' AND pid <> pg_backend_pid()`,
      );
      for (const { at } of found) looks.add(at);
      await systemClock.sleep(20);
    }
    await blocker.query('ROLLBACK');
    await blocker.end();
    t.true((await waiting).ok);
    t.deepEqual(await store.counters(''), { c: 1 });
  },
);

scenario('a database that does not answer on any connection is unavailable', async (t, fixture) => {
  const store = await fixture.open('one', { leaseSeconds: 60 });
  await store.commit(stepOf(A, 0));
  fixture.proxy.pause();
  await t.throwsAsync(store.commit(stepOf(A, 1, { counters: { c: 1 } })), {
    ...UNAVAILABLE,
    message: /any connection/,
  });
  fixture.proxy.resume();
  await store.nodes?.sync();
  const isStored = (await store.load(A))?.revision === 2;
  t.deepEqual(await store.counters(''), isStored ? { c: 1 } : {});
  t.is((await store.commit(stepOf(A, 1, { counters: { c: 1 } }))).ok, !isStored);
  t.deepEqual(await store.counters(''), { c: 1 });
});

scenario('a step with a lost answer is found, and never stored twice', async (t, fixture) => {
  const store = await fixture.open('one');
  t.true((await store.commit(stepOf(B, 0))).ok);
  fixture.proxy.cutNext('commit-steps', 'before-answer');
  await t.throwsAsync(
    store.commit(stepOf(A, 0, { counters: { c: 1 }, effects: [effectOf(A, 1, 0, 5)] })),
    UNAVAILABLE,
  );
  const isStored = async () => (await fixture.query('SELECT 1 FROM actors WHERE revision = 1')).length === 2;
  await reached(isStored);
  t.deepEqual(await store.commit(stepOf(A, 0, { counters: { c: 1 } })), { ok: false, reason: 'stale' });
  t.deepEqual(await store.counters(''), { c: 1 });
  t.is((await store.pendingEffects(A)).length, 1);
});

scenario(
  'every read and write reports an unavailable store when its connection is cut, and works afterwards',
  async (t, fixture) => {
    const store = await fixture.open('one');
    await store.commit(stepOf(A, 0, { effects: [effectOf(A, 1, 0, 5)] }));
    // By the names of the prepared statements: other statements run in the background.
    const statements: readonly (readonly [string, () => Promise<unknown>])[] = [
      ['load', () => store.load(A)],
      ['actors', () => store.actors({ kind: 'job', limit: 1 })],
      ['journal', () => store.journal(A)],
      ['rows>=false', () => store.rows({ view: 'v', limit: 1 })],
      ['counters', () => store.counters('')],
      ['holder', () => store.holder('n')],
      ['lease', () => store.leaseEffects(1, 1)],
      ['partitions', () => store.partitions({ prefix: '', limit: 1 })],
      ['defer', () => store.deferEffect('job/a/1/0', 9, 'x')],
      ['hasten-new', () => store.rescheduleAfterClockRegression(1)],
      ['next-effect', () => store.nextEffectDue()],
      ['pending', () => store.pendingEffects(A)],
      ['failed', () => store.failedEffects({ limit: 1 })],
      ['failed-count', () => store.failedEffectCount()],
      ['due-timers', () => store.dueTimers(1, 1)],
      ['next-timer', () => store.nextTimerDue()],
      ['commit-steps', () => store.commit(stepOf(B, 0))],
    ];
    for (const [name, run] of statements) {
      fixture.proxy.cutNext(name, 'before-request');
      await t.throwsAsync(run(), UNAVAILABLE, name);
      await t.notThrowsAsync(run(), `${name}, again`);
    }
  },
);

scenario('the store retries a step after a deadlock or a serialization failure', async (t, fixture) => {
  const store = await fixture.open('one');
  await store.commit(stepOf(A, 0));
  await fixture.query('CREATE SEQUENCE attempts');
  await fixture.query(`CREATE FUNCTION fail_twice() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF nextval('attempts') <= 2 THEN RAISE EXCEPTION 'made by the test' USING ERRCODE = '40001'; END IF;
    RETURN NEW; END $$`);
  await fixture.query(
    'CREATE TRIGGER fail BEFORE UPDATE ON actors FOR EACH ROW EXECUTE FUNCTION fail_twice()',
  );
  t.true((await store.commit(stepOf(A, 1, { counters: { c: 1 } }))).ok);
  t.is(Number((await fixture.query('SELECT last_value FROM attempts'))[0]?.['last_value']), 3);
  t.deepEqual(await store.counters(''), { c: 1 });
});

scenario(
  'a step over the statement timeout is refused as retryable and leaves nothing',
  async (t, fixture) => {
    const store = await fixture.open('one', { statementTimeoutMs: 3000 });
    await store.commit(stepOf(A, 0));
    await fixture.query('CREATE TABLE locked AS SELECT 1');
    const blocker = new pg.Client({
      connectionString: fixture.server.url,
      options: `-c search_path=${fixture.schema}`,
    });
    await blocker.connect();
    await blocker.query('BEGIN');
    await blocker.query('SELECT 1 FROM actors FOR UPDATE');
    await t.throwsAsync(store.commit(stepOf(A, 1, { counters: { c: 1 } })), UNAVAILABLE);
    await blocker.query('ROLLBACK');
    await blocker.end();
    t.true((await store.commit(stepOf(A, 1))).ok);
    t.deepEqual(await store.counters(''), {});
  },
);

scenario('a server has every answered step after a crash and restart', async (t, fixture) => {
  const store = await fixture.open('one');
  const answered = new Set<number>();
  let next = 0;
  let isRunning = true;
  const write = async () => {
    while (isRunning) {
      const n = next++;
      try {
        if ((await store.commit(stepOf({ kind: 'job', id: `n${n}` }, 0))).ok) answered.add(n);
      } catch (error) {
        t.is((error as { code?: string }).code, 'store.unavailable');
        await systemClock.sleep(20);
      }
    }
  };
  const writers = Array.from({ length: 8 }, write);
  const answeredBy = async (count: number) => {
    await reached(() => answered.size >= count);
  };
  await answeredBy(50);
  await fixture.server.stop('immediate');
  await fixture.server.start();
  await answeredBy(answered.size + 50);
  isRunning = false;
  await Promise.all(writers);
  for (const n of answered)
    t.truthy(await store.load({ kind: 'job', id: `n${n}` }), `job n${n} was answered`);
});

scenario(
  'a node suspended for longer than its lease commits nothing stale afterwards',
  async (t, fixture) => {
    const suspended = await fixture.open('one', { leaseSeconds: 1 });
    await suspended.commit(stepOf(A, 0, { effects: [effectOf(A, 1, 0, 5), effectOf(A, 1, 1, 5)] }));
    t.is((await suspended.leaseEffects(9, 9)).length, 2);
    fixture.proxy.pause();
    const stale = suspended.commit(stepOf(A, 1, { settles: 'job/a/1/0' }));
    // The other node reaches the server past the proxy.
    const other = await openPostgresStore({
      url: fixture.server.url,
      schema: fixture.schema,
      poolSize: 3,
      node: 'two',
      leaseSeconds: 5,
      clock: systemClock,
      log: SILENT,
    });
    try {
      let taken: readonly { readonly key: string }[] = [];
      while (taken.length === 0) {
        await systemClock.sleep(50);
        taken = await other.leaseEffects(9, 9);
      }
      t.deepEqual(
        taken.map(({ key }) => key),
        ['job/a/1/0', 'job/a/1/1'],
      );
      fixture.proxy.resume();
      await t.throwsAsync(stale, UNAVAILABLE);
      t.true((await other.commit(stepOf(A, 1, { settles: 'job/a/1/0' }))).ok);
      t.deepEqual(await suspended.commit(stepOf(A, 2, { settles: 'job/a/1/1' })), {
        ok: false,
        reason: 'duplicate',
      });
      t.true((await suspended.commit(stepOf(B, 0))).ok, 'it goes on with a new session');
      await suspended.deferEffect('job/a/1/1', 99, 'not its own any more');
      t.is((await other.pendingEffects(A))[0]?.failures, 0);
    } finally {
      await other.close();
    }
  },
);

scenario('effects are leased again when the answer to their lease is lost', async (t, fixture) => {
  const store = await fixture.open('one');
  await store.commit(stepOf(A, 0, { effects: [effectOf(A, 1, 0, 5), effectOf(A, 1, 1, 7)] }));
  t.is((await store.leaseEffects(6, 9)).length, 1, 'one is held');
  fixture.proxy.cutNext('lease', 'before-answer');
  await t.throwsAsync(store.leaseEffects(9, 9), UNAVAILABLE);
  t.is((await fixture.query('SELECT FROM effects WHERE lease IS NOT NULL')).length, 2);
  t.deepEqual(
    (await store.leaseEffects(9, 9)).map(({ key }) => key),
    ['job/a/1/1'],
  );
  t.deepEqual(await store.leaseEffects(9, 9), [], 'what is held stays leased');
});

scenario(
  'an effect that is leased again before the answer to its deferral has arrived runs again',
  async (t, { open, proxy, query }) => {
    const store = await open('one');
    t.true((await store.commit(stepOf(A, 0, { effects: [effectOf(A, 1, 0, 5)] }))).ok);
    const [{ key } = { key: '' }] = await store.leaseEffects(6, 9);
    proxy.stallNext('last_error = $3', 'answer');
    const defer = () => store.deferEffect(key, 7, 'failed');
    // A line that stands still for too long is given up; the outbox then asks again.
    const deferred = defer().catch(defer);
    await reached(async () => (await query('SELECT FROM effects WHERE lease IS NULL')).length === 1);
    const leased = [...(await store.leaseEffects(9, 9))];
    proxy.resume();
    await deferred;
    leased.push(...(await store.leaseEffects(9, 9)));
    t.deepEqual(
      leased.map((effect) => effect.key),
      [key],
    );
  },
);

for (const others of [0, 1]) {
  scenario(`a step whose answer is lost is told once, with ${others} other nodes`, async (t, fixture) => {
    const store = await fixture.open('one');
    if (others > 0) await fixture.open('two');
    const notified: string[] = [];
    let adoptions = 0;
    store.nodes?.follow({
      committed: ({ actor }) => notified.push(`${actor.address.id}/${actor.revision}`),
      adopted: () => {
        adoptions += 1;
      },
    });
    await store.commit(stepOf(A, 0));
    fixture.proxy.cutNext('commit-steps', 'before-answer');
    await t.throwsAsync(store.commit(stepOf(A, 1)), UNAVAILABLE);
    await reached(() => notified.includes('a/2'));
    fixture.proxy.cutNext('commit-steps', 'before-request');
    await t.throwsAsync(store.commit(stepOf(A, 2)), UNAVAILABLE);
    t.true((await store.commit(stepOf(B, 0))).ok);
    await store.nodes?.sync();
    t.deepEqual(notified, ['a/1', 'a/2', 'b/1']);
    t.true(adoptions > 0);
  });
}

scenario('a second process with the same node name is refused while the first runs', async (t, fixture) => {
  await fixture.open('one');
  await t.throwsAsync(fixture.open('one', { leaseSeconds: 1 }), {
    code: 'store.locked',
    message: /Runtime:NodeName/,
  });
  await t.notThrowsAsync(fixture.open('two', { leaseSeconds: 1 }));
});

scenario(
  'two nodes that create the schema concurrently both open, and a newer schema is refused',
  async (t, fixture) => {
    const stores = await Promise.all(['one', 'two', 'three'].map((node) => fixture.open(node)));
    t.true((await (stores[0] as ActorStore).commit(stepOf(A, 0))).ok);
    t.is((await (stores[2] as ActorStore).load(A))?.revision, 1);
    await fixture.query('UPDATE schema_version SET version = $1', [SCHEMA_VERSION + 1]);
    await t.throwsAsync(fixture.open('four'), { code: 'store.too-new' });
  },
);

scenario('exactly one of two nodes that step an actor at the same revision commits', async (t, fixture) => {
  const one = await fixture.open('one');
  const two = await fixture.open('two');
  for (let revision = 0; revision < 30; revision++) {
    const outcomes = await Promise.all(
      [one, two].map((store, at) =>
        store.commit(stepOf(A, revision, { counters: { c: 1 } }, { context: at })),
      ),
    );
    t.is(outcomes.filter(({ ok }) => ok).length, 1);
  }
  t.deepEqual(await two.counters(''), { c: 30 });
});

scenario('counters are the same before and after they are folded, and hold no zeros', async (t, fixture) => {
  const store = await fixture.open('one');
  const actors = Array.from({ length: 20 }, (_, n) => ({ kind: 'job', id: `${n}` }));
  await Promise.all(
    actors.map((actor) => store.commit(stepOf(actor, 0, { counters: { all: 1, queued: 1 } }))),
  );
  await Promise.all(actors.map((actor) => store.commit(stepOf(actor, 1, { counters: { queued: -1 } }))));
  t.deepEqual(await store.counters(''), { all: 20 });
  const folded = async () => (await fixture.query('SELECT 1 FROM counter_deltas')).length === 0;
  await reached(folded);
  t.deepEqual(await store.counters(''), { all: 20 });
  await reached(async () => (await fixture.query('SELECT 1 FROM counters WHERE value = 0')).length === 0);
  t.is((await fixture.query('SELECT 1 FROM counters')).length, 1);
});
