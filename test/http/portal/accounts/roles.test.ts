/** Roles of users: role × operation, and what belongs to another organization. Source: docs/decisions/0277-scopes-and-roles-of-operators.md. */
import test from 'ava';
import { systemClock } from '#runtime/model/clock.js';
import { systemIds } from '#runtime/model/ids.js';
import type { Tenant } from '../../../../actors/portal/api.ts';
import type { KeyAccess } from '../../../../contracts/portal/operation.ts';
import { requireScope } from '../../../../http/portal/key-scopes.ts';
import { type PageService, portalPageRoutes } from '../../../../http/portal/page-routes.ts';
import { USER_ROLES, type UserRole } from '../../../../machines/portal/accounts/portal-user.ts';
import { maySend, mayUsePage, USER_SCOPES } from '../../../../machines/portal/accounts/user-rights.ts';
import { startProgram } from '../../../actors/portal/service.ts';
import { portalTable } from '../../descriptions.ts';
import { register, SENDER, signedIn, type UserBrowser } from './users.ts';

const AUDITOR = { auditor: true };
const OPERATIONS = portalTable().filter(
  ({ auth, path }) => ['application', 'known-or-ticket'].includes(auth) && path.startsWith('/api/'),
);
const PAGES = portalPageRoutes({} as PageService, { clock: systemClock, ids: systemIds }).filter(
  ({ auth }) => auth === 'user' || auth === 'user-administrator',
);
const nameOf = ({ method, path }: { readonly method: string; readonly path: string }) => `${method} ${path}`;
/** Forms about the user alone. */
const OWN =
  /^\/(?:sign-out|account\/(?:sessions|second-factor(?:\/removal|\/recovery-codes|\/passkeys(?:\/name|\/removal)?)?))$/;
/** Requests that read by POST. */
const READS =
  /^GET |^POST \/api\/(?:documents\/(?:archive|combined|date|validate-signatures)|reports\/documents\/date)$/;

function may(role: UserRole, access: KeyAccess): boolean {
  const tenant = {
    user: { id: 'u', name: 'U' },
    scopes: USER_SCOPES[role],
    isAuditor: role === 'auditor',
  } as unknown as Tenant;
  try {
    requireScope(tenant, access);
    return true;
  } catch {
    return false;
  }
}

test('a role may call what it reads, creates or administers', (t) => {
  for (const route of OPERATIONS) {
    const name = nameOf(route);
    const access = route as unknown as KeyAccess;
    const { scope, sessionScope = scope } = access;
    t.truthy(scope, `${name} is decided`);
    t.is(may('auditor', access), READS.test(name), `auditor: ${name}`);
    t.is(may('sender', access), sessionScope === 'Read' || sessionScope === 'Create', `sender: ${name}`);
    t.is(
      may('administrator', access),
      !['Sign', 'Provision'].includes(sessionScope),
      `administrator: ${name}`,
    );
  }
  for (const { auth, method, path } of PAGES) {
    const name = `${method} ${path}`;
    t.is(mayUsePage('auditor', auth, method, path), method === 'GET' || OWN.test(path), name);
    t.is(mayUsePage('sender', auth, method, path), auth === 'user', name);
    t.true(mayUsePage('administrator', auth, method, path), name);
    // What forms ask, and what their routes decide.
    for (const role of USER_ROLES)
      if (method === 'POST') t.is(maySend(role, path), mayUsePage(role, auth, method, path), name);
  }
  t.deepEqual(USER_ROLES, ['administrator', 'sender', 'auditor']);
});

test('an auditor reads the organization over HTTP, changes nothing, and sees nothing of another one', async (t) => {
  const program = await startProgram(t);
  const { acme } = program;
  await register(program, 'audit@example.org', AUDITOR);
  await register(program, 'sender@example.org', SENDER);
  const own = await acme.create([{ user: { name: 'Bo', email: 'bo@example.org' } }]);
  const other = await program.organization('Other');
  const foreign = await other.create([{ user: { name: 'Cy', email: 'cy@example.org' } }]);
  const auditor = await signedIn(program, 'audit@example.org');
  const sender = await signedIn(program, 'sender@example.org');
  for (const browser of [auditor, sender]) await browser.page('/account/documents');
  const call = (browser: UserBrowser, method: string, path: string) =>
    browser.fetch(path, {
      method,
      headers: {
        'x-form-token': browser.token,
        'content-type': 'application/json',
        accept: 'application/json',
      },
      ...(method !== 'GET' && { body: '{}' }),
    });
  const status = async (...given: Parameters<typeof call>) => (await call(...given)).status;
  t.is(await status(auditor, 'GET', `/api/documents/${own}`), 200);
  t.is(await status(auditor, 'GET', `/api/documents/${foreign}`), 422);
  t.is(await status(auditor, 'GET', '/api/organizations/users'), 200);
  t.is(await status(sender, 'GET', '/api/organizations/users'), 403);
  for (const route of OPERATIONS.filter(({ auth, method }) => auth === 'application' && method !== 'GET')) {
    const name = nameOf(route);
    const path = route.path.replace('{id}', own).replace(/\{\w+\}/g, own);
    if (!READS.test(name) && route.bodyPolicy === 'json')
      // A body that is read before the scope is compared may be refused first.
      t.true([400, 403].includes(await status(auditor, route.method, path)), name);
  }
  for (const { method, path, auth } of PAGES.filter(({ path }) => !OWN.test(path))) {
    const name = `${method} ${path}`;
    const address = path.replace(/\{\w+\}/g, own);
    const answer = await auditor.fetch(address, {
      method,
      ...(method === 'POST' && { body: new URLSearchParams({ formToken: auditor.token }) }),
    });
    if (method === 'POST') t.is(answer.status, 403, name);
    else t.not(answer.status, 403, `${name} ${auth}`);
    await answer.arrayBuffer();
  }
  // What is refused is not offered: the page shows the forms of administrators without their buttons working.
  const formsOf = (page: string) =>
    [...page.matchAll(/<form method="post" action="([^"]+)"[^>]*>(.*?)<\/form>/gs)].map(
      ([, action = '', content = '']) =>
        [action, content.includes('<fieldset class="locked" disabled')] as const,
    );
  const users = formsOf(await auditor.page('/organization/users'));
  t.true(users.length > 2);
  for (const [action, isLocked] of users) t.is(isLocked, action !== '/sign-out', action);
  const account = await auditor.page('/account');
  t.true(
    formsOf(account).every(([, isLocked]) => !isLocked),
    'sessions of the auditor',
  );
  t.false(account.includes('href="/account/documents/new"'));
  t.true((await sender.page('/account')).includes('href="/account/documents/new"'));
  t.is((await acme.get<{ status: string }>(`/api/documents/${own}`)).status, 'Pending');
  t.is((await auditor.submit('/sign-out')).status, 302);
});
