import { systemClock } from '@sealwright/runtime';
import test from 'ava';
import { documentKeyName } from '../../../../actors/portal/document-records/document-index.ts';
import { SigningLinks } from '../../../../actors/portal/mails/signing-links.ts';
import { Tickets } from '../../../../actors/portal/shared/tickets.ts';
import { portalKeys } from '../../../../actors/shared/secrets/secret-box.ts';
import type { DocumentId, FlowActionId, UserId } from '../../../../machines/ids.ts';
import { reached } from '../../../project/waiting.ts';
import { ORIGIN, portalFixture, refusedAs, signer } from '../documents/flow-harness.ts';

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
  t.like(await fixture.portal.signingPages.page(key, expired, ORIGIN), {
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
  t.like(await fixture.portal.signingPages.page(key, ticketOf(application.url), ORIGIN), {
    canRequestLink: false,
  });
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

test.serial(
  'a cut link gets a new one for the address that the document waits for, and for no other',
  async (t) => {
    const fixture = await portalFixture(t);
    const { mails, signingPages, documentEdits } = fixture.portal;
    const sent = async (id: DocumentId) => (await mails.ofDocument(fixture.tenant, id)).length;
    const id = await fixture.create([signer('Ana'), signer('Bob', 1)]);
    const { key, flowActions } = await fixture.get(id);
    await reached(async () => (await sent(id)) === 1);
    for (const [address, others] of [
      ['nobody@example.org', key],
      ['bob@example.org', key],
      ['', key],
      ['ana@example.org', 'ABCDEFGHIJ0123456789'],
    ] as const) {
      await signingPages.requestLinkTo(others, address);
      t.is(await sent(id), 1, `${address} ${others}`);
    }
    const { length } = fixture.complaints;
    await signingPages.requestLinkTo(key, ' ANA@example.org');
    t.is(await sent(id), 2);
    t.is(fixture.complaints.length, length);
    for (const quiet of [{ disableNotifications: true }, { disablePendingActionNotifications: true }]) {
      const silent = await fixture.create([signer('Ana')], quiet);
      await signingPages.requestLinkTo((await fixture.get(silent)).key, 'ana@example.org');
      t.is(await sent(silent), 0, 'its participants get no mails');
    }

    // A quiet start silences its first step alone, of each version.
    const quiet = await fixture.create([signer('Ana'), signer('Bob', 1)], {
      disablePendingActionNotifications: true,
    });
    await fixture.sign(quiet, 'ana@example.org');
    await reached(async () => (await sent(quiet)) === 1);
    await signingPages.requestLinkTo((await fixture.get(quiet)).key, 'bob@example.org');
    t.is(await sent(quiet), 2);
    // Whoever acts first after the people of the first step were removed is mailed.
    const emptied = await fixture.create([signer('Ana'), signer('Bob', 1)], {
      disablePendingActionNotifications: true,
    });
    await documentEdits.editFlow(fixture.tenant, emptied, {
      deletedFlowActionIds: [(await fixture.get(emptied)).flowActions[0]?.id as FlowActionId],
    });
    await reached(async () => (await sent(emptied)) === 1);
    await signingPages.requestLinkTo((await fixture.get(emptied)).key, 'bob@example.org');
    t.is(await sent(emptied), 2);
    // So is whoever is added to a quiet first step, gets another address there, or is reminded.
    const joined = await fixture.create([signer('Ana'), signer('Cid'), signer('Dora')], {
      disablePendingActionNotifications: true,
    });
    const [, cid, dora] = (await fixture.get(joined)).flowActions;
    await documentEdits.editFlow(fixture.tenant, joined, {
      addedFlowActions: [signer('Eve')],
      editedFlowActions: [
        { flowActionId: cid?.id as FlowActionId, participantEmailAddress: 'cedric@example.org' },
      ],
    });
    await fixture.portal.documents.remind(fixture.tenant, joined, dora?.id as FlowActionId);
    await reached(async () => (await sent(joined)) === 3);
    const joinedKey = (await fixture.get(joined)).key;
    for (const [index, name] of ['eve', 'cedric', 'dora'].entries()) {
      await signingPages.requestLinkTo(joinedKey, `${name}@example.org`);
      t.is(await sent(joined), 4 + index, name);
    }
    await signingPages.requestLinkTo(joinedKey, 'ana@example.org');
    t.is(await sent(joined), 6, 'Ana gets no mails');
    const versioned = await fixture.create([signer('Ana')]);
    await reached(async () => (await sent(versioned)) === 1);
    await fixture.portal.documentEdits.newVersion(fixture.tenant, versioned, {
      file: await fixture.file('again.pdf'),
      disablePendingActionNotifications: true,
    });
    await signingPages.requestLinkTo((await fixture.get(versioned)).key, 'ana@example.org');
    t.is(await sent(versioned), 1);

    // A link to a wrong address, which the sender has corrected since.
    const { ticket } = (await fixture.ticket(id, 'ana@example.org')) as { ticket: string };
    const [first] = flowActions;
    await documentEdits.editFlow(fixture.tenant, id, {
      editedFlowActions: [
        { flowActionId: first?.id as FlowActionId, participantEmailAddress: 'anna@example.org' },
      ],
    });
    const page = await signingPages.page(key, ticket, ORIGIN);
    t.like(page, { state: 'replaced', document: undefined, contact: 'Org' });
    const second = await fixture.create([signer('Ana'), signer('Bob')]);
    const both = await fixture.get(second);
    const removed = (await fixture.ticket(second, 'bob@example.org')) as { ticket: string };
    await documentEdits.editFlow(fixture.tenant, second, {
      deletedFlowActionIds: [both.flowActions[1]?.id as FlowActionId],
    });
    t.like(await signingPages.page(both.key, removed.ticket, ORIGIN), {
      state: 'removed',
      document: undefined,
      contact: 'Org',
    });
    await signingPages.requestLinkTo(key, 'ana@example.org');
    const asked = async () => {
      const pending = (await mails.ofDocument(fixture.tenant, id)).filter(({ about }) => about === 'pending');
      return pending.map(({ to }) => to);
    };
    await reached(async () => (await asked()).includes('anna@example.org'));
    t.deepEqual(await asked(), ['ana@example.org', 'ana@example.org', 'anna@example.org']);
  },
);

test.serial(
  'documents of one call are one mail and one visit, and a code adds what else waits for the mailbox',
  async (t) => {
    let later = 0;
    const clock = Object.assign(Object.create(systemClock), { now: () => Date.now() + later });
    const application = { role: 'Normal', secret: 's'.repeat(64), from: 'stored' } as const;
    const fixture = await portalFixture(t, {
      clock,
      tenants: {
        organizations: [],
        applications: [
          { ...application, organization: 'Org', application: 'App' },
          { ...application, organization: 'Other', application: 'Elsewhere' },
        ],
      },
    });
    const { tenant, portal } = fixture;
    const flowActions = [signer('Ana')];
    const file = (name: string) => fixture.file(`${name}.pdf`);
    const others = await portal.tenants.identify(`Elsewhere|${'s'.repeat(64)}`);
    if (others === undefined) return t.fail('the other organization is missing');
    const observers = [{ user: { email: 'olga@example.org', name: 'Olga' } }];
    const files = [await file('Lease'), await file('Annex'), await file('Keys')];
    const [lease] = await portal.documents.create(tenant, { files, flowActions, observers });
    await fixture.create(flowActions, { files: [await file('Silent')], disableNotifications: true });
    await fixture.create(flowActions, {
      files: [await file('Quiet')],
      disablePendingActionNotifications: true,
    });
    await fixture.create([signer('Bob')], { files: [await file('Not hers')] });
    await fixture.create([{ ...signer('Bob'), step: 1 }, signer('Ana', 2)], {
      files: [await file('Not yet')],
    });
    const sink = await portal.uploads.open();
    await sink.write(Buffer.from('elsewhere'));
    const upload = await portal.uploads.accept(others, sink, { name: 'a.txt', contentType: 'text/plain' });
    await portal.documents.create(others, {
      files: [{ displayName: 'Elsewhere', id: upload.id, name: 'a.txt', contentType: 'text/plain' }],
      flowActions,
      disableNotifications: true,
    });

    const mailTo = async (address: string, fits: RegExp) => {
      await reached(() => fixture.mails.some(({ to, text }) => to.address === address && fits.test(text)));
      return fixture.mails.filter(({ to, text }) => to.address === address && fits.test(text));
    };
    const [mail, ...more] = await mailTo('ana@example.org', /\/sign\?ticket=/);
    t.is(more.length, 0);
    t.regex(mail?.subject ?? '', /Lease.*Annex.*Keys/);
    const links = [...(mail?.text ?? '').matchAll(/key\/(\w+)\/sign\?ticket=(\S+)/g)];
    t.is(links.length, 4, 'the button, and one for each document');
    t.is((await mailTo('olga@example.org', /\/read\?ticket=/)).length, 1);
    await fixture.create(flowActions, { files: [await file('Offer')] });
    for (const [, key = ''] of links) {
      const document = await fixture.store.holder(documentKeyName(key));
      const known = await portal.mails.ofDocument(tenant, document?.id as DocumentId);
      t.deepEqual(
        known.map(({ documentId }) => documentId),
        [document?.id, document?.id],
        'each document knows its mails',
      );
    }

    const [, key = '', ticket = ''] = links[0] ?? [];
    const visit = async (agent: string = ORIGIN.userAgent, by = ticket) => {
      const page = await portal.signingPages.page(key, by, { ...ORIGIN, userAgent: agent });
      return page.visit?.map(({ name, isDone }) => `${name}${isDone ? ' done' : ''}`);
    };
    t.deepEqual(await visit(), ['Lease', 'Annex', 'Keys']);
    const ofApplication = await fixture.ticket(lease?.documentId as DocumentId, 'ana@example.org');
    t.is(await visit(ORIGIN.userAgent, (ofApplication as { ticket: string }).ticket), undefined);

    const access = { by: 'ticket', key, ticket } as const;
    await portal.signing.sendCode(access, 'Email', false);
    const [{ text = '' } = {}] = await mailTo('ana@example.org', /\b\d{6}\b/);
    const [emailCode = ''] = /\b\d{6}\b/.exec(text) ?? [];
    await portal.signing.signElectronically(
      access,
      { positions: [], initialsPositions: [], emailCode },
      ORIGIN,
    );
    const sent = ['Lease done', 'Annex', 'Keys'];
    t.deepEqual(await visit(), [...sent, 'Offer']);
    t.deepEqual(await visit('Another browser'), sent, 'a link that was passed on');
    const page = await portal.signingPages.page(key, ticket, ORIGIN);
    const { tickets } = portalKeys(Buffer.alloc(32, 7));
    const reader = new SigningLinks(new Tickets(tickets), clock, () => '');
    for (const { href } of page.visit ?? []) {
      const next = reader.parse(new URL(href).searchParams.get('ticket') ?? '');
      t.is(next?.expiresAt, reader.parse(ticket)?.expiresAt, 'a visit prolongs nothing');
      t.true(next?.needsEmailCode);
    }
    later = 31 * 60_000;
    t.deepEqual(await visit(), sent);
  },
);

test.serial('a visit leads each of two people with one mailbox to documents of their own', async (t) => {
  const fixture = await portalFixture(t);
  const { tenant, portal } = fixture;
  const files = [await fixture.file('Lease.pdf'), await fixture.file('Annex.pdf')];
  const flowActions = ['Ana', 'Bruno'].map((name) => ({
    ...signer(name),
    user: { name, email: 'both@example.org' },
  }));
  const made = await portal.documents.create(tenant, { files, flowActions });
  await reached(() => fixture.mails.length === 2);
  const { tickets } = portalKeys(Buffer.alloc(32, 7));
  const links = new SigningLinks(new Tickets(tickets), systemClock, () => '');
  for (const name of ['Ana', 'Bruno']) {
    const mail = fixture.mails.find(({ text }) => text.includes(name));
    const [, key = '', ticket = ''] = /key\/(\w+)\/sign\?ticket=(\S+)/.exec(mail?.text ?? '') ?? [];
    const { visit = [] } = await portal.signingPages.page(key, ticket, ORIGIN);
    t.is(visit.length, 2, name);
    for (const { href } of visit) {
      const next = links.parse(new URL(href).searchParams.get('ticket') ?? '');
      t.true(made.some(({ documentId }) => documentId === next?.documentId));
      const { flowActions: actions } = await fixture.get(next?.documentId as DocumentId);
      t.is(actions.find(({ id }) => id === next?.flowActionId)?.user?.name, name);
    }
  }
});
