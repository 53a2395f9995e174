/** Actor of the step benchmark: two states, list rows, counters, a history and an effect. */

import type { ActorAddress, ActorDefinition, Step, StoredActor } from '@sealwright/runtime';
import { declareEffect, dropEffects, note } from '@sealwright/runtime/actions';
import { assign, setup } from 'xstate';
import { firstStep, nextStep } from '#runtime/step/step.js';

interface Context {
  readonly turns: number;
  readonly fileName: string;
  readonly path: string;
  readonly createdAt: number;
  readonly folder: string;
}

const never = declareEffect('never', { types: {} as { input: { readonly path: string } } });

const machine = setup({
  types: { context: {} as Context, input: {} as Context },
  actions: { never: never.action, note, dropEffects },
}).createMachine({
  id: 'bench',
  context: ({ input }) => input,
  initial: 'Queued',
  states: {
    Queued: {
      on: {
        CLAIM: {
          target: 'Processing',
          actions: [
            { type: 'note', params: { message: 'Processing started.' } },
            { type: 'never', params: ({ context }) => ({ path: context.path }) },
          ],
        },
      },
    },
    Processing: {
      on: {
        RESTARTED: {
          target: 'Queued',
          actions: [
            { type: 'note', params: { message: 'Queued again.' } },
            { type: 'dropEffects' },
            assign({ turns: ({ context }) => context.turns + 1 }),
          ],
        },
      },
    },
  },
});

export const definition: ActorDefinition = {
  kind: 'bench',
  machine,
  effects: [never],
  version: 1,
  rows: ({ id, state, context }) => [
    { view: 'by-state', key: [state, context.createdAt, id], value: null },
    { view: 'by-time', key: [context.createdAt, id], value: { id, state, fileName: context.fileName } },
  ],
  counters: ({ state }) => ({ [`bench.${state}`]: 1 }),
};

export const ACTORS = 5000;

export function input(n: number): Context {
  return {
    turns: 0,
    fileName: `invoice-${n}.pdf`,
    path: `/data/input/invoice-${n}.pdf`,
    createdAt: 1_760_000_000_000 + n,
    folder: 'default',
  };
}

export function addressOf(n: number): ActorAddress {
  return { kind: 'bench', id: `job-${n % ACTORS}` };
}

/** Returns the n-th message. */
export function eventOf(n: number): { readonly type: 'CLAIM' | 'RESTARTED' } {
  return { type: Math.floor(n / ACTORS) % 2 === 0 ? 'CLAIM' : 'RESTARTED' };
}

export function newborn(n: number): Step {
  return firstStep(definition, addressOf(n), { ...input(n) }, { now: 1 });
}

export function stepOf(actor: StoredActor, type: 'CLAIM' | 'RESTARTED', now: number): Step {
  const step = nextStep(definition, actor, { type, at: now }, { now });
  if (step === undefined) throw new Error('The machine of the benchmark refused its own event.');
  return step;
}
