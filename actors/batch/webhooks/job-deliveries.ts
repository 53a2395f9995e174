/**
 * The webhook deliveries of ended jobs, and what became of them.
 *
 * View: `job-deliveries` [status or `*`, createdAt, delivery] → null, two rows for each delivery; counters
 * `job-deliveries/<status>`. Source: docs/webhooks.md.
 */

import { type ActorView, defineActor, type Row } from '@sealwright/runtime';
import type { WebhookDeliveryView } from '../../../contracts/batch/webhooks.ts';
import type { DeliveryStatus } from '../../../contracts/deliveries.ts';
import {
  callJobWebhook,
  type JobDeliveryContext,
  jobDeliveryMachine,
} from '../../../machines/batch/job-delivery-queue.ts';
import { recordEvent } from '../../../machines/batch/system-event.ts';
import { DELIVERY_QUEUE_ENDED, type Delivery, nextDue } from '../../../machines/delivery-queue.ts';
import type { JobId, Millis } from '../../../machines/ids.ts';
import { Refusal } from '../../../machines/refusals.ts';
import { pageOf } from '../../shared/lists/list.ts';
import type { BatchRuntime } from '../job-records/job-counts.ts';
import type { JobWebhook } from './job-webhook.ts';

const VIEW = 'job-deliveries';
const ANY = '*';
/** Deliveries sent again together. */
const BATCH_SIZE = 256;
/** Deliveries one replay sends again. */
const MAX_REPLAYED = 10_000;

function rows({ context }: ActorView<JobDeliveryContext>): readonly Row[] {
  const { deliveries } = context;
  return deliveries.flatMap(({ id, status, createdAt }) =>
    [status, ANY].map((filter) => ({ view: VIEW, key: [filter, createdAt, id], value: null })),
  );
}

/** Name of the counter of deliveries in the status. */
export function deliveryCounter(status: DeliveryStatus): string {
  return `${VIEW}/${status}`;
}

function counters({ context }: ActorView<JobDeliveryContext>): { readonly [name: string]: number } {
  const [delivery] = context.deliveries;
  return delivery === undefined ? {} : { [deliveryCounter(delivery.status)]: 1 };
}

/** One actor for each webhook and job, so each has one delivery. */
export const JOB_DELIVERY = defineActor('job-webhook', {
  machine: jobDeliveryMachine,
  effects: [callJobWebhook, recordEvent],
  version: 1,
  rows,
  counters,
  parent: ({ context }) => ({ kind: 'job', id: context.jobId }),
  ends: ({ state }) => state === DELIVERY_QUEUE_ENDED,
});

/** The id of the actor. */
export function jobDeliveryActor(webhookId: string, jobId: string): string {
  return `${webhookId}/${jobId}`;
}

/** The `webhook-id` of the call. */
export function jobDeliveryId(webhookId: string, jobId: string): string {
  return `${webhookId}.${jobId}`;
}

function actorOf(delivery: string): string | undefined {
  const [, webhookId, jobId] = /^([0-9a-f]{16})\.([0-9a-f-]{36})$/.exec(delivery) ?? [];
  return webhookId === undefined || jobId === undefined ? undefined : jobDeliveryActor(webhookId, jobId);
}

/** Ended deliveries are kept for 7 days. */
export class JobDeliveries {
  constructor(
    private readonly runtime: Pick<BatchRuntime, 'actors' | 'store'>,
    private readonly webhooks: readonly JobWebhook[],
  ) {}

  async counts(): Promise<{ readonly [status in DeliveryStatus]: number }> {
    const stored = await this.runtime.store.counters(`${VIEW}/`);
    const count = (status: DeliveryStatus) => stored[deliveryCounter(status)] ?? 0;
    return { Pending: count('Pending'), Delivered: count('Delivered'), Failed: count('Failed') };
  }

  /** Newest first; `page` counts from 1. */
  async list({
    status,
    page,
    pageSize,
  }: {
    readonly status?: DeliveryStatus | undefined;
    readonly page: number;
    readonly pageSize: number;
  }) {
    const counts = await this.counts();
    const totalCount =
      status === undefined ? counts.Pending + counts.Delivered + counts.Failed : counts[status];
    const list = {
      ranges: [{ view: VIEW, prefix: [status ?? ANY] }],
      total: totalCount,
      itemOf: idOf,
    };
    const part = { newestFirst: true, offset: (page - 1) * pageSize, limit: pageSize };
    const found = await pageOf(this.runtime.store, list, part);
    const items = await Promise.all(found.items.map((id) => this.#find(id)));
    return { items: items.filter((item) => item !== undefined), totalCount };
  }

  /** An ended delivery is pending again; one that waits is attempted now. Refusals: `webhook.delivery-not-found`. */
  async resend(id: string, by: string): Promise<WebhookDeliveryView> {
    await this.#resend(id, by);
    const delivery = await this.#find(id);
    if (delivery !== undefined) return delivery;
    throw new Refusal('webhook.delivery-not-found', `No webhook delivery has the id ${id}.`);
  }

  /**
   * Sends deliveries of jobs that ended within the range again, oldest first, both bounds included. `complete`: false
   * when the limit of one replay was reached before the end of the range.
   */
  async replay(
    {
      from,
      to,
      failedOnly,
    }: {
      readonly from: Millis;
      readonly to: Millis;
      readonly failedOnly: boolean;
    },
    by: string,
  ) {
    const { store } = this.runtime;
    // A delivery that is sent again leaves the range of failed ones, and returns to it only after another attempt.
    const prefix = [failedOnly ? 'Failed' : ANY];
    let after: Row['key'] = [...prefix, from];
    let count = 0;
    while (count < MAX_REPLAYED) {
      const found = await store.rows({ view: VIEW, prefix, after, limit: BATCH_SIZE });
      const inside = found.filter(({ key }) => Number(key[1]) <= to);
      const sent = await Promise.all(inside.map((row) => this.#resend(idOf(row), by)));
      count += sent.filter(Boolean).length;
      const last = found.at(-1);
      if (last === undefined || inside.length < BATCH_SIZE) return { count, complete: true };
      after = last.key;
    }
    return { count, complete: false };
  }

  /** True when it was ended and is pending again. A pending one that waits is attempted now. */
  async #resend(id: string, by: string): Promise<boolean> {
    const actor = actorOf(id);
    if (actor === undefined) return false;
    const { actors } = this.runtime;
    const before = (await actors.read(JOB_DELIVERY, actor))?.context;
    const resent = await actors.send(JOB_DELIVERY, actor, { type: 'RESEND', ids: [id], by });
    return resent.accepted && before?.deliveries[0]?.status !== 'Pending';
  }

  async #find(id: string): Promise<WebhookDeliveryView | undefined> {
    const { actors } = this.runtime;
    const { webhooks } = this;
    const actor = actorOf(id);
    const queue = actor === undefined ? undefined : await actors.read(JOB_DELIVERY, actor);
    const context = queue?.context;
    const delivery = context?.deliveries.find((one) => one.id === id);
    if (context === undefined || delivery === undefined) return undefined;
    const url = webhooks.find((webhook) => webhook.id === context.webhookId)?.url ?? null;
    return view(context, delivery, url);
  }
}

function idOf({ key }: Row): string {
  return String(key[2]);
}

function view(context: JobDeliveryContext, delivery: Delivery, url: string | null): WebhookDeliveryView {
  const { id, type, status, body, createdAt } = delivery;
  const attempts = delivery.attempts.map(({ ms, ...attempt }) => ({ milliseconds: ms, ...attempt }));
  const nextAttemptAt = status === 'Pending' ? (nextDue(context) ?? null) : null;
  return { id, url, jobId: context.jobId as JobId, type, status, body, attempts, nextAttemptAt, createdAt };
}
