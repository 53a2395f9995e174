/**
 * Deputies of people, over HTTP, and those who attack them. With a clock set forward, so on LMDB alone.
 *
 * Source: docs/decisions/0580-deputies.md.
 */
import { randomUUID } from 'node:crypto';
import anyTest, { type TestFn } from 'ava';
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
async function send({ client }: ClockedPortal, path: string, body: object): Promise<Response> {
  networks += 1;
  return fetch(`${client.url}/api/waiting/${path}`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      'X-Forwarded-For': `198.53.${networks >> 8}.${networks & 255}`,
    },
    body: JSON.stringify(body),
  });
}
async function call(portal: ClockedPortal, path: string, body: object) {
  const text = await (await send(portal, path, body)).text();
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
  readonly documentId: string;
  readonly flowActionId: string;
  readonly userId: string;
  readonly documentVersion: number;
  readonly actionDate: string;
}

async function offered(portal: ClockedPortal, ticket: string, { email }: Person): Promise<readonly Item[]> {
  return (await call(portal, 'deputies/documents', { ticket, person: email }))['items'] as Item[];
}

const act = async (portal: ClockedPortal, ticket: string, item: Item) => {
  const { documentId, flowActionId, userId, documentVersion, actionDate } = item;
  const body = { ticket, documentId, flowActionId, userId, documentVersion, actionDate };
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
  for (const one of [ana, bo]) await name(portal, await enter(portal, one), lou);
  const deputy = await enter(portal, lou, false);
  const first = await itemOf(client, id);
  const second = await itemOf(client, id, 1);
  const answers = await Promise.all([first, second].map((item) => act(portal, deputy, item)));
  t.is(answers.filter((one) => one === undefined).length, 1, answers.join());
  const left = await itemOf(client, id, answers[0] === undefined ? 1 : 0);
  t.is(await act(portal, deputy, left), 'InvalidFlowAction');
  // Nor does the other one hand on to the deputy.
  const [from] = answers[0] === undefined ? [bo] : [ana];
  const { key, ticket: link } = await ticketOf(client, id, from.email);
  const passed = await client.send(`/api/documents/keys/${key}/passing-on`, {
    ticket: link,
    ...lou,
    reason: 'x',
    emailCode: '000000',
  });
  t.is((await passed.json()).code, 'InvalidFlowAction');
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
  const done = await deputy.post('sign', { of, person: ana.email });
  t.is(done.status, 200);
  t.regex(await done.text(), /It is signed or approved/);
  t.is((await deputy.post('over', { of: id, person: ana.email })).status, 302);
  t.notRegex(await mine.show(''), new RegExp(lou.email));
  t.is((await deputy.post('sign', { of, person: ana.email })).status, 422);
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
  t.is(await code(name(portal, ticket, bo())), 'LimitExceeded');
  const victim = newPerson('Victim');
  for (const most of [5, 5, 0]) {
    const eve = await enter(portal, newPerson('Eve'));
    for (let count = 0; count < most; count += 1) t.is(await code(name(portal, eve, victim)), undefined);
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
        })
      )['code'],
      'InvalidTicket',
      path,
    );
});
