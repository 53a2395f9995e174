/**
 * SCIM 2.0: users and groups of an organization, as its identity service keeps them. Users are the ones that
 * administrators see and that sign in; whoever was added in another way is found here too.
 *
 * Source: RFC 7643, RFC 7644; docs/decisions/0278-provisioning.md.
 */
import { type ActorView, accepted, type Refused, type Row } from '@sealwright/runtime';
import type { UserProfile } from '../../../contracts/portal/users.ts';
import { type OrganizationId, parsePortalId } from '../../../machines/ids.ts';
import {
  belongsOnlyTo,
  MAX_MEMBERSHIPS,
  type Membership,
  NO_ACCESS,
  type UserContext,
} from '../../../machines/portal/accounts/portal-user.ts';
import { type GroupContext, MAX_GROUP_MEMBERS } from '../../../machines/portal/accounts/user-group.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type { ServiceRuntime } from '../../hosting/service-plan.ts';
import { pageOf } from '../../shared/lists/list.ts';
import { countOf, rowPieces } from '../../shared/lists/stored-rows.ts';
import { recordRemoval } from '../accounts/session-log.ts';
import {
  checkedProfile,
  emailName,
  externalIdOwner,
  MEMBERS_VIEW,
  memberCounter,
  PORTAL_USER,
  userNameName,
} from '../accounts/users.ts';
import { addressKey } from '../shared/mail-address.ts';
import { patched, readResource } from './change.ts';
import { equalities, type Filter, matches, parseFilter } from './filter.ts';
import { GROUP_VIEW, groupCounter, groupName, settleGroup, USER_GROUP } from './groups.ts';
import { invalid, ScimRefusal } from './refusal.ts';
import { GROUP, type ResourceType, type ScimObject, USER } from './schemas.ts';

/** Resources of one answer. */
export const MAX_PAGE = 200;
/** Groups of one organization. */
const MAX_GROUPS = 1_000;
/** Largest resource of a user, characters of JSON. */
const MAX_USER_SIZE = 16_384;
/** Attempts to change what others change at the same time. */
const MAX_ATTEMPTS = 5;
/** Rows read at a time. */
const BATCH_SIZE = 256;

/** A resource with the facts that the service adds. */
export interface ScimResource {
  readonly type: ResourceType;
  readonly id: string;
  /** Without id and meta. */
  readonly attributes: ScimObject;
  readonly created: number;
  readonly lastModified: number;
  readonly revision: number;
}

export interface ScimPage {
  readonly resources: readonly ScimResource[];
  readonly total: number;
}

/** A change of a resource: the attributes before → after. */
type Change = (before: ScimObject) => ScimObject;

interface Query {
  readonly filter?: string | undefined;
  /** Resources to skip. */
  readonly skip: number;
  readonly count: number;
}

type Runtime = Pick<ServiceRuntime, 'actors' | 'store' | 'clock' | 'ids'>;

export class Provisioning {
  constructor(private readonly runtime: Runtime) {}

  list(organization: OrganizationId, type: ResourceType, { filter, skip, count }: Query): Promise<ScimPage> {
    const parsed = filter === undefined ? undefined : parseFilter(filter, type);
    return parsed === undefined
      ? this.#page(organization, type, skip, count)
      : this.#filtered(organization, type, parsed, { skip, count });
  }

  /** Refusals: 404. */
  async get(organization: OrganizationId, type: ResourceType, id: string): Promise<ScimResource> {
    const found = await this.#find(organization, type, id);
    if (found === undefined) throw new ScimRefusal(404, `No ${type.name} has this id.`);
    return found;
  }

  async create(organization: OrganizationId, type: ResourceType, given: object): Promise<ScimResource> {
    const attributes = readResource(type, given, MAX_GROUP_MEMBERS);
    return type === USER
      ? again(() => this.#createUser(organization, attributes))
      : this.#createGroup(organization, attributes);
  }

  replace(
    organization: OrganizationId,
    type: ResourceType,
    { id, given, expected }: { readonly id: string; readonly given: object; readonly expected: Expected },
  ) {
    return this.#change(organization, type, {
      id,
      expected,
      change: (before) => {
        const { active } = before;
        // Who is deactivated stays so unless the request says otherwise.
        return { ...(active !== undefined && { active }), ...readResource(type, given, MAX_GROUP_MEMBERS) };
      },
    });
  }

  patch(
    organization: OrganizationId,
    type: ResourceType,
    { id, given, expected }: { readonly id: string; readonly given: object; readonly expected: Expected },
  ) {
    return this.#change(organization, type, {
      id,
      expected,
      change: (before) => patched(type, before, given, MAX_GROUP_MEMBERS),
    });
  }

  async remove(
    organization: OrganizationId,
    type: ResourceType,
    id: string,
    expected: Expected,
  ): Promise<void> {
    if (type === GROUP) return again(() => this.#removeGroup(organization, id, expected));
    const found = await this.get(organization, type, id);
    requireExpected(found, expected);
    await this.#leaveGroups(organization, found.id);
    await this.#removeUser(organization, found.id);
  }

  async #removeGroup(organization: OrganizationId, id: string, expected: Expected): Promise<void> {
    const found = await this.get(organization, GROUP, id);
    requireExpected(found, expected);
    const { members, ...rest } = found.attributes;
    if (members !== undefined) await this.#storeGroup(organization, found, rest);
    // Members of before, whose change did not come to its end.
    else await settleGroup(this.runtime, found.id);
    await accepted(this.runtime.actors.send(USER_GROUP, found.id, { type: 'REMOVE' }), stale);
  }

  #change(
    organization: OrganizationId,
    type: ResourceType,
    { id, expected, change }: { readonly id: string; readonly expected: Expected; readonly change: Change },
  ): Promise<ScimResource> {
    return again(async () => {
      const before = await this.get(organization, type, id);
      requireExpected(before, expected);
      const attributes = change(before.attributes);
      return type === USER
        ? this.#storeUser(organization, before, attributes)
        : this.#storeGroup(organization, before, attributes);
    });
  }

  async #createUser(organization: OrganizationId, attributes: ScimObject): Promise<ScimResource> {
    const { actors, store, clock, ids } = this.runtime;
    const asked = profileOf(attributes);
    await this.#requireFreeName(organization, attributes, undefined);
    const holder = await store.holder(emailName(asked.email));
    const existing = holder && (await actors.read(PORTAL_USER, holder.id));
    const membership = existing && membershipIn(existing.context, organization);
    if (membership?.provisioned !== undefined) throw taken('emails');
    if (membership === undefined && (existing?.context.memberships.length ?? 0) >= MAX_MEMBERSHIPS)
      throw invalid('tooMany', `The person belongs to ${MAX_MEMBERSHIPS} organizations.`);
    const id = existing?.id ?? ids.uuid();
    // The same address in another spelling.
    const profile = existing === undefined ? asked : { ...asked, email: existing.context.email };
    const { resource, active, ...message } = messageOf(organization, profile, attributes);
    if (existing !== undefined) {
      // A member whom the service cannot find, since it is named otherwise there, becomes its own.
      const joining = { ...message, resource, active, revision: membership === undefined ? null : 0 };
      return userResource(organization, await this.#provision(id, joining));
    }
    const createdAt = clock.now();
    const provisioned = { resource, active, access: NO_ACCESS, revision: 1, changedAt: createdAt };
    const first = { organizationId: organization, accessProfile: NO_ACCESS, profile, provisioned };
    const person = { ...profile, subject: null, createdAt, memberships: [first] };
    const made = await accepted(actors.create(PORTAL_USER, id, person), refusedUser);
    return userResource(organization, made);
  }

  async #storeUser(
    organization: OrganizationId,
    { id, revision, attributes: before }: ScimResource,
    attributes: ScimObject,
  ): Promise<ScimResource> {
    const { actors } = this.runtime;
    const asked = profileOf(attributes);
    if (!sameText(before['userName'], String(attributes['userName'])))
      await this.#requireFreeName(organization, attributes, id);
    const person = await actors.read(PORTAL_USER, id);
    // An address that others share stays, also where an administrator of the instance has changed it since.
    const isShared = person !== undefined && !belongsOnlyTo(person.context, organization);
    const profile = isShared ? { ...asked, email: person.context.email } : asked;
    const isMoved = ({ email }: UserProfile) => addressKey(email) !== addressKey(asked.email);
    if (isMoved(profile) && isMoved(profileOf(before)))
      throw invalid(
        'mutability',
        'The e-mail address cannot be changed: the person belongs to other organizations too.',
      );
    const message = { ...messageOf(organization, profile, attributes), revision };
    return userResource(organization, await this.#provision(id, message));
  }

  #provision(
    id: string,
    message: Omit<ReturnType<typeof messageOf>, 'revision'> & { readonly revision: number | null },
  ) {
    const sent = this.runtime.actors.send(PORTAL_USER, id, { ...message, userId: id });
    return accepted(sent, refusedUser);
  }

  /** The name of one user may be the address of another, who has no name of the identity service yet. */
  async #requireFreeName(organization: OrganizationId, { userName }: ScimObject, id: string | undefined) {
    const name = String(userName);
    for (const key of [userNameName(organization, name), emailName(name)]) {
      const holder = await this.runtime.store.holder(key);
      if (holder === undefined || holder.id === id) continue;
      const other = await this.#find(organization, USER, holder.id);
      if (other !== undefined && sameText(other.attributes['userName'], name)) throw taken('userName');
    }
  }

  async #removeUser(organization: OrganizationId, id: string): Promise<void> {
    const { actors } = this.runtime;
    const user = await actors.read(PORTAL_USER, id);
    if (user === undefined) return;
    const event = belongsOnlyTo(user.context, organization)
      ? ({ type: 'REMOVE' } as const)
      : ({ type: 'LEAVE', organizationId: organization, userId: id } as const);
    if (event.type === 'REMOVE') await recordRemoval(this.runtime, id, user.context, BY);
    await accepted(actors.send(PORTAL_USER, id, { ...event, by: BY }), stale);
  }

  async #leaveGroups(organization: OrganizationId, userId: string): Promise<void> {
    for await (const group of this.#all(organization, GROUP)) {
      const { members } = group.attributes;
      if (!Array.isArray(members) || !members.some(({ value }) => value === userId)) continue;
      const value = [{ value: userId }];
      const removal = { Operations: [{ op: 'remove', path: 'members', value }] };
      await this.patch(organization, GROUP, { id: group.id, given: removal, expected: undefined });
    }
  }

  async #createGroup(organization: OrganizationId, attributes: ScimObject): Promise<ScimResource> {
    const { actors, store, clock, ids } = this.runtime;
    if ((await countOf(store, groupCounter(organization))) >= MAX_GROUPS)
      throw invalid('tooMany', `An organization has at most ${MAX_GROUPS} groups.`);
    const description = await this.#groupOf(organization, attributes, new Set());
    const context = { organizationId: organization, createdAt: clock.now(), ...description };
    const id = ids.uuid();
    const made = await accepted(actors.create(USER_GROUP, id, context), () => taken('displayName'));
    await settleGroup(this.runtime, id);
    return groupResource(made);
  }

  async #storeGroup(
    organization: OrganizationId,
    { id, revision, attributes: before }: ScimResource,
    attributes: ScimObject,
  ): Promise<ScimResource> {
    const description = await this.#groupOf(organization, attributes, new Set(memberIds(before)));
    const changed = await accepted(
      this.runtime.actors.send(USER_GROUP, id, { type: 'CHANGE', revision, by: BY, ...description }),
      ({ reason }) => (reason === 'taken' ? taken('displayName') : new Stale()),
    );
    await settleGroup(this.runtime, id);
    return groupResource(changed);
  }

  /** @param known members that need not be looked up */
  async #groupOf(organization: OrganizationId, attributes: ScimObject, known: ReadonlySet<string>) {
    const members = memberIds(attributes);
    for (const id of members)
      if (!known.has(id) && (await this.#find(organization, USER, id)) === undefined)
        throw invalid('invalidValue', `The member ${id.slice(0, 100)} is no user of the organization.`);
    const { displayName, externalId } = attributes;
    const name = String(displayName);
    if (name.length > MAX_GROUP_NAME)
      throw invalid('invalidValue', `displayName has more than ${MAX_GROUP_NAME} characters.`);
    return { displayName: name, externalId: externalId === undefined ? null : String(externalId), members };
  }

  async #find(
    organization: OrganizationId,
    type: ResourceType,
    given: string,
  ): Promise<ScimResource | undefined> {
    const { actors } = this.runtime;
    const id = parsePortalId('UserId', given);
    if (id === undefined) return undefined;
    if (type === USER) {
      const user = await actors.read(PORTAL_USER, id);
      return user && membershipIn(user.context, organization) && userResource(organization, user);
    }
    const group = await actors.read(USER_GROUP, id);
    return group?.context.organizationId === organization ? groupResource(group) : undefined;
  }

  async #page(
    organization: OrganizationId,
    type: ResourceType,
    skip: number,
    count: number,
  ): Promise<ScimPage> {
    const { store } = this.runtime;
    const counterOf = type === USER ? memberCounter : groupCounter;
    const total = await countOf(store, counterOf(organization));
    if (count === 0) return { resources: [], total };
    const list = {
      ranges: [{ view: viewOf(type), prefix: [organization] }],
      total,
      itemOf: ({ key }: Row) => String(key.at(-1)),
    };
    const part = { newestFirst: false, offset: skip, limit: count };
    const { items } = await pageOf(store, list, part);
    const found = await Promise.all(items.map((id) => this.#find(organization, type, id)));
    return { resources: found.filter((one) => one !== undefined), total };
  }

  async #filtered(
    organization: OrganizationId,
    type: ResourceType,
    filter: Filter,
    { skip, count }: Pick<Query, 'skip' | 'count'>,
  ): Promise<ScimPage> {
    const resources: ScimResource[] = [];
    let total = 0;
    const single = await this.#candidate(organization, type, filter);
    const all = single === undefined ? this.#all(organization, type) : single;
    for await (const one of all) {
      if (!matches(filter, { ...one.attributes, id: one.id, meta: metaOf(one) })) continue;
      if (total >= skip && resources.length < count) resources.push(one);
      total += 1;
    }
    return { resources, total };
  }

  /** The only resource that a filter can find, by its unique names; undefined where all must be looked at. */
  async #candidate(
    organization: OrganizationId,
    type: ResourceType,
    filter: Filter,
  ): Promise<readonly ScimResource[] | undefined> {
    const { store } = this.runtime;
    const equal = equalities(filter);
    const text = (path: string) => {
      const value = equal.get(path);
      return typeof value === 'string' ? value : undefined;
    };
    const ids: string[] = [];
    const id = text('id');
    const userName = text('userName');
    const externalId = text('externalId');
    const displayName = text('displayName');
    const add = async (name: string) => {
      const holder = await store.holder(name);
      if (holder !== undefined) ids.push(holder.id);
    };
    if (id !== undefined) ids.push(id);
    else if (type === USER && userName !== undefined) {
      await add(userNameName(organization, userName));
      // Who was never changed by the identity service has the address as the name.
      await add(emailName(userName));
    } else if (type === USER && externalId !== undefined)
      ids.push(...(await externalIdOwner(store, organization, externalId)));
    else if (type === GROUP && displayName !== undefined) await add(groupName(organization, displayName));
    else return undefined;
    const found = await Promise.all([...new Set(ids)].map((one) => this.#find(organization, type, one)));
    return found.filter((one) => one !== undefined);
  }

  async *#all(organization: OrganizationId, type: ResourceType): AsyncGenerator<ScimResource> {
    const range = { view: viewOf(type), prefix: [organization] };
    for await (const rows of rowPieces(this.runtime.store, range, { most: BATCH_SIZE }))
      for (const { key } of rows) {
        const found = await this.#find(organization, type, String(key.at(-1)));
        if (found !== undefined) yield found;
      }
  }
}

/** Longest name of a group. */
const MAX_GROUP_NAME = 255;

/** For journal lines. */
const BY = 'the identity service';

/** Entity tags that a request names; undefined = any. Source: RFC 9110 §13.1.1. */
export type Expected = readonly string[] | undefined;

export function entityTag({ revision }: Pick<ScimResource, 'revision'>): string {
  return `W/"${revision}"`;
}

/** Refusals: 412. */
function requireExpected(found: ScimResource, expected: Expected): void {
  if (expected !== undefined && !expected.includes('*') && !expected.includes(entityTag(found)))
    throw new ScimRefusal(412, 'The resource has changed since it was read.');
}

/** The change was computed from a state that is no longer the current one. */
class Stale extends Error {}

/** With If-Match the client decides, otherwise the change is computed again. */
async function again<Result>(attempt: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries++)
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof Stale)) throw error;
      if (tries === MAX_ATTEMPTS) throw new PortalRefusal('ServiceBusy');
    }
}

function stale(): Error {
  return new PortalRefusal('ServiceBusy');
}

function taken(attribute: string): ScimRefusal {
  return invalid('uniqueness', `Another resource of the organization has this ${attribute}.`);
}

function refusedUser({ reason }: Refused): Error {
  return reason === 'taken' ? taken('userName or e-mail address') : new Stale();
}

function viewOf(type: ResourceType): string {
  return type === USER ? MEMBERS_VIEW : GROUP_VIEW;
}

function sameText(one: unknown, other: string): boolean {
  return (
    typeof one === 'string' && one.normalize('NFC').toLowerCase() === other.normalize('NFC').toLowerCase()
  );
}

function memberIds({ members }: ScimObject): readonly string[] {
  const values = Array.isArray(members) ? (members as readonly ScimObject[]) : [];
  return [...new Set(values.map(({ value }) => String(value).toLowerCase()))];
}

function messageOf(organizationId: OrganizationId, profile: UserProfile, attributes: ScimObject) {
  const { active = true, ...resource } = attributes;
  if (JSON.stringify(resource).length > MAX_USER_SIZE)
    throw invalid('invalidValue', `The user has more than ${MAX_USER_SIZE} characters.`);
  return { type: 'PROVISION', organizationId, profile, resource, active: active === true, by: BY } as const;
}

/** The description of the person that the pages and mails use. Refusals: `invalidValue`. */
function profileOf(attributes: ScimObject): UserProfile {
  const name = (attributes['name'] ?? {}) as ScimObject;
  const parts = [name['givenName'], name['familyName']].filter((part) => part !== undefined).join(' ');
  const userName = String(attributes['userName']);
  const given = {
    name: String(attributes['displayName'] ?? name['formatted'] ?? (parts === '' ? userName : parts)),
    identifier: null,
    email: preferred(attributes['emails']) ?? userName,
    phone: preferred(attributes['phoneNumbers']) ?? null,
  };
  try {
    return checkedProfile(given);
  } catch (error) {
    if (!(error instanceof PortalRefusal)) throw error;
    const members = Object.values(error.errors ?? {})
      .flat()
      .join(' ');
    throw invalid('invalidValue', members === '' ? error.message : members);
  }
}

/** The primary, the work, or the first value. */
function preferred(list: unknown): string | undefined {
  const values = (Array.isArray(list) ? (list as readonly ScimObject[]) : []).filter(
    ({ value }) => value !== undefined,
  );
  const found =
    values.find(({ primary }) => primary === true) ??
    values.find(({ type }) => sameText(type, 'work')) ??
    values[0];
  return found && String(found['value']);
}

function membershipIn({ memberships }: UserContext, organization: string): Membership | undefined {
  return memberships.find(({ organizationId }) => organizationId === organization);
}

function userResource(organization: string, { id, context }: ActorView<UserContext>): ScimResource {
  const membership = membershipIn(context, organization);
  const { provisioned, profile } = membership ?? {};
  const { name, phone } = profile ?? context;
  const email = context.email;
  const attributes = (provisioned?.resource as ScimObject | undefined) ?? {
    userName: email,
    ...(name !== '' && { displayName: name }),
    emails: [{ value: email, type: 'work', primary: true }],
    ...(phone !== null && { phoneNumbers: [{ value: phone, type: 'work' }] }),
  };
  return {
    type: USER,
    id,
    attributes: { ...attributes, active: provisioned?.active ?? true },
    created: context.createdAt,
    lastModified: provisioned?.changedAt ?? context.createdAt,
    revision: provisioned?.revision ?? 0,
  };
}

function groupResource({ id, context }: ActorView<GroupContext>): ScimResource {
  const { displayName, externalId, members, createdAt, changedAt, revision } = context;
  return {
    type: GROUP,
    id,
    attributes: {
      displayName,
      ...(externalId !== null && { externalId }),
      ...(members.length > 0 && { members: members.map((value) => ({ value })) }),
    },
    created: createdAt,
    lastModified: changedAt,
    revision,
  };
}

/** Without the address, which the listener knows. */
export function metaOf(resource: ScimResource): ScimObject {
  const { type, created, lastModified } = resource;
  return {
    resourceType: type.name,
    created: new Date(created).toISOString(),
    lastModified: new Date(lastModified).toISOString(),
    version: entityTag(resource),
  };
}
