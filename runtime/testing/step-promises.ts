/** Promises of `ActorStore` about steps, names, rows, counters and journals. */
import assert from 'node:assert/strict';
import type { ActorStore, RowQuery, Step } from '../model/ports.ts';
import { A, B, effectOf, stepOf } from './steps.ts';
import { must, promise, type StorePromise } from './store-promises.ts';

export const STEP_PROMISES: readonly StorePromise[] = [
  promise('a read finds nothing under a name that is too long for a key', async (store) => {
    await store.commit(stepOf(A, 0, {}));
    for (const text of ['é'.repeat(1000), 'x'.repeat(5000)]) {
      const actor = { kind: A.kind, id: text };
      assert.equal(await store.load(actor), undefined);
      assert.equal(await store.holder(text), undefined);
      assert.deepEqual(await store.journal(actor), []);
      assert.deepEqual(await store.pendingEffects(actor), []);
      assert.deepEqual(await store.rows({ view: 'v', prefix: [text], limit: 9 }), []);
      assert.deepEqual(await store.actors({ kind: text, limit: 9 }), []);
      assert.deepEqual(await store.counters(text), {});
    }
  }),
  promise('what is committed is what is loaded', async (store) => {
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
    await must(store, step);
    assert.deepEqual(await store.load(A), step.actor);
    assert.equal(await store.load(B), undefined);
  }),
  promise('a step based on another revision is stale and leaves nothing', async (store) => {
    const everything: Partial<Step> = {
      journal: [{ id: 9, at: 1, state: 'Queued', message: 'no', cause: 'X' }],
      effects: [effectOf(A, 9, 0, 0)],
      timers: { arm: [{ name: 'w', due: 1, event: { type: 'W' } }], disarm: [] },
      rows: { put: [{ view: 'v', key: [1], value: 1 }], remove: [] },
      names: { take: ['n'], release: [] },
      counters: { c: 1 },
    };
    assert.deepEqual(await store.commit(stepOf(A, 3, everything)), { ok: false, reason: 'stale' });
    await must(store, stepOf(A, 0));
    assert.deepEqual(await store.commit(stepOf(A, 0, everything)), { ok: false, reason: 'stale' });
    assert.deepEqual(await store.commit(stepOf(A, 2, everything)), { ok: false, reason: 'stale' });
    assert.equal((await store.load(A))?.revision, 1);
    assert.deepEqual(await store.journal(A), []);
    assert.deepEqual(await store.pendingEffects(A), []);
    assert.equal(await store.nextTimerDue(), undefined);
    assert.deepEqual(await store.rows({ view: 'v', limit: 9 }), []);
    assert.equal(await store.holder('n'), undefined);
    assert.deepEqual(await store.counters(''), {});
  }),
  promise(
    'an actor at its end is gone with all that was its own, and its id is free again',
    async (store, under) => {
      const own: Partial<Step> = {
        journal: [{ id: 1, at: 1, state: 'Queued', message: 'made', cause: 'X' }],
        effects: [effectOf(A, 1, 0, 0)],
        timers: { arm: [{ name: 'w', due: 1, event: { type: 'W' } }], disarm: [] },
        rows: { put: [{ view: 'v', key: [1], value: 1 }], remove: [] },
        names: { take: ['n'], release: [] },
        counters: { c: 1 },
      };
      await must(store, stepOf(A, 0, own));
      await must(store, stepOf(B, 0, { journal: [{ id: 1, at: 1, state: 'q', message: 'b', cause: 'X' }] }));
      await must(
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
        assert.equal(await seen.load(A), undefined);
        assert.deepEqual(await seen.journal(A), []);
        assert.deepEqual(await seen.pendingEffects(A), []);
        assert.equal(await seen.nextTimerDue(), undefined);
        assert.deepEqual(await seen.rows({ view: 'v', limit: 9 }), []);
        assert.equal(await seen.holder('n'), undefined);
        assert.deepEqual(await seen.counters(''), {});
        assert.equal((await seen.journal(B)).length, 1, 'a neighbour keeps its own');
      };
      await look(store);
      const again = under.reopen ? await under.reopen() : store;
      await look(again);
      await must(again, stepOf(A, 0));
      assert.equal((await again.load(A))?.revision, 1);
    },
  ),
  promise(
    'actors of one kind are listed by id, page by page, without those of other kinds',
    async (store) => {
      for (const [kind, id] of [
        ['job', 'b'],
        ['job', 'a'],
        ['jobs', 'z'],
        ['job', 'a/c'],
        ['jo', 'y'],
      ] as const)
        await must(store, stepOf({ kind, id }, 0));
      const ids = async (after?: string, limit = 2) =>
        (await store.actors({ kind: 'job', limit, ...(after !== undefined && { after }) })).map(
          ({ address }) => address.id,
        );
      assert.deepEqual(await ids(), ['a', 'a/c']);
      assert.deepEqual(await ids('a/c'), ['b']);
      assert.deepEqual(await ids('b'), []);
      assert.deepEqual(await ids(undefined, 9), ['a', 'a/c', 'b']);
    },
  ),
  promise('of two writers with the same revision in the same turn exactly one commits', async (store) => {
    const outcomes = await Promise.all([
      store.commit(stepOf(A, 0, { counters: { c: 1 } }, { context: 'first' })),
      store.commit(stepOf(A, 0, { counters: { c: 1 } }, { context: 'second' })),
    ]);
    assert.deepEqual(
      outcomes.map((outcome) => outcome.ok),
      [true, false],
    );
    assert.equal((await store.load(A))?.context, 'first');
    assert.deepEqual(await store.counters('c'), { c: 1 });
  }),
  promise('a chain of steps of one actor commits in one turn', async (store) => {
    const outcomes = await Promise.all([0, 1, 2].map((revision) => store.commit(stepOf(A, revision))));
    assert.ok(outcomes.every((outcome) => outcome.ok));
    assert.equal((await store.load(A))?.revision, 3);
  }),
  promise('a refused step does not spoil its neighbours of the same turn', async (store) => {
    await must(store, stepOf(B, 0, { names: { take: ['path:1'], release: [] } }));
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
    assert.deepEqual(
      outcomes.map((outcome) => (outcome.ok ? 'ok' : outcome.reason)),
      many.map((_, n) => ['stale', 'taken', 'ok'][n % 3]),
    );
    assert.deepEqual(await store.counters(''), { ok: 6 });
    for (const [n, address] of many.entries())
      assert.equal((await store.load(address)) !== undefined, n % 3 === 2);
  }),
  promise('a step with a key too long is rejected alone and clearly', async (store) => {
    const long = { view: 'v', key: ['x'.repeat(500)], value: 1 };
    const [bad, good] = await Promise.allSettled([
      store.commit(stepOf(A, 0, { rows: { put: [long], remove: [] } })),
      store.commit(stepOf(B, 0)),
    ]);
    assert.equal(bad.status === 'rejected' && bad.reason.code, 'store.key-too-long');
    assert.equal(good.status, 'fulfilled');
    assert.equal(await store.load(A), undefined);
    for (const step of [
      stepOf(A, 0, { names: { take: ['ä'.repeat(201)], release: [] } }),
      stepOf(A, 0, { counters: { ['x'.repeat(401)]: 1 } }),
      stepOf({ kind: 'job', id: 'x'.repeat(401) }, 0),
    ]) {
      await assert.rejects(store.commit(step), { code: 'store.key-too-long' });
    }
    await assert.rejects(store.commit(stepOf(A, 0, { names: { take: ['\ud800'], release: [] } })), {
      code: 'store.key-unsortable',
    });
    const limit = { view: 'v', key: ['ä'.repeat(200)], value: 1 };
    await must(store, stepOf(A, 0, { rows: { put: [limit], remove: [] } }));
    assert.deepEqual(await store.rows({ view: 'v', limit: 9 }), [limit]);
  }),
  promise('a name has one holder at a time', async (store) => {
    await must(store, stepOf(A, 0, { names: { take: ['path:1', 'path:2'], release: [] } }));
    assert.deepEqual(await store.holder('path:1'), A);
    assert.deepEqual(
      await store.commit(stepOf(B, 0, { names: { take: ['path:3', 'path:1'], release: [] } })),
      {
        ok: false,
        reason: 'taken',
        name: 'path:1',
        holder: A,
      },
    );
    assert.equal(await store.holder('path:3'), undefined);
    await must(store, stepOf(B, 0, { names: { take: [], release: ['path:1'] } }));
    assert.deepEqual(await store.holder('path:1'), A, 'nobody gives back what another holds');
    await must(store, stepOf(A, 1, { names: { take: ['path:2'], release: ['path:1'] } }));
    await must(store, stepOf(B, 1, { names: { take: ['path:1'], release: [] } }));
    assert.deepEqual(await store.holder('path:1'), B);
    assert.deepEqual(await store.holder('path:2'), A);
    const first = { name: 'path:1', holder: B };
    const second = { name: 'path:2', holder: A };
    assert.deepEqual(await store.names({ limit: 9 }), [first, second]);
    assert.deepEqual(await store.names({ limit: 1 }), [first]);
    assert.deepEqual(await store.names({ after: 'path:1', limit: 9 }), [second]);
  }),
  promise('two actors that take one name in one turn: the second is refused', async (store) => {
    const outcomes = await Promise.all(
      [A, B].map((actor) => store.commit(stepOf(actor, 0, { names: { take: ['n'], release: [] } }))),
    );
    assert.deepEqual(
      outcomes.map((outcome) => outcome.ok || outcome.reason),
      [true, 'taken'],
    );
  }),
  promise('rows come in key order: numbers before texts, texts by their bytes', async (store) => {
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
    await must(store, stepOf(A, 0, { rows: { put: [...put, ...other], remove: [] } }));
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
    assert.deepEqual(await keysOf({}), sorted);
    assert.deepEqual(await keysOf({ reverse: true }), [...sorted].reverse());
    assert.deepEqual(await keysOf({ offset: 3, limit: 2 }), sorted.slice(3, 5));
    assert.deepEqual(await keysOf({ reverse: true, offset: 1, limit: 3 }), [...sorted].reverse().slice(1, 4));
    assert.deepEqual(await keysOf({ prefix: ['a'] }), [['a'], ['a', 1]]);
    assert.deepEqual(await keysOf({ prefix: [2], reverse: true }), [[2, 'x'], [2]]);
    assert.deepEqual(await keysOf({ prefix: ['nothing'] }), []);
    assert.deepEqual(await keysOf({ offset: 99 }), []);
  }),
  promise('rows are read on from any key, up and down, whether or not a row has it', async (store) => {
    const keys = [
      ['a', 1],
      ['a', 3],
      ['a', 5],
      ['a', 5, 'x'],
      ['b', 2],
    ];
    const put = keys.map((key, value) => ({ view: 'v', key, value }));
    await must(
      store,
      stepOf(A, 0, { rows: { put: [...put, { view: 'w', key: ['a', 9], value: 9 }], remove: [] } }),
    );
    const values = async (query: Omit<RowQuery, 'view' | 'limit'> & { readonly limit?: number }) =>
      (await store.rows({ view: 'v', limit: 9, ...query })).map((row) => row.value);
    assert.deepEqual(await values({ prefix: ['a'], after: ['a', 1] }), [1, 2, 3]);
    assert.deepEqual(await values({ prefix: ['a'], after: ['a', 2] }), [1, 2, 3]);
    assert.deepEqual(await values({ prefix: ['a'], after: ['a', 5] }), [3]);
    assert.deepEqual(await values({ prefix: ['a'], after: ['a', 9] }), []);
    assert.deepEqual(await values({ after: ['a', 4] }), [2, 3, 4]);
    assert.deepEqual(await values({ prefix: ['a'], after: ['a', 5], reverse: true }), [1, 0]);
    assert.deepEqual(await values({ prefix: ['a'], after: ['a', 4], reverse: true }), [1, 0]);
    assert.deepEqual(await values({ prefix: ['a'], after: ['a', 5, 'x'], reverse: true }), [2, 1, 0]);
    assert.deepEqual(await values({ prefix: ['a'], after: ['a', 1], reverse: true }), []);
    assert.deepEqual(await values({ after: ['b', 2], reverse: true, offset: 1, limit: 2 }), [2, 1]);
    assert.deepEqual(await values({ after: ['a', 1], offset: 1, limit: 2 }), [2, 3]);
  }),
  promise('rows are replaced and removed with their step', async (store) => {
    const row = (value: number) => ({ view: 'v', key: ['k', 1], value: { value } });
    await must(store, stepOf(A, 0, { rows: { put: [row(1)], remove: [] } }));
    await must(store, stepOf(A, 1, { rows: { put: [row(2)], remove: [] } }));
    assert.deepEqual(await store.rows({ view: 'v', limit: 9 }), [row(2)]);
    await must(store, stepOf(A, 2, { rows: { put: [], remove: [{ view: 'v', key: ['k', 1] }] } }));
    assert.deepEqual(await store.rows({ view: 'v', limit: 9 }), []);
  }),
  promise('counters add up over a turn and vanish at 0', async (store) => {
    const actors = Array.from({ length: 10 }, (_, n) => ({ kind: 'job', id: `${n}` }));
    await Promise.all(
      actors.map((actor) =>
        store.commit(stepOf(actor, 0, { counters: { 'jobs.Queued': 1, 'jobs.all': 1, other: -2 } })),
      ),
    );
    assert.deepEqual(await store.counters('jobs.'), { 'jobs.Queued': 10, 'jobs.all': 10 });
    assert.deepEqual(await store.counters(''), { 'jobs.Queued': 10, 'jobs.all': 10, other: -20 });
    await Promise.all(
      actors.map((actor) => store.commit(stepOf(actor, 1, { counters: { 'jobs.Queued': -1, other: 2 } }))),
    );
    assert.deepEqual(await store.counters(''), { 'jobs.all': 10 });
  }),
  promise('a journal is read in order, from any line on', async (store) => {
    const line = (id: number) => ({ id, at: id * 10, state: 'Queued', message: `line ${id}`, cause: 'X' });
    await must(store, stepOf(A, 0, { journal: [line(1), line(2)] }));
    await must(store, stepOf(A, 1, { journal: Array.from({ length: 9 }, (_, n) => line(n + 3)) }));
    await must(store, stepOf(B, 0, { journal: [line(1)] }));
    assert.deepEqual(
      (await store.journal(A)).map(({ id }) => id),
      [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11],
    );
    assert.deepEqual(await store.journal(A, { after: 9 }), [line(10), line(11)]);
    assert.deepEqual(await store.journal(A, { after: 1, limit: 2 }), [line(2), line(3)]);
    assert.deepEqual(await store.journal(B, { after: 1 }), []);
  }),
  promise('reads see a commit as soon as it has resolved', async (store) => {
    for (let revision = 0; revision < 20; revision++) {
      await store.commit(
        stepOf(A, revision, { rows: { put: [{ view: 'v', key: [1], value: revision }], remove: [] } }),
      );
      assert.equal((await store.load(A))?.revision, revision + 1);
      assert.equal((await store.rows({ view: 'v', limit: 1 }))[0]?.value, revision);
    }
    await store.flushed();
  }),
  promise('the caller may change what it committed or read without changing the store', async (store) => {
    const context = { list: [1] };
    await must(store, stepOf(A, 0, {}, { context }));
    context.list.push(2);
    const { context: read } = (await store.load(A)) ?? {};
    assert.ok(typeof read === 'object' && read !== null && 'list' in read && Array.isArray(read.list));
    read.list.push(3);
    assert.deepEqual((await store.load(A))?.context, { list: [1] });
  }),
  promise(
    'whoever reads the state index finds every move of every step that was answered',
    async (store, under) => {
      const queued = '1/Queued';
      const done = '2/Done';
      await must(store, stepOf(A, 0, { moved: { from: null, to: queued } }));
      await must(store, stepOf(B, 0, { moved: { from: null, to: queued } }));
      await must(store, stepOf(A, 1, { moved: { from: queued, to: done } }, { version: 2, state: 'Done' }));
      const keys = async (from: ActorStore) =>
        (await from.rows({ view: 'actors', limit: 9 })).map(({ key, value }) => [...key, value]);
      assert.deepEqual(await keys(store), [
        ['job', 'Done', 'a', null],
        ['job', 'Queued', 'b', null],
      ]);
      assert.deepEqual(await store.counters('actors/job/'), {
        'actors/job/1/Queued': 1,
        'actors/job/2/Done': 1,
      });
      await must(store, stepOf(B, 1, { moved: { from: queued, to: done } }, { version: 2, state: 'Done' }));
      await must(store, stepOf(A, 2, { moved: { from: done, to: null }, ends: true }));
      assert.equal((await store.commit(stepOf(B, 1, { moved: { from: queued, to: null } }))).ok, false);
      assert.deepEqual(await store.counters('actors/'), { 'actors/job/2/Done': 1 });
      const again = (await under.reopen?.()) ?? store;
      assert.deepEqual(await again.counters(''), { 'actors/job/2/Done': 1 });
      assert.deepEqual(await keys(again), [['job', 'Done', 'b', null]]);
    },
  ),
  promise('a store at work has no reason to refuse', async (store) => {
    await must(store, stepOf(A, 0));
    assert.equal(store.refusal(), undefined);
  }),
];
