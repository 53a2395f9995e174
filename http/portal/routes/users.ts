/** Users: those of the own organization, and with an administration key all users. */
import {
  type Administration,
  callerName,
  type Tenant,
  type UserDirectory,
  type UserSessions,
} from '../../../actors/portal/api.ts';
import type { KeyAccess } from '../../../contracts/portal/operation.ts';
import {
  addOwnUser,
  addUserTo,
  endSessions,
  exportSignIns,
  listOwnUsers,
  listSessions,
  listSignIns,
  listUsers,
  listUsersOf,
  type NewMember,
  putUser,
  removeOwnUser,
  removeUserFrom,
  type SignInEntry,
} from '../../../contracts/portal/users.ts';
import { isoTime } from '../../../contracts/times.ts';
import type { OrganizationId } from '../../../machines/ids.ts';
import { SYSTEM_ORGANIZATION } from '../../../machines/portal/accounts/organization.ts';
import { roleOf } from '../../../machines/portal/accounts/portal-user.ts';
import { USER_SCOPES } from '../../../machines/portal/accounts/user-rights.ts';
import { badField } from '../../../machines/portal/portal-refusals.ts';
import { csvReply } from '../../core/csv-reply.ts';
import type { AnyRoute } from '../../core/router.ts';
import { requireRole } from '../access-check.ts';
import { handle } from '../handle.ts';
import { organizationId } from '../input/ids.ts';
import { pageReply } from '../input/query-fields.ts';
import { requireGivable, requireScope } from '../key-scopes.ts';

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
    handle(exportSignIns, ({ tenant, query: { after = 0 } }) =>
      csvReply('sign-ins.csv', sessions.export(tenant.organization.id, after), {
        columns: CSV_COLUMNS,
        cellsOf: signInCells,
      }),
    ),
    handle(listSessions, async ({ tenant, query }) => {
      const userId = personOf(tenant, query.userId, { scope: 'Read', sessionScope: 'Administer' });
      const open = await sessions.list(tenant.organization.id, userId);
      return {
        items: open.map(({ id, begun, usedAt, expiresAt }) => ({
          ...begun,
          id,
          current: id === tenant.sessionId,
          begunAt: begun?.at,
          lastUsedAt: usedAt,
          expiresAt,
        })),
      };
    }),
    handle(endSessions, ({ tenant, query }) =>
      sessions.end(tenant, personOf(tenant, query.userId, { scope: 'Administer' }), query.id),
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

/** The user of the session, or the one that an administrator names. Refusals: `Forbidden`, `BadRequest`. */
function personOf(tenant: Tenant, named: string | undefined, access: KeyAccess): string {
  if (named !== undefined && named !== tenant.user?.id) requireScope(tenant, access);
  const id = named ?? tenant.user?.id;
  if (id === undefined) throw badField('UserId', 'is required');
  return id;
}

const CSV_COLUMNS = [
  'id',
  'date',
  'action',
  'userId',
  'sessionId',
  'ipAddress',
  'userAgent',
  'message',
  'hash',
];

function signInCells({
  id,
  date,
  action,
  userId,
  sessionId,
  ipAddress,
  userAgent,
  message,
  hash,
}: SignInEntry) {
  const cells = [String(id), isoTime(date), action, userId, sessionId, ipAddress, userAgent, message, hash];
  return cells.map((cell) => cell ?? '');
}
