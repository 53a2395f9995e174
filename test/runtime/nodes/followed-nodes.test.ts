/** The runtime of programs on several nodes: waits, lists and retries of actors that other nodes have stored. */
import { setImmediate } from 'node:timers/promises';
import { type Actor, createRuntime, defineActor, defineEffect, type Runtime } from '@sealwright/runtime';
import { MemoryDatabase, openMemoryNode, SimulatedClock, seededIds } from '@sealwright/runtime/testing';
import test, { type ExecutionContext } from 'ava';
import { assign, setup } from 'xstate';

const SILENT = { debug() {}, info() {}, warn() {}, error() {} };

const LEASE_SECONDS = 10;

interface Node {
  readonly runtime: Runtime;
  /** Cuts it off from the database, or ends that. */
  cut(isCut: boolean): void;
}

/** Starts a node for each list of actors, on one database in memory. */
async function startNodes(t: ExecutionContext, programs: readonly (readonly Actor[])[]) {
  const clock = new SimulatedClock();
  const database = new MemoryDatabase(clock);
  const nodes: Node[] = [];
  for (const [at, actors] of programs.entries()) {
    let isCut = false;
    const runtime = await createRuntime({
      actors,
      clock,
      ids: seededIds(at + 1),
      log: SILENT,
      store: {
        open: ({ log, version }) =>
          openMemoryNode({
            database,
            clock,
            log,
            node: `node ${at}`,
            leaseSeconds: LEASE_SECONDS,
            info: { version },
            link: (statement) => (isCut ? Promise.reject(new Error('The link is cut.')) : statement()),
          }),
      },
    });
    nodes.push({
      runtime,
      cut: (now) => {
        isCut = now;
      },
    });
  }
  /** Lets seconds pass. */
  const pass = async (seconds: number): Promise<void> => {
    for (let second = 0; second < seconds; second += 1) {
      clock.advance(1000);
      for (let turn = 0; turn < 3; turn += 1) await setImmediate();
    }
  };
  t.teardown(async () => {
    const stopped = Promise.all(nodes.map(({ runtime }) => runtime.stop()));
    await pass(15);
    await stopped;
  });
  const [one, two] = nodes;
  if (one === undefined || two === undefined) throw new Error('Two nodes are needed.');
  return { one, two, pass };
}

const counter = defineActor('counter', {
  version: 1,
  machine: setup({
    types: {} as { context: { count: number }; events: { type: 'COUNT' } },
    actions: { count: assign({ count: ({ context }) => context.count + 1 }) },
  }).createMachine({
    context: { count: 0 },
    initial: 'open',
    states: { open: { on: { COUNT: { actions: 'count' } } } },
  }),
});

test('a wait finds a change that another node has committed after this one had lost its lease', async (t) => {
  const { one, two, pass } = await startNodes(t, [[counter], [counter]]);
  await pass(2 * LEASE_SECONDS);
  await two.runtime.create(counter, 'c');
  const counted = one.runtime.waitFor(counter, 'c', ({ context }) => context.count === 1, {
    timeoutMs: 180_000,
  });
  const ended = t.throwsAsync(
    one.runtime.waitFor(counter, 'c', ({ context }) => context.count === 2, { timeoutMs: 180_000 }),
    { code: 'actor.ended' },
  );
  one.cut(true);
  await pass(3 * LEASE_SECONDS);
  await two.runtime.send(counter, 'c', { type: 'COUNT' });
  one.cut(false);
  await pass(60);
  one.cut(true);
  await pass(3 * LEASE_SECONDS);
  await two.runtime.end(counter, 'c');
  one.cut(false);
  await pass(90);
  t.is((await counted).context.count, 1);
  await ended;
});

/** Its second version has another state and another member. */
function titled(version: 1 | 2) {
  return defineActor('titled', {
    version,
    ...(version === 2 && {
      migrations: {
        1: {
          migrate: ({ context }) => ({ state: 'open', context: { name: context['title'] ?? null } }),
        },
      },
    }),
    machine: setup({
      types: {} as { context: { name?: string; title?: string }; events: { type: 'TOUCH' } },
    }).createMachine({
      context: version === 1 ? { title: 'a' } : { name: 'new' },
      initial: version === 1 ? 'waiting' : 'open',
      states: { waiting: {}, open: {}, ...(version === 1 && { waiting: { on: { TOUCH: 'open' } } }) },
    }),
  });
}

test('actors that a node of an earlier version stores are migrated for waits, subscribers and lists, and can be ended', async (t) => {
  const old = titled(1);
  const current = titled(2);
  const { one, two, pass } = await startNodes(t, [[current], [old]]);
  const seen: unknown[] = [];
  one.runtime.subscribe(current, {}, ({ state, context }) => seen.push([state, context]));
  const waited = one.runtime.waitFor(current, 'x', ({ context }) => context.name === 'a');
  await two.runtime.create(old, 'x');
  await pass(1);
  t.like(await waited, { state: 'open', context: { name: 'a' } });
  t.deepEqual(seen, [['open', { name: 'a' }]]);
  t.like(await one.runtime.list(current), [{ id: 'x', state: 'open', context: { name: 'a' } }]);
  t.like(await two.runtime.list(old), [{ id: 'x', state: 'waiting', context: { title: 'a' } }]);
  t.like(await one.runtime.end(current, 'x'), { accepted: true });
  t.is(await two.runtime.read(old, 'x'), undefined);
});

test('a node runs an effect again that another node has set aside', async (t) => {
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
  const { one, two, pass } = await startNodes(t, [[worker], [worker]]);
  await one.runtime.create(worker, 'w');
  await pass(2);
  fails = false;
  t.true(await two.runtime.retry(worker, 'w'));
  await pass(2);
  t.is((await one.runtime.read(worker, 'w'))?.state, 'idle');
  t.false(await one.runtime.retry(worker, 'w'));
});
