/** Makes one attempt for the delivery that is next in a lane. */
import type { CallWebhookEffect, LaneContext, LaneEvent } from '../../../machines/webhook.ts';
import { type ActorSystem, type Clock, type EffectHandler, Fatal } from '../../../runtime/index.ts';
import { attemptWebhook } from '../webhook-attempt.ts';
import type { WebhookCaller } from '../webhook-port.ts';
import type { WebhookRegistry } from '../webhooks.ts';

/** Calls at once, of all webhooks and of one. A receiver that does not answer takes no more than its own. */
const AT_ONCE = 64;
const AT_ONCE_OF_ONE = 8;

export interface CallWebhookParts {
  readonly system: () => Pick<ActorSystem, 'read'>;
  readonly clock: Pick<Clock, 'now' | 'elapsed'>;
  readonly registry: WebhookRegistry;
  readonly caller: WebhookCaller;
}

type WithoutTime<Event> = Event extends unknown ? Omit<Event, 'at'> : never;
type Outcome = WithoutTime<Extract<LaneEvent, { readonly type: 'ATTEMPTED' }>>;

export function callWebhookHandler(parts: CallWebhookParts): EffectHandler<CallWebhookEffect> {
  const { registry, caller, clock } = parts;
  const nothingTried = (id: string, outcome: Outcome['outcome'], error: string): Outcome => ({
    type: 'ATTEMPTED',
    id,
    outcome,
    attempt: { at: clock.now(), url: '', status: null, ms: 0, error, response: null },
    retryAfter: null,
  });
  return {
    after: 'durable',
    lanes: { atOnce: AT_ONCE, perLane: AT_ONCE_OF_ONE, of: ({ webhookId }) => webhookId },
    async run({ organizationId, webhookId, deliveryId }, { actor, signal }): Promise<Outcome> {
      const lane = (await parts.system().read(actor))?.context as LaneContext | undefined;
      const delivery = lane?.deliveries.find(({ id }) => id === deliveryId);
      if (delivery === undefined) throw new Fatal('internal', 'The delivery is gone.');
      const webhook = await registry.open(organizationId, webhookId);
      if (webhook === undefined) return nothingTried(deliveryId, 'gone', 'The webhook was removed.');
      if (webhook.disabled) return nothingTried(deliveryId, 'gone', 'The webhook is disabled.');
      const { attempt, outcome, retryAfter } = await attemptWebhook(webhook, delivery, {
        caller,
        clock,
        signal,
      });
      if (outcome === 'gone')
        await registry.disable(organizationId, webhookId, 'The receiver answered with HTTP status 410.');
      return { type: 'ATTEMPTED', id: deliveryId, outcome, attempt, retryAfter };
    },
    // Such as a secret that was sealed under another key: it may be replaced, so the delivery is tried again.
    failed: ({ deliveryId }, { code, message }) => nothingTried(deliveryId, 'failed', `${code}: ${message}`),
  };
}
