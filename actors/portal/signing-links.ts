/**
 * The tickets participants come with, and the addresses they stand in.
 *
 * A ticket names document, action and person, and who gave it: the portal by mail, or an application that vouches for
 * whom it shows the page. Source: portal-gaps §9.
 */
import type { ApplicationId, DocumentId, FlowActionId, Millis, UserId } from '../../machines/ids.ts';
import type { DocumentSummary } from '../../machines/portal-words.ts';
import type { Clock } from '../../runtime/index.ts';
import type { Tenant } from './api.ts';
import type { MailLinks } from './mail-letters.ts';
import type { Tickets } from './tickets.ts';

/** A link in a mail is good as long as somebody may take to answer; it leads nowhere once the action is done. */
const MAIL_LINK_LIFETIME = 90 * 24 * 3_600_000;

/** Longest name of an application in a ticket, bytes; the rest of a longer one is left out. */
const LONGEST_NAME = 120;

/** How tickets were given, as one letter on the wire. */
const ORIGINS = { mail: 'm', application: 'a' } as const;

export interface SigningTicket {
  readonly documentId: DocumentId;
  readonly flowActionId: FlowActionId;
  readonly userId: UserId;
  /** An e-mail code is asked for before an electronic signature. */
  readonly needsEmailCode: boolean;
  /** The application that gave the ticket; null = it was mailed. */
  readonly application: { readonly id: ApplicationId; readonly name: string } | null;
  readonly expiresAt: Millis;
  readonly expired: boolean;
}

export interface SigningLinksParts {
  readonly tickets: Tickets;
  readonly clock: Pick<Clock, 'now'>;
  /** `Portal:PublicUrl`, without a slash at its end. */
  readonly publicUrl: () => string;
}

export class SigningLinks implements MailLinks {
  readonly #parts: SigningLinksParts;

  constructor(parts: SigningLinksParts) {
    this.#parts = parts;
  }

  /** For a mail: who opens it has the mailbox, which a code proves before an electronic signature. */
  action(
    { id, key }: Pick<DocumentSummary, 'id' | 'key'>,
    flowActionId: FlowActionId,
    userId: UserId,
  ): string {
    const claims = [id, flowActionId, userId, `${ORIGINS.mail}c`];
    const now = this.#parts.clock.now();
    const ticket = this.#parts.tickets.issue('sign', claims, now, MAIL_LINK_LIFETIME);
    return this.#url(key, 'sign', ticket);
  }

  check(key: string): string {
    return `${this.#parts.publicUrl()}/check/${key}`;
  }

  /** For an application that shows the page to the participant. */
  forApplication(
    { application }: Pick<Tenant, 'application'>,
    { id, key }: Pick<DocumentSummary, 'id' | 'key'>,
    turn: { readonly flowActionId: FlowActionId; readonly userId: UserId },
    needsEmailCode: boolean,
  ): { readonly url: string; readonly embedUrl: string } {
    const { tickets, clock } = this.#parts;
    const origin = `${ORIGINS.application}${needsEmailCode ? 'c' : ''}`;
    const claims = [id, turn.flowActionId, turn.userId, origin, application.id, cut(application.name)];
    const ticket = tickets.issue('sign', claims, clock.now());
    return { url: this.#url(key, 'sign', ticket), embedUrl: this.#url(key, 'sign-embedded', ticket) };
  }

  /** Undefined for anything that is not one of ours. */
  read(text: string): SigningTicket | undefined {
    const { tickets, clock } = this.#parts;
    const ticket = tickets.read('sign', text, clock.now());
    if (ticket === undefined) return undefined;
    const [documentId, flowActionId, userId, origin = '', applicationId, name] = ticket.claims;
    if (documentId === undefined || flowActionId === undefined || userId === undefined) return undefined;
    return {
      documentId: documentId as DocumentId,
      flowActionId: flowActionId as FlowActionId,
      userId: userId as UserId,
      needsEmailCode: origin.endsWith('c'),
      application:
        applicationId === undefined ? null : { id: applicationId as ApplicationId, name: name ?? '' },
      expiresAt: ticket.expiresAt,
      expired: ticket.expired,
    };
  }

  /** `/key/{key}/` and `?ticket=` are what clients look for. */
  #url(key: string, page: 'sign' | 'sign-embedded', ticket: string): string {
    return `${this.#parts.publicUrl()}/document/key/${key}/${page}?ticket=${ticket}`;
  }
}

function cut(name: string): string {
  let text = name;
  while (Buffer.byteLength(text) > LONGEST_NAME) text = text.slice(0, -1);
  return text;
}
