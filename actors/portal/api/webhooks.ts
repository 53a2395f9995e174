/** Webhooks of an organization and their deliveries (docs/portal-values.md §19). */
import type { Page } from '../../../contracts/portal/lists.ts';
import type { Attempt } from '../../../machines/delivery-queue.ts';
import type { DocumentId, Millis, OrganizationId, WebhookId } from '../../../machines/ids.ts';
import type { Tenant } from './callers.ts';

export type WebhookAuthType = 'NoAuth' | 'Basic' | 'Bearer' | 'ApiKey';

export interface WebhookInput {
  /** Types of events that it receives. @default all but the optional ones */
  readonly events?: readonly string[] | undefined;
  readonly url: string;
  readonly authType: WebhookAuthType;
  readonly token?: string | undefined;
  /** `whsec_…`: also signed by Standard Webhooks. */
  readonly secret?: string | undefined;
}
export interface WebhookView {
  /** Types of events that it receives; null = all but the optional ones. */
  readonly events: readonly string[] | null;
  readonly id: WebhookId;
  readonly url: string;
  readonly authType: WebhookAuthType;
  readonly isSigned: boolean;
  readonly isDisabled: boolean;
  /** A sentence; null = it is called. */
  readonly disabledReason: string | null;
}

export interface DeliveryView {
  readonly id: string;
  readonly webhookId: WebhookId;
  readonly documentId: DocumentId | null;
  readonly type: string;
  readonly sequence: number;
  readonly status: 'Pending' | 'Delivered' | 'Failed';
  /** The request body, byte for byte. */
  readonly body: string;
  readonly attempts: readonly Attempt[];
  readonly nextTryAt: Millis | null;
  readonly createdAt: Millis;
}

/** Deliveries of one organization, by state. */
export interface OrganizationDeliveries {
  readonly id: OrganizationId;
  readonly name: string;
  readonly counts: { readonly [status in DeliveryView['status']]: number };
}

/** For operators: deliveries of all organizations, without their bodies, which name participants. */
export interface OperatorWebhooks {
  /** Organizations with deliveries, those with most failures first, at most 200. */
  organizations(): Promise<readonly OrganizationDeliveries[]>;
  /** Newest first. `offset`: pages from 0. Empty for an unknown organization. */
  deliveriesOf(
    organization: string,
    query: {
      readonly status?: DeliveryView['status'] | undefined;
      readonly limit: number;
      readonly offset: number;
    },
  ): Promise<Page<Omit<DeliveryView, 'body'>>>;
  /** Records the operator in the journal of the organization. Refusals: `DeliveryNotFound`. */
  resendOf(organization: string, deliveryId: string, operator: string): Promise<void>;
}

export interface PortalWebhooks {
  list(tenant: Tenant): Promise<readonly WebhookView[]>;
  create(tenant: Tenant, webhook: WebhookInput): Promise<WebhookView>;
  replace(tenant: Tenant, id: WebhookId, webhook: WebhookInput): Promise<WebhookView>;
  /** Like `replace`, but keeps a secret that is not given, and a token for the same origin. */
  change(tenant: Tenant, id: WebhookId, webhook: WebhookInput): Promise<WebhookView>;
  remove(tenant: Tenant, id: WebhookId): Promise<void>;
  /** Newest first. */
  deliveries(
    tenant: Tenant,
    query: {
      readonly webhookId?: WebhookId | undefined;
      readonly status?: DeliveryView['status'] | undefined;
      readonly limit: number;
      readonly offset: number;
    },
  ): Promise<Page<DeliveryView>>;
  resend(tenant: Tenant, deliveryId: string): Promise<void>;
  /** Sends a sample event now and returns the response. */
  test(tenant: Tenant, id: WebhookId): Promise<DeliveryView>;
  /** Number of deliveries will be made again. */
  replay(
    tenant: Tenant,
    range: { readonly from: Millis; readonly to: Millis; readonly failedOnly: boolean },
  ): Promise<{ readonly count: number }>;
}
