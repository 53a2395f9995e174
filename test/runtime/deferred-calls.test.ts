import { type Actor, ActorCalls, buildRuntime, Faults } from '@sealwright/runtime';
import { MemoryStore, SimulatedClock, seededIds } from '@sealwright/runtime/testing';
import test from 'ava';
import { tally, type tallyMachine } from './test-runtime.ts';

const TALLY = tally as Actor<typeof tallyMachine>;

test('calls before their runtime is created reject with an error about that, and work afterwards', async (t) => {
  const actors = new ActorCalls();
  await t.throwsAsync(actors.read(TALLY, 'early'), { code: 'runtime.not-created' });
  buildRuntime({
    actors,
    store: new MemoryStore(),
    clock: new SimulatedClock(),
    ids: seededIds(7),
    log: { debug() {}, info() {}, warn() {}, error() {} },
    faults: new Faults(),
    definitions: [TALLY],
    handlers: { work: { after: 'visible', run: async () => ({ type: 'WORKED' }) } },
  });
  t.true((await actors.create(TALLY, 'early')).accepted);
  t.true((await actors.send(TALLY, 'early', { type: 'ADD' })).accepted);
  t.is((await actors.read(TALLY, 'early'))?.context.count, 1);
});
