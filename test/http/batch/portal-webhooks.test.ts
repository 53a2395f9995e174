import test from 'ava';
import { assertProblem, startServer } from '../harness.ts';
import { memoryPortalWebhooks, ORGANIZATION } from './memory-portal-webhooks.ts';

interface Listed {
  readonly items: readonly { readonly id: string; readonly attempts: readonly object[] }[];
}

test('operators list the deliveries of an organization of the portal, and resend one', async (t) => {
  const portalWebhooks = memoryPortalWebhooks();
  const { call } = await startServer(t, {}, undefined, { portalWebhooks });
  const path = '/api/webhooks/portal';
  t.deepEqual(await (await call(path)).json(), {
    items: [{ id: ORGANIZATION, name: 'Acme', pending: 0, delivered: 0, failed: 1 }],
  });
  const deliveries = `${path}/${ORGANIZATION}/deliveries`;
  const { items, ...rest } = (await (await call(`${deliveries}?status=failed`)).json()) as Listed;
  const [item] = items;
  if (item === undefined) return t.fail('nothing is listed');
  t.deepEqual(rest, { page: 1, pageSize: 50, totalCount: 1 });
  t.like(item, { status: 'Failed', createdAt: '1970-01-01T00:00:00.004Z', nextAttemptAt: null });
  t.like(item.attempts[0] ?? {}, { status: 500, milliseconds: 3, response: 'no' });
  t.false('body' in item);
  t.deepEqual(((await (await call(`${path}/none/deliveries`)).json()) as Listed).items, []);
  await assertProblem(t, await call(`${deliveries}?status=x`), 'validation.filter-invalid');
  const again = await call(`${deliveries}/${item.id}/resend`, { method: 'POST' });
  t.is(again.status, 202);
  t.deepEqual(portalWebhooks.resent, [`operator ${item.id}`]);
  const unknown = await call(`${path}/none/deliveries/${item.id}/resend`, { method: 'POST' });
  await assertProblem(t, unknown, 'webhook.delivery-not-found');
});

test('operators read counts of documents, deliveries and e-mails by intervals', async (t) => {
  const { call } = await startServer(t);
  t.deepEqual(await (await call('/api/portal/activity?window=1h&intervals=1')).json(), {
    since: '1970-01-01T00:00:00.000Z',
    intervalSeconds: 1,
    complete: true,
    incomplete: [],
    documents: { created: [2], concluded: [1], refused: [0] },
    webhooks: { delivered: [1], failed: [0] },
    mails: { sent: [3], failed: [0] },
  });
  await assertProblem(t, await call('/api/portal/activity?window=x'), 'validation.filter-invalid');
  t.deepEqual(await (await call('/api/portal/keys')).json(), { items: [], complete: true });
});
