/** The audit trail: what participants, applications and mail servers did, in the history, the manifest and webhooks. */
import { writeFile } from 'node:fs/promises';
import test from 'ava';
import { startRelay } from '../../actors/portal/mails/relay.ts';
import { type Client, startProgram, until } from '../../actors/portal/service.ts';
import { startReceiver } from '../../actors/portal/webhooks/receiver.ts';
import { runTool, withTools } from '../../verifiers/index.ts';
import { ticketOf } from './signing/certificate-client.ts';

const toolTest = withTools(test, 'pdftotext');

interface Entry {
  readonly type: string;
  readonly by: string | null;
  readonly userId: string | null;
  readonly ipAddress: string | null;
  readonly userAgent: string | null;
  readonly message: string;
  readonly data: { readonly detail?: string } | null;
}

const ANA = { name: 'Ana', email: 'ana@example.org' };
const NOBODY = { name: 'Nobody', email: 'nobody@example.org' };
const FLOW = [
  { user: ANA, allowElectronicSignature: true, step: 1 },
  { user: NOBODY, allowElectronicSignature: true, step: 1 },
];

async function historyOf(client: Client, id: string): Promise<readonly Entry[]> {
  return (await client.get<{ items: Entry[] }>(`/api/documents/${id}/history?limit=100`)).items;
}

function smtp(port: number) {
  return {
    'Portal:Smtp:Host': '127.0.0.1',
    'Portal:Smtp:Port': port,
    'Portal:Smtp:From': 'portal@example.test',
  };
}

const countOf = (entries: readonly Entry[], type: string) =>
  entries.filter((one) => one.type === type).length;

test('mails, openings, codes, edits, reminders and downloads are recorded with principal, address and agent', async (t) => {
  const relay = await startRelay(t);
  const { acme, url } = await startProgram(t, { settings: smtp(relay.port) });
  const id = await acme.create(FLOW);
  const path = `/api/documents/${id}`;
  const typesOf = async () => (await historyOf(acme, id)).map(({ type }) => type);
  const has = (type: string) => until(async () => ((await typesOf()).includes(type) ? true : undefined));
  await has('MailDelivered');
  await has('MailRefused');

  const { key } = await ticketOf(acme, id, ANA.email);
  const headers = { 'content-type': 'application/json', 'user-agent': 'Reader/1.0' };
  const byTicket = async (action: string, body: object, status = 200) => {
    const text = relay.taken.map(({ raw }) => raw.replaceAll(/=\r?\n/g, '')).join('\n');
    const [, mailed = ''] = /\?ticket=3D([\w.~-]+)/.exec(text) ?? /\?ticket=([\w.~-]+)/.exec(text) ?? [];
    const answer = await fetch(`${url}/api/documents/keys/${key}/${action}`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ ticket: mailed, ...body }),
    });
    t.is(answer.status, status, `${action}: ${await answer.text()}`);
  };
  for (let count = 0; count < 5; count += 1) await byTicket('view', {});
  await byTicket('view', { reachedEnd: true });
  await byTicket('email-authentication-code', {});
  await has('CodeSent');
  await byTicket('electronic-signature', { emailCode: '000000' }, 422);
  await acme.fetch(`${path}/content`);
  await acme.fetch(`${path}/content`);
  const { flowActions } = await acme.get<{ flowActions: { id: string }[] }>(path);
  await acme.post('/api/notifications/flow-action-reminder', {
    documentId: id,
    flowActionId: flowActions[0]?.id,
  });
  await acme.post(`${path}/flow`, {
    editedFlowActions: [{ flowActionId: flowActions[0]?.id, title: 'Tenant' }],
  });
  await acme.post(`${path}/cancellation`, { reason: 'Enough.' });

  const entries = await historyOf(acme, id);
  const one = (type: string) => entries.find((entry) => entry.type === type);
  for (const type of ['Opened', 'Viewed', 'WrongCode']) {
    t.like(one(type), { by: 'Ana', userAgent: 'Reader/1.0' }, type);
    t.truthy(one(type)?.userId);
  }
  for (const type of ['Created', 'Downloaded', 'Reminded', 'Edited', 'Canceled'])
    t.like(one(type), { by: 'Acme App', userAgent: 'node' }, type);
  for (const type of [
    'Opened',
    'Viewed',
    'WrongCode',
    'Created',
    'Downloaded',
    'Reminded',
    'Edited',
    'Canceled',
  ])
    t.regex(one(type)?.ipAddress ?? '', /127\.0\.0\.1|::1/, type);
  t.regex(one('MailRefused')?.data?.detail ?? '', /No such user here/);
  t.like(one('MailRefused'), { by: 'Nobody' });
  t.like(one('CodeSent'), { by: 'Ana' });
  t.deepEqual(
    ['Opened', 'Viewed', 'Downloaded'].map((type) => countOf(entries, type)),
    [1, 1, 1],
    'repetitions are one line',
  );
});

test('openings from many addresses keep the history bounded', async (t) => {
  const { acme, url } = await startProgram(t, {
    settings: {
      'Hosting:ForwardedHeaders:Enabled': true,
      'Hosting:ForwardedHeaders:KnownProxies:0': '127.0.0.1',
    },
  });
  const id = await acme.create(FLOW);
  const { key, ticket } = await ticketOf(acme, id, ANA.email);
  for (let count = 0; count < 150; count += 1) {
    const headers = { 'content-type': 'application/json', 'x-forwarded-for': `198.51.100.${count}` };
    const body = JSON.stringify({ ticket });
    await fetch(`${url}/api/documents/keys/${key}/view`, { method: 'POST', headers, body });
  }
  const opened = [0, 1].map(async (offset) => {
    const page = await acme.get<{ items: Entry[] }>(
      `/api/documents/${id}/history?limit=100&offset=${offset}`,
    );
    return page.items.filter(({ type }) => type === 'Opened');
  });
  const entries = (await Promise.all(opened)).flat();
  t.is(entries.length, 100);
  t.is(new Set(entries.map(({ ipAddress }) => ipAddress)).size, 100);
});

toolTest('the manifest shows the history, and downloads do not change it', async (t) => {
  const { acme, service } = await startProgram(t);
  const id = await acme.create([FLOW[0] as object]);
  const { flowActions } = await acme.get<{ flowActions: { id: string }[] }>(`/api/documents/${id}`);
  await acme.post(`/api/documents/${id}/electronic-signature`, { flowActionId: flowActions[0]?.id });
  await until(async () => (countOf(await historyOf(acme, id), 'MailDelivered') === 2 ? true : undefined));
  const manifest = async () => {
    const answer = await acme.fetch(`/api/documents/${id}/content?type=SignaturesManifest`);
    return Buffer.from(await answer.arrayBuffer());
  };
  const first = await manifest();
  t.deepEqual(await manifest(), first);
  const path = `${service.root}/manifest.pdf`;
  await writeFile(path, first);
  const text = (await runTool('pdftotext', ['-layout', path, '-'])).stdout;
  t.regex(
    text,
    /History[\s\S]*UTC +Created: Acme App[\s\S]*UTC +Signed: Ana \(.*127\.0\.0\.1[\s\S]*UTC +Concluded/,
  );
});

test('webhooks receive openings, failed mails and reminders only on subscription', async (t) => {
  const relay = await startRelay(t);
  const { organization } = await startProgram(t, { settings: smtp(relay.port) });
  const other = await organization('Other');
  const plain = await startReceiver(t);
  const named = await startReceiver(t);
  const hooks = `/api/organizations/${other.organizationId}/webhooks`;
  await other.post(hooks, { url: plain.url });
  const optional = ['DocumentOpened', 'DocumentViewed', 'DocumentReminded', 'MailFailed'];
  t.like(await other.post(hooks, { url: named.url, events: optional }), { events: optional });
  const refused = await other.send(hooks, { url: named.url, events: ['DocumentPainted'] });
  t.is(refused.status, 400);
  const id = await other.create(FLOW);
  const { key, ticket } = await ticketOf(other, id, ANA.email);
  await other.post(`/api/documents/keys/${key}/view`, { ticket, reachedEnd: true });
  const { flowActions } = await other.get<{ flowActions: { id: string }[] }>(`/api/documents/${id}`);
  await other.post('/api/notifications/flow-action-reminder', {
    documentId: id,
    flowActionId: flowActions[0]?.id,
  });
  await other.post(`/api/documents/${id}/cancellation`, { reason: 'Enough.' });
  const typesOf = ({ calls }: typeof plain) =>
    calls.map(({ body }) => (JSON.parse(body) as { type: string }).type);
  await until(async () => (optional.every((type) => typesOf(named).includes(type)) ? true : undefined));
  await until(async () => (typesOf(plain).includes('DocumentCanceled') ? true : undefined));
  t.deepEqual(typesOf(plain).sort(), ['DocumentCanceled', 'DocumentsCreated']);
  t.deepEqual([...new Set(typesOf(named))].sort(), [...optional].sort());
  const opened = named.calls
    .map(({ body }) => JSON.parse(body))
    .find(({ type }) => type === 'DocumentOpened');
  t.like(opened.data, { id, view: { name: 'Ana', emailAddress: ANA.email } });
});
