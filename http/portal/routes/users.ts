/** Users: those of the own organization, and with an administration key all users. */
import {
  type Administration,
  callerName,
  type Tenant,
  type UserDirectory,
  type UserSessions,
} from '../../../actors/portal/api.ts';
import {
  addOwnUser,
  addUserTo,
  listOwnUsers,
  listSignIns,
  listUsers,
  listUsersOf,
  type NewMember,
  putUser,
  removeOwnUser,
  removeUserFrom,
} from '../../../contracts/portal/users.ts';
import type { OrganizationId } from '../../../machines/ids.ts';
import { SYSTEM_ORGANIZATION } from '../../../machines/portal/organization.ts';
import { roleOf } from '../../../machines/portal/portal-user.ts';
import type { AnyRoute } from '../../core/router.ts';
import { requireRole } from '../access-check.ts';
import { handle } from '../handle.ts';
import { organizationId } from '../input/ids.ts';
import { pageReply } from '../input/query-fields.ts';
import { requireGivable } from '../key-scopes.ts';
import { USER_SCOPES } from '../user-rights.ts';

export function userRoutes(
  users: UserDirectory,
  administration: Administration,
  sessions: UserSessions,
): readonly AnyRoute[] {
  const add = (organization: OrganizationId, tenant: Tenant, { profile, access }: NewMember) => {
    // Administrators make keys of all scopes.
    const role = roleOf(access);
    if (role !== undefined)
      requireGivable(tenant, role === 'administrator' ? {} : { scopes: [...USER_SCOPES[role]] });
    return users.add(organization, profile, access, callerName(tenant));
  };
  /** Refusals: `OrganizationNotFound`. */
  const existing = async (text: string) => (await administration.organization(organizationId(text))).id;
  return [
    handle(listOwnUsers, async ({ tenant, query }) =>
      pageReply(await users.members(tenant.organization.id, query)),
    ),
    handle(addOwnUser, ({ tenant, body }) => {
      // Administrators of this organization make keys that administer the instance.
      if (tenant.organization.name === SYSTEM_ORGANIZATION) requireRole(tenant, 'administrator');
      return add(tenant.organization.id, tenant, body);
    }),
    handle(removeOwnUser, ({ tenant, params }) =>
      users.remove(tenant.organization.id, params.userId, callerName(tenant)),
    ),
    handle(listSignIns, ({ tenant, query: { after = 0, limit } }) =>
      sessions.log(tenant.organization.id, { after, limit }),
    ),
    handle(listUsers, async ({ query }) => pageReply(await users.find(query))),
    handle(putUser, ({ tenant, params, body }) => {
      // Whoever changes the address of an administrator gets the sign-in link.
      requireGivable(tenant, {});
      return users.put(params.subject, body);
    }),
    handle(listUsersOf, async ({ params, query }) =>
      pageReply(await users.members(await existing(params.id), query)),
    ),
    handle(addUserTo, async ({ tenant, params, body }) => add(await existing(params.id), tenant, body)),
    handle(removeUserFrom, async ({ tenant, params }) =>
      users.remove(await existing(params.id), params.userId, callerName(tenant)),
    ),
  ];
}
