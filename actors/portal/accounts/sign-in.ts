/**
 * Sign-in of users by a mailed link, and their sessions. The record of the user holds the ids of
 * unused links and the digests of sessions, so that every node knows them and removing the user ends them.
 *
 * Source: docs/decisions/0135-users-sign-in-by-mail.md.
 */

import { hash } from 'node:crypto';
import { accepted } from '@sealwright/runtime';
import {
  type ApplicationId,
  type OrganizationId,
  parsePortalId,
  type UserId,
} from '../../../machines/ids.ts';
import {
  roleIn,
  roleOf,
  type UserContext,
  type UserRole,
} from '../../../machines/portal/accounts/portal-user.ts';
import {
  idOfSession,
  isUnseen,
  mayEnterBy,
  needsFactor,
  type OwedProof,
  owedProof,
  PENDING_LIFETIME_MS,
  SIGN_IN_LIFETIME_MS,
  type SignInLink,
} from '../../../machines/portal/accounts/sessions.ts';
import type { PageBranding } from '../../../machines/portal/branding.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type { ServiceRuntime } from '../../hosting/service-plan.ts';
import { FairQueue } from '../../pool/worker-group.ts';
import type { FolderRightsReader, RequestOrigin, Tenant } from '../api/callers.ts';
import { pageLookOf } from '../branding/branding.ts';
import { createMail } from '../mails/mails.ts';
import type { SigningLinks } from '../mails/signing-links.ts';
import { ORGANIZATION, organizationOf } from './organizations.ts';
import { recordSession, sessionOrigin } from './session-log.ts';
import { formTokenOf, isSame, parseToken, SECRET_BYTES } from './session-tokens.ts';
import { emailName, PORTAL_USER } from './users.ts';

/** Requests for links are looked up, and mailed, at this pace: so many at once, then one in each interval. */
const PACE = { burst: 60, intervalMs: 200 } as const;
/** Requests that wait. Beyond it the network with most of them loses its oldest. */
const MAX_WAITING = 3000;
/** Longer texts cannot be addresses. */
const MAX_EMAIL_LENGTH = 255;

/** A user with an open session. */
export interface SignedInUser {
  readonly id: string;
  readonly name: string;
  readonly email: string;
  readonly role: UserRole;
  /** Id of the session in lists. */
  readonly sessionId: string;
  /** The user as a caller of the services, in the organization of the session. */
  readonly tenant: Tenant;
  /** Look of the organization's pages; absent = ours. */
  readonly branding?: PageBranding | undefined;
  /** Must come with every form and request that changes something. */
  readonly formToken: string;
  /** Proof of the person that is owed before keys, users and identity are changed; absent: was proven lately. */
  readonly owes?: OwedProof | undefined;
}

/** Content of a valid link. */
export interface SignInLinkView {
  readonly name: string;
  readonly email: string;
  /** Organizations in which the user has a role. */
  readonly organizations: readonly { readonly id: OrganizationId; readonly name: string }[];
  /** The link proves the address to the browser that signs in at a provider. */
  readonly confirms?: boolean;
}

export class UserSignIn {
  /** Addresses by network: networks take turns, so that many requests of some do not delay those of others. */
  readonly #waiting = new FairQueue<string>();
  /** Elapsed time up to which the pace is used up. */
  #usedUntil = 0;
  /** Cancels the timer of the next turn. */
  #disarm: (() => void) | undefined;
  /** Organizations whose users sign in at a provider only. */
  #closed: ReadonlySet<string> = new Set();

  constructor(
    private readonly runtime: Pick<ServiceRuntime, 'actors' | 'store' | 'clock' | 'ids' | 'log'>,
    private readonly links: Pick<SigningLinks, 'signIn' | 'parseSignIn'>,
    /** Length of a session, milliseconds (`Auth:SessionHours`). */
    private readonly sessionLifetime: number,
    private readonly folderRights: Pick<FolderRightsReader, 'of'>,
  ) {}

  /** Takes a request for a link, which is answered by mail alone: later if many wait, never if too many do. */
  requestLink(email: string, network: string): void {
    const waiting = this.#waiting;
    const given = email.trim();
    if (given.length > MAX_EMAIL_LENGTH) return;
    waiting.push(network, given);
    if (waiting.size > MAX_WAITING) {
      let longest = '';
      let most = 0;
      waiting.dequeue((name, { length }) => {
        if (length < most) return 0;
        longest = name;
        most = length;
        return 0;
      });
      waiting.dequeue((name) => (name === longest ? 1 : 0));
    }
    if (this.#disarm === undefined) this.#mailWaiting();
  }

  /** Closes mailed links for organizations (`Identity:LocalSignIn`). Links from the command line work on. */
  closeFor(organizations: readonly OrganizationId[]): void {
    this.#closed = new Set(organizations);
  }

  /** Drops the requests that wait. */
  close(): void {
    this.#disarm?.();
    this.#disarm = undefined;
  }

  #mailWaiting(): void {
    const { clock, log } = this.runtime;
    this.#disarm = undefined;
    while (this.#waiting.size > 0) {
      const now = clock.elapsed();
      this.#usedUntil = Math.max(this.#usedUntil, now);
      const pause = this.#usedUntil - now - (PACE.burst - 1) * PACE.intervalMs;
      if (pause > 0) {
        this.#disarm = clock.after(pause, () => this.#mailWaiting());
        return;
      }
      this.#usedUntil += PACE.intervalMs;
      for (const email of this.#waiting.dequeue(() => 1)?.items ?? [])
        this.mailLink(email).catch((error: unknown) => {
          log.warn('A link to sign in could not be mailed.', { Error: String(error) });
        });
    }
  }

  /** Mails a link to a known address with a role; does nothing for others, and while three links can be used. */
  async mailLink(email: string): Promise<void> {
    const { store } = this.runtime;
    const holder = await store.holder(emailName(email));
    const user = holder && (await this.#read(holder.id));
    const membership = user?.memberships.find(
      ({ accessProfile, organizationId }) =>
        roleOf(accessProfile) !== undefined && !this.#closed.has(organizationId),
    );
    if (holder === undefined || user === undefined || membership === undefined) return;
    await this.#mail(holder.id as UserId, user, membership.organizationId);
  }

  /**
   * Mails a link that proves the address of a user to the browser that signs in at a provider. @returns its id; undefined
   * while three links can be used
   */
  async mailConfirmation(userId: UserId, organizationId: OrganizationId): Promise<string | undefined> {
    const user = await this.#read(userId);
    return user && this.#mail(userId, user, organizationId, 'confirm');
  }

  async #mail(
    userId: UserId,
    user: UserContext,
    organizationId: OrganizationId,
    use?: 'confirm',
  ): Promise<string | undefined> {
    const { actors, clock, ids } = this.runtime;
    const link = await this.#issue(userId, false, use);
    if (link === undefined) return undefined;
    await createMail(actors, ids.uuid(), {
      organizationId,
      content: {
        about: 'sign-in',
        to: { name: user.name, email: user.email },
        userId,
        linkId: link.id,
        expiresAt: link.expiresAt,
      },
      at: clock.now(),
    });
    return link.id;
  }

  /** A link for a terminal, in place of a mail; it replaces the oldest, and works where mailed links are closed. */
  async linkFor(userId: string): Promise<string | undefined> {
    const link = await this.#issue(userId, true, 'recovery');
    const { links } = this;
    return link && links.signIn({ userId: userId as UserId, linkId: link.id, expiresAt: link.expiresAt });
  }

  /**
   * Reads a link without using it up; undefined for one that is not valid any more.
   * @param confirming id of the link that the browser may use to confirm an address
   */
  async link(ticket: string, confirming?: string): Promise<SignInLinkView | undefined> {
    const named = this.links.parseSignIn(ticket);
    const user = named && (await this.#read(named.userId));
    const link = user?.signInLinks?.find(({ id }) => id === named?.linkId);
    if (user === undefined || link === undefined) return undefined;
    if (link.use === 'confirm')
      return link.id === confirming
        ? { name: user.name, email: user.email, organizations: [], confirms: true }
        : undefined;
    const known = await Promise.all(
      user.memberships
        .filter(({ accessProfile }) => roleOf(accessProfile) !== undefined)
        .filter(({ organizationId }) => link.use === 'recovery' || !this.#closed.has(organizationId))
        .filter(({ organizationId }) => mayEnterBy(link, organizationId))
        .map(({ organizationId }) => this.#organization(organizationId)),
    );
    const organizations = known.flatMap((one) => (one === undefined ? [] : [{ id: one.id, name: one.name }]));
    return { name: user.name, email: user.email, organizations };
  }

  /** Uses the link up and begins a session. @returns the token of its cookie. Refusals: `InvalidTicket` */
  async begin(ticket: string, organization: string, from?: RequestOrigin): Promise<string> {
    const { actors, clock, ids } = this.runtime;
    const { links, sessionLifetime } = this;
    const named = links.parseSignIn(ticket);
    const organizationId = parsePortalId('OrganizationId', organization);
    if (named === undefined || organizationId === undefined) throw new PortalRefusal('InvalidTicket');
    if (this.#closed.has(organizationId)) {
      const user = await this.#read(named.userId);
      if (!user?.signInLinks?.some(({ id, use }) => id === named.linkId && use === 'recovery'))
        throw new PortalRefusal('InvalidTicket');
    }
    const secret = ids.bytes(SECRET_BYTES).toString('base64url');
    const sha256 = hash('sha256', secret);
    const begun = sessionOrigin(clock.now(), from);
    const user = await this.#read(named.userId);
    const organizationActor = await actors.read(ORGANIZATION, organizationId);
    const link = user?.signInLinks?.find(({ id }) => id === named.linkId);
    const isPending =
      link?.passkey === undefined &&
      (user?.secondFactor !== undefined || organizationActor?.context.requireSecondFactor === true);
    await accepted(
      actors.send(PORTAL_USER, named.userId, {
        type: 'SIGN_IN',
        linkId: named.linkId,
        session: {
          sha256,
          begun,
          organizationId,
          expiresAt: clock.now() + (isPending ? PENDING_LIFETIME_MS : sessionLifetime),
          ...(isPending && { pending: true as const }),
        },
        by: `user ${named.userId}`,
        userId: named.userId,
      }),
      () => new PortalRefusal('InvalidTicket'),
    );
    // Before anybody has the cookie: no session is used that the log does not know.
    if (!isPending)
      await recordSession(this.runtime, organizationId, {
        action: 'SignedIn',
        userId: named.userId,
        sessionId: idOfSession({ sha256 }),
        origin: begun,
      });
    return `${named.userId}.${secret}`;
  }

  /** Undefined for a session that is unknown, expired, ended, of a removed user, or that waits for the second factor. */
  async session(token: string): Promise<SignedInUser | undefined> {
    const open = await this.#open(token);
    if (open === undefined || open.isPending) return undefined;
    const { user, session, role, organization, owes } = open;
    const { userId, secret, sha256 } = parseToken(token);
    const { organizationId } = session;
    if (isUnseen(session, this.runtime.clock.now()))
      this.runtime.actors
        .send(PORTAL_USER, userId, { type: 'USE_SESSION', sha256 })
        .catch((error: unknown) => {
          this.runtime.log.debug('The use of a session was not recorded.', { Error: String(error) });
        });
    const profile = user.memberships.find((one) => one.organizationId === organizationId)?.profile ?? user;
    const { name } = profile;
    const rights = role === 'sender' ? await this.folderRights.of(organizationId, userId) : undefined;
    return {
      id: userId,
      name,
      email: user.email,
      role,
      sessionId: idOfSession({ sha256 }),
      tenant: {
        organization,
        application: { id: userId as ApplicationId, name, role: 'Normal' },
        user: { id: userId, name },
        ...(rights !== undefined && { rights }),
      },
      branding: await pageLookOf(this.runtime.actors, organization),
      formToken: formTokenOf(secret),
      owes,
    };
  }

  /** True for a session that waits for the second factor. */
  async isPending(token: string): Promise<boolean> {
    return (await this.#open(token))?.isPending === true;
  }

  async #open(token: string) {
    const { userId, sha256 } = parseToken(token);
    const user = await this.#read(userId);
    const session = user?.sessions?.find((one) => isSame(one.sha256, sha256));
    if (user === undefined || session === undefined) return undefined;
    if (session.expiresAt <= this.runtime.clock.now()) return undefined;
    const { organizationId } = session;
    const role = roleIn(user, organizationId);
    const actor = role && (await this.runtime.actors.read(ORGANIZATION, organizationId));
    if (role === undefined || actor === undefined) return undefined;
    const { requireSecondFactor = false } = actor.context;
    return {
      user,
      session,
      role,
      organization: organizationOf(organizationId, actor.context),
      isPending: needsFactor(session, user, requireSecondFactor),
      owes: owedProof(session, user, this.runtime.clock.now()),
    };
  }

  async end(token: string): Promise<void> {
    const { userId, sha256 } = parseToken(token);
    const user = await this.#read(userId);
    const session = user?.sessions?.find((one) => isSame(one.sha256, sha256));
    if (session === undefined) return;
    const event = { type: 'SIGN_OUT', sha256, userId, by: `user ${userId}` } as const;
    await this.runtime.actors.send(PORTAL_USER, userId, event);
  }

  async #issue(
    userId: string,
    replacesOldest: boolean,
    use?: SignInLink['use'],
  ): Promise<SignInLink | undefined> {
    const { actors, clock, ids } = this.runtime;
    const link: SignInLink = {
      id: ids.uuid(),
      expiresAt: clock.now() + SIGN_IN_LIFETIME_MS,
      ...(use !== undefined && { use }),
    };
    const issued = await actors.send(PORTAL_USER, userId, { type: 'ISSUE_LINK', link, replacesOldest });
    return issued.accepted ? link : undefined;
  }

  async #organization(id: OrganizationId): Promise<Tenant['organization'] | undefined> {
    const actor = await this.runtime.actors.read(ORGANIZATION, id);
    return actor && organizationOf(id, actor.context);
  }

  async #read(id: string): Promise<UserContext | undefined> {
    const actor = await this.runtime.actors.read(PORTAL_USER, id);
    return actor?.context;
  }
}
