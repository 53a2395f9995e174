/** Ends of documents in their history: who refused them, and when they expired. */
import test from 'ava';
import type { DocumentId } from '../../../../machines/ids.ts';
import { type Client, until } from '../../../actors/portal/service.ts';
import { ADMINISTRATOR, UserBrowser } from '../accounts/users.ts';
import { clockedPortal, DAY } from '../requests/clocked-portal.ts';
import { ticketOf } from '../signing/certificate-client.ts';

interface Entry {
  readonly type: string;
  readonly date: string;
  readonly by: string | null;
  readonly ipAddress: string | null;
}

const ANA = { user: { name: 'Ana', email: 'ana@example.org' }, allowElectronicSignature: true };
const LOOPBACK = /127\.0\.0\.1|::1/;

/** The only entry of a type. */
async function entryOf(client: Client, id: string, type: string): Promise<Entry | undefined> {
  const { items } = await client.get<{ items: Entry[] }>(`/api/documents/${id}/history?limit=100`);
  const found = items.filter((entry) => entry.type === type);
  if (found.length > 1) throw new Error(`${type} is ${found.length} times in the history`);
  return found[0];
}

test('refusals of participants and applications, and the expiry, have their principal and time', async (t) => {
  const portal = await clockedPortal(t);
  const { client } = portal;
  const expirationDate = new Date(Date.now() + 5 * DAY).toISOString();
  const refused = await client.create([ANA]);
  const withdrawn = await client.create([ANA]);
  const left = await client.create([ANA], { expirationDate });
  const { key, ticket } = await ticketOf(client, refused, 'ana@example.org');
  const begun = Date.now();
  const answer = await fetch(`${client.url}/api/documents/keys/${key}/participant-refusal`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'user-agent': 'Reader/1.0' },
    body: JSON.stringify({ ticket, reason: 'The rent is wrong.' }),
  });
  t.is(answer.status, 200, await answer.text());
  await client.post(`/api/documents/${withdrawn}/refusal`, { reason: 'Enough.' });
  const ended = Date.now();

  const { flowActions } = await client.get<{ flowActions: { user: { id: string } }[] }>(
    `/api/documents/${refused}`,
  );
  const byAna = await entryOf(client, refused, 'Refused');
  t.like(byAna, { by: 'Ana', userId: flowActions[0]?.user.id, userAgent: 'Reader/1.0', state: 'Refused' });
  const byApplication = await entryOf(client, withdrawn, 'Refused');
  t.like(byApplication, { by: 'App', userId: null, userAgent: 'node', state: 'Refused' });
  for (const entry of [byAna, byApplication]) {
    t.regex(entry?.ipAddress ?? '', LOOPBACK);
    const at = Date.parse(entry?.date ?? '');
    t.true(at >= begun && at <= ended, entry?.date);
  }

  t.is(await entryOf(client, left, 'Expired'), undefined);
  portal.forward(6 * DAY);
  const expired = await until(() => entryOf(client, left, 'Expired'));
  t.like(expired, { by: null, userId: null, ipAddress: null, userAgent: null, state: 'Expired' });
  t.true(Date.parse(expired.date) > Date.parse(`${expirationDate.slice(0, 10)}T23:59:59.998Z`), expired.date);
});

test('the page of a document names who did each entry: participant, user, service', async (t) => {
  const { client, fixture, forward } = await clockedPortal(t);
  const bob = { user: { name: 'Bob', email: 'bob@localhost.example' }, allowElectronicSignature: true };
  const id = await client.create([ANA, { ...bob, step: 2 }], {
    expirationDate: new Date(Date.now() + 5 * DAY).toISOString(),
  });
  await fixture.sign(id as DocumentId, 'ana@example.org');
  const sam = { name: 'Sam Sender', email: 'sam@example.org', accessProfile: ADMINISTRATOR };
  await client.post('/api/organizations/users', sam);
  const signIn = async () => {
    const before = fixture.mails.length;
    const browser = new UserBrowser(client.url);
    await browser.askForLink(sam.email);
    const mail = await until(async () =>
      fixture.mails.slice(before).find(({ to }) => to.address === sam.email),
    );
    await browser.follow(/https?:\S+\/sign-in\/link\?ticket=[\w-]+/.exec(mail.text)?.[0] ?? '');
    return browser;
  };
  const browser = await signIn();
  const path = `/account/documents/${id}`;
  await browser.page(path);
  const { flowActions } = await client.get<{ flowActions: readonly { id: string }[] }>(
    `/api/documents/${id}`,
  );
  const edited = { flowActionId: flowActions[1]?.id, participantEmailAddress: 'bob@example.org' };
  const answer = await browser.fetch(`/api/documents/${id}/flow`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-form-token': browser.token, origin: client.url },
    body: JSON.stringify({ editedFlowActions: [edited] }),
  });
  t.is(answer.status, 200, await answer.text());
  forward(6 * DAY);
  await until(() => entryOf(client, id, 'Expired'));
  // The session has ended meanwhile.
  const later = await signIn();
  const entries = async (culture: string) =>
    [
      ...(await later.page(`${path}?culture=${culture}`)).matchAll(
        /<li><time[^>]*>[^<]*<\/time> (.*?)<\/li>/g,
      ),
    ].map(([, text = '']) => text.replaceAll(/<[^>]+>/g, ''));
  // Mails are recorded after their answers, at any time.
  const changesOf = (texts: readonly string[], mail: RegExp) => texts.filter((text) => !mail.test(text));
  t.deepEqual(changesOf(await entries('en'), /mail/), [
    'Expired. automatically',
    'The flow was edited. Sam Sender',
    'Ana signed.',
    'Created. App',
  ]);
  const portuguese = await entries('pt');
  t.deepEqual(changesOf(portuguese, /e-mail/i), [
    'Expirado. automaticamente',
    'Alterado. Sam Sender',
    'Assinado. Ana',
    'Criado. App',
  ]);
  t.true(portuguese.includes('E-mail solicitado. para Bob'), 'the receiver of a mail did not ask for it');
});
