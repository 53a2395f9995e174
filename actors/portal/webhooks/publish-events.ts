/**
 * Puts each event of a document into the delivery queues of its organization's webhooks. The body is made once, here; the
 * queue sends it and records its attempts.
 */

import { type EffectKey, jsonType, Retryable } from '@sealwright/runtime';
import { LRUCache } from 'lru-cache';
import type { NewDelivery } from '../../../machines/delivery-queue.ts';
import type { Millis, WebhookId } from '../../../machines/ids.ts';
import type { WebhookQueueInput } from '../../../machines/portal/document-delivery-queue.ts';
import { announce } from '../../../machines/portal/documents/document-effects.ts';
import type { DocumentEvent } from '../../../machines/portal/portal-types.ts';
import type { ServiceRuntime } from '../../hosting/service-plan.ts';
import { deliveryId, deliveryQueue, WEBHOOK_DELIVERY_QUEUE } from './deliveries.ts';
import { type PayloadLookups, payloadOf } from './webhook-payloads.ts';
import type { WebhookRegistry } from './webhooks.ts';

/** Input of `announce`, as it is stored. */
const ANNOUNCED = jsonType<{ readonly events: readonly DocumentEvent[] }>();

/** Ended effects that are remembered until they are removed. */
const MAX_ENDED = 10_000;

/** Attempts to enqueue, because a queue may be created or end between reading and sending. */
const MAX_ATTEMPTS = 4;

type PublishRuntime = Pick<ServiceRuntime, 'actors' | 'store' | 'clock'>;

/**
 * Effects of one document may run at the same time, and a failed one is retried later. So each effect for a webhook first
 * runs the earlier effects that are still pending: a queue accepts each event once, in order.
 * An effect may be pending for a moment after it has ended. It is not stored if the organization is known to have no webhook.
 * @param concludedDelay delay before a conclusion is announced. Source: docs/portal-values.md §19.
 */
export function publishEventsHandler(
  runtime: PublishRuntime,
  registry: WebhookRegistry,
  places: PayloadLookups,
  concludedDelay: Millis,
) {
  const publish = (events: readonly DocumentEvent[]) =>
    publishAll(events, runtime, { registry, places, concludedDelay });
  const ended = new LRUCache<EffectKey, true>({ max: MAX_ENDED });
  return announce.handledBy({
    isNeeded: ({ events }) => events.some(({ document }) => !registry.hasNone(document.organizationId)),
    async run({ events }, { key, actor }) {
      if (!(await concernsWebhook(events, registry))) {
        ended.set(key, true);
        return null;
      }
      for (const stored of await runtime.store.pendingEffects(actor)) {
        if (stored.key === key) break;
        if (stored.effect.do !== 'announce' || ended.get(stored.key)) continue;
        await publish(ANNOUNCED.read(stored.effect).events);
      }
      await publish(events);
      ended.set(key, true);
      return null;
    },
  });
}

/** True when a webhook is called with one of the events. */
async function concernsWebhook(
  events: readonly DocumentEvent[],
  registry: WebhookRegistry,
): Promise<boolean> {
  for (const { document, type } of events)
    if ((await registry.live(document.organizationId, type)).length > 0) return true;
  return false;
}

async function publishAll(
  events: readonly DocumentEvent[],
  runtime: PublishRuntime,
  {
    registry,
    places,
    concludedDelay,
  }: { readonly registry: WebhookRegistry; readonly places: PayloadLookups; readonly concludedDelay: Millis },
): Promise<void> {
  for (const event of events) {
    const webhooks = await registry.live(event.document.organizationId, event.type);
    if (webhooks.length === 0) continue;
    const body = await payloadOf(event, places);
    await Promise.all(webhooks.map((id) => enqueue(id, event, { body, runtime, concludedDelay })));
  }
}

async function enqueue(
  webhookId: WebhookId,
  event: DocumentEvent,
  {
    body,
    runtime,
    concludedDelay,
  }: { readonly body: string; readonly runtime: PublishRuntime; readonly concludedDelay: Millis },
): Promise<void> {
  const { document, type, sequence, at } = event;
  const isDelayed = type === 'DocumentConcluded' && concludedDelay > 0;
  const delivery: NewDelivery = {
    id: deliveryId(webhookId, document.id, sequence),
    type,
    sequence,
    body,
    createdAt: at,
    // A clock that was set back holds up nothing that is to go at once.
    notBefore: isDelayed ? at + concludedDelay : 0,
  };
  await put(webhookId, delivery, event, runtime);
}

/** Creates the queue if it does not exist. @throws {Retryable} when the queue does not accept the delivery */
async function put(
  webhookId: WebhookId,
  delivery: NewDelivery,
  { document }: DocumentEvent,
  { actors, clock }: PublishRuntime,
): Promise<void> {
  const id = deliveryQueue(webhookId, document.id);
  for (let tries = 0; tries < MAX_ATTEMPTS; tries++) {
    const outcome = await actors.send(WEBHOOK_DELIVERY_QUEUE, id, {
      type: 'ENQUEUE',
      deliveries: [delivery],
    });
    if (outcome.accepted) return;
    // Known already: somebody did this effect, or this part of it, before.
    if (outcome.reason === 'not-accepted' || outcome.reason === 'duplicate') return;
    if (outcome.reason !== 'unknown-actor') break;
    const queue: WebhookQueueInput = {
      organizationId: document.organizationId,
      webhookId,
      documentId: document.id,
      deliveries: [delivery],
      at: clock.now(),
    };
    if ((await actors.create(WEBHOOK_DELIVERY_QUEUE, id, queue)).accepted) return;
  }
  throw new Retryable('webhook.lane', `The delivery queue ${id} does not accept events.`);
}
