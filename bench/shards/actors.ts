/** Actors for the threads of `bench/shards.ts`: a few rows each, with messages that terminate their thread. */

import type { ActorDefinition } from '@sealwright/runtime';
import { note } from '@sealwright/runtime/actions';
import type { ShardModule } from '@sealwright/runtime/shards';
import { assign, setup } from 'xstate';

export const benched: ActorDefinition = {
  kind: 'benched',
  version: 1,
  machine: setup({
    types: { context: {} as { readonly turns: number } },
    actions: {
      note,
      turn: assign({ turns: ({ context }) => context.turns + 1 }),
      exit: assign(() => process.exit(1)),
      spin: assign(() => {
        for (;;);
      }),
      hoard: assign(() => {
        const hoard: number[][] = [];
        for (;;) hoard.push(new Array<number>(100_000).fill(0));
      }),
    },
  }).createMachine({
    id: 'benched',
    context: { turns: 0 },
    initial: 'On',
    states: {
      On: {
        on: {
          TURN: { target: 'Off', actions: ['turn', { type: 'note', params: { message: 'Off.' } }] },
          STAY: { actions: ['turn', { type: 'note', params: { message: 'Stays.' } }] },
          EXIT: { actions: 'exit' },
          SPIN: { actions: 'spin' },
          HOARD: { actions: 'hoard' },
        },
      },
      Off: {
        on: { TURN: { target: 'On', actions: ['turn', { type: 'note', params: { message: 'On.' } }] } },
      },
    },
  }),
  rows: ({ id, state }) => [{ view: 'by-state', key: [state, id], value: null }],
  counters: ({ state }) => ({ [`benched.${state}`]: 1 }),
};

export const shardModule: ShardModule = { definitions: [benched] };
