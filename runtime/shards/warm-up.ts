/**
 * Runs steps of an actor that is not stored, so that code is compiled and the store is mapped before a shard's actors
 * need them. It halves the processor time from a loss to the first answer; the rest is in the machines of the actors
 * themselves.
 */
import { assign, setup } from 'xstate';
import { Host } from '../host/host.ts';
import { Supervisor } from '../host/supervisor.ts';
import { systemClock } from '../model/clock.ts';
import type { ActorDefinition } from '../model/definition.ts';
import { declareEffect, note } from '../model/effects.ts';
import { Faults } from '../model/faults.ts';
import { systemIds } from '../model/ids.ts';
import type { ActorStore } from '../model/ports.ts';
import { stepText } from '../store/lmdb/lmdb-tables.ts';

const TURNS = 3;

const exercise: ActorDefinition = {
  kind: 'exercise',
  version: 1,
  machine: setup({
    types: { context: {} as { readonly turns: number } },
    actions: {
      exercise: declareEffect('exercise').action,
      note,
      turn: assign({ turns: ({ context }) => context.turns + 1 }),
    },
  }).createMachine({
    context: { turns: 0 },
    initial: 'Still',
    states: {
      Still: {
        on: {
          TURN: {
            target: 'Moving',
            actions: [
              'turn',
              { type: 'note', params: { message: 'Moves.' } },
              { type: 'exercise', params: undefined },
            ],
          },
        },
      },
      Moving: { on: { TURN: 'Still' }, after: { 1000: 'Still' } },
    },
  }),
  rows: ({ id, state }) => [{ view: 'exercise', key: [state, id], value: state }],
  names: ({ id }) => [id],
  counters: ({ state }) => ({ [state]: 1 }),
};

/** @param store is read, not written */
export async function warmUp(store: Pick<ActorStore, 'load'>): Promise<void> {
  const quiet = (): void => {};
  const host = new Host({
    store: {
      load: (actor) => store.load(actor),
      rows: async () => [],
      async commit(step) {
        stepText(step);
        return { ok: true };
      },
    },
    clock: systemClock,
    ids: systemIds,
    log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
    faults: new Faults(),
    supervisor: new Supervisor({}),
    definitions: new Map([[exercise.kind, exercise]]),
    effects: new Map([['exercise', null]]),
    cached: 1,
    committed: quiet,
  });
  const address = { kind: exercise.kind, id: 'a' };
  await host.create(address, null);
  for (let turn = 0; turn < TURNS; turn += 1) await host.deliver(address, { type: 'TURN' }, {});
}
