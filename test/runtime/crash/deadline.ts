/** The actor of the proof of deadlines: it counts every ring, so that one too many shows. */

import type { ActorDefinition } from '@sealwright/runtime';
import { assign, cancel, raise, setup } from 'xstate';

export interface DeadlineContext {
  readonly delay: number;
  readonly rings: number;
  /** Earliest time at which it may ring, by the clock that armed it. */
  readonly due: number;
  /** True when a ring came before its time, or after it was cancelled. */
  readonly wrong: boolean;
}

const deadlineMachine = setup({
  types: {
    context: {} as DeadlineContext,
    events: {} as { type: 'RING' | 'CANCEL'; at?: number },
  },
  actions: {
    ring: assign(({ context, event }) => ({
      rings: context.rings + 1,
      wrong: context.wrong || (event.at ?? 0) < context.due || context.rings > 0,
    })),
  },
}).createMachine({
  id: 'deadline',
  context: ({ input }) => ({ rings: 0, wrong: false, ...(input as { delay: number; due: number }) }),
  initial: 'armed',
  states: {
    armed: {
      entry: raise({ type: 'RING' }, { delay: ({ context }) => context.delay, id: 'ring' }),
      on: {
        RING: { target: 'rung', actions: 'ring' },
        CANCEL: { target: 'cancelled', actions: cancel('ring') },
      },
    },
    rung: { on: { RING: { actions: 'ring' } } },
    cancelled: { on: { RING: { actions: assign({ wrong: true }) } } },
  },
});

export const deadline: ActorDefinition = { kind: 'deadline', machine: deadlineMachine, version: 1 };

export const HOUR = 3_600_000;

/** Of ten deadlines one is cancelled before anything happens, one is far away, and one is cancelled while others ring. */
export function fateOf(n: number): 'cancelled' | 'far' | 'contested' | 'near' {
  const fates = ['cancelled', 'far', 'contested'] as const;
  return fates[n % 10] ?? 'near';
}
