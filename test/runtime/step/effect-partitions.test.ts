import { type ActorStore, type EffectHandler, Faults, Retryable } from '@sealwright/runtime';
import { openLmdbStore } from '@sealwright/runtime/lmdb';
import { MemoryStore, SimulatedClock, seededIds } from '@sealwright/runtime/testing';
import test, { type ExecutionContext } from 'ava';
import { buildRuntime } from '#runtime/runtime.js';
import { reached } from '../../project/waiting.ts';
import { folderFor } from '../folder.ts';
import { settle, tally } from '../test-runtime.ts';

const QUIET = { debug() {}, info() {}, warn() {}, error() {} };

interface Run {
  readonly what: string;
  readonly failures: number;
  done(): void;
  fail(error: unknown): void;
}

/** A runtime whose one handler has a partition per first letter of the work, and lets the test end each run. */
function partitionedFixture(
  store: ActorStore,
  bounds: { readonly atOnce: number; readonly perPartition: number },
  effectsInFlight = 2,
) {
  const runs: Run[] = [];
  const started: string[] = [];
  const clock = new SimulatedClock();
  const work: EffectHandler = {
    after: 'visible',
    partitioning: { ...bounds, partitionOf: ({ what }) => what.slice(0, 1) },
    run: ({ what }, { failures }) =>
      new Promise((resolve, reject) => {
        started.push(what);
        runs.push({ what, failures, done: () => resolve({ type: 'WORKED', what }), fail: reject });
      }),
  };
  const runtime = buildRuntime({
    store,
    clock,
    ids: seededIds(1),
    log: QUIET,
    faults: new Faults(),
    definitions: [tally],
    handlers: { work },
    effects: { atOnce: effectsInFlight },
  });
  const end = (what: string): void => {
    const at = runs.findIndex((run) => run.what === what);
    const [run] = runs.splice(at, 1);
    run?.done();
  };
  const endAll = (): void => {
    for (const run of runs.splice(0)) run.done();
  };
  return { runtime, system: runtime.system, clock, runs, started, end, endAll };
}

async function ask(fixture: ReturnType<typeof partitionedFixture>, ...whats: string[]): Promise<void> {
  for (const what of whats) {
    const actor = { kind: 'tally', id: what };
    await fixture.system.create(actor, null);
    await fixture.system.send(actor, { type: 'WORK', what });
    // One moment each, so that the order in which they are due is the order in which they were asked for.
    fixture.clock.advance(1);
  }
}

function onEachStore(title: string, check: (t: ExecutionContext, store: ActorStore) => Promise<void>): void {
  test(`${title} (memory)`, (t) => check(t, new MemoryStore()));
  test(`${title} (disk)`, async (t) => {
    const store = openLmdbStore({ folder: folderFor(t) });
    t.teardown(() => store.close());
    await check(t, store);
  });
}

/** A write to disk takes a moment of its own. */
async function until(condition: () => boolean): Promise<void> {
  await reached(condition, settle);
}

onEachStore(
  'a partition runs at most its limit of effects, and the others follow in order',
  async (t, store) => {
    const fixture = partitionedFixture(store, { atOnce: 10, perPartition: 2 });
    fixture.runtime.start();
    await ask(fixture, 'a1', 'a2', 'a3', 'a4', 'b1');
    await until(() => fixture.runs.length === 3);
    await settle();
    t.deepEqual([...fixture.started].sort(), ['a1', 'a2', 'b1']);
    fixture.end('a2');
    await until(() => fixture.started.includes('a3'));
    await settle();
    t.false(fixture.started.includes('a4'));
    fixture.end('a1');
    await until(() => fixture.started.includes('a4'));
    fixture.endAll();
    await until(() => fixture.runtime.stats().effectsInFlight === 0);
    t.deepEqual(await store.partitions({ prefix: '', limit: 9 }), []);
    await fixture.runtime.stop();
  },
);

onEachStore('hanging effects of partitions use no slots of other effects', async (t, store) => {
  const fixture = partitionedFixture(store, { atOnce: 3, perPartition: 3 }, 1);
  fixture.runtime.start();
  await ask(fixture, 'a1', 'a2', 'a3', 'b1', 'c1');
  await until(() => fixture.runs.length === 3);
  const [one, two] = ['one', 'two'].map((id) => ({ kind: 'tally', id }) as const);
  if (one === undefined || two === undefined) throw new Error('unreachable');
  await fixture.system.create(one, null);
  await fixture.system.create(two, null);
  // `tell` is an effect of the common queue, whose single slot must be free.
  await fixture.system.send(one, { type: 'SEND', to: two, event: { type: 'ADD', what: 'through' } });
  for (;;) {
    const heard: readonly string[] = (await fixture.system.read(two))?.context.heard ?? [];
    if (heard.includes('through')) break;
    await settle();
  }
  t.is(fixture.runs.length, 3);
  await until(() => fixture.runtime.stats().effectsInFlight === 3);
  fixture.endAll();
  await until(() => fixture.started.length === 5);
  fixture.endAll();
  await fixture.runtime.stop();
});

onEachStore('partitions take turns, so that a long one does not delay the short ones', async (t, store) => {
  const fixture = partitionedFixture(store, { atOnce: 2, perPartition: 2 });
  await ask(fixture, ...Array.from({ length: 20 }, (_, n) => `a${n}`), 'b1', 'c1', 'd1');
  fixture.runtime.start();
  for (let turn = 0; turn < 3; turn++) {
    await until(() => fixture.runs.length === 2);
    fixture.endAll();
    await until(() => fixture.started.length >= 2 * turn + 3);
  }
  t.true(
    ['b1', 'c1', 'd1'].every((what) => fixture.started.slice(0, 8).includes(what)),
    String(fixture.started),
  );
  while (fixture.started.length < 23) {
    await until(() => fixture.runs.length > 0);
    fixture.endAll();
    await settle();
  }
  fixture.endAll();
  await fixture.runtime.stop();
});

onEachStore(
  'a failed effect of a partition is retried on time in its partition, and waiting does not count as a failure',
  async (t, store) => {
    const fixture = partitionedFixture(store, { atOnce: 1, perPartition: 1 });
    fixture.runtime.start();
    await ask(fixture, 'a1', 'a2');
    await until(() => fixture.runs.length === 1);
    fixture.runs.splice(0)[0]?.fail(new Retryable('busy', 'not now', 5000));
    await until(() => fixture.runs.length === 1);
    t.like(fixture.runs[0], { what: 'a2', failures: 0 });
    t.deepEqual(
      await store
        .partitions({ prefix: 'work/', limit: 9 })
        .then((partitions) => partitions.map(({ partition }) => partition)),
      ['work/a'],
    );
    fixture.endAll();
    await until(() => fixture.runtime.stats().effectsInFlight === 0);
    t.is(fixture.started.length, 2);
    fixture.clock.advance(5001);
    await until(() => fixture.runs.length === 1);
    t.like(fixture.runs[0], { what: 'a1', failures: 1 });
    fixture.endAll();
    await fixture.runtime.stop();
  },
);

onEachStore(
  'a failed effect is retried on time although its partition was at its limit when it failed',
  async (t, store) => {
    const fixture = partitionedFixture(store, { atOnce: 2, perPartition: 1 });
    fixture.runtime.start();
    await ask(fixture, 'a1', 'a2');
    await until(() => fixture.runs.length === 1);
    fixture.runs.splice(0)[0]?.fail(new Retryable('busy', 'not now', 5000));
    await until(() => fixture.started.includes('a2'));
    fixture.endAll();
    await until(() => fixture.runtime.stats().effectsInFlight === 0);
    await settle();
    fixture.clock.advance(5001);
    // Before the next alarm, 30 s after the last.
    for (let turns = 0; turns < 20 && fixture.runs.length === 0; turns += 1) await settle();
    t.like(fixture.runs[0], { what: 'a1', failures: 1 });
    fixture.endAll();
    await fixture.runtime.stop();
  },
);

test('pending effects of partitions are done after a restart', async (t) => {
  const store = new MemoryStore();
  const before = partitionedFixture(store, { atOnce: 1, perPartition: 1 });
  await ask(before, 'a1', 'b1');
  const after = partitionedFixture(store, { atOnce: 4, perPartition: 1 });
  after.clock.advance(1000);
  after.runtime.start();
  await until(() => after.runs.length === 2);
  t.deepEqual([...after.started].sort(), ['a1', 'b1']);
  after.endAll();
  await after.runtime.stop();
});

test('among a thousand partitions, the waiting effects of partitions at their limit are not read', async (t) => {
  const store = new MemoryStore();
  let leases = 0;
  const counting = new Proxy(store, {
    get(target, name) {
      const value = Reflect.get(target, name) as unknown;
      if (name === 'leaseEffects') leases++;
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  const fixture = partitionedFixture(counting, { atOnce: 4, perPartition: 1 });
  await ask(fixture, 'a1', 'a2', 'a3', 'b1', 'b2', 'c1', 'd1');
  fixture.runtime.start();
  await until(() => fixture.runs.length === 4);
  leases = 0;
  fixture.end('a1');
  await until(() => fixture.started.includes('a2'));
  t.true(leases <= 2, `${leases} reads for one free place`);
  while (fixture.started.length < 7 || fixture.runs.length > 0) {
    fixture.endAll();
    await settle();
  }
  await fixture.runtime.stop();
});

test('partitions with a limit below one are refused at the start', (t) => {
  t.throws(() => partitionedFixture(new MemoryStore(), { atOnce: 0, perPartition: 1 }), {
    code: 'runtime.options',
  });
  t.throws(() => partitionedFixture(new MemoryStore(), { atOnce: 1, perPartition: 0.5 }), {
    code: 'runtime.options',
  });
});

/** Refuses the first lease of the partition `work/b`. */
class OneRefusedLease extends MemoryStore {
  #hasRefused = false;

  override async leaseEffects(...given: Parameters<MemoryStore['leaseEffects']>) {
    if (given[2] === 'work/b' && !this.#hasRefused) {
      this.#hasRefused = true;
      throw new Retryable('store.unavailable', 'The answer was lost.');
    }
    return super.leaseEffects(...given);
  }
}

test('what was leased runs although the store refuses the lease of the next partition', async (t) => {
  const fixture = partitionedFixture(new OneRefusedLease(), { atOnce: 10, perPartition: 1 });
  await ask(fixture, 'a1', 'b1');
  fixture.runtime.start();
  await settle();
  t.deepEqual(fixture.started, ['a1', 'b1']);
  fixture.endAll();
  await fixture.runtime.stop();
});
