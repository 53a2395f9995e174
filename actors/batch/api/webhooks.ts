/** Calls of webhooks for the ends of jobs, as the HTTP layer asks about them. Source: docs/webhooks.md. */
import type { WebhookDeliveryView } from '../../../contracts/batch/webhooks.ts';
import type { DELIVERY_STATUSES } from '../../../contracts/deliveries.ts';
import type { Millis } from '../../../machines/ids.ts';

export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** Calls of webhooks for the ends of jobs. Ended ones are kept for 7 days. Source: docs/webhooks.md. */
export interface WebhookDeliveries {
  counts(): Promise<{ readonly [status in DeliveryStatus]: number }>;
  /** Newest first. @param query `page` from 1 */
  list(query: {
    readonly status?: DeliveryStatus | undefined;
    readonly page: number;
    readonly pageSize: number;
  }): Promise<{ readonly items: readonly WebhookDeliveryView[]; readonly totalCount: number }>;
  /** An ended delivery is pending again; one that waits is attempted now. Refusals: `webhook.delivery-not-found`. */
  resend(id: string): Promise<WebhookDeliveryView>;
  /**
   * Sends deliveries of jobs that ended within the range again, oldest first, both bounds included. `complete`: false
   * when the limit of one replay was reached before the end of the range.
   */
  replay(range: {
    readonly from: Millis;
    readonly to: Millis;
    readonly failedOnly: boolean;
  }): Promise<{ readonly count: number; readonly complete: boolean }>;
}
