import { MemoryStore } from '@sealwright/runtime/testing';
import test from 'ava';
import { DOCUMENT, participantKey } from '../../../../actors/portal/document-records/document-index.ts';
import { pendingOf } from '../../../../actors/portal/document-records/document-list.ts';
import type { DocumentId, FlowActionId, OrganizationId } from '../../../../machines/ids.ts';
import { A, stepOf } from '../../../contract/steps.ts';
import {
  approver,
  ORIGIN,
  type PortalFixture,
  person,
  portalFixture,
  refusedAs,
  signer,
} from './flow-harness.ts';

function page(fixture: PortalFixture, query: object = {}) {
  return fixture.portal.documents.list(fixture.tenant, {
    limit: 10,
    offset: 0,
    newestFirst: false,
    ...query,
  });
}

test.serial(
  'lists find documents by status, participant, folder, tag and text, with exact totals',
  async (t) => {
    const fixture = await portalFixture(t);
    const { documents, folders } = fixture.portal;
    const folder = await folders.create(fixture.tenant, 'Deals', null);
    const first = await fixture.create([signer('Ana'), signer('Bob', 1)], {
      folderId: folder.id,
      tags: [{ label: 'year', value: '2026' }],
    });
    const second = await fixture.create([approver('Ana')]);
    const third = await fixture.create([
      signer('Bob', 0, { user: person('Bob', { identifier: '529.982.247-25' }) }),
    ]);
    await documents.cancel(fixture.tenant, third, 'Not needed.');
    const ids = async (query: object) => (await page(fixture, query)).items.map(({ id }) => id);
    t.deepEqual(await ids({}), [first, second, third]);
    t.deepEqual(await ids({ newestFirst: true }), [third, second, first]);
    t.deepEqual(await ids({ status: 'Pending' }), [first, second]);
    t.deepEqual(await ids({ status: 'CanceledOrExpired' }), [third]);
    t.deepEqual(
      await ids({ status: 'Pending', participantQ: 'ANA@example.org', participantQueryType: 'Email' }),
      [first, second],
    );
    t.deepEqual(await ids({ participantQ: '529.982.247-25', participantQueryType: 'Identifier' }), [third]);
    t.deepEqual(await ids({ participantQ: 'bo' }), [first, third]);
    t.deepEqual(await ids({ participantQ: 'bob', pendingSignature: true }), []);
    t.deepEqual(await ids({ pendingSignature: true }), [first, third]);
    t.deepEqual(await ids({ folderId: folder.id }), [first]);
    t.deepEqual(await ids({ withoutFolder: true }), [second, third]);
    t.deepEqual(await ids({ tags: [{ label: 'YEAR', value: '2026' }] }), [first]);
    t.deepEqual(await ids({ q: 'CONTR' }), [first, second, third]);
    t.deepEqual(await ids({ q: ' CONTR\u00a0' }), [first, second, third], 'pasted with spaces');
    t.deepEqual(await ids({ q: '\t' }), [first, second, third]);
    t.like(await page(fixture, { limit: 2, offset: 1 }), { totalCount: 3, items: { length: 1 } });
    await documents.remove(fixture.tenant, second);
    t.deepEqual(await ids({}), [first, third]);
    t.deepEqual(await ids({ deleted: true }), [second]);
    t.is((await page(fixture)).totalCount, 2);
    await refusedAs(t, 'DocumentIsDeleted', fixture.get(second));
    await documents.move(fixture.tenant, first, { folderId: null, newFolderName: 'Later' });
    t.deepEqual(await ids({ folderId: folder.id }), []);
    t.is((await fixture.get(first)).folder?.name, 'Later');
  },
);

test.serial(
  'the asked participants are mailed in the order of the steps, and the first step can be silenced separately',
  async (t) => {
    const fixture = await portalFixture(t);
    const to = () => fixture.mails.map((mail) => mail.to.address);
    const id = await fixture.create([signer('Ana', 1), signer('Bob', 2)], {
      disablePendingActionNotifications: true,
      notifiedEmails: ['boss@example.org'],
    });
    await fixture.sign(id, 'ana@example.org');
    await fixture.until(id, () => to().includes('bob@example.org'));
    t.deepEqual(to(), ['bob@example.org']);
    const url = /https:\/\/sign\.example\.org\/document\/key\/[A-Z0-9]{20}\/sign\?ticket=[\w-]+/.exec(
      fixture.mails[0]?.text ?? '',
    );
    t.truthy(url);
    const { flowActions } = await fixture.get(id);
    const remind = (at: number) =>
      fixture.portal.documents.remind(fixture.tenant, id, flowActions[at]?.id as FlowActionId);
    t.is(await remind(0), 0, 'has signed');
    t.is(await remind(1), 1);
    await fixture.until(id, () => to().length === 2);
    await fixture.sign(id, 'bob@example.org');
    await fixture.until(id, () => to().includes('boss@example.org'));
    const silent = await fixture.create([signer('Di')], { disableNotifications: true });
    await fixture.sign(silent, 'di@example.org');
    await fixture.until(silent, ({ status }) => status === 'Concluded');
    t.false(to().includes('di@example.org'));
  },
);

test.serial(
  'a participant without a name is shown by the address, to others and to those who sign later',
  async (t) => {
    const fixture = await portalFixture(t);
    const id = await fixture.create([
      signer('Ana', 1, { user: { email: 'ana@example.org' } }),
      signer('Bob', 2),
    ]);
    const { key } = await fixture.get(id);
    const shown = async (email: string) => {
      const { ticket } = (await fixture.ticket(id, email)) as { ticket: string };
      const { participants, document } = await fixture.portal.signingPages.page(key, ticket, ORIGIN);
      return [participants?.map(({ name }) => name), document?.signatures?.map(({ name }) => name)];
    };
    const people = ['ana@example.org', 'Bob'];
    t.deepEqual(await shown('ana@example.org'), [people, []]);
    await fixture.sign(id, 'ana@example.org');
    await fixture.until(id, ({ hasSignature }) => hasSignature);
    t.deepEqual(await shown('bob@example.org'), [people, ['ana@example.org']]);
    const { items } = await fixture.portal.documents.history(fixture.tenant, id, { limit: 50, offset: 0 });
    t.true(items.some(({ by }) => by === 'ana@example.org'));
    for (const { text = '', subject } of fixture.mails)
      t.notRegex(`${subject} ${text}`, /null|undefined|\b,\s*,/);
  },
);

test.serial('requests for another organization, or over a limit, are refused with a code', async (t) => {
  const fixture = await portalFixture(t);
  const { documents } = fixture.portal;
  const id = await fixture.create([signer('Ana')]);
  const otherTenant = {
    ...fixture.tenant,
    organization: { ...fixture.tenant.organization, id: 'other' as never },
  };
  await refusedAs(t, 'DocumentNotFound', documents.get(otherTenant, id));
  await refusedAs(t, 'DocumentNotFound', documents.cancel(otherTenant, id, 'x'));
  await refusedAs(
    t,
    'DocumentNotFound',
    documents.get(fixture.tenant, '00000000-0000-4000-8000-000000000000' as DocumentId),
  );
  await refusedAs(
    t,
    'BadRequest',
    fixture.create([signer('Ana')], { expirationDate: Date.now() - 2 * 86_400_000 }),
  );
  await refusedAs(t, 'InvalidFlowAction', fixture.create([{ type: 'Signer' }]));
  await refusedAs(
    t,
    'LimitExceeded',
    fixture.create(Array.from({ length: 31 }, (_, at) => signer(`P${at}`))),
  );
  await refusedAs(t, 'FolderNotFound', fixture.create([signer('Ana')], { folderId: id }));
  const text = await fixture.file('a.txt', Buffer.from('a'), 'text/plain');
  await refusedAs(
    t,
    'EnvelopeRequiresPdf',
    fixture.create([signer('Ana')], { files: [text], isEnvelope: true, envelopeName: 'E' }),
  );
  await refusedAs(
    t,
    'EnvelopeNameRequired',
    fixture.create([signer('Ana')], { files: [text], isEnvelope: true }),
  );
  await documents.cancel(fixture.tenant, id, 'Done.');
  await refusedAs(t, 'DocumentAlreadyCanceled', documents.cancel(fixture.tenant, id, 'Again.'));
});

test.serial(
  'an envelope of two files is one document whose marks count pages of their own file',
  async (t) => {
    const fixture = await portalFixture(t);
    const files = [await fixture.file('one.pdf'), await fixture.file('two.pdf')];
    const mark = {
      topLeftX: 10,
      topLeftY: 10,
      width: 100,
      height: 30,
      pageNumber: 1,
      uploadId: files[1]?.id,
    };
    const id = await fixture.create([signer('Ana', 0, { prePositionedMarks: [mark] })], {
      files,
      isEnvelope: true,
      envelopeName: 'Both',
    });
    const made = await fixture.get(id);
    t.like(made, { name: 'Both', isEnvelope: true, filename: 'Both.pdf' });
    // The first file has two pages.
    t.is(made.flowActions[0]?.marks[0]?.pageNumber, 3);
    await fixture.sign(id, 'ana@example.org');
    await fixture.until(id, ({ status }) => status === 'Concluded');
    t.is(
      (await fixture.portal.validation.byDocument(fixture.tenant, id)).signers[0]?.validationResults.isValid,
      true,
    );
  },
);

test.serial('a call that fails halfway leaves no document of which nobody is told', async (t) => {
  const fixture = await portalFixture(t);
  const { documents } = fixture.portal;
  const request = {
    files: [await fixture.file('Lease.pdf'), await fixture.file('Annex.pdf'), await fixture.file('Keys.pdf')],
    flowActions: [signer('Ana')],
  };
  fixture.faults.arm('portal.create.some', 'throw');
  await t.throwsAsync(documents.create(fixture.tenant, request));
  t.is((await page(fixture, { status: 'Pending' })).totalCount, 0);
  t.is((await page(fixture, { status: 'CanceledOrExpired' })).totalCount, 2);

  // A call that will be repeated leaves them to the repetition, which tells nobody of one that was canceled meanwhile.
  fixture.faults.arm('portal.create.some', 'throw');
  await t.throwsAsync(documents.create(fixture.tenant, request, 'seed'), { message: /portal.create.some/ });
  const [annex, keys] = (await page(fixture, { status: 'Pending' })).items;
  if (annex === undefined || keys === undefined) return t.fail('two documents are missing');
  await documents.cancel(fixture.tenant, annex.id, 'Not needed.');
  const made = await documents.create(fixture.tenant, request, 'seed');
  t.deepEqual(
    made.slice(1).map(({ documentId }) => documentId),
    [annex.id, keys.id],
  );
  t.deepEqual(
    fixture.mails.filter(({ text }) => text.includes('The call failed')),
    [],
    'nobody was asked, and nobody is told',
  );
  const asking = () => fixture.mails.filter(({ text }) => /\/sign\?ticket=/.test(text));
  await fixture.until(made[0]?.documentId as DocumentId, () => asking().length > 0);
  const linked = [...(asking()[0]?.text ?? '').matchAll(/key\/(\w+)\/sign/g)].map(([, key]) => key);
  const keyOf = async (id: DocumentId) => (await fixture.get(id)).key;
  t.true(linked.includes(await keyOf(keys.id)));
  t.false(linked.includes(await keyOf(annex.id)), 'a link to a canceled document');
  const announced = fixture.events.findLast(({ type }) => type === 'DocumentsCreated');
  t.is(announced?.documents?.length, 3);
});

test('what waits for an address is looked for in its newest documents, oldest first', async (t) => {
  const store = new MemoryStore();
  const put = Array.from({ length: 6_000 }, (_, order) => ({
    view: 'documents-of',
    key: ['org', participantKey('Email', 'ana@example.org'), order],
    value: { id: `document-${order}`, status: order % 1_000 < 2 ? 'Pending' : 'Concluded' },
  }));
  await store.commit(stepOf(A, 0, { rows: { put, remove: [] } }));
  const waiting = (limit: number) => pendingOf(store, 'org' as OrganizationId, 'Ana@example.org', limit);
  t.deepEqual(await waiting(3), ['document-1000', 'document-1001', 'document-2000'] as DocumentId[]);
  t.is((await waiting(100)).length, 10, 'of the newest 5,000');
});

test.serial('an expired document refuses signatures, refusals, versions and cancellation', async (t) => {
  const fixture = await portalFixture(t);
  const { documents } = fixture.portal;
  const expirationDate = Date.now() + 86_400_000;
  const id = await fixture.create([signer('Ana')], { expirationDate });
  t.is((await fixture.get(id)).expirationDate, expirationDate);
  const access = await fixture.ticket(id, 'ana@example.org');
  const due = (await fixture.store.load({ kind: 'document', id }))?.timers['expiry'] ?? 0;
  t.true(due >= expirationDate && due < expirationDate + 5_000);
  await fixture.runtime.send(DOCUMENT, id, { type: 'EXPIRE' });
  t.is((await fixture.get(id)).status, 'Expired');
  const plain = { positions: [], initialsPositions: [] };
  await refusedAs(
    t,
    'InvalidDocumentStatus',
    fixture.portal.signing.signElectronically(access, plain, ORIGIN),
  );
  await refusedAs(t, 'CannotCancelExpiredDocument', documents.cancel(fixture.tenant, id, 'x'));
  await refusedAs(t, 'InvalidDocumentStatus', documents.refuse(fixture.tenant, id, 'x'));
  await refusedAs(
    t,
    'InvalidDocumentStatus',
    fixture.portal.documentEdits.newVersion(fixture.tenant, id, { file: await fixture.file() }),
  );
  t.deepEqual(
    fixture.events.map(({ type }) => type),
    ['DocumentsCreated', 'DocumentExpired'],
  );
});

test.serial('the same request under the same seed makes its documents once', async (t) => {
  const fixture = await portalFixture(t);
  const files = [await fixture.file('one.pdf'), await fixture.file('two.pdf')];
  const attachments = [await fixture.file('extra.pdf')];
  const request = { files, flowActions: [signer('Ana')], attachments, newFolderName: 'Once' };
  const first = await fixture.portal.documents.create(fixture.tenant, request, 'seed');
  const again = await fixture.portal.documents.create(fixture.tenant, request, 'seed');
  t.deepEqual(again, first);
  t.is((await page(fixture)).totalCount, 2);
  const folders = await fixture.portal.folders.list(fixture.tenant, {
    limit: 10,
    offset: 0,
  });
  t.is(folders.totalCount, 1);
  const announced = fixture.events.filter(({ type }) => type === 'DocumentsCreated');
  t.deepEqual(
    announced.map(({ documents }) => documents?.map(({ id }) => id)),
    [first.map(({ documentId }) => documentId)],
  );
});
