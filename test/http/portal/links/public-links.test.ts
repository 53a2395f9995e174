/**
 * Links for anybody, over HTTP. The situations are those that users of comparable software have reported.
 *
 * Source: docs/decisions/0470-links-for-anybody.md.
 */
import { randomUUID } from 'node:crypto';
import anyTest, { type ExecutionContext, type TestFn } from 'ava';
import { type Client, until } from '../../../actors/portal/service.ts';
import { endedAfter } from '../../../project/ended-after.ts';
import { type ClockedPortal, clientOf, clockedPortal, DAY, mailed } from '../requests/clocked-portal.ts';

const test = anyTest as TestFn<ClockedPortal>;
const shared = endedAfter(test);
test.before(async (t) => {
  t.context = await clockedPortal(shared, { trustsProxy: true });
});

const LINKS = '/api/public-links';
const MINUTE = 60_000;
const PLACE = { topLeftX: 10, topLeftY: 10, width: 80, height: 20 };
const LOU = { name: 'Lou', email: 'lou@example.org' };

interface Link {
  readonly id: string;
  readonly url: string;
  readonly status: string;
  readonly documentCount: number;
  readonly lastRefusal: { readonly code: string } | null;
}
interface Detail {
  readonly status: string;
  readonly flowActions: readonly {
    readonly title: string;
    readonly status: string;
    readonly user: { readonly name: string; readonly email: string };
    readonly fields: readonly { readonly name: string; readonly presetValue: string | null }[];
  }[];
}
type Ticketed = Pick<Link, 'url'>;
type Answer = { readonly status: number; readonly body: Record<string, string> };

async function templateOf(client: Client, more: object = {}, files = 1): Promise<string> {
  const uploads = await Promise.all(Array.from({ length: files }, () => client.upload()));
  const document = {
    files: uploads.map(({ id, name, contentType }) => ({ id, displayName: 'Waiver', name, contentType })),
    flowActions: [
      {
        title: 'Guest',
        step: 1,
        allowElectronicSignature: true,
        fields: [
          { name: 'city', type: 'Text', readOnly: true, required: true, maxLength: 20, ...PLACE },
          { name: 'note', ...PLACE, topLeftY: 40 },
        ],
      },
      { title: 'Host', step: 2, allowElectronicSignature: true },
    ],
    ...more,
  };
  return (await client.post<{ id: string }>('/api/templates', { name: 'Waiver', document })).id;
}

async function linkOf(client: Client, more: object = {}, template?: string): Promise<Link> {
  return client.post<Link>(LINKS, {
    name: 'Waiver of the climbing hall',
    templateId: template ?? (await templateOf(client)),
    role: 'guest',
    participants: [{ role: 'Host', user: LOU }],
    fields: ['city'],
    ...more,
  });
}

let networks = 0;
const ticketIn = ({ url }: Ticketed) => new URL(url).searchParams.get('ticket') ?? '';

/** A call of a visitor, from a network of its own. */
async function visitor({ client }: ClockedPortal, path: string, body: object): Promise<Answer> {
  networks += 1;
  const answer = await fetch(`${client.url}${LINKS}/${path}`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      'X-Forwarded-For': `198.51.${networks >> 8}.${networks & 255}`,
    },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  return { status: answer.status, body: text === '' ? {} : JSON.parse(text) };
}

/** The page of an address, at the listener of the test. */
function openedAt({ client }: ClockedPortal, url = ''): Promise<Response> {
  return fetch(url.replace(/^https?:\/\/[^/]+/, client.url));
}

interface Person {
  readonly name: string;
  readonly email: string;
}
const person = (name: string): Person => ({
  name,
  email: `${name.toLowerCase()}-${randomUUID()}@example.org`,
});

/** The newest code that was mailed to an address. */
async function codeTo({ fixture }: ClockedPortal, email: string, count = 1): Promise<string> {
  const codes = await until(async () => {
    const found = fixture.mails
      .filter(({ to }) => to.address === email)
      .flatMap((mail) => /\n {4}(\d{6})\n/.exec(mail.text)?.[1] ?? []);
    return found.length >= count ? found : undefined;
  });
  return codes.at(-1) ?? '';
}

const visitBody = (link: Ticketed, who: Person, more: object = {}) => ({
  ticket: ticketIn(link),
  visitId: randomUUID(),
  ...who,
  fieldValues: { city: 'Porto' },
  ...more,
});

/** Asks for a code and reads it. */
async function codeFor(portal: ClockedPortal, link: Ticketed, who: Person): Promise<string> {
  await visitor(portal, 'code', { ticket: ticketIn(link), ...who });
  return codeTo(portal, who.email);
}

/** Asks for a code and makes the document. */
async function proven(
  portal: ClockedPortal,
  link: Ticketed,
  who: Person,
  more: object = {},
): Promise<Answer> {
  const asked = await visitor(portal, 'code', { ticket: ticketIn(link), ...who });
  if (asked.status !== 200) return asked;
  return visitor(
    portal,
    'documents',
    visitBody(link, who, { code: await codeTo(portal, who.email), ...more }),
  );
}

async function refusedAs(t: ExecutionContext, answer: Answer | Promise<Answer>, code: string): Promise<void> {
  const { status, body } = await answer;
  t.is(body['code'], code, JSON.stringify(body));
  t.is(status, code === 'BadRequest' ? 400 : code === 'TooManyRequests' ? 429 : 422);
}

test.serial(
  'a visit with a code makes one document, which others are told of only when it is their turn',
  async (t) => {
    const { client, fixture } = t.context;
    const link = await linkOf(client);
    const view = await visitor(t.context, 'view', { ticket: ticketIn(link) });
    t.like(view.body, { name: 'Waiver of the climbing hall', organizationName: 'Org', contact: 'Email' });
    t.is((view.body['fields'] as unknown as { name: string; required: boolean }[])[0]?.name, 'city');
    const ana = person('Ana');
    const before = fixture.mails.length;
    t.is((await visitor(t.context, 'code', { ticket: ticketIn(link), ...ana })).status, 200);
    const code = await codeTo(t.context, ana.email);
    t.deepEqual(new Set(fixture.mails.slice(before).map(({ to }) => to.address)), new Set([ana.email]));
    await refusedAs(t, visitor(t.context, 'documents', visitBody(link, ana)), 'InvalidAuthenticationCode');
    await refusedAs(
      t,
      visitor(
        t.context,
        'documents',
        visitBody(link, ana, { code: code === '000000' ? '000001' : '000000' }),
      ),
      'InvalidAuthenticationCode',
    );
    t.is((await client.get<Link>(`${LINKS}/${link.id}`)).documentCount, 0);
    const made = await visitor(t.context, 'documents', visitBody(link, ana, { code: ` ${code} ` }));
    t.is(made.status, 200, JSON.stringify(made.body));
    const id = made.body['documentId'] ?? '';
    const detail = await client.get<Detail>(`/api/documents/${id}`);
    t.is(detail.status, 'Pending');
    t.deepEqual(
      detail.flowActions.map(({ user }) => user.name),
      ['Ana', 'Lou'],
    );
    t.is(detail.flowActions[0]?.fields[0]?.presetValue, 'Porto');
    await until(async () => ((await mailed(t.context, id, 'pending')).length > 0 ? true : undefined));
    t.deepEqual(await mailed(t.context, id, 'pending'), [ana.email]);
    t.deepEqual(await mailed(t.context, id, 'code'), [ana.email], 'the code is in the mails of the document');
    t.is((await openedAt(t.context, made.body['url'])).status, 200);
    t.like(await client.get(`${LINKS}/${link.id}`), { documentCount: 1, status: 'Open', lastRefusal: null });
  },
);

test.serial(
  'a form that is sent twice, at once and again, makes one document; so does the way back',
  async (t) => {
    const link = await linkOf(t.context.client);
    const ana = person('Ana');
    const body = visitBody(link, ana, { code: await codeFor(t.context, link, ana) });
    const answers = await Promise.all([1, 2, 3].map(() => visitor(t.context, 'documents', body)));
    const ids = new Set(answers.map(({ body: { documentId } }) => documentId));
    t.is(ids.size, 1, JSON.stringify(answers));
    await t.context.client.send(`${LINKS}/${link.id}/end`, {});
    const again = await visitor(t.context, 'documents', body);
    t.is(again.body['documentId'], [...ids][0], 'also after the end of the link');
    t.like(await t.context.client.get(`${LINKS}/${link.id}`), { documentCount: 1, status: 'Ended' });
  },
);

test.serial(
  'an address finds its open document with a code; another one of the mailbox proves itself alone',
  async (t) => {
    const { client } = t.context;
    const link = await linkOf(client, { mostPerPerson: 1 });
    const ana = person('Ana');
    const first = await proven(t.context, link, ana);
    t.context.forward(MINUTE);
    const loud = { name: 'Ana', email: ana.email.toUpperCase() };
    const code = { ticket: ticketIn(link), ...loud, resend: true };
    t.is((await visitor(t.context, 'code', code)).status, 200);
    const again = visitBody(link, loud, { code: await codeTo(t.context, loud.email) });
    t.is((await visitor(t.context, 'documents', again)).body['documentId'], first.body['documentId']);
    // Whoever reads the mails of an ending does not learn what the mailbox signs; documents are counted for both.
    const ending = { name: 'Ana', email: ana.email.replace('@', '+second@') };
    await refusedAs(t, proven(t.context, link, ending), 'PublicLinkPersonFull');
    const entered = { code: await codeTo(t.context, ending.email) };
    await refusedAs(
      t,
      visitor(t.context, 'documents', visitBody(link, ana, entered)),
      'InvalidAuthenticationCode',
    );
    t.like(await client.get(`${LINKS}/${link.id}`), { documentCount: 1 });
    const { mails } = t.context.fixture;
    const codes = mails.filter(({ to, text }) => to.address === ana.email && /\n {4}\d{6}\n/.test(text));
    t.true(codes.length > 0 && codes.every(({ text }) => !text.includes('Ana')), 'a code mail says no name');
  },
);

test.serial('a mailbox gets ten codes an hour from all links of an organization', async (t) => {
  const ana = person('Ana');
  const templateId = await templateOf(t.context.client);
  for (let count = 0; count < 11; count += 1) {
    const link = await linkOf(t.context.client, {}, templateId);
    const asked = visitor(t.context, 'code', { ticket: ticketIn(link), ...ana });
    if (count < 10) t.is((await asked).status, 200);
    else await refusedAs(t, asked, 'TooManyRequests');
  }
});

test.serial(
  'a parent signs for two children one after the other, as often as the link permits',
  async (t) => {
    const { client } = t.context;
    const link = await linkOf(client, { mostPerPerson: 2 });
    const ana = person('Ana');
    for (let count = 0; count < 2; count += 1) {
      const { body } = await proven(t.context, link, ana);
      t.truthy(body['documentId'], JSON.stringify(body));
      await client.post(`/api/documents/${body['documentId']}/cancellation`, { reason: 'Next child' });
    }
    await refusedAs(t, proven(t.context, link, ana), 'PublicLinkPersonFull');
  },
);

test.serial('of two visits at once the last document of a link is for one', async (t) => {
  const { client } = t.context;
  const link = await linkOf(client, { mostDocuments: 2 });
  const people = ['Ana', 'Bo', 'Cy', 'Di'].map(person);
  const answers = await Promise.all(people.map((one) => proven(t.context, link, one)));
  t.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 200, 422, 422]);
  for (const answer of answers) if (answer.status !== 200) await refusedAs(t, answer, 'PublicLinkFull');
  t.like(await client.get(`${LINKS}/${link.id}`), { documentCount: 2, status: 'Full' });
  await refusedAs(t, visitor(t.context, 'view', { ticket: ticketIn(link) }), 'PublicLinkFull');
});

test.serial('a link that is over, ended, guessed or changed makes nothing and tells nothing', async (t) => {
  const { client } = t.context;
  const ana = person('Ana');
  const endDate = new Date(Date.now() + 1_000 * DAY).toISOString();
  t.is((await client.send(LINKS, { name: 'X', templateId: randomUUID(), role: 'x', endDate })).status, 422);
  const link = await linkOf(client);
  const right = ticketIn(link);
  const changed = `${right.startsWith('A') ? 'B' : 'A'}${right.slice(1)}`;
  for (const ticket of [changed, 'x', ''])
    for (const path of ['view', 'code', 'documents']) {
      const body = { ...visitBody(link, ana), ticket };
      const answer = await visitor(t.context, path, body);
      t.is(answer.body['code'], 'PublicLinkNotFound');
      t.notRegex(JSON.stringify(answer.body), /Waiver|\bOrg\b/);
    }
  t.is((await client.send(`${LINKS}/${link.id}/end`, {})).status, 200);
  t.is((await client.send(`${LINKS}/${link.id}/end`, {})).status, 200);
  for (const path of ['view', 'code', 'documents'])
    await refusedAs(t, visitor(t.context, path, visitBody(link, ana)), 'PublicLinkEnded');
  const page = await fetch(`${client.url}/link?ticket=${ticketIn(link)}`);
  t.is(page.status, 404);
  t.notRegex(await page.text(), /Waiver|\bOrg\b/);
});

test.serial(
  'a link whose end passes while somebody fills in is refused as expired, and stays in the list',
  async (t) => {
    const portal = await clockedPortal(t);
    const { client } = portal;
    const link = await linkOf(client, { endDate: new Date(Date.now() + DAY).toISOString() });
    portal.forward(2 * DAY);
    await refusedAs(t, visitor(portal, 'documents', visitBody(link, person('Ana'))), 'PublicLinkExpired');
    const { items, totalCount } = await client.get<{ items: Link[]; totalCount: number }>(LINKS);
    t.is(totalCount, 1);
    t.like(items[0], { id: link.id, status: 'Expired' });

    // Codes: one a minute and address, none while one is good, and few of a link.
    const codes = await linkOf(client);
    const ask = (email: string, resend = false) =>
      visitor(portal, 'code', { ticket: ticketIn(codes), name: 'Ana', email, resend });
    t.is((await ask('ana@example.org')).status, 200);
    t.is((await ask('ana@example.org')).status, 200);
    await refusedAs(t, ask('ana@example.org', true), 'TooManyRequests');
    portal.forward(MINUTE);
    const twice = await Promise.all([ask('ana@example.org', true), ask('ana@example.org', true)]);
    t.deepEqual(twice.map(({ status }) => status).toSorted(), [200, 429]);
    await codeTo(portal, 'ana@example.org', 2);
    t.is(portal.fixture.mails.length, 2, 'nobody else has a mail');
  },
);

test.serial(
  'one network makes few calls of visitors, whatever their tickets, and still opens pages',
  async (t) => {
    const { client } = t.context;
    const link = await linkOf(client);
    const call = async (path: string, ticket: string) => {
      const answer = await fetch(`${client.url}${LINKS}/${path}`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', 'X-Forwarded-For': '203.0.113.7' },
        body: JSON.stringify({ ...visitBody(link, person('Ana')), ticket }),
      });
      await answer.arrayBuffer();
      return answer.status;
    };
    const statuses = await Promise.all(
      Array.from({ length: 60 }, (_, at) => call(at % 2 === 0 ? 'code' : 'documents', 'guess')),
    );
    t.deepEqual([...new Set(statuses)], [422]);
    t.is(await call('code', ticketIn(link)), 429);
    t.is(await call('documents', ticketIn(link)), 429);
    t.is(await call('view', ticketIn(link)), 200);
  },
);

test.serial(
  'a template that changes is used as it is; without its role, or deleted, the link is closed',
  async (t) => {
    const { client } = t.context;
    const template = await templateOf(client);
    const link = await linkOf(client, {}, template);
    const { document } = await client.get<{ document: { flowActions: { title: string }[] } }>(
      `/api/templates/${template}`,
    );
    const change = (flowActions: object[]) =>
      client.send(
        `/api/templates/${template}`,
        { name: 'Waiver', document: { ...document, flowActions } },
        'PUT',
      );
    const [guest, host] = document.flowActions;
    t.is((await change([{ ...guest }, { ...host }, { title: 'Bank', step: 3 }])).status, 200);
    await refusedAs(t, proven(t.context, link, person('Ana')), 'PublicLinkEnded');
    t.like(await client.get(`${LINKS}/${link.id}`), {
      documentCount: 0,
      lastRefusal: { code: 'InvalidFlowAction' },
    });
    t.is((await change([{ ...guest }])).status, 200);
    const none = await proven(t.context, link, person('Ana'));
    t.is(none.body['code'], 'PublicLinkEnded', 'the link names a person for a role that is gone');
    t.is((await change([{ ...guest }, { ...host }])).status, 200);
    t.is((await proven(t.context, link, person('Ana'))).status, 200);
    t.is((await change([{ ...guest, title: 'Visitor' }, { ...host }])).status, 200);
    await refusedAs(t, visitor(t.context, 'view', { ticket: ticketIn(link) }), 'PublicLinkEnded');
    t.is((await client.send(`/api/templates/${template}`, undefined, 'DELETE')).status, 200);
    await refusedAs(t, visitor(t.context, 'view', { ticket: ticketIn(link) }), 'PublicLinkEnded');
    const { items } = await client.get<{ items: Link[] }>(`${LINKS}?templateId=${template}`);
    t.deepEqual(
      items.map(({ id }) => id),
      [link.id],
    );
  },
);

test.serial('what a visitor gives is checked, and fields beyond those of the link are refused', async (t) => {
  const { client } = t.context;
  const link = await linkOf(client);
  const ana = person('Ana');
  const code = await codeFor(t.context, link, ana);
  const visit = (more: object) => visitor(t.context, 'documents', visitBody(link, ana, { code, ...more }));
  await refusedAs(t, visit({ email: 'ana' }), 'BadRequest');
  await refusedAs(t, visit({ name: ' ' }), 'BadRequest');
  await refusedAs(t, visit({ visitId: 'x' }), 'BadRequest');
  await refusedAs(t, visit({ email: 'ana@example.org\r\nBcc: x@example.org' }), 'BadRequest');
  await refusedAs(t, visit({ fieldValues: { city: 'Porto', note: 'mine' } }), 'InvalidFieldValue');
  await refusedAs(t, visit({ fieldValues: { city: 'x'.repeat(21) } }), 'InvalidFieldValue');
  await refusedAs(t, visit({ fieldValues: {} }), 'InvalidFieldValue');
  t.like(await client.get(`${LINKS}/${link.id}`), { documentCount: 0, lastRefusal: null });
  t.is((await visit({})).status, 200);
});

test.serial('a link is refused that could make no document, or leads elsewhere', async (t) => {
  const { client } = t.context;
  const templateId = await templateOf(client);
  const make = async (more: object) => {
    const answer = await client.send(LINKS, {
      name: 'X',
      templateId,
      role: 'Guest',
      participants: [{ role: 'Host', user: LOU }],
      fields: ['city'],
      ...more,
    });
    return { status: answer.status, body: (await answer.json()) as Record<string, string> };
  };
  await refusedAs(t, make({ role: 'Bank' }), 'InvalidFlowAction');
  await refusedAs(t, make({ participants: [] }), 'InvalidFlowAction');
  await refusedAs(t, make({ templateId: await templateOf(client, {}, 2) }), 'InvalidFlowAction');
  await refusedAs(t, make({ contact: 'Phone' }), 'InvalidFlowAction');
  const byPhone = await t.throwsAsync(client.create([{ user: { name: 'Lou', phone: '+351912345678' } }]));
  t.regex(String(byPhone), /InvalidFlowAction/, 'a phone alone is for visitors of links');
  await refusedAs(t, make({ fields: ['rent'] }), 'InvalidFieldValue');
  await refusedAs(t, make({ fields: [] }), 'InvalidFieldValue');
  await refusedAs(t, make({ endDate: '2020-01-01' }), 'BadRequest');
  for (const returnUrl of ['https://evil.example/', 'javascript:alert(1)'])
    await refusedAs(t, make({ returnUrl }), 'InvalidBranding');
  const id = await client.create([{ user: LOU }], { disablePendingActionNotifications: true });
  const { organization: own } = await client.get<{ organization: { id: string } }>(`/api/documents/${id}`);
  const organization = own.id;
  await client.send(
    `/api/organizations/${organization}/branding`,
    { redirectOrigins: ['https://app.example.com'] },
    'PUT',
  );
  const returnUrl = 'https://app.example.com/thanks';
  const { status, body } = await make({ returnUrl });
  t.is(status, 200, JSON.stringify(body));
  const { body: visit } = await proven(t.context, { url: body['url'] ?? '' }, person('Ana'));
  t.true((await (await openedAt(t.context, visit['url'])).text()).includes(returnUrl));
  await client.send(`/api/organizations/${organization}/branding`, {}, 'PUT');
  t.false(
    (await (await openedAt(t.context, visit['url'])).text()).includes(returnUrl),
    'its origin is off the list',
  );
});

test.serial('links are listed in pages, and another organization finds none', async (t) => {
  const { client } = t.context;
  const templateId = await templateOf(client);
  const links = [
    await linkOf(client, { name: 'A' }, templateId),
    await linkOf(client, { name: 'B' }, templateId),
  ];
  const list = `${LINKS}?templateId=${templateId}&limit=1&order=Desc&cursor=`;
  const first = await client.get<{ items: Link[]; nextCursor: string }>(list);
  const second = await client.get<{ items: Link[]; nextCursor: null }>(`${list}${first.nextCursor}`);
  t.deepEqual(
    [...first.items, ...second.items].map(({ id }) => id),
    links.map(({ id }) => id).toReversed(),
  );
  t.is(first.items[0]?.url, links[1]?.url, 'the address is derived again');
  const stored = await t.context.fixture.store.load({ kind: 'public-link', id: links[0]?.id ?? '' });
  t.false(JSON.stringify(stored).includes(ticketIn(links[0] as Link)), 'and is stored nowhere');
  const other = clientOf(t.context, 'Other');
  t.is((await other.get<{ totalCount: number }>(LINKS)).totalCount, 0);
  const key = { 'idempotency-key': randomUUID() };
  const body = {
    name: 'C',
    templateId,
    role: 'Guest',
    participants: [{ role: 'Host', user: LOU }],
    fields: ['city'],
  };
  const made = await Promise.all(
    [1, 2].map(async () => (await client.send(LINKS, body, 'POST', key)).json()),
  );
  t.deepEqual(made[0], made[1]);
});

test.serial(
  'the page works without a script in each language, is not framed, and a preview of it is no visit',
  async (t) => {
    const { client } = t.context;
    const link = await linkOf(client, { mostDocuments: 1 });
    const address = `${client.url}/link?ticket=${ticketIn(link)}`;
    const looks = await Promise.all(
      ['en', 'pt', 'es', 'de', 'fr', 'it'].map(async (language) => {
        const answer = await fetch(`${address}&culture=${language}`);
        const html = await answer.text();
        t.regex(html, new RegExp(`<html lang="${language}"`));
        t.is(answer.headers.get('x-frame-options'), 'DENY');
        t.is(answer.headers.get('x-robots-tag'), 'noindex');
        t.false(html.includes('<script'));
        return /<button[^>]*>([^<]+)/.exec(html)?.[1];
      }),
    );
    t.is(new Set(looks).size, 6, looks.join());
    t.is((await fetch(address, { method: 'HEAD' })).status, 200);
    t.like(await client.get(`${LINKS}/${link.id}`), { documentCount: 0 });
    const spoken = await linkOf(client, { language: 'de' });
    const german = await fetch(spoken.url.replace(/^https?:\/\/[^/]+/, client.url), {
      headers: { 'accept-language': 'fr' },
    });
    t.regex(await german.text(), /<html lang="de"/);

    const submit = (form: Record<string, string>) => {
      networks += 1;
      return fetch(address, {
        method: 'POST',
        redirect: 'manual',
        headers: { 'X-Forwarded-For': `198.51.${networks >> 8}.${networks & 255}` },
        body: new URLSearchParams(form),
      });
    };
    const visit = /name="visit" value="([^"]+)"/.exec(await (await fetch(address)).text())?.[1] ?? '';
    const ana = { ...person('Ana'), name: 'Ana "<b>' };
    const data = { visit, ...ana, 'value-0': 'Porto' };
    const wrong = await submit({ ...data, email: 'ana' });
    t.is(wrong.status, 422);
    t.regex(await wrong.text(), /aria-invalid="true"[^>]*|id="email-error"/);
    const sent = await submit(data);
    t.is(sent.status, 200);
    const html = await sent.text();
    t.true(
      html.includes('value="Ana &quot;&lt;b>"') || html.includes('value="Ana &quot;&lt;b&gt;"'),
      'it is carried',
    );
    const code = await codeTo(t.context, ana.email);
    const guess = await submit({ ...data, code: code === '000000' ? '000001' : '000000' });
    t.is(guess.status, 422);
    t.regex(await guess.text(), /id="code-error"/);
    t.is((await submit({ ...data, do: 'again' })).status, 429, 'one code a minute');
    const changed = await submit({ ...data, code, do: 'change' });
    t.regex(await changed.text(), /id="name"[^>]*value="Ana &quot;|value="Ana &quot;[^>]*/);
    const done = await submit({ ...data, code });
    t.is(done.status, 302);
    const location = done.headers.get('location') ?? '';
    t.regex(location, /^\/document\/key\//);
    t.is((await submit({ ...data, code })).headers.get('location')?.split('?')[0], location.split('?')[0]);
    t.is((await fetch(`${client.url}${location}`)).status, 200);
    t.like(await client.get(`${LINKS}/${link.id}`), { documentCount: 1 });
  },
);
