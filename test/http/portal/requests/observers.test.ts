/** Observers get a link to read a document and its state. Source: docs/decisions/0125-links-of-observers.md. */
import test from 'ava';
import { assertRefused } from '../../refused.ts';
import { ticketOf } from '../signing/certificate-client.ts';
import { type ClockedPortal, clockedPortal, DAY, mailed, untilMailed } from './clocked-portal.ts';

interface Detail {
  readonly key: string;
  readonly observers: readonly { readonly id: string }[];
}

const ANA = [{ user: { name: 'Ana', email: 'ana@example.org' }, allowElectronicSignature: true }];
const OLA = { user: { name: 'Ola', email: 'ola@example.org' } };

let portal: ClockedPortal;
const ends: (() => unknown)[] = [];
test.before(async () => {
  portal = await clockedPortal({ teardown: (end) => ends.push(end) });
});
test.after.always(async () => {
  for (const end of ends.reverse()) await end();
});

/** The link in the newest mail of this subject to an address. */
function linkTo(address: string, subject: RegExp): { path: string; key: string; ticket: string } {
  const { mails } = portal.fixture;
  const mail = [...mails].reverse().find((one) => one.to.address === address && subject.test(one.subject));
  const [, path = '', key = '', ticket = ''] =
    /(\/document\/key\/([^/]+)\/read\?ticket=([\w-]+))/.exec(mail?.text ?? '') ?? [];
  return { path, key, ticket };
}

const get = (path: string) => fetch(`${portal.client.url}${path}`);
const content = ({ key, ticket }: { key: string; ticket: string }, type = '') =>
  get(`/document/key/${key}/content?ticket=${ticket}${type}`);

async function stateOf(path: string): Promise<string | undefined> {
  return /data-state="([\w-]+)"/.exec(await (await get(`${path}&culture=en`)).text())?.[1];
}

async function observed(more: object = {}) {
  const id = await portal.client.create(ANA, { observers: [OLA], ...more });
  await untilMailed(portal, id, 'observing', 1);
  return { id, link: linkTo('ola@example.org', /For your information/) };
}

test.serial('an observer reads the document and its state, and cannot act', async (t) => {
  const { client } = portal;
  const { id, link } = await observed();
  const page = await get(`${link.path}&culture=en`);
  t.is(page.status, 200);
  const html = await page.text();
  t.true(html.includes('data-state="observing"') && html.includes('Ana'));
  t.false(/<form|id="actions"/.test(html));
  t.regex(page.headers.get('content-security-policy') ?? '', /frame-ancestors 'none'/);
  t.is((await content(link)).status, 200);
  await assertRefused(t, await content(link, '&type=Signatures'), 'DownloadTypeNotAvailable');
  const keys = `/api/documents/keys/${link.key}`;
  for (const [call, body] of [
    ['electronic-signature', {}],
    ['approval', {}],
    ['participant-refusal', { reason: 'no' }],
    ['email-authentication-code', {}],
    ['view', { reachedEnd: true }],
  ] as const)
    await assertRefused(
      t,
      await client.send(`${keys}/${call}`, { ticket: link.ticket, ...body }),
      'InvalidTicket',
    );
  const { key, ticket } = await ticketOf(client, id, 'ana@example.org');
  await client.post(`/api/documents/keys/${key}/electronic-signature`, { ticket });
  await untilMailed(portal, id, 'concluded', 1);
  t.is(await stateOf(link.path), 'concluded');
  const signed = await content(link, '&type=Signatures');
  t.regex(signed.headers.get('content-disposition') ?? '', /-signed\.pdf/);
  t.is((await content(link, '&type=SignaturesManifest')).status, 200);
  const { items } = await client.get<{ items: { type: string; principal: { name: string } | null }[] }>(
    `/api/documents/${id}/history?limit=100`,
  );
  t.true(
    items.some(({ type, ...more }) => type === 'Downloaded' && JSON.stringify(more).includes('Ola')),
    JSON.stringify(items),
  );
  t.is(await stateOf(linkTo('ola@example.org', /Completed/).path), 'concluded');
});

test.serial('a link ends when its observer is removed or gets another address', async (t) => {
  const { client } = portal;
  const { id, link } = await observed();
  const { observers } = await client.get<Detail>(`/api/documents/${id}`);
  const observerId = observers[0]?.id ?? '';
  await client.post(`/api/documents/${id}/flow`, {
    editedObservers: [{ observerId, emailAddress: 'olga@example.org' }],
    addedObservers: [{ user: { name: 'Per', email: 'per@example.org' } }],
  });
  await untilMailed(portal, id, 'observing', 3);
  t.is((await get(link.path)).status, 404);
  await assertRefused(t, await content(link), 'InvalidTicket');
  const olga = linkTo('olga@example.org', /For your information/);
  t.is(await stateOf(olga.path), 'observing');
  t.is(await stateOf(linkTo('per@example.org', /For your information/).path), 'observing');
  await client.post(`/api/documents/${id}/flow`, { deletedObserverIds: [observerId] });
  t.is((await get(olga.path)).status, 404);
  await assertRefused(t, await content(olga), 'InvalidTicket');
  t.deepEqual(await untilMailed(portal, id, 'flow-edited', 1), ['per@example.org']);
});

test.serial('the file of a canceled or deleted document is not served by a link', async (t) => {
  const { client } = portal;
  const canceled = await observed();
  await client.post(`/api/documents/${canceled.id}/cancellation`, { reason: 'Wrong file' });
  t.is(await stateOf(canceled.link.path), 'canceled');
  await assertRefused(t, await content(canceled.link), 'InvalidTicket');
  const deleted = await observed();
  await client.fetch(`/api/documents/${deleted.id}`, { method: 'DELETE' });
  t.is(await stateOf(deleted.link.path), 'deleted');
  await assertRefused(t, await content(deleted.link), 'DocumentIsDeleted');
  const wrong = { ...deleted.link, key: canceled.link.key };
  await assertRefused(t, await content(wrong), 'InvalidTicket');
});

test.serial('a silent start sends observers no link, and a link expires after 90 days', async (t) => {
  const quiet = await portal.client.create(ANA, {
    observers: [OLA],
    disablePendingActionNotifications: true,
  });
  const { link } = await observed();
  t.deepEqual(await mailed(portal, quiet, 'observing'), []);
  portal.forward(91 * DAY);
  t.is(await stateOf(link.path), 'ticket-expired');
  await assertRefused(t, await content(link), 'InvalidTicket');
});
