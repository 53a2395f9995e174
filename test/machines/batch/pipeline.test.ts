import test from 'ava';
import { transition } from 'xstate';
import { freeSlots, pipelineMachine } from '../../../machines/batch/pipeline.ts';
import { assertAgreement, initialContext } from '../table.ts';

test('the pipeline table and the pipeline machine agree in every state and on every event', async (t) => {
  const context = initialContext(pipelineMachine, undefined);
  const events = { PAUSE: { reason: null }, RESUME: { reason: null } };
  const file = 'machines/batch/pipeline.ts';
  await assertAgreement(t, { file, machine: pipelineMachine, events, contextOf: () => context });
});

test('pausing records actor, time and reason, and resuming keeps the time of the pause', (t) => {
  const start = pipelineMachine.resolveState({
    value: 'Running',
    context: { pausedAt: null, resumedAt: null, pausedBy: 'system', reason: null },
  });
  const [paused, actions] = transition(pipelineMachine, start, { type: 'PAUSE', at: 10, reason: 'audit.' });
  t.deepEqual(paused.context, { pausedAt: 10, resumedAt: null, pausedBy: 'operator', reason: 'audit.' });
  t.deepEqual(actions[0]?.params, { message: 'Pipeline paused by operator. Reason: audit.' });
  const [resumed, furtherActions] = transition(pipelineMachine, paused, {
    type: 'RESUME',
    at: 20,
    reason: null,
  });
  t.deepEqual(resumed.context, { pausedAt: 10, resumedAt: 20, pausedBy: 'operator', reason: null });
  t.deepEqual(furtherActions[0]?.params, { message: 'Pipeline resumed by operator.' });
});

test('a paused pipeline and a full one have no free slot', (t) => {
  t.is(freeSlots('Running', 1, 4), 3);
  t.is(freeSlots('Running', 5, 4), 0);
  t.is(freeSlots('Paused', 0, 4), 0);
});
