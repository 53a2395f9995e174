/** `/api/operations`. Source: docs/decisions/0050-large-operations.md. */
import test from 'ava';
import { startServer } from '../harness.ts';
import { callsOf } from './test-service.ts';

async function server(t: Parameters<typeof startServer>[0]) {
  const { call, service } = await startServer(t);
  const send = (body: unknown) =>
    call('/api/operations', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  return { service, call, send };
}

test('an operation is counted, started, shown, listed and canceled', async (t) => {
  const { service, call, send } = await server(t);
  const calls = callsOf(service.operations, 'start');
  await service.add({ fileName: 'inv.pdf', profile: 'invoices', status: 'Failed' });
  await service.add({ fileName: 'other.pdf', profile: 'invoices', status: 'Failed' });
  const filter = { profile: 'invoices', fileName: 'inv', createdFrom: '2026-05-26' };
  const counted = await send({ action: 'retry', filter, dryRun: true });
  t.is(counted.status, 200);
  t.deepEqual(await counted.json(), { matched: 1 });
  t.is(calls.length, 0);
  const started = await send({ action: 'retry', filter });
  t.is(started.status, 202);
  const made = (await started.json()) as { readonly id: string };
  t.like(made, { action: 'retry', state: 'Running', matched: 1, done: 0, skipped: 0 });
  t.like(calls.at(-1)?.[0].filter, { ...filter, createdFrom: Date.UTC(2026, 4, 26), statuses: [] });
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
    const { service, send } = await server(t);
    const calls = callsOf(service.operations, 'start');
    const answer = await send(body);
    t.is(answer.status, 400);
    t.like(await answer.json(), { code: 'validation.body-invalid' });
    t.is(calls.length, 0);
  });
}
