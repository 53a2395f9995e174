/**
 * People that administrators know, by organization.
 *
 * Views: `users` [createdAt, id] → { name, email, identifier, subject } · `organization-users` [organization,
 * createdAt, id] → { name, email, identifier } as the organization knows them · `provisioned-users` [organization, digest of
 * the id at its identity service, id] → null; counters `users`, `organization-users/<organization>`. A person is one by e-mail address, and each organization sees what it said of them.
 *
 * Source: docs/portal-values.md §20.
 */

import { createHash } from 'node:crypto';
import { type ActorView, accepted, defineActor, type EventOf, type Row } from '@sealwright/runtime';
import { visibleText } from '../../../contracts/plain-text.ts';
import type { Page } from '../../../contracts/portal/lists.ts';
import {
  type AccessProfile,
  MAX_USER_TEXT,
  type MemberView,
  type UserProfile,
  type UserQuery,
  type UserView,
} from '../../../contracts/portal/users.ts';
import { type OrganizationId, parsePortalId } from '../../../machines/ids.ts';
import {
  type Membership,
  portalUserMachine,
  USER_REMOVED,
  type UserContext,
} from '../../../machines/portal/accounts/portal-user.ts';
import type { UserIdentity } from '../../../machines/portal/accounts/sessions.ts';
import { badField, checkTogether, PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type { ServiceRuntime } from '../../hosting/service-plan.ts';
import type { ListOfRows, RowLists } from '../../shared/lists/row-lists.ts';
import { addressKey, isMailAddress } from '../shared/mail-address.ts';
import { recordRemoval } from './session-log.ts';

const COUNTER = 'users';
export const MEMBERS_VIEW = 'organization-users';
const PROVISIONED_VIEW = 'provisioned-users';

const FIRST_ADMINISTRATOR: UserProfile = {
  name: 'Administrator',
  identifier: null,
  email: 'administrator@localhost',
  phone: null,
};

export const PORTAL_USER = defineActor('portal-user', {
  machine: portalUserMachine,
  version: 1,
  secrets: ['totp', 'recovery', 'sha256'],
  ends: ({ state }) => state === USER_REMOVED,
  rows: userRows,
  names: ({ context }) => {
    const { email, subject, identities = [], memberships } = context;
    const provisioned = memberships.flatMap(({ organizationId, provisioned: { resource } = {} }) =>
      typeof resource?.['userName'] === 'string' ? [userNameName(organizationId, resource['userName'])] : [],
    );
    return [
      emailName(email),
      ...(subject === null ? [] : [subjectName(subject)]),
      ...identities.map(identityName),
      ...provisioned,
    ];
  },
  counters: ({ context }) => {
    const { memberships } = context;
    const counts = memberships.map(({ organizationId }) => [memberCounter(organizationId), 1] as const);
    return { [COUNTER]: 1, ...Object.fromEntries(counts) };
  },
});

function userRows({ id, context }: ActorView<UserContext>): readonly Row[] {
  const { createdAt, name, email, identifier, subject, memberships } = context;
  const own = { name, email, identifier };
  return [
    { view: 'users', key: [createdAt, id], value: { ...own, subject } },
    ...memberships.map(({ organizationId, profile }) => ({
      view: MEMBERS_VIEW,
      key: [organizationId, createdAt, id],
      value: profile ? { name: profile.name, email: profile.email, identifier: profile.identifier } : own,
    })),
    ...memberships.flatMap(({ organizationId, provisioned }) => {
      const externalId = provisioned?.resource['externalId'];
      if (typeof externalId !== 'string') return [];
      return [{ view: PROVISIONED_VIEW, key: [organizationId, digest(externalId), id], value: null }];
    }),
  ];
}

const USER_TEXTS: Pick<ListOfRows, 'kind' | 'textOf'> = {
  kind: PORTAL_USER.kind,
  textOf: ({ value }) => Object.values(value as object).join('\n'),
};

/** Users of an organization with this id at its identity service. */
export async function externalIdOwner(
  store: Pick<ServiceRuntime['store'], 'rows'>,
  organization: OrganizationId,
  externalId: string,
): Promise<readonly string[]> {
  const prefix = [organization, digest(externalId)];
  const rows = await store.rows({ view: PROVISIONED_VIEW, prefix, limit: 100 });
  return rows.map(({ key }) => String(key.at(-1)));
}

/** The runtime's unique name of a user at the identity service of an organization. */
export function userNameName(organization: string, userName: string): string {
  return `user-name:${organization}:${digest(userName.normalize('NFC').toLowerCase())}`;
}

export function memberCounter(organization: string): string {
  return `organization-users/${organization}`;
}

/** The runtime's unique name of a person. */
export function emailName(email: string): string {
  return `user-email:${digest(addressKey(email))}`;
}

function subjectName(subject: string): string {
  return `user-subject:${digest(subject)}`;
}

/** The runtime's unique name of a person at an identity provider. */
export function identityName({ issuer, subject }: UserIdentity): string {
  return `user-identity:${createHash('sha256').update(`${issuer}\0${subject}`).digest('base64url')}`;
}

function digest(text: string): string {
  return createHash('sha256').update(text.normalize('NFC')).digest('base64url');
}

type StoredUser = UserContext & { readonly id: string };

/**
 * Users need not be participants, nor participants users. Who has a role signs in by a mailed link.
 *
 * `by`: who asked for it, for the journal.
 */
export class UserDirectory {
  constructor(
    private readonly runtime: Pick<ServiceRuntime, 'actors' | 'store' | 'clock' | 'ids'>,
    private readonly lists: Pick<RowLists, 'page'>,
  ) {}

  async members(organization: OrganizationId, query: UserQuery): Promise<Page<MemberView>> {
    const view = { view: MEMBERS_VIEW, prefix: [organization], counter: memberCounter(organization) };
    const { users, totalCount } = await this.#page(view, query);
    return { items: users.flatMap((user) => memberOf(user, organization) ?? []), totalCount };
  }

  /** Undefined for a user of other organizations only. */
  async member(organization: OrganizationId, userId: string): Promise<MemberView | undefined> {
    const user = await this.#read(userId);
    return user && memberOf(user, organization);
  }

  /** Refusals: `BadRequest` with each member at fault. */
  check(given: UserProfile): void {
    checkedProfile(given);
  }

  /** Adds a user; an existing e-mail address is kept. */
  async add(
    organization: OrganizationId,
    given: UserProfile,
    accessProfile: AccessProfile,
    by?: string,
  ): Promise<MemberView> {
    const profile = checkedProfile(given);
    const membership: Membership = { organizationId: organization, accessProfile, profile };
    const existing = await this.#ownerOfName(emailName(profile.email));
    const user = existing ?? (await this.#create(profile, null, [membership]));
    if (existing !== undefined) {
      await accepted(this.#send(existing.id, { type: 'JOIN', membership, by, userId: existing.id }), () =>
        isDeactivated(existing, organization)
          ? new PortalRefusal(
              'Forbidden',
              'The identity service of the organization has deactivated this user.',
            )
          : new PortalRefusal('LimitExceeded'),
      );
    }
    return viewOf(user.id, profile, accessProfile);
  }

  /** Makes the user of a person at an identity provider. Refusals: `NameTaken`, `BadRequest`. */
  async register(given: UserProfile, membership: Membership, identity: UserIdentity): Promise<void> {
    const profile = checkedProfile(given);
    await this.#create(profile, null, [{ ...membership, profile }], [identity]);
  }

  /** Refusals: `UserNotFound`. */
  async remove(organization: OrganizationId, userId: string, by?: string): Promise<void> {
    const user = await this.#read(userId);
    if (user === undefined || memberOf(user, organization) === undefined) throw unknown();
    // A person without an organization and without an identifier in another system is removed.
    const isLast = user.memberships.length === 1 && user.subject === null;
    const message = isLast
      ? ({ type: 'REMOVE', by } as const)
      : ({ type: 'LEAVE', organizationId: organization, by, userId: user.id } as const);
    if (isLast) await recordRemoval(this.runtime, user.id, user, by);
    await accepted(this.#send(user.id, message), unknown);
  }

  /** The first administrator; makes one with an address of this machine if there is none. */
  async firstAdministrator(organization: OrganizationId): Promise<MemberView> {
    const { items } = await this.members(organization, { limit: 100, offset: 0 });
    const existing = items.find(({ accessProfile }) => accessProfile.administrator);
    const access = { administrator: true, manager: false, operator: false };
    return existing ?? this.add(organization, FIRST_ADMINISTRATOR, access);
  }

  /** Of all organizations. */
  async find(query: UserQuery): Promise<Page<UserView>> {
    const { users, totalCount } = await this.#page({ view: 'users', prefix: [], counter: COUNTER }, query);
    return { items: users.map(userOf), totalCount };
  }

  /** @param subject what another system calls the person. Refusals: `NameTaken`. */
  async put(subject: string, given: UserProfile): Promise<UserView> {
    const profile = checkedProfile(given);
    if (subject.length > MAX_USER_TEXT) throw tooLong('Subject');
    const existing =
      (await this.#ownerOfName(subjectName(subject))) ?? (await this.#ownerOfName(emailName(profile.email)));
    if (existing === undefined) return userOf(await this.#create(profile, subject, []));
    if (existing.subject !== null && existing.subject !== subject) throw new PortalRefusal('NameTaken');
    await accepted(
      this.#send(existing.id, { type: 'DESCRIBE', subject, profile, userId: existing.id }),
      ({ reason }) => new PortalRefusal(reason === 'taken' ? 'NameTaken' : 'UserNotFound'),
    );
    return userOf({ ...existing, ...profile, subject });
  }

  async #page(
    list: Pick<ListOfRows, 'view' | 'prefix' | 'counter'>,
    { q, limit, offset }: UserQuery,
  ): Promise<{ readonly users: readonly StoredUser[]; readonly totalCount: number }> {
    const search = { q, limit, offset, newestFirst: false };
    const { ids, totalCount } = await this.lists.page({ ...list, ...USER_TEXTS }, search);
    const users = await Promise.all(ids.map((id) => this.#read(id)));
    return { users: users.filter((user) => user !== undefined), totalCount };
  }

  async #create(
    profile: UserProfile,
    subject: string | null,
    memberships: readonly Membership[],
    identities?: readonly UserIdentity[],
  ): Promise<StoredUser> {
    const { actors, clock, ids } = this.runtime;
    const context: UserContext = {
      ...profile,
      subject,
      createdAt: clock.now(),
      memberships,
      ...(identities !== undefined && { identities }),
    };
    const id = ids.uuid();
    // Refused: somebody else made the same person just now.
    await accepted(actors.create(PORTAL_USER, id, context), () => new PortalRefusal('NameTaken'));
    return { ...context, id };
  }

  #send(id: string, event: EventOf<typeof PORTAL_USER>) {
    return this.runtime.actors.send(PORTAL_USER, id, event);
  }

  async #ownerOfName(name: string): Promise<StoredUser | undefined> {
    const holder = await this.runtime.store.holder(name);
    return holder && this.#read(holder.id);
  }

  async #read(given: string): Promise<StoredUser | undefined> {
    const id = parsePortalId('UserId', given);
    const actor = id && (await this.runtime.actors.read(PORTAL_USER, id));
    return actor ? { ...actor.context, id: actor.id } : undefined;
  }
}

function unknown(): PortalRefusal {
  return new PortalRefusal('UserNotFound');
}

function userOf({ id, subject, name, identifier, email, phone }: StoredUser): UserView {
  return { id, subject, name, identifier, email, phone };
}

function viewOf(
  id: string,
  { name, identifier, email, phone }: UserProfile,
  accessProfile: AccessProfile,
  active = true,
): MemberView {
  return { id, name, identifier, email, phone, accessProfile, active };
}

function memberOf(user: StoredUser, organization: OrganizationId): MemberView | undefined {
  const found = user.memberships.find(({ organizationId }) => organizationId === organization);
  return found && viewOf(user.id, found.profile ?? user, found.accessProfile, found.provisioned?.active);
}

function isDeactivated({ memberships }: UserContext, organization: OrganizationId): boolean {
  const found = memberships.find(({ organizationId }) => organizationId === organization);
  return found?.provisioned?.active === false;
}

/** Refusals: `BadRequest`. */
export function checkedProfile(given: UserProfile): UserProfile {
  const trimmed = (text: string | null) => (text === null ? null : visibleText(text).trim());
  const profile = {
    name: visibleText(given.name).trim(),
    identifier: trimmed(given.identifier),
    email: visibleText(given.email).trim(),
    phone: trimmed(given.phone),
  };
  checkTogether([
    ...Object.entries(profile).map(([member, text]) => () => {
      if (text !== null && (text.length > MAX_USER_TEXT || /[\p{Cc}\p{Surrogate}]/u.test(text)))
        throw tooLong(`${member[0]?.toUpperCase()}${member.slice(1)}`);
    }),
    () => {
      if (!isMailAddress(profile.email)) throw badField('Email', 'must be an e-mail address');
    },
  ]);
  return profile;
}

function tooLong(member: string): PortalRefusal {
  return badField(member, `must have at most ${MAX_USER_TEXT} characters and no control character`);
}
