import test, { type ExecutionContext } from 'ava';
import type { DocumentContext } from '../../../machines/document-context.ts';
import type { DocumentId, FlowActionId } from '../../../machines/ids.ts';
import { type FlowRoom, flowRoom, person, SCENE, signer } from './flow-room.ts';

const approver = (name: string, step = 0) => ({ type: 'Approver', step, user: person(name) }) as const;

async function refusedAs(t: ExecutionContext, code: string, promise: Promise<unknown>): Promise<void> {
  const error = await t.throwsAsync(promise, undefined, code);
  t.is((error as { code?: string }).code, code);
}

/** The code in the newest mail to somebody. */
async function codeFor(room: FlowRoom, email: string, after = 0): Promise<string> {
  for (const end = Date.now() + 10_000; Date.now() < end; ) {
    const mails = room.mails.filter(({ to, text }) => to.address === email && /\b\d{6}\b/.test(text));
    const code = mails.length > after ? /\b(\d{6})\b/.exec(mails.at(-1)?.text ?? '')?.[1] : undefined;
    if (code !== undefined) return code;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error(`no code came for ${email}`);
}

function page(room: FlowRoom, query: object = {}) {
  return room.portal.documents.list(room.tenant, { limit: 10, offset: 0, newestFirst: false, ...query });
}

test.serial(
  'a code by e-mail is needed where it is asked for: a wrong one is refused, the right one signs',
  async (t) => {
    const room = await flowRoom(t);
    const id = await room.create([signer('Ana')], { disablePendingActionNotifications: true });
    const access = await room.ticket(id, 'ana@example.org', true);
    const plain = { positions: [], initialsPositions: [] };
    const sign = (emailCode?: string) =>
      room.portal.signing.signElectronically(access, { ...plain, ...(emailCode && { emailCode }) }, SCENE);
    await refusedAs(t, 'InvalidAuthenticationCode', sign());
    await room.portal.signing.sendEmailCode(access, false);
    const code = await codeFor(room, 'ana@example.org');
    await room.portal.signing.sendEmailCode(access, false);
    await refusedAs(t, 'InvalidAuthenticationCode', sign(code === '000000' ? '000001' : '000000'));
    await sign(code);
    const { flowActions } = await room.until(id, ({ status }) => status === 'Concluded');
    t.is(flowActions[0]?.status, 'Completed');
    t.is(room.mails.filter(({ text }) => text.includes(code)).length, 1);
    const { signers } = await room.portal.validation.byDocument(room.tenant, id);
    t.like(signers[0]?.evidences, {
      authenticationTypes: ['Email', 'Application'],
      authenticatedEmail: 'ana@example.org',
      ipAddress: SCENE.ipAddress,
    });
  },
);

test.serial('five wrong codes end a code, and another one can be asked for', async (t) => {
  const room = await flowRoom(t);
  const id = await room.create([signer('Ana')], { disablePendingActionNotifications: true });
  const access = await room.ticket(id, 'ana@example.org', true);
  const sign = (emailCode: string) =>
    room.portal.signing.signElectronically(
      access,
      { emailCode, positions: [], initialsPositions: [] },
      SCENE,
    );
  await room.portal.signing.sendEmailCode(access, false);
  const code = await codeFor(room, 'ana@example.org');
  const wrong = code === '123456' ? '654321' : '123456';
  for (let tries = 0; tries < 5; tries++) await refusedAs(t, 'InvalidAuthenticationCode', sign(wrong));
  await refusedAs(t, 'InvalidAuthenticationCode', sign(code));
  await room.portal.signing.sendEmailCode(access, true);
  await sign(await codeFor(room, 'ana@example.org', 1));
  await room.until(id, ({ status }) => status === 'Concluded');
});

test.serial(
  'a refusal stops the flow, a new version starts it again without the earlier signatures',
  async (t) => {
    const room = await flowRoom(t);
    const { documents, signing } = room.portal;
    const id = await room.create([signer('Ana', 1), approver('Bob', 2), signer('Cy', 3)]);
    await room.sign(id, 'ana@example.org');
    const bob = await room.ticket(id, 'bob@example.org');
    await signing.refuse(bob, 'The price is wrong.', SCENE);
    const refused = await room.get(id);
    t.like(refused, { status: 'Refused', statusUpdateReason: 'The price is wrong.' });
    t.deepEqual(
      refused.flowActions.map(({ status, refusalReason }) => [status, refusalReason]),
      [
        ['Completed', null],
        ['Refused', 'The price is wrong.'],
        ['Created', null],
      ],
    );
    t.is((await signing.page(refused.key, (bob as { ticket: string }).ticket)).state, 'refused');
    await refusedAs(t, 'NoPendingActionFoundForEmailAndIdentifier', room.ticket(id, 'cy@example.org'));
    await documents.newVersion(room.tenant, id, { files: [await room.file('second.pdf')] });
    const again = await room.get(id);
    t.like(again, {
      status: 'Pending',
      hasSignature: false,
      statusUpdatedBy: null,
      name: 'second',
      key: refused.key,
    });
    t.deepEqual(
      again.flowActions.map(({ status }) => status),
      ['Pending', 'Created', 'Created'],
    );
    await room.sign(id, 'ana@example.org');
    await signing.approve(await room.ticket(id, 'bob@example.org'), SCENE);
    await room.sign(id, 'cy@example.org');
    const done = await room.until(id, ({ status }) => status === 'Concluded');
    t.is((await room.portal.validation.byDocument(room.tenant, id)).signers.length, 2);
    t.deepEqual(
      done.flowActions.map(({ isElectronic }) => isElectronic),
      [true, null, true],
    );
    await refusedAs(t, 'InvalidDocumentStatus', documents.cancel(room.tenant, id, 'Late.'));
    await refusedAs(t, 'InvalidDocumentStatus', documents.refuse(room.tenant, id, 'Late.'));
    const third = { files: [await room.file()] };
    await refusedAs(t, 'InvalidDocumentStatus', documents.newVersion(room.tenant, id, third));
    const sequence = room.events.map((event) => event.sequence);
    t.deepEqual(
      sequence,
      sequence.map((_, index) => index + 1),
    );
  },
);

test.serial(
  'a rule is done when enough of its people signed, and goes on after a refusal where that is allowed',
  async (t) => {
    const room = await flowRoom(t);
    const people = ['Ana', 'Bob', 'Cy'].map((name) => person(name));
    const rule = {
      type: 'SignRule',
      signRuleUsers: people,
      numberRequiredSignatures: 2,
      allowElectronicSignature: true,
      allowRuleFlowToContinueIfRefused: true,
      ruleName: 'Board',
    } as const;
    const id = await room.create([rule]);
    await room.portal.signing.refuse(await room.ticket(id, 'cy@example.org'), 'Not me.', SCENE);
    t.is((await room.get(id)).status, 'Pending');
    await Promise.all([room.sign(id, 'ana@example.org'), room.sign(id, 'bob@example.org')]);
    const done = await room.until(id, ({ status }) => status === 'Concluded');
    t.deepEqual(
      done.flowActions[0]?.ruleUsers.map(({ signatureDate, hasRefused }) => [
        signatureDate !== null,
        hasRefused,
      ]),
      [
        [true, false],
        [true, false],
        [false, true],
      ],
    );
    const strict = await room.create([{ ...rule, allowRuleFlowToContinueIfRefused: false }]);
    await room.portal.signing.refuse(await room.ticket(strict, 'cy@example.org'), 'Not me.', SCENE);
    t.is((await room.get(strict)).status, 'Refused');
  },
);

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

test.serial('a flow is edited before anybody acted, and not after', async (t) => {
  const room = await flowRoom(t);
  const { documents } = room.portal;
  const id = await room.create([signer('Ana', 1), signer('Bob', 2)]);
  const [ana, bob] = (await room.get(id)).flowActions;
  if (ana === undefined || bob === undefined) throw new Error('two actions');
  await documents.editFlow(room.tenant, id, {
    addedFlowActions: [signer('Cy', 1)],
    editedFlowActions: [{ flowActionId: bob.id, participantEmailAddress: 'robert@example.org' }],
  });
  t.deepEqual(
    (await room.get(id)).flowActions.map(({ user, status }) => [user?.email, status]),
    [
      ['ana@example.org', 'Pending'],
      ['cy@example.org', 'Pending'],
      ['robert@example.org', 'Created'],
    ],
  );
  await room.sign(id, 'ana@example.org');
  await room.until(id, ({ flowActions: [one] }) => one?.status === 'Completed');
  await refusedAs(
    t,
    'InvalidFlowAction',
    documents.editFlow(room.tenant, id, { deletedFlowActionIds: [ana.id] }),
  );
  const unknown = { deletedFlowActionIds: ['00000000-0000-4000-8000-000000000000'] };
  await refusedAs(t, 'FlowActionNotFound', documents.editFlow(room.tenant, id, unknown));
  await refusedAs(
    t,
    'InvalidFlowAction',
    documents.editFlow(room.tenant, id, { addedFlowActions: [signer('Di', 0)] }),
  );
  await documents.editFlow(room.tenant, id, { deletedFlowActionIds: [bob.id] });
  await room.sign(id, 'cy@example.org');
  await room.until(id, ({ status }) => status === 'Concluded');
});

test.serial(
  'who is asked is mailed in the order of the steps, and the first step can be silenced alone',
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

test.serial(
  'what is asked of another organization, or against a limit, is refused with its code',
  async (t) => {
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
  },
);

test.serial(
  'an envelope of two files is one document, whose marks count pages of their own file',
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

test.serial(
  'a signature whose sealing fails is kept, shown with its code, and made by the next try',
  async (t) => {
    const room = await flowRoom(t, { poolFaults: 'portal.seal.signed=throw:1' });
    const id = await room.create([signer('Ana')]);
    await room.sign(id, 'ana@example.org');
    const failing = await room.get(id);
    t.is(failing.status, 'Pending');
    t.truthy(failing.processingError?.code);
    t.true((failing.processingError?.nextTryAt ?? 0) > (failing.processingError?.since ?? Infinity));
    t.is((await room.store.counters('documents-stuck'))['documents-stuck'], 1);
    const stuck = await room.store.rows({ view: 'documents-stuck', limit: 10 });
    t.like(stuck[0]?.value, { id, code: failing.processingError?.code });
    await room.portal.documents.retryProcessing(room.tenant, id);
    const done = await room.until(id, ({ status }) => status === 'Concluded');
    t.is(done.processingError, null);
    t.is((await room.store.counters('documents-stuck'))['documents-stuck'] ?? 0, 0);
    t.is((await room.portal.validation.byDocument(room.tenant, id)).signers.length, 1);
  },
);

test.serial(
  'an expired document takes no signature, no refusal, no version and no cancellation',
  async (t) => {
    const room = await flowRoom(t);
    const { documents } = room.portal;
    const id = await room.create([signer('Ana')], { expirationDate: Date.now() + 86_400_000 });
    const { expirationDate } = await room.get(id);
    t.true(new Date(expirationDate ?? 0).toISOString().endsWith('T23:59:59.999Z'));
    const access = await room.ticket(id, 'ana@example.org');
    const due = (await room.store.load({ kind: 'document', id }))?.timers['expiry'] ?? 0;
    t.true(due >= (expirationDate ?? 0) && due < (expirationDate ?? 0) + 5_000);
    await room.runtime.system.tell({ kind: 'document', id }, { type: 'EXPIRE' });
    t.is((await room.get(id)).status, 'Expired');
    const plain = { positions: [], initialsPositions: [] };
    await refusedAs(t, 'InvalidDocumentStatus', room.portal.signing.signElectronically(access, plain, SCENE));
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
  },
);

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

test.serial('initials that an action requires are asked for, and kept with the signature', async (t) => {
  const room = await flowRoom(t);
  const id = await room.create([signer('Ana', 0, { signatureInitialsMode: 'Required' })]);
  await refusedAs(t, 'InvalidFlowAction', room.sign(id, 'ana@example.org'));
  const place = { topLeftX: 5, topLeftY: 5, width: 30, height: 20, pageNumber: 1 };
  await room.sign(id, 'ana@example.org', { initialsPositions: [place] });
  await room.until(id, ({ status }) => status === 'Concluded');
  const context = (await room.store.load({ kind: 'document', id }))?.context as unknown as
    | DocumentContext
    | undefined;
  t.like(context?.made[0]?.marks[0], { ...place, type: 'SignatureInitials' });
});
