/**
 * The lanes of webhooks, and the record of what went through them. Implements `PortalWebhooks`.
 *
 * View: `deliveries` [organization, webhook or `*`, status or `*`, createdAt, delivery] → null, four rows for each
 * delivery, so that every filter is one range; counters `deliveries/<organization>/<webhook>/<status>`.
 */
import type { DocumentId, Millis, OrganizationId, WebhookId } from '../../machines/ids.ts';
import { PortalRefusal } from '../../machines/portal-refusals.ts';
import {
  type Delivery,
  LANE_ENDED,
  type LaneContext,
  nextDue,
  webhookLaneMachine,
} from '../../machines/webhook.ts';
import type {
  ActorAddress,
  ActorDefinition,
  ActorStore,
  ActorSystem,
  ActorView,
  Clock,
  Ids,
  Row,
} from '../../runtime/index.ts';
import type { DeliveryView, Page, PortalWebhooks, Tenant, WebhookInput, WebhookView } from './api.ts';
import { attemptWebhook } from './webhook-attempt.ts';
import type { WebhookCaller } from './webhook-port.ts';
import type { WebhookRegistry } from './webhooks.ts';

export const WEBHOOK_LANE = 'webhook-lane';

const ANY = '*';

function laneRows({ context }: ActorView): readonly Row[] {
  const { organizationId, webhookId, deliveries } = context as LaneContext;
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

function laneCounters({ context }: ActorView): { readonly [name: string]: number } {
  const { organizationId, webhookId, deliveries } = context as LaneContext;
  const counters: { [name: string]: number } = {};
  for (const { status } of deliveries) {
    const name = `deliveries/${organizationId}/${webhookId}/${status}`;
    counters[name] = (counters[name] ?? 0) + 1;
  }
  return counters;
}

export const webhookLaneDefinition: ActorDefinition = {
  kind: WEBHOOK_LANE,
  machine: webhookLaneMachine,
  version: 1,
  rows: laneRows,
  counters: laneCounters,
  ends: ({ state }) => state === LANE_ENDED,
};

export function laneAddress(webhookId: WebhookId, documentId: DocumentId): ActorAddress {
  return { kind: WEBHOOK_LANE, id: `${webhookId}/${documentId}` };
}

/** Says which lane it went through, and is the same whoever announces the event, and however often. */
export function deliveryId(webhookId: WebhookId, documentId: DocumentId, sequence: number): string {
  return `${webhookId}.${documentId}.${sequence}`;
}

const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const DELIVERY_ID = new RegExp(`^(${UUID})\\.(${UUID})\\.\\d{1,9}$`);

function laneOf(delivery: string): ActorAddress | undefined {
  const [, webhookId, documentId] = DELIVERY_ID.exec(delivery) ?? [];
  if (webhookId === undefined || documentId === undefined) return undefined;
  return laneAddress(webhookId as WebhookId, documentId as DocumentId);
}

/** Deliveries looked at together when a range is sent again. */
const PIECE = 256;

export interface DeliveriesParts {
  readonly system: () => ActorSystem;
  readonly store: ActorStore;
  readonly clock: Clock;
  readonly ids: Pick<Ids, 'uuid'>;
  readonly registry: WebhookRegistry;
  readonly caller: WebhookCaller;
}

export class Deliveries implements PortalWebhooks {
  readonly #parts: DeliveriesParts;

  constructor(parts: DeliveriesParts) {
    this.#parts = parts;
  }

  list({ organization }: Tenant): Promise<readonly WebhookView[]> {
    return this.#parts.registry.list(organization.id);
  }

  create({ organization }: Tenant, webhook: WebhookInput): Promise<WebhookView> {
    return this.#parts.registry.create(organization.id, webhook);
  }

  replace({ organization }: Tenant, id: WebhookId, webhook: WebhookInput): Promise<WebhookView> {
    return this.#parts.registry.replace(organization.id, id, webhook);
  }

  remove({ organization }: Tenant, id: WebhookId): Promise<void> {
    return this.#parts.registry.remove(organization.id, id);
  }

  async deliveries(
    { organization }: Tenant,
    query: Parameters<PortalWebhooks['deliveries']>[1],
  ): Promise<Page<DeliveryView>> {
    const { store } = this.#parts;
    const totalCount = await this.#count(organization.id, query);
    const offset = query.offset * query.limit;
    if (offset >= totalCount) return { items: [], totalCount };
    const prefix = [organization.id, query.webhookId ?? ANY, query.status ?? ANY];
    const rows = await store.rows({ view: 'deliveries', prefix, reverse: true, offset, limit: query.limit });
    const found = await Promise.all(rows.map(({ key }) => this.#find(organization.id, String(key[4]))));
    return { items: found.flatMap((one) => (one === undefined ? [] : [view(one)])), totalCount };
  }

  async #count(
    organization: OrganizationId,
    { webhookId, status }: Parameters<PortalWebhooks['deliveries']>[1],
  ): Promise<number> {
    const counters = await this.#parts.store.counters(`deliveries/${organization}/`);
    let total = 0;
    for (const [name, count] of Object.entries(counters)) {
      const [, , ofWebhook, ofStatus] = name.split('/');
      if ((webhookId ?? ofWebhook) === ofWebhook && (status ?? ofStatus) === ofStatus) total += count;
    }
    return total;
  }

  async resend({ organization }: Tenant, id: string): Promise<void> {
    const lane = laneOf(id);
    const found = await this.#find(organization.id, id);
    if (lane === undefined || found === undefined) throw new PortalRefusal('DeliveryNotFound');
    const outcome = await this.#parts.system().tell(lane, { type: 'RESEND', ids: [id] });
    if (outcome.accepted) await outcome.durable;
  }

  async test({ organization }: Tenant, id: WebhookId): Promise<DeliveryView> {
    const { registry, caller, clock, ids } = this.#parts;
    const webhook = await registry.open(organization.id, id);
    if (webhook === undefined) throw new PortalRefusal('WebhookNotFound');
    const at = clock.now();
    const data = { organization: { id: organization.id, name: organization.name } };
    const event = { id: `test.${ids.uuid()}`, sequence: 0, body: JSON.stringify({ type: 'Test', data }) };
    const { attempt, outcome } = await attemptWebhook(webhook, event, {
      caller,
      clock,
      signal: new AbortController().signal,
    });
    return {
      ...event,
      webhookId: id,
      documentId: null,
      type: 'Test',
      status: outcome === 'delivered' ? 'Delivered' : 'Failed',
      attempts: [attempt],
      nextTryAt: null,
      createdAt: at,
    };
  }

  async replay(
    { organization }: Tenant,
    range: { readonly from: Millis; readonly to: Millis; readonly failedOnly: boolean },
  ): Promise<{ readonly count: number }> {
    const { store } = this.#parts;
    const prefix = [organization.id, ANY, range.failedOnly ? 'Failed' : ANY];
    let after: Row['key'] = [...prefix, range.from];
    let count = 0;
    for (;;) {
      const rows = await store.rows({ view: 'deliveries', prefix, after, limit: PIECE });
      const inside = rows.filter(({ key }) => Number(key[3]) <= range.to);
      count += await this.#resendAll(inside.map(({ key }) => String(key[4])));
      const last = rows.at(-1);
      if (last === undefined || inside.length < rows.length || rows.length < PIECE) return { count };
      after = last.key;
    }
  }

  /** Each lane is told once, so that it keeps the order of its events. */
  async #resendAll(ids: readonly string[]): Promise<number> {
    const system = this.#parts.system();
    const lanes = new Map<string, { readonly address: ActorAddress; readonly ids: string[] }>();
    for (const id of ids) {
      const address = laneOf(id);
      if (address === undefined) continue;
      const lane = lanes.get(address.id) ?? { address, ids: [] };
      lane.ids.push(id);
      lanes.set(address.id, lane);
    }
    const counts = await Promise.all(
      [...lanes.values()].map(async (lane) => {
        const before = (await system.read(lane.address))?.context as LaneContext | undefined;
        const ended = (before?.deliveries ?? []).filter(({ status }) => status !== 'Pending');
        const again = ended.filter(({ id }) => lane.ids.includes(id)).map(({ id }) => id);
        if (again.length === 0) return 0;
        const outcome = await system.tell(lane.address, { type: 'RESEND', ids: again });
        if (!outcome.accepted) return 0;
        await outcome.durable;
        return again.length;
      }),
    );
    return counts.reduce((sum, one) => sum + one, 0);
  }

  async #find(organization: OrganizationId, id: string): Promise<FoundDelivery | undefined> {
    const address = laneOf(id);
    const actor = address && (await this.#parts.system().read(address));
    const lane = actor?.context as LaneContext | undefined;
    const delivery = lane?.deliveries.find((one) => one.id === id);
    if (lane === undefined || delivery === undefined || lane.organizationId !== organization)
      return undefined;
    return { lane, delivery };
  }
}

interface FoundDelivery {
  readonly lane: LaneContext;
  readonly delivery: Delivery;
}

function view({ lane, delivery }: FoundDelivery): DeliveryView {
  const { id, type, sequence, status, attempts, createdAt, body } = delivery;
  return {
    id,
    webhookId: lane.webhookId,
    documentId: lane.documentId,
    type,
    sequence,
    status,
    body,
    attempts,
    nextTryAt: lane.queue[0] === id ? (nextDue(lane) ?? null) : null,
    createdAt,
  };
}
