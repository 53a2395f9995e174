import type { ActorStore, Step } from '@sealwright/runtime';
import { openLmdbStore } from '@sealwright/runtime/lmdb';
import { MemoryStore } from '@sealwright/runtime/testing';
import test from 'ava';
import { folderFor } from './folder.ts';
import { createTestRuntime, settle, T1, T2 } from './test-runtime.ts';

test('an actor is created once', async (t) => {
  const { system } = createTestRuntime();
  const first = await system.create(T1, null);
  t.true(first.accepted);
  t.deepEqual(await system.create(T1, null), { accepted: false, reason: 'exists' });
});

test('a message to an unknown actor is answered with unknown-actor', async (t) => {
  const { system } = createTestRuntime();
  t.deepEqual(await system.send(T1, { type: 'ADD' }), { accepted: false, reason: 'unknown-actor' });
  t.is(await system.read(T1), undefined);
  await t.throwsAsync(system.send({ kind: 'ghost', id: '1' }, { type: 'ADD' }), {
    code: 'actor.unknown-kind',
  });
});

test('messages sent together are processed one at a time, in order', async (t) => {
  const { system } = createTestRuntime();
  await system.create(T1, null);
  const outcomes = await Promise.all(
    ['a', 'b', 'c', 'd'].map((what) => system.send(T1, { type: 'ADD', what })),
  );
  t.deepEqual(
    outcomes.map((outcome) => outcome.accepted && outcome.revision),
    [2, 3, 4, 5],
  );
  t.deepEqual((await system.read(T1))?.context.heard, ['a', 'b', 'c', 'd']);
});

test('an event without a transition is refused with the unchanged actor, and nothing is stored', async (t) => {
  const { system } = createTestRuntime();
  await system.create(T1, null);
  const outcome = await system.send(T1, { type: 'WAKE' });
  t.like(outcome, { accepted: false, reason: 'not-accepted', actor: { state: 'awake' } });
  t.is((await system.read(T1))?.revision, 1);
});

test('a message with an id is consumed once', async (t) => {
  const { system } = createTestRuntime();
  await system.create(T1, null);
  t.true((await system.send(T1, { type: 'ADD' }, { id: 'm1' })).accepted);
  t.like(await system.send(T1, { type: 'ADD' }, { id: 'm1' }), { accepted: false, reason: 'duplicate' });
  t.is((await system.read(T1))?.context.count, 1);
});

test('the host stamps the time on every event', async (t) => {
  const { system, clock, store } = createTestRuntime();
  await system.create(T1, null);
  clock.advance(1234);
  await system.send(T1, { type: 'WORKED', what: 'x', at: 5 });
  t.is((await store.journal(T1))[0]?.at, clock.now());
});

test('a full mailbox refuses at once with its own code', async (t) => {
  const { system } = createTestRuntime();
  await system.create(T1, null);
  const outcomes = await Promise.allSettled(
    Array.from({ length: 12 }, () => system.send(T1, { type: 'ADD' })),
  );
  const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
  t.is(refused.length, 3, 'one in work, eight waiting');
  for (const { reason } of refused)
    t.like(reason, { code: 'mailbox.full', retryable: true, retryAfter: 1000 });
  t.is((await system.read(T1))?.context.count, 9);
});

test('a runtime that has stopped commits no step, and completes those in progress', async (t) => {
  const { system, runtime, store } = createTestRuntime();
  await system.create(T1, null);
  const inProgress = Promise.all(['a', 'b'].map((what) => system.send(T1, { type: 'ADD', what })));
  let answered = () => {};
  const request = new Promise<void>((resolve) => {
    answered = resolve;
  });
  const stopped = runtime.stop(0, request);
  const late = system.send(T1, { type: 'ADD', what: 'of a request in progress' });
  answered();
  await stopped;
  const { revision } = (await store.load(T1)) ?? {};
  t.is(revision, 4);
  t.true((await inProgress).every(({ accepted }) => accepted));
  t.true((await late).accepted);
  await t.throwsAsync(system.send(T1, { type: 'ADD' }), { code: 'runtime.stopping' });
  t.is((await store.load(T1))?.revision, revision);
});

test('an idle actor is unloaded', async (t) => {
  const { system, runtime } = createTestRuntime();
  await system.create(T1, null);
  const sent = system.send(T1, { type: 'ADD' });
  t.is(runtime.stats().awakeActors, 1);
  await sent;
  await settle();
  t.is(runtime.stats().awakeActors, 0);
});

test('a name held by another actor refuses the step with its holder', async (t) => {
  const { system } = createTestRuntime();
  await system.create(T1, null);
  await system.create(T2, null);
  t.true((await system.send(T1, { type: 'CLAIM' })).accepted);
  t.deepEqual(await system.send(T2, { type: 'CLAIM' }), {
    accepted: false,
    reason: 'taken',
    name: 'the-name',
    holder: T1,
  });
  t.is((await system.read(T2))?.state, 'awake');
  await system.send(T1, { type: 'FREE' });
  t.true((await system.send(T2, { type: 'CLAIM' })).accepted);
});

test('after a concurrent step of another host the actor is loaded again and the message is computed again', async (t) => {
  const store = new MemoryStore();
  const one = createTestRuntime({ store });
  const other = createTestRuntime({ store });
  await one.system.create(T1, null);
  await other.system.send(T1, { type: 'ADD', what: 'other' });
  const outcome = await one.system.send(T1, { type: 'ADD', what: 'one' });
  t.true(outcome.accepted && outcome.revision === 3);
  t.deepEqual((await other.system.read(T1))?.context.heard, ['other'], 'its copy is as old as its last step');
  await Promise.all(
    [one, other].flatMap(({ system }) => [1, 2, 3].map(() => system.send(T1, { type: 'ADD' }))),
  );
  t.is((await one.store.load(T1))?.revision, 9);
});

test('an exception in a step changes nothing and the actor continues', async (t) => {
  const { system, logged } = createTestRuntime();
  await system.create(T1, null);
  await system.send(T1, { type: 'ADD' });
  await t.throwsAsync(system.send(T1, { type: 'THROW' }), { message: /on purpose/ });
  t.true(logged.some((line) => line.includes('on purpose')));
  const outcome = await system.send(T1, { type: 'ADD' });
  t.true(outcome.accepted && outcome.revision === 3);
});

test('an actor that throws too often is stopped and reported, other actors continue, and a restart starts it again', async (t) => {
  const { system, store, clock } = createTestRuntime();
  await system.create(T1, null);
  await system.create(T2, null);
  for (let n = 0; n < 5; n++) await t.throwsAsync(system.send(T1, { type: 'THROW' }));
  t.false((await system.read(T1))?.stopped);
  await t.throwsAsync(system.send(T1, { type: 'THROW' }));
  t.true((await system.read(T1))?.stopped);
  t.deepEqual((await store.load(T1))?.stopped, { at: clock.now(), error: 'this machine throws on purpose' });
  t.like(await system.send(T1, { type: 'ADD' }), { accepted: false, reason: 'stopped' });
  t.true((await system.send(T2, { type: 'ADD' })).accepted);
  t.true((await system.restart(T1)).accepted);
  t.true((await system.send(T1, { type: 'ADD' })).accepted);
  t.like(await system.restart(T1), { accepted: false, reason: 'not-accepted' });
});

test('exceptions over more than the window do not stop the actor', async (t) => {
  const { system, clock } = createTestRuntime();
  await system.create(T1, null);
  for (let n = 0; n < 20; n++) {
    await t.throwsAsync(system.send(T1, { type: 'THROW' }));
    clock.advance(12_001);
  }
  t.false((await system.read(T1))?.stopped);
});

test('a jump of the wall clock does not shorten the window', async (t) => {
  const { system, clock } = createTestRuntime();
  await system.create(T1, null);
  for (let n = 0; n < 6; n++) {
    await t.throwsAsync(system.send(T1, { type: 'THROW' }));
    clock.setWallClock(3_600_000);
  }
  t.true((await system.read(T1))?.stopped);
});

test('an effect without a handler is refused before it is stored', async (t) => {
  const { system, store } = createTestRuntime();
  await system.create(T1, null);
  await t.throwsAsync(system.send(T1, { type: 'UNKNOWN' }), { code: 'effect.unknown' });
  t.is((await store.load(T1))?.revision, 1);
});

test('a refusing store rejects the message, and the next message reads the stored actor', async (t) => {
  const store = new MemoryStore();
  let mode: 'fine' | 'refuse' | 'lose-answer' = 'fine';
  const flaky: ActorStore = Object.create(store, {
    commit: {
      value: async (step: Step) => {
        if (mode === 'refuse') throw new Error('disk full');
        const committed = await store.commit(step);
        if (mode === 'lose-answer') throw new Error('the answer was lost');
        return committed;
      },
    },
    load: { value: store.load.bind(store) },
  });
  const { system } = createTestRuntime({ store: flaky });
  await system.create(T1, null);
  mode = 'refuse';
  await t.throwsAsync(system.send(T1, { type: 'ADD' }), { message: 'disk full' });
  mode = 'lose-answer';
  await t.throwsAsync(system.send(T1, { type: 'ADD' }), { message: /lost/ });
  mode = 'fine';
  const outcome = await system.send(T1, { type: 'ADD' });
  t.true(outcome.accepted && outcome.revision === 3);
  t.is((await system.read(T1))?.context.count, 2);
});

test('an observer sees each committed step before the sender is answered', async (t) => {
  const { system, committed } = createTestRuntime();
  let answered = false;
  const seen = committed((step) => step.actor.revision === 2).then(() => t.false(answered));
  await system.create(T1, null);
  await system.send(T1, { type: 'ADD' });
  answered = true;
  await seen;
});

test('many actors with a cache of two all get their answers', async (t) => {
  const folder = folderFor(t);
  const store = openLmdbStore({ folder });
  t.teardown(() => store.close());
  const { system } = createTestRuntime({ store, cachedActors: 2 });
  const actors = Array.from({ length: 30 }, (_, n) => ({ kind: 'tally', id: `${n}` }));
  await Promise.all(actors.map((actor) => system.create(actor, null)));
  for (let round = 0; round < 3; round++)
    await Promise.all(actors.map((actor) => system.send(actor, { type: 'ADD' })));
  for (const actor of actors) t.like(await system.read(actor), { revision: 4, context: { count: 3 } });
  t.deepEqual(await store.counters('tally.'), { 'tally.count': 90 });
});

test('malformed messages are refused with an error that names what is wrong, and count against no actor', async (t) => {
  const { system, logged } = createTestRuntime();
  await system.create(T1, null);
  const events: readonly (readonly [event: unknown, message: RegExp])[] = [
    [{}, /The `type` of an event is a text, not undefined/],
    [{ type: 7 }, /The `type` of an event is a text, not number 7/],
    [undefined, /An event is an object, not undefined/],
    [{ type: 'ADD', what: new Date(0) }, /event "ADD"\.what is a Date/],
  ];
  for (const [event, message] of events)
    for (let n = 0; n < 7; n++)
      await t.throwsAsync(system.send(T1, event as { type: string }), { code: 'message.malformed', message });
  for (const id of [7, 'x'.repeat(401)])
    await t.throwsAsync(system.send(T1, { type: 'ADD' }, { id: id as string }), {
      code: 'message.malformed',
    });
  t.deepEqual(logged, []);
  t.true((await system.send(T1, { type: 'ADD', what: 'x' }, { id: 'x'.repeat(400) })).accepted);
});

test('ids of actors that are no text, or too long, are refused in creations, messages and reads', async (t) => {
  const { system, store } = createTestRuntime();
  const long = { kind: 'tally', id: 'x'.repeat(401) };
  for (const address of [{ kind: 'tally', id: 7 }, { kind: 'tally' }, undefined, long]) {
    const given = address as typeof T1;
    const refused = { code: 'actor.address-malformed' };
    await t.throwsAsync(system.create(given, null), refused);
    await t.throwsAsync(system.send(given, { type: 'ADD' }), refused);
    await t.throwsAsync(system.read(given), refused);
  }
  t.deepEqual(await store.actors({ kind: 'tally', limit: 9 }), []);
  t.true((await system.create({ kind: 'tally', id: 'x'.repeat(400) }, null)).accepted);
});

test('a reader cannot change what is stored, whether the actor comes from a step or from the store', async (t) => {
  const store = new MemoryStore();
  for (const round of [1, 2]) {
    const { system } = createTestRuntime({ store });
    await system.create(T1, null);
    const sent = await system.send(T1, { type: 'ADD', what: `${round}` });
    const refused = await system.send(T1, { type: 'WAKE' });
    for (const outcome of [sent, refused]) {
      if (!('actor' in outcome)) throw new Error(outcome.reason);
      const { heard } = outcome.actor.context;
      t.throws(() => heard.push('forged'), { instanceOf: TypeError });
    }
    const read = (await system.read(T1))?.context;
    t.throws(() => read.heard.push('forged'), { instanceOf: TypeError });
  }
  const { system } = createTestRuntime({ store });
  t.deepEqual((await system.read(T1))?.context.heard, ['1', '2']);
});

test('a message to another actor without a type or a valid receiver is refused in the step that asks for it', async (t) => {
  const { system, store } = createTestRuntime();
  await system.create(T1, null);
  for (const [to, event] of [
    [T2, {}],
    [T2, undefined],
    [{ kind: 'tally', id: 7 }, { type: 'ADD' }],
    [undefined, { type: 'ADD' }],
  ])
    await t.throwsAsync(system.send(T1, { type: 'SEND', to, event }), { code: 'step.malformed-action' });
  t.deepEqual(await store.pendingEffects(T1), []);
});
