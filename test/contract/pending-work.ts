/** Lists of deadlines and effects over all actors, and effects that change their node, on every store. */
import type { ActorStore } from '@sealwright/runtime';
import type { PendingTimer } from '@sealwright/runtime/inspect';
import ava, { type ExecutionContext, type TestFn } from 'ava';
import { Inspector } from '#runtime/inspection/inspect.js';
import { A, B, effectOf, stepOf } from './steps.ts';
import type { StoreUnderTest } from './store.ts';

const C = { kind: 'order', id: 'c/1' };

/** Reads all pages. */
async function all<Item>(
  page: (after?: string) => Promise<{ readonly items: readonly Item[]; readonly next?: string }>,
): Promise<readonly (readonly Item[])[]> {
  const pages: (readonly Item[])[] = [];
  let after: string | undefined;
  do {
    const { items, next } = await page(after);
    pages.push(items);
    after = next;
  } while (after !== undefined);
  return pages;
}

export function pendingWorkContract(
  name: string,
  open: (t: ExecutionContext) => Promise<StoreUnderTest>,
  test: TestFn = ava,
): void {
  const promise = (title: string, check: (t: ExecutionContext, store: ActorStore) => Promise<void>): void => {
    test(`${name}: ${title}`, async (t) => {
      await check(t, (await open(t)).store);
    });
  };
  const inspectorOf = (store: ActorStore) =>
    new Inspector(store, new Map(), { reports: async () => [], shardOf: () => 0 });

  promise('deadlines of all actors are listed in pages, earliest first', async (t, store) => {
    for (const [actor, dues] of [
      [A, [30, 10]],
      [B, [20, 10]],
      [C, [15, 40]],
    ] as const) {
      const arm = dues.map((due) => ({ name: `n${due}`, due, event: { type: 'X' } }));
      await store.commit(stepOf(actor, 0, { timers: { arm, disarm: [] } }));
    }
    const inspector = inspectorOf(store);
    const told = (pages: readonly (readonly PendingTimer[])[]) =>
      pages.map((page) => page.map(({ due, actor }) => `${due} ${actor.id}`));
    const list = (query: object) =>
      all((after) => inspector.timers({ ...query, ...(after !== undefined && { after }) }));
    t.deepEqual(told(await list({ limit: 4 })), [
      ['10 a', '10 b', '15 c/1', '20 b'],
      ['30 a', '40 c/1'],
    ]);
    t.deepEqual(told(await list({ before: 20 })), [['10 a', '10 b', '15 c/1', '20 b']]);
    t.deepEqual(told(await list({ kind: 'order', limit: 1 })), [['15 c/1'], ['40 c/1']]);
    t.deepEqual(told(await list({ kind: 'none' })), [[]]);
    await t.throwsAsync(inspector.timers({ after: 'x' }), { code: 'runtime.options' });
    await t.throwsAsync(inspector.timers({ limit: 1001 }), { code: 'runtime.options' });
  });

  promise('effects of all actors are listed in pages, with what each waits for', async (t, store) => {
    for (const [actor, count] of [
      [A, 3],
      [B, 1],
      [C, 2],
    ] as const) {
      const effects = Array.from({ length: count }, (_, n) => effectOf(actor, 1, n, n));
      await store.commit(stepOf(actor, 0, { effects }));
    }
    const [first, second] = await store.leaseEffects(0, 3);
    await store.deferEffect(first?.key ?? '', 900, 'it is busy');
    await store.deferEffect(second?.key ?? '', 9000, 'effect.set-aside: no more');
    const inspector = inspectorOf(store);
    const list = async (query: object) =>
      (await all((after) => inspector.effects({ ...query, ...(after !== undefined && { after }) }))).map(
        (page) => page.map(({ key, state }) => `${key} ${state}`),
      );
    t.deepEqual(await list({ limit: 4 }), [
      ['job/a/1/0 failed', 'job/a/1/1 waiting', 'job/a/1/2 waiting', 'job/b/1/0 set-aside'],
      ['order/c/1/1/0 running', 'order/c/1/1/1 waiting'],
    ]);
    t.deepEqual(await list({ kind: 'order' }), [['order/c/1/1/0 running', 'order/c/1/1/1 waiting']]);
    t.deepEqual(await list({ kind: 'orde' }), [[]]);
    t.deepEqual(await list({ state: 'waiting', limit: 2 }), [
      ['job/a/1/1 waiting', 'job/a/1/2 waiting'],
      ['order/c/1/1/1 waiting'],
    ]);
    t.deepEqual(await list({ do: 'other' }), [[]]);
    await t.throwsAsync(inspector.effects({ after: 'x' }), { code: 'runtime.options' });
  });

  promise(
    'an effect in progress is not taken, another one is due as told and counts a failure if told',
    async (t, store) => {
      await store.commit(stepOf(A, 0, { effects: [effectOf(A, 1, 0, 0), effectOf(A, 1, 1, 5000)] }));
      const [running] = await store.leaseEffects(0, 1);
      t.false(await store.takeEffect(running?.key ?? '', 0, 'asked'));
      t.false(await store.takeEffect('job/a/1/7', 0, 'asked'));
      t.true(await store.takeEffect('job/a/1/1', 4000, null));
      t.like((await store.pendingEffects(A))[1], { dueAt: 4000, failures: 0, lastError: null });
      t.true(await store.takeEffect('job/a/1/1', 0, 'asked'));
      t.like((await store.pendingEffects(A))[1], { dueAt: 0, failures: 1, lastError: 'asked' });
      const leased = await store.leaseEffects(0, 9);
      t.deepEqual(
        leased.map(({ key }) => key),
        ['job/a/1/1'],
      );
      t.deepEqual(await store.leaseEffects(0, 9), []);
    },
  );
}
