/** Warnings before the expiry, mails to observers, new links and events of openings: a process that is killed sends each under one id. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import test, { type ExecutionContext } from 'ava';
import { SigningLinks } from '../../../../actors/portal/mails/signing-links.ts';
import { Tickets } from '../../../../actors/portal/shared/tickets.ts';
import { portalKeys } from '../../../../actors/shared/secrets/secret-box.ts';
import type { DocumentId, FlowActionId, UserId } from '../../../../machines/ids.ts';
import { startProgram, until } from '../../../actors/portal/service.ts';
import { startReceiver } from '../../../actors/portal/webhooks/receiver.ts';
import { casesOf } from '../../../project/rounds.ts';
import { folderFor } from '../../../runtime/folder.ts';
import { temporaryRoot } from '../../../service/service.ts';
import { ticketOf } from '../signing/certificate-client.ts';
import { type ClockedPortal, clockedPortal, DAY, mailed, typesOf, untilMailed } from './clocked-portal.ts';

const ANA = { user: { name: 'Ana', email: 'ana@example.org' }, allowElectronicSignature: true };
/** Starts a portal with this store, which is killed at the point. */
async function killed(
  t: ExecutionContext,
  worker: string,
  faults: string,
  words: readonly string[],
): Promise<void> {
  const path = new URL(`./${worker}.js`, import.meta.url).pathname;
  const child = spawn(process.execPath, [path, ...words], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, SEALWRIGHT_FAULTS: `${faults}=kill:1` },
  });
  process.once('exit', () => child.kill('SIGKILL'));
  const [, signal] = await once(child, 'exit');
  t.is(signal, 'SIGKILL');
}

const countOf = async (portal: ClockedPortal, id: string, type: string) =>
  (await typesOf(portal, id)).filter((one) => one === type).length;

for (const point of casesOf(['effect.done.before-outcome/notify'], ['effect.leased.before-run/notify']))
  test.serial(`a kill at ${point} warns a participant before the expiry once`, async (t) => {
    const root = folderFor(t);
    const first = await clockedPortal(t, { root });
    const id = await first.client.create([ANA], {
      expirationDate: new Date(Date.now() + 30 * DAY).toISOString(),
      reminders: { everyDays: 25, daysBeforeExpiry: [7] },
      disablePendingActionNotifications: true,
    });
    await first.close();
    await killed(t, 'reminders-worker', point, [root, '24']);
    const portal = await clockedPortal(t, { root, later: 24 * DAY });
    await untilMailed(portal, id, 'expiring', 1);
    await until(async () => ((await countOf(portal, id, 'MailDelivered')) > 0 ? true : undefined));
    t.deepEqual(await mailed(portal, id, 'expiring'), ['ana@example.org']);
    t.is(await countOf(portal, id, 'ExpiryWarned'), 1);
  });

for (const point of casesOf(['effect.done.before-outcome/notify'], ['effect.leased.before-run/notify']))
  test.serial(`a kill at ${point} mails each observer and participant once`, async (t) => {
    const root = await temporaryRoot(t);
    const first = await startProgram(t, { root, faults: `${point}=kill:1` });
    const observers = ['ola', 'pia'].map((name) => ({ user: { name, email: `${name}@example.org` } }));
    await first.acme.create([ANA], { observers }).catch(() => undefined);
    t.is(await first.service.ended, 'SIGKILL');
    const { acme } = await startProgram(t, { root });
    const { items } = await acme.get<{ items: { id: string }[] }>('/api/documents');
    t.is(items.length, 1);
    const path = `/api/documents/${items[0]?.id}/mails`;
    const mails = await until(async () => {
      const all = await acme.get<{ to: string; status: string }[]>(path);
      return all.length >= 3 ? all : undefined;
    });
    t.deepEqual(mails.map(({ to }) => to).sort(), ['ana@example.org', 'ola@example.org', 'pia@example.org']);
  });

for (const point of casesOf(['effect.done.before-outcome/sendMail'], ['effect.leased.before-run/sendMail']))
  test.serial(`a kill at ${point} mails one new link in place of an expired one`, async (t) => {
    const root = folderFor(t);
    const first = await clockedPortal(t, { root });
    const id = (await first.client.create([ANA], { disableNotifications: true })) as DocumentId;
    const { key, flowActions } = await first.fixture.get(id);
    const [action] = flowActions;
    const links = new SigningLinks(
      new Tickets(portalKeys(Buffer.alloc(32, 7)).tickets),
      { now: () => Date.now() - 91 * DAY },
      () => 'https://sign.example.org',
    );
    const url = links.action({ id, key }, action?.id as FlowActionId, action?.user?.id as UserId);
    const ticket = new URL(url).searchParams.get('ticket') ?? '';
    await first.close();
    await killed(t, 'new-links-worker', point, [root, key, ticket]);
    const portal = await clockedPortal(t, { root });
    t.deepEqual(await untilMailed(portal, id, 'pending', 1), ['ana@example.org']);
  });

// The creation is announced first.
for (const point of casesOf(['effect.done.before-outcome/announce'], ['effect.leased.before-run/announce']))
  test.serial(`a kill at ${point} sends the event of an opening under one id`, async (t) => {
    const root = await temporaryRoot(t);
    const receiver = await startReceiver(t);
    const settings = { 'Portal:WebhookAllowPrivate': true };
    const first = await startProgram(t, { root, settings, faults: `${point}=kill:2` });
    const id = await first.acme.create([ANA], { disablePendingActionNotifications: true });
    const { organization } = await first.acme.get<{ organization: { id: string } }>(`/api/documents/${id}`);
    const webhook = { url: receiver.url, events: ['DocumentOpened'] };
    await first.acme.post(`/api/organizations/${organization.id}/webhooks`, webhook);
    const { key, ticket } = await ticketOf(first.acme, id, 'ana@example.org');
    await first.acme.send(`/api/documents/keys/${key}/view`, { ticket }).catch(() => undefined);
    t.is(await first.service.ended, 'SIGKILL');

    const { acme } = await startProgram(t, { root, settings });
    await until(async () => (receiver.calls.length > 0 ? true : undefined));
    const { items } = await acme.get<{ items: { type: string }[] }>(`/api/documents/${id}/history?limit=100`);
    t.is(items.filter(({ type }) => type === 'Opened').length, 1);
    t.is(new Set(receiver.calls.map(({ headers }) => headers['webhook-id'])).size, 1);
    t.is(new Set(receiver.calls.map(({ body }) => body)).size, 1);
  });
