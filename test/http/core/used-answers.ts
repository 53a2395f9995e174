/** Used answers of identity providers in a store in memory. */
import { ActorCalls, buildRuntime, type Clock } from '@sealwright/runtime';
import { MemoryStore } from '@sealwright/runtime/testing';
import { systemIds } from '#runtime/model/ids.js';
import { USED_ANSWER, UsedAnswers } from '../../../actors/batch/access/used-answers.ts';
import { recorder } from '../harness.ts';

export function memoryUsedAnswers(clock: Clock): UsedAnswers {
  const store = new MemoryStore();
  const actors = new ActorCalls();
  buildRuntime({
    actors,
    store,
    clock,
    ids: systemIds,
    log: recorder([]),
    handlers: {},
    definitions: [USED_ANSWER],
  });
  return new UsedAnswers({ actors, clock });
}
