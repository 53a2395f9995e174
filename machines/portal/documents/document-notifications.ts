/**
 * Notifications of a document: events for the organization's systems, mails for people. Source: docs/portal-values.md §§11, 19.
 */

import type { WebhookProperty } from '../../../contracts/portal/document-properties.ts';
import type {
  DocumentEvent,
  DocumentSummary,
  Evidence,
  FlowAction,
  LinkedDocument,
  MailRequest,
  Participant,
} from '../portal-types.ts';
import type { DocumentContext, Turn } from './document-context.ts';
import { isSigning, requestedUsers, usersOf } from './document-flow.ts';

/** Properties that are stored with events, for webhooks. */
const IN_WEBHOOKS: { readonly [name in WebhookProperty]: true } = { externalId: true };
const WEBHOOK_PROPERTIES = Object.keys(IN_WEBHOOKS) as WebhookProperty[];

export function summaryOf(document: DocumentContext): DocumentSummary {
  const { id, organization, name, key, creationDate, updateDate } = document;
  const { folderId, createdBy, description, version, tags } = document;
  const given = WEBHOOK_PROPERTIES.filter((property) => document[property] !== undefined);
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
    version,
    ...(tags.length > 0 && { tags }),
    ...Object.fromEntries(given.map((property) => [property, document[property]])),
  };
}

/** Builds the next event of a document, and the context that counts it. */
export function withEvent(
  document: DocumentContext,
  event: Omit<DocumentEvent, 'sequence' | 'at' | 'document'>,
): { readonly document: DocumentContext; readonly event: DocumentEvent } {
  const sequence = document.sequence + 1;
  const { type, ...others } = event;
  return {
    document: { ...document, sequence },
    event: { type, sequence, at: document.updateDate, document: summaryOf(document), ...others },
  };
}

/** The actor in an event: an application or a participant. */
export function eventPersonOf(
  { flowActionId }: Turn,
  user: Participant,
  evidence: Pick<Evidence, 'deputy'> | null = null,
): NonNullable<DocumentEvent['by']> {
  const { id, name, identifier, email } = user;
  const { deputy } = evidence ?? {};
  const acting = deputy && { deputy: { name: deputy.name, emailAddress: deputy.email } };
  return { flowActionId, userId: id, name, identifier, emailAddress: email, ...acting };
}

/** The person of a mail. */
export function recipientOf<Email extends string | null>({
  name,
  email,
  language,
}: Pick<Participant, 'name' | 'language'> & { readonly email: Email }): Omit<MailRequest['to'], 'email'> & {
  readonly email: Email;
} {
  return { name, email, ...(language && { language }) };
}

type MailKind = Pick<MailRequest, 'about' | 'reason' | 'byName'>;

function mailTo(
  document: DocumentContext,
  user: Pick<Participant, 'id' | 'name' | 'email' | 'language'>,
  mailKind: MailKind,
  action: FlowAction | null = null,
): readonly MailRequest[] {
  if (user.email === null) return [];
  return [
    {
      ...mailKind,
      to: recipientOf({ ...user, email: user.email }),
      document: summaryOf(document),
      flowActionId: action?.id ?? null,
      userId: user.id,
      ...(action !== null && { role: isSigning(action) ? 'sign' : 'approve' }),
      ...(action !== null && document.expirationDate && { expirationDate: document.expirationDate }),
    },
  ];
}

/** Notifies all persons who have to act now. */
export function turnMails(
  document: DocumentContext,
  actions: readonly FlowAction[],
  about: 'pending' | 'reminder' | 'expiring',
): readonly MailRequest[] {
  return actions.flatMap((action) =>
    requestedUsers(action).flatMap((user) => actionMail(document, user, action, about)),
  );
}

/** Notes who gets a link by mail although the first step began quietly: they may ask for another one. */
export function withMailed(document: DocumentContext, mails: readonly MailRequest[]): DocumentContext {
  if (document.startedQuietly !== true) return document;
  const mailed = new Set([...(document.mailedUsers ?? []), ...mails.map(({ userId }) => userId)]);
  const users = document.actions.flatMap(usersOf).map(({ id }) => id);
  return { ...document, mailedUsers: users.filter((id) => mailed.has(id)) };
}

/** Notifies those who act first and the observers of documents of one call: each person once, of all documents. */
export function startMails(documents: readonly DocumentContext[]): readonly MailRequest[] {
  const mails = documents.map((document) => [
    ...turnMails(
      document,
      document.actions.filter(({ status }) => status === 'Pending'),
      'pending',
    ),
    ...deduplicated(observerMails(document, { about: 'observing' })),
  ]);
  const [alone = []] = mails;
  if (mails.length === 1) return alone;
  const groups = new Map<string, MailRequest[]>();
  for (const mail of mails.flat()) {
    const { about, role, to } = mail;
    const key = JSON.stringify([about, role, to.email.toLowerCase(), to.name, to.language]);
    groups.set(key, [...(groups.get(key) ?? []), mail]);
  }
  return [...groups.values()].flatMap(([first, ...others]) =>
    first === undefined ? [] : [others.length === 0 ? first : { ...first, others: others.map(linkedOf) }],
  );
}

/** Without the description, which may be long and is in the mail once. */
function linkedOf({ document, flowActionId, userId, observerId }: MailRequest): LinkedDocument {
  return {
    document: { ...document, description: null },
    flowActionId,
    userId,
    ...(observerId !== undefined && { observerId }),
  };
}

/** Notifies one person who has to act; nothing without an address. */
export function actionMail(
  document: DocumentContext,
  user: Participant,
  action: FlowAction,
  about: 'pending' | 'reminder' | 'expiring',
): readonly MailRequest[] {
  return mailTo(document, user, { about }, action);
}

/** Notifies the persons asked before, once per address. */
export function activeMails(
  document: DocumentContext,
  mailKind: MailKind,
  except: string | null = null,
): readonly MailRequest[] {
  const active = document.actions.filter(wasAsked);
  const people = active.flatMap(usersOf).filter(({ id }) => id !== except);
  return deduplicated(people.flatMap((user) => mailTo(document, user, mailKind)));
}

/** Notifies observers; each mail carries a link to read the document. @param observers all by default */
export function observerMails(
  document: DocumentContext,
  mailKind: MailKind,
  observers = document.observers,
): readonly MailRequest[] {
  return observers.flatMap(({ id, user }) =>
    mailTo(document, user, mailKind).map((mail) => ({ ...mail, observerId: id })),
  );
}

/** Notifies the addresses that receive mails even if others are silenced. */
export function concludedMails(document: DocumentContext, tellParticipants: boolean): readonly MailRequest[] {
  const summary = summaryOf(document);
  const mailKind = { about: 'concluded' } as const;
  const always = document.notifiedEmails.map(
    (email): MailRequest => ({
      ...mailKind,
      to: { name: null, email },
      document: summary,
      flowActionId: null,
      userId: null,
    }),
  );
  if (document.disableNotifications || !tellParticipants) return deduplicated(always);
  // With the action: its link leads to the signed file. So it counts where an address is also told in any case.
  const asked = document.actions
    .filter(wasAsked)
    .flatMap((action) => usersOf(action).flatMap((user) => mailTo(document, user, mailKind, action)));
  // Who signs as a deputy learns what became of it.
  const deputies = document.made.flatMap(({ evidence }) => evidence?.deputy ?? []);
  const acted = deputies.flatMap((deputy) => mailTo(document, deputy, mailKind));
  return deduplicated([...asked, ...observerMails(document, mailKind), ...acted, ...always]);
}

/** True once the action has begun for its people. */
function wasAsked({ status }: FlowAction): boolean {
  return status !== 'Created' && status !== 'Skipped';
}

export function deduplicated(mails: readonly MailRequest[]): readonly MailRequest[] {
  const seen = new Set<string>();
  return mails.filter(({ to }) => {
    const address = to.email.toLowerCase();
    if (seen.has(address)) return false;
    seen.add(address);
    return true;
  });
}
