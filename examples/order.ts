/**
 * An order that is paid or lapses: deadlines, an effect that is given up, a message to another actor, a wait.
 *
 * node dist/examples/order.js [<folder>]   keeps its actors in the folder; start it again to go on
 */
import { createRuntime, defineActor, defineEffect, note, Retryable, tell } from '@sealwright/runtime';
import { lmdb } from '@sealwright/runtime/lmdb';
import { assign, setup } from 'xstate';

/** A bank that is busy at the first call, and never accepts more than 1,000. */
const charge = defineEffect('charge', {
  timeoutMs: 10_000,
  tries: 3,
  run: async ({ amount }: { amount: number }, { key, failures }) => {
    if (failures === 0) throw new Retryable('bank.busy', 'The bank is busy.', 50);
    if (amount > 1000) throw new Error('The bank refuses.');
    console.log(`charged ${amount} under ${key}`);
    return { type: 'CHARGED' } as const;
  },
  failed: (_, { message }) => ({ type: 'REFUSED', why: message }) as const,
});

const ledger = defineActor('ledger', {
  version: 1,
  machine: setup({
    types: {} as { context: { total: number }; events: { type: 'SOLD'; amount: number } },
    actions: { add: assign({ total: ({ context, event }) => context.total + event.amount }) },
  }).createMachine({ context: { total: 0 }, on: { SOLD: { actions: 'add' } } }),
});

const order = defineActor('order', {
  version: 1,
  effects: [charge],
  machine: setup({
    types: {} as {
      context: { amount: number };
      input: { amount: number };
      events: { type: 'PAY' } | { type: 'CHARGED' } | { type: 'REFUSED'; why: string };
    },
    delays: { patience: 300 },
    actions: { charge: charge.action, report: tell(ledger), note },
  }).createMachine({
    context: ({ input }) => input,
    initial: 'open',
    states: {
      open: { on: { PAY: 'paying' }, after: { patience: 'lapsed' } },
      paying: {
        entry: { type: 'charge', params: ({ context }) => ({ amount: context.amount }) },
        on: {
          CHARGED: 'paid',
          REFUSED: {
            target: 'refused',
            actions: { type: 'note', params: ({ event }) => ({ message: event.why }) },
          },
        },
      },
      paid: {
        tags: ['over'],
        entry: {
          type: 'report',
          params: ({ context }) => ({ id: 'all', event: { type: 'SOLD', amount: context.amount } }),
        },
      },
      refused: { tags: ['over'] },
      lapsed: { tags: ['over'] },
    },
  }),
});

const [, , folder = './orders'] = process.argv;
const runtime = await createRuntime({ store: lmdb(folder), actors: [order, ledger] });
await runtime.create(ledger, 'all');
for (const [id, amount] of Object.entries({ small: 5, large: 5000, forgotten: 7 })) {
  await runtime.create(order, id, { amount });
  // An id makes the message one message, however often this program is started.
  if (id !== 'forgotten') await runtime.send(order, id, { type: 'PAY' }, { id: 'first-payment' });
  const over = await runtime.waitFor(order, id, ({ tags }) => tags.includes('over'), { timeoutMs: 30_000 });
  console.log(`${id} is ${over.state}`);
}
const { context } = await runtime.waitFor(ledger, 'all', ({ context: { total } }) => total > 0);
console.log(`sold for ${context.total}`);
await runtime.stop();
