/**
 * The deliveries of one subject (a document, a job) to one webhook: one at a time, in order.
 *
 * | from    | message   | to      | effects     |                                        |
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
 * An ended delivery stays on record for the retention of its kind and can be sent again until then. Ended is never stored: the
 * actor ends. `callWebhook` is the effect of the kind of queue; a kind with `failed` also asks for that effect when no
 * attempts are left. Deciding is transient: a step leaves it at once, and no actor is stored in it.
 *
 * Source: docs/portal-values.md §19; docs/decisions/0019-mails-and-webhooks.md.
 */
import { type DeclaredEffect, note } from '@sealwright/runtime/actions';
import { assign, type StateMachine, setup } from 'xstate';
import { type Backoff, pauseAfter } from './backoff.ts';
import type { Millis } from './ids.ts';

export type DeliveryQueueState = 'Idle' | 'Calling' | 'Waiting';
export const DELIVERY_QUEUE_STATES: readonly DeliveryQueueState[] = ['Idle', 'Calling', 'Waiting'];
export const DELIVERY_QUEUE_ENDED = 'Ended';

/** Attempts of one delivery in all. Source: docs/portal-values.md §19. */
export const MAX_ATTEMPTS = 10;
/** Pauses between attempts. Source: docs/portal-values.md §19. */
const DELIVERY_BACKOFF: Backoff = { firstMs: 15_000, maxMs: 3_600_000 };
/** A receiver may ask to be left alone for longer, but no longer than this, milliseconds. */
export const MAX_RETRY_AFTER_MS = 24 * 3_600_000;
/** Ended deliveries of one delivery queue on record; the oldest go first. */
const MAX_ENDED_DELIVERIES = 200;

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
  /** Of the subject's events, from 1. */
  readonly sequence: number;
  /** Sent unchanged, byte for byte, on every attempt. */
  readonly body: string;
  /** Time at which it happened. */
  readonly createdAt: Millis;
  /** Not to be sent earlier; 0 = at once. */
  readonly notBefore: Millis;
}

export interface Delivery extends NewDelivery {
  readonly status: 'Pending' | 'Delivered' | 'Failed';
  /** Attempts since it was last requested. */
  readonly tries: number;
  /** Oldest first, the last ten. */
  readonly attempts: readonly Attempt[];
  readonly endedAt: Millis | null;
}

export interface DeliveryQueueInput {
  readonly deliveries: readonly NewDelivery[];
  readonly at: Millis;
}

export interface DeliveryQueueContext extends Omit<DeliveryQueueInput, 'deliveries'> {
  /** Time at which the last step was. */
  readonly at: Millis;
  /** On record, in the order they came. */
  readonly deliveries: readonly Delivery[];
  /** Ids of those to be sent, the next one first. */
  readonly queue: readonly string[];
  /** The next one waits for this time, beyond its own; 0 = for nothing. */
  readonly retryAt: Millis;
}

type DeliveryQueueMessage = { readonly at: Millis } & (
  | { readonly type: 'ENQUEUE'; readonly deliveries: readonly NewDelivery[] }
  /** `by`: who asked; absent in messages of earlier versions. */
  | { readonly type: 'RESEND'; readonly ids: readonly string[]; readonly by?: string }
  | {
      readonly type: 'ATTEMPTED';
      readonly id: string;
      /** `gone`: the webhook of this queue was removed. */
      readonly outcome: 'delivered' | 'failed' | 'gone';
      readonly attempt: Attempt;
      /** Milliseconds the receiver asked to be left alone. */
      readonly retryAfter: Millis | null;
    }
);

/** The outcome of an attempt, from its handler. */
export type AttemptedMessage = Omit<Extract<DeliveryQueueMessage, { readonly type: 'ATTEMPTED' }>, 'at'>;

/**
 * @typeParam Call input of the effect that makes one attempt
 * @typeParam Failed input of the effect of a delivery that failed for good
 */
export interface DeliveryQueueOptions<Context, Call, Failed> {
  /** Part of the names of stored timers: never changes for a kind of actor that is stored. */
  readonly id: string;
  /** Time for which ended deliveries stay on record, milliseconds. */
  readonly retention: Millis;
  /** Effect that makes one attempt, and its input. */
  readonly call: DeclaredEffect<string, Call, AttemptedMessage>;
  callOf(context: Context, deliveryId: string): Call;
  /** Effect of a delivery that failed for good, and its input. @default none */
  readonly failed?: DeclaredEffect<string, Failed, null>;
  failedOf?(context: Context, delivery: Delivery): Failed;
}

type Queue = Pick<DeliveryQueueContext, 'deliveries' | 'queue' | 'retryAt'>;

function isNew({ deliveries }: DeliveryQueueContext, { id }: NewDelivery): boolean {
  return deliveries.every((known) => known.id !== id);
}

function added(known: readonly Delivery[], fresh: readonly NewDelivery[]): readonly Delivery[] {
  const pending = fresh.map(
    (delivery): Delivery => ({ ...delivery, status: 'Pending', tries: 0, attempts: [], endedAt: null }),
  );
  return [...known, ...pending];
}

/** Pending deliveries continue, a waiting one is sent now, ended ones are queued again. */
function resent(context: DeliveryQueueContext, ids: readonly string[]): Queue {
  const again = context.deliveries.filter(({ id, status }) => ids.includes(id) && status !== 'Pending');
  const headAsked = context.queue[0] !== undefined && ids.includes(context.queue[0]);
  return {
    deliveries: context.deliveries.map((delivery) => {
      if (again.includes(delivery))
        return { ...delivery, status: 'Pending' as const, tries: 0, endedAt: null, notBefore: 0 };
      return headAsked && delivery.id === context.queue[0] ? { ...delivery, notBefore: 0 } : delivery;
    }),
    queue: [...context.queue, ...again.map(({ id }) => id)],
    retryAt: headAsked ? 0 : context.retryAt,
  };
}

function retryPause(tries: number, retryAfter: Millis | null): Millis {
  const own = pauseAfter(tries, DELIVERY_BACKOFF);
  return Math.max(own, Math.min(MAX_RETRY_AFTER_MS, retryAfter ?? 0));
}

function attempted(
  context: DeliveryQueueContext,
  event: Extract<DeliveryQueueMessage, { readonly type: 'ATTEMPTED' }>,
): Queue {
  const { at, outcome, attempt, retryAfter, id } = event;
  const tries = (context.deliveries.find((delivery) => delivery.id === id)?.tries ?? 0) + 1;
  const isOver = outcome !== 'failed' || tries >= MAX_ATTEMPTS;
  const given = outcome === 'gone' ? context.queue : [id];
  const deliveries = context.deliveries.map((delivery): Delivery => {
    if (!given.includes(delivery.id)) return delivery;
    const tried =
      delivery.id === id
        ? { ...delivery, tries, attempts: [...delivery.attempts.slice(1 - MAX_ATTEMPTS), attempt] }
        : delivery;
    if (!isOver) return tried;
    return { ...tried, status: outcome === 'delivered' ? 'Delivered' : 'Failed', endedAt: at };
  });
  return {
    deliveries: isOver ? withoutOldest(deliveries) : deliveries,
    queue: isOver ? context.queue.filter((one) => !given.includes(one)) : context.queue,
    retryAt: isOver ? 0 : at + retryPause(tries, retryAfter),
  };
}

function withoutOldest(deliveries: readonly Delivery[]): readonly Delivery[] {
  let surplus = deliveries.filter(({ status }) => status !== 'Pending').length - MAX_ENDED_DELIVERIES;
  return deliveries.filter(({ status }) => status === 'Pending' || surplus-- <= 0);
}

/** Time at which the next one is to be sent; undefined when there is none. */
export function nextDue({ queue, deliveries, retryAt }: Queue): Millis | undefined {
  const head = deliveries.find(({ id }) => id === queue[0]);
  return head && Math.max(head.notBefore, retryAt);
}

/**
 * Makes the machine of one kind of queue.
 * @typeParam Context what its actors know beyond the queue; taken over from their input
 */
export function deliveryQueueMachine<
  Context extends DeliveryQueueContext,
  Call extends object,
  Failed extends object = never,
>(options: DeliveryQueueOptions<Context, Call, Failed>): MachineOf<ReturnType<typeof queueMachine>, Context>;
export function deliveryQueueMachine(options: QueueOptions) {
  return queueMachine(options);
}

type QueueOptions = DeliveryQueueOptions<DeliveryQueueContext, object, object>;

/** The machine, whose actors store and are created with the further members of a context. */
type MachineOf<Machine, Context extends DeliveryQueueContext> =
  Machine extends StateMachine<
    infer _Context,
    infer Message,
    infer Children,
    infer Actor,
    infer Action,
    infer Guard,
    infer Delay,
    infer State,
    infer Tag,
    infer Input,
    infer Output,
    infer Emitted,
    infer Meta,
    infer Config
  >
    ? StateMachine<
        Context,
        Message,
        Children,
        Actor,
        Action,
        Guard,
        Delay,
        State,
        Tag,
        Input & Omit<Context, keyof DeliveryQueueContext>,
        Output,
        Emitted,
        Meta,
        Config
      >
    : never;

/** Actions, guards and delays. Only the options read what a kind adds to the context. */
function queueParts(options: QueueOptions) {
  const { retention } = options;
  return setup({
    types: {
      context: {} as DeliveryQueueContext,
      input: {} as DeliveryQueueInput,
      events: {} as DeliveryQueueMessage,
    },
    actions: {
      call: options.call.action,
      failed: (options.failed ?? options.call).action,
      note,
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
          ({ endedAt }) => endedAt === null || endedAt + retention > event.at,
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
        return Math.max(0, oldest + retention - context.at);
      },
    },
  });
}

const noteResend = {
  type: 'note',
  params: ({ event }: { event: DeliveryQueueMessage }) => ({
    message: event.type === 'RESEND' ? `Sent again on request: ${event.ids.join(', ')}.` : '',
    ...(event.type === 'RESEND' && event.by !== undefined && { data: { by: event.by } }),
  }),
} as const;
const recordDelivery = { guard: 'bringsNew', actions: 'enqueue' } as const;

/** The states and transitions, the same for all kinds. */
function queueMachine(options: QueueOptions) {
  const machine = queueParts(options);
  return machine.createMachine({
    id: options.id,
    context: ({ input: { deliveries, ...rest } }) => ({
      ...rest,
      deliveries: added([], deliveries),
      queue: deliveries.map(({ id }) => id),
      retryAt: 0,
    }),
    initial: 'Deciding',
    states: {
      Deciding: {
        always: [
          { guard: 'isEmpty', target: DELIVERY_QUEUE_ENDED },
          { guard: 'nothingQueued', target: 'Idle' },
          { guard: 'nextIsDue', target: 'Calling' },
          { target: 'Waiting' },
        ],
      },
      Idle: {
        on: {
          ENQUEUE: { ...recordDelivery, target: 'Deciding' },
          RESEND: { guard: 'namesKnown', target: 'Deciding', actions: ['resend', noteResend] },
        },
        after: { retention: { target: 'Deciding', actions: 'forgetOld' } },
      },
      Calling: {
        entry: {
          type: 'call',
          params: ({ context }) => options.callOf(context, context.queue[0] ?? ''),
        },
        on: {
          ENQUEUE: recordDelivery,
          RESEND: { guard: 'namesKnown', actions: ['resend', noteResend] },
          ATTEMPTED: {
            guard: ({ context, event }) => event.id === context.queue[0],
            target: 'Deciding',
            actions: machine.enqueueActions(({ context, event, enqueue }) => {
              if (event.type !== 'ATTEMPTED') return;
              const next = attempted(context, event);
              enqueue.assign({ at: event.at, ...next });
              const delivery = next.deliveries.find(({ id }) => id === event.id);
              if (options.failedOf && delivery?.status === 'Failed')
                enqueue({ type: 'failed', params: options.failedOf(context, delivery) });
            }),
          },
        },
      },
      Waiting: {
        on: {
          ENQUEUE: recordDelivery,
          RESEND: { guard: 'namesKnown', target: 'Deciding', actions: ['resend', noteResend] },
        },
        after: { pause: { target: 'Deciding', actions: 'notice' } },
      },
      [DELIVERY_QUEUE_ENDED]: {},
    },
  });
}
