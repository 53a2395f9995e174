/** Writes what became of a mail into the history of its documents. */

import { durable, type EffectHandler, Retryable } from '@sealwright/runtime';
import type { TrailAction } from '../../../machines/portal/document/document-context.ts';
import type { ReportMailEffect } from '../../../machines/portal/mail.ts';
import { documentAddress } from '../document-records/document-index.ts';

/** A repeated effect sends the same message id, which a document takes once. */
export function reportMailHandler(): EffectHandler<ReportMailEffect> {
  return {
    after: 'durable',
    async run({ content, isDelivered, answer }, { key }, { system }) {
      if (content.about === 'sign-in') return null;
      const items =
        content.about === 'pending-list'
          ? content.documents
          : [{ document: content.document, flowActionId: content.flowActionId, userId: content.userId }];
      const { name, email } = content.to;
      for (const [index, { document, flowActionId, userId }] of items.entries()) {
        const sent = system.send(
          documentAddress(document.id),
          {
            type: 'RECORD',
            action: actionOf(content.about, isDelivered),
            principal: { by: name ?? email, userId, ipAddress: null, userAgent: null },
            detail: `${content.about}: ${answer}`,
            flowActionId,
            emailAddress: email,
          },
          { id: `${key}/${index}` },
        );
        await durable(sent, ({ reason }) =>
          reason === 'stopped'
            ? new Retryable('document.stopped', `The document ${document.id} takes no messages.`)
            : undefined,
        );
      }
      return null;
    },
  };
}

function actionOf(about: ReportMailEffect['content']['about'], isDelivered: boolean): TrailAction {
  if (!isDelivered) return 'mail-refused';
  return about === 'code' ? 'code-sent' : 'mail-delivered';
}
