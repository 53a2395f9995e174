import test from 'ava';
import { SigningLinks } from '../../../../actors/portal/mail/signing-links.ts';
import { Tickets } from '../../../../actors/portal/shared/tickets.ts';
import { portalKeys } from '../../../../actors/shared/secret-box.ts';
import type { FlowActionId, UserId } from '../../../../machines/ids.ts';
import { portalFixture, refusedAs, signer } from '../documents/flow-harness.ts';

const DAY_MS = 86_400_000;

test.serial('an expired link gets its participant one new link, and sends no link to others', async (t) => {
  const fixture = await portalFixture(t);
  const { mails } = fixture.portal;
  const id = await fixture.create([signer('Ana'), signer('Bob', 1)], { disableNotifications: true });
  const { key, flowActions } = await fixture.get(id);
  const past = Date.now() - 91 * DAY_MS;
  const links = new SigningLinks(
    new Tickets(portalKeys(Buffer.alloc(32, 7)).tickets),
    { now: () => past },
    () => 'https://sign.example.org',
  );
  const ticketOf = (url: string) => new URL(url).searchParams.get('ticket') ?? '';
  const turnOf = (index: number) => {
    const action = flowActions[index];
    return [action?.id as FlowActionId, action?.user?.id as UserId] as const;
  };
  const expired = ticketOf(links.action({ id, key }, ...turnOf(0)));
  t.like(await fixture.portal.signingPages.page(key, expired), {
    state: 'ticket-expired',
    canRequestLink: true,
  });
  t.is((await mails.ofDocument(fixture.tenant, id)).length, 0, 'opening the page sends a mail');

  await Promise.all([1, 2, 3].map(() => fixture.portal.signingPages.requestLink(key, expired)));
  const sent = await mails.ofDocument(fixture.tenant, id);
  // The requests may stand on both sides of the border of two intervals.
  t.true(sent.length === 1 || sent.length === 2, `${sent.length} mails`);
  t.deepEqual([...new Set(sent.map(({ to }) => to))], ['ana@example.org']);

  const application = links.forApplication(
    fixture.tenant,
    { id, key },
    { flowActionId: turnOf(0)[0], userId: turnOf(0)[1] },
    false,
  );
  t.like(await fixture.portal.signingPages.page(key, ticketOf(application.url)), { canRequestLink: false });
  await refusedAs(
    t,
    'InvalidTicket',
    fixture.portal.signingPages.requestLink(key, ticketOf(application.url)),
  );
  // Not Bob's turn.
  await refusedAs(
    t,
    'InvalidTicket',
    fixture.portal.signingPages.requestLink(key, ticketOf(links.action({ id, key }, ...turnOf(1)))),
  );
  await refusedAs(
    t,
    'InvalidTicket',
    fixture.portal.signingPages.requestLink('ABCDEFGHIJ0123456789', expired),
  );
  await refusedAs(t, 'InvalidTicket', fixture.portal.signingPages.requestLink(key, 'nonsense'));
  const valid = await fixture.ticket(id, 'ana@example.org');
  if (valid.by !== 'ticket') throw new Error('a ticket');
  await refusedAs(t, 'InvalidTicket', fixture.portal.signingPages.requestLink(key, valid.ticket));
  t.is((await mails.ofDocument(fixture.tenant, id)).length, sent.length);
});
