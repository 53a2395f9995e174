/** Actors of the public runtime on threads: what each thread loads. */
import { defineActor, defineEffect } from '@sealwright/runtime';
import { shardActors } from '@sealwright/runtime/shards';
import { assign, setup } from 'xstate';

const work = defineEffect('work', {
  partitioning: { atOnce: 4, perPartition: 1, partitionOf: ({ n }) => `p${n % 2}` },
  run: async ({ n }: { n: number }) => ({ type: 'WORKED', n: n + 1 }) as const,
});

export const worker = defineActor('worker', {
  version: 1,
  effects: [work],
  machine: setup({
    types: {} as { context: { n: number }; events: { type: 'WORK' } | { type: 'WORKED'; n: number } },
    actions: { work: work.action },
  }).createMachine({
    context: { n: 0 },
    initial: 'idle',
    states: {
      idle: { on: { WORK: 'busy' } },
      busy: {
        entry: { type: 'work', params: ({ context }) => ({ n: context.n }) },
        on: { WORKED: { target: 'idle', actions: assign({ n: ({ event }) => event.n }) } },
      },
    },
  }),
});

export const shardModule = shardActors([worker]);
