/**
 * Observers: persons who read a document and its state, and do not act. Their link is good until they are taken out of the
 * flow, their address changes, or the document ends without conclusion.
 *
 * Source: docs/decisions/0125-links-of-observers.md.
 */

import type { Calls } from '@sealwright/runtime';
import { documentStatusesIn } from '../../../contracts/portal/words.ts';
import type { DocumentState } from '../../../machines/portal/documents/document-context.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type { Participant } from '../../../machines/portal/portal-types.ts';
import type { Tenants } from '../api/callers.ts';
import type { SigningPageView } from '../api/signing.ts';
import { foldedKey } from '../document-records/document-index.ts';
import type { DocumentDirectory, ReadDocument } from '../document-records/document-reader.ts';
import type { SigningLinks } from '../mails/signing-links.ts';
import { lookOf, pageDocument, pageParticipants } from './page-views.ts';

interface Observed extends ReadDocument {
  readonly user: Participant;
  readonly expired: boolean;
}

const PAGE_STATES: { readonly [State in DocumentState]: SigningPageView['state'] } = {
  Pending: 'observing',
  FlowConcluded: 'observing',
  Concluded: 'concluded',
  Refused: 'refused',
  Canceled: 'canceled',
  Expired: 'expired',
  Deleted: 'deleted',
};

/** States in which an observer reads the file. */
const READABLE: ReadonlySet<DocumentState> = new Set(documentStatusesIn('open', 'concluded'));

/** Page of an observer's link. */
export async function observerPage(
  actors: Pick<Calls, 'read'>,
  directory: DocumentDirectory,
  {
    links,
    tenants,
    key,
    text,
  }: {
    readonly links: SigningLinks;
    readonly tenants: Pick<Tenants, 'embedOrigins' | 'replyTo'>;
    readonly key: string;
    readonly text: string;
  },
): Promise<SigningPageView> {
  const observed = await observedOf(directory, links, key, text);
  if (observed === undefined) return { state: 'unknown', embedOrigins: [] };
  const { context, expired, user } = observed;
  const state = PAGE_STATES[observed.state];
  const document = pageDocument(observed);
  const about = {
    ...(await lookOf(actors, context.organization)),
    embedOrigins: await tenants.embedOrigins(context.organization.id),
    replyTo: await tenants.replyTo(context.organization.id),
    contact: document.senderName ?? document.organizationName,
    ...(user.language && { language: user.language }),
  };
  if (state === 'deleted') return { state, ...about };
  if (expired) return { state: 'ticket-expired', ...about, document };
  return {
    state,
    ...about,
    document,
    isObserver: true,
    participants: pageParticipants(context),
  };
}

/**
 * The document of an observer's ticket; undefined for a ticket of another kind. Refusals: `InvalidTicket`, `DocumentIsDeleted`.
 */
export async function observedDocument(
  directory: DocumentDirectory,
  links: SigningLinks,
  key: string,
  text: string,
): Promise<Observed | undefined> {
  if (links.parseObserver(text) === undefined) return undefined;
  const observed = await observedOf(directory, links, key, text);
  if (observed?.state === 'Deleted') throw new PortalRefusal('DocumentIsDeleted');
  if (observed === undefined || observed.expired || !READABLE.has(observed.state))
    throw new PortalRefusal('InvalidTicket');
  return observed;
}

/** Undefined when the link is not one of the document's observers, as they are now. */
async function observedOf(
  directory: DocumentDirectory,
  links: SigningLinks,
  key: string,
  text: string,
): Promise<Observed | undefined> {
  const ticket = links.parseObserver(text);
  const document = ticket && (await directory.byId(ticket.documentId));
  if (!ticket || !document || document.context.key !== foldedKey(key)) return undefined;
  const observer = document.context.observers.find(
    ({ id, user }) => id === ticket.observerId && user.id === ticket.userId,
  );
  return observer && { ...document, user: observer.user, expired: ticket.expired };
}
