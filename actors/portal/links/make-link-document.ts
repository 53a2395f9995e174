/** Makes the documents of visits to links for anybody, and cancels those of persons who have left a device. Source: docs/decisions/0470-links-for-anybody.md. */
import { accepted, isFatal, Retryable } from '@sealwright/runtime';
import type { PortalRefusalCode } from '../../../contracts/portal/refusals.ts';
import { type LinkVisit, makeLinkDocument } from '../../../machines/portal/link-visitor.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import { leaveVisits, publicLinkStatus } from '../../../machines/portal/public-link.ts';
import type { ServiceRuntime } from '../../hosting/service-plan.ts';
import { finalErrors } from '../../shared/failures/final-errors.ts';
import { DOCUMENT, seededId } from '../document-records/document-index.ts';
import { LINK_VISITOR, PUBLIC_LINK } from '../shared/link-records.ts';
import { documentHere, isOfVisitor, leaveDocument, seedOf } from './link-visitors.ts';
import type { LinkVisits } from './link-visits.ts';
import type { Linked } from './public-links.ts';

/** Attempts after errors that nobody foresaw: about 15 seconds. */
const ATTEMPTS = 5;

/** A repeated effect finds the document, and takes none of the link's twice. */
export function makeLinkDocumentHandler(visits: Pick<LinkVisits, 'make'>) {
  const make = finalErrors((wanted: Wanted) => refusalOf(visits, wanted), ATTEMPTS);
  return makeLinkDocument.handledBy({
    async run({ linkId }, attempt) {
      const { actor, runtime, clock } = attempt;
      const visitor = await runtime.read(LINK_VISITOR, actor.id);
      const visit = visitor?.context.visit;
      // An earlier try has answered.
      if (visitor === undefined || visit == null) return null;
      const seed = seedOf(actor.id, visitor.context.documents.length);
      const documentId = seededId(seed, 0);
      // Nothing is left to tell to a link that is gone.
      const tell = (message: Told) =>
        accepted(runtime.send(PUBLIC_LINK, linkId, { ...message, visit: seed }), ({ reason }) =>
          reason === 'unknown-actor' ? undefined : busy(),
        );
      const made = async () => {
        await tell({ type: 'KEEP' });
        return { type: 'MADE', documentId } as const;
      };
      // An earlier try has made it; the link or its template may be gone since.
      if ((await runtime.read(DOCUMENT, documentId)) !== undefined) return made();
      const taken = await runtime.send(PUBLIC_LINK, linkId, { type: 'TAKE', visit: seed });
      const found = await runtime.read(PUBLIC_LINK, linkId);
      if (found === undefined) return refused('PublicLinkEnded');
      if (!taken.accepted) {
        const status = publicLinkStatus(found.context, clock.now());
        if (status === 'Open') throw busy();
        return refused(`PublicLink${status}`);
      }
      try {
        const refusal = await make({ found: { id: linkId, link: found.context }, seed, visit }, attempt);
        if (refusal === undefined) return made();
        const { code, message, details } = refusal;
        const isVisitors = isOfVisitor(refusal);
        await tell({ type: 'RELEASE', ...(!isVisitors && { refusal: { code, message } }) });
        return isVisitors
          ? { type: 'REFUSED', code, message, ...(details && { details }) }
          : refused('PublicLinkEnded');
      } catch (error) {
        if (!isFatal(error)) throw error;
        const { code, message } = error;
        await tell({ type: 'RELEASE', refusal: { code, message } });
        return refused('ServiceBusy');
      }
    },
    // What was taken is for the next visit of the person.
    failed: () => refused('ServiceBusy'),
  });
}

/** A repeated effect finds the document canceled. One that is made later is canceled by whoever makes it. */
export function leaveVisitsHandler({ actors }: Pick<ServiceRuntime, 'actors'>) {
  return leaveVisits.handledBy({
    async run({ visits }, { actor, runtime }) {
      const found = await runtime.read(PUBLIC_LINK, actor.id);
      if (found === undefined) return null;
      for (const visit of visits)
        await leaveDocument({ actors }, found.context, documentHere(actor.id, visit));
      return null;
    },
  });
}

interface Wanted {
  readonly found: Linked;
  readonly seed: string;
  readonly visit: LinkVisit;
}

type Told =
  | { readonly type: 'KEEP' }
  | { readonly type: 'RELEASE'; readonly refusal?: { readonly code: string; readonly message: string } };

/** Makes the document; resolves with the refusal, if there is one. */
async function refusalOf(
  visits: Pick<LinkVisits, 'make'>,
  { found, seed, visit }: Wanted,
): Promise<PortalRefusal | undefined> {
  try {
    await visits.make(found, seed, visit);
    return undefined;
  } catch (error) {
    if (!(error instanceof PortalRefusal)) throw error;
    if (error.code === 'ServiceBusy') throw new Retryable('busy', error.message);
    return error;
  }
}

function busy(): Retryable {
  return new Retryable('link.busy', 'The link takes no message now.');
}

function refused(code: PortalRefusalCode) {
  return { type: 'REFUSED', code, message: new PortalRefusal(code).message } as const;
}
