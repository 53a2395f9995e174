/**
 * Devices of senders at which persons sign one after the other, over HTTP. The situations are those that users of comparable
 * software have reported.
 *
 * Source: docs/decisions/0470-links-for-anybody.md.
 */
import { randomUUID } from 'node:crypto';
import anyTest, { type ExecutionContext, type TestFn } from 'ava';
import type { ApplicationId, OrganizationId } from '../../../../machines/ids.ts';
import { Client, until } from '../../../actors/portal/service.ts';
import { endedAfter } from '../../../project/ended-after.ts';
import { type ClockedPortal, clientOf, clockedPortal, mailed } from '../requests/clocked-portal.ts';

const test = anyTest as TestFn<ClockedPortal>;
const shared = endedAfter(test);
test.before(async (t) => {
  t.context = await clockedPortal(shared);
});

const LINKS = '/api/public-links';
const PIN = '2468';
const HOUR = 3_600_000;

interface Link {
  readonly id: string;
  readonly templateId: string;
  readonly documentCount: number;
  readonly devices: readonly { readonly id: string; readonly openedBy: { readonly name: string } }[];
}
interface Detail {
  readonly id: string;
  readonly status: string;
  readonly key: string;
}

async function linkOf(
  { client }: ClockedPortal,
  more: object = {},
  actions?: readonly object[],
): Promise<Link> {
  const { id, name, contentType } = await client.upload();
  const document = {
    files: [{ id, displayName: 'Waiver of the hall', name, contentType }],
    flowActions: actions ?? [{ title: 'Guest', step: 1, allowElectronicSignature: true }],
  };
  const template = await client.post<{ id: string }>('/api/templates', { name: 'Waiver', document });
  return client.post<Link>(LINKS, { name: 'Climbing hall', templateId: template.id, role: 'Guest', ...more });
}

/** The browser of a device. */
class Device {
  #cookie = '';
  /** Headers that set cookies of the last answer. */
  told: readonly string[] = [];

  constructor(private readonly portal: ClockedPortal) {}

  async fetch(path: string, form?: Record<string, string>): Promise<Response> {
    const answer = await fetch(`${this.portal.client.url}${path}`, {
      redirect: 'manual',
      headers: { cookie: this.#cookie },
      ...(form !== undefined && { method: 'POST', body: new URLSearchParams(form) }),
    });
    this.told = answer.headers.getSetCookie();
    for (const set of this.told)
      if (set.startsWith('sealwright-here=')) this.#cookie = set.split(';')[0] ?? '';
    return answer;
  }

  async text(path: string): Promise<string> {
    return (await this.fetch(path)).text();
  }

  /** The form for the next person. */
  async next(): Promise<string> {
    return /name="visit" value="([^"]+)"/.exec(await this.text('/here'))?.[1] ?? '';
  }

  /** Path of the signing page. */
  async visit(who: Record<string, string>, visit?: string): Promise<string> {
    const answer = await this.fetch('/here', { visit: visit ?? (await this.next()), ...who });
    return answer.headers.get('location') ?? `${answer.status}`;
  }
}

async function opened(
  portal: ClockedPortal,
  link: Link,
  { client = portal.client, ...more }: { readonly client?: Client; readonly hours?: number } = {},
): Promise<Device> {
  const { url } = await client.post<{ url: string }>(`${LINKS}/${link.id}/devices`, {
    pin: PIN,
    ...more,
  });
  const device = new Device(portal);
  const ticket = new URL(url).searchParams.get('ticket') ?? '';
  const started = await device.fetch('/here/start', { ticket });
  if (started.headers.get('location') !== '/here') throw new Error(`Answered ${started.status}.`);
  return device;
}

const documentsOf = async ({ client }: ClockedPortal): Promise<readonly Detail[]> =>
  (await client.get<{ items: Detail[] }>('/api/documents?limit=100&order=Desc')).items;

/** Waits until the newest document is canceled. */
const lastCanceled = (portal: ClockedPortal) =>
  until(async () => {
    const [{ status } = { status: '' }] = await documentsOf(portal);
    return status === 'Canceled' ? status : undefined;
  });

const ticketIn = (path: string) => new URLSearchParams(path.split('?')[1]).get('ticket') ?? '';
const keyIn = (path: string) => path.split('/')[3] ?? '';

function saysNothing(t: ExecutionContext, html: string, what: string): void {
  // As words: tickets in the page may have the same letters by chance.
  t.notRegex(html, /\bAna\b|ana@example|Waiver of the hall|\b1990\b/, what);
}

test.serial('who walks away or signs leaves nothing that the next person could see or send', async (t) => {
  const { client } = t.context;
  const link = await linkOf(t.context);
  const device = await opened(t.context, link);
  const visit = await device.next();
  const ana = { name: 'Ana', email: 'ana@example.org' };
  const page = await device.visit(ana, visit);
  t.regex(page, /^\/document\/key\//);
  const content = page.replace('/sign?', '/content?');
  t.true((await device.text(page)).includes('Waiver of the hall'));
  t.is((await device.fetch(content)).status, 200);
  t.is(keyIn(await device.visit(ana, visit)), keyIn(page), 'a form that is sent twice makes one document');
  t.is((await client.get<Link>(`${LINKS}/${link.id}`)).documentCount, 1);

  const form = await device.text('/here');
  saysNothing(t, form, 'the form for the next person');
  t.regex(form, /<form method="post"[^>]* autocomplete="off"/);
  t.notRegex(form, /autocomplete="(?:name|email)"/);
  t.is((await documentsOf(t.context))[0]?.status, 'Canceled');
  saysNothing(t, await device.text(page), 'back to the page of the last person');
  t.true((await device.fetch(content)).status >= 400);
  t.is(await device.visit({ ...ana, email: 'x' }, visit), '/here', 'the form of the last person, sent again');
  t.deepEqual(await mailed(t.context, (await documentsOf(t.context))[0]?.id ?? '', 'canceled'), []);

  const bo = await device.visit({ name: 'Bo', email: 'bo@example.org' });
  t.is((await device.fetch(bo)).status, 200);
  await client.post(`/api/documents/keys/${keyIn(bo)}/electronic-signature`, { ticket: ticketIn(bo) });
  const done = await device.text(bo);
  t.regex(done, /data-state="signed-here"/);
  t.notRegex(done, /\bBo\b|bo@example|Waiver of the hall/);
  t.true((await device.fetch(bo.replace('/sign?', '/content?'))).status >= 400);
  await device.next();
  const [newest] = await documentsOf(t.context);
  const made = await until(async () => {
    const found = await client.get<Detail>(`/api/documents/${newest?.id}`);
    return found.status === 'Concluded' ? found : undefined;
  });
  t.deepEqual(await mailed(t.context, made.id, 'pending'), [], 'nobody is asked by mail');
  const checked = JSON.stringify(await client.get(`/api/documents/keys/${made.key}/signatures`));
  t.true(checked.includes('"authenticationTypes":["InPerson"]'), checked.slice(0, 2_000));
  t.regex(checked, /"inPersonAtDeviceOf":\{"id":"[^"]+","name":"App"\}/);
});

test.serial(
  'an address is taken once, not by a preview of it, and nothing else opens a device',
  async (t) => {
    const { client } = t.context;
    const link = await linkOf(t.context);
    const { url } = await client.post<{ url: string }>(`${LINKS}/${link.id}/devices`, { pin: PIN });
    const ticket = new URL(url).searchParams.get('ticket') ?? '';
    const device = new Device(t.context);
    t.is((await device.fetch(`/here?ticket=${ticket}`)).status, 200);
    const anybody = new URL((await client.get<{ url: string }>(`${LINKS}/${link.id}`)).url).searchParams.get(
      'ticket',
    );
    const changed = `${ticket.startsWith('A') ? 'B' : 'A'}${ticket.slice(1)}`;
    for (const other of [anybody ?? '', changed, '', 'x'])
      t.is((await device.fetch('/here/start', { ticket: other })).status, 404);
    t.is((await device.fetch('/here/start', { ticket })).status, 302);
    const second = new Device(t.context);
    t.is((await second.fetch('/here/start', { ticket })).status, 404, 'taken');
    t.is((await second.fetch('/here')).status, 404);
    for (const cookie of [ticket, anybody ?? '']) {
      const answer = await fetch(`${client.url}/here`, { headers: { cookie: `sealwright-here=${cookie}` } });
      t.is(answer.status, 404, 'an address is no cookie');
    }
    const late = await client.post<{ url: string }>(`${LINKS}/${link.id}/devices`, { pin: PIN });
    t.context.forward(11 * 60_000);
    const form = { ticket: new URL(late.url).searchParams.get('ticket') ?? '' };
    t.is((await new Device(t.context).fetch('/here/start', form)).status, 404, 'after ten minutes');
    for (const pin of ['', '123', 'abcd', '1'.repeat(13)]) {
      const answer = await client.send(`${LINKS}/${link.id}/devices`, { pin });
      t.is(answer.status, 400);
      await answer.arrayBuffer();
    }
  },
);

test.serial('a PIN cannot be guessed, and the right one ends the device', async (t) => {
  const link = await linkOf(t.context);
  const device = await opened(t.context, link);
  const leave = async (pin: string) => {
    const answer = await device.fetch('/here/leave', { pin });
    await answer.arrayBuffer();
    return answer.status;
  };
  for (let count = 0; count < 5; count += 1) t.is(await leave(`000${count}`), 422);
  t.is(await leave(PIN), 429, 'the right one among too many');
  t.context.forward(15 * 60_000);
  t.is(await leave(PIN), 302);
  t.is((await device.fetch('/here')).status, 404);
  t.deepEqual((await t.context.client.get<Link>(`${LINKS}/${link.id}`)).devices, []);
});

test.serial(
  'a device ends by its sender, with its link, and by time, also while a person signs',
  async (t) => {
    const { client } = t.context;
    const who = { name: 'Ana', email: 'ana@example.org' };
    for (const end of ['device', 'link', 'time']) {
      const link = await linkOf(t.context);
      const device = await opened(t.context, link, { hours: 1 });
      // The ticket of the person is good for an hour.
      t.context.forward(HOUR / 2);
      const page = await device.visit(who);
      t.true((await device.text(page)).includes('Waiver of the hall'));
      const { devices } = await client.get<Link>(`${LINKS}/${link.id}`);
      t.is(devices[0]?.openedBy.name, 'App');
      if (end === 'device') await client.send(`${LINKS}/${link.id}/devices/${devices[0]?.id}/end`, {});
      if (end === 'link') await client.send(`${LINKS}/${link.id}/end`, {});
      if (end === 'time') t.context.forward(HOUR / 2);
      saysNothing(t, await device.text(page), end);
      t.true((await device.fetch(page.replace('/sign?', '/content?'))).status >= 400, end);
      const sign = `/api/documents/keys/${keyIn(page)}/electronic-signature`;
      const signed = await client.send(sign, { ticket: ticketIn(page) });
      t.is(((await signed.json()) as { code: string }).code, 'InvalidTicket', end);
      t.is((await device.fetch('/here')).status, 404, end);
      t.is(await device.visit(who, 'x'), '404', end);
      t.is(await lastCanceled(t.context), 'Canceled', end);
    }
  },
);

test.serial(
  'what a person has begun is canceled with the device, whatever ends it, and without a browser',
  async (t) => {
    const { publicLinks } = t.context.fixture.portal;
    for (const end of ['device', 'link', 'time'] as const) {
      const link = await linkOf(t.context);
      const device = await opened(t.context, link, { hours: 1 });
      await device.visit({ name: 'Ana', email: 'ana@example.org' });
      const { devices } = await t.context.client.get<Link>(`${LINKS}/${link.id}`);
      // As a service that is killed right after the step.
      if (end === 'device')
        await publicLinks.tell(link.id, { type: 'DEVICE_END', device: devices[0]?.id ?? '' });
      if (end === 'link') await publicLinks.tell(link.id, { type: 'END' });
      if (end === 'time') t.context.forward(HOUR);
      t.is(await lastCanceled(t.context), 'Canceled', end);
    }
  },
);

test.serial(
  'documents of devices count for the link; a mailbox that signs again is not held up',
  async (t) => {
    const link = await linkOf(t.context, { mostDocuments: 2, mostPerPerson: 1 });
    const device = await opened(t.context, link);
    const who = { name: 'Ana', email: 'ana@example.org' };
    const first = await device.visit(who);
    const second = await device.visit(who);
    t.regex(second, /^\/document\/key\//);
    t.not(keyIn(first), keyIn(second), 'nobody finds the document of another person by an address');
    t.is((await device.fetch('/here')).status, 404, 'used up');
  },
);

test.serial('a link is for no device whose visitor is not the first, or needs a certificate', async (t) => {
  const { client } = t.context;
  const host = {
    title: 'Host',
    step: 1,
    allowElectronicSignature: true,
    user: { name: 'Lou', email: 'lou@example.org' },
  };
  for (const actions of [
    [host, { title: 'Guest', step: 2, allowElectronicSignature: true }],
    [{ title: 'Guest', step: 1 }],
  ]) {
    const link = await linkOf(t.context, {}, actions);
    const answer = await client.send(`${LINKS}/${link.id}/devices`, { pin: PIN });
    t.is(((await answer.json()) as { code: string }).code, 'InvalidFlowAction');
  }
});

test.serial('the ticket of a link is checked before the rest of the body', async (t) => {
  const { client } = t.context;
  for (const path of ['view', 'code', 'documents']) {
    const answer = await client.send(`${LINKS}/${path}`, { ticket: 'guess', name: { x: 1 }, visitId: 7 });
    t.is(((await answer.json()) as { code: string }).code, 'PublicLinkNotFound', path);
  }
});

test.serial('what is wrong with a value is said beside it, in the language of the visitor', async (t) => {
  const PLACE = { topLeftX: 10, topLeftY: 10, width: 80, height: 20 };
  const fields = [{ name: 'born', label: 'Geboren', type: 'Number', minimum: 1900, ...PLACE }];
  const link = await linkOf(t.context, { fields: ['born'], language: 'de' }, [
    { title: 'Guest', allowElectronicSignature: true, fields },
  ]);
  const device = await opened(t.context, link);
  const visit = await device.next();
  const form = { visit, name: 'Ana', email: 'ana@example.org', 'value-0': '7' };
  const answer = await device.fetch('/here', form);
  t.is(answer.status, 422);
  const html = await answer.text();
  t.regex(html, /id="value-0-error"[^>]*>.*Der kleinste Wert ist/s);
  t.notRegex(html, /must be|minimum|least/i);
});

test.serial('a device that is over before the next one is opened leaves no document behind', async (t) => {
  const link = await linkOf(t.context);
  const device = await opened(t.context, link, { hours: 1 });
  await device.visit({ name: 'Ana', email: 'ana@example.org' });
  t.context.forward(2 * HOUR);
  await (await opened(t.context, link)).next();
  t.is(await lastCanceled(t.context), 'Canceled');
});

test.serial(
  'nobody signs with a certificate before a device, whatever the program of the browser sends',
  async (t) => {
    const { client } = t.context;
    const device = await opened(t.context, await linkOf(t.context));
    const page = await device.visit({ name: 'Ana', email: 'ana@example.org' });
    const answer = await fetch(`${client.url}/api/documents/keys/${keyIn(page)}/signature/certificate`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ ticket: ticketIn(page), certificate: 'MIIDazCCAlOgAwIBAgIU' }),
    });
    const { code, message } = (await answer.json()) as { code: string; message: string };
    t.is(code, 'InvalidFlowAction');
    t.regex(message, /device/);
    await device.next();
  },
);

test.serial(
  'a document that is made while the next person comes, or whose maker stops, is canceled',
  async (t) => {
    const { portal } = t.context.fixture;
    const link = await linkOf(t.context);
    const device = await opened(t.context, link);
    const found = await portal.publicLinks.read(link.id);
    if (found === undefined) throw new Error('The link is gone.');
    const host = { id: 'h', name: 'Host' };
    const made = (visitId: string) =>
      portal.linkVisits.visitHere(found, host, { visitId, name: 'Ana', email: 'ana@example.org' });
    // The service ends before the device knows the document.
    await made(await device.next());
    t.is((await documentsOf(t.context))[0]?.status, 'Pending');
    await device.next();
    t.is((await documentsOf(t.context))[0]?.status, 'Canceled');
    // The person has left before the document is made.
    const id = await made(randomUUID());
    t.is((await t.context.client.get<Detail>(`/api/documents/${id}`)).status, 'Canceled');
    const visit = await device.next();
    await Promise.all([
      device.visit({ name: 'Bo', email: 'bo@example.org' }, visit),
      device.next(),
      device.next(),
    ]);
    await device.next();
    t.deepEqual(
      (await documentsOf(t.context)).filter(({ status }) => status === 'Pending'),
      [],
    );
  },
);

test.serial('a template in which the visitor begins no more ends what its devices make', async (t) => {
  const { client } = t.context;
  const link = await linkOf(t.context);
  const device = await opened(t.context, link);
  const visit = await device.next();
  const { document } = await client.get<{ document: object }>(`/api/templates/${link.templateId}`);
  const flowActions = [{ title: 'Guest', step: 1, allowElectronicSignature: false }];
  await client.post(
    `/api/templates/${link.templateId}`,
    { name: 'Waiver', document: { ...document, flowActions } },
    'PUT',
  );
  t.is(await device.visit({ name: 'Ana', email: 'ana@example.org' }, visit), '404');
  t.is((await client.get<Link>(`${LINKS}/${link.id}`)).documentCount, 0);
});

test.serial('a browser forgets its device only when that is over', async (t) => {
  const { client } = t.context;
  const link = await linkOf(t.context, { mostDocuments: 1 });
  const device = await opened(t.context, link);
  const other = await fetch(`${client.url}/here`);
  t.deepEqual(
    [other.status, other.headers.getSetCookie()],
    [404, []],
    'from another site, without the cookie',
  );
  t.is((await device.fetch('/here/start', { ticket: 'x' })).status, 404);
  t.deepEqual(device.told, []);
  const { url } = await client.post<{ url: string }>(`${LINKS}/${link.id}/devices`, { pin: PIN });
  const answer = await fetch(`${client.url}/here/start`, {
    method: 'POST',
    redirect: 'manual',
    headers: { 'sec-fetch-site': 'cross-site' },
    body: new URLSearchParams({ ticket: new URL(url).searchParams.get('ticket') ?? '' }),
  });
  t.deepEqual([answer.status, answer.headers.getSetCookie()], [403, []]);
  await device.visit({ name: 'Ana', email: 'ana@example.org' });
  t.is((await device.fetch('/here')).status, 404);
  t.deepEqual(device.told, [], 'used up');
  await client.send(`${LINKS}/${link.id}/end`, {});
  t.is((await device.fetch('/here')).status, 404);
  t.is(device.told.length, 1);
});

test.serial('a device ends with the key that has opened it', async (t) => {
  const admin = clientOf(t.context, 'Admin');
  const { id } = await admin.post<{ id: string }>('/api/admin/organizations', { name: 'Counter' });
  const organization = `/api/admin/organizations/${id}/applications`;
  const application = await admin.post<{ id: string }>(organization, { name: 'Counter' });
  const keys = `${organization}/${application.id}/keys`;
  const [key, other] = await Promise.all([0, 1].map(() => admin.post<{ id: string; key: string }>(keys, {})));
  const [client, sender] = [key, other].map((one) => new Client(admin.url, one?.key ?? ''));
  if (client === undefined || sender === undefined) throw new Error('There is no key.');
  const portal = { ...t.context, client: sender };
  const device = await opened(portal, await linkOf(portal), { client });
  const page = await device.visit({ name: 'Ana', email: 'ana@example.org' });
  t.regex(page, /^\/document/);
  await admin.fetch(`${keys}/${key?.id}`, { method: 'DELETE' });
  t.is((await device.fetch('/here')).status, 404);
  t.is(await lastCanceled(portal), 'Canceled');
  saysNothing(t, await device.text(page), 'the page of the person');
});

test.serial('a key restricted to folders opens no device, nor keeps one beyond them', async (t) => {
  const admin = clientOf(t.context, 'Admin');
  const organization = await admin.post<{ id: OrganizationId; name: string }>('/api/admin/organizations', {
    name: 'Halls',
  });
  const path = `/api/admin/organizations/${organization.id}/applications`;
  const application = await admin.post<{ id: ApplicationId; name: string }>(path, { name: 'Desk' });
  const keyOf = (limits: object) =>
    admin.post<{ id: string; key: string }>(`${path}/${application.id}/keys`, limits);
  const client = new Client(admin.url, (await keyOf({})).key);
  const portal = { ...t.context, client };
  const { id: folderId } = await client.post<{ id: string }>('/api/folders', { name: 'Hall' });
  const key = await keyOf({ folderIds: [folderId] });
  const beyond = await linkOf(portal);
  const opening = `${LINKS}/${beyond.id}/devices`;
  const refused = await new Client(admin.url, key.key).send(opening, { pin: PIN });
  t.like(await refused.json(), { code: 'Forbidden' });
  const { document } = await client.get<{ document: object }>(`/api/templates/${beyond.templateId}`);
  const template = await client.post<{ id: string }>('/api/templates', {
    name: 'Waiver',
    document: { ...document, folderId },
  });
  const within = await client.post<Link>(LINKS, { name: 'Hall', templateId: template.id, role: 'Guest' });
  // As if the operation took the key.
  const tenant = { organization, application: { ...application, role: 'Normal' }, keyId: key.id } as const;
  const startOf = async ({ id }: Link) => {
    const { url } = await t.context.fixture.portal.linkDevices.open(tenant, id, { pin: PIN });
    const ticket = new URL(url).searchParams.get('ticket') ?? '';
    return (await new Device(portal).fetch('/here/start', { ticket })).headers.get('location');
  };
  t.is(await startOf(within), '/here');
  t.is(await startOf(beyond), null);
});
