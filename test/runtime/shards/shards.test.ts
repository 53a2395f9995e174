import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type ActorAddress,
  createRuntime,
  isRetryable,
  type Step,
  systemClock,
  systemIds,
} from '@sealwright/runtime';
import { lmdb, openLmdbStore } from '@sealwright/runtime/lmdb';
import { schedule, schedules, storedSchedules } from '@sealwright/runtime/schedules';
import { type ShardOptions, shards } from '@sealwright/runtime/shards';
import test, { type ExecutionContext } from 'ava';
import type { StepOutcome } from '#runtime/model/definition.js';
import { type BuiltRuntime, buildRuntime } from '#runtime/runtime.js';
import { watchHeartbeat } from '#runtime/shards/sharded-host.js';
import { reached } from '../../project/waiting.ts';
import { folderFor } from '../folder.ts';
import { counting } from './counting-module.ts';
import { bell, worker } from './public-module.ts';

const PARTS = new URL('./counting-module.js', import.meta.url).href;

async function startShards(
  t: ExecutionContext,
  shards: Partial<ShardOptions> = {},
  observe: (step: Step) => void = () => {},
) {
  const folder = await mkdtemp(join(tmpdir(), 'sealwright-shards-'));
  const store = openLmdbStore({ folder });
  const complaints: string[] = [];
  const complain = (text: string) => complaints.push(text);
  const heard: Step[] = [];
  const lost: string[] = [];
  let work: (n: number, actor: ActorAddress) => Promise<void> = async () => {};
  const runtime = buildRuntime({
    store,
    clock: systemClock,
    ids: systemIds,
    log: { debug() {}, info() {}, warn: complain, error: complain },
    definitions: [counting],
    handlers: {
      work: {
        after: 'visible',
        async run({ n }: { n: number }, { actor }) {
          await work(n, actor);
          return { type: 'WORKED' };
        },
      },
    },
    onCommitted: (step) => {
      heard.push(step);
      observe(step);
    },
    shards: { count: 2, parts: PARTS, faults: '', onLost: (why) => lost.push(why), ...shards },
  });
  t.teardown(async () => {
    await runtime.stop();
    await store.close();
    await rm(folder, { recursive: true, force: true });
  });
  return {
    runtime,
    store,
    complaints,
    heard,
    lost,
    onWork: (task: typeof work) => {
      work = task;
    },
  };
}

const address = (n: number) => ({ kind: 'counting', id: `c${n}` });

/** Tells until it is taken: what a lost thread did not answer is told again, as its sender was asked to. */
async function insist(runtime: BuiltRuntime, n: number, event: { type: string }, id: string): Promise<void> {
  for (;;) {
    try {
      const outcome = await runtime.system.send(address(n), event, { id });
      if (outcome.accepted || outcome.reason === 'duplicate') return;
      throw new Error(outcome.reason);
    } catch (error) {
      if (!isRetryable(error)) throw error;
      await systemClock.sleep(20);
    }
  }
}

test.serial(
  'an observer that throws affects neither the answer of its step nor other observers',
  async (t) => {
    const { runtime, complaints } = await startShards(t, {}, (step) => {
      if (step.actor.address.id === 'c1') throw new Error('an observer at fault');
    });
    const outcomes = await Promise.all([1, 2, 3, 4].map((n) => runtime.system.create(address(n), {})));
    t.true(outcomes.every(({ accepted }) => accepted));
    t.deepEqual(complaints, ['An observer of committed steps threw.']);
  },
);

test.serial(
  'actors are distributed over threads, and each step is observed before its sender is answered',
  async (t) => {
    const { runtime, store, heard } = await startShards(t, { count: 3 });
    const ids = Array.from({ length: 30 }, (_, n) => n);
    await Promise.all(ids.map((n) => runtime.system.create(address(n), {})));
    t.is(heard.length, 30);
    await Promise.all(
      ids.map(async (n) => {
        const outcome = await runtime.system.send(address(n), { type: 'ADD' });
        t.true(outcome.accepted && outcome.revision === 2);
        t.true(heard.some(({ actor }) => actor.address.id === `c${n}` && actor.revision === 2));
      }),
    );
    t.is((await store.counters('counted'))['counted'], 30);
    const reports = await runtime.reports();
    t.deepEqual(
      reports.map(({ shard }) => shard),
      [0, 1, 2],
    );
    t.is(new Set(reports.map(({ thread }) => thread)).size, 3);
    for (const { traffic } of reports) t.true((traffic['counting']?.accepted ?? 0) > 0, 'each has some');
    t.like(await runtime.system.read(address(4)), { revision: 2, state: 'On' });
    t.deepEqual(await runtime.system.send(address(99), { type: 'ADD' }), {
      accepted: false,
      reason: 'unknown-actor',
    });
    t.like(await runtime.system.create(address(4), {}), { accepted: false, reason: 'exists' });
  },
);

test.serial(
  'effects and timers of actors on other threads run on the main thread, and their results reach those actors',
  async (t) => {
    const { runtime, store, onWork } = await startShards(t);
    const seen: number[] = [];
    onWork(async (n) => {
      seen.push(n);
    });
    runtime.start();
    for (let n = 0; n < 8; n += 1) {
      await runtime.system.create(address(n), {});
      await runtime.system.send(address(n), { type: 'WORK' });
    }
    const counted = async (name: string) => (await store.counters(name))[name] ?? 0;
    await reached(async () => (await counted('worked')) === 8);
    for (let n = 0; n < 8; n += 1) await runtime.system.send(address(n), { type: 'REST' });
    await reached(async () => (await counted('actors/counting/1/On')) === 8);
    t.is(seen.length, 8);
  },
);

test.serial('the public runtime hosts actors on threads, with effects in partitions', async (t) => {
  const runtime = await createRuntime({
    store: lmdb(folderFor(t)),
    actors: [worker],
    shards: shards(2, new URL('./public-module.js', import.meta.url)),
  });
  t.teardown(() => runtime.stop());
  const ids = Array.from({ length: 8 }, (_, n) => `w${n}`);
  await Promise.all(ids.map((id) => runtime.create(worker, id)));
  await Promise.all(ids.map((id) => runtime.send(worker, id, { type: 'WORK' })));
  for (const id of ids) {
    const view = await runtime.waitFor(worker, id, ({ revision }) => revision === 3, { timeoutMs: 60_000 });
    t.like(view, { state: 'idle', context: { n: 1 } });
  }
  t.is(runtime.stats().shards.length, 2);
  t.deepEqual(await runtime.effects(), { items: [] });
});

test.serial(
  'schedules are actors on threads, and an actor on a thread takes a dead letter once',
  async (t) => {
    const options = { to: bell, id: 'late', event: { type: 'RING' }, everyMs: 1000 } as const;
    const runtime = await createRuntime({
      store: lmdb(folderFor(t)),
      actors: [bell],
      shards: shards(2, new URL('./public-module.js', import.meta.url)),
      schedules: schedules([schedule('tick', options)]),
    });
    t.teardown(() => runtime.stop());
    let first: string | undefined;
    await reached(async () => {
      first = (await runtime.deadLetters.list()).items[0]?.id;
      return first !== undefined;
    });
    await runtime.create(bell, 'late');
    t.deepEqual(await Promise.all([0, 1].map(() => runtime.deadLetters.replay(first ?? ''))), [
      'accepted',
      'gone',
    ]);
    const [tick] = await storedSchedules(runtime);
    t.like(tick, { name: 'tick', to: { kind: 'bell', id: 'late' } });
    t.true(Number(tick?.due) > Number(tick?.last));
  },
);

test.serial('a refused message is answered after the steps before it are observed', async (t) => {
  const { runtime, heard } = await startShards(t);
  const onShard: ActorAddress[] = [];
  for (let n = 0; onShard[0] === undefined || onShard[1] === undefined; n += 1) {
    await runtime.system.create(address(n), {});
    onShard[Number((await runtime.inspector.actor(address(n)))?.shard)] ??= address(n);
  }
  const [first, second] = onShard as [ActorAddress, ActorAddress];
  const pause = new Int32Array(new SharedArrayBuffer(4));
  for (let round = 2; round < 7; round += 1) {
    const id = `m${round}`;
    // The loop of this thread serves the writer, then shard 0, then shard 1: what arrives during the answer of shard 0
    // is served from shard 1 before the step comes from the writer.
    const blocked = runtime.system.send(first, { type: 'NOT KNOWN' }).then(({ accepted }) => {
      Atomics.wait(pause, 0, 0, 150);
      return accepted;
    });
    const stored = runtime.system.send(second, { type: 'ADD' }, { id });
    const repeated = runtime.system.send(second, { type: 'ADD' }, { id }).then((outcome) => {
      const isObserved = heard.some(
        ({ actor }) => actor.address.id === second.id && actor.revision === round,
      );
      return { reason: outcome.accepted || outcome.reason, isObserved };
    });
    const answers = await Promise.all([blocked, stored, repeated]);
    t.false(answers[0]);
    t.true(answers[1].accepted);
    t.deepEqual(answers[2], { reason: 'duplicate', isObserved: true });
  }
});

test.serial('a step that is stored while the runtime stops is observed before it has stopped', async (t) => {
  const { runtime, store, heard } = await startShards(t);
  await Promise.all(Array.from({ length: 200 }, (_, n) => runtime.system.create(address(n), null)));
  const sent = Array.from({ length: 200 }, (_, n) => runtime.system.send(address(n), { type: 'ADD' }));
  const settled = Promise.allSettled(sent);
  await sent[0];
  await runtime.stop();
  const observed = heard.length;
  const stored = await Promise.all(sent.map(async (_, n) => (await store.load(address(n)))?.revision ?? 0));
  t.is(
    stored.reduce((sum, revision) => sum + revision, 0),
    observed,
  );
  await settled;
  t.is(heard.length, observed);
});

test.serial('an effect of an actor on another thread reads no state older than its step', async (t) => {
  const { runtime, onWork } = await startShards(t);
  let old = 0;
  let seen = 0;
  const all = new Promise<void>((resolve) => {
    onWork(async (n, actor) => {
      const { count } = (await runtime.system.read(actor))?.context ?? { count: 0 };
      if (count < n) old += 1;
      seen += 1;
      if (seen === 400) resolve();
    });
  });
  runtime.start();
  await Promise.all(
    Array.from({ length: 20 }, async (_, n) => {
      await runtime.system.create(address(n), {});
      for (let turn = 0; turn < 20; turn += 1) await runtime.system.send(address(n), { type: 'WORK' });
    }),
  );
  await all;
  t.is(old, 0);
});

test.serial(
  'threads that are ended under load are replaced, and no message is lost or counted twice',
  async (t) => {
    const { runtime, store, heard, complaints, lost } = await startShards(t, { count: 2 });
    const actors = 12;
    for (let n = 0; n < actors; n += 1) await runtime.system.create(address(n), {});
    let stop = false;
    const crashes = (async () => {
      for (let round = 0; round < 4; round += 1) {
        await systemClock.sleep(150);
        await runtime.crashShard?.(round % 2);
      }
      stop = true;
    })();
    let acknowledged = 0;
    await Promise.all(
      Array.from({ length: actors }, async (_, n) => {
        for (let turn = 0; !stop || turn < 20; turn += 1) {
          await insist(runtime, n, { type: 'ADD' }, `m${turn}`);
          acknowledged += 1;
        }
      }),
    );
    await crashes;
    t.is((await store.counters('counted'))['counted'], acknowledged);
    // What the observers add up is what the store holds, over all losses.
    const heardOf = heard.reduce((sum, { counters }) => sum + (counters['counted'] ?? 0), 0);
    t.is(heardOf, acknowledged);
    t.is(complaints.filter((text) => /was lost and is replaced/.test(text)).length, 4);
    t.deepEqual(lost, []);
  },
);

test.serial(
  'messages sent to a thread that ends are processed once and answered, also without an id',
  async (t) => {
    const faults = 'step.computed.before-commit=exit:45,step.committed.before-reply=exit:70';
    const { runtime, store, heard } = await startShards(t, { faults });
    const actors = 8;
    const rounds = 6;
    const revisions: string[] = [];
    const note = (id: number, outcome: StepOutcome) =>
      outcome.accepted ? revisions.push(`${id}/${outcome.revision}`) : t.fail(JSON.stringify(outcome));
    for (let n = 0; n < actors; n += 1) note(n, await runtime.system.create(address(n), {}));
    for (let round = 0; round < rounds; round += 1) {
      const sending = Array.from({ length: actors * 4 }, async (_, n) =>
        note(n % actors, await runtime.system.send(address(n % actors), { type: 'ADD' })),
      );
      if (round % 2 === 0) await runtime.crashShard?.(round % 4 === 0 ? 0 : 1);
      await Promise.all(sending);
    }
    const losses = runtime.stats().shards.reduce((sum, shard) => sum + shard.losses, 0);
    t.true(losses > 3, `${losses} threads were lost`);
    const counted = rounds * actors * 4;
    t.is((await store.counters('counted'))['counted'], counted);
    t.is(heard.length, counted + actors);
    t.is(new Set(revisions).size, counted + actors, 'each was answered with a step of its own');
  },
);

test.serial(
  'a thread that loops or exhausts its heap fails its own messages only, and its actors answer again',
  async (t) => {
    const { runtime } = await startShards(t, { count: 2, heartbeatTimeoutMs: 1000, memory: 48 });
    for (let n = 0; n < 6; n += 1) await runtime.system.create(address(n), {});
    for (const type of ['SPIN', 'HOARD']) {
      const error = await t.throwsAsync(runtime.system.send(address(0), { type }));
      t.is((error as { code?: string } | undefined)?.code, 'shard.lost', type);
      for (let n = 0; n < 6; n += 1) await insist(runtime, n, { type: 'ADD' }, `${type}-${n}`);
    }
    t.like(await runtime.system.read(address(0)), { context: { count: 2 } });
  },
);

test.serial(
  'an actor whose steps end a third thread is stopped, and the others and its shard continue',
  async (t) => {
    const { runtime, complaints, lost } = await startShards(t);
    for (let n = 0; n < 6; n += 1) await runtime.system.create(address(n), {});
    const shard = Number((await runtime.inspector.actor(address(3)))?.shard);
    for (let turn = 0; turn < 3; turn += 1) {
      const error = await t.throwsAsync(runtime.system.send(address(3), { type: 'EXIT' }));
      t.is((error as { code?: string } | undefined)?.code, 'shard.lost');
    }
    t.like(await runtime.system.send(address(3), { type: 'EXIT' }), { accepted: false, reason: 'stopped' });
    for (let n = 0; n < 6; n += 1) if (n !== 3) await insist(runtime, n, { type: 'ADD' }, 'after');
    const page = await runtime.inspector.list({ kind: 'counting', stopped: true, limit: 10 });
    t.deepEqual(
      page?.items.map(({ id }) => id),
      ['c3'],
    );
    t.regex(page?.items[0]?.stopped?.error ?? '', /ended the threads they ran on: The thread ended \(1\)/);
    const life = runtime.stats().shards[shard];
    t.like(life, { losses: 3, housed: true });
    t.is(life?.lastLoss?.actor, 'counting/c3');
    t.is(complaints.filter((text) => /was lost and is replaced/.test(text)).length, 3);
    t.deepEqual(lost, []);
    t.true((await runtime.system.restart(address(3))).accepted);
    await insist(runtime, 3, { type: 'ADD' }, 'restarted');
  },
);

test.serial(
  'a thread counts as stuck after repeated probes without an answer, not after one late probe',
  async (t) => {
    const looks: (() => void)[] = [];
    let answer = () => {};
    let stuck = 0;
    watchHeartbeat({
      // Only the number of looks counts: of a process that was paused, one comes late, and then the answers do.
      clock: {
        after: (_, look) => {
          looks.push(look);
          return () => looks.splice(looks.indexOf(look), 1);
        },
      },
      timeoutMs: 800,
      ping: () =>
        new Promise<void>((resolve) => {
          answer = resolve;
        }),
      onStuck: () => {
        stuck += 1;
      },
    });
    const look = (times: number) => {
      for (let turn = 0; turn < times; turn += 1) looks.shift()?.();
    };
    for (let turn = 0; turn < 20; turn += 1) {
      look(7);
      answer();
      await systemClock.sleep(0);
    }
    t.is(stuck, 0);
    look(10);
    t.is(stuck, 1);
    t.deepEqual(looks, [], 'no thread is probed any more');
  },
);

function counted(words: readonly string[]): { readonly [word: string]: number } {
  const counts: { [word: string]: number } = {};
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1;
  return counts;
}

test.serial(
  'of a burst to one actor its mailbox takes what it holds, no thread is lost, and others take turns',
  async (t) => {
    // All calls at once would be more than a thread can hold.
    const { runtime, complaints } = await startShards(t, { count: 1, memory: 64 });
    await runtime.system.create(address(1), {});
    await runtime.system.create(address(2), {});
    const filler = 'x'.repeat(20_000);
    const burst = Array.from({ length: 5000 }, (_, n) =>
      runtime.system.send(address(1), { type: 'ADD', filler: `${n} ${filler}` }).then(
        () => 'taken',
        (error: { code: string }) => error.code,
      ),
    );
    const other = await runtime.system.send(address(2), { type: 'ADD' });
    t.true(other.accepted);
    const answers = counted(await Promise.all(burst));
    t.deepEqual(Object.keys(answers).sort(), ['mailbox.full', 'taken']);
    const { taken } = answers;
    t.is(taken, 257);
    t.is((await runtime.system.read(address(1)))?.context.count, taken);
    // Four full mailboxes are four times what the thread has at once.
    const crowd = [3, 4, 5, 6].map(address);
    await Promise.all(crowd.map((one) => runtime.system.create(one, {})));
    let answered = 0;
    const crowded = crowd.flatMap((one) =>
      Array.from({ length: 257 }, () =>
        runtime.system.send(one, { type: 'ADD' }).then(() => {
          answered += 1;
        }),
      ),
    );
    await runtime.system.send(address(2), { type: 'ADD' });
    t.true(answered < crowded.length / 2, `answered before: ${answered}`);
    await Promise.all(crowded);
    t.deepEqual(complaints, []);
    t.is(
      runtime.stats().shards.reduce((sum, { losses }) => sum + losses, 0),
      0,
    );
  },
);

const BROKEN_MODULES = {
  'throw new Error("broken parts")': /broken parts/,
  'export const actors = []': /The module for the threads exports no `shardModule`/,
};

for (const [module, why] of Object.entries(BROKEN_MODULES))
  test.serial(`a module that no thread can load is a fatal failure at once: ${module}`, async (t) => {
    const { runtime, lost, complaints } = await startShards(t, { parts: `data:text/javascript,${module}` });
    const creation = t.throwsAsync(runtime.system.create(address(1), {}), { code: 'shard.lost' });
    await reached(() => lost.length > 0);
    t.regex(lost[0] ?? '', /^The module for the threads cannot be loaded: /);
    t.regex(lost[0] ?? '', why);
    t.deepEqual(complaints, [], 'no thread is replaced');
    await creation;
  });

test.serial('a shard that repeatedly loses its thread reports a fatal failure', async (t) => {
  const { runtime, lost } = await startShards(t, { losses: { restarts: 1 } });
  await runtime.system.create(address(1), {});
  for (let round = 0; round < 2; round += 1) await runtime.crashShard?.(0);
  await reached(() => lost.length > 0);
  t.regex(lost[0] ?? '', /^Shard 0 lost its thread again and again: It was told to\./);
});
