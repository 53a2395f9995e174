import test from 'ava';
import { transition } from 'xstate';
import {
  DOCUMENT_OPERATION_FORGOTTEN,
  documentOperationMachine,
} from '../../../machines/portal/documents/document-operation.ts';
import { attempt, declared, initialContext, readTable } from '../table.ts';

const input = {
  organization: { id: 'o-1', name: 'O' },
  createdBy: { id: 'a-1', type: 'Application', name: 'A' },
  action: 'Remind',
  reason: null,
  filter: {},
  matched: 3,
  batch: { ids: ['d-1'], after: 5 },
  at: 1000,
} as never;
const counts = { done: 2, skipped: { InvalidDocumentStatus: 1 } };
const next = { ids: ['d-2'], after: null };

test('the table of operations on documents and the machine agree in every state and on every event', async (t) => {
  const table = await readTable('machines/portal/documents/document-operation.ts');
  const context = initialContext(documentOperationMachine, input);
  const { states } = declared(documentOperationMachine);
  for (const from of states.filter(
    (state) => state !== 'Starting' && state !== DOCUMENT_OPERATION_FORGOTTEN,
  )) {
    for (const [type, more, words] of [
      ['PROGRESS', { ...counts, next }, 'there is a next batch'],
      ['PROGRESS', { ...counts, next: null }, 'there is none'],
      ['CANCEL', {}, ''],
    ] as const) {
      const rows = table.filter((row) => row.from === from && row.event === type);
      const row = rows.length > 1 ? rows.find(({ condition }) => condition === words) : rows[0];
      const outcome = attempt(documentOperationMachine, from, context, { type, at: 2000, ...more });
      t.is(outcome.accepted, row !== undefined, `${from} × ${type}`);
      t.is(outcome.to, row?.to ?? from, `${from} × ${type} ${words}`);
      t.deepEqual(outcome.effects, row?.effects ?? []);
    }
  }
});

test('an operation on documents sums up its batches and names the documents of the next one', (t) => {
  const start = documentOperationMachine.resolveState({
    value: 'Running',
    context: initialContext(documentOperationMachine, input) as never,
  });
  const progress = { type: 'PROGRESS', ...counts } as const;
  const [once, actions] = transition(documentOperationMachine, start, {
    ...progress,
    at: 1500,
    next,
  } as never);
  t.deepEqual(actions.find(({ type }) => type === 'operateDocuments')?.params, {
    organizationId: 'o-1',
    ...next,
  });
  const [twice] = transition(documentOperationMachine, once, { ...progress, at: 2000, next: null });
  t.is(twice.value, 'Completed');
  t.like(twice.context, { done: 4, skipped: { InvalidDocumentStatus: 2 }, endedAt: 2000 });
});
