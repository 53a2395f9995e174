/** Reminders by e-mail. */
import type { DocumentService, PendingReminders } from '../../../actors/portal/api.ts';
import {
  notifyPending,
  remindParticipant,
  scheduleReminders,
} from '../../../contracts/portal/notifications.ts';
import type { AnyRoute } from '../../core/router.ts';
import { handle } from '../handle.ts';
import { documentId, flowActionId } from '../input/ids.ts';

export function notificationRoutes(
  documents: DocumentService,
  pending: PendingReminders,
): readonly AnyRoute[] {
  return [
    handle(remindParticipant, ({ tenant, body }) =>
      documents.remind(tenant, documentId(body.documentId), flowActionId(body.flowActionId)),
    ),
    handle(scheduleReminders, ({ tenant, params, body }) =>
      documents.setReminders(tenant, documentId(params.id), body),
    ),
    handle(notifyPending, ({ tenant, body }) => pending.notify(tenant, body.emails)),
  ];
}
