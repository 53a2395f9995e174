/** Attempts, their pauses and what follows the last one: real actors and calls, simulated time. Source: docs/webhooks.md. */

import { ActorCalls, createRuntime, type EffectHandler, systemClock } from '@sealwright/runtime';
import { MemoryStore, SimulatedClock, seededIds } from '@sealwright/runtime/testing';
import test, { type ExecutionContext } from 'ava';
import { recordEventHandler } from '../../../../actors/batch/effects/record-event.ts';
import { EventLog } from '../../../../actors/batch/job-records/events.ts';
import { JOB } from '../../../../actors/batch/job-records/kinds.ts';
import { definitions } from '../../../../actors/batch/registry.ts';
import { JobWebhooks } from '../../../../actors/batch/webhooks/job-webhooks.ts';
import { handlersByName, handlerTable } from '../../../runtime/any-effect.ts';
import { withoutTimeLimits } from '../../../runtime/untimed-handlers.ts';
import { type Receiver, startReceiver, status } from '../../portal/webhooks/receiver.ts';

const SECRET = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
const JOB_ID = '11111111-1111-4111-8111-111111111111';
const QUIET = { debug() {}, info() {}, warn() {}, error() {} };

type Condition = () => boolean | Promise<boolean>;

/** A runtime with one job that is canceled, so that its end is announced. */
async function canceledJob(t: ExecutionContext, receiver: Pick<Receiver, 'url'>, urls = [receiver.url]) {
  const store = new MemoryStore();
  const clock = new SimulatedClock(Date.UTC(2026, 0, 4));
  const calls: boolean[] = [];
  const ended: string[] = [];
  const actors = new ActorCalls();
  const webhooks = new JobWebhooks(
    urls.map((url) => ({ url, secret: SECRET, events: ['JobCanceled'] })),
    {
      actors,
      store,
      // Time-outs of real calls need real time.
      clock: Object.assign(Object.create(clock) as SimulatedClock, {
        now: () => clock.now(),
        elapsed: () => clock.elapsed(),
        after: systemClock.after.bind(systemClock),
      }),
    },
    { webhookCalled: (delivered) => calls.push(delivered) },
  );
  const nothing: EffectHandler = { after: 'visible', run: async () => ({ type: 'NOTHING' }) };
  const events = new EventLog({ actors, store, clock, ids: seededIds(8), log: QUIET });
  const runtime = await createRuntime({
    store,
    actors: definitions,
    handlers: handlersByName(
      definitions,
      handlerTable([...withoutTimeLimits(webhooks.handlers), recordEventHandler(events)]),
      nothing,
    ),
    calls: actors,
    clock,
    ids: seededIds(7),
    log: QUIET,
    deadLetters: false,
    onCommitted: ({ actor, counters }) => {
      if (actor.address.kind !== 'job-webhook') return;
      for (const [name, by] of Object.entries(counters)) if (by > 0) ended.push(name);
    },
  });
  t.teardown(async () => {
    const stopped = runtime.stop({ graceMs: 0 });
    clock.advance(1);
    await stopped;
    webhooks.close();
  });
  await actors.create(JOB, JOB_ID, {
    fileName: 'a.pdf',
    originalPath: '/in/a.pdf',
    format: 'Pades',
    source: 'Upload',
    folder: null,
    profileName: 'default',
    parentJobId: null,
    order: 1,
    pathKey: 'k',
    seen: null,
    message: 'Uploaded.',
    at: clock.now(),
    webhooksPending: true,
  });
  await actors.send(JOB, JOB_ID, { type: 'CANCEL', reason: null });
  const { deliveries } = webhooks;
  const until = async (condition: Condition): Promise<void> => {
    while (!(await condition())) {
      await new Promise((resolve) => setImmediate(resolve));
      // A timer armed after time went on is due at once.
      clock.advance(0);
    }
  };
  const single = async () => (await deliveries.list({ page: 1, pageSize: 10 })).items[0];
  /** Resolves once so many attempts are on record. */
  const attempted = (count: number) => until(async () => ((await single())?.attempts.length ?? 0) >= count);
  return { clock, calls, ended, deliveries, single, attempted, events, until };
}

test('every attempt has the same id and body and a fresh signature, with pauses that double', async (t) => {
  const receiver = await startReceiver(t, status(503));
  const it = await canceledJob(t, receiver);
  await it.attempted(1);
  it.clock.advance(15_000);
  await it.attempted(2);
  receiver.answer = status(204);
  it.clock.advance(29_999);
  t.is(receiver.calls.length, 2, 'the second pause is 30 seconds');
  it.clock.advance(1);
  await it.until(async () => (await it.single())?.status === 'Delivered');
  t.is(receiver.calls.length, 3);
  t.is(new Set(receiver.calls.map(({ headers }) => headers['webhook-id'])).size, 1);
  t.is(new Set(receiver.calls.map(({ body }) => body)).size, 1);
  const stamps = receiver.calls.map(({ headers }) => Number(headers['webhook-timestamp']));
  t.deepEqual(
    stamps.map((stamp) => stamp - (stamps[0] ?? 0)),
    [0, 15, 45],
  );
  const signatures = new Set(receiver.calls.map(({ headers }) => headers['webhook-signature']));
  t.is(signatures.size, 3);
  t.deepEqual(it.calls, [false, false, true]);
  t.deepEqual(await it.deliveries.counts(), { Pending: 0, Delivered: 1, Failed: 0 });
});

test('a delivery is abandoned after ten attempts with an event, and can be sent again', async (t) => {
  const receiver = await startReceiver(t, status(500));
  const it = await canceledJob(t, receiver);
  for (let n = 1; n <= 10; n++) {
    await it.attempted(n);
    it.clock.advance(3_600_000);
  }
  await it.until(async () => (await it.single())?.status === 'Failed');
  const recorded = () => it.events.list({ kinds: ['WebhookFailed'], page: 1, pageSize: 5 });
  await it.until(async () => (await recorded()).totalCount === 1);
  const [event] = (await recorded()).items;
  t.like(event, { jobId: JOB_ID, code: 'webhook.undelivered', actor: 'system' });
  t.regex(
    event?.message ?? '',
    /JobCanceled .* after 10 attempts: The receiver answered with HTTP status 500\./,
  );
  t.is(receiver.calls.length, 10);
  t.deepEqual(it.ended, ['job-deliveries/Pending', 'job-deliveries/Failed']);

  receiver.answer = status(204);
  const id = (await it.single())?.id ?? '';
  t.like(await it.deliveries.resend(id, 'operator'), { id, jobId: JOB_ID });
  await it.until(async () => (await it.single())?.status === 'Delivered');
  const [first, ...more] = receiver.calls;
  t.true(more.every(({ headers, body }) => headers['webhook-id'] === id && body === first?.body));
  await t.throwsAsync(
    it.deliveries.resend(
      id.replace(/.$/, (last) => (last === '0' ? '1' : '0')),
      'operator',
    ),
    {
      message: /No webhook delivery/,
    },
  );
  await t.throwsAsync(it.deliveries.resend('../x', 'operator'), { message: /No webhook delivery/ });
});

test('a replay resends the failed deliveries of a range, or all of them', async (t) => {
  const gone = await startReceiver(t, status(410));
  const fine = await startReceiver(t);
  const it = await canceledJob(t, gone, [gone.url, fine.url]);
  await it.until(async () => {
    const { Failed, Delivered } = await it.deliveries.counts();
    return Failed === 1 && Delivered === 1;
  });
  const at = it.clock.now();
  t.is(gone.calls.length, 1, '410 ends the attempts of the delivery');
  const none = await it.deliveries.replay({ from: at + 1, to: at + 2, failedOnly: true }, 'operator');
  t.deepEqual(none, { count: 0, complete: true });
  gone.answer = status(204);
  t.deepEqual(await it.deliveries.replay({ from: at, to: at, failedOnly: true }, 'operator'), {
    count: 1,
    complete: true,
  });
  await it.until(async () => (await it.deliveries.counts()).Delivered === 2);
  t.is(fine.calls.length, 1);
  t.deepEqual(await it.deliveries.replay({ from: 0, to: at, failedOnly: false }, 'operator'), {
    count: 2,
    complete: true,
  });
  await it.until(async () => gone.calls.length === 3 && fine.calls.length === 2);
  await it.until(async () => (await it.deliveries.counts()).Delivered === 2);
  t.is(fine.calls[1]?.headers['webhook-id'], fine.calls[0]?.headers['webhook-id']);
});

test('a delivery is removed after its retention', async (t) => {
  const receiver = await startReceiver(t);
  const it = await canceledJob(t, receiver);
  await it.until(async () => (await it.deliveries.counts()).Delivered === 1);
  it.clock.advance(7 * 86_400_000);
  await it.until(async () => (await it.deliveries.counts()).Delivered === 0);
  t.deepEqual(await it.deliveries.list({ page: 1, pageSize: 10 }), { items: [], totalCount: 0 });
});
