/**
 * Reminders by e-mail.
 *
 * Source: docs/portal-values.md §0, §11.
 */
import type { PortalDocuments } from '../../../actors/portal/api.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type { AnyRoute } from '../../core/router.ts';
import { ANA, EXAMPLE_IDS } from '../description/example-values.ts';
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
      group: 'Notifications',
      summary: 'Reminds a participant whose action is pending.',
      description:
        'Sends the e-mail of the pending action again. For an action that is not pending the reply is 200 and no e-mail is sent, so that a caller need not ask for the status first. `FlowActionNotFound`: the document has no such action.',
      scope: 'Create',
      folderKeys: true,
      body: members({ documentId: uuid, flowActionId: uuid }),
      responses: { 200: 'empty' },
      examples: { request: { documentId: EXAMPLE_IDS.document, flowActionId: EXAMPLE_IDS.flowAction } },
      refusals: [...UNKNOWN_DOCUMENT, 'FlowActionNotFound'],
      async handle({ tenant, body }) {
        await documents.remind(tenant, documentId(body.documentId), flowActionId(body.flowActionId));
        return DONE;
      },
    }),
    portalRoute({
      method: 'PUT',
      path: '/api/documents/{id}/reminders',
      group: 'Notifications',
      summary: 'Replaces the schedule of reminders and of warnings before expiry.',
      description:
        'Replaces the schedule of the creation request or of the organization. The next reminder is counted from now. A document with `disableNotifications` sends none. `InvalidDocumentStatus`: the document is neither Pending nor Refused.',
      scope: 'Create',
      folderKeys: true,
      params: idParams,
      body: remindersInput,
      responses: { 200: 'empty' },
      examples: { request: { everyDays: 3, maximum: 5, daysBeforeExpiry: [7, 1] } },
      refusals: [...UNKNOWN_DOCUMENT, 'InvalidDocumentStatus'],
      async handle({ tenant, params, body }) {
        await documents.setReminders(tenant, documentId(params.id), body);
        return DONE;
      },
    }),
    portalRoute({
      method: 'POST',
      path: '/api/users/notify-pending',
      group: 'Notifications',
      summary: 'Sends each address an e-mail that lists its pending documents.',
      description:
        'An address gets one e-mail with the documents of the organization that are pending for it, or none if there are none. At most 500 addresses (`LimitExceeded`). An address that is not valid is refused with `InvalidFlowAction`.',
      scope: 'Create',
      body: members({ emails: list(text) }),
      responses: { 200: 'empty' },
      examples: { request: { emails: [ANA.email] } },
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
