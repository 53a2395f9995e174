/** Whom a document tells what: events for the organization's systems, notices for people. Source: portal-gaps §§11, 19. */
import type { DocumentContext, Turn } from './document-context.ts';
import { askedUsers, isSigning, usersOf } from './document-flow.ts';
import type { DocumentEvent, DocumentSummary, FlowAction, Notice, Participant } from './portal-words.ts';

type About = Pick<
  DocumentContext,
  | 'id'
  | 'organization'
  | 'name'
  | 'key'
  | 'creationDate'
  | 'updateDate'
  | 'folderId'
  | 'createdBy'
  | 'description'
>;

export function summaryOf(document: About): DocumentSummary {
  const { id, organization, name, key, creationDate, updateDate, folderId, createdBy, description } =
    document;
  return {
    id,
    organizationId: organization.id,
    name,
    key,
    creationDate,
    updateDate,
    folderId,
    createdBy,
    description,
  };
}

/** The next event of a document, and the document that has announced it. */
export function withEvent(
  document: DocumentContext,
  event: Omit<DocumentEvent, 'sequence' | 'at' | 'document'>,
): { readonly document: DocumentContext; readonly event: DocumentEvent } {
  const sequence = document.sequence + 1;
  return {
    document: { ...document, sequence },
    event: { ...event, sequence, at: document.updateDate, document: summaryOf(document) },
  };
}

/** Who did something, as events name them. */
export function actorOf({ flowActionId }: Turn, user: Participant): NonNullable<DocumentEvent['by']> {
  const { id, name, identifier, email } = user;
  return { flowActionId, userId: id, name, identifier, emailAddress: email };
}

type Letter = Pick<Notice, 'about' | 'reason' | 'byName'>;

function noticeTo(
  document: About,
  user: Participant,
  letter: Letter,
  action: FlowAction | null = null,
): readonly Notice[] {
  if (user.email === null) return [];
  return [
    {
      ...letter,
      to: { name: user.name, email: user.email },
      document: summaryOf(document),
      flowActionId: action?.id ?? null,
      userId: user.id,
      ...(action !== null && { role: isSigning(action) ? 'sign' : 'approve' }),
    },
  ];
}

/** To everybody who is to act now. */
export function turnNotices(
  document: About,
  actions: readonly FlowAction[],
  about: 'pending' | 'reminder',
): readonly Notice[] {
  return actions.flatMap((action) =>
    askedUsers(action).flatMap((user) => noticeTo(document, user, { about }, action)),
  );
}

/** To those who were asked already, each address once. */
export function activeNotices(
  document: DocumentContext,
  letter: Letter,
  except: string | null = null,
): readonly Notice[] {
  const active = document.actions.filter(({ status }) => status !== 'Created');
  const people = active.flatMap(usersOf).filter(({ id }) => id !== except);
  return onceEach(people.flatMap((user) => noticeTo(document, user, letter)));
}

export function observerNotices(document: DocumentContext, letter: Letter): readonly Notice[] {
  return document.observers.flatMap(({ user }) => noticeTo(document, user, letter));
}

/** To the addresses that are told whatever else is silenced. */
export function concludedNotices(document: DocumentContext, tellParticipants: boolean): readonly Notice[] {
  const summary = summaryOf(document);
  const letter = { about: 'concluded' } as const;
  const always = document.notifiedEmails.map(
    (email): Notice => ({
      ...letter,
      to: { name: null, email },
      document: summary,
      flowActionId: null,
      userId: null,
    }),
  );
  if (document.disableNotifications || !tellParticipants) return onceEach(always);
  return onceEach([...always, ...activeNotices(document, letter), ...observerNotices(document, letter)]);
}

export function onceEach(notices: readonly Notice[]): readonly Notice[] {
  const seen = new Set<string>();
  return notices.filter(({ to }) => {
    const address = to.email.toLowerCase();
    if (seen.has(address)) return false;
    seen.add(address);
    return true;
  });
}
