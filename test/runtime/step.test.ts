/**
 * The step, and what it relies on in XState. A test here that fails after an upgrade of XState says that stored
 * actors would behave differently: read its change log before touching the test.
 */

import { declareEffect, dropEffects, note } from '@sealwright/runtime/actions';
import { lineHash } from '@sealwright/runtime/history';
import test from 'ava';
import {
  and,
  assign,
  cancel,
  emit,
  enqueueActions,
  not,
  raise,
  sendTo,
  setup,
  spawnChild,
  stateIn,
} from 'xstate';
import type { ActorDefinition } from '#runtime/model/definition.js';
import { assertStorable } from '#runtime/model/machine-shape.js';
import { type Json, MAX_CONSUMED_IDS, type Step, type StoredActor } from '#runtime/model/ports.js';
import { firstStep, nextStep } from '#runtime/step/step.js';
import { stepOfText, stepText } from '#runtime/store/lmdb/lmdb-tables.js';
import { anyEffect } from './any-effect.ts';

interface Context {
  readonly size: number;
  readonly path: string;
}
type Event =
  | {
      type:
        | 'CLAIM'
        | 'DONE'
        | 'BACK'
        | 'LOOK'
        | 'NOTHING'
        | 'RAISE'
        | 'DROP'
        | 'FREE'
        | 'LATER'
        | 'NEVER'
        | 'AGAIN'
        | 'TWICE';
      at: number;
    }
  | { type: 'GROW'; by: number; at: number }
  | { type: 'FAIL'; at: number };

const machine = setup({
  types: { context: {} as Context, input: {} as Context, events: {} as Event },
  actions: { effect: anyEffect, note, dropEffects },
  guards: { small: ({ context }) => context.size < 3 },
}).createMachine({
  id: 'job',
  context: ({ input }) => input,
  initial: 'Queued',
  entry: { type: 'note', params: { message: 'born' } },
  states: {
    Queued: {
      on: {
        CLAIM: {
          target: 'Busy',
          actions: { type: 'note', params: ({ context }) => ({ message: `claimed ${context.path}` }) },
        },
        GROW: { guard: 'small', actions: assign({ size: ({ context, event }) => context.size + event.by }) },
        LOOK: { actions: { type: 'effect', params: ({ context }) => ({ do: 'look', size: context.size }) } },
        NOTHING: {},
        RAISE: { actions: raise({ type: 'CLAIM', at: 0 }) },
        FAIL: {
          actions: () => {
            throw new Error('never runs: actions are collected, not called');
          },
        },
        LATER: { actions: raise({ type: 'CLAIM', at: 0 }, { id: 'later', delay: 700 }) },
        NEVER: { actions: cancel('later') },
        TWICE: { actions: [1, 2].map((n) => raise({ type: 'GROW', by: n, at: 0 }, { delay: n * 100 })) },
      },
      after: { 5000: 'Gone' },
    },
    Busy: {
      initial: 'Signing',
      entry: [
        { type: 'effect', params: { do: 'sign' } },
        { type: 'effect', params: { do: 'log' } },
      ],
      after: { 60000: { target: 'Queued', actions: { type: 'note', params: { message: 'took too long' } } } },
      states: {
        Signing: { on: { DONE: 'Verifying' }, after: { 100: 'Verifying' } },
        Verifying: { on: { DONE: '#job.Gone' } },
      },
      on: {
        BACK: { target: 'Queued', actions: { type: 'dropEffects' } },
        AGAIN: { target: 'Busy', reenter: true },
      },
    },
    Gone: { type: 'final' },
  },
});

const job: ActorDefinition = {
  kind: 'job',
  machine,
  version: 3,
  rows: ({ id, state, context }) => [
    { view: 'all', key: [id], value: { state } },
    { view: 'size', key: [context.size, id], value: 0 },
  ],
  names: ({ state, context }) => (state === 'Gone' ? [] : [`path:${context.path}`]),
  counters: ({ state }) => ({ [`jobs.${state.split('.')[0]}`]: 1, jobs: 1 }),
};

const ADDRESS = { kind: 'job', id: 'j1' };

function born(input: Json = { size: 1, path: '/a' }): StoredActor {
  return firstStep(job, ADDRESS, input, { now: 1000 }).actor;
}

/** Everything a store would give back. */
function stored(actor: StoredActor): StoredActor {
  return JSON.parse(JSON.stringify(actor)) as StoredActor;
}

function afterMessage(actor: StoredActor, type: string, now = 2000, more: object = {}) {
  return nextStep(job, stored(actor), { type, at: now, ...more }, { now });
}

test('two delayed events of one type without an id are both kept, and each is told', (t) => {
  let actor = born();
  const armed: Step['timers']['arm'][number][] = [];
  for (const [now, size] of [
    [2000, 1],
    [2100, 2],
    [2200, 4],
  ] as const) {
    const timer = now === 2000 ? undefined : armed.find(({ due }) => due === now);
    const event = timer?.event ?? { type: 'TWICE' };
    const step = nextStep(job, stored(actor), { ...event, at: now }, { now, ...(timer && { timer }) });
    actor = step?.actor ?? actor;
    if (timer === undefined) armed.push(...(step?.timers.arm ?? []));
    t.like(actor.context, { size });
  }
  t.deepEqual(
    armed.map(({ name, due }) => [name, due]),
    [
      ['GROW', 2100],
      ['GROW 2', 2200],
    ],
  );
  t.deepEqual(Object.keys(actor.timers), ['xstate.after.5000.job.Queued']);
});

test('a new actor has the initial state with its history, rows, names, counters and deadlines', (t) => {
  const step = firstStep(job, ADDRESS, { size: 1, path: '/a' }, { now: 1000 });
  t.deepEqual(step.actor, {
    address: ADDRESS,
    revision: 1,
    version: 3,
    state: 'Queued',
    context: { size: 1, path: '/a' },
    timers: { 'xstate.after.5000.job.Queued': 6000 },
    consumed: [],
    journalLength: 1,
    journalHash: step.journal[0]?.hash ?? '',
    stopped: null,
  });
  t.is(step.basedOn, 0);
  const born = { id: 1, at: 1000, state: 'Queued', message: 'born', cause: 'CREATE' };
  t.deepEqual(step.journal, [{ ...born, hash: lineHash('', ADDRESS, born) }]);
  t.deepEqual(step.timers, {
    arm: [
      { name: 'xstate.after.5000.job.Queued', due: 6000, event: { type: 'xstate.after.5000.job.Queued' } },
    ],
    disarm: [],
  });
  t.deepEqual(
    step.rows.put.map((row) => row.view),
    ['all', 'size'],
  );
  t.deepEqual(step.names, { take: ['path:/a'], release: [] });
  t.deepEqual(step.counters, { 'jobs.Queued': 1, jobs: 1 });
  t.deepEqual(step.moved, { from: null, to: '3/Queued' });
});

test('a transition returns state, journal, keyed effects, and the changes of rows and counters', (t) => {
  const step = afterMessage(born(), 'CLAIM');
  t.is(step?.actor.state, 'Busy.Signing');
  t.is(step?.actor.revision, 2);
  t.is(step?.basedOn, 1);
  const claimed = { id: 2, at: 2000, state: 'Busy.Signing', message: 'claimed /a', cause: 'CLAIM' };
  const hash = lineHash(born().journalHash ?? '', ADDRESS, claimed);
  t.deepEqual(step?.journal, [{ ...claimed, hash }]);
  t.deepEqual(
    step?.effects.map(({ key, effect, dueAt }) => ({ key, effect, dueAt })),
    [
      { key: 'job/j1/2/0', effect: { do: 'sign' }, dueAt: 2000 },
      { key: 'job/j1/2/1', effect: { do: 'log' }, dueAt: 2000 },
    ],
  );
  t.deepEqual(step?.rows, {
    put: [{ view: 'all', key: ['j1'], value: { state: 'Busy.Signing' } }],
    remove: [],
  });
  t.deepEqual(step?.names, { take: [], release: [] });
  t.deepEqual(step?.counters, { 'jobs.Busy': 1, 'jobs.Queued': -1 });
  t.deepEqual(step?.moved, {
    from: '3/Queued',
    to: '3/Busy.Signing',
  });
});

test('leaving a state disarms its deadlines and entering one arms its own', (t) => {
  const claimed = afterMessage(born(), 'CLAIM');
  t.deepEqual(claimed?.timers.disarm, [{ name: 'xstate.after.5000.job.Queued', due: 6000 }]);
  t.deepEqual(claimed?.actor.timers, {
    'xstate.after.60000.job.Busy': 62000,
    'xstate.after.100.job.Busy.Signing': 2100,
  });
  const verifying = claimed && afterMessage(claimed.actor, 'DONE', 2050);
  t.deepEqual(verifying?.timers, {
    arm: [],
    disarm: [{ name: 'xstate.after.100.job.Busy.Signing', due: 2100 }],
  });
  const gone = verifying && afterMessage(verifying.actor, 'DONE', 2060);
  t.is(gone?.actor.state, 'Gone');
  t.deepEqual(gone?.actor.timers, {});
  t.deepEqual(gone?.names, { take: [], release: ['path:/a'] });
});

test('re-entering a state restarts its deadlines', (t) => {
  const claimed = afterMessage(born(), 'CLAIM');
  const again = claimed && afterMessage(claimed.actor, 'AGAIN', 3000);
  t.is(again?.actor.timers['xstate.after.60000.job.Busy'], 63000);
  t.deepEqual(again?.timers.disarm.map(({ due }) => due).sort(), [2100, 62000]);
  t.deepEqual(again?.timers.arm.map(({ due }) => due).sort(), [3100, 63000]);
});

test('a fired deadline is removed by its own step', (t) => {
  const claimed = afterMessage(born(), 'CLAIM');
  const name = 'xstate.after.100.job.Busy.Signing';
  const fired =
    claimed &&
    nextStep(job, stored(claimed.actor), { type: name, at: 2100 }, { now: 2100, timer: { name, due: 2100 } });
  t.is(fired?.actor.state, 'Busy.Verifying');
  t.deepEqual(fired?.timers, { arm: [], disarm: [{ name, due: 2100 }] });
});

test('a delayed raise becomes a deadline and cancel removes it', (t) => {
  const armed = afterMessage(born(), 'LATER');
  t.deepEqual(armed?.timers, {
    arm: [{ name: 'later', due: 2700, event: { type: 'CLAIM', at: 0 } }],
    disarm: [],
  });
  const cancelled = armed && afterMessage(armed.actor, 'NEVER', 2100);
  t.deepEqual(cancelled?.timers, { arm: [], disarm: [{ name: 'later', due: 2700 }] });
  const moved = armed && afterMessage(armed.actor, 'LATER', 2200);
  t.deepEqual(moved?.timers.disarm, [{ name: 'later', due: 2700 }]);
  t.is(moved?.timers.arm[0]?.due, 2900);
});

test('an event without a transition is not accepted', (t) => {
  const actor = born();
  t.is(afterMessage(actor, 'DONE'), undefined, 'not in this state');
  t.is(afterMessage(actor, 'WHO_KNOWS'), undefined, 'not in any state');
  t.is(afterMessage(actor, 'NOTHING'), undefined, 'forbidden on purpose');
  t.is(afterMessage(born({ size: 3, path: '/a' }), 'GROW', 2000, { by: 1 }), undefined, 'the guard says no');
});

test('a transition that only acts, or only assigns, or only raises, is accepted', (t) => {
  const looked = afterMessage(born(), 'LOOK');
  t.deepEqual(
    looked?.effects.map(({ effect }) => effect),
    [{ do: 'look', size: 1 }],
  );
  t.deepEqual(looked?.rows, { put: [], remove: [] });
  const grown = afterMessage(born(), 'GROW', 2000, { by: 1 });
  t.deepEqual(grown?.actor.context, { size: 2, path: '/a' });
  t.deepEqual(grown?.rows.remove, [{ view: 'size', key: [1, 'j1'] }]);
  t.deepEqual(grown?.rows.put, [{ view: 'size', key: [2, 'j1'], value: 0 }]);
  t.is(afterMessage(born(), 'RAISE')?.actor.state, 'Busy.Signing');
});

test('a machine in a final state accepts no event', (t) => {
  const actor: StoredActor = { ...born(), state: 'Gone' };
  for (const type of ['CLAIM', 'DONE', 'BACK', 'xstate.after.5000.job.Queued'])
    t.is(afterMessage(actor, type), undefined);
});

test('dropped effects are part of the requesting step', (t) => {
  const claimed = afterMessage(born(), 'CLAIM');
  const back = claimed && afterMessage(claimed.actor, 'BACK');
  t.true(back?.dropsEffects);
  t.false(claimed?.dropsEffects);
});

test('a consumed message is recorded, and the oldest record is dropped', (t) => {
  let actor = born();
  for (let n = 0; n < MAX_CONSUMED_IDS + 5; n++) {
    const step = nextStep(job, stored(actor), { type: 'LOOK', at: n }, { now: n, messageId: `m${n}` });
    if (step === undefined) throw new Error('not accepted');
    actor = step.actor;
  }
  t.is(actor.consumed.length, MAX_CONSUMED_IDS);
  t.is(actor.consumed[0], 'm5');
  t.is(actor.consumed.at(-1), `m${MAX_CONSUMED_IDS + 4}`);
});

test('a step never changes the stored actor', (t) => {
  const actor = stored(born());
  const frozen = JSON.stringify(actor);
  Object.freeze(actor.context);
  Object.freeze(actor.timers);
  nextStep(job, Object.freeze(actor), { type: 'GROW', by: 1, at: 1 }, { now: 1 });
  nextStep(job, actor, { type: 'CLAIM', at: 1 }, { now: 1 });
  t.is(JSON.stringify(actor), frozen);
});

test('the same step computed twice has the same result', (t) => {
  const actor = born();
  t.deepEqual(afterMessage(actor, 'CLAIM'), afterMessage(actor, 'CLAIM'));
});

test('an actor stored by another version of its machine is refused', (t) => {
  t.throws(() => afterMessage({ ...born(), version: 2 }, 'CLAIM'), { code: 'step.version' });
});

test('internal events of XState are refused', (t) => {
  for (const type of ['xstate.init', 'xstate.stop', 'xstate.error.actor.x', 'xstate.done.state.job']) {
    t.throws(() => afterMessage(born(), type), { code: 'step.reserved-event' }, type);
  }
});

test('a value that cannot be stored is refused with its path', (t) => {
  const bad = setup({
    types: { events: {} as { type: string } },
    actions: { work: declareEffect('work').action, note, custom: () => {} },
    actors: { child: machine },
    delays: { endless: () => Number.POSITIVE_INFINITY },
  }).createMachine({
    initial: 'a',
    states: {
      a: {
        on: {
          UNKNOWN: { actions: 'custom' },
          INLINE: { actions: () => {} },
          SEND: { actions: sendTo('someone', { type: 'x' }) },
          SPAWN: { actions: spawnChild('child', { input: { size: 1, path: '' } }) },
          EFFECT: { actions: { type: 'work', params: { do: 'other' } as never } },
          NOTE: { actions: { type: 'note', params: {} as never } },
          ENDLESS: { actions: raise({ type: 'x' }, { delay: 'endless' }) },
        },
      },
    },
  });
  const definition: ActorDefinition = { kind: 'bad', machine: bad, version: 1 };
  const actor = firstStep(definition, { kind: 'bad', id: '1' }, null, { now: 0 }).actor;
  const codeOf = (type: string): unknown => {
    try {
      nextStep(definition, actor, { type }, { now: 0 });
      return 'accepted';
    } catch (error) {
      return (error as { code?: unknown }).code ?? 'threw';
    }
  };
  for (const type of ['UNKNOWN', 'INLINE']) t.is(codeOf(type), 'step.unknown-action', type);
  for (const type of ['EFFECT', 'NOTE', 'ENDLESS']) t.is(codeOf(type), 'step.malformed-action', type);
  for (const type of ['SEND', 'SPAWN'])
    t.is(codeOf(type), 'threw', `${type}: XState finds no living actors here`);
});

test('an emitted event is part of the step, reaches other threads, and is not stored with the actor', (t) => {
  const emitting = setup({
    types: { events: {} as { type: 'DO' | 'REST' }, emitted: {} as { type: 'done'; times: number } },
  }).createMachine({
    initial: 'a',
    states: { a: { on: { DO: { target: 'b', actions: emit({ type: 'done', times: 2 }) } } }, b: {} },
  });
  const definition: ActorDefinition = { kind: 'emitting', machine: emitting, version: 1 };
  const created = firstStep(definition, { kind: 'emitting', id: '1' }, null, { now: 0 });
  t.is(created.events, undefined);
  const step = nextStep(definition, created.actor, { type: 'DO' }, { now: 0 });
  t.deepEqual(step?.events, [{ type: 'done', times: 2 }]);
  t.false(JSON.stringify(step?.actor).includes('done'));
  t.deepEqual(step && stepOfText(stepText(step)).events, step?.events);
});

test('a step rethrows the error of its machine', (t) => {
  const throwing = setup({ types: { input: {} as number } }).createMachine({
    context: ({ input }) => {
      if (input === 1) throw new Error('no context');
      return {};
    },
    on: {
      X: {
        guard: () => {
          throw new Error('no guard');
        },
      },
      Y: {
        actions: assign(() => {
          throw new Error('no assign');
        }),
      },
    },
  });
  const definition: ActorDefinition = { kind: 'x', machine: throwing, version: 1 };
  const address = { kind: 'x', id: '1' };
  t.throws(() => firstStep(definition, address, 1, { now: 0 }), { message: 'no context' });
  const actor = firstStep(definition, address, 2, { now: 0 }).actor;
  t.is(actor.state, '');
  t.throws(() => nextStep(definition, actor, { type: 'X' }, { now: 0 }), { message: /no guard/ });
  t.throws(() => nextStep(definition, actor, { type: 'Y' }, { now: 0 }), { message: 'no assign' });
  t.is(nextStep(definition, actor, { type: 'Z' }, { now: 0 }), undefined, 'a throw leaves nothing behind');
});

test('guards read states, and enqueued actions are collected', (t) => {
  const rich = setup({
    types: { events: {} as { type: 'GO' | 'SEE' } },
    actions: { note },
    guards: { inB: stateIn('b'), notB: not('inB'), both: and(['inB', 'inB']) },
  }).createMachine({
    initial: 'a',
    states: {
      a: { always: [{ guard: 'inB', target: 'b' }], on: { GO: { guard: 'notB', target: 'b' } } },
      b: {
        on: {
          SEE: {
            guard: 'both',
            actions: enqueueActions(({ enqueue }) => {
              enqueue({ type: 'note', params: { message: 'one' } });
              enqueue({ type: 'note', params: { message: 'two' } });
            }),
          },
        },
      },
    },
  });
  const definition: ActorDefinition = { kind: 'rich', machine: rich, version: 1 };
  const first = firstStep(definition, { kind: 'rich', id: '1' }, null, { now: 0 }).actor;
  const second = nextStep(definition, first, { type: 'GO' }, { now: 0 })?.actor;
  t.is(second?.state, 'b');
  const seen = second && nextStep(definition, stored(second), { type: 'SEE' }, { now: 0 });
  t.deepEqual(
    seen?.journal.map(({ message }) => message),
    ['one', 'two'],
  );
});

test('machines with unsupported features are refused at the start', (t) => {
  const refused = (config: object) => {
    const definition: ActorDefinition = {
      kind: 'x',
      machine: setup({ actors: { child: machine } }).createMachine(config as never) as never,
      version: 1,
    };
    t.throws(() => assertStorable(definition), { code: 'machine.unsupported' });
  };
  refused({ type: 'parallel', states: { a: {}, b: {} } });
  refused({ initial: 'a', states: { a: { initial: 'b', states: { b: { invoke: { src: 'child' } } } } } });
  refused({ initial: 'a', states: { a: {}, h: { type: 'history' } } });
  refused({ initial: 'a.b', states: { 'a.b': {} } });
  // Its FAIL has a function, which no step would run.
  t.throws(() => assertStorable(job), { code: 'machine.unsupported' });
  t.notThrows(() => assertStorable(keeper));
});

/** Keeps any value, and leads through transitions without an event when asked to. */
const keeper: ActorDefinition = {
  kind: 'keeper',
  version: 1,
  machine: setup({
    types: { context: {} as { what: unknown }, events: {} as { type: string; at: number; what?: unknown } },
    actions: {
      effect: anyEffect,
      note,
      keep: assign({ what: ({ event }) => event.what }),
    },
  }).createMachine({
    context: { what: null },
    initial: 'Still',
    states: {
      Still: {
        on: {
          KEEP: { actions: 'keep' },
          ASK: { actions: { type: 'effect', params: ({ event }) => ({ do: 'work', what: event.what }) } },
          NOTE: {
            actions: {
              type: 'note',
              params: ({ event }) => ({ message: 'Noted.', data: { what: event.what } }) as never,
            },
          },
          EMIT: { actions: emit(({ event }) => ({ type: 'DONE', what: event.what })) },
          LATER: { actions: raise(({ event }) => ({ ...event, type: 'KEEP' }), { delay: 5 }) },
          TURN: 'Here',
          ECHO: { actions: raise({ type: 'ECHO', at: 0 }) },
        },
      },
      Here: { always: 'There' },
      There: { always: 'Here' },
    },
  }),
  // A row may be derived of a value that JSON keeps.
  rows: ({ context: { what } }) =>
    typeof what === 'number' ? [{ view: 'kept', key: [], value: { what: UNKEPT[what]?.[0] } as never }] : [],
};

const KEEPER = { kind: 'keeper', id: 'k' };

class Angle {
  readonly degrees = 90;
}

const UNKEPT: readonly (readonly [value: unknown, problem: string])[] = [
  [new Date(0), 'what is a Date'],
  [{ list: [1, { when: new Date(0) }] }, 'what.list[1].when is a Date'],
  [new Map(), 'what is a Map'],
  [new Set(), 'what is a Set'],
  [Number.NaN, 'what is NaN'],
  [{ most: Number.POSITIVE_INFINITY }, 'what.most is Infinity'],
  [[undefined], 'what[0] is undefined'],
  [Buffer.from('x'), 'what is a Buffer'],
  [new Uint8Array(2), 'what is a Uint8Array'],
  [new Angle(), 'what is a Angle'],
  [10n, 'what is a bigint'],
  [() => 1, 'what is a function'],
];

test('a part of a step with a value that JSON does not keep is refused with its path', (t) => {
  const made = firstStep(keeper, KEEPER, null, { now: 1 }).actor;
  for (const [row, [what, problem]] of UNKEPT.entries()) {
    const next = (type: string) => () => nextStep(keeper, made, { type, at: 2, what }, { now: 2 });
    const refused = (where: string) => ({
      code: 'step.not-json',
      message: `keeper cannot be stored: ${where}.${problem}.`,
    });
    t.throws(next('KEEP'), refused('context'));
    t.throws(next('ASK'), refused('effect "work"'));
    t.throws(next('LATER'), refused('event "KEEP"'));
    t.throws(next('NOTE'), refused('data of the journal line'));
    t.throws(next('EMIT'), refused('event "DONE"'));
    const ofRow = () => nextStep(keeper, made, { type: 'KEEP', at: 2, what: row }, { now: 2 });
    t.throws(ofRow, refused('row of "kept"'));
  }
  const round: { self?: unknown } = {};
  round.self = round;
  t.throws(() => nextStep(keeper, made, { type: 'KEEP', at: 2, what: round }, { now: 2 }), {
    code: 'step.not-json',
    message: /refers to itself/,
  });
  for (const what of [undefined, null, -1, '', { a: [true, { b: undefined }] }])
    t.truthy(nextStep(keeper, made, { type: 'KEEP', at: 2, what }, { now: 2 }));
});

test('a part of the context that changed is checked, one that did not is not walked again', (t) => {
  const made = firstStep(keeper, KEEPER, null, { now: 1 }).actor;
  const inner = { deep: { a: 1 } };
  const first = nextStep(keeper, made, { type: 'KEEP', at: 2, what: inner }, { now: 2 })?.actor;
  if (first === undefined) throw new Error('It was not accepted.');
  t.true(Object.isFrozen((first.context as unknown as { what: typeof inner }).what.deep));
  const next = (what: unknown) => nextStep(keeper, first, { type: 'KEEP', at: 3, what }, { now: 3 });
  t.truthy(next({ ...inner, more: 2 }));
  t.throws(() => next({ ...inner, more: new Date(0) }), { code: 'step.not-json' });
});

test('transitions without an event that have no end are refused, with kind, state and event', (t) => {
  const made = firstStep(keeper, KEEPER, null, { now: 1 }).actor;
  for (const type of ['TURN', 'ECHO'])
    t.throws(() => nextStep(keeper, made, { type, at: 2 }, { now: 2 }), {
      code: 'step.endless',
      message: new RegExp(`^keeper: the event "${type}" in the state "Still" leads through more than 1000 `),
    });
});
