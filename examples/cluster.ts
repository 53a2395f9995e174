/**
 * Two nodes on one database: one creates a parcel and is killed, the other delivers it.
 *
 * DATABASE_URL=postgres://… node dist/examples/cluster.js
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createRuntime, defineActor, defineEffect } from '@sealwright/runtime';
import { postgres } from '@sealwright/runtime/postgres';
import { setup } from 'xstate';

const [, file = '', node] = process.argv;

const deliver = defineEffect('deliver', {
  run: async ({ to }: { to: string }, { key }) => {
    console.log(`${node} delivers to ${to} under ${key}`);
    return { type: 'DELIVERED' } as const;
  },
});

const parcel = defineActor('parcel', {
  version: 1,
  effects: [deliver],
  machine: setup({
    types: {} as { context: { to: string }; input: { to: string }; events: { type: 'DELIVERED' } },
    delays: { journey: 1000 },
    actions: { deliver: deliver.action },
  }).createMachine({
    context: ({ input }) => input,
    initial: 'sent',
    states: {
      sent: { after: { journey: 'arriving' } },
      arriving: {
        entry: { type: 'deliver', params: ({ context }) => ({ to: context.to }) },
        on: { DELIVERED: 'delivered' },
      },
      delivered: {},
    },
  }),
});

async function runNode(name: string): Promise<void> {
  const store = postgres(process.env['DATABASE_URL'] ?? '', { node: name, leaseSeconds: 3 });
  const runtime = await createRuntime({ store, actors: [parcel] });
  if (name === 'first') {
    await runtime.create(parcel, 'p-1', { to: 'Ana' });
    console.log('first has sent the parcel');
    process.send?.('sent');
    // It never leaves in order.
    return;
  }
  process.send?.('ready');
  await runtime.waitFor(parcel, 'p-1', ({ state }) => state === 'delivered', { timeoutMs: 60_000 });
  console.log(`${name} has seen the delivery`);
  await runtime.stop();
}

async function runBoth(): Promise<void> {
  const second = fork(file, ['second']);
  await once(second, 'message');
  const first = fork(file, ['first']);
  await once(first, 'message');
  first.kill('SIGKILL');
  second.disconnect();
  const [code] = await once(second, 'exit');
  process.exitCode = Number(code);
}

await (node === undefined ? runBoth() : runNode(node));
