/** Scopes and expiry of keys, over HTTP. Source: docs/decisions/0129-scopes-and-expiry-of-keys.md. */
import test from 'ava';
import { Client, startProgram, until } from '../../actors/portal/service.ts';
import { portalTable } from './harness.ts';
import { clientOf, clockedPortal, DAY } from './requests/clocked-portal.ts';

const FLOW = [{ user: { name: 'Ana', email: 'ana@example.org' }, allowElectronicSignature: true }];

interface Organization {
  readonly applications: readonly {
    readonly id: string;
    readonly keys: readonly {
      readonly id: string;
      readonly scopes: readonly string[] | null;
      readonly expirationDate: string | null;
      readonly lastUseDate: string | null;
    }[];
  }[];
}

test('requests that sign or allow signing need the scope Sign, and only requests without changes need Read alone', (t) => {
  // No key is used with a session of the editor.
  const routes = portalTable().filter(({ auth }) => auth !== 'anonymous' && auth !== 'editor');
  const named = (scope: string, only: (method: string) => boolean = () => true) =>
    routes
      .filter((route) => route.scope === scope && only(route.method))
      .map(({ method, path }) => `${method} ${path}`)
      .sort();
  t.deepEqual(named('Sign'), [
    'POST /api/documents/keys/{key}/approval',
    'POST /api/documents/keys/{key}/electronic-signature',
    'POST /api/documents/keys/{key}/email-authentication-code',
    'POST /api/documents/keys/{key}/participant-refusal',
    'POST /api/documents/keys/{key}/signature',
    'POST /api/documents/keys/{key}/signature/certificate',
    'POST /api/documents/keys/{key}/uploads',
    'POST /api/documents/keys/{key}/view',
    'POST /api/documents/sms-authentication-code',
    'POST /api/documents/{id}/action-url',
    'POST /api/documents/{id}/electronic-signature',
    'POST /api/documents/{id}/signature',
    'POST /api/documents/{id}/signature/certificate',
  ]);
  t.deepEqual(
    named('Read', (method) => method !== 'GET'),
    [
      'POST /api/documents/archive',
      'POST /api/documents/combined',
      'POST /api/documents/date',
      'POST /api/documents/validate-signatures',
      'POST /api/reports/documents/date',
    ],
  );
  const ofOrganizations = /^\/api\/(?:organizations\/|admin\/|users\/\{)/;
  for (const route of routes.filter(({ path }) => path.startsWith('/api/'))) {
    const { method, path, auth, scope = '' } = route;
    const name = `${method} ${path}`;
    if (method === 'GET') t.is(scope, 'Read', name);
    t.is(scope === 'Administer', method !== 'GET' && ofOrganizations.test(path), name);
    // Senders have a session, and the scopes Read and Create.
    const isSessionScoped = 'sessionScope' in route && route.sessionScope === 'Administer';
    t.is(isSessionScoped, method === 'GET' && auth === 'application' && ofOrganizations.test(path), name);
  }
});

test('a key does what its scopes allow', async (t) => {
  const { url, administrator, organization } = await startProgram(t);
  const whole = await organization('Scoped');
  const path = `/api/admin/organizations/${whole.organizationId}`;
  const keyOf = async (limits: object) => {
    const { id } = await administrator.post<{ id: string }>(`${path}/applications`, {
      name: `App ${JSON.stringify(limits).replaceAll(/\W/g, '')}`,
    });
    const made = await administrator.post<{ key: string }>(`${path}/applications/${id}/keys`, limits);
    return new Client(url, made.key);
  };
  const id = await whole.create(FLOW);
  const requests = {
    Read: (client: Client) => client.fetch(`/api/documents/${id}`),
    Create: (client: Client) => client.send('/api/uploads/bytes', { bytes: 'AAAA' }),
    Sign: (client: Client) =>
      client.send(`/api/documents/${id}/action-url`, { emailAddress: 'ana@example.org' }),
    Administer: (client: Client) =>
      client.send('/api/organizations/users', { name: 'U', email: 'u@example.org' }),
  };
  for (const scope of Object.keys(requests)) {
    const client = await keyOf({ scopes: [scope.toLowerCase()] });
    for (const [needed, request] of Object.entries(requests)) {
      const answer = await request(client);
      t.is(answer.status, needed === scope ? 200 : 403, `${scope} for ${needed}: ${await answer.text()}`);
    }
    const form = new FormData();
    form.set('content', new Blob(['x']), 'x.txt');
    const upload = await client.fetch('/api/uploads', { method: 'POST', body: form });
    t.is(upload.status, scope === 'Create' ? 200 : 403, `upload with ${scope}`);
  }

  const [first] = (await administrator.get<Organization>(path)).applications;
  const late = await administrator.send(`${path}/applications/${first?.id}/keys`, {
    expirationDate: '2020-01-01',
  });
  t.is(late.status, 400);
  const shown = await until(async () => {
    const { applications } = await administrator.get<Organization>(path);
    const keys = applications.flatMap(({ keys: its }) => its);
    return keys.some(({ scopes, lastUseDate }) => scopes?.[0] === 'Read' && lastUseDate !== null)
      ? keys
      : undefined;
  });
  t.true(shown.some(({ scopes }) => scopes === null));
});

test('a key is accepted until its expiry, and refused from then on', async (t) => {
  const portal = await clockedPortal(t);
  const admin = clientOf(portal, 'Admin');
  const { id } = await admin.post<{ id: string }>('/api/admin/organizations', { name: 'Expiring' });
  const path = `/api/admin/organizations/${id}`;
  const application = await admin.post<{ id: string }>(`${path}/applications`, { name: 'Expiring App' });
  const expirationDate = new Date(Date.now() + DAY).toISOString();
  const made = await admin.post<{ key: string }>(`${path}/applications/${application.id}/keys`, {
    expirationDate,
  });
  const client = new Client(admin.url, made.key);
  t.is((await client.fetch('/api/documents')).status, 200);
  portal.forward(DAY);
  t.is((await client.fetch('/api/documents')).status, 401);
  const [shown] = (await admin.get<Organization>(path)).applications;
  t.like(shown?.keys[0], { expirationDate, scopes: null });
});

test('a key with scopes grants no user and no key more than its own scopes', async (t) => {
  const portal = await clockedPortal(t);
  const admin = clientOf(portal, 'Admin');
  const { id } = await admin.post<{ id: string }>('/api/admin/organizations', { name: 'Guarded' });
  const path = `/api/admin/organizations/${id}`;
  const clientWith = async (limits: object) => {
    const name = `Guarded App ${JSON.stringify(limits).replaceAll(/\W/g, '')}`;
    const application = await admin.post<{ id: string }>(`${path}/applications`, { name });
    const made = await admin.post<{ key: string }>(`${path}/applications/${application.id}/keys`, limits);
    return new Client(admin.url, made.key);
  };
  const register = async (client: Client, accessProfile: object) => {
    const body = { name: 'Uma', email: 'uma@example.org', accessProfile };
    return (await client.send('/api/organizations/users', body)).status;
  };
  const [administrator, sender, none] = [{ administrator: true }, { operator: true }, {}];
  const only = await clientWith({ scopes: ['Administer'] });
  t.is(await register(only, administrator), 403);
  t.is(await register(only, sender), 403);
  t.is(await register(only, none), 200);
  const more = await clientWith({ scopes: ['Administer', 'Read', 'Create'] });
  t.is(await register(more, administrator), 403);
  t.is(await register(more, sender), 200);
  t.is(
    await register(await clientWith({ scopes: ['Administer', 'Read', 'Create', 'Sign'] }), administrator),
    200,
  );
  t.is(await register(await clientWith({}), administrator), 200);

  // The same for keys of the instance's administrators, which make keys of all organizations.
  const { items } = await admin.get<{ items: { id: string; name: string }[] }>('/api/admin/organizations');
  const system = `/api/admin/organizations/${items.find(({ name }) => name === 'Sys Admin')?.id}/applications`;
  const { id: helper } = await admin.post<{ id: string }>(system, { name: 'Helper', role: 'Administrator' });
  const { key } = await admin.post<{ key: string }>(`${system}/${helper}/keys`, { scopes: ['Administer'] });
  const limited = new Client(admin.url, key);
  const { id: target } = await admin.post<{ id: string }>(`${path}/applications`, { name: 'Target' });
  const make = async (limits: object) =>
    (await limited.send(`${path}/applications/${target}/keys`, limits)).status;
  t.is(await make({}), 403);
  t.is(await make({ scopes: ['Sign'] }), 403);
  t.is(await make({ scopes: ['Administer'] }), 200);
  // Sign-in links go to the address of a user: whoever changes it could sign in as this user.
  const user = { name: 'Uma', email: 'other@example.org' };
  t.is((await limited.send('/api/users/uma', user, 'PUT')).status, 403);
  t.is((await admin.send('/api/users/uma', user, 'PUT')).status, 200);
});
