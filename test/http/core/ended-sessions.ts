/** Ended sessions in a store in memory. */
import { ActorCalls, type Clock, createRuntime } from '@sealwright/runtime';
import { MemoryStore } from '@sealwright/runtime/testing';
import { ENDED_SESSION, EndedSessions } from '../../../actors/batch/access/ended-sessions.ts';
import { recorder } from '../harness.ts';

export async function memoryEndedSessions(clock: Clock): Promise<EndedSessions> {
  const store = new MemoryStore();
  const calls = new ActorCalls();
  const ended = new EndedSessions({ actors: calls, store, clock });
  await createRuntime({
    store,
    actors: [ENDED_SESSION],
    calls,
    start: 'never',
    clock,
    log: recorder([]),
    onCommitted: (step) => ended.observe(step),
  });
  return ended;
}
