/** New links in place of expired ones, mailed to the address in the flow. Source: docs/decisions/0104-guided-signing.md. */
import { actionMail } from '../../../machines/portal/document/document-notifications.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type { Participant } from '../../../machines/portal/portal-types.ts';
import type { ServiceRuntime } from '../../hosting/service-plan.ts';
import { foldedKey } from '../document-records/document-index.ts';
import type { DocumentDirectory } from '../document-records/document-reader.ts';
import { namedTurn, pageState } from '../document-records/signing-turns.ts';
import { createMail } from '../mail/mails.ts';
import type { SigningLinks, SigningTicket } from '../mail/signing-links.ts';
import { derivedId } from '../shared/effect-ids.ts';

/** Time is divided into intervals of this length, milliseconds; a participant gets at most one new link in each. */
const NEW_LINK_INTERVAL_MS = 15 * 60_000;

/** True for a link that was mailed; an application that issued a link issues the next one. */
export function isMailed(
  { application }: Pick<SigningTicket, 'application'>,
  { user }: { readonly user: Participant },
): boolean {
  return application === null && user.email !== null;
}

/**
 * Mails a new link; does nothing when one was mailed in the same interval. Refusals: `InvalidTicket` for a link that is not
 * expired or was not mailed, and when it is not the participant's turn.
 */
export async function mailNewLink(
  { system, clock }: Pick<ServiceRuntime, 'system' | 'clock'>,
  directory: DocumentDirectory,
  links: SigningLinks,
  key: string,
  text: string,
): Promise<void> {
  const ticket = links.parse(text);
  const document = ticket && (await directory.byId(ticket.documentId));
  if (!ticket?.expired || !document || document.context.key !== foldedKey(key))
    throw new PortalRefusal('InvalidTicket');
  const { context } = document;
  const named = namedTurn(context, ticket);
  if (named === undefined || !isMailed(ticket, named) || pageState(document, ticket) !== 'ready')
    throw new PortalRefusal('InvalidTicket');
  const { action, user } = named;
  const now = clock.now();
  // The id permits one mail in each interval, also after a restart.
  const interval = Math.floor(now / NEW_LINK_INTERVAL_MS);
  const id = derivedId('new-link', context.id, action.id, user.id, interval);
  for (const content of actionMail(context, user, action, 'pending'))
    await createMail(system, id, { organizationId: context.organization.id, content, at: now });
}
