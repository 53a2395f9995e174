/**
 * The deliveries of one document to one webhook: one at a time, in order.
 *
 * | from    | event     | to      | effects     |                                        |
 * |---------|-----------|---------|-------------|----------------------------------------|
 * | Idle    | ENQUEUE   | Calling | callWebhook | of something new that is due           |
 * | Idle    | ENQUEUE   | Waiting |             | of something new that is to come later |
 * | Idle    | RESEND    | Calling | callWebhook |                                        |
 * | Calling | ENQUEUE   | Calling |             | of something new that is due           |
 * | Calling | ENQUEUE   | Calling |             | of something new that is to come later |
 * | Calling | RESEND    | Calling |             |                                        |
 * | Calling | ATTEMPTED | Calling | callWebhook | when the next is due                   |
 * | Calling | ATTEMPTED | Waiting |             | when the next is to come later         |
 * | Calling | ATTEMPTED | Idle    |             | when nothing is left                   |
 * | Waiting | ENQUEUE   | Waiting |             | of something new that is due           |
 * | Waiting | ENQUEUE   | Waiting |             | of something new that is to come later |
 * | Waiting | RESEND    | Calling | callWebhook | of the one that waits                  |
 * | Waiting | RESEND    | Waiting |             | of another one                         |
 * | Waiting | pause     | Calling | callWebhook |                                        |
 * | Idle    | retention | Idle    |             | while something younger is left        |
 * | Idle    | retention | Ended   |             | when nothing is left                   |
 *
 * What is delivered stays on record for 30 days and can be sent again until then. Ended is no state that is kept: the
 * actor ends. Deciding is where the way out of a step is found; no actor is ever stored in it.
 *
 * Source: portal-gaps §19; issue 5, "Webhooks".
 */
import { assign, setup } from 'xstate';
import type { DocumentId, Millis, OrganizationId, WebhookId } from './ids.ts';

export type LaneState = 'Idle' | 'Calling' | 'Waiting';
export const LANE_STATES: readonly LaneState[] = ['Idle', 'Calling', 'Waiting'];
export const LANE_ENDED = 'Ended';

/** Attempts of one delivery in all. Source: portal-gaps §19, "Success". */
export const MOST_ATTEMPTS = 10;
/** Pause after the first attempt, milliseconds; doubled each time. Source: portal-gaps §19, "Time-out, pauses". */
export const FIRST_RETRY = 15_000;
/** No pause of ours is longer, milliseconds. */
export const LONGEST_RETRY = 3_600_000;
/** A receiver may ask to be left alone for longer, but no longer than this, milliseconds. */
export const LONGEST_RETRY_AFTER = 24 * 3_600_000;
/** How long deliveries stay on record, milliseconds. */
export const DELIVERY_RETENTION = 30 * 24 * 3_600_000;
/** Ended deliveries of one lane on record; the oldest go first. */
const MOST_KEPT = 200;

export interface Attempt {
  readonly at: Millis;
  readonly url: string;
  /** HTTP status; null when there was no answer. */
  readonly status: number | null;
  readonly ms: number;
  readonly error: string | null;
  /** The first 1,000 characters of the answer. */
  readonly response: string | null;
}

export interface NewDelivery {
  /** The same on every attempt, also when it is sent again. */
  readonly id: string;
  readonly type: string;
  /** Of the document's events, from 1. */
  readonly sequence: number;
  /** Sent as it is, byte for byte, on every attempt. */
  readonly body: string;
  /** When it happened. */
  readonly createdAt: Millis;
  /** Not to be sent earlier; 0 = at once. */
  readonly notBefore: Millis;
}

export interface Delivery extends NewDelivery {
  readonly status: 'Pending' | 'Delivered' | 'Failed';
  /** Attempts since it was last asked for. */
  readonly tries: number;
  /** Oldest first, the last ten. */
  readonly attempts: readonly Attempt[];
  readonly endedAt: Millis | null;
}

export interface LaneInput {
  readonly organizationId: OrganizationId;
  readonly webhookId: WebhookId;
  readonly documentId: DocumentId;
  readonly deliveries: readonly NewDelivery[];
  readonly at: Millis;
}

export interface LaneContext extends Omit<LaneInput, 'deliveries'> {
  /** When the last step was. */
  readonly at: Millis;
  /** On record, in the order they came. */
  readonly deliveries: readonly Delivery[];
  /** Ids of those to be sent, the next one first. */
  readonly queue: readonly string[];
  /** The next one waits for this time, beyond its own; 0 = for nothing. */
  readonly retryAt: Millis;
}

export type LaneEvent = { readonly at: Millis } & (
  | { readonly type: 'ENQUEUE'; readonly deliveries: readonly NewDelivery[] }
  | { readonly type: 'RESEND'; readonly ids: readonly string[] }
  | {
      readonly type: 'ATTEMPTED';
      readonly id: string;
      /** `gone`: nobody wants anything of this lane any more. */
      readonly outcome: 'delivered' | 'failed' | 'gone';
      readonly attempt: Attempt;
      /** Milliseconds the receiver asked to be left alone. */
      readonly retryAfter: Millis | null;
    }
);

/** Lane of the runtime: calls of different webhooks take turns. */
export interface CallWebhookEffect {
  readonly do: 'callWebhook';
  readonly organizationId: OrganizationId;
  readonly webhookId: WebhookId;
  /** Which of the lane's deliveries. */
  readonly deliveryId: string;
}

type Queue = Pick<LaneContext, 'deliveries' | 'queue' | 'retryAt'>;

function isNew({ deliveries }: LaneContext, { id }: NewDelivery): boolean {
  return deliveries.every((known) => known.id !== id);
}

function added(known: readonly Delivery[], fresh: readonly NewDelivery[]): readonly Delivery[] {
  const pending = fresh.map(
    (delivery): Delivery => ({ ...delivery, status: 'Pending', tries: 0, attempts: [], endedAt: null }),
  );
  return [...known, ...pending];
}

/** Pending ones go on as they are, but the one that waits is sent now; ended ones queue up again. */
function resent(lane: LaneContext, ids: readonly string[]): Queue {
  const again = lane.deliveries.filter(({ id, status }) => ids.includes(id) && status !== 'Pending');
  const headAsked = lane.queue[0] !== undefined && ids.includes(lane.queue[0]);
  return {
    deliveries: lane.deliveries.map((delivery) => {
      if (again.includes(delivery))
        return { ...delivery, status: 'Pending' as const, tries: 0, endedAt: null, notBefore: 0 };
      return headAsked && delivery.id === lane.queue[0] ? { ...delivery, notBefore: 0 } : delivery;
    }),
    queue: [...lane.queue, ...again.map(({ id }) => id)],
    retryAt: headAsked ? 0 : lane.retryAt,
  };
}

function retryPause(tries: number, retryAfter: Millis | null): Millis {
  const own = Math.min(LONGEST_RETRY, FIRST_RETRY * 2 ** (tries - 1));
  return Math.max(own, Math.min(LONGEST_RETRY_AFTER, retryAfter ?? 0));
}

function attempted(lane: LaneContext, event: Extract<LaneEvent, { readonly type: 'ATTEMPTED' }>): Queue {
  const { at, outcome, attempt, retryAfter, id } = event;
  const tries = (lane.deliveries.find((delivery) => delivery.id === id)?.tries ?? 0) + 1;
  const isOver = outcome !== 'failed' || tries >= MOST_ATTEMPTS;
  const given = outcome === 'gone' ? lane.queue : [id];
  const deliveries = lane.deliveries.map((delivery): Delivery => {
    if (!given.includes(delivery.id)) return delivery;
    const tried =
      delivery.id === id
        ? { ...delivery, tries, attempts: [...delivery.attempts.slice(1 - MOST_ATTEMPTS), attempt] }
        : delivery;
    if (!isOver) return tried;
    return { ...tried, status: outcome === 'delivered' ? 'Delivered' : 'Failed', endedAt: at };
  });
  return {
    deliveries: isOver ? withoutOldest(deliveries) : deliveries,
    queue: isOver ? lane.queue.filter((one) => !given.includes(one)) : lane.queue,
    retryAt: isOver ? 0 : at + retryPause(tries, retryAfter),
  };
}

function withoutOldest(deliveries: readonly Delivery[]): readonly Delivery[] {
  let surplus = deliveries.filter(({ status }) => status !== 'Pending').length - MOST_KEPT;
  return deliveries.filter(({ status }) => status === 'Pending' || surplus-- <= 0);
}

/** When the next one is to be sent; undefined when there is none. */
export function nextDue({ queue, deliveries, retryAt }: Queue): Millis | undefined {
  const head = deliveries.find(({ id }) => id === queue[0]);
  return head && Math.max(head.notBefore, retryAt);
}

const machine = setup({
  types: { context: {} as LaneContext, input: {} as LaneInput, events: {} as LaneEvent },
  actions: {
    effect: (_, _effect: CallWebhookEffect) => {},
    enqueue: assign(({ context, event }) => {
      if (event.type !== 'ENQUEUE') return {};
      const fresh = event.deliveries.filter((delivery) => isNew(context, delivery));
      return {
        at: event.at,
        deliveries: added(context.deliveries, fresh),
        queue: [...context.queue, ...fresh.map(({ id }) => id)],
      };
    }),
    resend: assign(({ context, event }) =>
      event.type === 'RESEND' ? { at: event.at, ...resent(context, event.ids) } : {},
    ),
    forgetOld: assign(({ context, event }) => ({
      at: event.at,
      deliveries: context.deliveries.filter(
        ({ endedAt }) => endedAt === null || endedAt + DELIVERY_RETENTION > event.at,
      ),
    })),
    notice: assign({ at: ({ event }) => event.at }),
  },
  guards: {
    bringsNew: ({ context, event }) =>
      event.type === 'ENQUEUE' && event.deliveries.some((delivery) => isNew(context, delivery)),
    namesKnown: ({ context, event }) =>
      event.type === 'RESEND' && context.deliveries.some(({ id }) => event.ids.includes(id)),
    isEmpty: ({ context }) => context.deliveries.length === 0,
    nothingQueued: ({ context }) => context.queue.length === 0,
    nextIsDue: ({ context }) => (nextDue(context) ?? Number.POSITIVE_INFINITY) <= context.at,
  },
  delays: {
    pause: ({ context }) => Math.max(0, (nextDue(context) ?? 0) - context.at),
    retention: ({ context }) => {
      const oldest = Math.min(...context.deliveries.map(({ endedAt }) => endedAt ?? context.at));
      return Math.max(0, oldest + DELIVERY_RETENTION - context.at);
    },
  },
});

const keep = { guard: 'bringsNew', actions: 'enqueue' } as const;

export const webhookLaneMachine = machine.createMachine({
  id: 'webhook-lane',
  context: ({ input: { deliveries, ...lane } }) => ({
    ...lane,
    deliveries: added([], deliveries),
    queue: deliveries.map(({ id }) => id),
    retryAt: 0,
  }),
  initial: 'Deciding',
  states: {
    Deciding: {
      always: [
        { guard: 'isEmpty', target: LANE_ENDED },
        { guard: 'nothingQueued', target: 'Idle' },
        { guard: 'nextIsDue', target: 'Calling' },
        { target: 'Waiting' },
      ],
    },
    Idle: {
      on: {
        ENQUEUE: { ...keep, target: 'Deciding' },
        RESEND: { guard: 'namesKnown', target: 'Deciding', actions: 'resend' },
      },
      after: { retention: { target: 'Deciding', actions: 'forgetOld' } },
    },
    Calling: {
      entry: {
        type: 'effect',
        params: ({ context }): CallWebhookEffect => ({
          do: 'callWebhook',
          organizationId: context.organizationId,
          webhookId: context.webhookId,
          deliveryId: context.queue[0] ?? '',
        }),
      },
      on: {
        ENQUEUE: keep,
        RESEND: { guard: 'namesKnown', actions: 'resend' },
        ATTEMPTED: {
          guard: ({ context, event }) => event.id === context.queue[0],
          target: 'Deciding',
          actions: assign(({ context, event }) => ({ at: event.at, ...attempted(context, event) })),
        },
      },
    },
    Waiting: {
      on: {
        ENQUEUE: keep,
        RESEND: { guard: 'namesKnown', target: 'Deciding', actions: 'resend' },
      },
      after: { pause: { target: 'Deciding', actions: 'notice' } },
    },
    [LANE_ENDED]: {},
  },
});
