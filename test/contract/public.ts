/** Promises of the public runtime on every store, with two nodes where the store has nodes. */
import {
  createRuntime,
  defineActor,
  defineEffect,
  Retryable,
  type StoreSource,
  tell,
} from '@sealwright/runtime';
import { schedule, schedules, storedSchedules } from '@sealwright/runtime/schedules';
import ava, { type ExecutionContext, type TestFn } from 'ava';
import { assign, setup } from 'xstate';
import { SILENT } from '../actors/portal/uploads/upload-harness.ts';
import { reached } from '../project/waiting.ts';

/** Makes a source of one store: the same one for each name of a node. */
export type SourceOfNodes = (t: ExecutionContext) => (node: string) => StoreSource;

/** A worker whose effect fails while `fails.now`. */
function failingWorker(fails: { now: boolean }) {
  const work = defineEffect('work', {
    tries: 1,
    run: async () => {
      if (fails.now) throw new Error('not yet');
      return { type: 'DONE' } as const;
    },
  });
  return defineActor('worker', {
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
}

export function publicContract(
  name: string,
  sources: SourceOfNodes,
  hasNodes = false,
  test: TestFn = ava,
): void {
  const promise = (
    title: string,
    check: (t: ExecutionContext, source: (node: string) => StoreSource) => Promise<void>,
  ): void => {
    test(`${name}: ${title}`, async (t) => {
      await check(t, sources(t));
    });
  };

  const where = hasNodes ? 'on another node' : 'after a refusal';
  promise(
    `an effect that was set aside is listed, and runs again when it is asked for ${where}`,
    async (t, source) => {
      const fails = { now: true };
      const worker = failingWorker(fails);
      const one = await createRuntime({ store: source('one'), actors: [worker], log: SILENT });
      t.teardown(() => one.stop());
      const other = hasNodes
        ? await createRuntime({ store: source('two'), actors: [worker], log: SILENT })
        : one;
      t.teardown(() => other.stop());
      await one.create(worker, 'w');
      await reached(
        async () => (await other.effects({ state: 'set-aside', kind: 'worker' })).items.length === 1,
      );
      fails.now = false;
      t.true(await other.retry(worker, 'w'));
      await other.waitFor(worker, 'w', ({ state }) => state === 'idle', { timeoutMs: 60_000 });
      t.deepEqual(await other.effects({ kind: 'worker' }), { items: [] });
      t.false(await other.retry(worker, 'w'));
    },
  );

  promise('an effect is given up when its time over all attempts has passed', async (t, source) => {
    const work = defineEffect('work', {
      totalMs: 300,
      run: async () => {
        throw new Retryable('bank.busy', 'The bank is busy.');
      },
      failed: (_, { code }) => ({ type: 'FAILED', code }) as const,
    });
    const worker = defineActor('worker', {
      version: 1,
      effects: [work],
      machine: setup({
        types: {} as {
          context: { code: string };
          events: { type: 'FAILED'; code: string };
        },
        actions: {
          work: work.action,
          note: assign({ code: ({ event }) => event.code }),
        },
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
    const runtime = await createRuntime({ store: source('one'), actors: [worker], log: SILENT });
    t.teardown(() => runtime.stop());
    await runtime.create(worker, 'w');
    const failed = await runtime.waitFor(worker, 'w', ({ state }) => state === 'failed', {
      timeoutMs: 60_000,
    });
    t.is(failed.context.code, 'effect.total-limit');
    t.deepEqual(await runtime.effects(), { items: [] });
  });

  promise(
    'messages that nobody takes are kept over a restart, sent again once, and dropped',
    async (t, source) => {
      const actors = [teller, door];
      let runtime = await createRuntime({ store: source('one'), actors, log: SILENT });
      t.teardown(() => runtime.stop());
      await runtime.create(teller, 't');
      await runtime.create(door, 'closed');
      await runtime.send(teller, 't', { type: 'SAY', to: 'nobody', what: 'a' });
      await reached(async () => (await runtime.deadLetters.list()).items.length === 1);
      for (const what of ['b', 'c']) await runtime.send(teller, 't', { type: 'SAY', to: 'closed', what });
      await reached(async () => (await runtime.deadLetters.list()).items.length === 3);
      await runtime.stop();
      runtime = await createRuntime({ store: source('one'), actors, log: SILENT });
      const { items } = await runtime.deadLetters.list();
      t.deepEqual(
        items.map(({ from, to, event, what, because }) => [from.id, to.id, event, what, because]),
        [
          ['t', 'nobody', { type: 'TOLD', what: 'a' }, 'tell', 'unknown-actor'],
          ['t', 'closed', { type: 'TOLD', what: 'b' }, 'tell', 'not-accepted'],
          ['t', 'closed', { type: 'TOLD', what: 'c' }, 'tell', 'not-accepted'],
        ],
      );
      const first = await runtime.deadLetters.list({ limit: 2 });
      t.deepEqual((await runtime.deadLetters.list({ after: first.next ?? '' })).items, items.slice(2));
      const [a = '', b = '', c = ''] = items.map(({ id }) => id);
      t.is(await runtime.deadLetters.replay(a), 'unknown-actor');
      t.is(await runtime.deadLetters.replay(b), 'not-accepted');
      await runtime.send(door, 'closed', { type: 'OPEN' });
      const answers = await Promise.all([b, b].map((id) => runtime.deadLetters.replay(id)));
      t.is(answers.filter((answer) => answer === 'accepted').length, 1, answers.join());
      t.deepEqual((await runtime.read(door, 'closed'))?.context.heard, ['b']);
      t.is(await runtime.deadLetters.replay(b), 'gone');
      t.true(await runtime.deadLetters.drop(c));
      t.false(await runtime.deadLetters.drop(c));
      t.false(await runtime.deadLetters.drop('no id'));
      t.deepEqual(
        (await runtime.deadLetters.list()).items.map(({ id }) => id),
        [a],
      );
    },
  );

  promise('the newest messages that nobody takes are kept', async (t, source) => {
    const deadLetters = { atMost: 2 };
    const runtime = await createRuntime({
      store: source('one'),
      actors: [teller, door],
      log: SILENT,
      deadLetters,
    });
    t.teardown(() => runtime.stop());
    await runtime.create(teller, 't');
    for (const what of ['a', 'b', 'c', 'd'])
      await runtime.send(teller, 't', { type: 'SAY', to: 'nobody', what });
    const kept = async () =>
      (await runtime.deadLetters.list()).items.map(({ event }) => event['what']).join();
    await reached(async () => (await kept()) === 'c,d');
    t.is(await kept(), 'c,d');
  });

  promise(
    `a question is answered by its step, and by one that comes later${hasNodes ? ', at each node' : ''}`,
    async (t, source) => {
      const start = async (node: string) => {
        const runtime = await createRuntime({ store: source(node), actors: [till], log: SILENT });
        t.teardown(() => runtime.stop());
        return runtime;
      };
      const one = await start('one');
      const other = hasNodes ? await start('two') : one;
      await one.create(till, 't', { owner: 'ann' });
      t.is(await one.ask(till, 't', { type: 'PUT', n: 2 }), 2);
      t.is(await other.ask(till, 't', { type: 'PUT', n: 3 }, { id: 'put' }), 5);
      t.is(await one.ask(till, 't', { type: 'PUT', n: 3 }, { id: 'put' }), 5, 'the message counts once');
      const counted = await Promise.all([one, other].map((node) => node.ask(till, 't', { type: 'COUNT' })));
      t.deepEqual(counted, [5, 5]);
      await t.throwsAsync(other.ask(till, 't', { type: 'SELL', to: 'bob' }, { timeoutMs: 50 }), {
        code: 'ask.time-limit',
      });
      await one.create(till, 'b', { owner: 'bob' });
      const named = other.ask(till, 't', { type: 'GIVE', to: 'bob' });
      await t.throwsAsync(named, { code: 'ask.taken', message: /till\/t needs a unique name/ });
      t.is(await other.ask(till, 't', { type: 'GIVE', to: 'eve' }), 'eve');
      for (let at = 0; at < 6; at += 1) await t.throwsAsync(one.ask(till, 't', { type: 'BREAK' }));
      await t.throwsAsync(other.ask(till, 't', { type: 'PUT', n: 1 }), { code: 'ask.stopped' });
      t.true((await one.restart(till, 't')).accepted);
      t.is(await other.ask(till, 't', { type: 'PUT', n: 1 }), 6);
    },
  );

  const among = hasNodes ? ' of two nodes, of which one stops' : '';
  promise(`a schedule runs once for each of its times, also over restarts${among}`, async (t, source) => {
    const each = schedules([
      schedule('s', { everyMs: 1000, to: clerk, id: 'c', event: { type: 'RUN' }, missed: 'all' }),
    ]);
    const start = (node: string) =>
      createRuntime({ store: source(node), actors: [clerk], log: SILENT, schedules: each });
    let one = await start('one');
    t.teardown(() => one.stop());
    await one.create(clerk, 'c');
    const other = hasNodes ? await start('two') : undefined;
    t.teardown(() => other?.stop());
    const ran = (count: number) => async () =>
      ((await (other ?? one).read(clerk, 'c'))?.context.runs.length ?? 0) >= count;
    await reached(ran(2));
    await one.stop();
    if (other === undefined) one = await start('one');
    await reached(ran(4));
    const runs = (await (other ?? one).read(clerk, 'c'))?.context.runs ?? [];
    t.deepEqual(
      runs.map((due) => due - (runs[0] ?? 0)),
      runs.map((_, n) => n * 1000),
    );
    t.deepEqual(
      (await storedSchedules(other ?? one)).map(({ name, to }) => [name, to]),
      [['s', { kind: 'clerk', id: 'c' }]],
    );
  });
}

/** Counts the runs of a schedule. */
const clerk = defineActor('clerk', {
  version: 1,
  machine: setup({
    types: {} as { context: { runs: readonly number[] }; events: { type: 'RUN'; due: number } },
    actions: { run: assign({ runs: ({ context, event }) => [...context.runs, event.due] }) },
  }).createMachine({ context: { runs: [] }, on: { RUN: { actions: 'run' } } }),
});

const count = defineEffect('count', { run: async () => ({ type: 'COUNTED' }) as const });

/** Holds the name of its owner, counts by an effect, and breaks on request. */
const till = defineActor('till', {
  version: 1,
  effects: [count],
  names: ({ context }) => [`till-of-${context.owner}`],
  machine: setup({
    types: {} as {
      context: { owner: string; sum: number; counted: number | null };
      input: { owner: string };
      events:
        | { type: 'PUT'; n: number }
        | { type: 'COUNT' }
        | { type: 'COUNTED' }
        | { type: 'GIVE' | 'SELL'; to: string }
        | { type: 'BREAK' };
    },
    actions: { count: count.action },
    guards: {
      breaks: () => {
        throw new Error('broken');
      },
    },
  }).createMachine({
    context: ({ input }) => ({ ...input, sum: 0, counted: null }),
    on: {
      PUT: { actions: assign({ sum: ({ context, event }) => context.sum + event.n }) },
      COUNT: { actions: [assign({ counted: null }), { type: 'count', params: {} }] },
      COUNTED: { actions: assign({ counted: ({ context }) => context.sum }) },
      GIVE: { actions: assign({ owner: ({ event }) => event.to }) },
      SELL: { actions: assign({ counted: null }) },
      BREAK: { guard: 'breaks', actions: assign({ counted: null }) },
    },
  }),
  answers: {
    PUT: ({ context }) => context.sum,
    COUNT: ({ context }) => context.counted ?? undefined,
    GIVE: ({ context }) => context.owner,
    SELL: () => undefined,
    BREAK: () => 0,
  },
});

/** Hears only when it is open. */
const door = defineActor('door', {
  version: 1,
  machine: setup({
    types: {} as {
      context: { heard: readonly string[] };
      events: { type: 'OPEN' } | { type: 'TOLD'; what: string };
    },
    actions: {
      hear: assign({
        heard: ({ context, event }) => [...context.heard, event.type === 'TOLD' ? event.what : ''],
      }),
    },
  }).createMachine({
    context: { heard: [] },
    initial: 'closed',
    states: { closed: { on: { OPEN: 'open' } }, open: { on: { TOLD: { actions: 'hear' } } } },
  }),
});

const teller = defineActor('teller', {
  version: 1,
  machine: setup({
    types: {} as { events: { type: 'SAY'; to: string; what: string } },
    actions: { tell: tell(door) },
  }).createMachine({
    on: {
      SAY: {
        actions: {
          type: 'tell',
          params: ({ event }) => ({ id: event.to, event: { type: 'TOLD', what: event.what } }),
        },
      },
    },
  }),
});
