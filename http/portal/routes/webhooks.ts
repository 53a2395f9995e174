/** Webhooks of the organization, and the log of their deliveries. */
import type { Deliveries, Tenant } from '../../../actors/portal/api.ts';
import {
  createWebhook,
  listDeliveries,
  listWebhooks,
  removeWebhook,
  replaceWebhook,
  replayDeliveries,
  resendDelivery,
  testWebhook,
} from '../../../contracts/portal/webhooks/webhooks.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type { AnyRoute } from '../../core/router.ts';
import { handle } from '../handle.ts';
import { organizationId, webhookId } from '../input/ids.ts';
import { pageReply } from '../input/query-fields.ts';

export function webhookRoutes(webhooks: Deliveries): readonly AnyRoute[] {
  return [
    handle(listWebhooks, ({ tenant, params }) => {
      requireOwn(tenant, params.id);
      return webhooks.list(tenant);
    }),
    handle(createWebhook, ({ tenant, params, body }) => {
      requireOwn(tenant, params.id);
      return webhooks.create(tenant, body);
    }),
    handle(replaceWebhook, ({ tenant, params, body }) => {
      requireOwn(tenant, params.id);
      return webhooks.replace(tenant, webhookId(params.webhookId), body);
    }),
    handle(removeWebhook, async ({ tenant, params }) => {
      requireOwn(tenant, params.id);
      await webhooks.remove(tenant, webhookId(params.webhookId));
    }),
    handle(testWebhook, ({ tenant, params }) => {
      requireOwn(tenant, params.id);
      return webhooks.test(tenant, webhookId(params.webhookId));
    }),
    handle(listDeliveries, async ({ tenant, params, query }) => {
      requireOwn(tenant, params.id);
      const wanted = query.webhookId === undefined ? undefined : webhookId(query.webhookId);
      return pageReply(await webhooks.deliveries(tenant, { ...query, webhookId: wanted }));
    }),
    handle(resendDelivery, async ({ tenant, params }) => {
      requireOwn(tenant, params.id);
      await webhooks.resend(tenant, params.deliveryId);
    }),
    handle(replayDeliveries, ({ tenant, params, body: { from, to, failedOnly } }) => {
      requireOwn(tenant, params.id);
      return webhooks.replay(tenant, { from, to, failedOnly: failedOnly ?? false });
    }),
  ];
}

/** Refusals: `OrganizationNotFound` for any but the key's own. */
export function requireOwn(tenant: Tenant, organization: string): void {
  if (organizationId(organization) !== tenant.organization.id) {
    throw new PortalRefusal('OrganizationNotFound');
  }
}
