/** Documents that wait for one mailbox: one visit of its owner. Source: docs/decisions/0264-one-visit.md. */
import type { ActorStore } from '@sealwright/runtime';
import { MAX_DOCUMENTS } from '../../../contracts/portal/new-documents.ts';
import type { Millis } from '../../../machines/ids.ts';
import type { DocumentContext, Turn } from '../../../machines/portal/documents/document-context.ts';
import { usersOf } from '../../../machines/portal/documents/document-flow.ts';
import type { RequestOrigin } from '../api/callers.ts';
import type { SigningPageView } from '../api/signing.ts';
import { pendingOf } from '../document-records/document-list.ts';
import type { DocumentDirectory } from '../document-records/document-reader.ts';
import { isAskedByMail, pageState } from '../document-records/signing-turns.ts';
import type { SigningLinks, SigningTicket } from '../mails/signing-links.ts';
import { addressKey } from '../shared/mail-address.ts';

type VisitDocument = NonNullable<SigningPageView['visit']>[number];

/** Person with a mailed link. */
interface Visitor {
  readonly name: string | null;
  readonly identifier: string | null;
  readonly email: string;
  readonly ticket: SigningTicket;
  readonly origin: RequestOrigin;
  readonly now: Millis;
}

/** Time after a signature with a code in which the same browser sees what else waits for the mailbox, milliseconds. */
const PROVEN_MS = 30 * 60_000;

/**
 * Lists the documents of the same call for the person of a mailed link, and after a code from the mailbox what else of the
 * organization waits for it and is asked for by mail: those that are done or can be acted on. Empty for a document alone.
 * Links are good as long as the ticket.
 */
export async function visitOf(
  store: Pick<ActorStore, 'rows'>,
  directory: DocumentDirectory,
  {
    links,
    sent,
    visitor,
  }: { readonly links: SigningLinks; readonly sent: DocumentContext; readonly visitor: Visitor },
): Promise<readonly VisitDocument[]> {
  const { email, ticket } = visitor;
  const announcing =
    sent.announcedBy === undefined ? sent : (await directory.byId(sent.announcedBy))?.context;
  const ofCall = new Set([announcing?.id ?? sent.id, ...(announcing?.announces ?? []), sent.id]);
  const ids = new Set(ofCall);
  if (isProven(sent, visitor))
    for (const id of await pendingOf(store, sent.organization.id, email, MAX_DOCUMENTS)) ids.add(id);
  const visit: VisitDocument[] = [];
  for (const id of ids) {
    const document = await directory.byId(id);
    if (document === undefined || document.context.organization.id !== sent.organization.id) continue;
    const { context } = document;
    const turns = turnsOf(context, visitor, ofCall.has(id));
    const states = turns.map((turn) => pageState(document, turn));
    const open = turns[states.indexOf('ready')];
    const isDone = states.some(
      (state) => state === 'done' || state === 'concluded' || state === 'processing',
    );
    const turn = open ?? (isDone ? turns[0] : undefined);
    if (turn === undefined) continue;
    visit.push({
      name: context.name,
      href: links.action(context, turn.flowActionId, turn.userId, ticket.expiresAt),
      isDone: open === undefined,
      isThis: id === sent.id,
    });
  }
  return visit.length > 1 ? visit : [];
}

/**
 * The turns of a person in a document. Two people may share a mailbox: identifiers tell them apart, and names, which may be
 * spelled otherwise in a document of another call.
 */
function turnsOf(
  context: DocumentContext,
  { name, identifier, email }: Visitor,
  isOfCall: boolean,
): readonly Turn[] {
  const found = context.actions.flatMap((action) =>
    usersOf(action)
      .filter((user) => isOfCall || isAskedByMail(context, { action, user }))
      .filter((user) => user.email !== null && addressKey(user.email) === addressKey(email))
      .filter((user) => !user.identifier || !identifier || user.identifier === identifier)
      .map((user) => ({ name: user.name, flowActionId: action.id, userId: user.id })),
  );
  const own = found.filter((turn) => turn.name === name);
  return own.length > 0 || isOfCall ? own : found;
}

/** True in the browser that has just given a code from the mailbox: a link alone may have been passed on. */
function isProven({ made }: DocumentContext, { email, ticket, origin, now }: Visitor): boolean {
  return made.some(({ flowActionId, userId, evidence }) => {
    // The code was for a session, which may have ended.
    if (evidence?.emailConfirmedAt !== undefined) return false;
    if (evidence === null || flowActionId !== ticket.flowActionId || userId !== ticket.userId) return false;
    return (
      evidence.authenticatedEmail === email &&
      now - evidence.at < PROVEN_MS &&
      evidence.ipAddress === (origin.ipAddress || null) &&
      evidence.userAgent === (origin.userAgent.slice(0, 500) || null)
    );
  });
}
