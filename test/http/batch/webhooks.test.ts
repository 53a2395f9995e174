/** `/api/webhooks`. Source: docs/webhooks.md. */
import { accepted } from '@sealwright/runtime';
import { SimulatedClock } from '@sealwright/runtime/testing';
import test from 'ava';
import {
  JOB_DELIVERY,
  jobDeliveryActor,
  jobDeliveryId,
} from '../../../actors/batch/webhooks/job-deliveries.ts';
import { jobWebhooks } from '../../../actors/batch/webhooks/job-webhook.ts';
import type { JobId } from '../../../machines/ids.ts';
import { startServer } from '../harness.ts';
import { callsOf } from './test-service.ts';

const HOOK = { url: 'http://127.0.0.1/hook', secret: 'whsec_c2VjcmV0', events: ['JobFailed'] } as const;
const WEBHOOK = jobWebhooks([HOOK])[0]?.id ?? '';
const JOB = '00000000-0000-4000-8000-000000000001' as JobId;
const DELIVERY = jobDeliveryId(WEBHOOK, JOB);
const AT = 1_800_000_000_000;

/** A service with one delivery that was given up. */
async function server(t: Parameters<typeof startServer>[0]) {
  const more = { batch: { webhooks: [HOOK] }, serviceClock: new SimulatedClock(AT) };
  const { call, service } = await startServer(t, {}, undefined, more);
  const id = jobDeliveryActor(WEBHOOK, JOB);
  const refused = ({ reason }: { readonly reason: string }) => new Error(reason);
  const delivery = { id: DELIVERY, type: 'JobFailed', sequence: 1, body: '{}', createdAt: AT, notBefore: 0 };
  const input = { webhookId: WEBHOOK, jobId: JOB, deliveries: [delivery], at: AT };
  await accepted(service.actors.create(JOB_DELIVERY, id, input), refused);
  const attempt = {
    at: AT,
    url: HOOK.url,
    status: null,
    ms: 3,
    error: 'webhook.timeout: none',
    response: null,
  };
  const attempted = { type: 'ATTEMPTED', id: DELIVERY, outcome: 'gone', attempt, retryAfter: null } as const;
  await accepted(service.actors.send(JOB_DELIVERY, id, attempted), refused);
  const replay = (body: unknown) =>
    call('/api/webhooks/replay', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  return { service, call, replay };
}

test('webhook deliveries are listed by status and sent again one by one', async (t) => {
  const { service, call } = await server(t);
  const calls = callsOf(service.webhooks, 'list');
  const listed = await call('/api/webhooks/deliveries?status=failed&page=1');
  t.like(await listed.json(), {
    totalCount: 1,
    items: [
      {
        id: DELIVERY,
        status: 'Failed',
        createdAt: '2027-01-15T08:00:00.000Z',
        nextAttemptAt: null,
        attempts: [{ at: '2027-01-15T08:00:00.000Z', milliseconds: 3, error: 'webhook.timeout: none' }],
      },
    ],
  });
  t.like(calls[0]?.[0], { status: 'Failed', page: 1, pageSize: 50 });
  t.is((await call('/api/webhooks/deliveries?status=lost')).status, 400);
  const resent = await call(`/api/webhooks/deliveries/${DELIVERY}/resend`, { method: 'POST' });
  t.is(resent.status, 202);
  t.like(await resent.json(), { id: DELIVERY, status: 'Pending' });
  const unknown = await call('/api/webhooks/deliveries/none/resend', { method: 'POST' });
  t.is(unknown.status, 404);
  t.like(await unknown.json(), { code: 'webhook.delivery-not-found' });
});

test('a replay takes a time range and by default only failed deliveries', async (t) => {
  const { service, replay } = await server(t);
  const calls = callsOf(service.webhooks, 'replay');
  const answer = await replay({ from: '2026-05-26', to: '2027-01-16T00:00:00Z' });
  t.is(answer.status, 202);
  t.deepEqual(await answer.json(), { count: 1, complete: true });
  const range = { from: Date.UTC(2026, 4, 26), to: Date.UTC(2027, 0, 16), failedOnly: true };
  t.deepEqual(calls[0], [range, 'operator']);
  t.is((await replay({})).status, 202);
  t.deepEqual(calls[1], [{ from: 0, to: Number.MAX_SAFE_INTEGER, failedOnly: true }, 'operator']);
  for (const body of [{ form: '2026-05-26' }, { from: 'yesterday' }, { failedOnly: 'no' }])
    t.is((await replay(body)).status, 400, JSON.stringify(body));
});
