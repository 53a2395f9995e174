/** Drafts: kept and changed without a document, sent once. */
import test from 'ava';
import { systemClock } from '#runtime/model/clock.js';
import { type Client, SAMPLE, startProgram, until } from '../../../actors/portal/service.ts';
import { temporaryRoot } from '../../../service/service.ts';
import { clientOf, clockedPortal, DAY } from './clocked-portal.ts';

const ANA = { user: { name: 'Ana', email: 'ana@example.org' }, allowElectronicSignature: true };
const DRAFTS = '/api/document-drafts';

interface Sent {
  readonly documentId: string;
}

async function fileOf(client: Client, displayName = 'Contract') {
  const { id } = await client.upload();
  return { id, displayName, name: SAMPLE.name, contentType: SAMPLE.type };
}

function keep(client: Client, document: object): Promise<{ readonly id: string }> {
  return client.post(DRAFTS, { name: 'Contract with Ana', document });
}

async function totalOf(client: Client, path: string): Promise<number> {
  return (await client.get<{ totalCount: number }>(path)).totalCount;
}

test('an incomplete draft is saved and changed, and becomes documents when it is sent', async (t) => {
  const portal = await clockedPortal(t);
  const { client, fixture } = portal;
  const { id } = await keep(client, {});
  t.is(await totalOf(client, '/api/documents'), 0);
  t.like(await client.get(DRAFTS), {
    totalCount: 1,
    items: [{ id, name: 'Contract with Ana', status: 'Saved' }],
  });
  const incomplete = await client.send(`${DRAFTS}/${id}/send`, {});
  t.is(incomplete.status, 400, await incomplete.text());
  t.like(await client.get(`${DRAFTS}/${id}`), { status: 'Saved', documents: [] });

  const document = { files: [await fileOf(client)], flowActions: [ANA], description: 'Please' };
  await client.post(`${DRAFTS}/${id}`, { name: 'Better', document }, 'PUT');
  t.like(await client.get(`${DRAFTS}/${id}`), { name: 'Better', document });
  t.deepEqual(fixture.events, [], 'nothing is announced before it is sent');
  // The file outlives its upload.
  portal.forward(10 * DAY);
  const upload = { kind: 'upload', id: document.files[0]?.id ?? '' };
  const untilExpired = () =>
    until(async () => ((await fixture.store.load(upload)) === undefined ? true : undefined));
  await untilExpired();
  const changed = await client.send(`${DRAFTS}/${id}`, { name: 'Best', document }, 'PUT');
  t.is(changed.status, 200, await changed.text());
  portal.forward(10 * DAY);
  await untilExpired();
  const sent = await client.post<Sent[]>(`${DRAFTS}/${id}/send`, {});
  const again = await client.post<Sent[]>(`${DRAFTS}/${id}/send`, {});
  t.deepEqual(sent, again);
  t.like(await client.get(`/api/documents/${sent[0]?.documentId}`), {
    name: 'Contract',
    description: 'Please',
  });
  t.is(await totalOf(client, '/api/documents'), 1);
  t.is(await totalOf(client, DRAFTS), 0);
  await until(async () => (fixture.mails.length > 0 ? true : undefined));
  t.deepEqual(
    fixture.mails.map(({ to }) => to.address),
    ['ana@example.org'],
  );
  const late = await client.send(`${DRAFTS}/${id}`, { name: 'Late', document }, 'PUT');
  t.like(await late.json(), { code: 'InvalidDocumentStatus' });
});

test('a draft that creation refuses stays unchanged, and belongs to its organization', async (t) => {
  const portal = await clockedPortal(t);
  const { client } = portal;
  const folderId = '00000000-0000-4000-8000-000000000000';
  const document = { files: [await fileOf(client)], flowActions: [ANA], folderId };
  const { id } = await keep(client, document);
  const refused = await client.send(`${DRAFTS}/${id}/send`, {});
  t.like(await refused.json(), { code: 'FolderNotFound' });
  t.like(await client.get(`${DRAFTS}/${id}`), { status: 'Saved', document });
  const foreign = await clientOf(portal, 'Other').send(`${DRAFTS}/${id}/send`, {});
  t.like(await foreign.json(), { code: 'DocumentDraftNotFound' });
  const stolen = await clientOf(portal, 'Other').send(DRAFTS, { name: 'Theirs', document });
  t.like(await stolen.json(), { code: 'UploadNotFound' });
  for (const body of [{ name: 'A' }, { name: 'A', document: { files: 'x' } }, { document: {} }])
    t.is((await client.send(DRAFTS, body)).status, 400);
  await client.fetch(`${DRAFTS}/${id}`, { method: 'DELETE' });
  t.is(await totalOf(client, DRAFTS), 0);
});

test('two sends at the same moment return the same documents', async (t) => {
  const { client, fixture } = await clockedPortal(t);
  const { id } = await keep(client, { files: [await fileOf(client)], flowActions: [ANA] });
  const send = () => client.post<Sent[]>(`${DRAFTS}/${id}/send`, {});
  let during: readonly Sent[] = [];
  fixture.faults.arm('portal.create.all', async () => {
    during = await send();
  });
  t.deepEqual(await send(), during);
  t.is(during.length, 1);
  t.is(await totalOf(client, '/api/documents'), 1);
});

interface Listed {
  readonly items: readonly { readonly id: string; readonly status: string }[];
}

test('a draft that is refused after some documents were made can be changed, and those are canceled', async (t) => {
  const portal = await clockedPortal(t);
  const { client, fixture } = portal;
  const files = [await fileOf(client, 'One'), await fileOf(client, 'Two')];
  const expirationDate = new Date(systemClock.now() + DAY).toISOString();
  const { id } = await keep(client, { files, flowActions: [ANA], expirationDate });
  fixture.faults.arm('portal.create.some', 'throw');
  t.is((await client.send(`${DRAFTS}/${id}/send`, {})).status, 500);
  t.like(await client.get(`${DRAFTS}/${id}`), { status: 'Sending' });
  const [begun] = (await client.get<Listed>('/api/documents')).items;
  // The day is over, and the documents have not processed it.
  portal.forward(3 * DAY);
  t.is((await client.send(`${DRAFTS}/${id}/send`, {})).status, 400, 'it has expired');
  t.like(await client.get(`${DRAFTS}/${id}`), { status: 'Saved', documents: [] });
  await until(async () => {
    const { status } = await client.get<{ status: string }>(`/api/documents/${begun?.id}`);
    return status === 'Canceled' || status === 'Expired' ? true : undefined;
  });
  const document = { files, flowActions: [ANA] };
  await client.post(`${DRAFTS}/${id}`, { name: 'Other', document }, 'PUT');
  const sent = await client.post<Sent[]>(`${DRAFTS}/${id}/send`, {});
  t.is(sent.length, 2);
  t.false(sent.some(({ documentId }) => documentId === begun?.id));
  t.is(await totalOf(client, '/api/documents'), 3);
  t.is(await totalOf(client, '/api/documents?Status=Pending'), 2);
});

test('a kill during a send lets the draft be sent again, and makes each document once', async (t) => {
  const root = await temporaryRoot(t);
  const first = await startProgram(t, { root, faults: 'portal.create.some=kill:1' });
  const files = [await fileOf(first.acme, 'One'), await fileOf(first.acme, 'Two')];
  const { id } = await keep(first.acme, { files, flowActions: [ANA] });
  await t.throwsAsync(first.acme.send(`${DRAFTS}/${id}/send`, {}));
  t.is(await first.service.ended, 'SIGKILL');
  const { acme } = await startProgram(t, { root });
  t.like(await acme.get(`${DRAFTS}/${id}`), { status: 'Sending' });
  const changed = await acme.send(`${DRAFTS}/${id}`, { name: 'Other', document: {} }, 'PUT');
  t.like(await changed.json(), { code: 'InvalidDocumentStatus' });
  const sent = await acme.post<Sent[]>(`${DRAFTS}/${id}/send`, {});
  t.is(sent.length, 2);
  t.is(await totalOf(acme, '/api/documents'), 2);
  t.like(await acme.get(`${DRAFTS}/${id}`), { status: 'Sent', documents: sent });
});
