/**
 * Tickets of participants and observers, and the URLs that carry them.
 *
 * A ticket names document, action, person and issuer: the portal by mail, an application that has authenticated the
 * person, or the host of a device before which the person stands. Source: docs/portal-values.md §9.
 */

import type { Clock } from '@sealwright/runtime';
import type { Language } from '../../../contracts/portal/words.ts';
import type { ApplicationId, DocumentId, FlowActionId, Millis, UserId } from '../../../machines/ids.ts';
import { MAIL_LINK_LIFETIME_MS } from '../../../machines/portal/flow-action.ts';
import type { SignInMail } from '../../../machines/portal/mail.ts';
import type { DocumentSummary } from '../../../machines/portal/portal-types.ts';
import type { Tenant } from '../api/callers.ts';
import type { Tickets } from '../shared/tickets.ts';
import type { MailLinks } from './mail-rendering.ts';

/** Longest name of an application in a ticket, bytes; the rest of a longer one is left out. */
const MAX_NAME_LENGTH = 120;

/** Time that a person has before a device, milliseconds. */
const HERE_LIFETIME_MS = 3_600_000;

/** Issuers of tickets, one letter each on the wire. */
const ORIGINS = { mail: 'm', application: 'a', here: 'h' } as const;

export interface SigningTicket {
  readonly documentId: DocumentId;
  readonly flowActionId: FlowActionId;
  readonly userId: UserId;
  /** True: an electronic signature requires an e-mail code. */
  readonly needsEmailCode: boolean;
  /** Version of the document when the ticket was given; missing in tickets of earlier programs. */
  readonly documentVersion?: number;
  /** The application that gave the ticket, or the host of the device; null = it was mailed. */
  readonly application: { readonly id: ApplicationId; readonly name: string } | null;
  /** True: the person stands before a device of the sender, which others use afterwards. */
  readonly isHere: boolean;
  readonly expiresAt: Millis;
  readonly expired: boolean;
}

/** Ticket of a person who reads and does not act. */
export interface ObserverTicket {
  readonly documentId: DocumentId;
  readonly observerId: string;
  /** Of the observer; another address has another id, so that earlier links become invalid. */
  readonly userId: UserId;
  readonly expired: boolean;
}

export class SigningLinks implements MailLinks {
  constructor(
    private readonly tickets: Tickets,
    private readonly clock: Pick<Clock, 'now'>,
    /** `Portal:PublicUrl`, without a slash at its end. */
    private readonly publicUrl: () => string,
  ) {}

  /**
   * Ticket of a mail: possession proves access to the mailbox at first; an electronic signature requires a code.
   * @param until end of its validity; default `MAIL_LINK_LIFETIME_MS` from now
   */
  action(
    { id, key, version }: Pick<DocumentSummary, 'id' | 'key' | 'version'>,
    flowActionId: FlowActionId,
    userId: UserId,
    until?: Millis,
  ): string {
    const claims = [id, flowActionId, userId, `${versionClaim(version)}${ORIGINS.mail}c`];
    const now = this.clock.now();
    const lifetime = until === undefined ? MAIL_LINK_LIFETIME_MS : until - now;
    const ticket = this.tickets.issue('sign', claims, now, lifetime);
    return this.#url(key, 'sign', ticket);
  }

  observer({ id, key }: Pick<DocumentSummary, 'id' | 'key'>, observerId: string, userId: UserId): string {
    const { tickets, clock } = this;
    return this.#url(key, 'read', tickets.issue('observe', [id, observerId, userId], clock.now()));
  }

  /** @param language default: that of the browser */
  check(key: string, language?: Language): string {
    return `${this.publicUrl()}/check/${key}${language === undefined ? '' : `?culture=${language}`}`;
  }

  waiting(language: Language): string {
    return `${this.publicUrl()}/waiting?culture=${language}`;
  }

  /** Names the link in the user's record, which is used up by signing in. */
  signIn(link: Pick<SignInMail, 'userId' | 'linkId' | 'expiresAt'>): string {
    return `${this.publicUrl()}/sign-in/link?ticket=${this.signInTicket(link)}`;
  }

  signInTicket({ userId, linkId, expiresAt }: Pick<SignInMail, 'userId' | 'linkId' | 'expiresAt'>): string {
    return this.tickets.issue('signIn', [userId, linkId], expiresAt, 0);
  }

  /** Reads a link to sign in; undefined for anything that is not one of ours, or has expired. */
  parseSignIn(text: string): { readonly userId: UserId; readonly linkId: string } | undefined {
    const { tickets, clock } = this;
    const ticket = tickets.read('signIn', text, clock.now());
    const [userId, linkId] = ticket?.claims ?? [];
    if (ticket === undefined || ticket.expired || userId === undefined || linkId === undefined)
      return undefined;
    return { userId: userId as UserId, linkId };
  }

  /** For an application that shows the page to the participant. */
  forApplication(
    { application }: Pick<Tenant, 'application'>,
    { id, key, version }: Pick<DocumentSummary, 'id' | 'key' | 'version'>,
    turn: { readonly flowActionId: FlowActionId; readonly userId: UserId },
    needsEmailCode: boolean,
  ): { readonly url: string; readonly embedUrl: string } {
    const { tickets, clock } = this;
    const origin = `${versionClaim(version)}${ORIGINS.application}${needsEmailCode ? 'c' : ''}`;
    const claims = [id, turn.flowActionId, turn.userId, origin, application.id, cut(application.name)];
    const ticket = tickets.issue('sign', claims, clock.now());
    return { url: this.#url(key, 'sign', ticket), embedUrl: this.#url(key, 'sign-embedded', ticket) };
  }

  /** For a person before a device of the sender. The ticket opens the document until the person has acted. */
  here(
    { id, key, version }: Pick<DocumentSummary, 'id' | 'key' | 'version'>,
    turn: { readonly flowActionId: FlowActionId; readonly userId: UserId },
    host: { readonly id: string; readonly name: string },
  ): string {
    const { tickets, clock } = this;
    const origin = `${versionClaim(version)}${ORIGINS.here}`;
    const claims = [id, turn.flowActionId, turn.userId, origin, host.id, cut(host.name)];
    return this.#url(key, 'sign', tickets.issue('sign', claims, clock.now(), HERE_LIFETIME_MS));
  }

  /** Undefined for anything that is not one of ours. */
  parse(text: string): SigningTicket | undefined {
    const { tickets, clock } = this;
    const ticket = tickets.read('sign', text, clock.now());
    if (ticket === undefined) return undefined;
    const [documentId, flowActionId, userId, origin = '', applicationId, name] = ticket.claims;
    if (documentId === undefined || flowActionId === undefined || userId === undefined) return undefined;
    const version = /^(\d{1,9});/.exec(origin)?.[1];
    return {
      documentId: documentId as DocumentId,
      flowActionId: flowActionId as FlowActionId,
      userId: userId as UserId,
      needsEmailCode: origin.endsWith('c'),
      isHere: origin.endsWith(ORIGINS.here),
      ...(version !== undefined && { documentVersion: Number(version) }),
      application:
        applicationId === undefined ? null : { id: applicationId as ApplicationId, name: name ?? '' },
      expiresAt: ticket.expiresAt,
      expired: ticket.expired,
    };
  }

  /** Undefined for anything that is not a ticket of an observer. */
  parseObserver(text: string): ObserverTicket | undefined {
    const { tickets, clock } = this;
    const ticket = tickets.read('observe', text, clock.now());
    const [documentId, observerId, userId] = ticket?.claims ?? [];
    if (!ticket || documentId === undefined || observerId === undefined || userId === undefined)
      return undefined;
    return {
      documentId: documentId as DocumentId,
      observerId,
      userId: userId as UserId,
      expired: ticket.expired,
    };
  }

  /** Clients parse `/key/{key}/` and `?ticket=`. */
  #url(key: string, page: 'sign' | 'sign-embedded' | 'read', ticket: string): string {
    return `${this.publicUrl()}/document/key/${key}/${page}?ticket=${ticket}`;
  }
}

/** Prefix of the origin of a ticket: `3;`. */
function versionClaim(version: number | undefined): string {
  return version === undefined ? '' : `${version};`;
}

function cut(name: string): string {
  let text = name;
  while (Buffer.byteLength(text) > MAX_NAME_LENGTH) text = text.slice(0, -1);
  return text;
}
