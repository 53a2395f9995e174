/** Reminders on a schedule and warnings before expiry, per document and organization. */
import test from 'ava';
import { until } from '../../../actors/portal/service.ts';
import { startReceiver } from '../../../actors/portal/webhooks/receiver.ts';
import { ticketOf } from '../signing/certificate-client.ts';
import { clientOf, clockedPortal, DAY, mailed, typesOf, untilMailed } from './clocked-portal.ts';

interface Detail {
  readonly organization: { readonly id: string };
  readonly reminders: { readonly everyDays: number | null; readonly maximum: number } | null;
  readonly flowActions: readonly { readonly id: string }[];
}

const ana = (more: object = {}) => ({
  user: { name: 'Ana', email: 'ana@example.org' },
  allowElectronicSignature: true,
  step: 1,
  ...more,
});
const BOB = { user: { name: 'Bob', email: 'bob@example.org' }, allowElectronicSignature: true, step: 2 };

test('pending participants are reminded on schedule, up to the maximum, and each step anew', async (t) => {
  const portal = await clockedPortal(t);
  const { client, fixture } = portal;
  const id = await client.create([ana({ type: 'Approver' }), BOB], {
    reminders: { everyDays: 3, maximum: 2 },
  });
  portal.forward(2 * DAY);
  portal.forward(DAY);
  await untilMailed(portal, id, 'reminder', 1);
  // A stop of many days is one reminder.
  portal.forward(10 * DAY);
  await untilMailed(portal, id, 'reminder', 2);
  portal.forward(10 * DAY);
  const timers = async () => (await fixture.store.load({ kind: 'document', id }))?.timers ?? {};
  t.false('reminders' in (await timers()), 'nothing more is due after the maximum');
  const { flowActions } = await client.get<Detail>(`/api/documents/${id}`);
  const { key, ticket } = await ticketOf(client, id, 'ana@example.org');
  await client.post(`/api/documents/keys/${key}/approval`, { ticket });
  await untilMailed(portal, id, 'pending', 2);
  t.true('reminders' in (await timers()), 'the next step has its own reminders');
  portal.forward(3 * DAY);
  const to = await untilMailed(portal, id, 'reminder', 3);
  t.deepEqual([...to].sort(), ['ana@example.org', 'ana@example.org', 'bob@example.org']);
  const types = await typesOf(portal, id);
  t.is(types.filter((type) => type === 'Reminded').length, 3);
  const reminderEvents = fixture.events.filter(({ type }) => type === 'DocumentReminded');
  t.deepEqual(
    reminderEvents.map(({ by }) => by?.flowActionId),
    [flowActions[0]?.id, flowActions[0]?.id, flowActions[1]?.id],
  );
});

test('participants are warned before the expiry, with an event, and the warning counts as a reminder', async (t) => {
  const portal = await clockedPortal(t);
  const { client, fixture } = portal;
  const expirationDate = new Date(Date.now() + 30 * DAY).toISOString();
  const reminders = { everyDays: 25, daysBeforeExpiry: [7, 1] };
  const id = await client.create([ana(), BOB], { expirationDate, reminders });
  portal.forward(24 * DAY);
  await untilMailed(portal, id, 'expiring', 1);
  portal.forward(2 * DAY);
  portal.forward(4 * DAY);
  await untilMailed(portal, id, 'expiring', 2);
  t.deepEqual(await mailed(portal, id, 'reminder'), [], 'a warning moves the next reminder');
  t.deepEqual(await mailed(portal, id, 'expiring'), ['ana@example.org', 'ana@example.org']);
  const mail = fixture.mails.find(({ subject }) => /Expires soon/.test(subject));
  const day = new Intl.DateTimeFormat('en-US', { dateStyle: 'long', timeZone: 'UTC' });
  const lastDay = day.format(new Date(expirationDate));
  t.true(mail?.text.includes(`expires at the end of ${lastDay} (UTC)`), mail?.text);
  t.is((await typesOf(portal, id)).filter((type) => type === 'ExpiryWarned').length, 2);
  t.is(fixture.events.filter(({ type }) => type === 'DocumentExpiring').length, 2);
});

test('after an outage over warning and expiry nobody is warned, and a late warning before the expiry is sent', async (t) => {
  const portal = await clockedPortal(t);
  const { client } = portal;
  const create = (days: number) =>
    client.create([ana()], {
      expirationDate: new Date(Date.now() + days * DAY).toISOString(),
      reminders: { everyDays: 2, daysBeforeExpiry: [4] },
    });
  const over = await create(5);
  const later = await create(8);
  portal.forward(7 * DAY);
  const status = async () => (await client.get<{ status: string }>(`/api/documents/${over}`)).status;
  await until(async () => ((await status()) === 'Expired' ? true : undefined));
  await untilMailed(portal, later, 'expiring', 1);
  const types = await typesOf(portal, over);
  t.deepEqual(
    types.filter((type) => type === 'ExpiryWarned' || type === 'Reminded'),
    [],
  );
  t.deepEqual([...(await mailed(portal, over, 'expiring')), ...(await mailed(portal, over, 'reminder'))], []);
});

test('only webhooks that name DocumentExpiring receive it', async (t) => {
  const portal = await clockedPortal(t);
  const { client } = portal;
  const expirationDate = new Date(Date.now() + 30 * DAY).toISOString();
  const { organization } = await client.get<Detail>(`/api/documents/${await client.create([ana()])}`);
  const hooks = `/api/organizations/${organization.id}/webhooks`;
  const plain = await startReceiver(t);
  const other = await startReceiver(t);
  const named = await startReceiver(t);
  await client.post(hooks, { url: plain.url });
  await client.post(hooks, { url: other.url, events: ['DocumentExpired'] });
  await client.post(hooks, { url: named.url, events: ['DocumentExpiring'] });
  const id = await client.create([ana()], { expirationDate, reminders: { daysBeforeExpiry: [7] } });
  const received = ({ calls }: typeof plain) =>
    calls.map(({ body }) => JSON.parse(body) as { readonly type: string; readonly data: object });
  // A call in progress would be late after 24 days.
  await until(async () => (plain.calls.length > 0 ? true : undefined));
  portal.forward(24 * DAY);
  const [warning] = await until(async () => (named.calls.length > 0 ? received(named) : undefined));
  const day = expirationDate.slice(0, 10);
  t.like(warning, { type: 'DocumentExpiring', data: { id, expirationDateWithoutTime: day } });
  portal.forward(7 * DAY);
  const typesOf = (receiver: typeof plain) => received(receiver).map(({ type }) => type);
  for (const receiver of [plain, other])
    await until(async () => (typesOf(receiver).includes('DocumentExpired') ? true : undefined));
  t.deepEqual(typesOf(plain), ['DocumentsCreated', 'DocumentExpired']);
  t.deepEqual(typesOf(other), ['DocumentExpired']);
  t.deepEqual(typesOf(named), ['DocumentExpiring']);
});

test('reminders come from the document, or else from its organization, and can be replaced', async (t) => {
  const portal = await clockedPortal(t);
  const { client } = portal;
  const plain = await client.create([ana()]);
  const detail = await client.get<Detail>(`/api/documents/${plain}`);
  t.is(detail.reminders, null);
  const path = `/api/admin/organizations/${detail.organization.id}`;
  const changed = await clientOf(portal, 'Admin').post(path, { reminders: { everyDays: 5 } }, 'PATCH');
  t.like(changed, { reminders: { everyDays: 5, maximum: 5, daysBeforeExpiry: [] } });
  const inherited = await client.create([ana()]);
  t.like(await client.get(`/api/documents/${inherited}`), { reminders: { everyDays: 5 } });
  const own = await client.create([ana()], { reminders: { everyDays: null } });
  t.like(await client.get(`/api/documents/${own}`), { reminders: { everyDays: null } });
  const other = await clientOf(portal, 'Other').create([ana()]);
  t.like(await clientOf(portal, 'Other').get(`/api/documents/${other}`), { reminders: null });
  t.like(await clientOf(portal, 'Admin').post(path, {}, 'PATCH'), { reminders: { everyDays: 5 } });
  t.like(await clientOf(portal, 'Admin').post(path, { reminders: null }, 'PATCH'), { reminders: null });
  const without = await client.create([ana()]);
  t.like(await client.get(`/api/documents/${without}`), { reminders: null });

  await client.post(`/api/documents/${plain}/reminders`, { everyDays: 2 }, 'PUT');
  t.like(await client.get(`/api/documents/${plain}`), { reminders: { everyDays: 2 } });
  portal.forward(2 * DAY);
  await untilMailed(portal, plain, 'reminder', 1);
  await client.post(`/api/documents/${plain}/cancellation`, { reason: 'Enough.' });
  const late = await client.send(`/api/documents/${plain}/reminders`, { everyDays: 1 }, 'PUT');
  t.is(late.status, 422);
  const refused = await client.create([ana()]);
  await client.post(`/api/documents/${refused}/refusal`, { reason: 'No.' });
  await client.post(`/api/documents/${refused}/reminders`, { everyDays: 2 }, 'PUT');
  const { timers } = (await portal.fixture.store.load({ kind: 'document', id: refused })) ?? {};
  t.false('reminders' in (timers ?? {}), 'nothing is due in Refused');
  const foreign = await clientOf(portal, 'Other').send(`/api/documents/${own}/reminders`, {}, 'PUT');
  t.is(((await foreign.json()) as { code: string }).code, 'DocumentNotFound');
  for (const body of [{ everyDays: 0 }, { maximum: 101 }, { daysBeforeExpiry: Array(11).fill(1) }])
    t.is((await client.send(`/api/documents/${own}/reminders`, body, 'PUT')).status, 400);
});

test('a participant who asks for a code on three days gets three mails', async (t) => {
  const portal = await clockedPortal(t);
  const { client, fixture } = portal;
  const id = await client.create([ana()]);
  const codes = () => fixture.mails.filter(({ text }) => /\b\d{6}\b/.test(text));
  for (const day of [1, 2, 3]) {
    const { key, ticket } = await ticketOf(client, id, 'ana@example.org');
    await client.post(`/api/documents/keys/${key}/email-authentication-code`, { ticket });
    await until(async () => (codes().length === day ? true : undefined));
    portal.forward(DAY);
    await until(async () => {
      const page = await fixture.runtime.inspector.list({ kind: 'flow-action', limit: 10 });
      return page?.items.length === 0 ? true : undefined;
    });
  }
  t.is(new Set(codes().map(({ messageId }) => messageId)).size, 3);
});
