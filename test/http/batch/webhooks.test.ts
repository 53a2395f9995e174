/** `/api/webhooks`. Source: docs/webhooks.md. */
import test from 'ava';
import { startServer } from '../harness.ts';
import { DELIVERY, MemoryWebhooks } from './memory-webhooks.ts';

async function server(t: Parameters<typeof startServer>[0]) {
  const webhooks = new MemoryWebhooks();
  const { call } = await startServer(t, {}, undefined, { webhooks });
  const replay = (body: unknown) =>
    call('/api/webhooks/replay', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  return { webhooks, call, replay };
}

test('webhook deliveries are listed by status and sent again one by one', async (t) => {
  const { webhooks, call } = await server(t);
  const listed = await call('/api/webhooks/deliveries?status=failed&page=1');
  t.like(await listed.json(), {
    totalCount: 1,
    items: [
      {
        id: DELIVERY.id,
        status: 'Failed',
        createdAt: '2027-01-15T08:00:00.000Z',
        nextAttemptAt: null,
        attempts: [{ at: '2027-01-15T08:00:00.000Z', milliseconds: 3, error: 'webhook.timeout: none' }],
      },
    ],
  });
  t.like(webhooks.asked[0], { status: 'Failed', page: 1, pageSize: 50 });
  t.is((await call('/api/webhooks/deliveries?status=lost')).status, 400);
  const resent = await call(`/api/webhooks/deliveries/${DELIVERY.id}/resend`, { method: 'POST' });
  t.is(resent.status, 202);
  t.like(await resent.json(), { id: DELIVERY.id, status: 'Pending' });
  const unknown = await call('/api/webhooks/deliveries/none/resend', { method: 'POST' });
  t.is(unknown.status, 404);
  t.like(await unknown.json(), { code: 'webhook.delivery-not-found' });
});

test('a replay takes a time range and by default only failed deliveries', async (t) => {
  const { webhooks, replay } = await server(t);
  const answer = await replay({ from: '2026-05-26', to: '2026-05-27T00:00:00Z' });
  t.is(answer.status, 202);
  t.deepEqual(await answer.json(), { count: 1, complete: true });
  t.deepEqual(webhooks.asked, [{ from: Date.UTC(2026, 4, 26), to: Date.UTC(2026, 4, 27), failedOnly: true }]);
  t.is((await replay({})).status, 202);
  t.deepEqual(webhooks.asked[1], { from: 0, to: Number.MAX_SAFE_INTEGER, failedOnly: true });
  for (const body of [{ form: '2026-05-26' }, { from: 'yesterday' }, { failedOnly: 'no' }])
    t.is((await replay(body)).status, 400, JSON.stringify(body));
});
