/**
 * Machines made by dice, and a second reading of them that shares nothing with XState: `replay` walks the same chart
 * over what an actor says it heard, and tells what must be stored.
 */

import type { ActorDefinition, Json } from '@sealwright/runtime';
import { dropEffects, note } from '@sealwright/runtime/actions';
import { type AnyStateMachine, assign, setup } from 'xstate';
import { anyEffect } from '../any-effect.ts';

export type Act =
  | { readonly act: 'work'; readonly how: 'plain' | 'flaky' | 'doomed' | 'partitioned' }
  | { readonly act: 'spawn' | 'note' | 'drop' | 'throw' }
  | { readonly act: 'tell'; readonly peer: number };

interface Arrow {
  /** Undefined: the state stays. */
  readonly target: string | undefined;
  readonly reenter: boolean;
  /** Taken only when the number of received events is a multiple of it. */
  readonly every: number;
  readonly acts: readonly Act[];
}

interface ChartState {
  readonly on: { readonly [event: string]: Arrow };
  readonly after: readonly { readonly delay: number; readonly arrow: Arrow }[];
  /** Unique name held in this state. */
  readonly name: string | undefined;
}

export interface Chart {
  readonly kind: string;
  readonly states: { readonly [name: string]: ChartState };
}

/** One event that was taken: its type, what it carries, and when. */
export type Heard = readonly [type: string, what: string, at: number];

export interface RandomContext {
  readonly heard: readonly Heard[];
  /** Effects asked for so far. */
  readonly asked: number;
}

export const EVENTS = ['E0', 'E1', 'E2', 'E3'] as const;
/** Outcomes of effects, and messages of others; every state takes them. */
const ALWAYS = ['DONE', 'GAVE_UP', 'SPAWNED', 'HEAR'] as const;
export const PEERS = 5;
export const KINDS = 3;
export const NAMES = ['red', 'blue'] as const;

export type Roll = (limit: number) => number;

function pick<T>(roll: Roll, from: readonly T[]): T {
  return from[roll(from.length)] as T;
}

function randomAct(roll: Roll): Act {
  const kind = roll(12);
  if (kind < 5) return { act: 'work', how: pick(roll, ['plain', 'flaky', 'doomed', 'partitioned'] as const) };
  if (kind < 7) return { act: 'tell', peer: roll(PEERS) };
  if (kind < 8) return { act: 'drop' };
  if (kind < 9) return { act: 'spawn' };
  return { act: roll(8) === 0 ? 'throw' : 'note' };
}

export function randomChart(kind: string, roll: Roll): Chart {
  const names = Array.from({ length: 2 + roll(4) }, (_, n) => `s${n}`);
  const arrow = (): Arrow => ({
    target: roll(3) === 0 ? undefined : pick(roll, names),
    reenter: roll(2) === 0,
    every: roll(4) === 0 ? 2 : 1,
    acts: Array.from({ length: roll(3) }, () => randomAct(roll)),
  });
  const state = (first: boolean): ChartState => ({
    on: Object.fromEntries(EVENTS.filter(() => roll(4) > 0).map((event) => [event, arrow()])),
    // None where a machine begins: nobody needs to know when that was.
    after: [100, 2_000, 90_000]
      .filter(() => !first && roll(4) === 0)
      .map((delay) => ({ delay, arrow: { ...arrow(), every: 1 } })),
    name: !first && roll(4) === 0 ? pick(roll, NAMES) : undefined,
  });
  return { kind, states: Object.fromEntries(names.map((name, n) => [name, state(n === 0)])) };
}

/** The actors that live from the start; each kind has some. */
export function peerOf(peer: number): { readonly kind: string; readonly id: string } {
  return { kind: `k${peer % KINDS}`, id: `a${peer}` };
}

/** Everything the `n`-th effect of an actor is asked to be. */
function effectOf(act: Act, n: number): { readonly do: string; readonly [field: string]: Json } | undefined {
  switch (act.act) {
    case 'work':
      return { do: act.how, n };
    case 'spawn':
      return { do: 'spawn', n };
    case 'tell':
      return { do: 'tell', to: peerOf(act.peer), event: { type: 'HEAR' } };
    default:
      return undefined;
  }
}

function machineOf(chart: Chart): AnyStateMachine {
  const made = setup({
    types: {
      context: {} as RandomContext,
      events: {} as { type: string; what?: string; at: number },
    },
    actions: {
      effect: anyEffect,
      note,
      dropEffects,
      hear: assign({
        heard: ({ context, event }): readonly Heard[] => [
          ...context.heard,
          [event.type, event.what ?? '', event.at],
        ],
      }),
      asked: assign({ asked: ({ context }) => context.asked + 1 }),
      fail: assign(() => {
        throw new Error('this machine throws on purpose');
      }),
    },
    guards: {
      every: ({ context }, { n }: { n: number }) => context.heard.length % n === 0,
    },
  });
  const actsOf = (acts: readonly Act[]) =>
    acts.flatMap((act): object[] => {
      if (act.act === 'note') return [{ type: 'note', params: { message: 'noted' } }];
      if (act.act === 'drop') return [{ type: 'dropEffects' }];
      if (act.act === 'throw') return [{ type: 'fail' }];
      const params = ({ context }: { context: RandomContext }) => effectOf(act, context.asked);
      return [{ type: 'effect', params }, { type: 'asked' }];
    });
  const transition = ({ target, reenter, every, acts }: Arrow) => ({
    ...(target !== undefined && { target, reenter }),
    ...(every > 1 && { guard: { type: 'every', params: { n: every } } }),
    actions: ['hear', ...actsOf(acts)],
  });
  const states = Object.entries(chart.states).map(([name, { on, after }]) => [
    name,
    {
      on: Object.fromEntries(Object.entries(on).map(([event, arrow]) => [event, transition(arrow)])),
      after: Object.fromEntries(after.map(({ delay, arrow }) => [delay, transition(arrow)])),
    },
  ]);
  const config = {
    id: chart.kind,
    context: { heard: [], asked: 0 },
    initial: 's0',
    states: Object.fromEntries(states),
    on: Object.fromEntries(ALWAYS.map((event) => [event, { actions: 'hear' }])),
  };
  return made.createMachine(config as Parameters<typeof made.createMachine>[0]);
}

export function definitionOf(chart: Chart): ActorDefinition {
  return {
    kind: chart.kind,
    machine: machineOf(chart),
    version: 1,
    rows: ({ id, state, context }) => [
      { view: 'random', key: [chart.kind, state, id], value: (context as RandomContext).heard.length },
    ],
    names: ({ state }) => (chart.states[state]?.name === undefined ? [] : [chart.states[state].name]),
    counters: ({ context }) => ({ heard: (context as RandomContext).heard.length }),
  };
}

/** Everything that must be stored of an actor after these events. */
export interface Expected {
  readonly state: string;
  readonly asked: number;
  readonly timers: readonly number[];
  readonly notes: number;
  readonly name: string | undefined;
  /** Effects asked for, by number: their `do`. */
  readonly effects: ReadonlyMap<number, string>;
  /** Those that were dropped, if they were still pending. */
  readonly dropped: ReadonlySet<number>;
  /** Messages to be sent, by the id of their receiver; of these, how many may have been dropped. */
  readonly sentMessages: ReadonlyMap<string, { readonly all: number; readonly dropped: number }>;
  /** Number of received outcomes by the number of their effect. */
  readonly outcomes: ReadonlyMap<number, number>;
}

/** Throws an Error that says what cannot have happened. */
export function replay(chart: Chart, heard: readonly Heard[]): Expected {
  let state = 's0';
  let timers = new Map<number, number>();
  let notes = 0;
  let asked = 0;
  const effects = new Map<number, string>();
  const dropped = new Set<number>();
  const outcomes = new Map<number, number>();
  const receivers = new Map<number, string>();
  const at = (name: string): ChartState => {
    const found = chart.states[name];
    if (found === undefined) throw new Error(`there is no state ${name}`);
    return found;
  };
  const enter = (name: string, now: number): void => {
    state = name;
    timers = new Map(at(name).after.map(({ delay }) => [delay, now + delay]));
  };
  enter('s0', 0);
  for (const [before, [type, what, now]] of heard.entries()) {
    if ((ALWAYS as readonly string[]).includes(type)) {
      if (type !== 'HEAR') outcomes.set(Number(what), (outcomes.get(Number(what)) ?? 0) + 1);
      continue;
    }
    const [, delay] = /^xstate\.after\.(\d+)\./.exec(type) ?? [];
    const arrow =
      delay === undefined
        ? at(state).on[type]
        : at(state).after.find((one) => one.delay === Number(delay))?.arrow;
    if (arrow === undefined) throw new Error(`${state} does not take ${type}`);
    if (before % arrow.every !== 0) throw new Error(`${state} does not take ${type} as number ${before}`);
    if (delay !== undefined) {
      const due = timers.get(Number(delay));
      if (due === undefined || due > now)
        throw new Error(`the deadline of ${delay} ms fired at ${now}, not ${due}`);
      timers.delete(Number(delay));
    }
    for (const act of arrow.acts) {
      if (act.act === 'throw') throw new Error(`${state} throws at ${type}`);
      if (act.act === 'note') notes += 1;
      // Only what earlier steps asked for is dropped: the effects of this one are added after.
      if (act.act === 'drop') for (const n of [...effects.keys()].filter((n) => n < asked)) dropped.add(n);
    }
    for (const act of arrow.acts) {
      const effect = effectOf(act, asked);
      if (effect === undefined) continue;
      effects.set(asked, effect.do);
      if (act.act === 'tell') receivers.set(asked, peerOf(act.peer).id);
      asked += 1;
    }
    if (arrow.target !== undefined && (arrow.target !== state || arrow.reenter)) enter(arrow.target, now);
  }
  const sentMessages = new Map<string, { all: number; dropped: number }>();
  for (const [n, id] of receivers) {
    const { all, dropped: gone } = sentMessages.get(id) ?? { all: 0, dropped: 0 };
    sentMessages.set(id, { all: all + 1, dropped: gone + (dropped.has(n) ? 1 : 0) });
  }
  return {
    state,
    asked,
    notes,
    dropped,
    effects,
    outcomes,
    sentMessages,
    timers: [...timers.values()],
    name: at(state).name,
  };
}
