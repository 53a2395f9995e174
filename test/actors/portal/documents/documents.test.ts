import test from 'ava';
import type { DocumentId, FlowActionId } from '../../../../machines/ids.ts';
import { approver, type FlowRoom, flowRoom, ORIGIN, person, refusedAs, signer } from './flow-harness.ts';

function page(room: FlowRoom, query: object = {}) {
  return room.portal.documents.list(room.tenant, { limit: 10, offset: 0, newestFirst: false, ...query });
}

test.serial(
  'lists find documents by status, participant, folder, tag and text, with exact totals',
  async (t) => {
    const room = await flowRoom(t);
    const { documents, folders } = room.portal;
    const folder = await folders.create(room.tenant, 'Deals', null);
    const first = await room.create([signer('Ana'), signer('Bob', 1)], {
      folderId: folder.id,
      tags: [{ label: 'year', value: '2026' }],
    });
    const second = await room.create([approver('Ana')]);
    const third = await room.create([
      signer('Bob', 0, { user: person('Bob', { identifier: '529.982.247-25' }) }),
    ]);
    await documents.cancel(room.tenant, third, 'Not needed.');
    const ids = async (query: object) => (await page(room, query)).items.map(({ id }) => id);
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
    t.like(await page(room, { limit: 2, offset: 1 }), { totalCount: 3, items: { length: 1 } });
    await documents.remove(room.tenant, second);
    t.deepEqual(await ids({}), [first, third]);
    t.deepEqual(await ids({ deleted: true }), [second]);
    t.is((await page(room)).totalCount, 2);
    await refusedAs(t, 'DocumentIsDeleted', room.get(second));
    await documents.move(room.tenant, first, { folderId: null, newFolderName: 'Later' });
    t.deepEqual(await ids({ folderId: folder.id }), []);
    t.is((await room.get(first)).folder?.name, 'Later');
  },
);

test.serial(
  'the asked participants are mailed in the order of the steps, and the first step can be silenced separately',
  async (t) => {
    const room = await flowRoom(t);
    const to = () => room.mails.map((mail) => mail.to.address);
    const id = await room.create([signer('Ana', 1), signer('Bob', 2)], {
      disablePendingActionNotifications: true,
      notifiedEmails: ['boss@example.org'],
    });
    await room.sign(id, 'ana@example.org');
    await room.until(id, () => to().includes('bob@example.org'));
    t.deepEqual(to(), ['bob@example.org']);
    const url = /https:\/\/sign\.example\.org\/document\/key\/[A-Z0-9]{20}\/sign\?ticket=[\w-]+/.exec(
      room.mails[0]?.text ?? '',
    );
    t.truthy(url);
    await room.portal.documents.remind(
      room.tenant,
      id,
      (await room.get(id)).flowActions[1]?.id as FlowActionId,
    );
    await room.until(id, () => to().length === 2);
    await room.sign(id, 'bob@example.org');
    await room.until(id, () => to().includes('boss@example.org'));
    const silent = await room.create([signer('Di')], { disableNotifications: true });
    await room.sign(silent, 'di@example.org');
    await room.until(silent, ({ status }) => status === 'Concluded');
    t.false(to().includes('di@example.org'));
  },
);

test.serial('requests for another organization, or over a limit, are refused with a code', async (t) => {
  const room = await flowRoom(t);
  const { documents } = room.portal;
  const id = await room.create([signer('Ana')]);
  const stranger = { ...room.tenant, organization: { ...room.tenant.organization, id: 'other' as never } };
  await refusedAs(t, 'DocumentNotFound', documents.get(stranger, id));
  await refusedAs(t, 'DocumentNotFound', documents.cancel(stranger, id, 'x'));
  await refusedAs(
    t,
    'DocumentNotFound',
    documents.get(room.tenant, '00000000-0000-4000-8000-000000000000' as DocumentId),
  );
  await refusedAs(t, 'BadRequest', documents.cancel(room.tenant, id, '  '));
  await refusedAs(
    t,
    'BadRequest',
    room.create([signer('Ana')], { expirationDate: Date.now() - 2 * 86_400_000 }),
  );
  await refusedAs(t, 'InvalidFlowAction', room.create([{ type: 'Signer' }]));
  await refusedAs(t, 'LimitExceeded', room.create(Array.from({ length: 31 }, (_, at) => signer(`P${at}`))));
  await refusedAs(t, 'FolderNotFound', room.create([signer('Ana')], { folderId: id }));
  const text = await room.file('a.txt', Buffer.from('a'), 'text/plain');
  await refusedAs(
    t,
    'EnvelopeRequiresPdf',
    room.create([signer('Ana')], { files: [text], isEnvelope: true, envelopeName: 'E' }),
  );
  await refusedAs(
    t,
    'EnvelopeNameRequired',
    room.create([signer('Ana')], { files: [text], isEnvelope: true }),
  );
  await documents.cancel(room.tenant, id, 'Done.');
  await refusedAs(t, 'DocumentAlreadyCanceled', documents.cancel(room.tenant, id, 'Again.'));
});

test.serial(
  'an envelope of two files is one document whose marks count pages of their own file',
  async (t) => {
    const room = await flowRoom(t);
    const files = [await room.file('one.pdf'), await room.file('two.pdf')];
    const mark = {
      topLeftX: 10,
      topLeftY: 10,
      width: 100,
      height: 30,
      pageNumber: 1,
      uploadId: files[1]?.id,
    };
    const id = await room.create([signer('Ana', 0, { prePositionedMarks: [mark] })], {
      ...{ files, isEnvelope: true, envelopeName: 'Both' },
    });
    const made = await room.get(id);
    t.like(made, { name: 'Both', isEnvelope: true, filename: 'Both.pdf' });
    // The first file has two pages.
    t.is(made.flowActions[0]?.marks[0]?.pageNumber, 3);
    await room.sign(id, 'ana@example.org');
    await room.until(id, ({ status }) => status === 'Concluded');
    t.is(
      (await room.portal.validation.byDocument(room.tenant, id)).signers[0]?.validationResults.isValid,
      true,
    );
  },
);

test.serial('an expired document refuses signatures, refusals, versions and cancellation', async (t) => {
  const room = await flowRoom(t);
  const { documents } = room.portal;
  const id = await room.create([signer('Ana')], { expirationDate: Date.now() + 86_400_000 });
  const { expirationDate } = await room.get(id);
  t.true(new Date(expirationDate ?? 0).toISOString().endsWith('T23:59:59.999Z'));
  const access = await room.ticket(id, 'ana@example.org');
  const due = (await room.store.load({ kind: 'document', id }))?.timers['expiry'] ?? 0;
  t.true(due >= (expirationDate ?? 0) && due < (expirationDate ?? 0) + 5_000);
  await room.runtime.system.send({ kind: 'document', id }, { type: 'EXPIRE' });
  t.is((await room.get(id)).status, 'Expired');
  const plain = { positions: [], initialsPositions: [] };
  await refusedAs(t, 'InvalidDocumentStatus', room.portal.signing.signElectronically(access, plain, ORIGIN));
  await refusedAs(t, 'CannotCancelExpiredDocument', documents.cancel(room.tenant, id, 'x'));
  await refusedAs(t, 'InvalidDocumentStatus', documents.refuse(room.tenant, id, 'x'));
  await refusedAs(
    t,
    'InvalidDocumentStatus',
    documents.newVersion(room.tenant, id, { files: [await room.file()] }),
  );
  t.deepEqual(
    room.events.map(({ type }) => type),
    ['DocumentsCreated', 'DocumentExpired'],
  );
});

test.serial('the same request under the same seed makes its documents once', async (t) => {
  const room = await flowRoom(t);
  const files = [await room.file('one.pdf'), await room.file('two.pdf')];
  const attachments = [await room.file('extra.pdf')];
  const request = { files, flowActions: [signer('Ana')], attachments, newFolderName: 'Once' };
  const first = await room.portal.documents.create(room.tenant, request, 'seed');
  const again = await room.portal.documents.create(room.tenant, request, 'seed');
  t.deepEqual(again, first);
  t.is((await page(room)).totalCount, 2);
  const folders = await room.portal.folders.list(room.tenant, { limit: 10, offset: 0, newestFirst: false });
  t.is(folders.totalCount, 1);
  const announced = room.events.filter(({ type }) => type === 'DocumentsCreated');
  t.deepEqual(
    announced.map(({ documents }) => documents?.map(({ id }) => id)),
    [first.map(({ documentId }) => documentId)],
  );
});
