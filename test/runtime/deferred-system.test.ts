import { buildRuntime, DeferredSystem, Faults } from '@sealwright/runtime';
import { MemoryStore, SimulatedClock, seededIds } from '@sealwright/runtime/testing';
import test from 'ava';
import { tally } from './test-runtime.ts';

test('a system used before its runtime is created throws an error about that, and works afterwards', async (t) => {
  const system = new DeferredSystem();
  const address = { kind: 'tally', id: 'early' };
  t.throws(() => system.read(address), { code: 'runtime.not-created' });
  const runtime = buildRuntime({
    system,
    store: new MemoryStore(),
    clock: new SimulatedClock(),
    ids: seededIds(7),
    log: { debug() {}, info() {}, warn() {}, error() {} },
    faults: new Faults(),
    definitions: [tally],
    handlers: { work: { after: 'visible', run: async () => ({ type: 'WORKED' }) } },
  });
  t.true((await system.create(address, null)).accepted);
  t.true((await system.send(address, { type: 'ADD' })).accepted);
  t.is((await runtime.system.read(address))?.context.count, 1);
});
