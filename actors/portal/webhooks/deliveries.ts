/**
 * Delivery queues of webhooks and the record of their deliveries.
 *
 * View: `deliveries` [organization, webhook or `*`, status or `*`, createdAt, delivery] → null, four rows for each
 * delivery, so that every filter is one range; counters `deliveries/<organization>/<webhook>/<status>`.
 */
import { type ActorView, defineActor, Fatal, type Row } from '@sealwright/runtime';
import type { DeliveryStatus } from '../../../contracts/deliveries.ts';
import type { Page } from '../../../contracts/portal/lists.ts';
import type { DeliveryView, WebhookInput } from '../../../contracts/portal/webhooks/webhooks.ts';
import {
  type Attempt,
  type AttemptedMessage,
  DELIVERY_QUEUE_ENDED,
  type Delivery,
  nextDue,
} from '../../../machines/delivery-queue.ts';
import type { DocumentId, Millis, OrganizationId, WebhookId } from '../../../machines/ids.ts';
import {
  callWebhook,
  type WebhookCall,
  type WebhookQueueContext,
  webhookDeliveryMachine,
} from '../../../machines/portal/document-delivery-queue.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type { ServiceRuntime } from '../../hosting/service-plan.ts';
import { finalErrors } from '../../shared/failures/final-errors.ts';
import { pageOf } from '../../shared/lists/list.ts';
import {
  attemptWebhook,
  notAttempted,
  WEBHOOK_TIME_LIMIT_MS,
} from '../../shared/webhooks/webhook-attempt.ts';
import type { WebhookCaller } from '../../shared/webhooks/webhook-port.ts';
import { callerName, type Tenant } from '../api/callers.ts';
import type { RegisteredWebhook, WebhookRegistry } from './webhooks.ts';

/** Makes one attempt for the delivery that is next in a delivery queue. */
export function callWebhookHandler(
  { actors, clock }: Pick<ServiceRuntime, 'actors' | 'clock'>,
  registry: WebhookRegistry,
  caller: WebhookCaller,
) {
  const nothingTried = (id: string, outcome: AttemptedMessage['outcome'], error: string) =>
    notAttempted(id, outcome, error, clock.now());
  return callWebhook.handledBy({
    timeoutMs: WEBHOOK_TIME_LIMIT_MS,
    // The queue has the schedule of the attempts.
    run: finalErrors(async ({ organizationId, webhookId, deliveryId }: WebhookCall, { actor, signal }) => {
      const queue = (await actors.read(WEBHOOK_DELIVERY_QUEUE, actor.id))?.context;
      const delivery = queue?.deliveries.find(({ id }) => id === deliveryId);
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
      return {
        type: 'ATTEMPTED',
        id: deliveryId,
        outcome,
        attempt,
        retryAfter,
      } satisfies AttemptedMessage;
    }),
    // Such as a secret that was sealed under another key: it may be replaced, so the delivery is tried again.
    failed: ({ deliveryId }, { code, message }) => nothingTried(deliveryId, 'failed', `${code}: ${message}`),
  });
}

export const ANY = '*';

function queueRows({ context }: ActorView<WebhookQueueContext>): readonly Row[] {
  const { organizationId, webhookId, deliveries } = context;
  return deliveries.flatMap(({ id, status, createdAt }) =>
    [
      [webhookId, status],
      [webhookId, ANY],
      [ANY, status],
      [ANY, ANY],
    ].map((filter) => ({
      view: 'deliveries',
      key: [organizationId, ...filter, createdAt, id],
      value: null,
    })),
  );
}

function queueCounters({ context }: ActorView<WebhookQueueContext>): { readonly [name: string]: number } {
  const { organizationId, webhookId, deliveries } = context;
  const counters: { [name: string]: number } = {};
  for (const { status } of deliveries) {
    const name = `deliveries/${organizationId}/${webhookId}/${status}`;
    counters[name] = (counters[name] ?? 0) + 1;
  }
  return counters;
}

export const WEBHOOK_DELIVERY_QUEUE = defineActor('webhook-lane', {
  machine: webhookDeliveryMachine,
  effects: [callWebhook],
  version: 1,
  rows: queueRows,
  counters: queueCounters,
  ends: ({ state }) => state === DELIVERY_QUEUE_ENDED,
});

/** The id of the actor. */
export function deliveryQueue(webhookId: WebhookId, documentId: DocumentId): string {
  return `${webhookId}/${documentId}`;
}

/** Derives the id of a delivery: it names the queue and is the same for each announcement of the event. */
export function deliveryId(webhookId: WebhookId, documentId: DocumentId, sequence: number): string {
  return `${webhookId}.${documentId}.${sequence}`;
}

const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const DELIVERY_ID = new RegExp(`^(${UUID})\\.(${UUID})\\.\\d{1,9}$`);

function queueOf(delivery: string): string | undefined {
  const [, webhookId, documentId] = DELIVERY_ID.exec(delivery) ?? [];
  if (webhookId === undefined || documentId === undefined) return undefined;
  return deliveryQueue(webhookId as WebhookId, documentId as DocumentId);
}

/** Deliveries read at a time when a range is sent again. */
const BATCH_SIZE = 256;

export interface DeliveryQuery {
  readonly webhookId?: WebhookId | undefined;
  readonly status?: DeliveryStatus | undefined;
  readonly limit: number;
  /** Pages from 0. */
  readonly offset: number;
}

export class Deliveries {
  constructor(
    private readonly runtime: Pick<ServiceRuntime, 'actors' | 'store' | 'clock' | 'ids'>,
    private readonly registry: WebhookRegistry,
    private readonly caller: WebhookCaller,
  ) {}

  list({ organization }: Tenant): Promise<readonly RegisteredWebhook[]> {
    return this.registry.list(organization.id);
  }

  create(tenant: Tenant, webhook: WebhookInput): Promise<RegisteredWebhook> {
    return this.registry.create(tenant.organization.id, webhook, callerName(tenant));
  }

  replace(tenant: Tenant, id: WebhookId, webhook: WebhookInput): Promise<RegisteredWebhook> {
    return this.registry.replace(tenant.organization.id, id, webhook, callerName(tenant));
  }

  /** Like `replace`, but keeps a secret that is not given, and a token for the same origin. */
  change(tenant: Tenant, id: WebhookId, webhook: WebhookInput): Promise<RegisteredWebhook> {
    return this.registry.change(tenant.organization.id, id, webhook, callerName(tenant));
  }

  remove(tenant: Tenant, id: WebhookId): Promise<void> {
    return this.registry.remove(tenant.organization.id, id, callerName(tenant));
  }

  /** Newest first. */
  async deliveries({ organization }: Tenant, query: DeliveryQuery): Promise<Page<DeliveryView>> {
    const { store } = this.runtime;
    const totalCount = await this.#count(organization.id, query);
    const prefix = [organization.id, query.webhookId ?? ANY, query.status ?? ANY];
    const list = {
      ranges: [{ view: 'deliveries', prefix }],
      total: totalCount,
      itemOf: ({ key }: Row) => String(key[4]),
    };
    const part = { newestFirst: true, offset: query.offset * query.limit, limit: query.limit };
    const { items } = await pageOf(store, list, part);
    const found = await Promise.all(items.map((id) => this.#find(organization.id, id)));
    return { items: found.flatMap((one) => (one === undefined ? [] : [view(one)])), totalCount };
  }

  async #count(organization: OrganizationId, { webhookId, status }: DeliveryQuery): Promise<number> {
    const counters = await this.runtime.store.counters(`deliveries/${organization}/`);
    let total = 0;
    for (const [name, count] of Object.entries(counters)) {
      const [, , ofWebhook, ofStatus] = name.split('/');
      if ((webhookId ?? ofWebhook) === ofWebhook && (status ?? ofStatus) === ofStatus) total += count;
    }
    return total;
  }

  /** @param by who asked. @default the caller */
  async resend(tenant: Tenant, id: string, by = callerName(tenant)): Promise<void> {
    const { organization } = tenant;
    const queueId = queueOf(id);
    const found = await this.#find(organization.id, id);
    if (queueId === undefined || found === undefined) throw new PortalRefusal('DeliveryNotFound');
    await this.runtime.actors.send(WEBHOOK_DELIVERY_QUEUE, queueId, { type: 'RESEND', ids: [id], by });
  }

  /** Sends a sample event now and returns the response. */
  async test({ organization }: Tenant, id: WebhookId): Promise<DeliveryView> {
    const { clock, ids } = this.runtime;
    const webhook = await this.registry.open(organization.id, id);
    if (webhook === undefined) throw new PortalRefusal('WebhookNotFound');
    const at = clock.now();
    const data = { organization: { id: organization.id, name: organization.name } };
    const event = { id: `test.${ids.uuid()}`, sequence: 0, body: JSON.stringify({ type: 'Test', data }) };
    const { attempt, outcome } = await attemptWebhook(webhook, event, {
      caller: this.caller,
      clock,
      signal: new AbortController().signal,
    });
    return {
      ...event,
      webhookId: id,
      documentId: null,
      type: 'Test',
      status: outcome === 'delivered' ? 'Delivered' : 'Failed',
      attempts: [attemptView(attempt)],
      nextTryDate: null,
      creationDate: at,
    };
  }

  /** `count` deliveries will be made again. */
  async replay(
    tenant: Tenant,
    range: { readonly from: Millis; readonly to: Millis; readonly failedOnly: boolean },
  ): Promise<{ readonly count: number }> {
    const { store } = this.runtime;
    const prefix = [tenant.organization.id, ANY, range.failedOnly ? 'Failed' : ANY];
    let after: Row['key'] = [...prefix, range.from];
    let count = 0;
    for (;;) {
      const rows = await store.rows({ view: 'deliveries', prefix, after, limit: BATCH_SIZE });
      const inside = rows.filter(({ key }) => Number(key[3]) <= range.to);
      count += await this.#resendAll(
        inside.map(({ key }) => String(key[4])),
        callerName(tenant),
      );
      const last = rows.at(-1);
      if (last === undefined || inside.length < rows.length || rows.length < BATCH_SIZE) return { count };
      after = last.key;
    }
  }

  /** Sends one message to each queue, so that it keeps the order of its events. */
  async #resendAll(ids: readonly string[], by: string): Promise<number> {
    const { actors } = this.runtime;
    const queues = new Map<string, string[]>();
    for (const id of ids) {
      const queueId = queueOf(id);
      if (queueId === undefined) continue;
      queues.set(queueId, [...(queues.get(queueId) ?? []), id]);
    }
    const counts = await Promise.all(
      [...queues].map(async ([queueId, named]) => {
        const before = (await actors.read(WEBHOOK_DELIVERY_QUEUE, queueId))?.context;
        const ended = (before?.deliveries ?? []).filter(({ status }) => status !== 'Pending');
        const again = ended.filter(({ id }) => named.includes(id)).map(({ id }) => id);
        if (again.length === 0) return 0;
        const sent = await actors.send(WEBHOOK_DELIVERY_QUEUE, queueId, { type: 'RESEND', ids: again, by });
        return sent.accepted ? again.length : 0;
      }),
    );
    return counts.reduce((sum, one) => sum + one, 0);
  }

  async #find(organization: OrganizationId, id: string): Promise<FoundDelivery | undefined> {
    const queueId = queueOf(id);
    const actor =
      queueId === undefined ? undefined : await this.runtime.actors.read(WEBHOOK_DELIVERY_QUEUE, queueId);
    const queue = actor?.context;
    const delivery = queue?.deliveries.find((one) => one.id === id);
    if (queue === undefined || delivery === undefined || queue.organizationId !== organization)
      return undefined;
    return { queue, delivery };
  }
}

interface FoundDelivery {
  readonly queue: WebhookQueueContext;
  readonly delivery: Delivery;
}

function view({ queue, delivery }: FoundDelivery): DeliveryView {
  const { id, type, sequence, status, attempts, createdAt, body } = delivery;
  return {
    id,
    webhookId: queue.webhookId,
    documentId: queue.documentId,
    type,
    sequence,
    status,
    body,
    attempts: attempts.map(attemptView),
    nextTryDate: queue.queue[0] === id ? (nextDue(queue) ?? null) : null,
    creationDate: createdAt,
  };
}

function attemptView({ at, ms, ...attempt }: Attempt): DeliveryView['attempts'][number] {
  return { date: at, milliseconds: ms, ...attempt };
}
