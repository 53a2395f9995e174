/** `/api/operations`. Source: docs/decisions/0050-large-operations.md. */
import test from 'ava';
import { startServer } from '../harness.ts';
import { MemoryOperations } from './memory-service.ts';

async function server(t: Parameters<typeof startServer>[0]) {
  const operations = new MemoryOperations();
  const { call } = await startServer(t, {}, undefined, { operations });
  const send = (body: unknown) =>
    call('/api/operations', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  return { operations, call, send };
}

test('an operation is counted, started, shown, listed and canceled', async (t) => {
  const { operations, call, send } = await server(t);
  const filter = { profile: 'contracts', fileName: 'inv', createdFrom: '2026-05-26' };
  const counted = await send({ action: 'retry', filter, dryRun: true });
  t.is(counted.status, 200);
  t.deepEqual(await counted.json(), { matched: 7 });
  t.is(operations.made.length, 0);
  const started = await send({ action: 'retry', filter });
  t.is(started.status, 202);
  const made = (await started.json()) as { readonly id: string };
  t.like(made, { action: 'retry', state: 'Running', matched: 7, done: 2, skipped: 1 });
  t.like(operations.asked.at(-1)?.filter, { ...filter, createdFrom: Date.UTC(2026, 4, 26), statuses: [] });
  t.deepEqual(await (await call(`/api/operations/${made.id}`)).json(), made);
  t.like(await (await call('/api/operations')).json(), { totalCount: 1, items: [made] });
  const canceled = await call(`/api/operations/${made.id}/cancel`, { method: 'POST' });
  t.like(await canceled.json(), { state: 'Canceling' });
  t.is((await call('/api/operations/00000000-0000-4000-8000-000000000000')).status, 404);
});

for (const [why, body] of [
  ['an unknown action', { action: 'delete' }],
  ['a misspelt filter', { action: 'retry', filter: { profil: 'x' } }],
  ['a state the action is not possible for', { action: 'retry', filter: { status: 'Completed' } }],
  ['a text without end', { action: 'clear', filter: { fileName: 'x'.repeat(1001) } }],
] as const) {
  test(`an operation with ${why} is refused`, async (t) => {
    const { operations, send } = await server(t);
    const answer = await send(body);
    t.is(answer.status, 400);
    t.like(await answer.json(), { code: 'validation.body-invalid' });
    t.is(operations.asked.length, 0);
  });
}
