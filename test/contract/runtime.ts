/** Promises of the runtime that hold on every store. */

import { type ActorStore, type EffectHandler, systemClock } from '@sealwright/runtime';
import { SimulatedClock } from '@sealwright/runtime/testing';
import ava, { type ExecutionContext, type TestFn } from 'ava';
import { createTestRuntime, echo, T1, T2, type TestRuntime } from '../runtime/test-runtime.ts';
import type { StoreUnderTest } from './store.ts';

/** Limit of one wait, milliseconds. */
const LIMIT_MS = 60_000;

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

async function until(what: string, condition: () => boolean): Promise<void> {
  const end = systemClock.elapsed() + LIMIT_MS;
  while (!condition()) {
    if (systemClock.elapsed() > end) throw new Error(`After ${LIMIT_MS} ms: ${what}`);
    await turn();
  }
}

/** The store with some of its methods replaced. */
function replaced(store: ActorStore, methods: Partial<ActorStore>): ActorStore {
  return new Proxy(store, {
    get(target, name) {
      const value = Reflect.get(methods, name) ?? Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

/** The store whose leases are answered after one of the effects in progress has ended. */
function withLateLeases(store: ActorStore, running: () => number): ActorStore {
  return replaced(store, {
    async leaseEffects(...given) {
      const before = running();
      const leased = await store.leaseEffects(...given);
      if (before > 0) await until('an effect ends during a lease', () => running() < before);
      return leased;
    },
  });
}

export function runtimeContract(
  name: string,
  open: (t: ExecutionContext) => Promise<StoreUnderTest>,
  test: TestFn = ava,
): void {
  const promise = (title: string, check: (t: ExecutionContext, store: ActorStore) => Promise<void>): void => {
    test(`${name}: ${title}`, async (t) => {
      await check(t, (await open(t)).store);
    });
  };

  promise('an effect reads no state older than the step that asked for it', async (t, store) => {
    const revisions: (number | undefined)[] = [];
    let isRead = (): void => {};
    const read = new Promise<void>((resolve) => {
      isRead = resolve;
    });
    const work: EffectHandler = {
      ...echo,
      async run({ what }, { actor }) {
        if (what === 'early') {
          revisions.push((await system.read(actor))?.revision);
          isRead();
        }
        return { type: 'WORKED', what };
      },
    };
    let isHeld = (): void => {};
    const held = new Promise<void>((resolve) => {
      isHeld = resolve;
    });
    const slow = replaced(store, {
      async commit(step) {
        const committed = await store.commit(step);
        if (step.effects.some(({ effect }) => effect['what'] === 'early')) {
          isHeld();
          await read;
        }
        return committed;
      },
    });
    const { runtime, system } = createTestRuntime({ store: slow, work });
    await system.create(T1, null);
    await system.create(T2, null);
    runtime.start();
    const asked = system.send(T1, { type: 'WORK', what: 'early' });
    await held;
    // Wakes the outbox, which leases what is committed, answered or not.
    await system.send(T2, { type: 'WORK', what: 'other' });
    t.true((await asked).accepted);
    t.deepEqual(revisions, [2]);
    await runtime.stop();
  });

  const bounds = { atOnce: 4, perPartition: 2 };
  for (const [queue, partitioning, names] of [
    ['the common queue', undefined, ['a']],
    ['partitions', { ...bounds, partitionOf: ({ what }: { what: string }) => what }, ['a', 'b', 'c']],
  ] as const) {
    promise(`effects of ${queue} that end during a lease leave no slot unused`, async (t, store) => {
      const EFFECTS = 24;
      let done = 0;
      let ended = Promise.resolve();
      let fixture: TestRuntime | undefined;
      const work: EffectHandler = {
        ...echo,
        ...(partitioning && { partitioning }),
        async run() {
          // One after another, so that each ends during a lease that its predecessor caused.
          ended = ended.then(turn);
          await ended;
          done += 1;
          return null;
        },
      };
      fixture = createTestRuntime({
        store: withLateLeases(store, () => fixture?.runtime.stats().effectsInFlight ?? 0),
        work,
        // Nothing happens by time: an effect that waits for an alarm never runs.
        clock: new SimulatedClock(),
        effects: { atOnce: 4 },
      });
      const { runtime, system } = fixture;
      await system.create(T1, null);
      for (let n = 0; n < EFFECTS; n += 1)
        await system.send(T1, { type: 'WORK', what: names[n % names.length] });
      runtime.start();
      await until(`all ${EFFECTS} effects run`, () => done === EFFECTS);
      t.is(done, EFFECTS);
      await runtime.stop();
    });
  }
}
