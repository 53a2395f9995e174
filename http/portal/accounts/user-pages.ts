/** `/organization/users`: who signs in, and with which role. Source: docs/decisions/0135-users-sign-in-by-mail.md. */

import { z } from 'zod';
import {
  type Administration,
  callerName,
  type SecondFactors,
  type SignedInUser,
  type UserDirectory,
  type UserSessions,
} from '../../../actors/portal/api.ts';
import type { MemberView } from '../../../contracts/portal/users.ts';
import { accessOf } from '../../../machines/portal/accounts/portal-user.ts';
import { checkTogether, PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type { AccountNotice, AccountPage, RefusedForm } from '../../../web/pages/portal/account-frame.ts';
import { userSessionsPage } from '../../../web/pages/portal/sessions-view.tsx';
import { usersPage } from '../../../web/pages/portal/users-view.tsx';
import type { PageReply } from '../../core/reply.ts';
import type { AnyRoute } from '../../core/router.ts';
import { accountGet, accountPost, accountReply, formText } from './account-route.ts';
import { accountForm, doneNotice, doneReply, offsetOf } from './outcomes.ts';

const PATH = '/organization/users';
const LIMIT = 50;

const userParams = z.object({ userId: z.string() });

/** Ends one session, or all where none is named; one that is over is ended already. */
export async function endSession(
  sessions: UserSessions,
  { tenant }: SignedInUser,
  userId: string,
  session: string,
): Promise<void> {
  try {
    await sessions.end(tenant, userId, session === '' ? undefined : session);
  } catch (error) {
    if (!(error instanceof PortalRefusal && error.code === 'UserNotFound')) throw error;
  }
}

export function userPageRoutes(
  users: UserDirectory,
  sessions: UserSessions,
  factors: Pick<SecondFactors, 'state'>,
  administration: Pick<Administration, 'organization'>,
): readonly AnyRoute[] {
  const pages = { users, sessions, factors, list: new UserList(users, administration) };
  return [
    listRoute(pages),
    addRoute(pages),
    sessionsRoute(pages),
    endSessionsRoute(pages),
    roleRoute(pages),
    removalRoute(pages),
  ];
}

interface UserRoutes {
  readonly users: UserDirectory;
  readonly sessions: UserSessions;
  readonly factors: Pick<SecondFactors, 'state'>;
  readonly list: UserList;
}

class UserList {
  constructor(
    private readonly users: UserDirectory,
    private readonly administration: Pick<Administration, 'organization'>,
  ) {}

  async show(
    page: AccountPage,
    user: SignedInUser,
    notice: AccountNotice | undefined,
    offset = 0,
  ): Promise<PageReply> {
    const { id } = user.tenant.organization;
    const members = await this.users.members(id, { limit: LIMIT, offset });
    const { requireSecondFactor } = await this.administration.organization(id);
    const place = { offset, limit: LIMIT, notice, requireSecondFactor };
    return accountReply(200, usersPage(page, user, members, place));
  }

  async notYourself(page: AccountPage, user: SignedInUser, form?: RefusedForm): Promise<PageReply> {
    const notice = { kind: 'bad', text: page.texts.errors.yourself, ...(form && { form }) } as const;
    return { ...(await this.show(page, user, notice)), status: 422 };
  }
}

function listRoute({ list }: UserRoutes): AnyRoute {
  return accountGet({
    path: PATH,
    summary: 'A page for administrators: the users of the organization.',
    handle: ({ page, user, query }) => list.show(page, user, doneNotice(page, query), offsetOf(query)),
  });
}

function addRoute({ users, list }: UserRoutes): AnyRoute {
  return accountForm({
    path: PATH,
    summary: 'Adds a user, or changes the role of one.',
    description: 'Users sign in with a link that they receive by e-mail.',
    body: z.object({ name: formText, email: formText, role: formText }),
    async act({ page, user, body }) {
      if (body.email.trim().toLowerCase() === user.email.toLowerCase())
        return list.notYourself(page, user, {
          action: PATH,
          values: body,
          faults: { email: page.texts.errors.yourself },
        });
      const { tenant } = user;
      const profile = { name: body.name, email: body.email, identifier: null, phone: null };
      const access = accessOf(body.role);
      checkTogether([() => requireName(body.name), () => users.check(profile)]);
      await users.add(tenant.organization.id, profile, access, callerName(tenant));
      return doneReply(page, PATH, 'userAdded');
    },
    again: (notice, { page, user }) => list.show(page, user, notice),
    sent: ({ page: { texts }, body }) => ({
      action: PATH,
      values: body,
      faults: { Name: ['name', texts.faults.name], Email: ['email', texts.faults.email] },
    }),
  });
}

function sessionsRoute({ users, sessions, factors }: UserRoutes): AnyRoute {
  return accountGet({
    path: `${PATH}/{userId}`,
    summary: 'A page for administrators: the open sessions of a user.',
    params: userParams,
    async handle({ page, user, params, query }) {
      const { id } = user.tenant.organization;
      const member = await users.member(id, params.userId);
      if (member === undefined) throw new PortalRefusal('NotFound');
      const open = await sessions.list(id, member.id);
      const hasFactor = (await factors.state(member.id)) !== undefined;
      const shown = { sessions: open, hasFactor, notice: doneNotice(page, query) };
      return accountReply(200, userSessionsPage(page, user, member, shown));
    },
  });
}

function endSessionsRoute({ sessions }: UserRoutes): AnyRoute {
  return accountPost({
    path: `${PATH}/{userId}/sessions`,
    summary: 'Ends one session of a user, or all.',
    description: 'All includes those of the editor.',
    params: userParams,
    body: z.object({ session: formText }),
    async handle({ page, user, params, body }) {
      await endSession(sessions, user, params.userId, body.session);
      return doneReply(page, `${PATH}/${encodeURIComponent(params.userId)}`, 'sessionsEnded');
    },
  });
}

function roleRoute({ users, list }: UserRoutes): AnyRoute {
  return accountForm({
    path: `${PATH}/{userId}/role`,
    summary: 'Changes the role of a user, and ends the sessions of the user.',
    description: 'The user signs in again with the new role.',
    params: userParams,
    body: z.object({ role: formText }),
    async act({ page, user, params, body }) {
      if (params.userId === user.id) return list.notYourself(page, user);
      const { tenant } = user;
      const member = await memberOf(users, tenant.organization.id, params.userId);
      await users.add(tenant.organization.id, member, accessOf(body.role), callerName(tenant));
      return doneReply(page, PATH, 'userChanged');
    },
    again: (notice, { page, user }) => list.show(page, user, notice),
  });
}

function removalRoute({ users, list }: UserRoutes): AnyRoute {
  return accountForm({
    path: `${PATH}/{userId}/removal`,
    summary: 'Removes a user, and ends the sessions of the user.',
    description: 'Documents of the user do not change.',
    params: userParams,
    body: z.object({}),
    async act({ page, user, params }) {
      if (params.userId === user.id) return list.notYourself(page, user);
      const { tenant } = user;
      await users.remove(tenant.organization.id, params.userId, callerName(tenant));
      return doneReply(page, PATH, 'userRemoved');
    },
    again: (notice, { page, user }) => list.show(page, user, notice),
  });
}

/** A list of people needs names; programs may register people without one. */
function requireName(name: string): void {
  if (name.trim() === '') throw new PortalRefusal('BadRequest', undefined, { errors: { Name: [] } });
}

/** Refusals: `UserNotFound`. */
async function memberOf(
  users: UserDirectory,
  organization: Parameters<UserDirectory['member']>[0],
  id: string,
): Promise<MemberView> {
  const found = await users.member(organization, id);
  if (found === undefined) throw new PortalRefusal('UserNotFound');
  return found;
}
