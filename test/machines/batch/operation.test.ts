import test from 'ava';
import { transition } from 'xstate';
import { OPERATION_FORGOTTEN, operationMachine } from '../../../machines/batch/operation.ts';
import { attempt, declared, initialContext, readTable } from '../table.ts';

const input = {
  action: 'retry',
  filter: { statuses: [], createdTo: 1000 },
  reason: null,
  operator: 'operator',
  matched: 3,
  at: 1000,
} as never;
const counts = { done: 2, skipped: 1, skippedByCode: { 'job.race-lost': 1 } };

test('the operation table and the operation machine agree in every state and on every event', async (t) => {
  const table = await readTable('machines/batch/operation.ts');
  const context = initialContext(operationMachine, input);
  const { states } = declared(operationMachine);
  for (const from of states.filter((state) => state !== 'Starting' && state !== OPERATION_FORGOTTEN)) {
    for (const [type, more, words] of [
      ['PROGRESS', { ...counts, next: { ids: ['j'], after: 5 } }, 'with a next batch'],
      ['PROGRESS', { ...counts, next: null }, 'without one'],
      ['CANCEL', {}, ''],
    ] as const) {
      const rows = table.filter((row) => row.from === from && row.event === type);
      const row = rows.length > 1 ? rows.find(({ condition }) => condition === words) : rows[0];
      const outcome = attempt(operationMachine, from, context, { type, at: 2000, ...more });
      t.is(outcome.accepted, row !== undefined, `${from} × ${type}`);
      t.is(outcome.to, row?.to ?? from, `${from} × ${type} ${words}`);
      t.deepEqual(outcome.effects, row?.effects ?? []);
    }
  }
});

test('an operation sums up its batches and stores the start of the next one', (t) => {
  const start = operationMachine.resolveState({
    value: 'Running',
    context: initialContext(operationMachine, input) as never,
  });
  const progress = { type: 'PROGRESS', ...counts } as const;
  const next = { ids: ['a', 'b'] as never, after: 7 };
  const [once, actions] = transition(operationMachine, start, { ...progress, at: 1500, next });
  t.deepEqual(actions.find(({ type }) => type === 'operate')?.params, next);
  const [twice] = transition(operationMachine, once, { ...progress, at: 2000, next: null });
  t.is(twice.value, 'Completed');
  t.like(twice.context, { done: 4, skipped: 2, skippedByCode: { 'job.race-lost': 2 }, endedAt: 2000 });
});
