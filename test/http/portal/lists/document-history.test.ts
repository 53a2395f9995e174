/** Ends of documents in their history: who refused them, and when they expired. */
import test from 'ava';
import { type Client, until } from '../../../actors/portal/service.ts';
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
  const [refused, withdrawn, left] = [
    await client.create([ANA]),
    await client.create([ANA]),
    await client.create([ANA], { expirationDate }),
  ];
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
