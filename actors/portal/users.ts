/**
 * People that administrators know, by organization. Implements `PortalUsers`.
 *
 * Views: `users` [createdAt, id] → { name, email, identifier, subject } · `organization-users` [organization,
 * createdAt, id] → { name, email, identifier } as the organization knows them; counters `users`,
 * `organization-users/<organization>`. A person is one by e-mail address, and each organization sees what it said of them.
 *
 * Source: portal-gaps §20, "Organization users" and "Administration key".
 */
import { createHash } from 'node:crypto';
import { type OrganizationId, parsePortalId } from '../../machines/ids.ts';
import { visibleText } from '../../machines/plain-text.ts';
import { PortalRefusal } from '../../machines/portal-refusals.ts';
import {
  type Membership,
  portalUserMachine,
  USER_REMOVED,
  type UserContext,
  type UserProfile,
} from '../../machines/portal-user.ts';
import type {
  ActorDefinition,
  ActorStore,
  ActorSystem,
  ActorView,
  Clock,
  Ids,
  Json,
  Row,
  StepOutcome,
} from '../../runtime/index.ts';
import type { MemberView, Page, PortalUsers, UserQuery, UserView } from './api.ts';
import { containing, pageOfRows } from './row-pages.ts';

export const PORTAL_USER = 'portal-user';

const COUNTER = 'users';
const LONGEST = 255;

export const portalUserDefinition: ActorDefinition = {
  kind: PORTAL_USER,
  machine: portalUserMachine,
  version: 1,
  ends: ({ state }) => state === USER_REMOVED,
  rows: userRows,
  names: ({ context }) => {
    const { email, subject } = context as UserContext;
    return [emailName(email), ...(subject === null ? [] : [subjectName(subject)])];
  },
  counters: ({ context }) => {
    const { memberships } = context as UserContext;
    const counts = memberships.map(({ organizationId }) => [memberCounter(organizationId), 1] as const);
    return { [COUNTER]: 1, ...Object.fromEntries(counts) };
  },
};

function userRows({ id, context }: ActorView): readonly Row[] {
  const { createdAt, name, email, identifier, subject, memberships } = context as UserContext;
  const own = { name, email, identifier };
  return [
    { view: 'users', key: [createdAt, id], value: { ...own, subject } },
    ...memberships.map(({ organizationId, profile }) => ({
      view: 'organization-users',
      key: [organizationId, createdAt, id],
      value: profile ? { name: profile.name, email: profile.email, identifier: profile.identifier } : own,
    })),
  ];
}

function memberCounter(organization: string): string {
  return `organization-users/${organization}`;
}

function emailName(email: string): string {
  return `user-email:${digest(email.toLowerCase())}`;
}

function subjectName(subject: string): string {
  return `user-subject:${digest(subject)}`;
}

function digest(text: string): string {
  return createHash('sha256').update(text.normalize('NFC')).digest('base64url');
}

export interface UsersParts {
  readonly system: ActorSystem;
  readonly store: ActorStore;
  readonly clock: Pick<Clock, 'now'>;
  readonly ids: Pick<Ids, 'uuid'>;
}

type Known = UserContext & { readonly id: string };

export class UserDirectory implements PortalUsers {
  readonly #parts: UsersParts;

  constructor(parts: UsersParts) {
    this.#parts = parts;
  }

  async members(organization: OrganizationId, query: UserQuery): Promise<Page<MemberView>> {
    const view = { view: 'organization-users', prefix: [organization], counter: memberCounter(organization) };
    const { users, totalCount } = await this.#page(view, query);
    return { items: users.flatMap((user) => memberOf(user, organization) ?? []), totalCount };
  }

  async add(
    organization: OrganizationId,
    given: UserProfile,
    accessProfile: Membership['accessProfile'],
  ): Promise<MemberView> {
    const profile = checked(given);
    const membership: Membership = { organizationId: organization, accessProfile, profile };
    const known = await this.#holder(emailName(profile.email));
    const user = known ?? (await this.#create(profile, null, [membership]));
    if (known !== undefined) {
      const joined = await this.#tell(known.id, { type: 'JOIN', membership });
      if (!joined.accepted) throw new PortalRefusal('LimitExceeded');
      await joined.durable;
    }
    return viewOf(user.id, profile, accessProfile);
  }

  async remove(organization: OrganizationId, userId: string): Promise<void> {
    const user = await this.#read(userId);
    if (user === undefined || memberOf(user, organization) === undefined) throw unknown();
    // Who is in no organization and is called nothing by anybody is nobody.
    const isLast = user.memberships.length === 1 && user.subject === null;
    const event = isLast ? { type: 'REMOVE' } : { type: 'LEAVE', organizationId: organization };
    const left = await this.#tell(user.id, event);
    if (!left.accepted) throw unknown();
    await left.durable;
  }

  async find(query: UserQuery): Promise<Page<UserView>> {
    const { users, totalCount } = await this.#page({ view: 'users', prefix: [], counter: COUNTER }, query);
    return { items: users.map(userOf), totalCount };
  }

  async put(subject: string, given: UserProfile): Promise<UserView> {
    const profile = checked(given);
    if (subject.length > LONGEST) throw tooLong('Subject');
    const known =
      (await this.#holder(subjectName(subject))) ?? (await this.#holder(emailName(profile.email)));
    if (known === undefined) return userOf(await this.#create(profile, subject, []));
    if (known.subject !== null && known.subject !== subject) throw new PortalRefusal('NameTaken');
    const told = await this.#tell(known.id, { type: 'DESCRIBE', subject, profile });
    if (!told.accepted) throw new PortalRefusal(told.because === 'taken' ? 'NameTaken' : 'UserNotFound');
    await told.durable;
    return userOf({ ...known, ...profile, subject });
  }

  async #page(
    view: { readonly view: string; readonly prefix: readonly string[]; readonly counter: string },
    { q, limit, offset }: UserQuery,
  ): Promise<{ readonly users: readonly Known[]; readonly totalCount: number }> {
    const { rows, totalCount } = await pageOfRows(this.#parts.store, {
      ...view,
      newestFirst: false,
      limit,
      offset,
      matches: containing(q, ({ value }) => Object.values(value as object).join('\n')),
    });
    const users = await Promise.all(rows.map(({ key }) => this.#read(String(key.at(-1)))));
    return { users: users.filter((user) => user !== undefined), totalCount };
  }

  async #create(
    profile: UserProfile,
    subject: string | null,
    memberships: readonly Membership[],
  ): Promise<Known> {
    const { system, clock, ids } = this.#parts;
    const context: UserContext = { ...profile, subject, createdAt: clock.now(), memberships };
    const id = ids.uuid();
    const made = await system.create({ kind: PORTAL_USER, id }, { ...context } as unknown as Json);
    // Somebody else made the same person just now.
    if (!made.accepted) throw new PortalRefusal('NameTaken');
    await made.durable;
    return { ...context, id };
  }

  #tell(
    id: string,
    event: { readonly type: string; readonly [field: string]: unknown },
  ): Promise<StepOutcome> {
    return this.#parts.system.tell({ kind: PORTAL_USER, id }, event);
  }

  async #holder(name: string): Promise<Known | undefined> {
    const holder = await this.#parts.store.holder(name);
    return holder && this.#read(holder.id);
  }

  async #read(given: string): Promise<Known | undefined> {
    const id = parsePortalId('UserId', given);
    const actor = id && (await this.#parts.system.read({ kind: PORTAL_USER, id }));
    return actor ? { ...(actor.context as UserContext), id: actor.id } : undefined;
  }
}

function unknown(): PortalRefusal {
  return new PortalRefusal('UserNotFound');
}

function userOf({ id, subject, name, identifier, email, phone }: Known): UserView {
  return { id, subject, name, identifier, email, phone };
}

function viewOf(
  id: string,
  { name, identifier, email, phone }: UserProfile,
  accessProfile: Membership['accessProfile'],
): MemberView {
  return { id, name, identifier, email, phone, accessProfile };
}

function memberOf(user: Known, organization: OrganizationId): MemberView | undefined {
  const found = user.memberships.find(({ organizationId }) => organizationId === organization);
  return found && viewOf(user.id, found.profile ?? user, found.accessProfile);
}

/** Refusals: `BadRequest`. */
function checked(given: UserProfile): UserProfile {
  const trimmed = (text: string | null) => (text === null ? null : visibleText(text).trim());
  const profile = {
    name: visibleText(given.name).trim(),
    identifier: trimmed(given.identifier),
    email: visibleText(given.email).trim(),
    phone: trimmed(given.phone),
  };
  for (const [member, text] of Object.entries(profile)) {
    if (text !== null && (text.length > LONGEST || /[\p{Cc}\p{Surrogate}]/u.test(text))) {
      throw tooLong(`${member[0]?.toUpperCase()}${member.slice(1)}`);
    }
  }
  if (!/^[^\s@]+@[^\s@]+$/.test(profile.email)) {
    const sentence = 'The Email field must be an e-mail address.';
    throw new PortalRefusal('BadRequest', sentence, { errors: { Email: [sentence] } });
  }
  return profile;
}

function tooLong(member: string): PortalRefusal {
  const sentence = `The ${member} field must have at most ${LONGEST} characters and no control character.`;
  return new PortalRefusal('BadRequest', sentence, { errors: { [member]: [sentence] } });
}
