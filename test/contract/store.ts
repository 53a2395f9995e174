/** The contract of `ActorStore`, run against every implementation. */
import { generateKeyPairSync } from 'node:crypto';
import {
  type ActorDefinition,
  type ActorStore,
  migrateStore,
  type RowQuery,
  type Step,
  type StoredEffect,
} from '@sealwright/runtime';
import { createCheckpointSigner, HistorySealer } from '@sealwright/runtime/history';
import { SimulatedClock } from '@sealwright/runtime/testing';
import test, { type ExecutionContext } from 'ava';
import { setup } from 'xstate';
import {
  createTestRuntime,
  gate,
  mortalTally,
  T1,
  T2,
  type TallyContext,
  until,
} from '../runtime/test-runtime.ts';
import { A, B, effectOf, stepOf } from './steps.ts';

/** Everything a test gets: a fresh store, and a way to look at the same data as a new process would. */
export interface StoreUnderTest {
  readonly store: ActorStore;
  /** Closes and opens again; absent where nothing outlives the store. */
  readonly reopen?: () => Promise<ActorStore>;
}

async function must(t: ExecutionContext, store: ActorStore, step: Step): Promise<void> {
  t.true((await store.commit(step)).ok, 'the step must be committed');
}

/** An effect as any store gives it: one that several nodes share says that it was taken over. */
function withoutTakeOver({ isTakenOver: _, ...effect }: StoredEffect): StoredEffect {
  return effect;
}

const WAITER = { kind: 'waiter', id: 'w' };
const LEAVER = { kind: 'waiter', id: 'l' };
const QUIET = { debug() {}, info() {}, warn() {}, error() {} };

/** An actor that waits in `state` until a deadline, or until it leaves. */
function waiter(
  wait: { readonly state?: string; readonly id?: string; readonly after?: object },
  version = 1,
): ActorDefinition {
  const { state = 'Waiting', id = 'waiter', after = {} } = wait;
  return {
    kind: 'waiter',
    version,
    ...(version > 1 && { migrations: { 1: { migrate: ({ context }) => ({ state, context }) } } }),
    machine: setup({ types: {}, delays: { pause: 900, retention: 800 } }).createMachine({
      id,
      initial: state,
      states: { [state]: { after, on: { LEAVE: 'Away' } }, Away: {}, Over: {} },
    }),
  };
}

const AFTER_200 = { 200: 'Over' };
const CHANGED_MACHINES: readonly {
  readonly title: string;
  readonly before: ActorDefinition;
  readonly after: ActorDefinition;
}[] = [
  {
    title: 'another literal delay',
    before: waiter({ after: AFTER_200 }),
    after: waiter({ after: { 150: 'Over' } }),
  },
  {
    title: 'a name for a literal delay',
    before: waiter({ after: AFTER_200 }),
    after: waiter({ after: { pause: 'Over' } }),
  },
  {
    title: 'one of two delays',
    before: waiter({ after: { 200: 'Over', retention: 'Away' } }),
    after: waiter({ after: { retention: 'Away', 150: 'Over' } }),
  },
  {
    title: 'another id of the machine',
    before: waiter({ after: AFTER_200 }),
    after: waiter({ after: AFTER_200, id: 'patient' }),
  },
  {
    title: 'another name of the state',
    before: waiter({ after: { retention: 'Over' } }),
    after: waiter({ after: { retention: 'Over', 950: 'Away' }, state: 'Idle' }, 2),
  },
  {
    title: 'a new deadline in a new version',
    before: waiter({}),
    after: waiter({ after: { pause: 'Over' } }, 2),
  },
  {
    title: 'a new deadline in the same version',
    before: waiter({}),
    after: waiter({ after: { pause: 'Over' } }),
  },
];

export function storeContract(
  name: string,
  open: (t: ExecutionContext) => Promise<StoreUnderTest | undefined>,
): void {
  const promise = (
    title: string,
    check: (t: ExecutionContext, store: ActorStore, under: StoreUnderTest) => Promise<void>,
  ): void => {
    test(`${name}: ${title}`, async (t) => {
      const under = await open(t);
      if (under === undefined) {
        t.pass('the engine is not installed');
        return;
      }
      await check(t, under.store, under);
    });
  };

  promise('a read finds nothing under a name that is too long for a key', async (t, store) => {
    await store.commit(stepOf(A, 0, {}));
    for (const text of ['é'.repeat(1000), 'x'.repeat(5000)]) {
      const actor = { kind: A.kind, id: text };
      t.is(await store.load(actor), undefined);
      t.is(await store.holder(text), undefined);
      t.deepEqual(await store.journal(actor), []);
      t.deepEqual(await store.pendingEffects(actor), []);
      t.deepEqual(await store.rows({ view: 'v', prefix: [text], limit: 9 }), []);
      t.deepEqual(await store.actors({ kind: text, limit: 9 }), []);
      t.deepEqual(await store.counters(text), {});
    }
  });

  promise('what is committed is what is loaded', async (t, store) => {
    const step = stepOf(
      A,
      0,
      {},
      {
        state: 'a.b',
        context: { text: 'ä\u0000😀', list: [1, null, true] },
        timers: { wait: 5 },
        consumed: ['m1'],
        stopped: { at: 3, error: 'x' },
      },
    );
    await must(t, store, step);
    t.deepEqual(await store.load(A), step.actor);
    t.is(await store.load(B), undefined);
  });

  promise('a step based on another revision is stale and leaves nothing', async (t, store) => {
    const everything: Partial<Step> = {
      journal: [{ id: 9, at: 1, state: 'Queued', message: 'no', cause: 'X' }],
      effects: [effectOf(A, 9, 0, 0)],
      timers: { arm: [{ name: 'w', due: 1, event: { type: 'W' } }], disarm: [] },
      rows: { put: [{ view: 'v', key: [1], value: 1 }], remove: [] },
      names: { take: ['n'], release: [] },
      counters: { c: 1 },
    };
    t.deepEqual(await store.commit(stepOf(A, 3, everything)), { ok: false, reason: 'stale' });
    await must(t, store, stepOf(A, 0));
    t.deepEqual(await store.commit(stepOf(A, 0, everything)), { ok: false, reason: 'stale' });
    t.deepEqual(await store.commit(stepOf(A, 2, everything)), { ok: false, reason: 'stale' });
    t.is((await store.load(A))?.revision, 1);
    t.deepEqual(await store.journal(A), []);
    t.deepEqual(await store.pendingEffects(A), []);
    t.is(await store.nextTimerDue(), undefined);
    t.deepEqual(await store.rows({ view: 'v', limit: 9 }), []);
    t.is(await store.holder('n'), undefined);
    t.deepEqual(await store.counters(''), {});
  });

  promise(
    'an actor at its end is gone with all that was its own, and its id is free again',
    async (t, store, under) => {
      const own: Partial<Step> = {
        journal: [{ id: 1, at: 1, state: 'Queued', message: 'made', cause: 'X' }],
        effects: [effectOf(A, 1, 0, 0)],
        timers: { arm: [{ name: 'w', due: 1, event: { type: 'W' } }], disarm: [] },
        rows: { put: [{ view: 'v', key: [1], value: 1 }], remove: [] },
        names: { take: ['n'], release: [] },
        counters: { c: 1 },
      };
      await must(t, store, stepOf(A, 0, own));
      await must(
        t,
        store,
        stepOf(B, 0, { journal: [{ id: 1, at: 1, state: 'q', message: 'b', cause: 'X' }] }),
      );
      await must(
        t,
        store,
        stepOf(A, 1, {
          ends: true,
          dropsEffects: true,
          timers: { arm: [], disarm: [{ name: 'w', due: 1 }] },
          rows: { put: [], remove: [{ view: 'v', key: [1] }] },
          names: { take: [], release: ['n'] },
          counters: { c: -1 },
        }),
      );
      const look = async (seen: ActorStore) => {
        t.is(await seen.load(A), undefined);
        t.deepEqual(await seen.journal(A), []);
        t.deepEqual(await seen.pendingEffects(A), []);
        t.is(await seen.nextTimerDue(), undefined);
        t.deepEqual(await seen.rows({ view: 'v', limit: 9 }), []);
        t.is(await seen.holder('n'), undefined);
        t.deepEqual(await seen.counters(''), {});
        t.is((await seen.journal(B)).length, 1, 'a neighbour keeps its own');
      };
      await look(store);
      const again = under.reopen ? await under.reopen() : store;
      await look(again);
      await must(t, again, stepOf(A, 0));
      t.is((await again.load(A))?.revision, 1);
    },
  );

  promise(
    'actors of one kind are listed by id, page by page, without those of other kinds',
    async (t, store) => {
      for (const [kind, id] of [
        ['job', 'b'],
        ['job', 'a'],
        ['jobs', 'z'],
        ['job', 'a/c'],
        ['jo', 'y'],
      ] as const)
        await must(t, store, stepOf({ kind, id }, 0));
      const ids = async (after?: string, limit = 2) =>
        (await store.actors({ kind: 'job', limit, ...(after !== undefined && { after }) })).map(
          ({ address }) => address.id,
        );
      t.deepEqual(await ids(), ['a', 'a/c']);
      t.deepEqual(await ids('a/c'), ['b']);
      t.deepEqual(await ids('b'), []);
      t.deepEqual(await ids(undefined, 9), ['a', 'a/c', 'b']);
    },
  );

  promise('effects that failed are found until they are settled', async (t, store, under) => {
    const effects = [0, 1, 2].map((index) => effectOf(A, 1, index, 0));
    await must(t, store, stepOf(A, 0, { effects }));
    await store.leaseEffects(5, 9);
    const troubled = async (seen: ActorStore, more = {}) =>
      (await seen.failedEffects({ limit: 9, ...more })).map(({ key, failures }) => [key, failures]);
    t.deepEqual(await troubled(store), []);
    for (const key of ['job/a/1/0', 'job/a/1/2', 'job/a/1/2']) await store.deferEffect(key, 7, 'no luck');
    const both = [
      ['job/a/1/0', 1],
      ['job/a/1/2', 2],
    ];
    t.deepEqual(await troubled(store), both);
    t.is(await store.failedEffectCount(), 2);
    t.deepEqual(await troubled(store, { after: 'job/a/1/0' }), both.slice(1));
    const again = under.reopen ? await under.reopen() : store;
    t.deepEqual(await troubled(again), both);
    await must(t, again, stepOf(A, 1, { settles: 'job/a/1/0' }));
    t.deepEqual(await troubled(again), both.slice(1));
    await must(t, again, stepOf(A, 2, { dropsEffects: true }));
    t.deepEqual(await troubled(again), []);
  });

  promise('of two writers with the same revision in the same turn exactly one commits', async (t, store) => {
    const outcomes = await Promise.all([
      store.commit(stepOf(A, 0, { counters: { c: 1 } }, { context: 'first' })),
      store.commit(stepOf(A, 0, { counters: { c: 1 } }, { context: 'second' })),
    ]);
    t.deepEqual(
      outcomes.map((outcome) => outcome.ok),
      [true, false],
    );
    t.is((await store.load(A))?.context, 'first');
    t.deepEqual(await store.counters('c'), { c: 1 });
  });

  promise('a chain of steps of one actor commits in one turn', async (t, store) => {
    const outcomes = await Promise.all([0, 1, 2].map((revision) => store.commit(stepOf(A, revision))));
    t.true(outcomes.every((outcome) => outcome.ok));
    t.is((await store.load(A))?.revision, 3);
  });

  promise('a refused step does not spoil its neighbours of the same turn', async (t, store) => {
    await must(t, store, stepOf(B, 0, { names: { take: ['path:1'], release: [] } }));
    const many = Array.from({ length: 20 }, (_, n) => ({ kind: 'job', id: `n${n}` }));
    const outcomes = await Promise.all(
      many.map((address, n) =>
        store.commit(
          stepOf(
            address,
            n % 3 === 0 ? 7 : 0,
            n % 3 === 1 ? { names: { take: ['path:1'], release: [] } } : { counters: { ok: 1 } },
          ),
        ),
      ),
    );
    t.deepEqual(
      outcomes.map((outcome) => (outcome.ok ? 'ok' : outcome.reason)),
      many.map((_, n) => ['stale', 'taken', 'ok'][n % 3]),
    );
    t.deepEqual(await store.counters(''), { ok: 6 });
    for (const [n, address] of many.entries()) t.is((await store.load(address)) !== undefined, n % 3 === 2);
  });

  promise('a step with a key too long is rejected alone and clearly', async (t, store) => {
    const long = { view: 'v', key: ['x'.repeat(500)], value: 1 };
    const [bad, good] = await Promise.allSettled([
      store.commit(stepOf(A, 0, { rows: { put: [long], remove: [] } })),
      store.commit(stepOf(B, 0)),
    ]);
    t.is(bad.status === 'rejected' && bad.reason.code, 'store.key-too-long');
    t.is(good.status, 'fulfilled');
    t.is(await store.load(A), undefined);
    for (const step of [
      stepOf(A, 0, { names: { take: ['ä'.repeat(201)], release: [] } }),
      stepOf(A, 0, { counters: { ['x'.repeat(401)]: 1 } }),
      stepOf({ kind: 'job', id: 'x'.repeat(401) }, 0),
    ]) {
      await t.throwsAsync(store.commit(step), { code: 'store.key-too-long' });
    }
    await t.throwsAsync(store.commit(stepOf(A, 0, { names: { take: ['\ud800'], release: [] } })), {
      code: 'store.key-unsortable',
    });
    const limit = { view: 'v', key: ['ä'.repeat(200)], value: 1 };
    await must(t, store, stepOf(A, 0, { rows: { put: [limit], remove: [] } }));
    t.deepEqual(await store.rows({ view: 'v', limit: 9 }), [limit]);
  });

  promise('the outcome of an effect is consumed once', async (t, store) => {
    const effect = effectOf(A, 1, 0, 5);
    await must(t, store, stepOf(A, 0, { effects: [effect] }));
    t.deepEqual(await store.pendingEffects(A), [effect]);
    await must(t, store, stepOf(A, 1, { settles: effect.key }));
    t.deepEqual(await store.pendingEffects(A), []);
    t.is(await store.nextEffectDue(), undefined);
    t.deepEqual(await store.commit(stepOf(A, 2, { settles: effect.key, counters: { c: 1 } })), {
      ok: false,
      reason: 'duplicate',
    });
    t.is((await store.load(A))?.revision, 2);
    t.deepEqual(await store.counters(''), {});
  });

  promise('another actor may settle an effect, in its own step', async (t, store) => {
    const effect = effectOf(A, 1, 0, 5);
    await must(t, store, stepOf(A, 0, { effects: [effect] }));
    const outcomes = await Promise.all([
      store.commit(stepOf(B, 0, { settles: effect.key })),
      store.commit(stepOf(A, 1, { settles: effect.key })),
    ]);
    t.deepEqual(
      outcomes.map((outcome) => outcome.ok || outcome.reason),
      [true, 'duplicate'],
    );
  });

  promise('an actor id with slashes keeps its effects apart', async (t, store) => {
    const odd = { kind: 'job', id: 'a/1/0' };
    const effect = effectOf(odd, 1, 0, 5);
    await must(t, store, stepOf(A, 0, { effects: [effectOf(A, 1, 0, 5)] }));
    await must(t, store, stepOf(odd, 0, { effects: [effect] }));
    t.deepEqual(await store.pendingEffects(odd), [effect]);
    await must(t, store, stepOf(odd, 1, { settles: effect.key }));
    t.is((await store.pendingEffects(A)).length, 1);
  });

  promise(
    'dropping effects forgets the pending ones and keeps those the same step asks for',
    async (t, store) => {
      await must(t, store, stepOf(A, 0, { effects: [effectOf(A, 1, 0, 5), effectOf(A, 1, 1, 6)] }));
      await must(t, store, stepOf(B, 0, { effects: [effectOf(B, 1, 0, 7)] }));
      await store.leaseEffects(5, 1);
      await must(t, store, stepOf(A, 1, { dropsEffects: true, effects: [effectOf(A, 2, 0, 9)] }));
      t.deepEqual(
        (await store.pendingEffects(A)).map((effect) => effect.key),
        ['job/a/2/0'],
      );
      t.is((await store.pendingEffects(B)).length, 1);
      t.deepEqual(
        (await store.leaseEffects(100, 9)).map((effect) => effect.key),
        ['job/b/1/0', 'job/a/2/0'],
      );
      t.deepEqual(await store.commit(stepOf(A, 2, { settles: 'job/a/1/0' })), {
        ok: false,
        reason: 'duplicate',
      });
    },
  );

  promise('a name has one holder at a time', async (t, store) => {
    await must(t, store, stepOf(A, 0, { names: { take: ['path:1', 'path:2'], release: [] } }));
    t.deepEqual(await store.holder('path:1'), A);
    t.deepEqual(await store.commit(stepOf(B, 0, { names: { take: ['path:3', 'path:1'], release: [] } })), {
      ok: false,
      reason: 'taken',
      name: 'path:1',
      holder: A,
    });
    t.is(await store.holder('path:3'), undefined);
    await must(t, store, stepOf(B, 0, { names: { take: [], release: ['path:1'] } }));
    t.deepEqual(await store.holder('path:1'), A, 'nobody gives back what another holds');
    await must(t, store, stepOf(A, 1, { names: { take: ['path:2'], release: ['path:1'] } }));
    await must(t, store, stepOf(B, 1, { names: { take: ['path:1'], release: [] } }));
    t.deepEqual(await store.holder('path:1'), B);
    t.deepEqual(await store.holder('path:2'), A);
  });

  promise('two actors that take one name in one turn: the second is refused', async (t, store) => {
    const outcomes = await Promise.all(
      [A, B].map((actor) => store.commit(stepOf(actor, 0, { names: { take: ['n'], release: [] } }))),
    );
    t.deepEqual(
      outcomes.map((outcome) => outcome.ok || outcome.reason),
      [true, 'taken'],
    );
  });

  promise('rows come in key order: numbers before texts, texts by their bytes', async (t, store) => {
    const keys = [
      ['b'],
      [2, 'x'],
      ['a', 1],
      [-1],
      [10],
      ['a'],
      [2],
      [''],
      ['a\u0000'],
      ['\uff5e'],
      ['😀'],
      [1.5],
      [],
    ];
    const put = keys.map((key) => ({ view: 'v', key, value: key }));
    const other = ['u', 'w', 'vv'].map((view) => ({ view, key: [1], value: 0 }));
    await must(t, store, stepOf(A, 0, { rows: { put: [...put, ...other], remove: [] } }));
    const sorted = [
      [],
      [-1],
      [1.5],
      [2],
      [2, 'x'],
      [10],
      [''],
      ['a'],
      ['a', 1],
      ['a\u0000'],
      ['b'],
      ['\uff5e'],
      ['😀'],
    ];
    const keysOf = async (query: object) =>
      (await store.rows({ view: 'v', limit: 99, ...query })).map((row) => row.key);
    t.deepEqual(await keysOf({}), sorted);
    t.deepEqual(await keysOf({ reverse: true }), [...sorted].reverse());
    t.deepEqual(await keysOf({ offset: 3, limit: 2 }), sorted.slice(3, 5));
    t.deepEqual(await keysOf({ reverse: true, offset: 1, limit: 3 }), [...sorted].reverse().slice(1, 4));
    t.deepEqual(await keysOf({ prefix: ['a'] }), [['a'], ['a', 1]]);
    t.deepEqual(await keysOf({ prefix: [2], reverse: true }), [[2, 'x'], [2]]);
    t.deepEqual(await keysOf({ prefix: ['nothing'] }), []);
    t.deepEqual(await keysOf({ offset: 99 }), []);
  });

  promise('rows are read on from any key, up and down, whether or not a row has it', async (t, store) => {
    const keys = [
      ['a', 1],
      ['a', 3],
      ['a', 5],
      ['a', 5, 'x'],
      ['b', 2],
    ];
    const put = keys.map((key, value) => ({ view: 'v', key, value }));
    await must(
      t,
      store,
      stepOf(A, 0, { rows: { put: [...put, { view: 'w', key: ['a', 9], value: 9 }], remove: [] } }),
    );
    const values = async (query: Omit<RowQuery, 'view' | 'limit'> & { readonly limit?: number }) =>
      (await store.rows({ view: 'v', limit: 9, ...query })).map((row) => row.value);
    t.deepEqual(await values({ prefix: ['a'], after: ['a', 1] }), [1, 2, 3]);
    t.deepEqual(await values({ prefix: ['a'], after: ['a', 2] }), [1, 2, 3]);
    t.deepEqual(await values({ prefix: ['a'], after: ['a', 5] }), [3]);
    t.deepEqual(await values({ prefix: ['a'], after: ['a', 9] }), []);
    t.deepEqual(await values({ after: ['a', 4] }), [2, 3, 4]);
    t.deepEqual(await values({ prefix: ['a'], after: ['a', 5], reverse: true }), [1, 0]);
    t.deepEqual(await values({ prefix: ['a'], after: ['a', 4], reverse: true }), [1, 0]);
    t.deepEqual(await values({ prefix: ['a'], after: ['a', 5, 'x'], reverse: true }), [2, 1, 0]);
    t.deepEqual(await values({ prefix: ['a'], after: ['a', 1], reverse: true }), []);
    t.deepEqual(await values({ after: ['b', 2], reverse: true, offset: 1, limit: 2 }), [2, 1]);
    t.deepEqual(await values({ after: ['a', 1], offset: 1, limit: 2 }), [2, 3]);
  });

  promise('rows are replaced and removed with their step', async (t, store) => {
    const row = (value: number) => ({ view: 'v', key: ['k', 1], value: { value } });
    await must(t, store, stepOf(A, 0, { rows: { put: [row(1)], remove: [] } }));
    await must(t, store, stepOf(A, 1, { rows: { put: [row(2)], remove: [] } }));
    t.deepEqual(await store.rows({ view: 'v', limit: 9 }), [row(2)]);
    await must(t, store, stepOf(A, 2, { rows: { put: [], remove: [{ view: 'v', key: ['k', 1] }] } }));
    t.deepEqual(await store.rows({ view: 'v', limit: 9 }), []);
  });

  promise('counters add up over a turn and vanish at 0', async (t, store) => {
    const actors = Array.from({ length: 10 }, (_, n) => ({ kind: 'job', id: `${n}` }));
    await Promise.all(
      actors.map((actor) =>
        store.commit(stepOf(actor, 0, { counters: { 'jobs.Queued': 1, 'jobs.all': 1, other: -2 } })),
      ),
    );
    t.deepEqual(await store.counters('jobs.'), { 'jobs.Queued': 10, 'jobs.all': 10 });
    t.deepEqual(await store.counters(''), { 'jobs.Queued': 10, 'jobs.all': 10, other: -20 });
    await Promise.all(
      actors.map((actor) => store.commit(stepOf(actor, 1, { counters: { 'jobs.Queued': -1, other: 2 } }))),
    );
    t.deepEqual(await store.counters(''), { 'jobs.all': 10 });
  });

  promise('effects are leased in the order they are due, each once', async (t, store) => {
    await must(
      t,
      store,
      stepOf(A, 0, { effects: [effectOf(A, 1, 0, 30), effectOf(A, 1, 1, 10), effectOf(A, 1, 2, 50)] }),
    );
    await must(t, store, stepOf(B, 0, { effects: [effectOf(B, 1, 0, 20)] }));
    t.is(await store.nextEffectDue(), 10);
    t.deepEqual(
      (await store.leaseEffects(30, 2)).map((effect) => effect.key),
      ['job/a/1/1', 'job/b/1/0'],
    );
    t.is(await store.nextEffectDue(), 30);
    t.deepEqual(
      (await store.leaseEffects(30, 9)).map((effect) => effect.key),
      ['job/a/1/0'],
    );
    t.deepEqual(await store.leaseEffects(49, 9), []);
    t.deepEqual(await store.leaseEffects(50, 0), []);
    t.deepEqual(
      (await store.leaseEffects(50, 9)).map((effect) => effect.effect),
      [{ do: 'sign', n: 2 }],
    );
    t.is(await store.nextEffectDue(), undefined);
  });

  promise('a deferred effect comes back at its time with its failure counted', async (t, store) => {
    const effect = effectOf(A, 1, 0, 10);
    await must(t, store, stepOf(A, 0, { effects: [effect] }));
    await store.leaseEffects(10, 1);
    await store.deferEffect(effect.key, 500, 'no answer');
    t.is(await store.nextEffectDue(), 500);
    t.deepEqual(await store.leaseEffects(499, 1), []);
    const later = { ...effect, dueAt: 500, failures: 1, lastError: 'no answer' };
    t.deepEqual(await store.pendingEffects(A), [later]);
    t.deepEqual(await store.leaseEffects(500, 1), [later]);
    await must(t, store, stepOf(A, 1, { settles: effect.key }));
    await store.deferEffect(effect.key, 900, 'too late');
    t.is(await store.nextEffectDue(), undefined);
    t.deepEqual(await store.pendingEffects(A), []);
  });

  promise('a released effect is leased again, without a failure', async (t, store) => {
    const effect = effectOf(A, 1, 0, 10);
    await must(t, store, stepOf(A, 0, { effects: [effect] }));
    await store.leaseEffects(10, 1);
    await store.releaseEffects([effect.key, 'job/nobody/1/0']);
    t.deepEqual(await store.leaseEffects(10, 9), [effect]);
    await must(t, store, stepOf(A, 1, { settles: effect.key }));
    await store.releaseEffects([effect.key]);
    t.deepEqual(await store.leaseEffects(10, 9), []);
  });

  promise(
    'effects that are done are removed without a step, and nobody leases them again',
    async (t, store) => {
      const queued = { ...effectOf(A, 1, 2, 10), partition: 'call/a' };
      const effects = [effectOf(A, 1, 0, 10), effectOf(A, 1, 1, 10), queued];
      const [first, second] = effects;
      if (first === undefined || second === undefined) throw new TypeError('Two effects are needed.');
      await must(t, store, stepOf(A, 0, { effects }));
      await store.leaseEffects(10, 1);
      await store.leaseEffects(10, 1, 'call/a');
      await store.settleEffects([first.key, queued.key, 'job/nobody/1/0']);
      t.deepEqual(await store.pendingEffects(A), [second]);
      t.deepEqual(await store.leaseEffects(10, 9), [second]);
      t.deepEqual(await store.leaseEffects(10, 9, 'call/a'), []);
      t.is((await store.load(A))?.revision, 1);
      const late = await store.commit(stepOf(A, 1, { settles: first.key }));
      t.like(late, { ok: false, reason: 'duplicate' });
    },
  );

  promise(
    'no effect waits further ahead than it may, in a partition or in none, and counts no failure for it',
    async (t, store) => {
      const late = (index: number, dueAt: number, partition?: string) => ({
        ...effectOf(A, 1, index, dueAt),
        ...(partition !== undefined && { partition }),
      });
      const effects = [
        late(0, 4000),
        late(1, 90),
        late(2, 4000, 'call/a'),
        late(3, 4000, 'call/b'),
        late(4, 90, 'call/b'),
      ];
      await must(t, store, stepOf(A, 0, { effects }));
      await store.leaseEffects(5000, 1, 'call/a');
      await store.deferEffect(late(2, 4000, 'call/a').key, 900_000, 'no answer');
      await store.rescheduleAfterClockRegression(100);
      await store.rescheduleAfterClockRegression(100);
      t.deepEqual(
        (await store.pendingEffects(A)).map(({ dueAt, failures, partition }) => [dueAt, failures, partition]),
        [
          [100, 0, undefined],
          [90, 0, undefined],
          [300_100, 1, 'call/a'],
          [100, 0, 'call/b'],
          [90, 0, 'call/b'],
        ],
      );
      t.deepEqual(
        (await store.failedEffects({ limit: 9 })).map(({ dueAt }) => dueAt),
        [300_100],
      );
      t.is((await store.leaseEffects(100, 9)).length, 2);
      t.is((await store.leaseEffects(300_099, 9, 'call/a')).length, 0);
      t.is((await store.leaseEffects(300_100, 9, 'call/a')).length, 1);
    },
  );

  promise('an effect that is under way is not given out again when its time is moved', async (t, store) => {
    await must(t, store, stepOf(A, 0, { effects: [effectOf(A, 1, 0, 4000)] }));
    t.is((await store.leaseEffects(5000, 1)).length, 1);
    await store.rescheduleAfterClockRegression(100);
    t.is((await store.pendingEffects(A))[0]?.dueAt, 100);
    t.deepEqual(await store.leaseEffects(5000, 1), []);
  });

  promise(
    'effects of a partition wait apart from all others, and keep their partition',
    async (t, store, under) => {
      const withPartition = (effect: StoredEffect, partition: string) => ({ ...effect, partition });
      const first = withPartition(effectOf(A, 1, 0, 10), 'call/a');
      const second = withPartition(effectOf(A, 1, 1, 20), 'call/a');
      const other = withPartition(effectOf(A, 1, 2, 15), 'call/b');
      const elsewhere = withPartition(effectOf(A, 1, 3, 5), 'mail/a');
      const plain = effectOf(A, 1, 4, 30);
      const effects = [first, second, other, elsewhere, plain];
      await must(t, store, stepOf(A, 0, { effects }));
      t.deepEqual(await store.pendingEffects(A), effects);
      t.is(await store.nextEffectDue(), 30);
      const partitions = (more: { readonly after?: string; readonly limit?: number } = {}) =>
        store.partitions({ prefix: 'call/', limit: 9, ...more });
      t.deepEqual(await partitions(), [
        { partition: 'call/a', due: 10 },
        { partition: 'call/b', due: 15 },
      ]);
      t.deepEqual(await partitions({ limit: 1 }), [{ partition: 'call/a', due: 10 }]);
      t.deepEqual(await partitions({ after: 'call/a' }), [{ partition: 'call/b', due: 15 }]);
      t.deepEqual(await partitions({ after: 'call/b' }), []);
      t.deepEqual(await store.leaseEffects(99, 9), [plain], 'the common queue has nothing of the partitions');
      t.deepEqual(await store.leaseEffects(19, 9, 'call/a'), [first]);
      t.deepEqual(await partitions(), [
        { partition: 'call/a', due: 20 },
        { partition: 'call/b', due: 15 },
      ]);
      t.deepEqual(await store.leaseEffects(99, 0, 'call/b'), []);
      t.deepEqual(await store.leaseEffects(99, 9, 'call/b'), [other]);
      t.deepEqual(await partitions(), [{ partition: 'call/a', due: 20 }]);
      await store.deferEffect(other.key, 500, 'no answer');
      const later = { ...other, dueAt: 500, failures: 1, lastError: 'no answer' };
      t.deepEqual(await partitions({ after: 'call/a' }), [{ partition: 'call/b', due: 500 }]);
      t.deepEqual(await store.leaseEffects(499, 9, 'call/b'), []);
      const again = under.reopen ? await under.reopen() : store;
      if (under.reopen) {
        const leased = await again.leaseEffects(99, 1, 'call/a');
        t.deepEqual(leased.map(withoutTakeOver), [first], 'leases have ended');
      }
      t.deepEqual((await again.leaseEffects(500, 9, 'call/b')).map(withoutTakeOver), [later]);
      for (const [at, { key }] of [first, other].entries())
        await must(t, again, stepOf(A, at + 1, { settles: key }));
      t.deepEqual((await again.pendingEffects(A)).map(withoutTakeOver), [second, elsewhere, plain]);
      await must(t, again, stepOf(A, 3, { dropsEffects: true }));
      t.deepEqual(await again.partitions({ prefix: '', limit: 9 }), []);
      t.deepEqual(await again.leaseEffects(999, 9, 'call/a'), []);
    },
  );

  promise('deadlines come earliest first and stay until disarmed', async (t, store) => {
    const arm = (name: string, due: number) => ({ name, due, event: { type: name, n: due } });
    await must(t, store, stepOf(A, 0, { timers: { arm: [arm('x', 300), arm('y', 100)], disarm: [] } }));
    await must(t, store, stepOf(B, 0, { timers: { arm: [arm('x', 200)], disarm: [] } }));
    t.is(await store.nextTimerDue(), 100);
    t.deepEqual(
      (await store.dueTimers(200, 9)).map(({ actor, name }) => [actor.id, name]),
      [
        ['a', 'y'],
        ['b', 'x'],
      ],
    );
    t.deepEqual(await store.dueTimers(300, 1), [
      { actor: A, name: 'y', due: 100, event: { type: 'y', n: 100 } },
    ]);
    t.deepEqual(await store.dueTimers(99, 9), []);
    await must(
      t,
      store,
      stepOf(A, 1, { timers: { arm: [arm('y', 100)], disarm: [{ name: 'y', due: 100 }] } }),
    );
    t.is(await store.nextTimerDue(), 100, 'moved to the time it had: disarmed first, then armed');
    await must(
      t,
      store,
      stepOf(A, 2, {
        timers: {
          arm: [arm('x', 400)],
          disarm: [
            { name: 'y', due: 100 },
            { name: 'x', due: 300 },
          ],
        },
      }),
    );
    t.deepEqual(
      (await store.dueTimers(999, 9)).map(({ due }) => due),
      [200, 400],
    );
  });

  promise('a journal is read in order, from any line on', async (t, store) => {
    const line = (id: number) => ({ id, at: id * 10, state: 'Queued', message: `line ${id}`, cause: 'X' });
    await must(t, store, stepOf(A, 0, { journal: [line(1), line(2)] }));
    await must(t, store, stepOf(A, 1, { journal: Array.from({ length: 9 }, (_, n) => line(n + 3)) }));
    await must(t, store, stepOf(B, 0, { journal: [line(1)] }));
    t.deepEqual(
      (await store.journal(A)).map(({ id }) => id),
      [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11],
    );
    t.deepEqual(await store.journal(A, { after: 9 }), [line(10), line(11)]);
    t.deepEqual(await store.journal(A, { after: 1, limit: 2 }), [line(2), line(3)]);
    t.deepEqual(await store.journal(B, { after: 1 }), []);
  });

  promise('reads see a commit as soon as it has resolved, and it becomes durable', async (t, store) => {
    for (let revision = 0; revision < 20; revision++) {
      const committed = await store.commit(
        stepOf(A, revision, { rows: { put: [{ view: 'v', key: [1], value: revision }], remove: [] } }),
      );
      t.is((await store.load(A))?.revision, revision + 1);
      t.is((await store.rows({ view: 'v', limit: 1 }))[0]?.value, revision);
      if (committed.ok) await committed.durable;
    }
    await t.notThrowsAsync(store.flushed());
  });

  promise('the caller may change what it committed or read without changing the store', async (t, store) => {
    const context = { list: [1] };
    await must(t, store, stepOf(A, 0, {}, { context }));
    context.list.push(2);
    const read = (await store.load(A)) as unknown as { context: { list: number[] } };
    read.context.list.push(3);
    t.deepEqual((await store.load(A))?.context, { list: [1] });
  });

  promise(
    'whoever reads the state index finds every move of every step that was answered',
    async (t, store, under) => {
      const queued = '1/Queued';
      const done = '2/Done';
      await must(t, store, stepOf(A, 0, { moved: { from: null, to: queued } }));
      await must(t, store, stepOf(B, 0, { moved: { from: null, to: queued } }));
      await must(
        t,
        store,
        stepOf(A, 1, { moved: { from: queued, to: done } }, { version: 2, state: 'Done' }),
      );
      const keys = async (from: ActorStore) =>
        (await from.rows({ view: 'actors', limit: 9 })).map(({ key, value }) => [...key, value]);
      t.deepEqual(await keys(store), [
        ['job', 'Done', 'a', null],
        ['job', 'Queued', 'b', null],
      ]);
      t.deepEqual(await store.counters('actors/job/'), { 'actors/job/1/Queued': 1, 'actors/job/2/Done': 1 });
      await must(
        t,
        store,
        stepOf(B, 1, { moved: { from: queued, to: done } }, { version: 2, state: 'Done' }),
      );
      await must(t, store, stepOf(A, 2, { moved: { from: done, to: null }, ends: true }));
      t.is((await store.commit(stepOf(B, 1, { moved: { from: queued, to: null } }))).ok, false);
      t.deepEqual(await store.counters('actors/'), { 'actors/job/2/Done': 1 });
      const again = (await under.reopen?.()) ?? store;
      t.deepEqual(await again.counters(''), { 'actors/job/2/Done': 1 });
      t.deepEqual(await keys(again), [['job', 'Done', 'b', null]]);
    },
  );

  promise(
    'an actor that is made anew repeats no key: late outcomes do not reach it, its messages arrive',
    async (t, store) => {
      const { runs, handler } = gate();
      const { runtime, system } = createTestRuntime({ store, work: handler, definition: mortalTally });
      t.teardown(async () => {
        for (const run of runs) run.done();
        await runtime.stop();
      });
      runtime.start();
      const heardBy = async (address: typeof T1) =>
        ((await system.read(address))?.context as TallyContext | undefined)?.heard ?? [];
      await system.create(T2, null);
      for (const [at, what] of ['first', 'second'].entries()) {
        await system.create(T1, null);
        await system.send(T1, { type: 'WORK', what });
        await system.send(T1, { type: 'SEND', to: T2, event: { type: 'ADD', what } });
        await until(`the effect of life ${what}`, () => runs.length === at + 1);
        await until(`the message of life ${what}`, async () => (await heardBy(T2)).includes(what));
        if (what === 'first') await system.send(T1, { type: 'END' });
      }
      t.not(runs[0]?.key, runs[1]?.key);
      runs[0]?.done();
      await until('the late outcome', () => runtime.stats().effectsInFlight === 1);
      t.deepEqual(await heardBy(T1), [], 'the outcome of the first life');
      runs[1]?.done();
      await until('the outcome', async () => (await heardBy(T1)).length > 0);
      t.deepEqual([await heardBy(T1), await heardBy(T2)], [['second'], ['first', 'second']]);
      t.deepEqual(await store.pendingEffects(T1), []);
    },
  );

  for (const { title, before, after } of CHANGED_MACHINES) {
    promise(`a deadline fires in a machine that changed: ${title}`, async (t, store, under) => {
      const clock = new SimulatedClock();
      const first = createTestRuntime({ store, clock, definition: before });
      for (const address of [WAITER, LEAVER]) await first.system.create(address, null);
      const reopened = (await under.reopen?.()) ?? store;
      await migrateStore(reopened, [after], QUIET, clock.now());
      const { runtime, system, unaccepted } = createTestRuntime({
        store: reopened,
        clock,
        definition: after,
      });
      t.teardown(() => runtime.stop());
      runtime.start();
      t.true((await system.send(LEAVER, { type: 'LEAVE' })).accepted);
      const { timers } = (await reopened.load(LEAVER)) ?? {};
      t.deepEqual(timers, {}, 'a state that is left cancels its deadline');
      clock.advance(1000);
      await until('the deadline', async () => (await system.read(WAITER))?.state === 'Over');
      t.is(await reopened.nextTimerDue(), undefined);
      t.is((await system.read(LEAVER))?.state, 'Away');
      t.deepEqual(unaccepted, []);
    });
  }

  promise('a checkpoint seals each end of an actor that was made anew', async (t, store) => {
    const { privateKey } = generateKeyPairSync('ed25519');
    const sealer = new HistorySealer({
      ...{ store, clock: new SimulatedClock(), log: QUIET, signer: createCheckpointSigner(privateKey) },
      ...{ every: 60_000, kinds: ['job'], publishes: false },
    });
    await sealer.start();
    const ended = (hash: string) => ({
      view: 'history-unsealed',
      key: ['job', 'a', 3, hash],
      value: { line: 1, hash },
    });
    await must(t, store, stepOf(A, 0, { rows: { put: [ended('11'), ended('22')], remove: [] } }));
    t.like(await sealer.seal(), { sequence: 1, leaves: 2 });
    t.deepEqual(await store.rows({ view: 'history-unsealed', limit: 9 }), []);
    await sealer.stop();
  });

  promise('a store at work has no reason to refuse', async (t, store) => {
    await must(t, store, stepOf(A, 0));
    t.is(store.refusal(), undefined);
  });

  promise('everything is there after reopening, and leases have ended', async (t, store, under) => {
    if (under.reopen === undefined) {
      t.pass('nothing outlives this store');
      return;
    }
    const step = stepOf(A, 0, {
      journal: [{ id: 1, at: 1, state: 'Queued', message: 'hello', cause: 'X' }],
      effects: [effectOf(A, 1, 0, 5)],
      timers: { arm: [{ name: 'w', due: 7, event: { type: 'W' } }], disarm: [] },
      rows: { put: [{ view: 'v', key: [1], value: 1 }], remove: [] },
      names: { take: ['n'], release: [] },
      counters: { c: 3 },
    });
    await must(t, store, step);
    t.is((await store.leaseEffects(5, 9)).length, 1);
    const again = await under.reopen();
    t.deepEqual(await again.load(A), step.actor);
    t.deepEqual(await again.journal(A), step.journal);
    t.deepEqual((await again.leaseEffects(5, 9)).map(withoutTakeOver), step.effects);
    t.deepEqual(await again.dueTimers(7, 9), [{ actor: A, name: 'w', due: 7, event: { type: 'W' } }]);
    t.deepEqual(await again.rows({ view: 'v', limit: 1 }), step.rows.put);
    t.deepEqual(await again.holder('n'), A);
    t.deepEqual(await again.counters(''), { c: 3 });
    t.deepEqual(await again.commit(stepOf(A, 0)), { ok: false, reason: 'stale' });
  });
}
