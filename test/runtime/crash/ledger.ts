/** The actor of the crash proof: it counts what it asked for and what came back, in every place a step writes to. */

import type { ActorAddress, ActorDefinition } from '@sealwright/runtime';
import { dropEffects, note } from '@sealwright/runtime/actions';
import { assign, setup } from 'xstate';
import { anyEffect } from '../any-effect.ts';

/**
 * What a ledger may ask for: work that waits for the flush or does not, in partitions, that fails at first, that fails for
 * good, and a message to another actor.
 */
export const WORK_KINDS = ['call', 'quick', 'partitioned', 'flaky', 'doomed'] as const;
export const EFFECT_KINDS = [...WORK_KINDS, 'tell'] as const;
export type EffectKind = (typeof EFFECT_KINDS)[number];

export interface LedgerContext {
  /** Work asked for; it is numbered from 0. */
  readonly asked: number;
  /** Numbers of the work that is still to come back. */
  readonly open: readonly number[];
  readonly done: number;
  readonly failed: number;
  readonly dropped: number;
  /** Messages to be sent to others, and received from them. */
  readonly sent: number;
  readonly heard: number;
  readonly rested: number;
  /** Outcomes of work that is not open: taken twice, or made up. */
  readonly strange: number;
}

const EMPTY: LedgerContext = {
  asked: 0,
  open: [],
  done: 0,
  failed: 0,
  dropped: 0,
  sent: 0,
  heard: 0,
  rested: 0,
  strange: 0,
};

type LedgerEvent =
  | { type: 'ASK'; kind: EffectKind; to: ActorAddress; at: number }
  | { type: 'DROP' | 'HEAR'; at: number }
  | { type: 'WORKED' | 'GAVE_UP'; n: number; at: number };

function taken(context: LedgerContext, n: number, as: 'done' | 'failed'): Partial<LedgerContext> {
  if (!context.open.includes(n)) return { strange: context.strange + 1 };
  return { open: context.open.filter((other) => other !== n), [as]: context[as] + 1 };
}

const ledgerMachine = setup({
  types: { context: {} as LedgerContext, events: {} as LedgerEvent },
  actions: {
    effect: anyEffect,
    note,
    dropEffects,
    count: assign(({ context, event }) => {
      switch (event.type) {
        case 'ASK':
          if (event.kind === 'tell') return { sent: context.sent + 1 };
          return { asked: context.asked + 1, open: [...context.open, context.asked] };
        case 'WORKED':
          return taken(context, event.n, 'done');
        case 'GAVE_UP':
          return taken(context, event.n, 'failed');
        case 'HEAR':
          return { heard: context.heard + 1 };
        case 'DROP':
          return { open: [], dropped: context.dropped + context.open.length };
      }
    }),
  },
}).createMachine({
  id: 'ledger',
  context: EMPTY,
  initial: 'idle',
  states: {
    idle: {},
    resting: {
      after: { 10: { target: 'idle', actions: assign({ rested: ({ context }) => context.rested + 1 }) } },
    },
  },
  on: {
    ASK: {
      target: '.resting',
      reenter: true,
      actions: [
        {
          type: 'effect',
          params: ({ context, event }) =>
            event.kind === 'tell'
              ? { do: 'tell', to: event.to, event: { type: 'HEAR' } }
              : { do: event.kind, n: context.asked },
        },
        'count',
        { type: 'note', params: { message: 'asked' } },
      ],
    },
    WORKED: { actions: ['count', { type: 'note', params: { message: 'worked' } }] },
    GAVE_UP: { actions: ['count', { type: 'note', params: { message: 'gave up' } }] },
    HEAR: { actions: ['count', { type: 'note', params: { message: 'heard' } }] },
    DROP: { actions: ['dropEffects', 'count', { type: 'note', params: { message: 'dropped' } }] },
  },
});

/** Everything the ledgers count together, by the name of the counter. */
export function tallyOf(context: LedgerContext): { readonly [name: string]: number } {
  const { asked, done, failed, dropped, sent, heard, rested, strange } = context;
  return { asked, done, failed, dropped, sent, heard, rested, strange };
}

export const ledger: ActorDefinition = {
  kind: 'ledger',
  machine: ledgerMachine,
  version: 1,
  rows: ({ id, context }) => [{ view: 'ledger', key: [id], value: tallyOf(context) }],
  counters: ({ context }) => tallyOf(context),
};

/** Actors the proof uses. */
export const LEDGERS = Array.from({ length: 48 }, (_, n) => ({ kind: 'ledger', id: `l${n}` }));

/** True for those that drop now and then what they asked for; they tell nobody, so that no message is dropped. */
export function dropsWork({ id }: ActorAddress): boolean {
  return Number(id.slice(1)) % 4 === 0;
}
