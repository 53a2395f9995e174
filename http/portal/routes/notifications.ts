/**
 * Reminders by e-mail.
 *
 * Source: docs/portal-values.md §0, §11.
 */
import type { PortalDocuments } from '../../../actors/portal/api.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type { AnyRoute } from '../../core/router.ts';
import { list, members, text, uuid } from '../input/fields.ts';
import { documentId, flowActionId, idParams } from '../input/ids.ts';
import { UNKNOWN_DOCUMENT } from '../refusal-groups.ts';
import { DONE, portalRoute } from '../route.ts';
import { remindersInput } from '../shapes/reminders.ts';

/** Maximum number of addresses in one call; each costs a query of its pending actions. Additional. */
const MAX_ADDRESSES = 1000;

export function notificationRoutes(documents: PortalDocuments): readonly AnyRoute[] {
  return [
    portalRoute({
      method: 'POST',
      path: '/api/notifications/flow-action-reminder',
      summary: 'Reminds a participant whose action is pending; otherwise does nothing.',
      body: members({ documentId: uuid, flowActionId: uuid }),
      responses: { 200: 'empty' },
      refusals: [...UNKNOWN_DOCUMENT, 'FlowActionNotFound'],
      async handle({ tenant, body }) {
        await documents.remind(tenant, documentId(body.documentId), flowActionId(body.flowActionId));
        return DONE;
      },
    }),
    portalRoute({
      method: 'PUT',
      path: '/api/documents/{id}/reminders',
      summary: 'Replaces the reminders and the warnings before expiry that are sent on schedule.',
      params: idParams,
      body: remindersInput,
      responses: { 200: 'empty' },
      refusals: [...UNKNOWN_DOCUMENT, 'InvalidDocumentStatus'],
      async handle({ tenant, params, body }) {
        await documents.setReminders(tenant, documentId(params.id), body);
        return DONE;
      },
    }),
    portalRoute({
      method: 'POST',
      path: '/api/users/notify-pending',
      summary: 'Mails each of these addresses what is pending for it.',
      body: members({ emails: list(text) }),
      responses: { 200: 'empty' },
      refusals: ['InvalidFlowAction', 'LimitExceeded'],
      async handle({ tenant, body }) {
        if (body.emails.length > MAX_ADDRESSES) {
          throw new PortalRefusal('LimitExceeded', `At most ${MAX_ADDRESSES} addresses in one call.`);
        }
        await documents.notifyPending(tenant, body.emails);
        return DONE;
      },
    }),
  ];
}
