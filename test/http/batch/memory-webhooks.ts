/** Webhook deliveries in memory: they keep what they were asked and send nothing. */

import type { WebhookDeliveries } from '../../../actors/batch/api/webhooks.ts';
import type { WebhookDeliveryView } from '../../../contracts/batch/webhooks.ts';
import type { JobId } from '../../../machines/ids.ts';
import { Refusal } from '../../../machines/refusals.ts';

const AT = 1_800_000_000_000;
const JOB = '00000000-0000-4000-8000-000000000001' as JobId;

export const DELIVERY: WebhookDeliveryView = {
  id: `0123456789abcdef.${JOB}`,
  url: 'http://127.0.0.1/hook',
  jobId: JOB,
  type: 'JobFailed',
  status: 'Failed',
  body: '{}',
  attempts: [
    {
      at: AT,
      url: 'http://127.0.0.1/hook',
      status: null,
      milliseconds: 3,
      error: 'webhook.timeout: none',
      response: null,
    },
  ],
  nextAttemptAt: null,
  createdAt: AT,
};

export class MemoryWebhooks implements WebhookDeliveries {
  readonly asked: unknown[] = [];

  async counts() {
    return { Pending: 0, Delivered: 0, Failed: 1 };
  }

  async list(query: Parameters<WebhookDeliveries['list']>[0]) {
    this.asked.push(query);
    const items = query.status === undefined || query.status === 'Failed' ? [DELIVERY] : [];
    return { items, totalCount: items.length };
  }

  async resend(id: string): Promise<WebhookDeliveryView> {
    if (id !== DELIVERY.id) throw new Refusal('webhook.delivery-not-found', id);
    return { ...DELIVERY, status: 'Pending', nextAttemptAt: AT };
  }

  async replay(range: Parameters<WebhookDeliveries['replay']>[0]) {
    this.asked.push(range);
    return { count: 1, complete: true };
  }
}
