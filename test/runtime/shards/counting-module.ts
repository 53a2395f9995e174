/** Actors that count, for tests of threads: what each thread loads. */

import type { ActorDefinition } from '@sealwright/runtime';
import { note } from '@sealwright/runtime/actions';
import { assign, setup } from 'xstate';
import { anyEffect } from '../any-effect.ts';

interface Context {
  readonly count: number;
  readonly done: number;
}

export const counting: ActorDefinition = {
  kind: 'counting',
  version: 1,
  machine: setup({
    types: { context: {} as Context },
    actions: {
      effect: anyEffect,
      note,
      add: assign({ count: ({ context }) => context.count + 1 }),
      finish: assign({ done: ({ context }) => context.done + 1 }),
      exit: assign(() => process.exit(1)),
      spin: assign(() => {
        for (;;);
      }),
      hoard: assign(() => {
        const hoard: string[][] = [];
        for (;;) hoard.push(new Array(100_000).fill('x'));
      }),
    },
  }).createMachine({
    id: 'counting',
    context: { count: 0, done: 0 },
    initial: 'On',
    states: {
      On: {
        on: {
          ADD: { actions: ['add', { type: 'note', params: { message: 'Added.' } }] },
          WORK: {
            actions: [
              'add',
              { type: 'effect', params: ({ context }) => ({ do: 'work', n: (context as Context).count }) },
            ],
          },
          WORKED: { actions: 'finish' },
          EXIT: { actions: 'exit' },
          SPIN: { actions: 'spin' },
          HOARD: { actions: 'hoard' },
          REST: 'Off',
        },
      },
      Off: { after: { 50: 'On' } },
    },
  }),
  counters: ({ context }) => ({ counted: (context as Context).count, worked: (context as Context).done }),
};

export const shardModule = {
  definitions: [counting],
  partitions: {},
};
