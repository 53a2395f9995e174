/** Scopes and expiry of keys, over HTTP. Source: docs/decisions/0129-scopes-and-expiry-of-keys.md. */
import test from 'ava';
import { Client, sharedProgram, until } from '../../actors/portal/service.ts';
import { portalTable } from '../descriptions.ts';
import { type ClockedPortal, clientOf, clockedPortal, DAY } from './requests/clocked-portal.ts';

const FLOW = [{ user: { name: 'Ana', email: 'ana@example.org' }, allowElectronicSignature: true }];

/** Its clock is only set forward: the tests that use it run one after the other. */
let portal: ClockedPortal;
const ends: (() => unknown)[] = [];
test.before(async () => {
  portal = await clockedPortal({ teardown: (end) => void ends.push(end) });
});
test.after.always(async () => {
  for (const end of ends.reverse()) await end();
});

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
    'POST /api/documents/keys/{key}/passing-on',
    'POST /api/documents/keys/{key}/passkey-options',
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
  const ofGrants = /^\/api\/folders\/\{id\}\/grants$/;
  const ofRetention = /^\/api\/(?:retention|erasures|(?:documents|folders)\/\{id\}\/hold)$/;
  const ofRetentionReads = /^\/api\/(?:retention(?:\/documents)?|erasures|documents\/\{id\}\/retention)$/;
  // It weakens what protects the documents of the whole organization.
  const ofFactors = /^\/api\/documents\/authenticator-app-reset$/;
  for (const route of routes.filter(({ path }) => path.startsWith('/api/'))) {
    const { method, path, auth, scope = '' } = route;
    const name = `${method} ${path}`;
    if (method === 'GET') t.is(scope, 'Read', name);
    t.is(
      scope === 'Administer',
      method !== 'GET' && [ofOrganizations, ofGrants, ofFactors, ofRetention].some((one) => one.test(path)),
      name,
    );
    // Senders have a session, and the scopes Read and Create.
    const isSessionScoped = 'sessionScope' in route && route.sessionScope === 'Administer';
    t.is(
      isSessionScoped,
      method === 'GET' &&
        auth === 'application' &&
        [ofOrganizations, ofRetentionReads].some((one) => one.test(path)),
      name,
    );
  }
});

test('a key does what its scopes allow', async (t) => {
  const { url, administrator, organization } = await sharedProgram(t);
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

test.serial('a key is accepted until its expiry, and refused from then on', async (t) => {
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

test.serial('a key with scopes grants no user and no key more than its own scopes', async (t) => {
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
  const administrator = { administrator: true };
  const sender = { operator: true };
  const none = {};
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
  // Sign-in links go to the address of a user: a person who changes it could sign in as this user.
  const user = { name: 'Uma', email: 'other@example.org' };
  t.is((await limited.send('/api/users/uma', user, 'PUT')).status, 403);
  t.is((await admin.send('/api/users/uma', user, 'PUT')).status, 200);
});

test.serial('a key that expires gives no key and no user that outlives it', async (t) => {
  const admin = clientOf(portal, 'Admin');
  const { items } = await admin.get<{ items: { id: string; name: string }[] }>('/api/admin/organizations');
  const organizations = '/api/admin/organizations';
  const system = `${organizations}/${items.find(({ name }) => name === 'Sys Admin')?.id}/applications`;
  const { id: helper } = await admin.post<{ id: string }>(system, {
    name: 'Expiring Helper',
    role: 'Administrator',
  });
  const end = Date.now() + 10 * DAY;
  const at = (time: number) => new Date(time).toISOString();
  const made = await admin.post<{ key: string }>(`${system}/${helper}/keys`, { expirationDate: at(end) });
  const expiring = new Client(admin.url, made.key);

  const { id } = await admin.post<{ id: string }>(organizations, { name: 'Outlived' });
  const path = `${organizations}/${id}`;
  const { id: target } = await admin.post<{ id: string }>(`${path}/applications`, {
    name: 'Outlived Target',
  });
  const keys = `${path}/applications/${target}/keys`;
  const refusalOf = async (limits: object) => {
    const answer = await expiring.send(keys, limits);
    t.is(answer.status, 403);
    return ((await answer.json()) as { message: string }).message;
  };
  for (const limits of [
    {},
    { expirationDate: null },
    { scopes: ['Read'] },
    { expirationDate: at(end + 1000) },
  ])
    t.true((await refusalOf(limits)).includes(at(end).slice(0, 19)), JSON.stringify(limits));
  t.is((await admin.get<Organization>(path)).applications[0]?.keys.length, 0, 'no key was made');
  const same = await expiring.post<{ key: string }>(keys, { expirationDate: at(end) });
  await expiring.post(keys, { expirationDate: at(end - DAY), scopes: ['Administer', 'Read', 'Create'] });
  const shown = (await admin.get<Organization>(path)).applications[0]?.keys;
  t.deepEqual(
    shown?.map(({ expirationDate }) => expirationDate),
    [at(end), at(end - DAY)],
  );

  // A user has no end: neither the key of the instance nor that of the organization gives a role.
  const user = { name: 'Ugo', email: 'ugo@example.org' };
  const own = new Client(admin.url, same.key);
  for (const [client, users] of [
    [expiring, `${path.replace('/admin', '')}/users`],
    [own, '/api/organizations/users'],
  ] as const) {
    for (const accessProfile of [{ administrator: true }, { manager: true }, { operator: true }])
      t.is((await client.send(users, { ...user, accessProfile })).status, 403, users);
    t.is((await client.send(users, { ...user, accessProfile: {} })).status, 200, users);
  }
  t.is((await expiring.send('/api/users/ugo', user, 'PUT')).status, 403);
  t.is((await admin.send('/api/users/ugo', user, 'PUT')).status, 200);

  portal.forward(10 * DAY);
  for (const client of [expiring, own]) t.is((await client.fetch('/api/documents')).status, 401);
});
