/** The runtime as programs use it: definitions that are refused, types, answers, waits, lists. */
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import {
  ActorCalls,
  type Clock,
  type CreateOptions,
  createRuntime,
  declareEffect,
  defineActor,
  defineEffect,
  Fatal,
  Faults,
  note,
  Retryable,
  type Step,
  type StoreSource,
  tell,
} from '@sealwright/runtime';
import { lmdb, openLmdbReader } from '@sealwright/runtime/lmdb';
import { memory } from '@sealwright/runtime/memory';
import { postgres } from '@sealwright/runtime/postgres';
import { shards } from '@sealwright/runtime/shards';
import { check, MemoryStore, testRuntime } from '@sealwright/runtime/testing';
import test from 'ava';
import { assign, emit, fromPromise, log, not, sendTo, setup, spawnChild } from 'xstate';
import { folderFor } from './folder.ts';

const pay = defineEffect('pay', {
  tries: 3,
  run: async ({ amount }: { amount: number }, { key }) => {
    if (amount > 100) throw new Retryable('bank.busy', 'The bank is busy.');
    return { type: 'PAID', key } as const;
  },
  failed: () => ({ type: 'REFUSED', key: '' }) as const,
});

const bank = defineActor('bank', {
  version: 1,
  machine: setup({
    types: {} as { context: { heard: readonly string[] }; events: { type: 'TOLD'; what: string } },
    actions: { hear: assign({ heard: ({ context, event }) => [...context.heard, event.what] }) },
  }).createMachine({
    context: { heard: [] },
    initial: 'open',
    states: { open: { on: { TOLD: { actions: 'hear' } } } },
  }),
});

const order = defineActor('order', {
  version: 1,
  effects: [pay],
  idWindow: 2,
  machine: setup({
    types: {} as {
      context: { amount: number; key: string | null };
      input: { amount: number };
      output: { paid: number };
      events:
        | { type: 'PAY' }
        | { type: 'PAID' | 'REFUSED'; key: string }
        | { type: 'REPORT'; what: string }
        | { type: 'COUNT' };
    },
    delays: { patience: 86_400_000 },
    actions: {
      pay: pay.action,
      tell: tell(bank),
      note,
      count: assign({ amount: ({ context }) => context.amount + 1 }),
    },
  }).createMachine({
    context: ({ input }) => ({ ...input, key: null }),
    initial: 'open',
    states: {
      open: {
        tags: ['changeable'],
        on: {
          PAY: 'paying.now',
          COUNT: { actions: 'count' },
          REPORT: {
            actions: {
              type: 'tell',
              params: ({ event }) => ({ id: 'b', event: { type: 'TOLD', what: event.what } }),
            },
          },
        },
        after: { patience: 'lapsed' },
      },
      paying: {
        initial: 'now',
        states: {
          now: { entry: { type: 'pay', params: ({ context }) => ({ amount: context.amount }) } },
        },
        on: {
          PAID: {
            target: 'paid',
            actions: [
              assign({ key: ({ event }) => event.key }),
              { type: 'note', params: { message: 'Paid.' } },
            ],
          },
          REFUSED: 'refused',
        },
      },
      paid: { type: 'final' },
      refused: {},
      lapsed: {},
    },
    output: ({ context }) => ({ paid: context.amount }),
  }),
});

test('an answer is frozen and has state, context, tags, output and revision', async (t) => {
  const { runtime } = await testRuntime([order, bank]);
  const created = await runtime.create(order, 'o1', { amount: 5 });
  t.like(created, { accepted: true, id: 'o1', state: 'open', tags: ['changeable'], revision: 1 });
  t.false('output' in created);
  t.true(Object.isFrozen(created));
  if (!('tags' in created)) return t.fail();
  t.throws(() => Object.assign(created.context, { amount: 6 }), { instanceOf: TypeError });
  t.true(Object.isFrozen(created.tags));
  t.like(await runtime.send(order, 'o1', { type: 'PAY' }), { accepted: true, state: 'paying.now', tags: [] });
  const paid = await runtime.waitFor(order, 'o1', ({ state }) => state === 'paid');
  t.deepEqual(paid.output, { paid: 5 });
  t.true(Object.isFrozen(paid.output));
  t.regex(paid.context.key ?? '', /^order\/o1\/2\//);
  t.like(await runtime.send(order, 'o1', { type: 'PAY' }), {
    accepted: false,
    reason: 'not-accepted',
    state: 'paid',
  });
  t.like(await runtime.create(order, 'o1', { amount: 5 }), { accepted: false, reason: 'exists' });
  t.like(await runtime.send(order, 'none', { type: 'PAY' }), { accepted: false, reason: 'unknown-actor' });
  await runtime.stop();
});

test('an effect is given up after its tries, and its actor is told', async (t) => {
  const { runtime, advance } = await testRuntime([order, bank]);
  await runtime.create(order, 'o1', { amount: 500 });
  await runtime.send(order, 'o1', { type: 'PAY' });
  await advance(60_000);
  t.is((await runtime.read(order, 'o1'))?.state, 'refused');
});

test('an attempt that gives no sign of life is given up early, one that does may take long', async (t) => {
  const attempts: number[] = [];
  const work = defineEffect('work', {
    heartbeatMs: 1000,
    timeoutMs: 60_000,
    run: async (_: object, { clock, heartbeat, failures, signal }) => {
      attempts.push(clock.elapsed());
      for (let beat = 0; beat < 10; beat += 1) {
        await clock.sleep(900, signal);
        if (failures > 0) heartbeat();
      }
      return { type: 'DONE' } as const;
    },
  });
  const worker = defineActor('worker', {
    version: 1,
    effects: [work],
    machine: setup({
      types: {} as { events: { type: 'DONE' } },
      actions: { work: work.action },
    }).createMachine({
      initial: 'busy',
      states: { busy: { entry: { type: 'work', params: {} }, on: { DONE: 'idle' } }, idle: {} },
    }),
  });
  const { runtime, advance, log } = await testRuntime([worker]);
  await runtime.create(worker, 'w');
  await advance(1500);
  t.is((await runtime.effects()).items[0]?.state, 'failed');
  t.true(log.some((line) => line.includes('effect.no-heartbeat')));
  await advance(12_000);
  t.is((await runtime.read(worker, 'w'))?.state, 'idle');
  t.is(attempts.length, 2);
});

test('an attempt ends with the time over all attempts, also when the runtime was stopped meanwhile', async (t) => {
  let runs = 0;
  const work = defineEffect('work', {
    totalMs: 10_000,
    run: (_: object, { signal }) => {
      runs += 1;
      if (runs === 1) throw new Retryable('bank.busy', 'The bank is busy.');
      return new Promise<never>((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
      });
    },
    failed: (_, { code, message }) => ({ type: 'FAILED', code: `${code}: ${message}` }) as const,
  });
  const worker = defineActor('worker', {
    version: 1,
    effects: [work],
    machine: setup({
      types: {} as { context: { code: string }; events: { type: 'FAILED'; code: string } },
      actions: { work: work.action, note: assign({ code: ({ event }) => event.code }) },
    }).createMachine({
      context: { code: '' },
      initial: 'busy',
      states: {
        busy: {
          entry: { type: 'work', params: {} },
          on: { FAILED: { target: 'failed', actions: 'note' } },
        },
        failed: {},
      },
    }),
  });
  const kit = await testRuntime([worker], { stopGraceMs: 10 });
  await kit.runtime.create(worker, 'w');
  await kit.advance(4000);
  await kit.restart();
  await kit.advance(5000);
  t.is((await kit.runtime.read(worker, 'w'))?.state, 'busy');
  await kit.advance(1100);
  t.like(await kit.runtime.read(worker, 'w'), {
    state: 'failed',
    context: {
      code: 'effect.total-limit: The time of "work" over all attempts has passed. Last error: The bank is busy.',
    },
  });
  t.is(runs, 3);
});

test('an event with a name of XState is refused at the door, however often, and its actor goes on', async (t) => {
  const { runtime } = await testRuntime([order, bank]);
  await runtime.create(order, 'o1', { amount: 1 });
  for (const type of ['xstate.init', 'xstate.stop', 'xstate.after.patience.order.open'])
    for (let n = 0; n < 6; n += 1)
      await t.throwsAsync(runtime.send(order, 'o1', { type } as never), {
        code: 'message.malformed',
        message: /XState keeps for itself/,
      });
  t.like(await runtime.send(order, 'o1', { type: 'COUNT' }), { accepted: true, state: 'open', revision: 2 });
});

test('a start with a stored effect that has no handler any more is refused with its name, and changes nothing', async (t) => {
  const folder = folderFor(t);
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const worker = (effects: readonly (typeof away)[], version = 1) =>
    defineActor('worker', {
      version,
      effects,
      ...(version > 1 && { migrations: { 1: { migrate: (actor) => actor } } }),
      machine: setup({ actions: { away: away.action } }).createMachine(
        effects.length > 0 ? { entry: { type: 'away' } } : {},
      ),
    });
  const away = defineEffect('away', { run: () => Promise.reject(new Error('away')) });
  const first = await createRuntime({ store: lmdb(folder), actors: [worker([away])], log });
  await first.create(worker([away]), 'w');
  await first.stop();
  const without = { store: lmdb(folder), actors: [worker([], 2)], log };
  const refused = await t.throwsAsync(createRuntime(without), { code: 'store.no-path' });
  t.regex(refused?.message ?? '', /"away": 1, the first of worker\/w\nKeep these effects/);
  const again = await createRuntime({ store: lmdb(folder), actors: [worker([away])], log });
  t.like(await again.read(worker([away]), 'w'), { revision: 1 });
  await again.stop();
});

for (const [what, context, why] of [
  [
    'gives a Date',
    { heard: [], when: new Date(0) },
    /bank\/b: .* from version 1 gives what cannot be stored: context\.when/,
  ],
  ['throws', undefined, /bank\/b: the migration from version 1 threw: no memory/],
] as const)
  test(`a migration that ${what} refuses the start and names the actor`, async (t) => {
    const kit = await testRuntime([bank]);
    await kit.runtime.create(bank, 'b');
    const second = defineActor('bank', {
      version: 2,
      machine: bank.machine,
      migrations: {
        1: {
          migrate: ({ state }) => {
            if (context === undefined) throw new Error('no memory');
            return { state, context: context as never };
          },
        },
      },
    });
    await t.throwsAsync(kit.restart([second]), { code: 'store.no-path', message: why });
    await kit.restart([bank]);
    t.like(await kit.runtime.read(bank, 'b'), { revision: 1, context: { heard: [] } });
  });

test('a dead letter says what it was: a message or an outcome, refused or without a receiver', async (t) => {
  const work = defineEffect('work', { run: async () => ({ type: 'DONE' }) as const });
  const worker = defineActor('worker', {
    version,
    effects: [work],
    machine: setup({
      types: {} as { context: { to: string }; input: { to: string }; events: { type: 'DONE' } },
      actions: { work: work.action, hello: tell('worker') },
    }).createMachine({
      context: ({ input }) => input,
      entry: [
        { type: 'work' },
        { type: 'hello', params: ({ context }) => ({ id: context.to, event: { type: 'HELLO' } }) },
      ],
    }),
  });
  const { runtime, settle } = await testRuntime([worker]);
  await runtime.create(worker, 'a', { to: 'a' });
  await settle();
  await runtime.create(worker, 'b', { to: 'nobody' });
  await settle();
  const { items } = await runtime.deadLetters.list();
  t.deepEqual(
    items.map(({ what, because, to, event }) => `${what} ${event.type} to ${to.id}: ${because}`).sort(),
    [
      'outcome DONE to a: not-accepted',
      'outcome DONE to b: not-accepted',
      'tell HELLO to a: not-accepted',
      'tell HELLO to nobody: unknown-actor',
    ],
  );
});

test('what nobody accepts is kept for a time', async (t) => {
  const { runtime, advance } = await testRuntime([order, bank], { deadLetters: { forMs: 86_400_000 } });
  await runtime.create(order, 'o1', { amount: 1 });
  await runtime.send(order, 'o1', { type: 'REPORT', what: 'a' });
  await advance(40_000_000);
  await runtime.send(order, 'o1', { type: 'REPORT', what: 'b' });
  await advance(46_000_000);
  t.is((await runtime.deadLetters.list()).items.length, 2);
  await advance(500_000);
  t.deepEqual(
    (await runtime.deadLetters.list()).items.map(({ event }) => event['what']),
    ['b'],
  );
  await advance(40_000_000);
  t.deepEqual(await runtime.deadLetters.list(), { items: [] });
});

test('the oldest of what nobody accepts are removed while more keep coming', async (t) => {
  const { runtime, advance } = await testRuntime([order, bank], { deadLetters: { atMost: 2 } });
  await runtime.create(order, 'o1', { amount: 1 });
  for (let n = 0; n < 20; n += 1) {
    await runtime.send(order, 'o1', { type: 'REPORT', what: `${n}` });
    await advance(500);
  }
  const { items } = await runtime.deadLetters.list();
  t.true(items.length <= 4, `${items.length} are kept`);
  t.is(items.at(-1)?.event['what'], '19');
});

/** A store in memory that does something before each commit. */
function memoryWith(before: (step: Step, clock: Clock) => Promise<void>): StoreSource {
  const tables = memory();
  return {
    async open(opening) {
      const store = await tables.open(opening);
      const commit = store.commit.bind(store);
      store.commit = async (step) => {
        await before(step, opening.clock);
        return commit(step);
      };
      return store;
    },
  };
}

test('the oldest of what nobody accepts are removed although they are stored late', async (t) => {
  const store = memoryWith(async ({ rows }, clock) => {
    if (rows.put.some(({ view }) => view === 'runtime.dead-letters')) await clock.sleep(5000);
  });
  const { runtime, advance } = await testRuntime([order, bank], { store, deadLetters: { atMost: 1 } });
  await runtime.create(order, 'o1', { amount: 1 });
  for (const what of ['a', 'b']) await runtime.send(order, 'o1', { type: 'REPORT', what });
  await advance(60_000);
  t.deepEqual(
    (await runtime.deadLetters.list()).items.map(({ event }) => event['what']),
    ['b'],
  );
});

test('a letter that was sent again is consumed once, although its removal failed and many messages came since', async (t) => {
  let isLost = false;
  const store = memoryWith(async ({ actor }) => {
    if (isLost && actor.address.kind === 'runtime.dead-letters')
      throw new Retryable('store.unavailable', 'The connection is lost.');
  });
  const { runtime, settle } = await testRuntime([order, bank], { store });
  await runtime.create(order, 'o1', { amount: 1 });
  await runtime.send(order, 'o1', { type: 'REPORT', what: 'late' });
  await settle();
  const [letter] = (await runtime.deadLetters.list()).items;
  const replay = () => runtime.deadLetters.replay(letter?.id ?? '').catch(({ code }) => code);
  await runtime.create(bank, 'b');
  isLost = true;
  const first = await replay();
  isLost = false;
  for (let n = 0; n < 40; n += 1) await runtime.send(bank, 'b', { type: 'TOLD', what: 'x' }, { id: `${n}` });
  t.is(await replay(), 'gone');
  t.is(first, 'accepted');
  t.is((await runtime.read(bank, 'b'))?.context.heard.filter((what) => what === 'late').length, 1);
  t.deepEqual(await runtime.deadLetters.list(), { items: [] });
});

test('many of what nobody accepts are dropped at once', async (t) => {
  const { runtime, settle } = await testRuntime([order, bank]);
  await runtime.create(order, 'o1', { amount: 1 });
  for (let n = 0; n < 50; n += 1) await runtime.send(order, 'o1', { type: 'REPORT', what: `${n}` });
  await settle();
  const { items } = await runtime.deadLetters.list();
  t.is(items.length, 50);
  const dropped = await Promise.all(items.map(({ id }) => runtime.deadLetters.drop(id)));
  t.true(dropped.every(Boolean));
  t.deepEqual(await runtime.deadLetters.list(), { items: [] });
});

test('a message to another actor arrives, and the types of its events are those of the receiver', async (t) => {
  const { runtime, settle } = await testRuntime([order, bank]);
  await runtime.create(bank, 'b');
  await runtime.create(order, 'o1', { amount: 1 });
  for (const what of ['a', 'b', 'c']) await runtime.send(order, 'o1', { type: 'REPORT', what });
  await settle();
  t.deepEqual((await runtime.read(bank, 'b'))?.context.heard, ['a', 'b', 'c']);
});

test('ids of messages are remembered within the window of the actor', async (t) => {
  const { runtime } = await testRuntime([order, bank]);
  await runtime.create(order, 'o1', { amount: 1 });
  const send = async (id: string) => {
    const answer = await runtime.send(order, 'o1', { type: 'COUNT' }, { id });
    return answer.accepted || answer.reason;
  };
  t.deepEqual([await send('a'), await send('b'), await send('a')], [true, true, 'duplicate']);
  t.deepEqual([await send('c'), await send('a')], [true, true]);
});

test('an effect that was set aside runs again when it is asked for', async (t) => {
  let fails = true;
  const work = defineEffect('work', {
    tries: 1,
    run: async () => {
      if (fails) throw new Error('not yet');
      return { type: 'DONE' } as const;
    },
  });
  const worker = defineActor('worker', {
    version: 1,
    effects: [work],
    machine: setup({
      types: {} as { events: { type: 'DONE' } },
      actions: { work: work.action },
    }).createMachine({
      initial: 'busy',
      states: { busy: { entry: { type: 'work', params: {} }, on: { DONE: 'idle' } }, idle: {} },
    }),
  });
  const unaccepted: string[] = [];
  const { runtime, settle, advance } = await testRuntime([worker], {
    onUnaccepted: ({ id }, what) => unaccepted.push(`${what} to ${id}`),
  });
  await runtime.create(worker, 'w');
  await advance(86_400_000);
  t.is((await runtime.read(worker, 'w'))?.state, 'busy');
  fails = false;
  t.true(await runtime.retry(worker, 'w'));
  await settle();
  t.is((await runtime.read(worker, 'w'))?.state, 'idle');
  t.false(await runtime.retry(worker, 'w'));
  t.deepEqual(unaccepted, []);
});

test('an effect that was set aside for its time runs once more after a start, and when it is asked for', async (t) => {
  let isAway = true;
  let runs = 0;
  const work = defineEffect('work', {
    totalMs: 10_000,
    run: async (_: { n: number }) => {
      runs += 1;
      if (isAway) throw new Retryable('bank.busy', 'The bank is busy.');
      return { type: 'DONE' } as const;
    },
  });
  const worker = defineActor('worker', {
    version: 1,
    effects: [work],
    machine: setup({
      types: {} as { events: { type: 'DONE' } },
      actions: { work: work.action },
    }).createMachine({
      initial: 'busy',
      states: { busy: { entry: { type: 'work', params: { n: 1 } }, on: { DONE: 'idle' } }, idle: {} },
    }),
  });
  const kit = await testRuntime([worker]);
  await kit.runtime.create(worker, 'w');
  await kit.advance(20_000);
  const [listed] = (await kit.runtime.effects()).items;
  t.is(listed?.state, 'set-aside');
  t.deepEqual(listed?.effect, { do: 'work', n: 1 });
  let earlier = runs;
  await kit.restart();
  await kit.advance(6 * 60_000);
  t.is(runs, earlier + 1);
  t.is((await kit.runtime.effects()).items[0]?.lastError, listed?.lastError);
  earlier = runs;
  t.true(await kit.runtime.retry(worker, 'w'));
  await kit.advance(60_000);
  t.is(runs, earlier + 1);
  t.is((await kit.runtime.effects()).items[0]?.state, 'set-aside');
  isAway = false;
  t.true(await kit.runtime.retry(worker, 'w'));
  await kit.settle();
  t.is((await kit.runtime.read(worker, 'w'))?.state, 'idle');
});

test('an effect that was set aside runs once at a time, however often it is asked for', async (t) => {
  let fails = true;
  let running = 0;
  let most = 0;
  let go = (): void => {};
  const gate = new Promise<void>((resolve) => {
    go = resolve;
  });
  const work = defineEffect('work', {
    tries: 1,
    run: async () => {
      if (fails) throw new Error('not yet');
      running += 1;
      most = Math.max(most, running);
      await gate;
      running -= 1;
      return null;
    },
  });
  const worker = defineActor('worker', {
    version: 1,
    effects: [work],
    machine: setup({ actions: { work: work.action } }).createMachine({ entry: { type: 'work', params: {} } }),
  });
  const kit = await testRuntime([worker]);
  await kit.runtime.create(worker, 'w');
  await kit.settle();
  fails = false;
  const asked = await Promise.all([kit.runtime.retry(worker, 'w'), kit.runtime.retry(worker, 'w')]);
  await kit.settle();
  t.deepEqual(asked, [true, false]);
  t.is(most, 1);
  go();
  await kit.settle();
  await kit.runtime.stop();
});

test('an effect that runs again after a start does not begin twice when it is asked for', async (t) => {
  let fails = true;
  let begun = 0;
  let go = (): void => {};
  const gate = new Promise<void>((resolve) => {
    go = resolve;
  });
  const work = defineEffect('work', {
    tries: 1,
    run: async () => {
      if (fails) throw new Error('not yet');
      begun += 1;
      await gate;
      return null;
    },
  });
  const worker = defineActor('worker', {
    version: 1,
    effects: [work],
    machine: setup({ actions: { work: work.action } }).createMachine({ entry: { type: 'work', params: {} } }),
  });
  const kit = await testRuntime([worker]);
  await kit.runtime.create(worker, 'w');
  await kit.settle();
  fails = false;
  await kit.restart();
  await kit.advance(6 * 60_000);
  t.is(begun, 1);
  t.true(await kit.runtime.retry(worker, 'w'));
  await kit.settle();
  t.is(begun, 1);
  go();
  await kit.settle();
  await kit.runtime.stop();
});

test('a charge whose answer is lost is made once and known as made, and one that the bank refuses is refused', async (t) => {
  const charges = new Map<string, number>();
  const server = createServer((request, response) => {
    const key = String(request.headers['idempotency-key']);
    const calls = (charges.get(key) ?? 0) + 1;
    charges.set(key, calls);
    if (request.url === '/refused') response.writeHead(402).end();
    else if (calls === 1) request.socket.destroy();
    else response.end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  const charge = defineEffect('charge', {
    tries: 5,
    run: async ({ path }: { path: string }, { key }) => {
      const headers = { 'idempotency-key': key, connection: 'close' };
      const answer = await fetch(`http://127.0.0.1:${port}/${path}`, { headers });
      if (answer.status === 402) throw new Fatal('bank.refused', 'No money.');
      return { type: 'CHARGED' } as const;
    },
    failed: () => ({ type: 'REFUSED' }) as const,
  });
  const sale = defineActor('sale', {
    version,
    effects: [charge],
    machine: setup({
      types: {} as {
        context: { path: string };
        input: { path: string };
        events: { type: 'CHARGED' } | { type: 'REFUSED' };
      },
      actions: { charge: charge.action },
    }).createMachine({
      context: ({ input }) => input,
      initial: 'paying',
      states: {
        paying: {
          entry: { type: 'charge', params: ({ context }) => context },
          on: { CHARGED: 'paid', REFUSED: 'refused' },
        },
        paid: {},
        refused: {},
      },
    }),
  });
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const runtime = await createRuntime({ store: memory(), actors: [sale], log });
  await runtime.create(sale, 'lost', { path: 'lost' });
  await runtime.create(sale, 'refused', { path: 'refused' });
  await runtime.waitFor(sale, 'lost', ({ state }) => state === 'paid', { timeoutMs: 60_000 });
  await runtime.waitFor(sale, 'refused', ({ state }) => state === 'refused', { timeoutMs: 60_000 });
  t.deepEqual([...charges.values()].sort(), [1, 2]);
  await runtime.stop();
});

test('an effect is set aside, and does not run again, when its message for a failure throws', async (t) => {
  let runs = 0;
  const work = defineEffect('work', {
    tries: 1,
    run: async () => {
      runs += 1;
      throw new Error('refused');
    },
    failed: (): { readonly type: 'REFUSED' } => {
      throw new Error('a fault of the message');
    },
  });
  const worker = defineActor('worker', {
    version,
    effects: [work],
    machine: setup({
      types: {} as { events: { type: 'REFUSED' } },
      actions: { work: work.action },
    }).createMachine({ entry: { type: 'work', params: {} }, on: { REFUSED: {} } }),
  });
  const { runtime, advance } = await testRuntime([worker]);
  await runtime.create(worker, 'w');
  await advance(600_000);
  t.is(runs, 1);
  t.true(await runtime.retry(worker, 'w'));
});

test('a message to an actor that does not exist is given up once, although its observer throws', async (t) => {
  let told = 0;
  const { runtime, advance } = await testRuntime([order, bank], {
    onUnaccepted: () => {
      told += 1;
      throw new Error('a fault of the observer');
    },
  });
  await runtime.create(order, 'o1', { amount: 1 });
  await runtime.send(order, 'o1', { type: 'REPORT', what: 'a' });
  await advance(600_000);
  t.is(told, 1);
});

test('less than two threads are refused', (t) => {
  const module = new URL('./actors.js', import.meta.url);
  t.is(shards(2, module).count, 2);
  t.throws(() => shards(1, module), { code: 'runtime.options' });
});

test('a wait ends with its time limit, its signal, the end of the actor and the stop of the runtime', async (t) => {
  const { runtime, clock } = await testRuntime([order, bank]);
  await runtime.create(order, 'o1', { amount: 1 });
  const never = () => false;
  const limited = t.throwsAsync(runtime.waitFor(order, 'o1', never, { timeoutMs: 1000 }), {
    code: 'wait.time-limit',
  });
  clock.advance(1000);
  await limited;
  const controller = new AbortController();
  const aborted = t.throwsAsync(runtime.waitFor(order, 'o1', never, { signal: controller.signal }), {
    message: 'enough',
  });
  controller.abort(new Error('enough'));
  await aborted;
  const ended = t.throwsAsync(runtime.waitFor(order, 'o1', never), { code: 'actor.ended' });
  t.like(await runtime.end(order, 'o1'), { accepted: true });
  await ended;
  t.is(await runtime.read(order, 'o1'), undefined);
  const stopped = t.throwsAsync(runtime.waitFor(order, 'o1', never), { code: 'runtime.stopping' });
  await runtime.stop();
  await stopped;
});

test('subscribers receive the steps of the actors they follow until they end it', async (t) => {
  const { runtime } = await testRuntime([order, bank]);
  const seen: string[] = [];
  const end = runtime.subscribe(order, { state: 'paying.now' }, ({ id, state }) =>
    seen.push(`${id} ${state}`),
  );
  const endOne = runtime.subscribe(order, 'o2', ({ id, revision }) => seen.push(`${id} ${revision}`));
  for (const id of ['o1', 'o2']) await runtime.create(order, id, { amount: 1 });
  await runtime.send(order, 'o1', { type: 'PAY' });
  end();
  endOne();
  await runtime.send(order, 'o2', { type: 'PAY' });
  t.deepEqual(seen, ['o2 1', 'o1 paying.now']);
});

test('a listener that throws keeps no step from others, and is logged', async (t) => {
  const { runtime, log } = await testRuntime([order, bank]);
  runtime.subscribe(order, 'o1', () => {
    throw new Error('a fault of the listener');
  });
  const paying = runtime.waitFor(order, 'o1', ({ state }) => state === 'paying.now', { timeoutMs: 1 });
  const seen: string[] = [];
  runtime.subscribe(order, {}, ({ state }) => seen.push(state));
  runtime.subscribe(order, 'o1', ({ state }) => seen.push(state));
  await runtime.create(order, 'o1', { amount: 1 });
  await runtime.send(order, 'o1', { type: 'PAY' });
  t.is((await paying).state, 'paying.now');
  t.deepEqual(seen, ['open', 'open', 'paying.now', 'paying.now']);
  t.true(log.some((line) => line.includes('a fault of the listener')));
});

test('a wait is given the actor of the step that ends it', async (t) => {
  const brief = defineActor('brief', {
    version,
    ends: ({ state }) => state === 'over',
    machine: setup({ types: {} as { events: { type: 'STOP' } } }).createMachine({
      initial: 'open',
      states: { open: { on: { STOP: 'over' } }, over: {} },
    }),
  });
  const { runtime } = await testRuntime([brief]);
  await runtime.create(brief, 'b');
  const over = runtime.waitFor(brief, 'b', ({ state }) => state === 'over');
  await runtime.send(brief, 'b', { type: 'STOP' });
  t.is((await over).state, 'over');
  t.is(await runtime.read(brief, 'b'), undefined);
});

test('a message into a final state is answered although the output needs its event', async (t) => {
  const summed = defineActor('summed', {
    version,
    machine: setup({
      types: {} as { events: { type: 'ADD'; amount: number }; output: number },
    }).createMachine({
      initial: 'open',
      states: {
        open: { on: { ADD: 'over' } },
        over: { type: 'final', output: ({ event }: { event: { amount: number } }) => event.amount },
      },
      output: ({ event }) => Number(event.output),
    }),
  });
  const { runtime } = await testRuntime([summed]);
  await runtime.create(summed, 's');
  const answer = await runtime.send(summed, 's', { type: 'ADD', amount: 3 });
  t.like(answer, { accepted: true, state: 'over' });
  t.false('output' in answer);
});

test('a runtime that has stopped refuses each call', async (t) => {
  const { runtime } = await testRuntime([order, bank]);
  await runtime.create(order, 'o1', { amount: 1 });
  await runtime.stop();
  const calls = {
    create: () => runtime.create(order, 'o2', { amount: 1 }),
    send: () => runtime.send(order, 'o1', { type: 'PAY' }),
    read: () => runtime.read(order, 'o1'),
    list: () => runtime.list(order),
    waitFor: () => runtime.waitFor(order, 'o1', () => false),
    restart: () => runtime.restart(order, 'o1'),
    end: () => runtime.end(order, 'o1'),
    retry: () => runtime.retry(order, 'o1'),
  };
  for (const [name, call] of Object.entries(calls))
    await t.throwsAsync(Promise.race([call(), nextTurns()]), { code: 'runtime.stopping' }, name);
  t.throws(() => runtime.subscribe(order, 'o1', () => {}), { code: 'runtime.stopping' });
});

/** A call that has no answer after these turns waits for ever. */
async function nextTurns(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

test('a list by state has no actor that left the state meanwhile, and goes on to the next page', async (t) => {
  let meanwhile = async (): Promise<void> => {};
  class SlowStore extends MemoryStore {
    override async rows(query: Parameters<MemoryStore['rows']>[0]) {
      const rows = await super.rows(query);
      await meanwhile();
      return rows;
    }
  }
  const { runtime } = await testRuntime([order, bank], { store: { open: () => new SlowStore() } });
  for (const id of ['a', 'b', 'c']) await runtime.create(order, id, { amount: 1 });
  meanwhile = async () => {
    meanwhile = async () => {};
    for (const id of ['a', 'b']) await runtime.send(order, id, { type: 'PAY' });
  };
  t.deepEqual(
    (await runtime.list(order, { state: 'open', limit: 2 })).map(({ id }) => id),
    ['c'],
  );
});

test('actors are listed by kind and by state, in pages', async (t) => {
  const { runtime, settle } = await testRuntime([order, bank]);
  for (const id of ['a', 'b', 'c', 'd']) await runtime.create(order, id, { amount: 1 });
  await runtime.send(order, 'b', { type: 'PAY' });
  await settle();
  const ids = async (query: Parameters<typeof runtime.list<typeof order>>[1]) =>
    (await runtime.list(order, query)).map(({ id }) => id);
  t.deepEqual(await ids({ limit: 3 }), ['a', 'b', 'c']);
  t.deepEqual(await ids({ after: 'c' }), ['d']);
  t.deepEqual(await ids({ state: 'open' }), ['a', 'c', 'd']);
  t.deepEqual(await ids({ state: 'paid' }), ['b']);
  t.deepEqual(await ids({ state: 'open', after: 'a', limit: 1 }), ['c']);
  await t.throwsAsync(runtime.list(order, { limit: 1001 }), { code: 'runtime.options' });
});

test('a day of deadlines passes at once in a test, also over a restart', async (t) => {
  const kit = await testRuntime([order, bank]);
  await kit.runtime.create(order, 'o1', { amount: 1 });
  await kit.advance(86_000_000);
  await kit.restart();
  t.is((await kit.runtime.read(order, 'o1'))?.state, 'open');
  await kit.advance(400_000);
  t.is((await kit.runtime.read(order, 'o1'))?.state, 'lapsed');
  t.is(kit.steps.length, 2);
});

test('a runtime on LMDB ends an actor with all that it has', async (t) => {
  const runtime = await createRuntime({ store: lmdb(folderFor(t)), actors: [order, bank] });
  await runtime.create(order, 'o1', { amount: 1 });
  t.like(await runtime.end(order, 'o1'), { accepted: true });
  t.deepEqual(await runtime.list(order), []);
  t.like(await runtime.create(order, 'o1', { amount: 2 }), { accepted: true, revision: 1 });
  await runtime.stop();
  await runtime.stop();
});

test('armed faults reach the store on LMDB', async (t) => {
  const faults = new Faults();
  const runtime = await createRuntime({ store: lmdb(folderFor(t)), actors: [order, bank], faults });
  await runtime.create(order, 'o1', { amount: 1 });
  faults.arm('store.group.before-transaction', () => {
    throw new Retryable('store.unavailable', 'The disk is away.');
  });
  await t.throwsAsync(runtime.send(order, 'o1', { type: 'COUNT' }), { message: /The disk is away/ });
  t.like(await runtime.send(order, 'o1', { type: 'COUNT' }), { context: { amount: 2 } });
  await runtime.stop();
});

test('the store is closed when the runtime cannot start', async (t) => {
  const folder = folderFor(t);
  const runtime = await createRuntime({ store: lmdb(folder), actors: [order, bank] });
  await runtime.create(order, 'o1', { amount: 1 });
  await runtime.stop();
  await t.throwsAsync(createRuntime({ store: lmdb(folder), actors: [bank] }), { code: 'store.no-path' });
  await (await createRuntime({ store: lmdb(folder), actors: [order, bank] })).stop();
});

test('a file in the place of the folder of a store is refused', async (t) => {
  const file = join(folderFor(t), 'file');
  writeFileSync(file, '');
  await t.throwsAsync(createRuntime({ store: lmdb(file), actors: [bank] }), { code: 'store.unwritable' });
});

const plain = setup({ guards: { isSo: () => true }, actions: { shout: () => {} } });
const version = 1;

const NOTHING = async () => null;

const REFUSED: readonly (readonly [name: string, define: () => unknown, message: RegExp])[] = [
  [
    'an inline function',
    () =>
      defineActor('k', {
        version,
        machine: plain.createMachine({ initial: 'a', states: { a: { entry: () => {} } } }),
      }),
    /^k: the state "a" \(entry\) has a function as action\. A step is computed/,
  ],
  [
    'a named function',
    () =>
      defineActor('k', {
        version,
        machine: plain.createMachine({ initial: 'a', states: { a: { on: { GO: { actions: 'shout' } } } } }),
      }),
    /^k: the state "a" \(on GO\) has the function "shout" as action/,
  ],
  [
    'spawnChild',
    () =>
      defineActor('k', {
        version,
        machine: setup({ actors: { p: fromPromise(async () => 1) } }).createMachine({
          entry: spawnChild('p'),
        }),
      }),
    /^k: the root \(entry\) spawns an actor/,
  ],
  [
    'sendTo',
    () =>
      defineActor('k', {
        version,
        machine: plain.createMachine({ initial: 'a', states: { a: { exit: sendTo('b', { type: 'X' }) } } }),
      }),
    /^k: the state "a" \(exit\) sends to a reference .*`tell`/,
  ],
  [
    'log',
    () =>
      defineActor('k', {
        version,
        machine: plain.createMachine({ always: { guard: 'isSo', actions: log('x') } }),
      }),
    /^k: the root \(always\) logs; use the action `note`/,
  ],
  [
    'an action that exists nowhere',
    () =>
      defineActor('k', {
        version,
        machine: setup({}).createMachine({
          initial: 'a',
          states: { a: { entry: { type: 'none' } as never } },
        }),
      }),
    /^k: the state "a" \(entry\) names the action "none", which the machine does not have/,
  ],
  [
    'a guard that exists nowhere',
    () =>
      defineActor('k', {
        version,
        machine: plain.createMachine({ on: { GO: { guard: not('none' as never) } } }),
      }),
    /^k: the root \(on GO\) names the guard "none"/,
  ],
  [
    'a delay that exists nowhere',
    () =>
      defineActor('k', {
        version,
        machine: plain.createMachine({ initial: 'a', states: { a: { after: { none: 'a' } as never } } }),
      }),
    /^k: the state "a" \(after none\) names a delay/,
  ],
  [
    'a delay without a name',
    () =>
      defineActor('k', {
        version,
        machine: plain.createMachine({ initial: 'a', states: { a: { after: { 200: 'a' } } } }),
      }),
    /^k: the state "a" \(after 200\) has a delay without a name/,
  ],
  [
    'an effect without a handler',
    () =>
      defineActor('k', {
        version,
        machine: setup({ actions: { pay: pay.action } }).createMachine({
          entry: { type: 'pay', params: { amount: 1 } },
        }),
      }),
    /^k: the root \(entry\) asks for the effect "pay", which is not in `effects`/,
  ],
  [
    'an invoked promise',
    () =>
      defineActor('k', {
        version,
        machine: setup({ actors: { p: fromPromise(async () => 1) } }).createMachine({
          initial: 'a',
          states: { a: { invoke: { src: 'p' } } },
        }),
      }),
    /^k: the state "a" invokes an actor \(`invoke`\)\. Define an effect instead: `const load = defineEffect/,
  ],
  [
    'a version of 1.5',
    () => defineActor('k', { version: 1.5, machine: plain.createMachine({}) }),
    /^k: `version` is 1\.5/,
  ],
  [
    'a version as text',
    () => defineActor('k', { version: '2' as never, machine: plain.createMachine({}) }),
    /^k: `version` is "2"/,
  ],
  [
    'a gap in the migrations',
    () =>
      defineActor('k', {
        version: 4,
        machine: plain.createMachine({}),
        migrations: { 1: { migrate: (actor) => actor }, 3: { migrate: (actor) => actor } },
      }),
    /^k: `migrations` has none from version 2 to 3/,
  ],
  [
    'a migration beyond the version',
    () =>
      defineActor('k', {
        version: 2,
        machine: plain.createMachine({}),
        migrations: { 2: { migrate: (actor) => actor } },
      }),
    /^k: `migrations` has one from version 2, but `version` is 2/,
  ],
  [
    'a kind with a slash',
    () => defineActor('k/l', { version, machine: plain.createMachine({}) }),
    /^k\/l: the kind holds a slash/,
  ],
  [
    'a kind that is no text',
    () => defineActor(7 as never, { version, machine: plain.createMachine({}) }),
    /^7: the kind is a text/,
  ],
  [
    'a window of ids of 0',
    () => defineActor('k', { version, idWindow: 0, machine: plain.createMachine({}) }),
    /^k: `idWindow` is 0, not a whole number from 1 to 10000\.$/,
  ],
  [
    'a mailbox for no message',
    () => defineActor('k', { version, mailboxLimit: 0, machine: plain.createMachine({}) }),
    /^k: `mailboxLimit` is 0, not a whole number of at least 1\.$/,
  ],
  [
    'a migration without its function',
    () => defineActor('k', { version: 2, migrations: { 1: {} as never }, machine: plain.createMachine({}) }),
    /^k: the migration from version 1 has no function `migrate`\.$/,
  ],
  [
    'a list in the place of a function',
    () => defineActor('k', { version, names: ['a'] as never, machine: plain.createMachine({}) }),
    /^k: `names` is no function\.$/,
  ],
  [
    'an action among the effects',
    () => defineActor('k', { version, effects: [pay.action as never], machine: plain.createMachine({}) }),
    /^k: `effects` holds what neither `defineEffect` nor `declareEffect` made\.$/,
  ],
  [
    'effects that are no list',
    () => defineActor('k', { version, effects: { pay } as never, machine: plain.createMachine({}) }),
    /^k: `effects` is no list\.$/,
  ],
  [
    'an effect without options',
    () => defineEffect('e', undefined as never),
    /^effect "e": `run` is missing\.$/,
  ],
  [
    'a time limit of a fraction',
    () => defineEffect('e', { run: NOTHING, timeoutMs: 0.5 }),
    /`timeoutMs` is 0\.5/,
  ],
  [
    'a heartbeat as text',
    () => defineEffect('e', { run: NOTHING, heartbeatMs: '5' as never }),
    /`heartbeatMs` is "5"/,
  ],
  [
    'a time over all attempts of NaN',
    () => defineEffect('e', { run: NOTHING, totalMs: NaN }),
    /`totalMs` is NaN/,
  ],
  [
    'half a try',
    () => defineEffect('e', { run: NOTHING, tries: 1.5 }),
    /`tries` is 1\.5, not a whole number/,
  ],
  [
    'a start after nothing',
    () => defineEffect('e', { run: NOTHING, after: 'soon' as never }),
    /`after` is soon/,
  ],
  ['a folder without a name', () => lmdb(''), /`folder`/],
  [
    'one connection',
    () => postgres('postgres://a', { poolSize: 1 }),
    /`poolSize` is 1, not a whole number of at least 2/,
  ],
  ['a lease of no time', () => postgres('postgres://a', { leaseSeconds: 0 }), /`leaseSeconds` is 0/],
  [
    'a statement without time',
    () => postgres('postgres://a', { statementTimeoutMs: -1 }),
    /`statementTimeoutMs` is -1/,
  ],
  ['a schema in capitals', () => postgres('postgres://a', { schema: 'A' }), /schema name "A"/],
  ['one thread', () => shards(1, new URL('file:///a.js')), /`count` is 1, not a whole number of at least 2/],
  ['a heap of no size', () => shards(2, new URL('file:///a.js'), { memory: 0 }), /`memory` is 0/],
  [
    'threads that are lost without end',
    () => shards(2, new URL('file:///a.js'), { losses: { within: NaN } }),
    /`losses\.within` is NaN/,
  ],
];

for (const [name, define, message] of REFUSED)
  test(`${name} is refused at definition`, (t) => {
    t.throws(define, { message });
  });

test('what XState computes within a step is allowed: assign, emit, guards as functions', (t) => {
  const machine = setup({ types: {} as { context: { n: number }; emitted: { type: 'SEEN' } } }).createMachine(
    {
      context: { n: 0 },
      on: {
        GO: {
          guard: ({ context }) => context.n < 3,
          actions: [assign({ n: ({ context }) => context.n + 1 }), emit({ type: 'SEEN' })],
        },
      },
    },
  );
  t.notThrows(() => defineActor('k', { version, machine }));
});

test('numbers outside of their bounds are refused before the store is opened', async (t) => {
  const store: StoreSource = { open: () => t.fail('the store was opened') as never };
  const refused: readonly (readonly [Partial<CreateOptions>, string])[] = [
    [{ effects: { atOnce: 0 } }, '`effects.atOnce` is 0, not a whole number of at least 1.'],
    [{ effects: { timeoutMs: 0.5 } }, '`effects.timeoutMs` is 0.5, not a whole number of at least 1.'],
    [{ messagesAtOnce: NaN }, '`messagesAtOnce` is NaN, not a whole number of at least 1.'],
    [{ cachedActors: -1 }, '`cachedActors` is -1, not a whole number of at least 0.'],
    [{ restarts: { restarts: -1 } }, '`restarts.restarts` is -1, not a whole number of at least 0.'],
    [{ restarts: { within: 0 } }, '`restarts.within` is 0, not a whole number of at least 1.'],
    [{ stopGraceMs: NaN }, '`stopGraceMs` is NaN, not a whole number of at least 0.'],
    [{ deadLetters: { atMost: 0 } }, '`deadLetters.atMost` is 0, not a whole number of at least 1.'],
    [{ store: './data' as never }, '`store` is none: give `lmdb(folder)`, `postgres(url)` or `memory()`.'],
    [{ actors: [undefined as never] }, '`actors` is no list of what `defineActor` returns.'],
    [{ handlers: {} as never }, '`handlers` is no list of what `handledBy` of effects returns.'],
    [{ dormant: {} as never }, '`dormant` is no list of what `defineActor` returns.'],
    [{ start: 'no' as never }, '`start` is no, not now, later or never.'],
    [{ deadLetters: { forMs: 1.5 } }, '`deadLetters.forMs` is 1.5, not a whole number of at least 1.'],
  ];
  for (const [options, message] of refused)
    await t.throwsAsync(createRuntime({ store, actors: [], ...options }), {
      code: 'runtime.options',
      message,
    });
});

test('two effects of one name are refused, and so is an actor of another runtime', async (t) => {
  const other = defineEffect('pay', { run: async () => null });
  const second = defineActor('second', { version, effects: [other], machine: plain.createMachine({}) });
  await t.throwsAsync(createRuntime({ store: memory(), actors: [order, second] }), {
    code: 'effect.name-twice',
  });
  const { runtime } = await testRuntime([bank]);
  await t.throwsAsync(runtime.read(order, 'o1'), { code: 'actor.unknown-kind' });
  await t.throwsAsync(() => runtime.create(order, 'o1', { amount: 1 }), { code: 'actor.unknown-kind' });
});

test('an effect may have the name of a member that every object has', async (t) => {
  const built = defineEffect('constructor', { run: async () => ({ type: 'BUILT' }) as const });
  const house = defineActor('house', {
    version,
    effects: [built],
    machine: setup({
      types: {} as { events: { type: 'BUILT' } },
      actions: { build: built.action },
    }).createMachine({
      initial: 'open',
      states: { open: { entry: { type: 'build', params: {} }, on: { BUILT: 'built' } }, built: {} },
    }),
  });
  const { runtime, settle } = await testRuntime([house]);
  await runtime.create(house, 'h');
  await settle();
  t.is((await runtime.read(house, 'h'))?.state, 'built');
});

const MALFORMED_PARAMS: readonly (readonly [name: string, params: unknown])[] = [
  ['a list', ['a']],
  ['a date', new Date(0)],
  ['an object with a member `do`', { do: 'other' }],
  ['an object with a member that the runtime adds', { '@end': 'soon' }],
];

for (const [name, params] of MALFORMED_PARAMS)
  test(`${name} as params of an effect is refused in the step`, async (t) => {
    const work = defineEffect('work', { run: async (_: object) => null });
    const worker = defineActor('worker', {
      version,
      effects: [work],
      machine: setup({ actions: { work: work.action } }).createMachine({
        entry: { type: 'work', params: params as { readonly do?: never } },
      }),
    });
    const { runtime } = await testRuntime([worker]);
    await t.throwsAsync(runtime.create(worker, 'w'), { code: 'step.malformed-action' });
  });

test('partitions of less than one effect are refused at definition', (t) => {
  const partitioning = { atOnce: 1, perPartition: 1, partitionOf: () => 'a' };
  const run = async () => null;
  t.notThrows(() => defineEffect('work', { run, partitioning }));
  t.throws(() => defineEffect('work', { run, partitioning: { ...partitioning, perPartition: 0 } }), {
    message: /^effect "work": `partitioning\.perPartition` is 0/,
  });
});

/** Compiled, never run: each line that is expected to be an error is one. */
async function typesOfThePublicRuntime(): Promise<void> {
  const runtime = await createRuntime({ store: memory(), actors: [order, bank] });
  // @ts-expect-error: no such event
  await runtime.send(order, 'o1', { type: 'PAI' });
  // @ts-expect-error: the event lacks a member
  await runtime.send(order, 'o1', { type: 'REPORT' });
  // @ts-expect-error: the input lacks a member
  await runtime.create(order, 'o1', {});
  // @ts-expect-error: the input is missing
  await runtime.create(order, 'o1');
  // @ts-expect-error: the machine has no input
  await runtime.create(bank, 'b', { amount: 1 });
  // @ts-expect-error: no such state
  await runtime.waitFor(order, 'o1', ({ state }) => state === 'payed');
  await runtime.waitFor(order, 'o1', ({ state }) => state === 'paying.now');
  // @ts-expect-error: no such state
  await runtime.list(order, { state: 'payed' });
  // @ts-expect-error: no such member of the context
  await runtime.waitFor(order, 'o1', ({ context }) => context.sum === 1);
  const wrong = defineEffect('wrong', { run: async () => ({ type: 'UNHEARD' }) as const });
  // @ts-expect-error: the machine takes no such outcome
  defineActor('order', { version, effects: [wrong], machine: order.machine });
  // @ts-expect-error: a handler resolves with a message or null
  defineEffect('wrong', { run: async () => 7 });
  // @ts-expect-error: `do` is the name of the effect
  defineEffect('wrong', { run: async (_: { do: string }) => null });
  // @ts-expect-error: no such input of the effect
  setup({ actions: { pay: pay.action } }).createMachine({ entry: { type: 'pay', params: { sum: 1 } } });
  setup({ actions: { tell: tell(bank) } }).createMachine({
    // @ts-expect-error: the receiver takes no such event
    entry: { type: 'tell', params: { id: 'b', event: { type: 'X' } } },
  });
}

test('the types of the public names are checked', (t) => {
  t.is(typeof typesOfThePublicRuntime, 'function');
});

const count = defineEffect('count', {
  run: async (_: object, { clock, signal }) => {
    await clock.sleep(1000, signal);
    return { type: 'COUNTED' } as const;
  },
});

const stock = defineActor('stock', {
  version: 1,
  effects: [count],
  rows: ({ id, context }) => [{ view: 'stock.by-left', key: [context.left, id], value: null }],
  machine: setup({
    types: {} as {
      context: { left: number; counted: number | null };
      input: { left: number };
      events: { type: 'TAKE'; n: number } | { type: 'COUNT' } | { type: 'COUNTED' } | { type: 'CLOSE' };
    },
    actions: {
      count: count.action,
      take: assign({ left: ({ context, event }) => context.left - (event.type === 'TAKE' ? event.n : 0) }),
      forget: assign({ counted: null }),
      counted: assign({ counted: ({ context }) => context.left }),
    },
    guards: {
      enough: ({ context, event }) => event.type === 'TAKE' && event.n <= context.left,
    },
  }).createMachine({
    context: ({ input }) => ({ ...input, counted: null }),
    initial: 'open',
    states: {
      open: {
        on: {
          TAKE: { guard: 'enough', actions: 'take' },
          COUNT: { actions: ['forget', { type: 'count', params: {} }] },
          COUNTED: { actions: 'counted' },
          CLOSE: 'closed',
        },
      },
      closed: { type: 'final' },
    },
  }),
  ends: ({ state }) => state === 'closed',
  answers: {
    TAKE: ({ context }, { n }) => ({ taken: n, left: context.left }),
    COUNT: ({ context }) => context.counted ?? undefined,
    CLOSE: ({ state }) => state,
  },
});

test('a question is answered by the state after its step, however many are asked at once', async (t) => {
  const { runtime, settle } = await testRuntime([stock]);
  await runtime.create(stock, 's', { left: 6 });
  const asked = Promise.all([1, 2, 3].map((n) => runtime.ask(stock, 's', { type: 'TAKE', n })));
  await settle();
  const answers: readonly { readonly taken: number; readonly left: number }[] = await asked;
  t.deepEqual(answers, [
    { taken: 1, left: 5 },
    { taken: 2, left: 3 },
    { taken: 3, left: 0 },
  ]);
  t.is(await runtime.ask(stock, 's', { type: 'CLOSE' }), 'closed');
});

test('a question that is answered by a later step is answered after a restart too, under its id', async (t) => {
  const kit = await testRuntime([stock], { stopGraceMs: 10 });
  await kit.runtime.create(stock, 's', { left: 6 });
  const ask = () => kit.runtime.ask(stock, 's', { type: 'COUNT' }, { id: 'q', timeoutMs: 500 });
  const late = t.throwsAsync(ask(), { code: 'ask.time-limit' });
  await kit.advance(500);
  await late;
  await kit.restart();
  const again = kit.runtime.ask(stock, 's', { type: 'COUNT' }, { id: 'q' });
  await kit.advance(1000);
  t.is(await again, 6);
  t.is(await ask(), 6);
});

/** Each way that a question has no answer, and the name of its error. */
const UNANSWERED: readonly [string, (kit: Awaited<ReturnType<typeof testRuntime>>) => Promise<unknown>][] = [
  ['ask.no-answer', ({ runtime }) => runtime.ask(stock, 's', { type: 'COUNTED' } as never)],
  ['ask.unknown-actor', ({ runtime }) => runtime.ask(stock, 'none', { type: 'COUNT' })],
  ['ask.not-accepted', ({ runtime }) => runtime.ask(stock, 's', { type: 'TAKE', n: 7 })],
  ['runtime.options', ({ runtime }) => runtime.ask(stock, 's', { type: 'COUNT' }, { timeoutMs: 0 })],
  ['message.malformed', ({ runtime }) => runtime.ask(stock, 's', { type: 'COUNT' }, { id: 7 as never })],
  [
    'ask.time-limit',
    async ({ runtime, advance }) => {
      const asked = runtime.ask(stock, 's', { type: 'COUNT' }, { timeoutMs: 999 });
      asked.catch(() => {});
      await advance(999);
      return asked;
    },
  ],
  [
    'actor.ended',
    async ({ runtime, settle }) => {
      const asked = runtime.ask(stock, 's', { type: 'COUNT' });
      asked.catch(() => {});
      await settle();
      await runtime.end(stock, 's');
      return asked;
    },
  ],
  [
    'runtime.stopping',
    async ({ runtime, settle, advance }) => {
      const asked = runtime.ask(stock, 's', { type: 'COUNT' });
      asked.catch(() => {});
      await settle();
      void runtime.stop();
      await advance(20_000);
      return asked;
    },
  ],
  [
    'left',
    ({ runtime }) => {
      const signal = AbortSignal.abort(Object.assign(new Error('left'), { code: 'left' }));
      return runtime.ask(stock, 's', { type: 'COUNT' }, { signal });
    },
  ],
];
for (const [code, ask] of UNANSWERED)
  test(`a question without an answer is refused: ${code}`, async (t) => {
    const kit = await testRuntime([stock]);
    await kit.runtime.create(stock, 's', { left: 6 });
    await t.throwsAsync(async () => ask(kit), { code });
  });

test('beyond 10,000 questions that wait, one is refused as one to repeat later', async (t) => {
  const { runtime } = await testRuntime([stock]);
  const ask = (id: string) =>
    runtime.ask(stock, id, { type: 'COUNT' }).catch(({ code }: { code: string }) => code);
  const waiting = Array.from({ length: 10_000 }, (_, at) => ask(`none-${at}`));
  t.is(await ask('none'), 'ask.too-many');
  t.deepEqual([...new Set(await Promise.all(waiting))], ['ask.unknown-actor']);
  t.is(await ask('none'), 'ask.unknown-actor', 'they wait no more');
});

test('an answer to a message that no state takes is refused by its definition', (t) => {
  const { machine } = bank;
  t.throws(() => defineActor('bank', { version: 1, machine, answers: { TOLL: () => 1 } as object }), {
    code: 'actor.malformed',
    message: /no state takes the message "TOLL"/,
  });
});

test('a handler makes a child, asks it and reads rows by the calls of the program', async (t) => {
  const buy = defineEffect('buy', {
    run: async ({ n }: { n: number }, { runtime, key }) => {
      await runtime.create(stock, 'child', { left: 5 });
      const { left } = await runtime.ask(stock, 'child', { type: 'TAKE', n }, { id: key });
      const rows = await runtime.query({ view: 'stock.by-left', limit: 10 });
      // @ts-expect-error: a child is created with its own input
      const wrong = (): unknown => runtime.create(stock, 'other', { left: 'five' });
      return {
        type: 'BOUGHT',
        left,
        rows: rows.map(({ key: parts }) => parts.join()),
        wrong: `${wrong.length}`,
      } as const;
    },
  });
  const buyer = defineActor('buyer', {
    version: 1,
    effects: [buy],
    machine: setup({
      types: {} as {
        context: { left: number; rows: readonly string[] };
        events: { type: 'BOUGHT'; left: number; rows: readonly string[]; wrong: string };
      },
      actions: { buy: buy.action, keep: assign(({ event: { left, rows } }) => ({ left, rows })) },
    }).createMachine({
      context: { left: 0, rows: [] },
      entry: { type: 'buy', params: { n: 2 } },
      on: { BOUGHT: { actions: 'keep' } },
    }),
  });
  const { runtime } = await testRuntime([stock, buyer]);
  await runtime.create(stock, 'big', { left: 40 });
  await runtime.create(buyer, 'b');
  const { context } = await runtime.waitFor(buyer, 'b', ({ revision }) => revision === 2);
  t.deepEqual(context, { left: 3, rows: ['3,child', '40,big'] });
  t.deepEqual(await runtime.query({ view: 'stock.by-left', reverse: true, limit: 1 }), [
    { view: 'stock.by-left', key: [40, 'big'], value: null },
  ]);
  await t.throwsAsync(runtime.query({ view: 'stock.by-left', limit: 0 }), { code: 'runtime.options' });
});

test('a dry run of new definitions names what would fail in a store, and writes nothing', async (t) => {
  const folder = folderFor(t);
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const send = defineEffect('send', { run: () => Promise.reject(new Error('away')) });
  const machineOf = () =>
    setup({
      types: {} as { context: { n: number }; events: { type: 'TOLD' } },
      delays: { patience: 1e9 },
      actions: { send: send.action, tell: tell('wall') },
    }).createMachine({
      context: { n: 1 },
      initial: 'open',
      entry: [
        { type: 'send' },
        // Waits for a receiver that throws: it stays stored.
        { type: 'tell', params: { id: 'w', event: { type: 'TOLD' } } },
      ],
      on: { TOLD: {} },
      states: { open: { after: { patience: 'open' } } },
    });
  const letter = defineActor('letter', { version: 1, effects: [send], machine: machineOf() });
  const memo = defineActor('memo', { version: 2, machine: bank.machine });
  const wall = defineActor('wall', {
    version: 1,
    machine: setup({
      guards: {
        throws: () => {
          throw new Error('a wall');
        },
      },
    }).createMachine({
      initial: 'up',
      states: { up: { on: { TOLD: { guard: 'throws', target: 'down' } } }, down: {} },
    }),
  });
  const first = await createRuntime({ store: lmdb(folder), actors: [letter, memo, wall], log });
  await first.create(wall, 'w');
  await first.create(letter, 'a');
  await first.create(letter, 'b');
  await first.create(memo, 'm');
  await first.stop();
  const bytes = () => readFileSync(join(folder, 'data.mdb'));
  const before = bytes();
  const dryRun = async (actors: Parameters<typeof check>[1]) => {
    const store = openLmdbReader(folder);
    const report = await check(store, actors);
    await store.close();
    return {
      ...report,
      findings: report.findings.map(
        ({ code, kind, what, count, first }) => `${code} ${kind} ${count} ${first}: ${what}`,
      ),
    };
  };
  t.like(await dryRun([letter, memo, wall]), { ok: true, actors: 4, migrated: 0, findings: [] });
  const broken = defineActor('letter', {
    version: 2,
    machine: bank.machine,
    migrations: { 1: { migrate: ({ context }) => ({ state: 'shut', context }) } },
  });
  const second = defineActor('letter', {
    version: 2,
    effects: [send],
    machine: machineOf(),
    rows: ({ context }) => [{ view: 'v', key: [context.n], value: null }],
    migrations: { 1: { migrate: (actor) => actor } },
  });
  t.like(await dryRun([second, memo, wall]), { ok: true, migrated: 2, findings: [] });
  const deaf = defineActor('wall', {
    version: 1,
    machine: setup({}).createMachine({ initial: 'up', states: { up: {} } }),
  });
  const { findings, ok } = await dryRun([broken, deaf]);
  t.false(ok);
  t.deepEqual(findings.sort(), [
    'actor.no-path letter 2 a: would be in shut, which its machine has not.',
    'actor.unknown-kind memo 1 m: this program has no such actors',
    'effect.no-handler letter 2 a: no handler for the effect "send"',
    'message.unknown-event letter 2 a: no state of wall takes "TOLD"',
  ]);
  const older = defineActor('memo', { version: 1, machine: bank.machine });
  t.deepEqual((await dryRun([letter, older])).findings.sort(), [
    'actor.newer-version memo 1 m: version 2; this program has 1',
    'actor.unknown-kind wall 1 w: this program has no such actors',
    'message.unknown-kind letter 2 a: a message "TOLD" to wall',
  ]);
  const throws = defineActor('letter', {
    version: 1,
    effects: [send],
    machine: machineOf(),
    names: () => {
      throw new Error('no name');
    },
  });
  t.deepEqual((await dryRun([throws, memo, wall])).findings, ['actor.derived letter 2 a: in open: no name']);
  const newer = defineActor('letter', {
    version: 1,
    effects: [send],
    machine: setup({ actions: { send: send.action } }).createMachine({
      initial: 'open',
      states: { open: {} },
      entry: 'send',
    }),
  });
  t.true(
    (await dryRun([newer, memo, wall])).findings.some((one) =>
      /^deadline\.unknown letter 2 a: .*patience/.test(one),
    ),
  );
  t.true(before.equals(bytes()), 'nothing was written');
});

const ring = declareEffect('ring', {
  types: {} as { input: { readonly times: number }; outcome: { type: 'RUNG'; times: number } },
  partitioning: { atOnce: 1, perPartition: 1, partitionOf: ({ times }) => String(times) },
});

const doorbell = defineActor('doorbell', {
  version: 1,
  effects: [ring],
  machine: setup({
    types: {} as { context: { rung: number }; events: { type: 'PRESS' } | { type: 'RUNG'; times: number } },
    actions: {
      ring: ring.action,
      count: assign({ rung: ({ event }) => (event.type === 'RUNG' ? event.times : 0) }),
    },
  }).createMachine({
    context: { rung: 0 },
    initial: 'quiet',
    states: {
      quiet: { on: { PRESS: { target: 'ringing', actions: { type: 'ring', params: { times: 3 } } } } },
      ringing: { on: { RUNG: { target: 'quiet', actions: 'count' } } },
    },
  }),
});

test('a declared effect is carried out by the handler that the program gives, in its partition', async (t) => {
  const keys: string[] = [];
  const { runtime, advance } = await testRuntime([doorbell], {
    handlers: [
      ring.handledBy({
        tries: 2,
        async run({ times }, { key, failures }) {
          keys.push(key);
          if (failures === 0) throw new Error('The battery is weak.');
          return { type: 'RUNG', times };
        },
      }),
    ],
  });
  await runtime.create(doorbell, 'd1');
  await runtime.send(doorbell, 'd1', { type: 'PRESS' });
  const { items } = await runtime.effects();
  t.like(items, [{ effect: { do: 'ring', times: 3 } }]);
  await advance(2000);
  t.like(await runtime.read(doorbell, 'd1'), { state: 'quiet', context: { rung: 3 } });
  t.is(new Set(keys).size, 1);
  t.is(keys.length, 2);
});

test('a declared effect without a handler refuses the start, and names its actor', async (t) => {
  await t.throwsAsync(testRuntime([doorbell]), {
    code: 'effect.unhandled',
    message: 'doorbell: the effect "ring" has no handler. Give `createRuntime` one in `handlers`.',
  });
});

test('two declarations of one name with other partitions refuse the start', async (t) => {
  const other = declareEffect('ring', {
    types: {} as { input: { readonly times: number }; outcome: { type: 'RUNG'; times: number } },
  });
  const handlers = [other.handledBy({ run: async ({ times }) => ({ type: 'RUNG', times }) })];
  await t.throwsAsync(testRuntime([doorbell], { handlers }), { code: 'effect.name-twice' });
});

const QUIET = { debug() {}, info() {}, warn() {}, error() {} };
const rung = (times: number[] = []) =>
  ring.handledBy({
    async run(input) {
      times.push(input.times);
      return { type: 'RUNG', times: input.times };
    },
  });

/** The doorbell of the next release. */
const newer = defineActor('doorbell', {
  version: 2,
  effects: [ring],
  migrations: { 1: { migrate: (actor) => actor } },
  machine: doorbell.machine,
});

test('calls that services are built on reject before the runtime is created, and go on while it stops', async (t) => {
  const calls = new ActorCalls();
  await t.throwsAsync(calls.read(doorbell, 'd1'), { code: 'runtime.not-created' });
  const runtime = await createRuntime({ store: memory(), actors: [doorbell], handlers: [rung()], calls });
  t.true((await calls.create(doorbell, 'd1')).accepted);
  let end = () => {};
  const requests = new Promise<void>((resolve) => {
    end = resolve;
  });
  const stopped = runtime.stop({ requests });
  t.like(await calls.read(doorbell, 'd1'), { state: 'quiet' });
  t.true((await runtime.create(doorbell, 'd2')).accepted, 'a request is still served');
  end();
  await requests;
  await nextTurns();
  await t.throwsAsync(runtime.create(doorbell, 'd3'), { code: 'runtime.stopping' });
  await stopped;
});

test('an opened store is closed by its owner alone, also when the runtime cannot start', async (t) => {
  let closed = 0;
  class OwnStore extends MemoryStore {
    override async close() {
      closed += 1;
    }
  }
  const store = new OwnStore();
  const runtime = await createRuntime({ store, actors: [order, bank], log: QUIET });
  await runtime.create(order, 'o1', { amount: 1 });
  await runtime.stop();
  await t.throwsAsync(createRuntime({ store, actors: [bank], log: QUIET }), { code: 'store.no-path' });
  t.is(closed, 0);
  t.like(await store.load({ kind: 'order', id: 'o1' }), { revision: 1 });
});

test('a runtime that starts later takes messages meanwhile, and then runs what they asked for', async (t) => {
  const times: number[] = [];
  const kit = await testRuntime([doorbell], { handlers: [rung(times)], start: 'later' });
  const { runtime } = kit;
  await runtime.create(doorbell, 'd1');
  await runtime.send(doorbell, 'd1', { type: 'PRESS' });
  await kit.advance(60_000);
  t.deepEqual(times, []);
  runtime.start();
  await kit.advance(1000);
  t.deepEqual(times, [3]);
  t.like(await runtime.read(doorbell, 'd1'), { state: 'quiet' });
});

test('a tool beside the program sends messages to some of its actors: effects, migrations and other kinds wait', async (t) => {
  const store = new MemoryStore();
  const program = [order, bank, doorbell];
  const first = await createRuntime({ store, actors: program, handlers: [rung()], log: QUIET });
  await first.create(order, 'o1', { amount: 1 });
  await first.create(doorbell, 'd1');
  await first.stop();

  const committed: number[] = [];
  const tool = await createRuntime({
    store,
    actors: [newer],
    start: 'never',
    log: QUIET,
    onCommitted: ({ actor }) => committed.push(actor.version),
  });
  t.is(tool.migrated, 0);
  t.like(await store.load({ kind: 'doorbell', id: 'd1' }), { version: 1 });
  t.true((await tool.send(newer, 'd1', { type: 'PRESS' })).accepted);
  t.deepEqual(committed, [2, 2], 'the migration and the message');
  t.throws(() => tool.start(), { code: 'runtime.options' });
  const [asked] = await store.pendingEffects({ kind: 'doorbell', id: 'd1' });
  t.like(asked, { partition: 'ring/3' });
  await tool.stop();

  const times: number[] = [];
  const handlers = [rung(times)];
  const second = await createRuntime({ store, actors: [order, bank, newer], handlers, log: QUIET });
  await second.waitFor(newer, 'd1', ({ state }) => state === 'quiet');
  t.deepEqual(times, [3]);
  await second.stop();
});

test('actors of a part that is switched off are migrated and wait, and are refused where they are not named', async (t) => {
  const store = new MemoryStore();
  const first = await createRuntime({
    store,
    actors: [order, doorbell],
    handlers: [rung()],
    start: 'later',
    log: QUIET,
  });
  await first.create(doorbell, 'd1');
  await first.send(doorbell, 'd1', { type: 'PRESS' });
  await first.stop();
  const refused = await t.throwsAsync(createRuntime({ store, actors: [order], log: QUIET }), {
    code: 'store.no-path',
  });
  t.regex(refused?.message ?? '', /"ring": 1, the first of doorbell\/d1/);
  const without = await createRuntime({ store, actors: [order], dormant: [newer], log: QUIET });
  t.is(without.migrated, 1);
  t.like(await store.load({ kind: 'doorbell', id: 'd1' }), { version: 2, state: 'ringing' });
  await t.throwsAsync(without.read(doorbell, 'd1'), { code: 'actor.unknown-kind' });
  await without.stop();
  t.is((await store.pendingEffects({ kind: 'doorbell', id: 'd1' })).length, 1);
});

test('a dry run with the handlers of the program names a declared effect that has none', async (t) => {
  const store = new MemoryStore();
  const options = { store, actors: [doorbell], handlers: [rung()], log: QUIET };
  const runtime = await createRuntime({ ...options, start: 'later' });
  await runtime.create(doorbell, 'd1');
  await runtime.send(doorbell, 'd1', { type: 'PRESS' });
  await runtime.stop();
  const codes = async (handlers?: readonly ReturnType<typeof rung>[]) =>
    (await check(store, [doorbell], { ...(handlers && { handlers }) })).findings.map(({ code }) => code);
  t.deepEqual(await codes(), []);
  t.deepEqual(await codes([rung()]), []);
  t.deepEqual(await codes([]), ['effect.no-handler']);
});
