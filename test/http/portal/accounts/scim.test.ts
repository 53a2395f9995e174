/** SCIM: users and groups as identity services send them, over HTTP. Source: docs/decisions/0278-provisioning.md. */
import anyTest, { type ExecutionContext, type TestFn } from 'ava';
import { Client, type PortalProgram, startProgram } from '../../../actors/portal/service.ts';
import { ONE_REQUEST_PER_CONNECTION } from '../../../postgres/test-store.ts';
import { endedAfter } from '../../../project/ended-after.ts';
import { ADMINISTRATOR, Caller, register, SENDER, signedIn } from './users.ts';

const USER = 'urn:ietf:params:scim:schemas:core:2.0:User';
const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
const PATCH_OP = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';

interface Body {
  readonly id: string;
  readonly scimType?: string;
  readonly detail?: string;
  readonly totalResults: number;
  readonly itemsPerPage: number;
  readonly startIndex: number;
  readonly Resources: readonly Body[];
  readonly userName: string;
  readonly displayName?: string;
  readonly active: boolean;
  readonly externalId?: string;
  readonly name?: Record<string, string>;
  readonly emails?: readonly Record<string, unknown>[];
  readonly members?: readonly Record<string, unknown>[];
  readonly meta: { readonly location: string; readonly version: string };
  readonly [name: string]: unknown;
}

interface Answer {
  readonly status: number;
  readonly headers: Response['headers'];
  readonly body: Body;
}

/** An identity service with a token. */
class Directory {
  constructor(
    readonly url: string,
    readonly token: string,
  ) {}

  async ask(method: string, path: string, body?: unknown, headers: object = {}): Promise<Answer> {
    const answer = await fetch(`${this.url}/scim/v2${path}`, {
      method,
      headers: {
        Authorization: `Bearer ${this.token}`,
        'Content-Type': 'application/scim+json',
        ...ONE_REQUEST_PER_CONNECTION,
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, headers: answer.headers, body: text === '' ? {} : JSON.parse(text) };
  }

  async create(userName: string, more: object = {}): Promise<Body> {
    const { status, body } = await this.ask('POST', '/Users', { schemas: [USER], userName, ...more });
    if (status !== 201) throw new Error(`${userName}: ${status} ${JSON.stringify(body)}`);
    return body;
  }

  patch(path: string, ...Operations: readonly object[]): Promise<Answer> {
    return this.ask('PATCH', path, { schemas: [PATCH_OP], Operations });
  }

  find(filter: string, path = '/Users'): Promise<Answer> {
    return this.ask('GET', `${path}?filter=${encodeURIComponent(filter)}`);
  }
}

interface Context extends PortalProgram {
  readonly directory: Directory;
  directoryOf(client: Client & { readonly organizationId: string }, limits?: object): Promise<Directory>;
}
const test = anyTest as TestFn<Context>;
const shared = endedAfter(test);
test.before(async (t) => {
  const program = await startProgram(shared);
  const path = '/api/admin/organizations';
  const { administrator } = program;
  const keyOf = async (organizationId: string, limits: object) => {
    const { applications } = await administrator.get<{ applications: { id: string }[] }>(
      `${path}/${organizationId}`,
    );
    // Each has at most two keys, so each key gets an application of its own.
    const { id } = await administrator.post<{ id: string }>(`${path}/${organizationId}/applications`, {
      name: `Directory ${organizationId.slice(0, 8)} ${applications.length}`,
    });
    const keys = `${path}/${organizationId}/applications/${id}/keys`;
    return (await administrator.post<{ key: string }>(keys, limits)).key;
  };
  const { items } = await administrator.get<{ items: { id: string; name: string }[] }>(path);
  const acme = items.find(({ name }) => name === 'Acme')?.id ?? '';
  t.context = Object.assign(program, {
    directory: new Directory(program.url, await keyOf(acme, { scopes: ['Provision'] })),
    directoryOf: async (
      client: { readonly organizationId: string },
      limits: object = { scopes: ['Provision'] },
    ) => new Directory(program.url, await keyOf(client.organizationId, limits)),
  });
});

function refused(
  t: ExecutionContext<Context>,
  { status, headers, body }: Answer,
  code: number,
  scimType?: string,
) {
  t.is(status, code, JSON.stringify(body));
  t.is(body.scimType, scimType);
  t.is(headers.get('content-type'), 'application/scim+json; charset=utf-8');
  t.is(body['status'], String(code));
  t.deepEqual(body['schemas'], ['urn:ietf:params:scim:api:messages:2.0:Error']);
}

test('a key without the scope, with an expiry, or none at all reaches no user', async (t) => {
  const { url, organization, directoryOf } = t.context;
  const client = await organization('Keys');
  const good = await directoryOf(client);
  t.is((await good.ask('GET', '/Users')).status, 200);
  t.is((await new Client(url, good.token).fetch('/api/documents')).status, 403, 'and it does nothing else');
  const limited = await (await directoryOf(client, { scopes: ['Administer'] })).ask('GET', '/Users');
  refused(t, limited, 403);
  const lacking = 'Bearer realm="scim", error="insufficient_scope", scope="Provision"';
  t.is(limited.headers.get('www-authenticate'), lacking);
  const expirationDate = new Date(Date.now() + 86_400_000).toISOString();
  refused(
    t,
    await (await directoryOf(client, { scopes: ['Provision'], expirationDate })).ask('GET', '/Users'),
    403,
  );
  const none = await new Directory(url, 'Acme App|wrong').ask('GET', '/Users');
  refused(t, none, 401);
  t.is(none.headers.get('www-authenticate'), 'Bearer realm="scim", error="invalid_token"');
});

test('the documents describe what is served', async (t) => {
  const { directory } = t.context;
  const { body: config } = await directory.ask('GET', '/ServiceProviderConfig');
  t.like(config, { patch: { supported: true }, bulk: { supported: false }, etag: { supported: true } });
  const { body: types } = await directory.ask('GET', '/ResourceTypes');
  t.deepEqual(
    types.Resources.map(({ id }) => id),
    ['User', 'Group'],
  );
  const { body: schemas } = await directory.ask('GET', '/Schemas');
  t.deepEqual(
    schemas.Resources.map(({ id }) => id),
    [USER, ENTERPRISE, 'urn:ietf:params:scim:schemas:core:2.0:Group'],
  );
  const one = await directory.ask('GET', `/Schemas/${ENTERPRISE}`);
  t.is(String(one.body.name), 'EnterpriseUser');
  refused(t, await directory.ask('GET', '/Schemas/urn:other'), 404);
});

test('a user is created, read, replaced under its entity tag, and removed', async (t) => {
  const { directory, acme } = t.context;
  const sent = {
    externalId: 'ext-1',
    name: { givenName: 'Bea', familyName: 'Example' },
    emails: [
      { value: 'bea.private@example.org', type: 'home' },
      { value: 'bea@example.org', type: 'work' },
    ],
    [ENTERPRISE]: { department: 'Sales', manager: { value: 'm-1' } },
    unknownAttribute: 'ignored',
  };
  const created = await directory.ask('POST', '/Users', {
    schemas: [USER, ENTERPRISE],
    userName: 'BEA@corp',
    ...sent,
  });
  t.is(created.status, 201);
  const { id, meta } = created.body;
  t.is(created.headers.get('location'), meta.location);
  t.is(meta.location, `${t.context.url}/scim/v2/Users/${id}`);
  t.is(created.headers.get('etag'), meta.version);
  t.like(created.body, {
    userName: 'BEA@corp',
    active: true,
    externalId: 'ext-1',
    schemas: [USER, ENTERPRISE],
  });
  t.false('unknownAttribute' in created.body);
  const members = await acme.get<{ items: { email: string; name: string }[] }>(
    '/api/organizations/users?limit=100',
  );
  t.like(
    members.items.find(({ email }) => email === 'bea@example.org'),
    { name: 'Bea Example' },
  );

  refused(
    t,
    await directory.ask('POST', '/Users', { userName: 'bea@CORP', emails: [{ value: 'x@example.org' }] }),
    409,
    'uniqueness',
  );
  refused(
    t,
    await directory.ask('POST', '/Users', { userName: 'other', emails: sent.emails }),
    409,
    'uniqueness',
  );
  refused(t, await directory.ask('POST', '/Users', { userName: 'no address' }), 400, 'invalidValue');
  refused(t, await directory.ask('POST', '/Users', { emails: sent.emails }), 400, 'invalidValue');

  const replacement = { userName: 'bea@corp', emails: [{ value: 'bea@example.org' }], displayName: 'Bea' };
  refused(t, await directory.ask('PUT', `/Users/${id}`, replacement, { 'If-Match': 'W/"99"' }), 412);
  const replaced = await directory.ask('PUT', `/Users/${id}`, replacement, { 'If-Match': meta.version });
  t.is(replaced.status, 200);
  t.not(replaced.body.meta.version, meta.version);
  t.is(replaced.body.externalId, undefined, 'what a replacement leaves out is gone');
  refused(t, await directory.ask('PUT', `/Users/${id}`, replacement, { 'If-Match': meta.version }), 412);
  const unchanged = await directory.ask('GET', `/Users/${id}`, undefined, {
    'If-None-Match': replaced.body.meta.version,
  });
  t.is(unchanged.status, 304);
  const some = await directory.ask('GET', `/Users/${id}?attributes=userName,emails.value`);
  t.deepEqual(Object.keys(some.body).sort(), ['emails', 'id', 'schemas', 'userName']);
  t.deepEqual(some.body.emails, [{ value: 'bea@example.org' }]);

  t.is((await directory.ask('DELETE', `/Users/${id}`)).status, 204);
  refused(t, await directory.ask('GET', `/Users/${id}`), 404);
  refused(t, await directory.ask('DELETE', `/Users/${id}`), 404);
  t.is((await directory.create('bea@corp', { emails: sent.emails })).active, true, 'and can come again');
});

/** Each changes a new user; `becomes` is what the reply is like. */
const CHANGES: readonly {
  readonly what: string;
  readonly operations: readonly object[];
  readonly becomes: object;
}[] = [
  {
    what: 'op in capitals, active as text',
    operations: [{ op: 'Replace', path: 'active', value: 'False' }],
    becomes: { active: false },
  },
  { what: 'no path', operations: [{ op: 'replace', value: { active: false } }], becomes: { active: false } },
  {
    what: 'a value that is not there yet, by its filter',
    operations: [{ op: 'Replace', path: 'phoneNumbers[type eq "mobile"].value', value: '+1 555' }],
    becomes: { phoneNumbers: [{ type: 'mobile', value: '+1 555' }] },
  },
  {
    what: 'the work address by its filter',
    operations: [{ op: 'Replace', path: 'emails[type eq "work"].value', value: 'moved@example.org' }],
    becomes: { emails: [{ value: 'moved@example.org', type: 'work' }] },
  },
  {
    what: 'dotted names and URNs in a value',
    operations: [
      {
        op: 'replace',
        value: { 'name.familyName': 'Doe', [`${ENTERPRISE}:department`]: 'Law', id: 'x', schemas: [] },
      },
    ],
    becomes: { name: { familyName: 'Doe' }, [ENTERPRISE]: { department: 'Law' } },
  },
  {
    what: 'a manager as text',
    operations: [{ op: 'Add', path: `${ENTERPRISE}:manager`, value: 'm-7' }],
    becomes: { [ENTERPRISE]: { manager: { value: 'm-7' } } },
  },
  {
    what: 'a single value as a list of one',
    operations: [{ op: 'Replace', path: 'displayName', value: [{ $ref: null, value: 'Listed' }] }],
    becomes: { displayName: 'Listed' },
  },
  {
    what: 'names in another case, and the URN of the schema',
    operations: [{ op: 'replace', path: `${USER}:DISPLAYNAME`, value: 'Case' }],
    becomes: { displayName: 'Case' },
  },
  {
    what: 'a removal, and a removal of what is not there',
    operations: [
      { op: 'remove', path: 'title' },
      { op: 'Remove', path: 'emails[type eq "home"]' },
    ],
    becomes: { title: undefined, emails: [{ type: 'work' }] },
  },
  {
    what: 'a primary value of a role as text',
    operations: [{ op: 'Add', path: 'roles[primary eq "True"].value', value: 'Staff' }],
    becomes: { roles: [{ primary: true, value: 'Staff' }] },
  },
];

test('operations as identity services send them change a user', async (t) => {
  const { directory } = t.context;
  for (const [index, { what, operations, becomes }] of CHANGES.entries()) {
    const emails = [{ value: `patch-${index}@example.org`, type: 'work' }];
    const { id } = await directory.create(`patch-${index}`, { emails, title: 'Clerk' });
    const { status, body } = await directory.patch(`/Users/${id}`, ...operations);
    t.is(status, 200, `${what}: ${JSON.stringify(body)}`);
    t.like(body, becomes, what);
    const stored = (await directory.ask('GET', `/Users/${id}`)).body;
    t.deepEqual(stored, body, what);
  }
  const { id } = await directory.create('faulty', { emails: [{ value: 'faulty@example.org' }] });
  const faults: readonly (readonly [object, string])[] = [
    [{ op: 'move', path: 'title', value: 'x' }, 'invalidSyntax'],
    [{ op: { toString: 1 }, path: 'title', value: 'x' }, 'invalidSyntax'],
    [{ op: 'add', path: 'title' }, 'invalidValue'],
    [{ op: 'replace', path: 'emails' }, 'invalidValue'],
    [{ op: 'replace', path: 'shoeSize', value: 'x' }, 'invalidPath'],
    [{ op: 'replace', path: 'emails[type eq', value: 'x' }, 'invalidPath'],
    [{ op: 'replace', path: 'id', value: 'x' }, 'mutability'],
    [{ op: 'remove' }, 'noTarget'],
    [{ op: 'remove', path: 'userName' }, 'invalidValue'],
    [{ op: 'replace', path: 'active', value: 'maybe' }, 'invalidValue'],
    [{ op: 'replace', path: 'emails[value co "nobody"].display', value: 'x' }, 'noTarget'],
  ];
  for (const [operation, scimType] of faults)
    refused(
      t,
      await directory.patch(`/Users/${id}`, { op: 'replace', path: 'title', value: 'changed' }, operation),
      400,
      scimType,
    );
  t.is(
    (await directory.ask('GET', `/Users/${id}`)).body['title'],
    undefined,
    'nothing of a refused request is kept',
  );
});

test('filters find whom they name, without regard to case, and a broken one finds nobody', async (t) => {
  const directory = await t.context.directoryOf(await t.context.organization('Filters'));
  for (const name of ['Anna', 'Bernd', 'Clara'])
    await directory.create(name, {
      externalId: `X-${name}`,
      emails: [{ value: `${name}@filters.example`, type: 'work' }],
      title: name === 'Clara' ? 'Head "of" (law)' : 'Clerk',
      active: name !== 'Bernd',
    });
  const found = async (filter: string) => {
    const { status, body } = await directory.find(filter);
    t.is(status, 200, filter);
    t.is(body.totalResults, body.Resources.length);
    return body.Resources.map(({ userName }) => userName).join();
  };
  t.is(await found('USERNAME eq "anna"'), 'Anna');
  t.is(await found('userName Eq "anna" and active eq false'), '');
  t.is(await found('externalId eq "X-Clara"'), 'Clara');
  t.is(await found('externalId eq "x-clara"'), '', 'the case of this one counts');
  t.is(await found('emails[type eq "work"].value eq "BERND@filters.example"'), 'Bernd');
  t.is(await found('emails.value sw "clara@"'), 'Clara');
  t.is(await found('emails co "@filters"'), 'Anna,Bernd,Clara');
  t.is(await found('active eq "False"'), 'Bernd');
  t.is(await found('title eq "Head \\"of\\" (law)"'), 'Clara');
  t.is(await found('not (active eq true) or (title sw "head" and userName pr)'), 'Bernd,Clara');
  t.is(await found('emails[type eq "work" and value co "anna"]'), 'Anna');
  t.is(await found('meta.created gt "2020-01-01T00:00:00Z" and nickName eq null'), 'Anna,Bernd,Clara');
  t.is(await found(`${USER}:userName eq "Anna" or userName eq "nobody"`), 'Anna');
  const broken = [
    'userName eq',
    'userName',
    'eq "x"',
    'userName eq "x',
    'userName eq x',
    'userName is "x"',
    'shoeSize eq "x"',
    'userName eq "x" and',
    'userName eq "x" userName eq "y"',
    '(userName eq "x"',
    'userName eq "x")',
    'not (shoeSize pr)',
    'active gt true',
    'active eq "perhaps"',
    'userName eq 5',
    'meta.created gt "soon"',
    'title[type eq "x"]',
    'emails[type eq "work"',
    `${'('.repeat(11)}userName pr${')'.repeat(11)}`,
    `userName eq "${'x'.repeat(2_048)}"`,
    '"',
    '',
    'null',
  ];
  for (const filter of broken) refused(t, await directory.find(filter), 400, 'invalidFilter');
});

test('pages have bounds, and their totals count all', async (t) => {
  const directory = await t.context.directoryOf(await t.context.organization('Pages'));
  for (const name of ['a', 'b', 'c'])
    await directory.create(name, { emails: [{ value: `${name}@pages.example` }] });
  const page = async (query: string) => {
    const { body } = await directory.ask('GET', `/Users?${query}`);
    return [
      body.totalResults,
      body.startIndex,
      body.itemsPerPage,
      body.Resources.map((one) => one.userName).join(),
    ];
  };
  t.deepEqual(await page('startIndex=2&count=1'), [3, 2, 1, 'b']);
  t.deepEqual(await page('startIndex=2&count=2&filter=userName%20pr'), [3, 2, 2, 'b,c']);
  t.deepEqual(await page('startIndex=0&count=100000'), [3, 1, 3, 'a,b,c']);
  t.deepEqual(await page('count=0'), [3, 1, 0, '']);
  t.deepEqual(await page('count=-5'), [3, 1, 0, '']);
  t.deepEqual(await page('startIndex=4'), [3, 4, 0, '']);
  refused(t, await directory.ask('GET', '/Users?count=many'), 400, 'invalidValue');
});

test('users of administrators are found, become those of the service, and organizations do not reach each other', async (t) => {
  const { organization, directoryOf, acme, directory } = t.context;
  const client = await organization('Adopting');
  const own = await directoryOf(client);
  const id = await register({ acme: client }, 'dan@adopting.example', SENDER, 'Dan');
  const { body } = await own.find('userName eq "DAN@adopting.example"');
  t.like(body.Resources[0], { id, displayName: 'Dan', active: true });
  refused(t, await own.ask('POST', '/Users', { userName: 'dan@adopting.example' }), 409, 'uniqueness');
  // Named otherwise at the service, which therefore finds nobody and creates the user.
  const adopted = await own.create('dan-upn', {
    emails: [{ value: 'Dan@adopting.example' }],
    displayName: 'Dan D.',
  });
  t.is(adopted.id, id);
  const members = await client.get<{ items: { name: string; accessProfile: object }[] }>(
    '/api/organizations/users',
  );
  t.like(members.items[0], { name: 'Dan D.', accessProfile: SENDER }, 'with the role of before');

  refused(t, await directory.ask('GET', `/Users/${id}`), 404);
  refused(t, await directory.patch(`/Users/${id}`, { op: 'replace', value: { active: false } }), 404);
  // The same person in two organizations: neither takes over the address, to which links are sent.
  await register({ acme }, 'dan@adopting.example', ADMINISTRATOR, 'Dan of Acme');
  const taking = { op: 'replace', path: 'emails[type eq "work"].value', value: 'thief@adopting.example' };
  const primary = { op: 'replace', path: 'emails', value: [{ value: 'thief@adopting.example' }] };
  for (const operation of [taking, primary]) {
    const answer = await own.patch(`/Users/${id}`, operation);
    refused(t, answer, 400, 'mutability');
  }
  t.is((await own.ask('DELETE', `/Users/${id}`)).status, 204);
  t.is((await directory.ask('GET', `/Users/${id}`)).body.displayName, 'Dan of Acme');
});

test('deactivation ends sessions and sessions of the editor at once, for good, and keeps documents', async (t) => {
  const program = t.context;
  const { directory, acme } = program;
  const email = 'leaver@example.org';
  const id = await register(program, email, SENDER, 'Lea Leaver');
  const browser = await signedIn(program, email);
  const upload = await acme.upload();
  await browser.page('/account');
  const asUser = (path: string, body: object) =>
    browser.fetch(path, {
      method: 'POST',
      headers: { 'X-Form-Token': browser.token, 'Content-Type': 'application/json', Origin: program.url },
      body: JSON.stringify(body),
    });
  const files = [{ ...upload, displayName: upload.name }];
  const flowActions = [{ type: 'Signer', user: { name: 'Sam', email: 'sam@example.org' } }];
  const made = await asUser('/api/documents', { files, flowActions });
  const [{ documentId = '' } = {}] = (await made.json()) as { documentId?: string }[];
  const session = await asUser('/api/editor-sessions', {
    files: [{ ...(await acme.upload()), displayName: 'a.pdf' }],
  });
  const { url } = (await session.json()) as { url: string };
  const ticket = new URL(url).searchParams.get('ticket') ?? '';
  const opened = await acme.send('/api/editor-sessions/open', { ticket });
  t.is(opened.status, 200, await opened.clone().text());
  const { token } = (await opened.json()) as { token: string };
  const editor = () =>
    fetch(`${program.url}/api/editor-sessions/current`, { headers: { 'X-Editor-Session': token } });
  t.is((await editor()).status, 200);

  t.is(
    (await directory.patch(`/Users/${id}`, { op: 'Replace', path: 'active', value: 'False' })).status,
    200,
  );
  t.is((await browser.fetch('/account')).headers.get('location'), '/sign-in');
  t.is((await editor()).status, 401);
  const document = await acme.get<{ createdBy: { id: string; name: string } }>(
    `/api/documents/${documentId}`,
  );
  t.like(document.createdBy, { id, name: 'Lea Leaver' });
  const list = async () =>
    (await acme.get<{ items: { id: string; active: boolean }[] }>('/api/organizations/users?q=leaver')).items;
  t.like((await list())[0], { id, active: false });
  const again = await acme.send('/api/organizations/users', { name: 'Lea', email, accessProfile: SENDER });
  t.is(again.status, 403, 'only the identity service activates again');

  await directory.patch(`/Users/${id}`, { op: 'Replace', path: 'active', value: 'True' });
  t.like((await list())[0], { active: true, accessProfile: SENDER });
  t.is((await browser.fetch('/account')).headers.get('location'), '/sign-in');
  t.is((await editor()).status, 401, 'the session of the editor does not come back');
});

test('groups are kept, and those named after a role give it', async (t) => {
  const { organization, directoryOf } = t.context;
  const client = await organization('Groups');
  const directory = await directoryOf(client);
  const people = await Promise.all(
    ['u1', 'u2', 'u3'].map((name) =>
      directory.create(name, { emails: [{ value: `${name}@groups.example` }] }),
    ),
  );
  const [u1 = '', u2 = '', u3 = ''] = people.map(({ id }) => id);
  const roles = async () => {
    const { items } = await client.get<{ items: { email: string; accessProfile: typeof SENDER }[] }>(
      '/api/organizations/users',
    );
    return Object.fromEntries(
      items.map(({ email, accessProfile: { administrator, operator } }) => [
        email.slice(0, 2),
        administrator ? 'administrator' : operator ? 'sender' : 'none',
      ]),
    );
  };
  const made = await directory.ask('POST', '/Groups', {
    displayName: 'Sealwright-Senders',
    externalId: 'g-1',
    members: [{ value: u1, display: 'u1' }, { value: u2 }],
  });
  t.is(made.status, 201);
  const senders = `/Groups/${made.body.id}`;
  t.deepEqual(await roles(), { u1: 'sender', u2: 'sender', u3: 'none' });
  refused(
    t,
    await directory.ask('POST', '/Groups', { displayName: 'sealwright-senders' }),
    409,
    'uniqueness',
  );
  refused(
    t,
    await directory.ask('POST', '/Groups', { displayName: 'x', members: [{ value: 'nobody' }] }),
    400,
    'invalidValue',
  );
  const administrators = await directory.ask('POST', '/Groups', {
    displayName: 'sealwright-administrators',
    members: [{ value: u1 }],
  });
  t.deepEqual(await roles(), { u1: 'administrator', u2: 'sender', u3: 'none' });

  // Additions and removals in the forms of two services.
  t.is(
    (
      await directory.patch(senders, {
        op: 'Add',
        path: 'members',
        value: [{ value: u3, type: 'User' }, { value: u2 }],
      })
    ).status,
    204,
  );
  t.is((await directory.patch(senders, { op: 'remove', path: `members[value eq "${u2}"]` })).status, 204);
  t.is(
    (await directory.patch(senders, { op: 'remove', path: `members[value eq "${u2}"]` })).status,
    204,
    'again',
  );
  t.is((await directory.patch(senders, { op: 'add', value: { members: null } })).status, 204, 'adds nothing');
  t.deepEqual(await roles(), { u1: 'administrator', u2: 'none', u3: 'sender' });
  const many = Array.from({ length: 501 }, (_, n) => [`members[value eq "${n}"].display`, 'x']);
  refused(
    t,
    await directory.patch(senders, { op: 'replace', value: Object.fromEntries(many) }),
    400,
    'tooMany',
  );
  // Ids are accepted in any case, so they are removed in any.
  t.is(
    (await directory.patch(senders, { op: 'Remove', path: 'members', value: [{ value: u3.toUpperCase() }] }))
      .status,
    204,
  );
  t.is(
    (
      await directory.patch(senders, {
        op: 'replace',
        value: { id: made.body.id, displayName: 'SEALWRIGHT-senders' },
      })
    ).status,
    204,
  );
  t.deepEqual((await directory.ask('GET', senders)).body.members, [{ value: u1 }]);
  const without = await directory.ask('GET', `${senders}?excludedAttributes=members`);
  t.false('members' in without.body);
  const filtered = await directory.find(
    `displayName eq "sealwright-senders" and members eq "${u1}"`,
    '/Groups',
  );
  t.is(filtered.body.totalResults, 1);
  t.is((await directory.find(`members[value eq "${u3}"]`, '/Groups')).body.totalResults, 0);

  // A rename takes the role away, a removal of the group as well.
  await directory.patch(`/Groups/${administrators.body.id}`, {
    op: 'replace',
    path: 'displayName',
    value: 'Admins',
  });
  t.deepEqual(await roles(), { u1: 'sender', u2: 'none', u3: 'none' });
  t.is((await directory.patch(senders, { op: 'replace', path: 'members', value: [] })).status, 204);
  t.deepEqual(await roles(), { u1: 'none', u2: 'none', u3: 'none' });
  await directory.patch(senders, { op: 'add', path: 'members', value: [{ value: u2 }, { value: u3 }] });
  t.is((await directory.ask('DELETE', `/Users/${u2}`)).status, 204);
  t.deepEqual(
    (await directory.ask('GET', senders)).body.members,
    [{ value: u3 }],
    'who is gone is no member',
  );
  t.is((await directory.ask('DELETE', senders)).status, 204);
  t.deepEqual(await roles(), { u1: 'none', u3: 'none' });
  refused(t, await directory.ask('GET', senders), 404);
});

test('changes at the same time are all kept', async (t) => {
  const directory = await t.context.directoryOf(await t.context.organization('Together'));
  const people = await Promise.all(
    Array.from({ length: 4 }, (_, n) =>
      directory.create(`t${n}`, { emails: [{ value: `t${n}@together.example` }] }),
    ),
  );
  const { body } = await directory.ask('POST', '/Groups', { displayName: 'Team' });
  const answers = await Promise.all(
    people.map(({ id }) =>
      directory.patch(`/Groups/${body.id}`, { op: 'add', path: 'members', value: [{ value: id }] }),
    ),
  );
  t.deepEqual(new Set(answers.map(({ status }) => status)), new Set([204]));
  t.is((await directory.ask('GET', `/Groups/${body.id}`)).body.members?.length, 4);
});

test('sessions show device and place, end one by one or all at once, and the log of them stays', async (t) => {
  const program = t.context;
  const email = 'sessions@example.org';
  const id = await register(program, email, SENDER, 'Sessa');
  const first = await signedIn(program, email, { 'User-Agent': 'Phone/1.0' });
  const second = await signedIn(program, email, { 'User-Agent': 'Desk <2>' });
  const shown = await second.page('/account');
  t.true(shown.includes('Phone/1.0') && shown.includes('Desk &lt;2') && shown.includes('127.0.0.1'));
  const ids = [...shown.matchAll(/name="session" value="([0-9a-f]{16})"/g)].map(([, one = '']) => one);
  t.is(ids.length, 2);
  await register(program, 'boss@example.org', ADMINISTRATOR, 'Boss');
  const administrator = await signedIn(program, 'boss@example.org');
  const path = `/organization/users/${id}`;
  t.true((await administrator.page(path)).includes('Phone/1.0'));
  t.is((await second.fetch(path)).status, 403, 'for administrators only');

  // The newest is first: the other one is ended by its user.
  const ended = await second.submit('/account/sessions', { session: ids[1] ?? '' });
  t.is(ended.headers.get('location'), '/account?done=sessionsEnded');
  t.is((await first.fetch('/account')).headers.get('location'), '/sign-in');
  t.is((await second.fetch('/account')).status, 200);
  const third = await signedIn(program, email);
  await administrator.submit(`${path}/sessions`, { session: '' });
  for (const browser of [second, third])
    t.is((await browser.fetch('/account')).headers.get('location'), '/sign-in');
  t.true((await administrator.page(path)).includes('There is no open session'));

  // A script of the pages lists and ends its own sessions; programs and administrators those of others.
  interface Sessions {
    readonly items: readonly { id: string; current: boolean; lastUsedAt: string; userAgent: string }[];
  }
  const fourth = new Caller(await signedIn(program, email, { 'User-Agent': 'Tablet/1.0' }));
  const own = (await fourth.call('GET', '/api/sessions')).answer as Sessions;
  t.like(own.items, [{ current: true, userAgent: 'Tablet/1.0' }]);
  t.regex(own.items[0]?.lastUsedAt ?? '', /Z$/);
  const boss = new Caller(administrator);
  const { userId: bossId = '' } = {
    userId: (
      (await boss.call('GET', '/api/organizations/users?q=Boss')).answer as { items: { id: string }[] }
    ).items[0]?.id,
  };
  t.is((await fourth.call('GET', `/api/sessions?userId=${bossId}`)).status, 403);
  t.is((await fourth.call('DELETE', `/api/sessions?userId=${bossId}`)).status, 403);
  t.deepEqual(
    ((await boss.call('GET', `/api/sessions?userId=${id}`)).answer as Sessions).items.map(
      ({ current }) => current,
    ),
    [false],
  );
  t.is((await program.acme.fetch('/api/sessions')).status, 400, 'a key has no sessions');
  await register(program, email, ADMINISTRATOR, 'Sessa');
  t.is((await fourth.call('GET', '/api/sessions')).status, 401, 'the role has changed');
  const fifth = new Caller(await signedIn(program, email));
  await fifth.call('GET', '/api/sessions');
  await program.acme.send(`/api/organizations/users/${id}`, undefined, 'DELETE');
  interface Log {
    readonly items: readonly {
      action: string;
      userId: string;
      sessionId: string | null;
      userAgent: string | null;
      hash: string | null;
      message: string;
    }[];
    readonly next: number | null;
  }
  const log: Log['items'][number][] = [];
  for (let after: number | null = 0; after !== null; ) {
    const page: Log = await program.acme.get(`/api/organizations/sign-ins?limit=2&after=${after}`);
    log.push(...page.items.filter(({ userId }) => userId === id));
    after = page.next;
  }
  t.deepEqual(
    log.map(({ action }) => action),
    [
      'SignedIn',
      'SignedIn',
      'SessionsEnded',
      'SignedIn',
      'SessionsEnded',
      'SignedIn',
      'SessionsEnded',
      'SignedIn',
      'SessionsEnded',
    ],
  );
  t.regex(log[6]?.message ?? '', /By application /, 'the change of the role');
  t.regex(log[8]?.message ?? '', /By application /, 'the removal');
  const csv = await (await program.acme.fetch('/api/organizations/sign-ins/export')).text();
  const lines = csv.split('\r\n').filter((line) => line.includes(id));
  t.is(lines.length, log.length);
  t.true(lines[0]?.includes('"SignedIn"') && lines[0].includes('Phone/1.0'));
  t.like(log[0], { userAgent: 'Phone/1.0', sessionId: ids[1] });
  t.is(log[4]?.sessionId, null);
  t.true(log.every(({ hash }) => hash !== null));
  t.regex(log[4]?.message ?? '', /By user [0-9a-f-]{36}/, 'who ended them');
});
