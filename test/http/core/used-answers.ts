/** Used answers of identity providers in a store in memory. */
import { type Clock, createRuntime } from '@sealwright/runtime';
import { MemoryStore } from '@sealwright/runtime/testing';
import { USED_ANSWER, UsedSignInAnswers } from '../../../actors/batch/access/used-sign-in-answers.ts';
import { recorder } from '../harness.ts';

export async function memoryUsedAnswers(clock: Clock): Promise<UsedSignInAnswers> {
  const store = new MemoryStore();
  const actors = await createRuntime({
    store,
    actors: [USED_ANSWER],
    start: 'never',
    clock,
    log: recorder([]),
  });
  return new UsedSignInAnswers({ actors, clock });
}
