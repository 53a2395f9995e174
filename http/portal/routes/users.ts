/**
 * Users: those of the own organization, and with an administration key all users.
 *
 * Source: docs/portal-values.md §20.
 */

import { z } from 'zod';
import {
  callerName,
  type MemberView,
  type PortalAdministration,
  type PortalUsers,
  type Tenant,
  type UserView,
} from '../../../actors/portal/api.ts';
import { id, maybeFlag, maybeText, members, text } from '../../../contracts/fields.ts';
import { ANA } from '../../../contracts/portal/examples.ts';
import { pageOf, paging, queryText } from '../../../contracts/portal/lists.ts';
import type { OrganizationId } from '../../../machines/ids.ts';
import { SYSTEM_ORGANIZATION } from '../../../machines/portal/organization.ts';
import { roleOf } from '../../../machines/portal/portal-user.ts';
import { json } from '../../core/reply.ts';
import type { AnyRoute } from '../../core/router.ts';
import { requireRole } from '../access-check.ts';
import { idParams, organizationId } from '../input/ids.ts';
import { requireGivable } from '../key-scopes.ts';
import { DONE, portalRoute } from '../route.ts';
import { pageBody } from '../shapes/shared-shapes.ts';

const profile = {
  id,
  name: z.string(),
  identifier: z.string().nullable(),
  email: z.string(),
  phone: z.string().nullable(),
};

const memberShape = z
  .strictObject({
    ...profile,
    accessProfile: z.strictObject({
      administrator: z.boolean(),
      manager: z.boolean(),
      operator: z.boolean(),
    }),
  })
  .meta({ id: 'OrganizationUser' });

const userShape = z.strictObject({ ...profile, subject: z.string().nullable() }).meta({ id: 'User' });

const profileInput = { name: text, identifier: maybeText, email: text, phone: maybeText };
const memberInput = members({
  ...profileInput,
  accessProfile: members({ administrator: maybeFlag, manager: maybeFlag, operator: maybeFlag }).nullish(),
});

const listQuery = members({ q: queryText, limit: paging.limit, offset: paging.offset });
const memberParams = z.object({ id: z.string(), userId: z.string() });

const PERSON = { ...ANA, phone: '+351 912 345 678' };

const MEMBER = { ...PERSON, accessProfile: { administrator: false, manager: true, operator: true } };

export function userRoutes(users: PortalUsers, administration: PortalAdministration): readonly AnyRoute[] {
  const add = async (organization: OrganizationId, tenant: Tenant, body: z.infer<typeof memberInput>) => {
    const { accessProfile } = body;
    const access = {
      administrator: accessProfile?.administrator ?? false,
      manager: accessProfile?.manager ?? false,
      operator: accessProfile?.operator ?? false,
    };
    // Administrators make keys of all scopes; senders read and create.
    const role = roleOf(access);
    if (role !== undefined) requireGivable(tenant, role === 'sender' ? { scopes: ['Read', 'Create'] } : {});
    const added = await users.add(organization, profileOf(body), access, callerName(tenant));
    return json(200, memberBody(added));
  };
  /** Refusals: `OrganizationNotFound`. */
  const existing = async (text: string) => (await administration.organization(organizationId(text))).id;
  return [
    portalRoute({
      method: 'GET',
      path: '/api/organizations/users',
      group: 'Organizations',
      summary: 'Lists the people of the organization.',
      description: 'Contains the access profile of each. The session of a user needs the role administrator.',
      scope: 'Read',
      sessionScope: 'Administer',
      query: listQuery,
      responses: { 200: pageOf(memberShape) },
      refusals: [],
      async handle({ tenant, query }) {
        return json(200, pageBody(await users.members(tenant.organization.id, query), memberBody));
      },
    }),
    portalRoute({
      method: 'POST',
      path: '/api/organizations/users',
      group: 'Organizations',
      summary: 'Adds a person to the organization, or changes the access profile of a member.',
      description:
        'The person is found by `email`: a new person is added, a member gets the given profile. Administrators, managers and operators can sign in to the pages with a link that they receive by e-mail; a change of the role ends their sessions. A key that expires registers only people without a role. `LimitExceeded`: the person belongs to 100 organizations.',
      scope: 'Administer',
      body: memberInput,
      responses: { 200: memberShape },
      examples: { request: MEMBER },
      refusals: ['LimitExceeded', 'NameTaken'],
      handle: ({ tenant, body }) => {
        // Administrators of this organization make keys that administer the instance.
        if (tenant.organization.name === SYSTEM_ORGANIZATION) requireRole(tenant, 'administrator');
        return add(tenant.organization.id, tenant, body);
      },
    }),
    portalRoute({
      method: 'DELETE',
      path: '/api/organizations/users/{userId}',
      group: 'Organizations',
      summary: 'Removes a person from the organization.',
      description:
        'Ends the sessions of the user in this organization. The person stays in other organizations, and documents do not change. `UserNotFound`: the person is not in the organization.',
      scope: 'Administer',
      params: z.object({ userId: z.string() }),
      responses: { 200: 'empty' },
      refusals: ['UserNotFound'],
      async handle({ tenant, params }) {
        await users.remove(tenant.organization.id, params.userId, callerName(tenant));
        return DONE;
      },
    }),
    portalRoute({
      method: 'GET',
      path: '/api/users',
      group: 'Administration',
      summary: 'Lists the people of all organizations.',
      description: 'For keys of the role Administrator. `q` searches in names, addresses and identifiers.',
      scope: 'Read',
      auth: 'administrator',
      query: listQuery,
      responses: { 200: pageOf(userShape) },
      refusals: [],
      async handle({ query }) {
        return json(200, pageBody(await users.find(query), userBody));
      },
    }),
    portalRoute({
      method: 'PUT',
      path: '/api/users/{subject}',
      group: 'Administration',
      summary: 'Creates or changes the person with this id in another system.',
      description:
        'For keys of the role Administrator. Changes name, address, identifier and phone; organizations and roles stay. `subject` is the id in the other system; a person without one is found by the address. `NameTaken`: the address belongs to another person. A key with scopes needs all of them, and a key that expires cannot, because sign-in links are sent to the address.',
      scope: 'Administer',
      auth: 'administrator',
      params: z.object({ subject: z.string() }),
      body: members(profileInput),
      responses: { 200: userShape },
      examples: { request: PERSON },
      refusals: ['NameTaken', 'UserNotFound'],
      async handle({ tenant, params, body }) {
        // Whoever changes the address of an administrator gets the sign-in link.
        requireGivable(tenant, {});
        return json(200, userBody(await users.put(params.subject, profileOf(body))));
      },
    }),
    portalRoute({
      method: 'GET',
      path: '/api/organizations/{id}/users',
      group: 'Organizations',
      summary: 'Lists the people of an organization.',
      description: 'For keys of the role Administrator. Contains the access profile of each.',
      scope: 'Read',
      auth: 'administrator',
      params: idParams,
      query: listQuery,
      responses: { 200: pageOf(memberShape) },
      refusals: ['OrganizationNotFound'],
      async handle({ params, query }) {
        return json(200, pageBody(await users.members(await existing(params.id), query), memberBody));
      },
    }),
    portalRoute({
      method: 'POST',
      path: '/api/organizations/{id}/users',
      group: 'Organizations',
      summary: 'Adds a person to an organization, or changes the access profile of a member.',
      description:
        'For keys of the role Administrator. As `POST /api/organizations/users`, for any organization.',
      scope: 'Administer',
      auth: 'administrator',
      params: idParams,
      body: memberInput,
      responses: { 200: memberShape },
      examples: { request: MEMBER },
      refusals: ['OrganizationNotFound', 'LimitExceeded', 'NameTaken'],
      async handle({ tenant, params, body }) {
        return add(await existing(params.id), tenant, body);
      },
    }),
    portalRoute({
      method: 'DELETE',
      path: '/api/admin/organizations/{id}/users/{userId}',
      group: 'Administration',
      summary: 'Removes a person from an organization.',
      description:
        'For keys of the role Administrator. As `DELETE /api/organizations/users/{userId}`, for any organization.',
      scope: 'Administer',
      auth: 'administrator',
      params: memberParams,
      responses: { 200: 'empty' },
      refusals: ['OrganizationNotFound', 'UserNotFound'],
      async handle({ tenant, params }) {
        await users.remove(await existing(params.id), params.userId, callerName(tenant));
        return DONE;
      },
    }),
  ];
}

function profileOf(body: {
  readonly name: string;
  readonly identifier?: string | null | undefined;
  readonly email: string;
  readonly phone?: string | null | undefined;
}) {
  const { name, identifier, email, phone } = body;
  return { name, identifier: identifier ?? null, email, phone: phone ?? null };
}

function memberBody(member: MemberView): z.infer<typeof memberShape> {
  const { id: user, name, identifier, email, phone, accessProfile } = member;
  const { administrator, manager, operator } = accessProfile;
  return { id: user, name, identifier, email, phone, accessProfile: { administrator, manager, operator } };
}

function userBody(view: UserView): z.infer<typeof userShape> {
  const { id: user, name, identifier, email, phone, subject } = view;
  return { id: user, name, identifier, email, phone, subject };
}
