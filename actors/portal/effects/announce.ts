/**
 * Puts each event a document announces into the lanes of its organization's webhooks. The body is made here, once; what
 * becomes of it is the lane's business.
 */
import type { WebhookId } from '../../../machines/ids.ts';
import type { DocumentEvent } from '../../../machines/portal-words.ts';
import type { LaneInput, NewDelivery } from '../../../machines/webhook.ts';
import {
  type ActorAddress,
  type ActorStore,
  type ActorSystem,
  type Clock,
  type EffectHandler,
  type Json,
  Retryable,
} from '../../../runtime/index.ts';
import { deliveryId, laneAddress } from '../deliveries.ts';
import { type PayloadPlaces, payloadOf } from '../webhook-payloads.ts';
import type { WebhookRegistry } from '../webhooks.ts';

/** Asked for by documents. */
export interface AnnounceEffect {
  readonly do: 'announce';
  readonly events: readonly DocumentEvent[];
}

/** The outcome that nobody waits for. */
const ANNOUNCED = { type: 'ANNOUNCED' } as const;

export interface AnnounceParts {
  readonly system: () => ActorSystem;
  readonly store: Pick<ActorStore, 'pendingEffects'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly registry: WebhookRegistry;
  readonly places: PayloadPlaces;
  /** Milliseconds after which a conclusion is told. Source: portal-gaps §19, "Timing". */
  readonly concludedDelay: number;
}

/** A lane may be made, and end, between two looks at it. */
const TRIES = 4;

/**
 * Effects of one document may run at the same moment, and a failed one comes back later. So each first does those asked
 * for before it that are still pending: a lane takes every event once, and in order.
 */
export function announceHandler(parts: AnnounceParts): EffectHandler<AnnounceEffect> {
  return {
    after: 'durable',
    async run({ events }, { key, actor }) {
      for (const stored of await parts.store.pendingEffects(actor)) {
        if (stored.key === key) break;
        if (stored.effect.do !== 'announce') continue;
        await announceAll((stored.effect as unknown as AnnounceEffect).events, parts);
      }
      await announceAll(events, parts);
      return ANNOUNCED;
    },
  };
}

async function announceAll(events: readonly DocumentEvent[], parts: AnnounceParts): Promise<void> {
  for (const event of events) {
    const webhooks = await parts.registry.live(event.document.organizationId);
    if (webhooks.length === 0) continue;
    const body = await payloadOf(event, parts.places);
    await Promise.all(webhooks.map((id) => enqueue(id, event, body, parts)));
  }
}

async function enqueue(
  webhookId: WebhookId,
  event: DocumentEvent,
  body: string,
  parts: AnnounceParts,
): Promise<void> {
  const { document, type, sequence, at } = event;
  const isDelayed = type === 'DocumentConcluded' && parts.concludedDelay > 0;
  const delivery: NewDelivery = {
    id: deliveryId(webhookId, document.id, sequence),
    type,
    sequence,
    body,
    createdAt: at,
    // A clock that was set back holds up nothing that is to go at once.
    notBefore: isDelayed ? at + parts.concludedDelay : 0,
  };
  await put(laneAddress(webhookId, document.id), delivery, event, parts);
}

/** Into the lane, which may have to be made first. */
async function put(
  address: ActorAddress,
  delivery: NewDelivery,
  { document }: DocumentEvent,
  { system, clock }: AnnounceParts,
): Promise<void> {
  const [webhookId] = address.id.split('/');
  for (let tries = 0; tries < TRIES; tries++) {
    const told = await system().tell(address, { type: 'ENQUEUE', deliveries: [delivery] });
    if (told.accepted) return told.durable;
    // Known already: somebody did this effect, or this part of it, before.
    if (told.because === 'not-accepted' || told.because === 'duplicate') return;
    if (told.because !== 'unknown-actor') break;
    const lane: LaneInput = {
      organizationId: document.organizationId,
      webhookId: webhookId as WebhookId,
      documentId: document.id,
      deliveries: [delivery],
      at: clock.now(),
    };
    // What is stored is JSON, whatever its type calls itself.
    const made = await system().create(address, lane as unknown as Json);
    if (made.accepted) return made.durable;
  }
  throw new Retryable('webhook.lane', `The lane ${address.id} does not take events.`);
}
