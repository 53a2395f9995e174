/** The actor of the crash proof: it counts what it asked for and what came back, in every place a step writes to. */
import { assign, setup } from 'xstate';
import type { ActorDefinition } from '../../runtime/index.ts';

export interface LedgerContext {
  readonly asked: number;
  /** Numbers of the outcomes taken, in the order they came. */
  readonly done: readonly number[];
  readonly rested: number;
}

type LedgerEvent = { type: 'ASK' | 'REST'; at: number } | { type: 'WORKED'; n: number; at: number };

const machine = setup({
  types: { context: {} as LedgerContext, events: {} as LedgerEvent },
  actions: { effect: (_, _params: object) => {}, note: (_, _params: object) => {} },
}).createMachine({
  id: 'ledger',
  context: { asked: 0, done: [], rested: 0 },
  initial: 'idle',
  states: {
    idle: {},
    resting: {
      after: { 15: { target: 'idle', actions: assign({ rested: ({ context }) => context.rested + 1 }) } },
    },
  },
  on: {
    ASK: {
      target: '.resting',
      reenter: true,
      actions: [
        { type: 'effect', params: ({ context }) => ({ do: 'work', n: context.asked }) },
        assign({ asked: ({ context }) => context.asked + 1 }),
        { type: 'note', params: { message: 'asked' } },
      ],
    },
    WORKED: {
      actions: [
        assign({
          done: ({ context, event }) => (event.type === 'WORKED' ? [...context.done, event.n] : context.done),
        }),
        { type: 'note', params: { message: 'worked' } },
      ],
    },
  },
});

export const ledger: ActorDefinition = {
  kind: 'ledger',
  machine,
  version: 1,
  rows: ({ id, context }) => [
    { view: 'ledger', key: [id], value: { asked: context.asked, worked: context.done.length } },
  ],
  counters: ({ context }) => ({ asked: context.asked, worked: context.done.length }),
};

/** Actors the proof uses. */
export const LEDGERS = Array.from({ length: 12 }, (_, n) => ({ kind: 'ledger', id: `l${n}` }));
