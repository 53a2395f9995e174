/** Promises of `ActorStore` about effects, their partitions, and deadlines. */
import assert from 'node:assert/strict';
import type { ActorStore, StoredEffect } from '../model/ports.ts';
import { A, B, effectOf, stepOf } from './steps.ts';
import { must, promise, type StorePromise, withoutTakeOver } from './store-promises.ts';

export const EFFECT_PROMISES: readonly StorePromise[] = [
  promise('effects that failed are found until they are settled', async (store, under) => {
    const effects = [0, 1, 2].map((index) => effectOf(A, 1, index, 0));
    await must(store, stepOf(A, 0, { effects }));
    await store.leaseEffects(5, 9);
    const troubled = async (seen: ActorStore, more = {}) =>
      (await seen.failedEffects({ limit: 9, ...more })).map(({ key, failures }) => [key, failures]);
    assert.deepEqual(await troubled(store), []);
    for (const key of ['job/a/1/0', 'job/a/1/2', 'job/a/1/2']) await store.deferEffect(key, 7, 'no luck');
    const both = [
      ['job/a/1/0', 1],
      ['job/a/1/2', 2],
    ];
    assert.deepEqual(await troubled(store), both);
    assert.equal(await store.failedEffectCount(), 2);
    assert.deepEqual(await troubled(store, { after: 'job/a/1/0' }), both.slice(1));
    const again = under.reopen ? await under.reopen() : store;
    assert.deepEqual(await troubled(again), both);
    await must(again, stepOf(A, 1, { settles: 'job/a/1/0' }));
    assert.deepEqual(await troubled(again), both.slice(1));
    await must(again, stepOf(A, 2, { dropsEffects: true }));
    assert.deepEqual(await troubled(again), []);
  }),
  promise('the outcome of an effect is consumed once', async (store) => {
    const effect = effectOf(A, 1, 0, 5);
    await must(store, stepOf(A, 0, { effects: [effect] }));
    assert.deepEqual(await store.pendingEffects(A), [effect]);
    await must(store, stepOf(A, 1, { settles: effect.key }));
    assert.deepEqual(await store.pendingEffects(A), []);
    assert.equal(await store.nextEffectDue(), undefined);
    assert.deepEqual(await store.commit(stepOf(A, 2, { settles: effect.key, counters: { c: 1 } })), {
      ok: false,
      reason: 'duplicate',
    });
    assert.equal((await store.load(A))?.revision, 2);
    assert.deepEqual(await store.counters(''), {});
  }),
  promise('another actor may settle an effect, in its own step', async (store) => {
    const effect = effectOf(A, 1, 0, 5);
    await must(store, stepOf(A, 0, { effects: [effect] }));
    const outcomes = await Promise.all([
      store.commit(stepOf(B, 0, { settles: effect.key })),
      store.commit(stepOf(A, 1, { settles: effect.key })),
    ]);
    assert.deepEqual(
      outcomes.map((outcome) => outcome.ok || outcome.reason),
      [true, 'duplicate'],
    );
  }),
  promise('an actor id with slashes keeps its effects apart', async (store) => {
    const odd = { kind: 'job', id: 'a/1/0' };
    const effect = effectOf(odd, 1, 0, 5);
    await must(store, stepOf(A, 0, { effects: [effectOf(A, 1, 0, 5)] }));
    await must(store, stepOf(odd, 0, { effects: [effect] }));
    assert.deepEqual(await store.pendingEffects(odd), [effect]);
    await must(store, stepOf(odd, 1, { settles: effect.key }));
    assert.equal((await store.pendingEffects(A)).length, 1);
  }),
  promise(
    'dropping effects forgets the pending ones and keeps those the same step asks for',
    async (store) => {
      await must(store, stepOf(A, 0, { effects: [effectOf(A, 1, 0, 5), effectOf(A, 1, 1, 6)] }));
      await must(store, stepOf(B, 0, { effects: [effectOf(B, 1, 0, 7)] }));
      await store.leaseEffects(5, 1);
      await must(store, stepOf(A, 1, { dropsEffects: true, effects: [effectOf(A, 2, 0, 9)] }));
      assert.deepEqual(
        (await store.pendingEffects(A)).map((effect) => effect.key),
        ['job/a/2/0'],
      );
      assert.equal((await store.pendingEffects(B)).length, 1);
      assert.deepEqual(
        (await store.leaseEffects(100, 9)).map((effect) => effect.key),
        ['job/b/1/0', 'job/a/2/0'],
      );
      assert.deepEqual(await store.commit(stepOf(A, 2, { settles: 'job/a/1/0' })), {
        ok: false,
        reason: 'duplicate',
      });
    },
  ),
  promise('effects are leased in the order they are due, each once', async (store) => {
    await must(
      store,
      stepOf(A, 0, { effects: [effectOf(A, 1, 0, 30), effectOf(A, 1, 1, 10), effectOf(A, 1, 2, 50)] }),
    );
    await must(store, stepOf(B, 0, { effects: [effectOf(B, 1, 0, 20)] }));
    assert.equal(await store.nextEffectDue(), 10);
    assert.deepEqual(
      (await store.leaseEffects(30, 2)).map((effect) => effect.key),
      ['job/a/1/1', 'job/b/1/0'],
    );
    assert.equal(await store.nextEffectDue(), 30);
    assert.deepEqual(
      (await store.leaseEffects(30, 9)).map((effect) => effect.key),
      ['job/a/1/0'],
    );
    assert.deepEqual(await store.leaseEffects(49, 9), []);
    assert.deepEqual(await store.leaseEffects(50, 0), []);
    assert.deepEqual(
      (await store.leaseEffects(50, 9)).map((effect) => effect.effect),
      [{ do: 'sign', n: 2 }],
    );
    assert.equal(await store.nextEffectDue(), undefined);
  }),
  promise('effects that were due before leased ones are leased when they come later', async (store) => {
    await must(store, stepOf(A, 0, { effects: [effectOf(A, 1, 0, 30), effectOf(A, 1, 1, 40)] }));
    const keysOf = async (now: number, limit: number) =>
      (await store.leaseEffects(now, limit)).map((effect) => effect.key);
    assert.deepEqual(await keysOf(50, 1), ['job/a/1/0']);
    assert.deepEqual(await keysOf(50, 9), ['job/a/1/1']);
    await must(store, stepOf(B, 0, { effects: [effectOf(B, 1, 0, 20), effectOf(B, 1, 1, 50)] }));
    assert.deepEqual(await keysOf(50, 9), ['job/b/1/0', 'job/b/1/1']);
    await store.deferEffect('job/a/1/1', 10, 'no answer');
    assert.deepEqual(await keysOf(50, 9), ['job/a/1/1']);
    await store.releaseEffects(['job/a/1/0']);
    assert.deepEqual(await keysOf(50, 9), ['job/a/1/0']);
    assert.equal(await store.takeEffect('job/a/1/0', 5, null), false);
    await store.releaseEffects(['job/a/1/0']);
    assert.equal(await store.takeEffect('job/a/1/0', 5, null), true);
    assert.deepEqual(await keysOf(50, 9), ['job/a/1/0']);
    // The clock was set back.
    await must(store, stepOf(B, 1, { effects: [effectOf(B, 2, 0, 3)] }));
    assert.deepEqual(await keysOf(4, 9), ['job/b/2/0']);
  }),
  promise('a deferred effect comes back at its time with its failure counted', async (store) => {
    const effect = effectOf(A, 1, 0, 10);
    await must(store, stepOf(A, 0, { effects: [effect] }));
    await store.leaseEffects(10, 1);
    await store.deferEffect(effect.key, 500, 'no answer');
    assert.equal(await store.nextEffectDue(), 500);
    assert.deepEqual(await store.leaseEffects(499, 1), []);
    const later = { ...effect, dueAt: 500, failures: 1, lastError: 'no answer' };
    assert.deepEqual(await store.pendingEffects(A), [later]);
    assert.deepEqual(await store.leaseEffects(500, 1), [later]);
    await must(store, stepOf(A, 1, { settles: effect.key }));
    await store.deferEffect(effect.key, 900, 'too late');
    assert.equal(await store.nextEffectDue(), undefined);
    assert.deepEqual(await store.pendingEffects(A), []);
  }),
  promise('a released effect is leased again, without a failure', async (store) => {
    const effect = effectOf(A, 1, 0, 10);
    await must(store, stepOf(A, 0, { effects: [effect] }));
    await store.leaseEffects(10, 1);
    await store.releaseEffects([effect.key, 'job/nobody/1/0']);
    assert.deepEqual(await store.leaseEffects(10, 9), [effect]);
    await must(store, stepOf(A, 1, { settles: effect.key }));
    await store.releaseEffects([effect.key]);
    assert.deepEqual(await store.leaseEffects(10, 9), []);
  }),
  promise('effects that are done are removed without a step, and nobody leases them again', async (store) => {
    const queued = { ...effectOf(A, 1, 2, 10), partition: 'call/a' };
    const effects = [effectOf(A, 1, 0, 10), effectOf(A, 1, 1, 10), queued];
    const [first, second] = effects;
    if (first === undefined || second === undefined) throw new TypeError('Two effects are needed.');
    await must(store, stepOf(A, 0, { effects }));
    await store.leaseEffects(10, 1);
    await store.leaseEffects(10, 1, 'call/a');
    await store.settleEffects([first.key, queued.key, 'job/nobody/1/0']);
    assert.deepEqual(await store.pendingEffects(A), [second]);
    assert.deepEqual(await store.leaseEffects(10, 9), [second]);
    assert.deepEqual(await store.leaseEffects(10, 9, 'call/a'), []);
    assert.equal((await store.load(A))?.revision, 1);
    const late = await store.commit(stepOf(A, 1, { settles: first.key }));
    assert.deepEqual(late, { ok: false, reason: 'duplicate' });
  }),
  promise(
    'no effect waits further ahead than it may, in a partition or in none, and counts no failure for it',
    async (store) => {
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
      await must(store, stepOf(A, 0, { effects }));
      await store.leaseEffects(5000, 1, 'call/a');
      await store.deferEffect(late(2, 4000, 'call/a').key, 900_000, 'no answer');
      await store.rescheduleAfterClockRegression(100);
      await store.rescheduleAfterClockRegression(100);
      assert.deepEqual(
        (await store.pendingEffects(A)).map(({ dueAt, failures, partition }) => [dueAt, failures, partition]),
        [
          [100, 0, undefined],
          [90, 0, undefined],
          [300_100, 1, 'call/a'],
          [100, 0, 'call/b'],
          [90, 0, 'call/b'],
        ],
      );
      assert.deepEqual(
        (await store.failedEffects({ limit: 9 })).map(({ dueAt }) => dueAt),
        [300_100],
      );
      assert.equal((await store.leaseEffects(100, 9)).length, 2);
      assert.equal((await store.leaseEffects(300_099, 9, 'call/a')).length, 0);
      assert.equal((await store.leaseEffects(300_100, 9, 'call/a')).length, 1);
    },
  ),
  promise('an effect that is under way is not given out again when its time is moved', async (store) => {
    await must(store, stepOf(A, 0, { effects: [effectOf(A, 1, 0, 4000)] }));
    assert.equal((await store.leaseEffects(5000, 1)).length, 1);
    await store.rescheduleAfterClockRegression(100);
    assert.equal((await store.pendingEffects(A))[0]?.dueAt, 100);
    assert.deepEqual(await store.leaseEffects(5000, 1), []);
  }),
  promise(
    'effects of a partition wait apart from all others, and keep their partition',
    async (store, under) => {
      const withPartition = (effect: StoredEffect, partition: string) => ({ ...effect, partition });
      const first = withPartition(effectOf(A, 1, 0, 10), 'call/a');
      const second = withPartition(effectOf(A, 1, 1, 20), 'call/a');
      const other = withPartition(effectOf(A, 1, 2, 15), 'call/b');
      const elsewhere = withPartition(effectOf(A, 1, 3, 5), 'mail/a');
      const plain = effectOf(A, 1, 4, 30);
      const effects = [first, second, other, elsewhere, plain];
      await must(store, stepOf(A, 0, { effects }));
      assert.deepEqual(await store.pendingEffects(A), effects);
      assert.equal(await store.nextEffectDue(), 30);
      const partitions = (more: { readonly after?: string; readonly limit?: number } = {}) =>
        store.partitions({ prefix: 'call/', limit: 9, ...more });
      assert.deepEqual(await partitions(), [
        { partition: 'call/a', due: 10 },
        { partition: 'call/b', due: 15 },
      ]);
      assert.deepEqual(await partitions({ limit: 1 }), [{ partition: 'call/a', due: 10 }]);
      assert.deepEqual(await partitions({ after: 'call/a' }), [{ partition: 'call/b', due: 15 }]);
      assert.deepEqual(await partitions({ after: 'call/b' }), []);
      assert.deepEqual(
        await store.leaseEffects(99, 9),
        [plain],
        'the common queue has nothing of the partitions',
      );
      assert.deepEqual(await store.leaseEffects(19, 9, 'call/a'), [first]);
      assert.deepEqual(await partitions(), [
        { partition: 'call/a', due: 20 },
        { partition: 'call/b', due: 15 },
      ]);
      assert.deepEqual(await store.leaseEffects(99, 0, 'call/b'), []);
      assert.deepEqual(await store.leaseEffects(99, 9, 'call/b'), [other]);
      assert.deepEqual(await partitions(), [{ partition: 'call/a', due: 20 }]);
      await store.deferEffect(other.key, 500, 'no answer');
      const later = { ...other, dueAt: 500, failures: 1, lastError: 'no answer' };
      assert.deepEqual(await partitions({ after: 'call/a' }), [{ partition: 'call/b', due: 500 }]);
      assert.deepEqual(await store.leaseEffects(499, 9, 'call/b'), []);
      const again = under.reopen ? await under.reopen() : store;
      if (under.reopen) {
        const leased = await again.leaseEffects(99, 1, 'call/a');
        assert.deepEqual(leased.map(withoutTakeOver), [first], 'leases have ended');
      }
      assert.deepEqual((await again.leaseEffects(500, 9, 'call/b')).map(withoutTakeOver), [later]);
      for (const [at, { key }] of [first, other].entries())
        await must(again, stepOf(A, at + 1, { settles: key }));
      assert.deepEqual((await again.pendingEffects(A)).map(withoutTakeOver), [second, elsewhere, plain]);
      await must(again, stepOf(A, 3, { dropsEffects: true }));
      assert.deepEqual(await again.partitions({ prefix: '', limit: 9 }), []);
      assert.deepEqual(await again.leaseEffects(999, 9, 'call/a'), []);
    },
  ),
  promise('deadlines come earliest first and stay until disarmed', async (store) => {
    const arm = (name: string, due: number) => ({ name, due, event: { type: name, n: due } });
    await must(store, stepOf(A, 0, { timers: { arm: [arm('x', 300), arm('y', 100)], disarm: [] } }));
    await must(store, stepOf(B, 0, { timers: { arm: [arm('x', 200)], disarm: [] } }));
    assert.equal(await store.nextTimerDue(), 100);
    assert.deepEqual(
      (await store.dueTimers(200, 9)).map(({ actor, name }) => [actor.id, name]),
      [
        ['a', 'y'],
        ['b', 'x'],
      ],
    );
    assert.deepEqual(await store.dueTimers(300, 1), [
      { actor: A, name: 'y', due: 100, event: { type: 'y', n: 100 } },
    ]);
    assert.deepEqual(await store.dueTimers(99, 9), []);
    await must(store, stepOf(A, 1, { timers: { arm: [arm('y', 100)], disarm: [{ name: 'y', due: 100 }] } }));
    assert.equal(await store.nextTimerDue(), 100, 'moved to the time it had: disarmed first, then armed');
    await must(
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
    assert.deepEqual(
      (await store.dueTimers(999, 9)).map(({ due }) => due),
      [200, 400],
    );
  }),
  promise('everything is there after reopening, and leases have ended', async (store, under) => {
    if (under.reopen === undefined) {
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
    await must(store, step);
    assert.equal((await store.leaseEffects(5, 9)).length, 1);
    const again = await under.reopen();
    assert.deepEqual(await again.load(A), step.actor);
    assert.deepEqual(await again.journal(A), step.journal);
    assert.deepEqual((await again.leaseEffects(5, 9)).map(withoutTakeOver), step.effects);
    assert.deepEqual(await again.dueTimers(7, 9), [{ actor: A, name: 'w', due: 7, event: { type: 'W' } }]);
    assert.deepEqual(await again.rows({ view: 'v', limit: 1 }), step.rows.put);
    assert.deepEqual(await again.holder('n'), A);
    assert.deepEqual(await again.counters(''), { c: 3 });
    assert.deepEqual(await again.commit(stepOf(A, 0)), { ok: false, reason: 'stale' });
  }),
];
