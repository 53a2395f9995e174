import test from 'ava';
import { getInitialSnapshot, transition } from 'xstate';
import {
  type Attempt,
  DELIVERY_QUEUE_ENDED,
  DELIVERY_QUEUE_STATES,
  type DeliveryQueueContext,
  MAX_ATTEMPTS,
  MAX_RETRY_AFTER_MS,
  type NewDelivery,
  nextDue,
} from '../../../machines/delivery-queue.ts';
import {
  DELIVERY_RETENTION_MS,
  webhookDeliveryMachine as machine,
} from '../../../machines/portal/document-delivery-queue.ts';
import { attempt, declared, readTable } from '../table.ts';

const delivery = (id: string, more: Partial<NewDelivery> = {}): NewDelivery => ({
  id,
  type: 'DocumentSigned',
  sequence: 1,
  body: '{}',
  createdAt: 1000,
  notBefore: 1000,
  ...more,
});

const tried: Attempt = { at: 1, url: 'https://x.test', status: 500, ms: 1, error: 'no', response: '' };

type Event = { readonly type: string; readonly at: number; readonly [field: string]: unknown };
const attempted = (id: string, outcome: string, at: number, retryAfter: number | null = null): Event => ({
  type: 'ATTEMPTED',
  id,
  outcome,
  at,
  attempt: { ...tried, at },
  retryAfter,
});

function start(...deliveries: readonly NewDelivery[]) {
  const input = { organizationId: 'o', webhookId: 'w', documentId: 'd', deliveries, at: 1000 };
  return getInitialSnapshot(machine, input as never);
}

function after(snapshot: ReturnType<typeof start>, ...events: readonly Event[]): ReturnType<typeof start> {
  return events.reduce((before, event) => transition(machine, before, event as never)[0], snapshot);
}

const pauseEvent = (at: number): Event => ({ type: 'xstate.after.pause.webhook-lane.Waiting', at });

const LATE = 999_999_999;

function caseFor(
  from: string,
  type: string,
  condition: string,
): { before: DeliveryQueueContext; event: Event } {
  const idle = after(start(delivery('a')), attempted('a', 'delivered', 2000)).context;
  const calling = start(delivery('a')).context;
  const waiting = after(start(delivery('a')), attempted('a', 'failed', 2000)).context;
  const before = from === 'Idle' ? idle : from === 'Waiting' ? waiting : calling;
  switch (type) {
    case 'ENQUEUE': {
      const later = condition.includes('later');
      return {
        before,
        event: { type, at: 3000, deliveries: [delivery('b', later ? { notBefore: LATE } : {})] },
      };
    }
    case 'RESEND': {
      const two = {
        ...before,
        deliveries: [...before.deliveries, ...idle.deliveries.map((one) => ({ ...one, id: 'z' }))],
      };
      const ids = condition === 'of another one' ? ['z'] : ['a'];
      return { before: from === 'Waiting' ? two : before, event: { type, at: 3000, ids } };
    }
    case 'ATTEMPTED': {
      const queued = condition.includes('nothing')
        ? calling
        : start(delivery('a'), delivery('b', condition.includes('later') ? { notBefore: LATE } : {})).context;
      return { before: from === 'Calling' ? queued : before, event: attempted('a', 'delivered', 3000) };
    }
    case 'retention': {
      const young = { ...idle.deliveries[0], id: 'y', endedAt: LATE + DELIVERY_RETENTION_MS };
      const kept = condition.includes('younger') ? [...idle.deliveries, young] : idle.deliveries;
      const at = 2000 + DELIVERY_RETENTION_MS;
      return {
        before: {
          ...before,
          deliveries: from === 'Idle' ? (kept as DeliveryQueueContext['deliveries']) : before.deliveries,
        },
        event: { type: 'xstate.after.retention.webhook-lane.Idle', at },
      };
    }
    default:
      return { before, event: pauseEvent(2000 + 15_000) };
  }
}

test('the webhook table and its machine agree in every state, on every event and deadline, under every condition', async (t) => {
  const table = await readTable('machines/delivery-queue.ts');
  const { states, events } = declared(machine);
  t.deepEqual([...states].sort(), [...DELIVERY_QUEUE_STATES, DELIVERY_QUEUE_ENDED, 'Deciding'].sort());
  const names = ['ENQUEUE', 'RESEND', 'ATTEMPTED', 'pause', 'retention'];
  t.is(events.length, names.length);
  for (const from of [...DELIVERY_QUEUE_STATES, DELIVERY_QUEUE_ENDED]) {
    for (const name of names) {
      const rows = table.filter((row) => row.from === from && row.event === name);
      const conditions = rows.length === 0 ? ['when it has no row'] : rows.map(({ condition }) => condition);
      for (const [at, condition] of conditions.entries()) {
        const { before, event } = caseFor(from, name, condition);
        const outcome = attempt(machine, from, before, event);
        const row = rows[at];
        const said = `${from} × ${name} ${condition}`;
        t.is(outcome.accepted, row !== undefined, said);
        t.is(outcome.to, row?.to ?? from, said);
        t.deepEqual(outcome.effects, row?.effects ?? [], said);
      }
    }
  }
});

test('a delivery is tried ten times with pauses that double from 15 seconds to an hour, then the next one follows', (t) => {
  let snapshot = start(delivery('a'), delivery('b', { sequence: 2 }));
  const pauses: number[] = [];
  let at = 1000;
  for (let n = 1; n < MAX_ATTEMPTS; n++) {
    snapshot = after(snapshot, attempted('a', 'failed', at));
    t.is(snapshot.value, 'Waiting');
    const due = nextDue(snapshot.context) ?? 0;
    pauses.push(due - at);
    at = due;
    snapshot = after(snapshot, pauseEvent(at));
    t.is(snapshot.value, 'Calling');
  }
  t.deepEqual(
    pauses,
    Array.from({ length: 9 }, (_, n) => Math.min(3_600_000, 15_000 * 2 ** n)),
  );
  snapshot = after(snapshot, attempted('a', 'failed', at));
  t.is(snapshot.value, 'Calling');
  t.deepEqual(snapshot.context.queue, ['b']);
  t.like(snapshot.context.deliveries[0], { status: 'Failed', tries: MAX_ATTEMPTS, endedAt: at });
  t.is(snapshot.context.deliveries[0]?.attempts.length, MAX_ATTEMPTS);
});

test('a pause that the receiver requests is kept, up to a limit', (t) => {
  const due = (retryAfter: number) =>
    (nextDue(after(start(delivery('a')), attempted('a', 'failed', 1000, retryAfter)).context) ?? 0) - 1000;
  t.is(due(60_000), 60_000);
  t.is(due(1), 15_000);
  t.is(due(10 ** 12), MAX_RETRY_AFTER_MS);
});

test('after the reply 410 all queued deliveries are recorded as failed and none is sent', (t) => {
  const over = after(
    start(delivery('a'), delivery('b'), delivery('c')),
    attempted('a', 'delivered', 2000),
    attempted('b', 'gone', 3000),
  );
  t.is(over.value, 'Idle');
  t.deepEqual(
    over.context.deliveries.map(({ status, attempts }) => [status, attempts.length]),
    [
      ['Delivered', 1],
      ['Failed', 1],
      ['Failed', 0],
    ],
  );
});

test('an event enqueued twice is delivered once, and the outcome of another delivery changes nothing', (t) => {
  const first = start(delivery('a'));
  const again = { type: 'ENQUEUE', at: 2000, deliveries: [delivery('a')] };
  t.is(after(first, again), first);
  t.is(after(first, attempted('b', 'delivered', 2000)), first);
});

test('a resent delivery is unchanged, follows the waiting ones and restarts its count of attempts', (t) => {
  const done = after(start(delivery('a', { body: 'A' })), attempted('a', 'delivered', 2000));
  const busy = after(done, { type: 'ENQUEUE', at: 3000, deliveries: [delivery('b')] });
  const again = after(busy, { type: 'RESEND', at: 4000, ids: ['a', 'unknown'] });
  t.deepEqual(again.context.queue, ['b', 'a']);
  t.like(again.context.deliveries[0], { id: 'a', body: 'A', status: 'Pending', tries: 0, createdAt: 1000 });
  t.is(again.context.deliveries[0]?.attempts.length, 1, 'what was tried before stays on record');
  t.is(after(busy, { type: 'RESEND', at: 4000, ids: ['unknown'] }), busy);
});

test('a delayed event delays the events behind it', (t) => {
  const waits = start(delivery('a', { notBefore: 61_000 }), delivery('b'));
  t.is(waits.value, 'Waiting');
  t.is(nextDue(waits.context), 61_000);
  const goes = after(waits, pauseEvent(61_000));
  t.is(goes.value, 'Calling');
  t.is(goes.context.queue[0], 'a');
});

test('the oldest of very many ended deliveries leave the record', (t) => {
  let snapshot = start(delivery('d0'));
  for (let n = 0; n < 260; n++) {
    snapshot = after(snapshot, attempted(`d${n}`, 'delivered', 2000 + n), {
      type: 'ENQUEUE',
      at: 2000 + n,
      deliveries: [delivery(`d${n + 1}`)],
    });
  }
  t.is(snapshot.context.deliveries.length, 201);
  t.is(snapshot.context.deliveries[0]?.id, 'd60');
  t.is(snapshot.context.deliveries.at(-1)?.status, 'Pending');
});
