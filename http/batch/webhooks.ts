/**
 * `/api/webhooks`: calls of webhooks for the ends of jobs, and those of the organizations of the portal, and sending
 * them again. Bodies of the portal are not shown: they name participants.
 *
 * Source: docs/webhooks.md.
 */
import type { Batch } from '../../actors/index.ts';
import type { OperatorWebhooks } from '../../actors/portal/api.ts';
import {
  listDeliveries,
  listPortalDeliveries,
  listPortalOrganizations,
  replayDeliveries,
  resendDelivery,
  resendPortalDelivery,
} from '../../contracts/batch/webhooks.ts';
import { PortalRefusal } from '../../machines/portal/portal-refusals.ts';
import { Refusal } from '../../machines/refusals.ts';
import type { AnyRoute } from '../core/router.ts';
import { handle } from './handle.ts';
import { operatorOf } from './operator.ts';
import type { SharedAnswers } from './shared-answers.ts';

export function webhookRoutes(deliveries: Batch['webhooks'], shared: SharedAnswers): readonly AnyRoute[] {
  return [
    handle(
      listDeliveries,
      async ({ query: { status, page, pageSize } }) => {
        const { items, totalCount } = await deliveries.list({ status, page, pageSize });
        return { items, page, pageSize, totalCount };
      },
      { shared },
    ),
    handle(resendDelivery, ({ params, identity }) => deliveries.resend(params.id, operatorOf(identity))),
    handle(replayDeliveries, ({ body: { from, to, failedOnly }, identity }) => {
      const range = { from: from ?? 0, to: to ?? Number.MAX_SAFE_INTEGER, failedOnly };
      return deliveries.replay(range, operatorOf(identity));
    }),
  ];
}

export function portalWebhookRoutes(webhooks: OperatorWebhooks, shared: SharedAnswers): readonly AnyRoute[] {
  return [
    handle(
      listPortalOrganizations,
      async () => ({
        items: (await webhooks.organizations()).map(({ id, name, counts }) => ({
          id,
          name,
          pending: counts.Pending,
          delivered: counts.Delivered,
          failed: counts.Failed,
        })),
      }),
      { shared },
    ),
    handle(
      listPortalDeliveries,
      async ({ params: { organizationId }, query: { status, page, pageSize } }) => {
        const place = { status, limit: pageSize, offset: page - 1 };
        const { items, totalCount } = await webhooks.deliveriesOf(organizationId, place);
        const shown = items.map(({ creationDate, nextTryDate, attempts, ...delivery }) => ({
          ...delivery,
          createdAt: creationDate,
          nextAttemptAt: nextTryDate,
          attempts: attempts.map(({ date, ...attempt }) => ({ at: date, ...attempt })),
        }));
        return { items: shown, page, pageSize, totalCount };
      },
      { shared },
    ),
    handle(resendPortalDelivery, async ({ params: { organizationId, id }, identity }) => {
      try {
        await webhooks.resendOf(organizationId, id, identity?.operator ?? '');
      } catch (error) {
        if (!(error instanceof PortalRefusal) || error.code !== 'DeliveryNotFound') throw error;
        throw new Refusal('webhook.delivery-not-found', 'The organization has no such delivery.');
      }
      return { id };
    }),
  ];
}
