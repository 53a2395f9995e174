/**
 * Reminders by e-mail.
 *
 * Source: Document Signing Portal API, "Endpoints"; portal-gaps §11.
 */
import type { PortalDocuments } from '../../actors/portal/api.ts';
import { PortalRefusal } from '../../machines/portal-refusals.ts';
import type { AnyRoute } from '../router.ts';
import { list, members, text, uuid } from './fields.ts';
import { documentId, flowActionId } from './ids.ts';
import { UNKNOWN_DOCUMENT } from './refusal-groups.ts';
import { DONE, portalRoute } from './route.ts';

/** Addresses of one call; each of them costs a look at what is pending for it. Ours. */
const ADDRESSES_AT_ONCE = 1000;

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
      method: 'POST',
      path: '/api/users/notify-pending',
      summary: 'Mails each of these addresses what is pending for it.',
      body: members({ emails: list(text) }),
      responses: { 200: 'empty' },
      refusals: ['LimitExceeded'],
      async handle({ tenant, body }) {
        if (body.emails.length > ADDRESSES_AT_ONCE) {
          throw new PortalRefusal('LimitExceeded', `At most ${ADDRESSES_AT_ONCE} addresses in one call.`);
        }
        await documents.notifyPending(tenant, body.emails);
        return DONE;
      },
    }),
  ];
}
