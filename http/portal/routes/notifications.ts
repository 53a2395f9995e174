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
      summary: 'Reminds a participant whose action is pending; otherwise does nothing.',
      description:
        'Sends the mail of the pending action again. 200 and no mail when the action is not pending, so that a schedule need not ask for the status first. `FlowActionNotFound` for an action of another document.',
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
      summary: 'Replaces the reminders and the warnings before expiry that are sent on schedule.',
      description:
        'Replaces the schedule that came from the creation request or the organization. The next reminder is counted from now. Mails that `disableNotifications` turned off stay off. An ended document is `InvalidDocumentStatus`.',
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
      summary: 'Mails each of these addresses what is pending for it.',
      description:
        'One mail for each address, with a list of the documents of the organization that wait for it; none when nothing waits. At most 500 addresses (`LimitExceeded`). An address that is not valid is `InvalidFlowAction`.',
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
