/** Ended sessions in a store in memory. */
import { buildRuntime, type Clock, DeferredSystem } from '@sealwright/runtime';
import { MemoryStore } from '@sealwright/runtime/testing';
import { systemIds } from '#runtime/model/ids.js';
import { EndedSessions, endedSessionDefinition } from '../../../actors/batch/access/ended-sessions.ts';
import { recorder } from '../harness.ts';

export function memoryEndedSessions(clock: Clock): EndedSessions {
  const store = new MemoryStore();
  const system = new DeferredSystem();
  const ended = new EndedSessions({ system, store, clock });
  buildRuntime({
    system,
    store,
    clock,
    ids: systemIds,
    log: recorder([]),
    handlers: {},
    definitions: [endedSessionDefinition],
    onCommitted: (step) => ended.observe(step),
  });
  return ended;
}
