/**
 * A trip that is cancelled because its payment is refused: a saga, a child that is made and asked by a handler, a query of rows.
 *
 * node dist/examples/reservation.js [<folder>]
 */
import { createRuntime, defineActor, defineEffect, Fatal } from '@sealwright/runtime';
import { lmdb } from '@sealwright/runtime/lmdb';
import { assign, setup } from 'xstate';

const seats = defineActor('seats', {
  version: 1,
  machine: setup({
    types: {} as {
      context: { free: number; held: readonly string[] };
      input: { free: number };
      events: { type: 'HOLD'; trip: string } | { type: 'RELEASE'; trip: string };
    },
    actions: {
      hold: assign(({ context, event }) => ({ free: context.free - 1, held: [...context.held, event.trip] })),
      release: assign(({ context, event }) => ({
        free: context.free + 1,
        held: context.held.filter((trip) => trip !== event.trip),
      })),
    },
    guards: {
      isFree: ({ context }) => context.free > 0,
      isHeld: ({ context, event }) => context.held.includes(event.trip),
    },
  }).createMachine({
    context: ({ input }) => ({ ...input, held: [] }),
    on: { HOLD: { guard: 'isFree', actions: 'hold' }, RELEASE: { guard: 'isHeld', actions: 'release' } },
  }),
  rows: ({ id, context }) => [{ view: 'seats.by-free', key: [context.free, id], value: null }],
  answers: { HOLD: ({ context }, { trip }) => context.held.indexOf(trip) + 1 },
});

const reserve = defineEffect('reserve', {
  run: async ({ flight }: { flight: string }, { runtime, key, actor }) => {
    await runtime.create(seats, flight, { free: 2 });
    const seat = await runtime.ask(
      seats,
      flight,
      { type: 'HOLD', trip: actor.id },
      { id: key, timeoutMs: 5000 },
    );
    return { type: 'RESERVED', seat } as const;
  },
});

const pay = defineEffect('pay', {
  tries: 5,
  run: async (_: { seat: number }): Promise<{ type: 'PAID' }> => {
    throw new Fatal('bank.refused', 'The card is stolen.');
  },
  failed: () => ({ type: 'REFUSED' }) as const,
});

const release = defineEffect('release', {
  run: async ({ flight }: { flight: string }, { runtime, key, actor }) => {
    await runtime.send(seats, flight, { type: 'RELEASE', trip: actor.id }, { id: key });
    return { type: 'RELEASED' } as const;
  },
});

// A saga: what was done is undone when a later part is refused.
const trip = defineActor('trip', {
  version: 1,
  effects: [reserve, pay, release],
  machine: setup({
    types: {} as {
      context: { flight: string; seat: number };
      input: { flight: string };
      events:
        | { type: 'RESERVED'; seat: number }
        | { type: 'PAID' }
        | { type: 'REFUSED' }
        | { type: 'RELEASED' };
    },
    actions: { reserve: reserve.action, pay: pay.action, release: release.action },
  }).createMachine({
    context: ({ input }) => ({ ...input, seat: 0 }),
    initial: 'reserving',
    states: {
      reserving: {
        entry: { type: 'reserve', params: ({ context }) => ({ flight: context.flight }) },
        on: { RESERVED: { target: 'paying', actions: assign({ seat: ({ event }) => event.seat }) } },
      },
      paying: {
        entry: { type: 'pay', params: ({ context }) => ({ seat: context.seat }) },
        on: { PAID: 'booked', REFUSED: 'releasing' },
      },
      releasing: {
        entry: { type: 'release', params: ({ context }) => ({ flight: context.flight }) },
        on: { RELEASED: 'cancelled' },
      },
      booked: { type: 'final' },
      cancelled: { type: 'final' },
    },
  }),
});

const [, , folder = './trips'] = process.argv;
const runtime = await createRuntime({ store: lmdb(folder), actors: [trip, seats] });
await runtime.create(trip, 't-1', { flight: 'f-9' });
const { state, context } = await runtime.waitFor(trip, 't-1', (one) => one.state === 'cancelled');
const rows = await runtime.query({ view: 'seats.by-free', limit: 10 });
console.log(
  state,
  context.seat,
  rows.map(({ key }) => key.join(' ')),
);
await runtime.stop();
