/**
 * A node whose start blocks its thread, as modules and lists do on a busy machine, until a file exists.
 *
 * node slow-starter.js URL SCHEMA FILE   prints `blocked`, then what an actor answers when it serves
 */
import { existsSync } from 'node:fs';
import { createRuntime, defineActor, type StoreSource } from '@sealwright/runtime';
import { postgres } from '@sealwright/runtime/postgres';
import { setup } from 'xstate';

const [url = '', schema = '', file = ''] = process.argv.slice(2);

const slow = defineActor('slow', {
  version: 1,
  machine: setup({}).createMachine({ initial: 'Off', states: { Off: { on: { GO: 'On' } }, On: {} } }),
});

const database = postgres(url, {
  schema,
  node: 'slow',
  poolSize: 2,
  leaseSeconds: 2,
  onLost: (why) => console.log(why),
});

const store: StoreSource = {
  async open(parts) {
    const opened = await database.open(parts);
    process.stdout.write('blocked\n');
    const nobody = new Int32Array(new SharedArrayBuffer(4));
    while (!existsSync(file)) Atomics.wait(nobody, 0, 0, 20);
    return opened;
  },
};

const runtime = await createRuntime({ store, actors: [slow] });
await runtime.create(slow, 's');
const { accepted } = await runtime.send(slow, 's', { type: 'GO' });
console.log(accepted ? 'served' : 'refused');
await runtime.stop();
