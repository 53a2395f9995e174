/** Makes the documents of visits to links for anybody. Source: docs/decisions/0470-links-for-anybody.md. */
import { Retryable } from '@sealwright/runtime';
import type { PortalRefusalCode } from '../../../contracts/portal/refusals.ts';
import { makeLinkDocument } from '../../../machines/portal/link-visitor.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import { publicLinkStatus } from '../../../machines/portal/public-link.ts';
import type { LinkVisits } from './link-visits.ts';
import { LINK_VISITOR, PUBLIC_LINK } from './public-links.ts';

/** Refusals that the visitor can mend; of all others the sender learns. */
const OF_VISITOR: ReadonlySet<string> = new Set<PortalRefusalCode>(['InvalidFieldValue', 'LimitExceeded']);

/** A repeated effect finds the document, and takes none of the link's twice. */
export function makeLinkDocumentHandler(visits: Pick<LinkVisits, 'make'>) {
  return makeLinkDocument.handledBy({
    async run({ linkId }, { actor, key, runtime, clock }) {
      const visitor = await runtime.read(LINK_VISITOR, actor.id);
      const visit = visitor?.context.visit;
      // An earlier try has answered.
      if (visitor === undefined || visit == null) return null;
      const taken = await runtime.send(PUBLIC_LINK, linkId, { type: 'TAKE' }, { id: `${key}/take` });
      const found = await runtime.read(PUBLIC_LINK, linkId);
      if (found === undefined) return refused('PublicLinkEnded');
      if (!taken.accepted && taken.reason !== 'duplicate') {
        const status = publicLinkStatus(found.context, clock.now());
        if (status === 'Open') throw new Retryable('link.busy', 'The link takes no message now.');
        return refused(`PublicLink${status}`);
      }
      try {
        const number = visitor.context.documents.length;
        const documentId = await visits.make({ id: linkId, link: found.context }, number, visit);
        return { type: 'MADE', documentId };
      } catch (error) {
        if (!(error instanceof PortalRefusal)) throw error;
        const { code, message, details } = error;
        if (code === 'ServiceBusy') throw new Retryable('busy', message);
        const release = { type: 'RELEASE', code, message } as const;
        await runtime.send(PUBLIC_LINK, linkId, release, { id: `${key}/release` });
        return OF_VISITOR.has(code)
          ? { type: 'REFUSED', code, message, ...(details && { details }) }
          : refused('PublicLinkEnded');
      }
    },
  });
}

function refused(code: PortalRefusalCode) {
  return { type: 'REFUSED', code, message: new PortalRefusal(code).message } as const;
}
