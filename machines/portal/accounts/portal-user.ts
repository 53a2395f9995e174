/**
 * A person that administrators registered: in directories of clients, and to sign in to the pages of the portal with a
 * role in an organization. Participants sign without it.
 *
 * | from  | message    | to      | effects |                                                          |
 * |-------|------------|---------|---------|----------------------------------------------------------|
 * | Known | DESCRIBE   | Known   |         |                                                          |
 * | Known | JOIN       | Known   |         | up to 100 organizations                                  |
 * | Known | LEAVE      | Known   |         | an organization the person is in                         |
 * | Known | PROVISION  | Known   |         | of the expected revision; not the address of a person of several organizations |
 * | Known | GRANT      | Known   |         | in an organization the person is in                      |
 * | Known | ISSUE_LINK | Known   |         | with a role; up to three links, or replacing the oldest  |
 * | Known | SIGN_IN    | Known   |         | with an unused link, to an organization with a role      |
 * | Known | SIGN_IN_AT_PROVIDER | Known |  | with a known identity, or an unused link that confirms it |
 * | Known | ENROL_FACTOR | Known |         | without an app                                           |
 * | Known | ADD_PASSKEY  | Known |         | up to ten; an unanswered challenge                       |
 * | Known | RENAME_PASSKEY | Known |       | an existing one                                          |
 * | Known | REMOVE_PASSKEY | Known |       | an existing one                                          |
 * | Known | PROVE_FACTOR | Known |         | with an unused code or challenge; wrong codes until the lock |
 * | Known | RESET_FACTOR | Known |         | with a second factor                                     |
 * | Known | SIGN_OUT   | Known   |         | of an existing session                                   |
 * | Known | USE_SESSION | Known  |         | of an existing session, every ten minutes                |
 * | Known | SIGN_OUT_AT_PROVIDER | Known | | of a known identity: its sessions, and those of the editor |
 * | Known | END_SESSIONS | Known |         | of the organization: an existing one, or all             |
 * | Known | REMOVE     | Removed |         |                                                          |
 *
 * Removed is not stored: the actor ends. Each change is a line of the journal without the person's data. Sessions end
 * with the membership, with its role, and with the e-mail address; the step tells their organizations, for the log.
 *
 * Source: docs/portal-values.md §20; docs/decisions/0135-users-sign-in-by-mail.md;
 * docs/decisions/0278-provisioning.md; docs/identity.md.
 */
import type { AccessProfile, UserProfile } from '../../../contracts/portal/users.ts';
import type { Millis, OrganizationId } from '../../ids.ts';
import { recordMachine } from '../../record.ts';
import {
  afterProof,
  type FactorProof,
  type Passkey,
  type SecondFactor,
  type UsedChallenge,
  withApp,
  withChallenge,
  withNewAddress,
  withoutApp,
  withoutPasskey,
  withPasskey,
} from './second-factor.ts';
import { type EndsSessions, endLines } from './session-ends.ts';
import {
  afterProving,
  aloneFrom,
  idOfSession,
  isUnseen,
  limited,
  MAX_SIGN_IN_LINKS,
  mayEnterBy,
  type ProvesSession,
  type SessionOrigin,
  type SignInLink,
  signedIn,
  type UserIdentity,
  type UserSession,
  unexpired,
} from './sessions.ts';

export const USER_REMOVED = 'Removed';

/** Maximum number of organizations of one person. */
export const MAX_MEMBERSHIPS = 100;

export interface Membership {
  readonly organizationId: OrganizationId;
  readonly accessProfile: AccessProfile;
  /**
   * The description of the person by this organization: other organizations cannot see it. Absent if an administrator
   * of the instance has described the person since, and if the membership is older than this member.
   */
  readonly profile?: UserProfile;
  /** Set by the identity service of the organization. Absent: it has never changed the person. */
  readonly provisioned?: ProvisionedMember;
  /** Sessions of the editor that began before are over. Absent = none. */
  readonly endedAt?: Millis;
}

/** A member as the identity service of the organization describes it. */
export interface ProvisionedMember {
  /** Attributes of the SCIM resource, by their canonical names. */
  readonly resource: Readonly<Record<string, unknown>>;
  /** False: the access profile of the membership is empty, whatever `access` says. */
  readonly active: boolean;
  /** Access profile of the member while it is active. */
  readonly access: AccessProfile;
  /** Raised by each change of the identity service. */
  readonly revision: number;
  readonly changedAt: Millis;
}

export const NO_ACCESS: AccessProfile = { administrator: false, manager: false, operator: false };

/** Role on the pages: `administrator` changes the organization, `sender` works with documents, `auditor` reads everything. */
export type UserRole = 'administrator' | 'sender' | 'auditor';
export const USER_ROLES: readonly UserRole[] = ['administrator', 'sender', 'auditor'];

/** Access profile of a role; without rights for other words. */
export function accessOf(role: string | undefined): AccessProfile {
  const profile = { administrator: role === 'administrator', manager: false, operator: role === 'sender' };
  return role === 'auditor' ? { ...profile, auditor: true } : profile;
}

export interface UserContext extends UserProfile {
  /** Absent = none. */
  readonly secondFactor?: SecondFactor | undefined;
  /** Of passkeys, by time; absent = none. */
  readonly usedChallenges?: readonly UsedChallenge[];
  /** Unused links, oldest first; absent = none. */
  readonly signInLinks?: readonly SignInLink[];
  /** Oldest first; absent = none. */
  readonly sessions?: readonly UserSession[];
  /** Identifier of the person in another system; null = none. */
  readonly subject: string | null;
  readonly createdAt: Millis;
  readonly memberships: readonly Membership[];
  /** At identity providers; absent = none. */
  readonly identities?: readonly UserIdentity[];
}

/** Role of an access profile; undefined for people who are only in the directory. */
export function roleOf({ administrator, manager, operator, auditor }: AccessProfile): UserRole | undefined {
  if (administrator) return 'administrator';
  if (manager || operator) return 'sender';
  return auditor === true ? 'auditor' : undefined;
}

/** Role of a person in an organization; undefined for one whom its identity service has deactivated. */
export function roleIn(user: UserContext, organizationId: OrganizationId): UserRole | undefined {
  const membership = user.memberships.find((one) => one.organizationId === organizationId);
  return membership?.provisioned?.active === false
    ? undefined
    : membership && roleOf(membership.accessProfile);
}

/** `by`: the caller; absent = the service itself, or the command line. */
export type UserMessage = { readonly at: Millis; readonly by?: string | undefined } & (
  | ({
      readonly type: 'DESCRIBE';
      readonly subject: string | null;
      readonly profile: UserProfile;
    } & EndsSessions)
  | ({ readonly type: 'JOIN'; readonly membership: Membership } & EndsSessions)
  | ({ readonly type: 'LEAVE'; readonly organizationId: OrganizationId } & EndsSessions)
  | ({
      readonly type: 'PROVISION';
      readonly organizationId: OrganizationId;
      /** The revision that the change was computed from; 0 = not provisioned yet, null = not a member yet. */
      readonly revision: number | null;
      readonly profile: UserProfile;
      readonly resource: ProvisionedMember['resource'];
      readonly active: boolean;
    } & EndsSessions)
  | ({
      readonly type: 'GRANT';
      readonly organizationId: OrganizationId;
      readonly accessProfile: AccessProfile;
    } & EndsSessions)
  | { readonly type: 'ISSUE_LINK'; readonly link: SignInLink; readonly replacesOldest: boolean }
  | ({ readonly type: 'SIGN_IN'; readonly linkId: string; readonly session: UserSession } & EndsSessions)
  | ({
      readonly type: 'SIGN_IN_AT_PROVIDER';
      readonly identity: UserIdentity;
      /** Link that confirms a new identity; absent for a known one. */
      readonly linkId?: string;
      readonly organizationId: OrganizationId;
      /** From the groups at the provider; absent = the membership keeps its own. */
      readonly accessProfile?: AccessProfile;
      /** Absent = the groups give no role. */
      readonly session?: UserSession;
    } & EndsSessions)
  | ({ readonly type: 'ENROL_FACTOR'; readonly totp: string } & ProvesSession &
      Pick<SecondFactor, 'counter' | 'recovery'>)
  | ({
      readonly type: 'ADD_PASSKEY';
      readonly passkey: Passkey;
      readonly challenge: UsedChallenge;
      /** Digests of recovery codes, for a user without a second factor. */
      readonly recovery: readonly string[];
    } & ProvesSession)
  | { readonly type: 'RENAME_PASSKEY'; readonly passkey: string; readonly name: string }
  | { readonly type: 'REMOVE_PASSKEY'; readonly passkey: string }
  | ({
      readonly type: 'PROVE_FACTOR';
      readonly proof: FactorProof;
      /** Carried out after a right proof, as the rest. */
      readonly issues?: SignInLink;
      /** The app. */
      readonly removes?: true;
      /** Digests of new recovery codes. */
      readonly recovery?: readonly string[];
    } & ProvesSession)
  | { readonly type: 'RESET_FACTOR' }
  | ({ readonly type: 'SIGN_OUT'; readonly sha256: string } & EndsSessions)
  | { readonly type: 'USE_SESSION'; readonly sha256: string }
  /** `sessionId`: absent = all, and those of the editor. */
  | ({
      readonly type: 'END_SESSIONS';
      readonly organizationId: OrganizationId;
      readonly sessionId?: string;
      readonly origin?: SessionOrigin;
    } & EndsSessions)
  /** Sessions of the editor in the organization of the provider do not tell where they began: all end. */
  | ({
      readonly type: 'SIGN_OUT_AT_PROVIDER';
      readonly identity: UserIdentity;
      readonly session?: string;
      readonly organizationId?: OrganizationId;
    } & EndsSessions)
  | { readonly type: 'REMOVE' }
);

/** Identities of one person, at most. */
const MAX_IDENTITIES = 10;

/** The change of the second factor. Without one, no session has passed it. */
function withFactor(user: UserContext, secondFactor: SecondFactor | undefined): Partial<UserContext> {
  if (secondFactor !== undefined) return { secondFactor };
  const sessions = (user.sessions ?? []).map(({ factor: _, ...session }) => session);
  return { secondFactor, sessions };
}

/** The reset of the second factor, which others may have: proofs by it count no more. */
function withoutFactor({ sessions = [] }: UserContext): Partial<UserContext> {
  const unproven = sessions.map(({ factor: _, provenAt: _at, ...session }) => session);
  return { secondFactor: undefined, sessions: unproven };
}

/** True for a link that a passkey made which the user does not have any more. */
function isOfLostPasskey({ secondFactor }: UserContext, { passkey }: SignInLink): boolean {
  return passkey !== undefined && !secondFactor?.passkeys?.some(({ id }) => id === passkey);
}

/** The unused links with one more, which replaces the oldest of too many. */
function withLink({ signInLinks }: UserContext, link: SignInLink, at: Millis): readonly SignInLink[] {
  return [...unexpired(signInLinks, at), link].slice(-MAX_SIGN_IN_LINKS);
}

/** The session of a person without a second factor: proven when the provider says so. */
function provenAtProvider({ secondFactor }: UserContext, session: UserSession): UserSession {
  const { provenAt } = session.at ?? {};
  return secondFactor !== undefined || provenAt === undefined ? session : { ...session, provenAt };
}

function isSameIdentity(one: UserIdentity, other: UserIdentity): boolean {
  return one.issuer === other.issuer && one.subject === other.subject;
}

function others({ memberships }: UserContext, organizationId: OrganizationId): readonly Membership[] {
  return memberships.filter((membership) => membership.organizationId !== organizationId);
}

/** The membership with another access profile, which counts only while the member is active. */
function granted(membership: Membership, accessProfile: AccessProfile): Membership {
  const { provisioned } = membership;
  if (provisioned === undefined) return { ...membership, accessProfile };
  return {
    ...membership,
    accessProfile: provisioned.active ? accessProfile : NO_ACCESS,
    provisioned: { ...provisioned, access: accessProfile },
  };
}

/** The members of a person with one membership changed; a change of its role ends its sessions. */
function withMembership(user: UserContext, membership: Membership): Partial<UserContext> {
  const { organizationId, accessProfile } = membership;
  return {
    memberships: [...others(user, organizationId), membership],
    ...(roleIn(user, organizationId) !== roleOf(accessProfile) && sessionsElsewhere(user, organizationId)),
  };
}

/**
 * The change to another address: whoever had the earlier one goes on nowhere, and later signs in nowhere else. Identities at
 * providers, which others share, are confirmed anew by a mail to the new one.
 */
function newAddress({ secondFactor, memberships }: UserContext): Partial<UserContext> {
  const known = memberships.map(({ organizationId }) => organizationId);
  return {
    signInLinks: [],
    sessions: [],
    identities: [],
    ...(secondFactor !== undefined && { secondFactor: withNewAddress(secondFactor, known) }),
  };
}

/** True for a person that no other organization and no administrator of the instance describes. */
export function belongsOnlyTo(user: UserContext, organizationId: OrganizationId): boolean {
  return user.subject === null && others(user, organizationId).length === 0;
}

/** Sessions of a person without those of an organization. */
function sessionsElsewhere({ sessions = [] }: UserContext, organizationId: OrganizationId) {
  return { sessions: sessions.filter((session) => session.organizationId !== organizationId) };
}

/** Memberships, after the sessions of the editor in one organization. */
function endEditor({ memberships }: UserContext, organizationId: OrganizationId | undefined, at: Millis) {
  return memberships.map((one) => (one.organizationId === organizationId ? { ...one, endedAt: at } : one));
}

export const portalUserMachine = recordMachine<UserContext, UserMessage>({
  id: 'portal-user',
  state: 'Known',
  context: (input) => input,
  created: 'Registered.',
  tells: { kind: 'organization', messages: endLines },
  changes: {
    DESCRIBE: (user, { profile, subject, at }) => {
      const isSameAddress = profile.email.toLowerCase() === user.email.toLowerCase();
      const memberships = user.memberships.map(({ profile: _, ...membership }) => ({
        ...membership,
        ...(!isSameAddress && { endedAt: at }),
      }));
      return {
        context: {
          ...profile,
          subject,
          memberships,
          ...(!isSameAddress && newAddress(user)),
        },
        note: 'Described anew.',
      };
    },
    JOIN: (user, { membership }) => {
      const { organizationId, accessProfile } = membership;
      const before = user.memberships.find((one) => one.organizationId === organizationId);
      if (before === undefined && user.memberships.length >= MAX_MEMBERSHIPS) return undefined;
      // What the identity service has ended, only it begins again.
      if (before?.provisioned?.active === false && roleOf(accessProfile) !== undefined) return undefined;
      const roles = Object.entries(accessProfile).flatMap(([role, has]) => (has ? [role] : []));
      return {
        context: withMembership(user, granted({ ...before, ...membership }, accessProfile)),
        note: `Joined organization ${organizationId} as ${roles.join(', ') || 'member'}.`,
      };
    },
    PROVISION: (user, { organizationId, revision, profile: given, resource, active, at }) => {
      const before = user.memberships.find((one) => one.organizationId === organizationId);
      // The identity service says nothing of the identifier.
      const known = before && (before.profile ?? user);
      const profile = { ...given, identifier: known?.identifier ?? null };
      const current = before === undefined ? null : (before.provisioned?.revision ?? 0);
      if (current !== revision) return undefined;
      if (before === undefined && user.memberships.length >= MAX_MEMBERSHIPS) return undefined;
      const isAlone = belongsOnlyTo(user, organizationId);
      const isSameAddress = profile.email.toLowerCase() === user.email.toLowerCase();
      // Sign-in links go to the address: one organization must not take the person over from another.
      if (!isSameAddress && !isAlone) return undefined;
      const wasActive = before?.provisioned?.active ?? true;
      const access = before?.provisioned?.access ?? before?.accessProfile ?? NO_ACCESS;
      const membership: Membership = {
        ...before,
        organizationId,
        profile,
        accessProfile: active ? access : NO_ACCESS,
        provisioned: { resource, active, access, revision: (revision ?? 0) + 1, changedAt: at },
        ...(((wasActive && !active) || !isSameAddress) && { endedAt: at }),
      };
      const what =
        before === undefined
          ? 'Joined'
          : active === wasActive
            ? 'Changed in'
            : active
              ? 'Activated in'
              : 'Deactivated in';
      return {
        context: {
          ...(isAlone && profile),
          ...withMembership(user, membership),
          ...(!isSameAddress && newAddress(user)),
        },
        note: `${what} organization ${organizationId} by its identity service.`,
      };
    },
    GRANT: (user, { organizationId, accessProfile }) => {
      const before = user.memberships.find((one) => one.organizationId === organizationId);
      if (before === undefined) return undefined;
      return {
        context: withMembership(user, granted(before, accessProfile)),
        note: `Role in organization ${organizationId}: ${roleOf(accessProfile) ?? 'none'}.`,
      };
    },
    LEAVE: (user, { organizationId }) => {
      const memberships = others(user, organizationId);
      if (memberships.length === user.memberships.length) return undefined;
      return {
        context: { memberships, ...sessionsElsewhere(user, organizationId) },
        note: `Left organization ${organizationId}.`,
      };
    },
    ISSUE_LINK: (user, { link, replacesOldest, at }) => {
      // The provider decides about the role of a person whose address a link confirms.
      const mayHaveRole = link.use === 'confirm';
      if (!mayHaveRole && !user.memberships.some(({ accessProfile }) => roleOf(accessProfile)))
        return undefined;
      const links = unexpired(user.signInLinks, at);
      if (links.length >= MAX_SIGN_IN_LINKS && !replacesOldest) return undefined;
      return { context: { signInLinks: withLink(user, link, at) }, note: 'Link to sign in issued.' };
    },
    SIGN_IN: (user, { linkId, session, at }) => {
      const links = unexpired(user.signInLinks, at);
      const link = links.find(({ id, use }) => id === linkId && use !== 'confirm');
      if (link === undefined || !mayEnterBy(link, session.organizationId)) return undefined;
      if (isOfLostPasskey(user, link)) return undefined;
      const role = roleIn(user, session.organizationId);
      if (role === undefined) return undefined;
      return {
        context: {
          signInLinks: links.filter(({ id }) => id !== linkId),
          sessions: limited([...unexpired(user.sessions, at), signedIn(user, session, link, at)]),
        },
        note: `Signed in to organization ${session.organizationId} as ${role}.`,
      };
    },
    SIGN_IN_AT_PROVIDER: (user, { identity, linkId, organizationId, accessProfile, session, at }) => {
      const links = unexpired(user.signInLinks, at);
      const { identities = [] } = user;
      const isKnown = identities.some((one) => isSameIdentity(one, identity));
      const isConfirmed = links.some(({ id, use }) => id === linkId && use === 'confirm');
      if (!isKnown && (!isConfirmed || identities.length >= MAX_IDENTITIES)) return undefined;
      const before = user.memberships.find((one) => one.organizationId === organizationId);
      if (before === undefined && user.memberships.length >= MAX_MEMBERSHIPS) return undefined;
      if (before?.provisioned?.active === false) return undefined;
      const access = accessProfile ?? before?.accessProfile;
      if (access === undefined) return undefined;
      const role = roleOf(access);
      if ((role === undefined) !== (session === undefined)) return undefined;
      const changed = roleIn(user, organizationId) !== role ? sessionsElsewhere(user, organizationId) : user;
      const sessions = unexpired(changed.sessions, at);
      return {
        context: {
          identities: isKnown ? identities : [...identities, identity],
          signInLinks: links.filter(({ id }) => id !== linkId),
          memberships: [
            ...others(user, organizationId),
            granted({ ...before, organizationId, accessProfile: access }, access),
          ],
          sessions:
            session === undefined ? sessions : limited([...sessions, provenAtProvider(user, session)]),
        },
        note:
          role === undefined
            ? `Identity provider gives no role in organization ${organizationId}.`
            : `Signed in at an identity provider to organization ${organizationId} as ${role}${isKnown ? '' : ', with a new identity'}.`,
      };
    },
    ENROL_FACTOR: (user, { at, ...given }) => {
      if (user.secondFactor?.totp !== undefined) return undefined;
      const sessions = afterProving(user, given, at, true);
      if (sessions === undefined) return undefined;
      const secondFactor = withApp(user.secondFactor, given, at);
      return { context: { secondFactor, sessions }, note: 'Second factor set up.' };
    },
    ADD_PASSKEY: (user, { at, ...given }) => {
      const { passkey, recovery, proves, begins } = given;
      const isThat = (one: UserSession) => idOfSession(one) === proves || one.sha256 === begins?.pending;
      const alone = aloneFrom(user.sessions?.find(isThat));
      const added = alone === undefined ? passkey : { ...passkey, alone };
      const secondFactor = withPasskey(user.secondFactor, { passkey: added, recovery }, at);
      const usedChallenges = withChallenge(user.usedChallenges, given.challenge, at);
      const sessions = afterProving(user, given, at, true);
      if (secondFactor === undefined || usedChallenges === undefined || sessions === undefined)
        return undefined;
      return { context: { secondFactor, usedChallenges, sessions }, note: 'Passkey added.' };
    },
    RENAME_PASSKEY: ({ secondFactor }, { passkey, name }) => {
      const { passkeys = [] } = secondFactor ?? {};
      if (secondFactor === undefined || !passkeys.some(({ id }) => id === passkey)) return undefined;
      const renamed = passkeys.map((one) => (one.id === passkey ? { ...one, name } : one));
      return { context: { secondFactor: { ...secondFactor, passkeys: renamed } }, note: 'Passkey renamed.' };
    },
    REMOVE_PASSKEY: (user, { passkey }) => {
      const { secondFactor } = user;
      if (!secondFactor?.passkeys?.some(({ id }) => id === passkey)) return undefined;
      return { context: withFactor(user, withoutPasskey(secondFactor, passkey)), note: 'Passkey removed.' };
    },
    PROVE_FACTOR: (user, { proof, issues, removes, recovery, at, ...given }) => {
      const after = user.secondFactor && afterProof(user.secondFactor, proof, at);
      if (after === undefined) return undefined;
      if (proof === null)
        return { context: { secondFactor: after }, note: 'Wrong code of the second factor.' };
      const sessions = afterProving(user, given, at);
      const usedChallenges =
        'passkey' in proof ? withChallenge(user.usedChallenges, proof.challenge, at) : user.usedChallenges;
      if (sessions === undefined || ('passkey' in proof && usedChallenges === undefined)) return undefined;
      const secondFactor =
        removes === true ? withoutApp(after) : recovery === undefined ? after : { ...after, recovery };
      const by = 'recovery' in proof ? ' by a recovery code' : 'passkey' in proof ? ' by a passkey' : '';
      const what =
        removes === true
          ? 'Authenticator app removed'
          : recovery === undefined
            ? 'Second factor passed'
            : 'Recovery codes renewed';
      return {
        context: {
          ...withFactor({ ...user, sessions }, secondFactor),
          ...(secondFactor !== undefined && { sessions }),
          ...(usedChallenges !== undefined && { usedChallenges }),
          ...(issues !== undefined && { signInLinks: withLink(user, issues, at) }),
        },
        note: `${what}${by}.`,
      };
    },
    RESET_FACTOR: (user) =>
      user.secondFactor && { context: withoutFactor(user), note: 'Second factor reset.' },
    SIGN_OUT_AT_PROVIDER: (user, { identity, session, organizationId, at }) => {
      if (!user.identities?.some((one) => isSameIdentity(one, identity))) return undefined;
      const sessions = unexpired(user.sessions, at);
      const kept = sessions.filter(
        ({ at: there }) =>
          there === undefined ||
          !isSameIdentity(there, identity) ||
          (session !== undefined && there.session !== session),
      );
      return {
        context: { sessions: kept, memberships: endEditor(user, organizationId, at) },
        note: 'Signed out by the identity provider.',
      };
    },
    END_SESSIONS: (user, { organizationId, sessionId, at }) => {
      if (!user.memberships.some((one) => one.organizationId === organizationId)) return undefined;
      const sessions = unexpired(user.sessions, at);
      if (sessionId === undefined)
        return {
          context: {
            ...sessionsElsewhere(user, organizationId),
            memberships: endEditor(user, organizationId, at),
          },
          note: `All sessions in organization ${organizationId} ended.`,
        };
      const kept = sessions.filter(
        (one) => one.organizationId !== organizationId || idOfSession(one) !== sessionId,
      );
      if (kept.length === sessions.length) return undefined;
      return { context: { sessions: kept }, note: `Session ${sessionId} ended.` };
    },
    USE_SESSION: ({ sessions = [] }, { sha256, at }) => {
      const used = sessions.find((session) => session.sha256 === sha256);
      if (used === undefined || !isUnseen(used, at)) return undefined;
      return { context: { sessions: sessions.map((one) => (one === used ? { ...one, usedAt: at } : one)) } };
    },
    SIGN_OUT: (user, { sha256, at }) => {
      const sessions = unexpired(user.sessions, at);
      const kept = sessions.filter((session) => session.sha256 !== sha256);
      if (kept.length === sessions.length) return undefined;
      return { context: { sessions: kept }, note: 'Signed out.' };
    },
  },
  end: { state: USER_REMOVED, endedBy: ['REMOVE'] },
});
