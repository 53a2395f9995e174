/**
 * Deputies of people, over HTTP, and those who attack them. With a clock set forward, so on LMDB alone.
 *
 * Source: docs/decisions/0580-deputies.md.
 */
import { randomUUID } from 'node:crypto';
import anyTest, { type TestFn } from 'ava';
import { ORGANIZATION } from '../../../../actors/portal/accounts/organizations.ts';
import { MAILBOX, mailboxId } from '../../../../actors/portal/shared/mailbox-records.ts';
import { countUse } from '../../../../actors/portal/shared/use-limits.ts';
import { MAX_DEPUTYSHIPS } from '../../../../contracts/portal/signing/deputies.ts';
import { siteNetwork } from '../../../../http/core/access/addresses.ts';
import { signer } from '../../../actors/portal/documents/flow-harness.ts';
import { type Client, until } from '../../../actors/portal/service.ts';
import { endedAfter } from '../../../project/ended-after.ts';
import { type ClockedPortal, clientOf, clockedPortal, DAY, typesOf } from '../requests/clocked-portal.ts';
import { ticketOf } from '../signing/certificate-client.ts';

const test = anyTest as TestFn<ClockedPortal>;
const shared = endedAfter(test);
test.before(async (t) => {
  t.context = await clockedPortal(shared, { trustsProxy: true });
});

const MAY = { allowElectronicSignature: true, allowPassingOn: true };

let people = 0;
const newPerson = (name: string) => {
  people += 1;
  return { name: `${name} Lima`, email: `${name.toLowerCase()}${people}@example.org` };
};
type Person = ReturnType<typeof newPerson>;

let networks = 0;
/** Another network. */
function newNetwork(): string {
  networks += 1;
  return `198.${networks >> 8}.${networks & 255}.7`;
}

async function send(
  { client }: ClockedPortal,
  path: string,
  body: object,
  network = newNetwork(),
): Promise<Response> {
  return fetch(`${client.url}/api/waiting/${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-Forwarded-For': network },
    body: JSON.stringify(body),
  });
}
async function call(portal: ClockedPortal, path: string, body: object, network?: string) {
  const text = await (await send(portal, path, body, network)).text();
  return (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>;
}

const sent = ({ fixture }: ClockedPortal, email: string) =>
  fixture.mails
    .filter(({ to }) => to.address === email)
    .flatMap((mail) => /\n {4}(\d{10})\n/.exec(mail.text)?.[1] ?? []);

/** Ticket of a session of the mailbox. @param waits true: a document is made that waits for it */
async function enter(portal: ClockedPortal, { email, name }: Person, waits = true): Promise<string> {
  if (waits) await portal.client.create([{ user: { email, name } }]);
  const before = sent(portal, email).length;
  await call(portal, 'code', { email, resend: true });
  const code = await until(async () => {
    const codes = sent(portal, email);
    return codes.length > before ? codes.at(-1) : undefined;
  });
  return String((await call(portal, 'session', { email, code }))['ticket']);
}

const iso = (at: number) => new Date(at).toISOString();
let forwarded = 0;
const now = () => Date.now() + forwarded;

function forward(portal: ClockedPortal, by: number): void {
  forwarded += by;
  portal.forward(by);
}

/** Answer of naming. @param from days from now */
const name = (portal: ClockedPortal, ticket: string, deputy: Person, [from, to] = [0, 10]) =>
  call(portal, 'deputies', {
    ticket,
    ...deputy,
    reason: 'On leave.',
    startDate: iso(now() + from * DAY),
    endDate: iso(now() + to * DAY),
  });

interface Item {
  readonly deputyName?: string;
  readonly documentId: string;
  readonly flowActionId: string;
  readonly userId: string;
  readonly documentVersion: number;
  readonly actionDate: string;
}

async function offered(portal: ClockedPortal, ticket: string, { email }: Person): Promise<readonly Item[]> {
  return (await call(portal, 'deputies/documents', { ticket, person: email }))['items'] as Item[];
}

/** @param item of the list, or with the name that the deputy was shown */
const act = async (portal: ClockedPortal, ticket: string, item: Item) => {
  const { documentId, flowActionId, userId, documentVersion, actionDate, deputyName = 'Lou Lima' } = item;
  const body = { ticket, documentId, flowActionId, userId, documentVersion, actionDate, deputyName };
  return (await call(portal, 'deputies/act', body))['code'];
};

const read = (portal: ClockedPortal, ticket: string, { documentId, flowActionId, userId }: Item) =>
  send(portal, 'deputies/content', { ticket, documentId, flowActionId, userId });

const mailsTo = ({ fixture }: ClockedPortal, email: string) =>
  fixture.mails.filter(({ to }) => to.address === email).map(({ subject }) => subject);

interface Shown {
  readonly version: number;
  readonly key: string;
  readonly status: string;
  readonly flowActions: readonly {
    readonly id: string;
    readonly updateDate: string;
    readonly status: string;
    readonly user: { readonly id: string; readonly email: string };
    readonly deputy?: object;
  }[];
}

/** The action as whoever knows all of it names it. */
async function itemOf(client: Client, documentId: string, at = 0): Promise<Item> {
  const { flowActions } = await client.get<Shown>(`/api/documents/${documentId}`);
  const found = flowActions[at];
  return {
    documentId,
    flowActionId: found?.id ?? '',
    userId: found?.user.id ?? '',
    documentVersion: 1,
    actionDate: found?.updateDate ?? '',
  };
}

const untilStatus = (client: Client, id: string, status: string) =>
  until(async () => {
    const found = await client.get<Shown>(`/api/documents/${id}`);
    return found.status === status ? found : undefined;
  });

test.serial('a deputy reads and signs in the own name, and all records say for whom', async (t) => {
  const portal = t.context;
  const { client } = portal;
  const ana = newPerson('Ana');
  const lou = newPerson('Lou');
  const place = { topLeftX: 10, topLeftY: 10, width: 180, height: 60, pageNumber: 1 };
  const mark = { type: 'SignatureVisualRepresentation', ...place };
  const signed = await client.create([{ user: ana, ...MAY, title: 'Tenant', marks: [mark] }]);
  const approved = await client.create([{ type: 'Approver', user: ana, ...MAY }]);
  const ticket = await enter(portal, ana);
  t.is((await name(portal, ticket, { ...lou, email: lou.email.toUpperCase() }))['email'], lou.email);
  await until(async () => mailsTo(portal, lou.email).find((one) => one.includes('named you')));
  t.true(mailsTo(portal, ana.email).some((one) => one.includes('You have named')));
  // The mail tells where: nothing else waits for the deputy, who gets a code all the same.
  const deputy = await enter(portal, lou, false);
  const view = await call(portal, 'deputies/view', { ticket: deputy });
  t.like(view, { deputies: { length: 0 }, people: { length: 1, 0: { person: ana.email } } });
  const own = await call(portal, 'deputies/view', { ticket });
  t.like(own, { deputies: { length: 1, 0: { email: lou.email } }, people: { length: 0 } });
  const items = await offered(portal, deputy, ana);
  t.deepEqual(
    items.map(({ documentId }) => documentId),
    [signed, approved],
  );
  t.deepEqual(await client.get(`/api/documents/${signed}/deputies`), [
    {
      flowActionId: items[0]?.flowActionId,
      userId: items[0]?.userId,
      ...lou,
      startDate: (own['deputies'] as { startDate: string }[])[0]?.startDate,
      endDate: (own['deputies'] as { endDate: string }[])[0]?.endDate,
    },
  ]);
  const file = await read(portal, deputy, items[0] as Item);
  t.is((await file.text()).slice(0, 5), '%PDF-');
  for (const item of items) {
    t.is(await act(portal, deputy, item), undefined);
    t.is(await act(portal, deputy, item), undefined, 'sent twice, it is done once');
  }
  const concluded = await untilStatus(client, signed, 'Concluded');
  t.like(concluded.flowActions[0], {
    status: 'Completed',
    user: { email: ana.email },
    deputy: { name: lou.name, email: lou.email, reason: 'On leave.' },
  });
  t.is((await typesOf(portal, signed)).filter((type) => type === 'Signed').length, 1);
  const record = await client.get<{ signers: { subjectName: string; evidences: Record<string, unknown> }[] }>(
    `/api/documents/${signed}/signatures-details`,
  );
  const { subjectName, evidences } = record.signers[0] ?? { subjectName: '', evidences: {} };
  t.is(subjectName, lou.name);
  await until(async () => mailsTo(portal, lou.email).find((one) => one.startsWith('Completed')));
  t.like(evidences, { authenticatedEmail: lou.email, deputyOf: { ...ana, reason: 'On leave.' } });
  const sealed = JSON.parse(Buffer.from(String(evidences['file']), 'base64').toString());
  t.like(sealed, { participant: lou, deputyOf: ana }, 'the signed evidence names both');
  const { items: lines } = await client.get<{ items: { message: string }[] }>(
    `/api/documents/${signed}/history?limit=100`,
  );
  const messages = lines.map(({ message }) => message);
  t.true(messages.includes(`${lou.name} signed as deputy of ${ana.name}: On leave.`), messages.join('\n'));
  t.true(messages.includes(`${lou.name} opened the document.`));
  await untilStatus(client, approved, 'Concluded');
  await until(async () =>
    mailsTo(portal, ana.email).filter((one) => one.startsWith('A deputy has acted')).length === 2
      ? true
      : undefined,
  );
  const content = await client.fetch(`/api/documents/${signed}/content?type=SignaturesManifest`, {});
  t.is(content.status, 200);
  const { key } = concluded;
  const check = await (await fetch(`${client.url}/check/${key}`)).text();
  t.true(check.includes(lou.name), 'the check page shows who has signed');
});

test.serial('pages say who has acted, and the act of a deputy is not one of the person', async (t) => {
  const portal = t.context;
  const { client } = portal;
  const ana = newPerson('Ana');
  const bo = newPerson('Bo');
  const lou = newPerson('Lou');
  const id = await client.create([
    { user: ana, ...MAY },
    { user: bo, ...MAY },
  ]);
  const { key, ticket: link } = await ticketOf(client, id, ana.email);
  const other = await ticketOf(client, id, bo.email);
  const ticket = await enter(portal, ana, false);
  await name(portal, ticket, lou);
  const { items } = await call(portal, 'documents', { ticket });
  const [listed] = items as Item[];
  const deputy = await enter(portal, lou, false);
  const [item] = await offered(portal, deputy, ana);
  t.is(await act(portal, deputy, item as Item), undefined);
  await until(async () => {
    const { flowActions } = await client.get<Shown>(`/api/documents/${id}`);
    return flowActions.some(({ status }) => status === 'Completed') ? true : undefined;
  });
  const page = async (of: string) =>
    (await fetch(`${client.url}/document/key/${key}/sign?ticket=${of}`)).text();
  const own = await page(link);
  t.regex(own, /<h1>.?Lou Lima.? has acted in your place\.<\/h1>/);
  t.notRegex(own, /You signed it/);
  for (const shown of [own, await page(other.ticket)]) t.regex(shown, /Lou Lima.?, deputy of .?Ana Lima/);
  const { portal: services, tenant } = portal.fixture;
  const query = { newestFirst: true, position: 'start', limit: 10 } as const;
  const overview = await services.senderOverview.list(tenant, 'sender@example.org', query);
  const { people = [] } = overview.items.find((one) => one.id === id) ?? {};
  const shownPeople = people.map((one) => [one.name, one.deputy]);
  t.deepEqual(shownPeople, [
    [ana.name, lou.name],
    [bo.name, null],
  ]);
  const { documentId, flowActionId, userId, documentVersion, actionDate } = listed as Item;
  const documents = [{ documentId, flowActionId, userId, documentVersion, actionDate }];
  const { results } = await call(portal, 'signatures', { ticket, typedName: ana.name, documents });
  t.like(results, { length: 1, 0: { isDone: false } });
});

test.serial('the deputy is shown the name of the act, and acts under no other', async (t) => {
  const portal = t.context;
  const { client } = portal;
  const ana = newPerson('Ana');
  const lou = newPerson('Lou');
  const item = await itemOf(client, await client.create([{ user: ana, ...MAY }]));
  const ticket = await enter(portal, ana, false);
  const wrong = { ...lou, name: 'Bo Silva' };
  await name(portal, ticket, wrong);
  const deputy = await enter(portal, lou, false);
  const shownTo = async () => (await offered(portal, deputy, ana))[0]?.deputyName;
  t.is(await shownTo(), wrong.name);
  t.like(await call(portal, 'deputies/view', { ticket: deputy }), { people: { 0: { name: wrong.name } } });
  t.is(await act(portal, deputy, { ...item, deputyName: lou.name }), 'InvalidFlowAction');
  await name(portal, ticket, lou);
  t.is(await shownTo(), lou.name);
  t.is(await act(portal, deputy, { ...item, deputyName: wrong.name }), 'InvalidFlowAction');
  t.is(await act(portal, deputy, { ...item, deputyName: lou.name }), undefined);
});

test.serial('a deputy who is named again is one deputy, and ends whole', async (t) => {
  const portal = t.context;
  const ana = newPerson('Ana');
  const lou = newPerson('Lou');
  const ticket = await enter(portal, ana);
  const body = { ticket, ...lou, reason: 'x', endDate: iso(now() + DAY), language: 'de' };
  const first = await call(portal, 'deputies', body);
  const told = () => mailsTo(portal, lou.email).filter((one) => one.includes('als Vertretung benannt'));
  await until(async () => (told().length === 1 ? true : undefined));
  t.deepEqual(await call(portal, 'deputies', body), first, 'sent twice, it is named once');
  const later = { ...body, email: lou.email.replace('@', '+2@'), endDate: iso(now() + 2 * DAY) };
  t.is((await call(portal, 'deputies', later))['id'], first['id'], 'of the same mailbox, it is replaced');
  const own = await call(portal, 'deputies/view', { ticket });
  t.like(own, { deputies: { length: 1, 0: { email: later.email } } });
  await until(async () => mailsTo(portal, later.email)[0]);
  t.is(told().length, 1);
  t.true(mailsTo(portal, ana.email).some((one) => one === 'Sie haben eine Vertretung benannt'));
  await call(portal, 'deputies/end', { ticket, id: first['id'] });
  t.like(await call(portal, 'deputies/view', { ticket }), { deputies: { length: 0 } });
});

test.serial('the sender is no deputy, also after leaving; who needs a certificate has none', async (t) => {
  const portal = t.context;
  const { fixture } = portal;
  const { organization } = fixture.tenant;
  const admin = clientOf(portal, 'Admin');
  const ana = { ...newPerson('Ana'), language: 'de' as const };
  const sam = newPerson('Sam');
  const lou = newPerson('Lou');
  const users = `/api/organizations/${organization.id}/users`;
  const accessProfile = { administrator: false, manager: false, operator: true };
  const user = await admin.post<{ id: string }>(users, { ...sam, accessProfile });
  const tenant = { ...fixture.tenant, user: { id: user.id, name: sam.name } };
  const flowActions = [signer('Ana', 0, { user: ana, allowPassingOn: true })];
  const made = async () => {
    const files = [await fixture.file()];
    const [one] = await fixture.portal.documents.create(tenant, { files, flowActions });
    return itemOf(portal.client, one?.documentId ?? '');
  };
  const item = await made();
  const later = await made();
  const ticket = await enter(portal, ana, false);
  for (const one of [sam, lou]) await name(portal, ticket, one);
  const sender = await enter(portal, sam, false);
  t.is(await act(portal, sender, { ...item, deputyName: sam.name }), 'InvalidFlowAction');
  t.deepEqual(await offered(portal, sender, ana), []);
  const deputy = await enter(portal, lou, false);
  const configure = (requiredQualification: 'QESig' | null) =>
    fixture.runtime.send(ORGANIZATION, organization.id, {
      type: 'CONFIGURE',
      settings: { requiredQualification },
    });
  await configure('QESig');
  t.is(await act(portal, deputy, item), 'InvalidFlowAction', 'it needs a certificate');
  await configure(null);
  t.is(await act(portal, deputy, item), undefined);
  const acted = (email: string, subject: string) =>
    until(async () => mailsTo(portal, email).find((one) => one.startsWith(subject)));
  await acted(ana.email, 'Eine Vertretung hat gehandelt');
  await acted(sam.email, 'A deputy has acted');
  const left = await admin.fetch(`/api/admin/organizations/${organization.id}/users/${user.id}`, {
    method: 'DELETE',
  });
  t.true(left.ok, await left.text());
  t.is(await act(portal, sender, { ...later, deputyName: sam.name }), 'InvalidFlowAction');
  t.is(await act(portal, deputy, later), 'InvalidFlowAction', 'nobody knows who has sent it');
});

test.serial('nothing before the start or after the end, nor of a deputy that was ended', async (t) => {
  const portal = t.context;
  const { client } = portal;
  const ana = newPerson('Ana');
  const lou = newPerson('Lou');
  const bo = newPerson('Bo');
  const item = await itemOf(client, await client.create([{ user: ana, ...MAY }]));
  const ticket = await enter(portal, ana);
  await name(portal, ticket, lou, [1, 2]);
  const { id: ended } = await name(portal, ticket, bo);
  const nothing = async (session: string, when: string) => {
    t.deepEqual(await offered(portal, session, ana), [], when);
    t.is(await act(portal, session, item), 'DocumentNotFound', when);
    t.is((await (await read(portal, session, item)).json()).code, 'DocumentNotFound', when);
  };
  const early = await enter(portal, lou, false);
  await nothing(early, 'early');
  const other = await enter(portal, bo, false);
  t.is((await offered(portal, other, ana)).length, 1);
  // The page is open when the deputy is ended; a stranger does not end it, nor does another deputy.
  await call(portal, 'deputies/end', { ticket: early, id: ended });
  await call(portal, 'deputies/end', { ticket: early, id: ended, person: ana.email });
  t.is((await offered(portal, other, ana)).length, 1);
  await call(portal, 'deputies/end', { ticket, id: ended });
  await nothing(other, 'ended');
  forward(portal, DAY);
  const inTime = await enter(portal, lou, false);
  t.is((await offered(portal, inTime, ana)).length, 1);
  forward(portal, DAY - 20 * 60_000);
  const late = await enter(portal, lou, false);
  t.is((await offered(portal, late, ana)).length, 1);
  forward(portal, 20 * 60_000);
  await nothing(late, 'late');
  // A deputy gives up.
  const again = await enter(portal, ana);
  const { id } = await name(portal, again, lou);
  t.is((await offered(portal, late, ana)).length, 1);
  await call(portal, 'deputies/end', { ticket: late, id, person: ana.email });
  await nothing(late, 'given up');
});

test.serial('times in any zone are moments', async (t) => {
  const portal = t.context;
  const ana = newPerson('Ana');
  const lou = newPerson('Lou');
  const ticket = await enter(portal, ana);
  const day = iso(now() + 3 * DAY).slice(0, 10);
  const times = { startDate: `${day}T01:30:00+09:00`, endDate: `${day}T22:00:00-08:00` };
  const made = await call(portal, 'deputies', { ticket, ...lou, reason: 'x', ...times });
  const at = (text: unknown) => Date.parse(String(text));
  t.is(at(made['startDate']), Date.parse(times.startDate));
  t.is(at(made['endDate']) - at(made['startDate']), (20.5 + 17) * 3_600_000);
});

test.serial('what needs the person, what is not allowed, chains and later signers are refused', async (t) => {
  const portal = t.context;
  const { client } = portal;
  const ana = newPerson('Ana');
  const lou = newPerson('Lou');
  const bo = newPerson('Bo');
  const place = { topLeftX: 10, topLeftY: 10, width: 80, height: 20 };
  const many = [{ user: ana, ...MAY, step: 1 }];
  const refused = [
    await client.create([{ user: ana, allowElectronicSignature: true }]),
    await client.create([{ user: ana, allowPassingOn: true }]),
    await client.create([{ user: ana, ...MAY, requireAuthenticatorAppToSignElectronically: true }]),
    await client.create([{ user: ana, ...MAY, fields: [{ name: 'city', ...place }] }]),
    await client.create([{ user: ana, ...MAY }], { requireReading: true }),
    await client.create([...many, { user: lou, step: 2, ...MAY }]),
    await client.create([
      ...many,
      { user: { ...lou, email: lou.email.replace('@', '+2@') }, step: 2, ...MAY },
    ]),
  ];
  const plain = await client.create([{ user: ana, ...MAY }]);
  const hidden = await client.create([{ user: ana, ...MAY }], { disableNotifications: true });
  const ticket = await enter(portal, ana);
  const deputy = await enter(portal, lou);
  await name(portal, ticket, lou);
  const listed = (await offered(portal, deputy, ana)).map(({ documentId }) => documentId);
  t.deepEqual(listed, [plain]);
  for (const [at, id] of refused.entries())
    t.is(await act(portal, deputy, await itemOf(client, id)), 'InvalidFlowAction', `${at}`);
  t.is(await act(portal, deputy, await itemOf(client, hidden)), 'DocumentNotFound');
  // A deputy's deputy does nothing, and a circle neither.
  await name(portal, deputy, bo);
  await name(portal, deputy, ana);
  const third = await enter(portal, bo, false);
  const item = await itemOf(client, plain);
  t.is(await act(portal, third, item), 'DocumentNotFound');
  t.deepEqual(await offered(portal, third, ana), []);
  t.is(await act(portal, ticket, item), 'DocumentNotFound', 'the person is no deputy of itself');
  // What has changed since it was listed is not signed.
  t.is(await act(portal, deputy, { ...item, documentVersion: 2 }), 'InvalidDocumentStatus');
  t.is(
    await act(portal, deputy, { ...item, actionDate: '2030-01-10T09:30:00.000Z' }),
    'InvalidDocumentStatus',
  );
  t.is(await act(portal, deputy, { ...item, userId: randomUUID() }), 'DocumentNotFound');
  t.is(await act(portal, deputy, item), undefined);
});

test.serial('a deputy of two people of a document acts for one', async (t) => {
  const portal = t.context;
  const { client } = portal;
  const ana = newPerson('Ana');
  const bo = newPerson('Bo');
  const lou = newPerson('Lou');
  const id = await client.create([
    { user: ana, ...MAY },
    { user: bo, ...MAY },
  ]);
  // The same mailbox by another spelling.
  const other = { ...lou, email: lou.email.replace('@', '+2@') };
  await name(portal, await enter(portal, ana), lou);
  await name(portal, await enter(portal, bo), other);
  const deputy = await enter(portal, lou, false);
  const first = await itemOf(client, id);
  const second = await itemOf(client, id, 1);
  const sessions = [deputy, await enter(portal, other, false)];
  const answers = await Promise.all(
    [first, second].map((item, at) => act(portal, sessions[at] as string, item)),
  );
  t.is(answers.filter((one) => one === undefined).length, 1, answers.join());
  const at = answers[0] === undefined ? 1 : 0;
  const left = await itemOf(client, id, at);
  t.is(await act(portal, sessions[at] as string, left), 'InvalidFlowAction');
  // Nor does the other one hand on to the deputy.
  const [from] = answers[0] === undefined ? [bo] : [ana];
  const { key, ticket: link } = await ticketOf(client, id, from.email);
  for (const tag of ['', '+3']) {
    const passed = await client.send(`/api/documents/keys/${key}/passing-on`, {
      ticket: link,
      name: lou.name,
      email: lou.email.replace('@', `${tag}@`),
      reason: 'x',
      emailCode: '000000',
    });
    t.is((await passed.json()).code, 'InvalidFlowAction', tag);
  }
});

test.serial('an organization that takes no deputies has none; its neighbour has', async (t) => {
  const portal = t.context;
  const { client } = portal;
  const ana = newPerson('Ana');
  const lou = newPerson('Lou');
  const mine = client;
  const others = clientOf(portal, 'Other');
  const one = await mine.create([{ user: ana, ...MAY }]);
  const two = await others.create([{ user: ana, ...MAY }]);
  await name(portal, await enter(portal, ana), lou);
  const deputy = await enter(portal, lou, false);
  const admin = clientOf(portal, 'Admin');
  const list = await admin.get<{ items: { id: string; name: string }[] }>('/api/admin/organizations');
  const { id = '' } = list.items.find((found) => found.name === 'Other') ?? {};
  const change = { refuseDeputies: true };
  const changed = await admin.send(`/api/admin/organizations/${id}`, change, 'PATCH');
  t.is((await changed.json()).refuseDeputies, true);
  t.deepEqual(
    (await offered(portal, deputy, ana)).map(({ documentId }) => documentId),
    [one],
  );
  const item = await itemOf(others, two);
  t.is(await act(portal, deputy, item), 'InvalidFlowAction');
  t.deepEqual(await others.get(`/api/documents/${two}/deputies`), []);
  const strange = await mine.fetch(`/api/documents/${two}/deputies`, {});
  t.is((await strange.json()).code, 'DocumentNotFound');
  await admin.send(`/api/admin/organizations/${id}`, { refuseDeputies: false }, 'PATCH');
  t.is(await act(portal, deputy, item), undefined);
});

test.serial('the page names, lists, reads, signs and ends, and takes no forms of others', async (t) => {
  const portal = t.context;
  const { url } = portal.client;
  const ana = newPerson('Ana');
  const lou = newPerson('Lou');
  const item = await itemOf(portal.client, await portal.client.create([{ user: ana, ...MAY }]));
  const browser = (ticket: string) => {
    const headers = { Cookie: `sealwright-waiting=${ticket}`, Origin: url };
    const show = async (path: string) => (await fetch(`${url}/waiting/deputies${path}`, { headers })).text();
    const tokenOf = (html: string) => /name="token" value="([^"]+)"/.exec(html)?.[1] ?? '';
    const post = async (path: string, fields: Record<string, string>, more = {}) =>
      fetch(`${url}/waiting/deputies/${path}`, {
        method: 'POST',
        redirect: 'manual',
        headers: { ...headers, ...more },
        body: new URLSearchParams({ token: tokenOf(await show('')), ...fields }),
      });
    return { show, post };
  };
  const mine = browser(await enter(portal, ana));
  const given = { ...lou, reason: 'On leave.', until: iso(now() + DAY).slice(0, 10) };
  t.regex(await mine.show(''), /Until the end of this day \(UTC\)/);
  for (const [wrong, text] of [
    [{ email: ana.email }, 'Enter the e-mail address of another person.'],
    [{ name: 'See www.example.com' }, 'Enter the full name of the deputy, without an address.'],
  ] as const) {
    const refused = await mine.post('new', { ...given, ...wrong });
    t.is(refused.status, 422);
    t.true((await refused.text()).includes(text), text);
  }
  t.is((await mine.post('new', { ...given, until: '' })).status, 422, 'a time is needed');
  t.is((await mine.post('new', { ...given, token: 'forged' })).status, 403);
  t.is((await mine.post('new', given, { Origin: 'https://evil.test' })).status, 403);
  t.is((await mine.post('new', given)).status, 302);
  t.regex(await mine.show(''), new RegExp(lou.email));
  const deputy = browser(await enter(portal, lou, false));
  const page = await deputy.show(`?person=${encodeURIComponent(ana.email)}`);
  const { documentId, flowActionId, userId } = item;
  const turn = [documentId, flowActionId, userId].join('.');
  t.true(page.includes(turn), page);
  t.is((await deputy.show(`/file?of=${turn}`)).slice(0, 5), '%PDF-');
  t.notRegex(await browser('none').show(`/file?of=${turn}`), /%PDF/);
  const [, of = ''] = new RegExp(`name="of" value="(${turn}[^"]+)"`).exec(page) ?? [];
  const [, id = ''] = /name="of" value="([^"]{36})"/.exec(page) ?? [];
  t.regex(page, /Sign as .?Lou Lima.? for .?Ana Lima/);
  const acting = { of, person: ana.email, name: lou.name };
  t.is((await deputy.post('sign', { ...acting, name: 'Bo Silva' })).status, 422);
  const done = await deputy.post('sign', acting);
  t.is(done.status, 200);
  t.regex(await done.text(), /It is signed or approved/);
  t.is((await deputy.post('over', { of: id, person: ana.email })).status, 302);
  t.notRegex(await mine.show(''), new RegExp(lou.email));
  t.is((await deputy.post('sign', acting)).status, 422);
  // Whoever finds the page open later does not give the rights of the person away.
  forward(portal, 5 * 60_000);
  const late = await mine.post('new', given);
  t.is(late.status, 422);
  t.regex(await late.text(), /within five minutes of your code/);
});

test.serial('strangers get few mails, names no addresses, and times have bounds', async (t) => {
  const portal = t.context;
  const ana = newPerson('Ana');
  const ticket = await enter(portal, ana);
  const code = async (answer: ReturnType<typeof name>) => (await answer)['code'];
  const bo = () => newPerson('Bo');
  const odd = { name: 'See www.example.com', email: 'x@example.org' };
  t.is(await code(name(portal, ticket, odd)), 'InvalidFlowAction');
  for (const email of [ana.email.toUpperCase(), ana.email.replace('@', '+deputy@')])
    t.is(await code(name(portal, ticket, { ...ana, email })), 'InvalidFlowAction', email);
  t.is(await code(name(portal, ticket, bo(), [0, 401])), 'BadRequest');
  t.is(await code(name(portal, ticket, bo(), [2, 1])), 'BadRequest');
  t.is(await code(name(portal, ticket, bo(), [-3, -1])), 'BadRequest');
  for (let count = 0; count < 5; count += 1) t.is(await code(name(portal, ticket, bo())), undefined);
  const victim = newPerson('Victim');
  // Refused calls do not use up the limit of the one who is named.
  for (let count = 0; count < 10; count += 1) t.is(await code(name(portal, ticket, victim)), 'LimitExceeded');
  for (const most of [5, 5, 0]) {
    const eve = await enter(portal, newPerson('Eve'));
    for (let count = 1; count <= most; count += 1)
      t.is(await code(name(portal, eve, victim, [0, count])), undefined);
    if (most === 0) t.is(await code(name(portal, eve, victim)), 'TooManyRequests');
  }
  for (const path of ['view', 'documents', 'end', 'act', 'content'])
    t.is(
      (
        await call(portal, `deputies/${path}`, {
          ticket: 'forged',
          person: ana.email,
          id: randomUUID(),
          documentId: randomUUID(),
          flowActionId: randomUUID(),
          userId: randomUUID(),
          documentVersion: 1,
          actionDate: '2030-01-10T09:30:00.000Z',
          deputyName: 'Lou',
        })
      )['code'],
      'InvalidTicket',
      path,
    );
});

test.serial('who is a deputy alone names nobody, nor does a network name many', async (t) => {
  const portal = t.context;
  const bo = newPerson('Bo');
  const ticket = await enter(portal, newPerson('Ana'));
  await name(portal, ticket, bo);
  const deputy = await enter(portal, bo, false);
  t.is((await name(portal, deputy, newPerson('Eve')))['code'], 'Forbidden');
  const network = newNetwork();
  const before = { of: ['deputies-network', siteNetwork(network)], most: 100, period: DAY };
  for (let count = 0; count < 89; count += 1) await countUse(portal.fixture.runtime, before, 'many');
  const codes: unknown[] = [];
  for (const [most, eve] of [
    [10, newPerson('Eve')],
    [2, newPerson('Eve')],
  ] as const) {
    const own = await enter(portal, eve);
    const victim = newPerson('Victim');
    for (let count = 1; count <= most; count += 1) {
      const body = { ticket: own, ...victim, reason: 'x', endDate: iso(now() + count * DAY) };
      codes.push((await call(portal, 'deputies', body, network))['code']);
    }
  }
  t.deepEqual(codes, [...Array(11).fill(undefined), 'TooManyRequests']);
  // A session names within five minutes of its code.
  forward(portal, 5 * 60_000);
  t.is((await name(portal, ticket, newPerson('Lou')))['code'], 'InvalidAuthenticationCode');
});

test.serial('a hundred people have one deputy, who sees all; empty records are forgotten', async (t) => {
  const portal = t.context;
  const { runtime } = portal.fixture;
  const lou = newPerson('Lou');
  const count = MAX_DEPUTYSHIPS;
  const records = Array.from({ length: count + 1 }, (_, at) => `person-${at}@example.com`);
  const endOf = (at: number) => (at === 0 ? now() - 1 : now() + (count - at) * DAY);
  for (const [at, email] of records.entries()) {
    const deputy = { id: randomUUID(), ...lou, reason: 'x', from: now() - 2, until: endOf(at) };
    await runtime.create(MAILBOX, mailboxId(email), { email, deputies: [deputy] });
  }
  const people = async () => {
    const deputy = await enter(portal, lou, false);
    return (await call(portal, 'deputies/view', { ticket: deputy }))['people'] as { person: string }[];
  };
  // The last one ends now, and the first one is over.
  const shown = records.slice(1, -1).reverse();
  t.deepEqual(
    (await people()).map(({ person }) => person),
    shown,
  );
  const ticket = await enter(portal, newPerson('Ana'));
  t.is((await name(portal, ticket, lou))['code'], undefined);
  const another = await enter(portal, newPerson('Bo'));
  t.is((await name(portal, another, lou))['code'], 'LimitExceeded');
  const empty = mailboxId('empty@example.com');
  await runtime.create(MAILBOX, empty, { email: 'empty@example.com', deputies: [] });
  forward(portal, DAY);
  await until(async () => ((await runtime.read(MAILBOX, empty)) === undefined ? true : undefined));
  t.pass();
});
