/** Templates: versions, roles, values and files, over HTTP. */
import test from 'ava';
import { type Client, until } from '../../../actors/portal/service.ts';
import { type ClockedPortal, clientOf, clockedPortal, DAY } from './clocked-portal.ts';
import { at, pdf } from './tagged-files.ts';

const TEMPLATES = '/api/templates';
const PLACE = { topLeftX: 10, topLeftY: 10, width: 80, height: 20 };

interface Template {
  readonly id: string;
  readonly version: number;
  readonly name: string;
  readonly roles: readonly string[];
}

interface Detail {
  readonly name: string;
  readonly expirationDateWithoutTime: string | null;
  readonly template: object | null;
  readonly flowActions: readonly {
    readonly id: string;
    readonly step: number;
    readonly user: { readonly name: string };
    readonly fields?: readonly { readonly name: string; readonly presetValue: string | null }[];
  }[];
}

const person = (name: string) => ({ name, email: `${name.toLowerCase()}@example.org` });

async function lease(client: Client, more: object = {}) {
  const { id, name, contentType } = await client.upload();
  return {
    files: [{ id, displayName: 'Lease', name, contentType }],
    flowActions: [
      {
        title: 'Tenant',
        step: 1,
        allowElectronicSignature: true,
        fields: [
          { name: 'rent', type: 'Number', minimum: 100, readOnly: true, required: true, ...PLACE },
          { name: 'city', ...PLACE, topLeftY: 40 },
        ],
      },
      { type: 'Approver', step: 2, user: person('Bob') },
      { title: 'Landlord', step: 3, allowElectronicSignature: true },
    ],
    ...more,
  };
}

const PEOPLE = [
  { role: 'tenant', user: person('Ana') },
  { role: 'Landlord', user: person('Lou') },
];

async function use(client: Client, id: string, body: object, key?: string) {
  const answer = await client.send(
    `${TEMPLATES}/${id}/documents`,
    body,
    'POST',
    key === undefined ? {} : { 'idempotency-key': key },
  );
  return { status: answer.status, body: (await answer.json()) as { documentId: string }[] };
}

async function counterOf({ fixture }: ClockedPortal, upload: string): Promise<string> {
  const stored = await fixture.store.load({ kind: 'upload', id: upload });
  const { blob } = (stored?.context ?? {}) as { readonly blob?: { readonly sha256: string } };
  return `blob/${blob?.sha256}`;
}

test('people take the roles of a template, its fields get values, and the document names its version', async (t) => {
  const portal = await clockedPortal(t);
  const { client, fixture } = portal;
  const made = await client.post<Template>(TEMPLATES, {
    name: 'Lease',
    description: 'Flats',
    expirationDays: 30,
    document: await lease(client),
  });
  t.like(made, { version: 1, name: 'Lease', description: 'Flats', expirationDays: 30 });
  t.deepEqual(made.roles, ['Tenant', 'Landlord']);
  const request = { participants: PEOPLE, fieldValues: { rent: 950, city: 'Braga' }, documentName: 'Flat 3' };
  const first = await use(client, made.id, request, 'one');
  t.is(first.status, 200, JSON.stringify(first.body));
  t.deepEqual(await use(client, made.id, request, 'one'), first);
  t.like(await client.get('/api/documents'), { totalCount: 1 });
  const [created] = first.body;
  const detail = await client.get<Detail>(`/api/documents/${created?.documentId}`);
  t.like(detail, { name: 'Flat 3', template: { id: made.id, version: 1 } });
  t.regex(detail.expirationDateWithoutTime ?? '', /^\d{4}-\d\d-\d\d$/);
  t.deepEqual(
    detail.flowActions.map(({ step, user }) => [step, user.name]),
    [
      [1, 'Ana'],
      [2, 'Bob'],
      [3, 'Lou'],
    ],
  );
  t.deepEqual(
    detail.flowActions[0]?.fields?.map(({ name, presetValue }) => [name, presetValue]),
    [
      ['rent', '950'],
      ['city', 'Braga'],
    ],
  );
  // The participant changes one value, and cannot change the other.
  const path = `/api/documents/${created?.documentId}/electronic-signature`;
  const flowActionId = detail.flowActions[0]?.id;
  const refused = await client.send(path, { flowActionId, fieldValues: { rent: 1 } });
  t.like(await refused.json(), {
    code: 'InvalidFieldValue',
    details: { rent: 'The sender has filled in this field.' },
  });
  t.is((await client.send(path, { flowActionId, fieldValues: { city: 'Porto' } })).status, 200);
  const { flowActions } = await fixture.get((created?.documentId ?? '') as never);
  t.deepEqual(
    flowActions[0]?.fields?.map(({ value }) => value),
    ['950', 'Porto'],
  );
});

test('a field that only a tag in the text names takes the value of the sender, and is named when there is no such tag', async (t) => {
  const { client } = await clockedPortal(t);
  const file = pdf(`${at(40, 400, '{{number:tenant:rent}}')} ${at(40, 300, '{{text:tenant:city}}')}`);
  const { id, name, contentType } = await client.upload(file);
  const document = {
    files: [{ id, displayName: 'Lease', name, contentType }],
    flowActions: [
      { title: 'Tenant', allowElectronicSignature: true, fields: [{ name: 'city', maxLength: 20 }] },
    ],
    textTags: true,
  };
  const template = await client.post<Template>(TEMPLATES, { name: 'Tagged', document });
  const participants = PEOPLE.slice(0, 1);
  const made = await use(client, template.id, { participants, fieldValues: { rent: 950, city: 'Braga' } });
  t.is(made.status, 200, JSON.stringify(made.body));
  const { flowActions } = await client.get<Detail>(`/api/documents/${made.body[0]?.documentId}`);
  t.deepEqual(
    flowActions[0]?.fields?.map((field) => [field.name, field.presetValue]),
    [
      ['rent', '950'],
      ['city', 'Braga'],
    ],
  );
  for (const [fieldValues, named] of [
    [{ rent: 950, colour: 'red' }, 'colour'],
    [{ rent: 'much' }, 'rent'],
  ] as const) {
    const refused = await use(client, template.id, { participants, fieldValues });
    t.is(refused.status, 422, named);
    t.like(refused.body, { code: 'InvalidFieldValue' });
    t.deepEqual(Object.keys((refused.body as unknown as { details: object }).details), [named]);
  }
});

test('an unsuitable role or value refuses the request and is named', async (t) => {
  const { client } = await clockedPortal(t);
  const { id } = await client.post<Template>(TEMPLATES, { name: 'Lease', document: await lease(client) });
  const good = { participants: PEOPLE, fieldValues: { rent: 950 } };
  const cases = [
    [{ participants: PEOPLE.slice(1) }, 'InvalidFlowAction', 'Tenant'],
    [{ participants: [...PEOPLE, { role: 'Witness', user: person('Wim') }] }, 'InvalidFlowAction', 'Witness'],
    [{ fieldValues: {} }, 'InvalidFieldValue', 'rent'],
    [{ fieldValues: { rent: 'much' } }, 'InvalidFieldValue', 'rent'],
    [{ fieldValues: { rent: 99 } }, 'InvalidFieldValue', 'rent'],
    [{ fieldValues: { rent: 950, colour: 'red' } }, 'InvalidFieldValue', 'colour'],
  ] as const;
  for (const [more, code, named] of cases) {
    const { status, body } = await use(client, id, { ...good, ...more });
    t.is(status, 422, named);
    t.like(body, { code });
    t.deepEqual(Object.keys((body as unknown as { details: object }).details), [named]);
  }
  t.like((await use(client, id, { ...good, version: 7 })).body, { code: 'TemplateVersionNotFound' });
  t.like((await use(client, id, { ...good, folderId: id })).body, { code: 'FolderNotFound' });
  t.like(await client.get('/api/documents'), { totalCount: 0 });
  // What could never be a document is no template either.
  const bad = [
    [await lease(client, { flowActions: [{ type: 'Signer' }] }), 'InvalidFlowAction'],
    [await lease(client, { files: [] }), 'BadRequest'],
    [await lease(client, { timestampEnabled: true }), 'TimestampNotAvailable'],
    [
      await lease(client, {
        flowActions: [{ title: 'A', fields: [{ name: 'n', ...PLACE, pageNumber: 9 }] }],
      }),
      'InvalidFlowAction',
    ],
  ] as const;
  for (const [document, code] of bad)
    t.like(await (await client.send(TEMPLATES, { name: 'Bad', document })).json(), { code });
});

test('a change adds a version, earlier ones stay usable, and files are kept while a version uses them', async (t) => {
  const portal = await clockedPortal(t);
  const { client } = portal;
  const one = await lease(client);
  const two = await lease(client, { description: 'Second' });
  const upload = one.files[0]?.id ?? '';
  const { id } = await client.post<Template>(TEMPLATES, { name: 'Lease', document: one });
  t.is(await client.post(`${TEMPLATES}/${id}`, { name: 'Lease 2', document: two }, 'PUT'), undefined);
  t.like(await client.get(`${TEMPLATES}/${id}`), { version: 2, name: 'Lease 2', document: two });
  t.like(await client.get(`${TEMPLATES}/${id}?version=1`), { version: 1, name: 'Lease', document: one });
  const versions = await client.get<Template[]>(`${TEMPLATES}/${id}/versions`);
  t.deepEqual(
    versions.map(({ version, name }) => [version, name]),
    [
      [2, 'Lease 2'],
      [1, 'Lease'],
    ],
  );
  // Two uploads and two versions; the uploads go.
  const counter = await counterOf(portal, upload);
  t.is((await portal.fixture.store.counters(counter))[counter], 4);
  portal.forward(10 * DAY);
  const body = { participants: PEOPLE, fieldValues: { rent: 950 } };
  const made = await use(client, id, { ...body, version: 1 });
  t.is(made.status, 200, JSON.stringify(made.body));
  t.like(await client.get(`/api/documents/${made.body[0]?.documentId}`), {
    description: null,
    template: { id, version: 1 },
  });
  await client.fetch(`${TEMPLATES}/${id}`, { method: 'DELETE' });
  await client.fetch(`/api/documents/${made.body[0]?.documentId}`, { method: 'DELETE' });
  t.like(await (await client.fetch(`${TEMPLATES}/${id}`)).json(), { code: 'TemplateNotFound' });
  portal.forward(10 * DAY);
  await until(async () => {
    const left = (await portal.fixture.store.counters(counter))[counter] ?? 0;
    return left === 0 ? true : undefined;
  });
  t.pass('nothing refers to the file any more, so that a sweep removes it');
});

test('a template with expired uploads is changed with its files', async (t) => {
  const portal = await clockedPortal(t);
  const { client } = portal;
  const document = await lease(client);
  const { id } = await client.post<Template>(TEMPLATES, { name: 'Lease', document });
  await client.post(`${TEMPLATES}/${id}`, { name: 'Lease 2', document }, 'PUT');
  portal.forward(10 * DAY);
  const upload = { kind: 'upload', id: document.files[0]?.id ?? '' };
  await until(async () => ((await portal.fixture.store.load(upload)) === undefined ? true : undefined));
  const changed = await client.send(`${TEMPLATES}/${id}`, { name: 'Lease 3', document }, 'PUT');
  t.is(changed.status, 200, await changed.text());
  t.like(await client.get(`${TEMPLATES}/${id}`), { version: 3, name: 'Lease 3', document });
  const more = { ...document, description: 'Another template' };
  const other = await client.send(TEMPLATES, { name: 'Other', document: more });
  t.is(other.status, 200, 'the upload is there again');
});

test('templates are listed by name and role, page by page, for their organization only', async (t) => {
  const portal = await clockedPortal(t);
  const { client } = portal;
  const document = await lease(client);
  const ids: string[] = [];
  for (const name of ['Alpha', 'Beta', 'Gamma', 'Alphabet', 'Delta'])
    ids.push((await client.post<Template>(TEMPLATES, { name, document })).id);
  type List = { items: Template[]; totalCount: number; nextCursor: string | null };
  const namesOf = ({ items }: List) => items.map(({ name }) => name);
  t.deepEqual(namesOf(await client.get<List>(`${TEMPLATES}?Q=alpha`)), ['Alpha', 'Alphabet']);
  t.is((await client.get<List>(`${TEMPLATES}?Role=landl&Order=Desc&Limit=1`)).totalCount, 5);
  t.is((await client.get<List>(`${TEMPLATES}?Role=witness`)).totalCount, 0);
  for (const order of ['Asc', 'Desc']) {
    const seen: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: List = await client.get<List>(`${TEMPLATES}?Limit=2&Order=${order}&Cursor=${cursor}`);
      t.is(page.totalCount, 5);
      seen.push(...page.items.map(({ id }) => id));
      cursor = page.nextCursor;
    }
    t.deepEqual(seen, order === 'Asc' ? ids : ids.toReversed());
  }
  const other = clientOf(portal, 'Other');
  t.is((await other.get<List>(TEMPLATES)).totalCount, 0);
  t.like((await use(other, ids[0] ?? '', {})).body, { code: 'TemplateNotFound' });
  const stolen = await other.send(TEMPLATES, { name: 'Mine', document });
  t.like(await stolen.json(), { code: 'UploadNotFound' });
});
