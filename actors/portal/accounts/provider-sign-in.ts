/**
 * Sign-in of users at identity providers. A person is issuer and subject; an address links nobody by itself.
 *
 * Source: docs/decisions/0276-single-sign-on.md.
 */
import { hash } from 'node:crypto';
import type { AccessProfile } from '../../../contracts/portal/users.ts';
import type { OrganizationId, UserId } from '../../../machines/ids.ts';
import {
  accessOf as profileOf,
  roleIn,
  roleOf,
  USER_ROLES,
  type UserContext,
} from '../../../machines/portal/accounts/portal-user.ts';
import { idOfSession } from '../../../machines/portal/accounts/sessions.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type { ServiceRuntime } from '../../hosting/service-plan.ts';
import type { RequestOrigin } from '../api/callers.ts';
import type { SigningLinks } from '../mails/signing-links.ts';
import { addressKey, isMailAddress } from '../shared/mail-address.ts';
import type { Administration } from './administration.ts';
import { recordSession, sessionOrigin } from './session-log.ts';
import { SECRET_BYTES } from './session-tokens.ts';
import type { UserSignIn } from './sign-in.ts';
import { emailName, identityName, PORTAL_USER, type UserDirectory } from './users.ts';

/** A provider of an organization. */
export interface PortalProvider {
  readonly name: string;
  /** Name of the organization. */
  readonly organization: string;
  /** Domains for which it speaks; empty = none in particular. */
  readonly domains: readonly string[];
  /** Roles by group, `*` = everybody. Empty: administrators of the organization give roles. */
  readonly roles: readonly { readonly group: string; readonly role: string }[];
  readonly createUsers: boolean;
}

/** A person as the provider describes it. */
export interface PersonAtProvider {
  readonly issuer: string;
  readonly subject: string;
  readonly session?: string | undefined;
  /** Time at which the provider authenticated the person; undefined = it does not say. */
  readonly authenticatedAt?: number | undefined;
  /** End of the session there; undefined = it names none. */
  readonly until?: number | undefined;
  readonly email?: string | undefined;
  /** Undefined: the provider does not say. */
  readonly emailVerified?: boolean | undefined;
  readonly name?: string | undefined;
  /** Undefined: there are too many for a token. */
  readonly groups: readonly string[] | undefined;
}

/**
 * `confirm`: a link was mailed to a user who has that address; it works in the browser that knows `linkId`. `account`: there
 * is no user; `address`: the address is not verified, or of another domain; `wait`: too many unused links.
 */
export type ProviderOutcome =
  | { readonly kind: 'session'; readonly token: string }
  | { readonly kind: 'confirm'; readonly linkId: string }
  | { readonly kind: 'refused'; readonly why: 'account' | 'role' | 'address' | 'groups' | 'wait' };

const REFUSED_ROLE: ProviderOutcome = { kind: 'refused', why: 'role' };

export class ProviderSignIn {
  constructor(
    private readonly runtime: Pick<ServiceRuntime, 'actors' | 'store' | 'clock' | 'ids'>,
    private readonly parts: {
      readonly administration: Pick<Administration, 'findOrganization'>;
      readonly users: Pick<UserDirectory, 'register'>;
      readonly signIn: Pick<UserSignIn, 'mailConfirmation'>;
      readonly links: Pick<SigningLinks, 'parseSignIn'>;
      /** Length of a session, milliseconds (`Identity:SessionMinutes`). */
      readonly sessionLifetime: number;
    },
  ) {}

  /** Signs in a person whom the provider has just authenticated. */
  async signIn(
    provider: PortalProvider,
    person: PersonAtProvider,
    from?: RequestOrigin,
  ): Promise<ProviderOutcome> {
    const organizationId = await this.#organization(provider);
    if (organizationId === undefined) return { kind: 'refused', why: 'account' };
    if (provider.roles.length > 0 && person.groups === undefined) return { kind: 'refused', why: 'groups' };
    const access = accessOf(provider, person.groups ?? []);
    const email = addressAt(provider, person);
    const known = await this.#holder(identityName(person));
    if (known !== undefined) {
      if (!mayEnter(provider, known, organizationId)) return { kind: 'refused', why: 'account' };
      // Several providers can have one issuer: each lets in the people of its domains.
      if (email === undefined && (provider.domains.length > 0 || !isMember(known, organizationId)))
        return { kind: 'refused', why: 'address' };
      return this.#begin(known, { organizationId, access, person, from });
    }
    if (email === undefined) return { kind: 'refused', why: 'address' };
    const existing = await this.#holder(emailName(email));
    if (existing === undefined)
      return this.#register(provider, { organizationId, access, person, email, from });
    if (!mayEnter(provider, existing, organizationId)) return { kind: 'refused', why: 'account' };
    if ((access === undefined ? roleIn(existing, organizationId) : roleOf(access)) === undefined)
      return REFUSED_ROLE;
    const linkId = await this.parts.signIn.mailConfirmation(existing.id, organizationId);
    return linkId === undefined ? { kind: 'refused', why: 'wait' } : { kind: 'confirm', linkId };
  }

  /** Signs in with the mailed link that confirms a new identity. Refusals: `InvalidTicket`. */
  async confirm(
    provider: PortalProvider,
    person: Omit<PersonAtProvider, 'email' | 'emailVerified' | 'name'> & {
      readonly linkId: string;
    },
    ticket: string,
    from?: RequestOrigin,
  ): Promise<ProviderOutcome> {
    const named = this.parts.links.parseSignIn(ticket);
    const organizationId = await this.#organization(provider);
    const user = named && (await this.#read(named.userId));
    if (named?.linkId !== person.linkId || user === undefined || organizationId === undefined)
      throw new PortalRefusal('InvalidTicket');
    // The user may have been removed since the link was mailed.
    if (!mayEnter(provider, user, organizationId)) return { kind: 'refused', why: 'account' };
    const access = accessOf(provider, person.groups ?? []);
    return this.#begin(user, { organizationId, access, person, linkId: named.linkId, from });
  }

  /** Ends sessions that began at a provider, and those of the editor. @param session id of one of its sessions; undefined = all of the person */
  async end(
    provider: PortalProvider,
    issuer: string,
    subject: string,
    session: string | undefined,
  ): Promise<void> {
    const identity = { issuer, subject };
    const user = await this.#holder(identityName(identity));
    if (user === undefined) return;
    const organizationId = await this.#organization(provider);
    const by = 'the identity provider';
    await this.runtime.actors.send(PORTAL_USER, user.id, {
      type: 'SIGN_OUT_AT_PROVIDER',
      identity,
      by,
      userId: user.id,
      ...(session !== undefined && { session }),
      ...(organizationId !== undefined && { organizationId }),
    });
  }

  async #register(
    provider: PortalProvider,
    given: {
      readonly organizationId: OrganizationId;
      readonly access: AccessProfile | undefined;
      readonly person: PersonAtProvider;
      readonly email: string;
      readonly from: RequestOrigin | undefined;
    },
  ): Promise<ProviderOutcome> {
    const { organizationId, access, person, email } = given;
    if (!provider.createUsers) return { kind: 'refused', why: 'account' };
    if (access === undefined || roleOf(access) === undefined) return REFUSED_ROLE;
    const { issuer, subject, name = email } = person;
    const profile = { name, email, identifier: null, phone: null };
    const membership = { organizationId, accessProfile: access, profile };
    await this.parts.users.register(profile, membership, { issuer, subject });
    const user = await this.#holder(identityName(person));
    return user === undefined ? { kind: 'refused', why: 'account' } : this.#begin(user, given);
  }

  async #begin(
    user: UserContext & { readonly id: string },
    given: {
      readonly organizationId: OrganizationId;
      readonly access: AccessProfile | undefined;
      readonly person: Pick<PersonAtProvider, 'issuer' | 'subject' | 'session' | 'authenticatedAt' | 'until'>;
      readonly linkId?: string;
      readonly from: RequestOrigin | undefined;
    },
  ): Promise<ProviderOutcome> {
    const { actors, clock, ids } = this.runtime;
    const { organizationId, access, person, linkId, from } = given;
    const { issuer, subject, authenticatedAt } = person;
    const identity = { issuer, subject };
    const role = access === undefined ? roleIn(user, organizationId) : roleOf(access);
    const secret = ids.bytes(SECRET_BYTES).toString('base64url');
    const sha256 = hash('sha256', secret);
    const begun = sessionOrigin(clock.now(), from);
    const session = {
      sha256,
      begun,
      organizationId,
      expiresAt: Math.min(clock.now() + this.parts.sessionLifetime, person.until ?? Number.POSITIVE_INFINITY),
      at: {
        ...identity,
        ...(person.session !== undefined && { session: person.session }),
        // The clock of the provider may be ahead.
        ...(authenticatedAt !== undefined && { provenAt: Math.min(authenticatedAt, clock.now()) }),
      },
    };
    const { accepted: isAccepted } = await actors.send(PORTAL_USER, user.id, {
      type: 'SIGN_IN_AT_PROVIDER',
      identity,
      organizationId,
      by: `user ${user.id}`,
      userId: user.id,
      ...(linkId !== undefined && { linkId }),
      ...(access !== undefined && { accessProfile: access }),
      ...(role !== undefined && { session }),
    });
    if (!isAccepted && linkId !== undefined) throw new PortalRefusal('InvalidTicket');
    // The identity service of the organization has deactivated the person.
    if (!isAccepted) return { kind: 'refused', why: 'account' };
    if (role !== undefined)
      await recordSession(this.runtime, organizationId, {
        action: 'SignedIn',
        userId: user.id,
        sessionId: idOfSession({ sha256 }),
        origin: begun,
      });
    return role === undefined ? REFUSED_ROLE : { kind: 'session', token: `${user.id}.${secret}` };
  }

  async #organization({ organization }: PortalProvider): Promise<OrganizationId | undefined> {
    return (await this.parts.administration.findOrganization(organization))?.id;
  }

  async #holder(name: string): Promise<(UserContext & { readonly id: UserId }) | undefined> {
    const holder = await this.runtime.store.holder(name);
    return holder && this.#read(holder.id as UserId);
  }

  async #read(id: UserId): Promise<(UserContext & { readonly id: UserId }) | undefined> {
    const actor = await this.runtime.actors.read(PORTAL_USER, id);
    return actor && { ...actor.context, id };
  }
}

/** Undefined: the provider gives no roles. */
function accessOf({ roles }: PortalProvider, groups: readonly string[]): AccessProfile | undefined {
  if (roles.length === 0) return undefined;
  const has = (wanted: string) =>
    roles.some(({ group, role }) => role === wanted && (group === '*' || groups.includes(group)));
  // The first of them counts.
  return profileOf(USER_ROLES.find((role) => has(`${role[0]?.toUpperCase()}${role.slice(1)}`)));
}

function isMember({ memberships }: UserContext, organization: OrganizationId): boolean {
  return memberships.some(({ organizationId }) => organizationId === organization);
}

function mayEnter({ createUsers }: PortalProvider, user: UserContext, organization: OrganizationId): boolean {
  return createUsers || isMember(user, organization);
}

/**
 * The address for which the provider may speak: one of its domains; without domains, one that it has verified.
 * Undefined: there is none.
 */
function addressAt(
  { domains }: PortalProvider,
  { email, emailVerified }: PersonAtProvider,
): string | undefined {
  if (email === undefined || !isMailAddress(email) || emailVerified === false) return undefined;
  if (domains.length === 0) return emailVerified === true ? email : undefined;
  const key = addressKey(email);
  return domains.some((domain) => key.endsWith(`@${addressKey(`x@${domain}`).slice(2)}`)) ? email : undefined;
}
