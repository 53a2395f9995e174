/** Deliveries of one organization in memory. */

import type { OperatorWebhooks } from '../../../actors/portal/api.ts';
import type { DeliveryView } from '../../../contracts/portal/webhooks/webhooks.ts';
import type { DocumentId, OrganizationId, WebhookId } from '../../../machines/ids.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';

export const ORGANIZATION = '6f2b8e14-93c7-4d5a-b0e1-7a4c2d9f8b36' as OrganizationId;
const WEBHOOK = '0d9a7c3e-5b1f-4a6d-8c2e-1f3b5d7a9c0e' as WebhookId;
const DOCUMENT = '1d9a7c3e-5b1f-4a6d-8c2e-1f3b5d7a9c0e' as DocumentId;

const DELIVERY: Omit<DeliveryView, 'body'> = {
  id: `${WEBHOOK}.${DOCUMENT}.1`,
  webhookId: WEBHOOK,
  documentId: DOCUMENT,
  type: 'DocumentConcluded',
  sequence: 1,
  status: 'Failed',
  attempts: [{ date: 5, url: 'https://x.test/', status: 500, milliseconds: 3, error: null, response: 'no' }],
  nextTryDate: null,
  creationDate: 4,
};

export function memoryPortalWebhooks(): OperatorWebhooks & { readonly resent: string[] } {
  const resent: string[] = [];
  return {
    resent,
    organizations: async () => [
      { id: ORGANIZATION, name: 'Acme', counts: { Pending: 0, Delivered: 0, Failed: 1 } },
    ],
    async deliveriesOf(organization, { status }) {
      const isThere = organization === ORGANIZATION && (status ?? 'Failed') === 'Failed';
      return isThere ? { items: [DELIVERY], totalCount: 1 } : { items: [], totalCount: 0 };
    },
    async resendOf(organization, id, operator) {
      if (organization !== ORGANIZATION || id !== DELIVERY.id) throw new PortalRefusal('DeliveryNotFound');
      resent.push(`${operator} ${id}`);
    },
  };
}
