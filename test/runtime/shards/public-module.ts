/** Actors of the public runtime on threads: what each thread loads. */
import { defineActor, defineEffect, tell } from '@sealwright/runtime';
import { scheduleActor } from '@sealwright/runtime/schedules';
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

/** Works, and then has a worker work. */
export const clerk = defineActor('clerk', {
  version: 1,
  effects: [work],
  machine: setup({
    types: {} as { events: { type: 'FILE' } | { type: 'WORKED'; n: number } },
    actions: { work: work.action, pass: tell(worker) },
  }).createMachine({
    initial: 'idle',
    states: {
      idle: { on: { FILE: 'busy' } },
      busy: { entry: { type: 'work', params: { n: 1 } }, on: { WORKED: 'filed' } },
      filed: { entry: { type: 'pass', params: { id: 'w', event: { type: 'WORK' } } } },
    },
  }),
});

/** Takes each message. */
export const bell = defineActor('bell', {
  version: 1,
  machine: setup({
    types: {} as { context: { rung: number }; events: { type: 'RING' } },
    actions: { ring: assign({ rung: ({ context }) => context.rung + 1 }) },
  }).createMachine({ context: { rung: 0 }, on: { RING: { actions: 'ring' } } }),
  answers: { RING: ({ context }) => context.rung },
});

export const shardModule = shardActors([worker, clerk, bell, scheduleActor]);
