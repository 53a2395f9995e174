import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ActorDefinition, type ActorStore, Retryable } from '@sealwright/runtime';
import { note } from '@sealwright/runtime/actions';
import { openLmdbStore } from '@sealwright/runtime/lmdb';
import { MemoryStore, SimulatedClock, seededIds } from '@sealwright/runtime/testing';
import test from 'ava';
import { assign, setup } from 'xstate';
import { buildRuntime } from '#runtime/runtime.js';
import { anyEffect } from '../any-effect.ts';

const log = { debug() {}, info() {}, warn() {}, error() {} };

const door: ActorDefinition = {
  kind: 'door',
  version: 4,
  secrets: ['combination'],
  parent: ({ context }) => ({ kind: 'house', id: context.house }),
  children: async ({ id }) => ['a', 'b'].map((part) => ({ kind: 'door', id: `${id}${part}` })),
  machine: setup({
    types: { context: {} as { house: string; combination: string; apiToken: string } },
    actions: {
      effect: anyEffect,
      note,
    },
  }).createMachine({
    id: 'door',
    context: ({ input }) => input as { house: string; combination: string; apiToken: string },
    initial: 'Shut',
    states: {
      Shut: {
        on: {
          OPEN: {
            target: 'Open',
            actions: { type: 'note', params: { message: 'Opened.', data: { by: 'Ann' } } },
          },
          RING: { actions: { type: 'effect', params: { do: 'ring' } } },
          JAM: {
            actions: assign(() => {
              throw new Error(
                'https://key:hunter2@example.org/?token=hunter2 answers no, Bearer hunter2hunter2',
              );
            }),
          },
        },
      },
      Open: { on: { SHUT: 'Shut' }, after: { 60000: 'Shut' } },
    },
  }),
};

function inspectFixture(store: ActorStore = new MemoryStore()) {
  const clock = new SimulatedClock(1_000_000);
  const runtime = buildRuntime({
    store,
    clock,
    ids: seededIds(7),
    log,
    definitions: [door],
    handlers: {
      ring: {
        after: 'visible',
        run: async () => {
          throw new Retryable('bell.broken', 'The bell is broken: password=hunter2.', 5000);
        },
      },
    },
    restarts: { restarts: 0 },
  });
  const make = (id: string) =>
    runtime.system.create({ kind: 'door', id }, { house: 'h1', combination: '1234', apiToken: 'abc' });
  return { runtime, clock, make };
}

test('kinds are counted by state without reading actors, and pages of one state are consecutive', async (t) => {
  const { runtime, make } = inspectFixture();
  const { inspector, system } = runtime;
  for (let n = 0; n < 7; n += 1) await make(`d${n}`);
  for (const n of [1, 4]) await system.send({ kind: 'door', id: `d${n}` }, { type: 'OPEN' });
  await system.send({ kind: 'door', id: 'd1' }, { type: 'OPEN' });
  t.like((await inspector.kinds())[0], {
    kind: 'door',
    version: 4,
    count: 7,
    states: { Shut: 5, Open: 2 },
    accepted: 9,
    refused: 1,
    stopped: 0,
  });
  const pages: string[][] = [];
  let after: string | undefined;
  do {
    const page = await inspector.list({ kind: 'door', state: 'Shut', limit: 2, after });
    pages.push(page?.items.map(({ id }) => id) ?? []);
    after = page?.next;
  } while (after !== undefined);
  t.deepEqual(pages, [['d0', 'd2'], ['d3', 'd5'], ['d6']]);
  const all = await inspector.list({ kind: 'door', limit: 9 });
  t.deepEqual(
    all?.items.map(({ id }) => id),
    ['d0', 'd1', 'd2', 'd3', 'd4', 'd5', 'd6'],
  );
  t.is(await inspector.list({ kind: 'window', limit: 9 }), undefined);
  t.is((await inspector.list({ kind: 'door', limit: 9, after: 'no cursor' }))?.items.length, 7);
});

test('the oldest actors are those with the oldest last line of history, listed with its time on one page', async (t) => {
  const { runtime, clock, make } = inspectFixture();
  const { inspector, system } = runtime;
  for (const id of ['d3', 'd1', 'd2']) {
    await make(id);
    await system.send({ kind: 'door', id }, { type: 'OPEN' });
    await clock.advance(1000);
  }
  await system.send({ kind: 'door', id: 'd3' }, { type: 'SHUT' });
  await system.send({ kind: 'door', id: 'd3' }, { type: 'OPEN' });
  await make('without history');
  const page = await inspector.list({ kind: 'door', oldest: true, limit: 2 });
  t.deepEqual(
    page?.items.map(({ id, since }) => [id, since]),
    [
      ['d1', 1_001_000],
      ['d2', 1_002_000],
    ],
  );
  t.is(page?.next, undefined);
  const open = await inspector.list({ kind: 'door', state: 'Open', oldest: true, limit: 9 });
  t.deepEqual(
    open?.items.map(({ id, since }) => [id, since]),
    [
      ['d1', 1_001_000],
      ['d2', 1_002_000],
      ['d3', 1_003_000],
    ],
  );
});

test('the oldest of more actors than one read returns is found, at any position of its id', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'sealwright-inspect-'));
  const lmdb = openLmdbStore({ folder });
  t.teardown(async () => {
    await lmdb.close();
    await rm(folder, { recursive: true });
  });
  for (const store of [new MemoryStore(), lmdb]) {
    const { runtime, clock, make } = inspectFixture(store);
    const { inspector, system } = runtime;
    const open = async (id: string) => {
      await make(id);
      await system.send({ kind: 'door', id }, { type: 'OPEN' });
    };
    await open('z-first');
    await clock.advance(1000);
    await Promise.all(Array.from({ length: 520 }, (_, n) => open(`d${String(n).padStart(5, '0')}`)));
    await clock.advance(1000);
    await open('a-last');
    for (const state of [undefined, 'Open'] as const) {
      const page = await inspector.list({ kind: 'door', state, oldest: true, limit: 3 });
      t.deepEqual(
        page?.items.map(({ id, since }) => [id, since]),
        [
          ['z-first', 1_000_000],
          ['d00000', 1_001_000],
          ['d00001', 1_001_000],
        ],
      );
      t.is(page?.complete, true);
    }
  }
});

test('a text search finds actors by parts of their ids and names, over several pages, and reports the number read', async (t) => {
  const { runtime, make } = inspectFixture();
  const { inspector, system } = runtime;
  await Promise.all(Array.from({ length: 600 }, (_, n) => make(`d${String(n).padStart(3, '0')}`)));
  const named = { house: 'h', combination: 'front', apiToken: 'front' };
  await system.create({ kind: 'door', id: 'e1' }, { ...named, name: 'The Front Door' });
  await system.create({ kind: 'door', id: 'e2' }, named);
  const find = async (text: string, limit = 9, after?: string) => {
    const page = await inspector.list({ kind: 'door', text, limit, after });
    return { ids: page?.items.map(({ id }) => id), examined: page?.examined, next: page?.next };
  };
  t.deepEqual(await find('FRONT'), { ids: ['e1'], examined: 602, next: undefined });
  t.deepEqual(await find('none of them'), { ids: [], examined: 602, next: undefined });
  const first = await find('99', 2);
  t.deepEqual(first.ids, ['d099', 'd199']);
  t.deepEqual((await find('99', 9, first.next)).ids, ['d299', 'd399', 'd499', 'd599']);
  t.is((await inspector.list({ kind: 'door', limit: 1 }))?.examined, undefined);
});

test('unknown cursors and states do not fail, in either store', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'sealwright-inspect-'));
  const lmdb = openLmdbStore({ folder });
  t.teardown(async () => {
    await lmdb.close();
    await rm(folder, { recursive: true });
  });
  const cursor = (...parts: unknown[]) => Buffer.from(JSON.stringify(parts)).toString('base64url');
  for (const store of [new MemoryStore(), lmdb]) {
    const { runtime, make } = inspectFixture(store);
    await make('d1');
    const { inspector } = runtime;
    for (const after of [cursor('x'.repeat(3000)), cursor(null), cursor('\ud800')]) {
      t.is((await inspector.list({ kind: 'door', limit: 9, after }))?.items.length, 1, after);
    }
    for (const after of [cursor('no key'), cursor(5), cursor(`door/${'x'.repeat(3000)}/1/1`)]) {
      t.deepEqual(await inspector.list({ kind: 'door', stuck: true, limit: 9, after }), {
        items: [],
        next: undefined,
      });
    }
    const long = { kind: 'door', limit: 9, state: 'x'.repeat(3000) };
    t.deepEqual(await inspector.list(long), { items: [], next: undefined });
  }
});

test('an actor is shown with history, timers and accepted events, and without secrets', async (t) => {
  const { runtime, make } = inspectFixture();
  await make('d1');
  await runtime.system.send({ kind: 'door', id: 'd1' }, { type: 'OPEN' });
  const actor = await runtime.inspector.actor({ kind: 'door', id: 'd1' });
  t.like(actor, {
    state: 'Open',
    revision: 2,
    context: { house: 'h1', combination: '(hidden)', apiToken: '(hidden)' },
    accepts: ['SHUT'],
    parent: { kind: 'house', id: 'h1' },
    stopped: null,
  });
  t.deepEqual(
    actor?.history.map(({ message, cause }) => [message, cause]),
    [['Opened.', 'OPEN']],
  );
  t.deepEqual(
    actor?.timers.map(({ due }) => due),
    [1_060_000],
  );
  t.false(JSON.stringify(actor).includes('1234'));
  t.false(JSON.stringify(actor).includes('Ann'), 'details of history lines');
  t.is(await runtime.inspector.actor({ kind: 'door', id: 'none' }), undefined);
});

test('children are the existing actors of those that a kind declares', async (t) => {
  const { runtime, make } = inspectFixture();
  for (const id of ['d1', 'd1b', 'd2']) await make(id);
  const shown = await runtime.inspector.actor({ kind: 'door', id: 'd1' });
  t.deepEqual(shown?.children, [{ kind: 'door', id: 'd1b' }]);
});

test('lists, details and counts show the reason of a stopped actor without secrets of the error', async (t) => {
  const { runtime, make } = inspectFixture();
  await make('d1');
  await t.throwsAsync(() => runtime.system.send({ kind: 'door', id: 'd1' }, { type: 'JAM' }));
  const { inspector } = runtime;
  const seen = [
    await inspector.list({ kind: 'door', stopped: true, limit: 5 }),
    await inspector.actor({ kind: 'door', id: 'd1' }),
    await inspector.kinds(),
  ].map((answer) => JSON.stringify(answer));
  for (const text of seen) {
    t.true(text.includes('https://(hidden)@example.org/?(hidden) answers no, Bearer (hidden)'), text);
    t.false(text.includes('hunter2'), text);
  }
});

test('an actor that changes state between two pages of a list is on one of them', async (t) => {
  const { runtime, make } = inspectFixture();
  const { inspector, system } = runtime;
  for (let n = 0; n < 5; n += 1) await make(`d${n}`);
  const first = await inspector.list({ kind: 'door', limit: 2 });
  for (const { id } of first?.items ?? []) await system.send({ kind: 'door', id }, { type: 'OPEN' });
  const rest = await inspector.list({ kind: 'door', limit: 5, after: first?.next });
  t.deepEqual(
    [...(first?.items ?? []), ...(rest?.items ?? [])].map(({ id }) => id),
    ['d0', 'd1', 'd2', 'd3', 'd4'],
  );
});

test('an actor with several failing effects is on one page of the stuck ones', async (t) => {
  const store = new MemoryStore();
  const { runtime, make } = inspectFixture(store);
  for (const id of ['d1', 'd2']) await make(id);
  for (const id of ['d1', 'd1', 'd1', 'd2'])
    await runtime.system.send({ kind: 'door', id }, { type: 'RING' });
  for (const { key } of await store.leaseEffects(2_000_000, 9)) await store.deferEffect(key, 3_000_000, 'no');
  const pages: string[][] = [];
  let after: string | undefined;
  do {
    const page = await runtime.inspector.list({ kind: 'door', stuck: true, limit: 1, after });
    pages.push(page?.items.map(({ id }) => id) ?? []);
    after = page?.next;
  } while (after !== undefined);
  t.deepEqual(pages.flat(), ['d1', 'd2']);
});

test('actors with failing effects are listed as stuck, with the reason and the next attempt', async (t) => {
  const { runtime, clock, make } = inspectFixture();
  for (const id of ['d1', 'd2', 'd3']) await make(id);
  await runtime.system.send({ kind: 'door', id: 'd2' }, { type: 'RING' });
  runtime.start();
  t.teardown(() => runtime.stop());
  let page = await runtime.inspector.list({ kind: 'door', stuck: true, limit: 5 });
  for (let turn = 0; turn < 1000 && page?.items.length === 0; turn += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    page = await runtime.inspector.list({ kind: 'door', stuck: true, limit: 5 });
  }
  t.is(page?.items.length, 1);
  t.like(page?.items[0], {
    id: 'd2',
    trouble: {
      do: 'ring',
      failures: 1,
      lastError: 'The bell is broken: password=(hidden)',
      dueAt: clock.now() + 5000,
    },
  });
  t.is(page?.next, undefined);
});
