/** Ended sessions in a store in memory. */
import { ActorCalls, buildRuntime, type Clock } from '@sealwright/runtime';
import { MemoryStore } from '@sealwright/runtime/testing';
import { systemIds } from '#runtime/model/ids.js';
import { ENDED_SESSION, EndedSessions } from '../../../actors/batch/access/ended-sessions.ts';
import { recorder } from '../harness.ts';

export function memoryEndedSessions(clock: Clock): EndedSessions {
  const store = new MemoryStore();
  const actors = new ActorCalls();
  const ended = new EndedSessions({ actors, store, clock });
  buildRuntime({
    actors,
    store,
    clock,
    ids: systemIds,
    log: recorder([]),
    handlers: {},
    definitions: [ENDED_SESSION],
    onCommitted: (step) => ended.observe(step),
  });
  return ended;
}
