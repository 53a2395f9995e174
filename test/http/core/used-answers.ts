/** Used answers of identity providers in a store in memory. */
import { buildRuntime, type Clock, DeferredSystem } from '@sealwright/runtime';
import { MemoryStore } from '@sealwright/runtime/testing';
import { systemIds } from '#runtime/model/ids.js';
import { UsedAnswers, usedAnswerDefinition } from '../../../actors/batch/access/used-answers.ts';
import { recorder } from '../harness.ts';

export function memoryUsedAnswers(clock: Clock): UsedAnswers {
  const store = new MemoryStore();
  const system = new DeferredSystem();
  buildRuntime({
    system,
    store,
    clock,
    ids: systemIds,
    log: recorder([]),
    handlers: {},
    definitions: [usedAnswerDefinition],
  });
  return new UsedAnswers({ system, clock });
}
