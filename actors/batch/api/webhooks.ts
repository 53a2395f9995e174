/** Calls of webhooks for the ends of jobs, as the HTTP layer asks about them. Source: docs/webhooks.md. */
import type { Attempt } from '../../../machines/delivery-queue.ts';
import type { JobId, Millis } from '../../../machines/ids.ts';

/** State of a webhook delivery. */
export const DELIVERY_STATUSES = ['Pending', 'Delivered', 'Failed'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** The call of one webhook for the end of one job. */
export interface WebhookDeliveryView {
  /** The `webhook-id` of each attempt. */
  readonly id: string;
  /** Null when the configuration does not name the webhook any more. */
  readonly url: string | null;
  readonly jobId: JobId;
  /** `JobCompleted`, `JobFailed` or `JobCanceled`. */
  readonly type: string;
  readonly status: DeliveryStatus;
  /** Sent as it is, byte for byte. */
  readonly body: string;
  /** Oldest first, the last ten. */
  readonly attempts: readonly Attempt[];
  readonly nextAttemptAt: Millis | null;
  /** Time at which the job ended. */
  readonly createdAt: Millis;
}

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
