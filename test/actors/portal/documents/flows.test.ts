import { Fatal } from '@sealwright/runtime';
import test from 'ava';
import type { DocumentContext } from '../../../../machines/portal/documents/document-context.ts';
import { reached } from '../../../project/waiting.ts';
import { movableClock } from '../uploads/upload-harness.ts';
import {
  approver,
  ORIGIN,
  type PortalFixture,
  person,
  portalFixture,
  refusedAs,
  signer,
} from './flow-harness.ts';

/** The code in the newest mail to somebody. */
async function codeFor(fixture: PortalFixture, email: string, after = 0): Promise<string> {
  const mails = () => fixture.mails.filter(({ to, text }) => to.address === email && /\b\d{6}\b/.test(text));
  await reached(() => mails().length > after);
  return /\b(\d{6})\b/.exec(mails().at(-1)?.text ?? '')?.[1] ?? '';
}

test.serial(
  'a wrong code by e-mail is refused where a code is required, and the right one signs',
  async (t) => {
    const fixture = await portalFixture(t);
    const id = await fixture.create([signer('Ana')], { disablePendingActionNotifications: true });
    const access = await fixture.ticket(id, 'ana@example.org', true);
    const plain = { positions: [], initialsPositions: [] };
    const sign = (emailCode?: string) =>
      fixture.portal.signing.signElectronically(
        access,
        { ...plain, ...(emailCode && { emailCode }) },
        ORIGIN,
      );
    await refusedAs(t, 'InvalidAuthenticationCode', sign());
    await fixture.portal.signing.sendCode(access, 'Email', false);
    const code = await codeFor(fixture, 'ana@example.org');
    await fixture.portal.signing.sendCode(access, 'Email', false);
    await refusedAs(t, 'InvalidAuthenticationCode', sign(code === '000000' ? '000001' : '000000'));
    await sign(code);
    const { flowActions } = await fixture.until(id, ({ status }) => status === 'Concluded');
    t.is(flowActions[0]?.status, 'Completed');
    t.is(fixture.mails.filter(({ text }) => text.includes(code)).length, 1);
    const { signers } = await fixture.portal.validation.byDocument(fixture.tenant, id);
    t.like(signers[0]?.evidences, {
      authenticationTypes: ['Email', 'Application'],
      authenticatedEmail: 'ana@example.org',
      ipAddress: ORIGIN.ipAddress,
    });
  },
);

test.serial('five wrong codes invalidate a code, and another one can be requested', async (t) => {
  const fixture = await portalFixture(t);
  const id = await fixture.create([signer('Ana')], { disablePendingActionNotifications: true });
  const access = await fixture.ticket(id, 'ana@example.org', true);
  const sign = (emailCode: string) =>
    fixture.portal.signing.signElectronically(
      access,
      { emailCode, positions: [], initialsPositions: [] },
      ORIGIN,
    );
  await fixture.portal.signing.sendCode(access, 'Email', false);
  const code = await codeFor(fixture, 'ana@example.org');
  const wrong = code === '123456' ? '654321' : '123456';
  for (let tries = 0; tries < 5; tries++) await refusedAs(t, 'InvalidAuthenticationCode', sign(wrong));
  await refusedAs(t, 'InvalidAuthenticationCode', sign(code));
  await fixture.portal.signing.sendCode(access, 'Email', true);
  await sign(await codeFor(fixture, 'ana@example.org', 1));
  await fixture.until(id, ({ status }) => status === 'Concluded');
});

test.serial('after fifty wrong codes of an action no more codes are sent or accepted', async (t) => {
  const clock = movableClock();
  const fixture = await portalFixture(t, { clock });
  const id = await fixture.create([signer('Ana')], { disablePendingActionNotifications: true });
  const access = await fixture.ticket(id, 'ana@example.org', true);
  const { signing } = fixture.portal;
  const sign = (emailCode: string) =>
    signing.signElectronically(access, { emailCode, positions: [], initialsPositions: [] }, ORIGIN);
  let code = '';
  for (let sent = 0; sent < 10; sent += 1) {
    await signing.sendCode(access, 'Email', true);
    code = await codeFor(fixture, 'ana@example.org', sent);
    const wrong = code === '123456' ? '654321' : '123456';
    for (let tries = 0; tries < 5; tries++)
      await refusedAs(
        t,
        sent === 9 && tries === 4 ? 'TooManyWrongCodes' : 'InvalidAuthenticationCode',
        sign(wrong),
      );
  }
  // Also when no code was sent in the last hour.
  clock.forward(3_600_000);
  await refusedAs(t, 'TooManyWrongCodes', sign(code));
  await refusedAs(t, 'TooManyWrongCodes', signing.sendCode(access, 'Email', true));
  t.is((await fixture.get(id)).flowActions[0]?.status, 'Pending');
});

test.serial(
  'a refusal stops the flow, and a new version restarts it without the earlier signatures',
  async (t) => {
    const fixture = await portalFixture(t);
    const { documents, signing } = fixture.portal;
    const id = await fixture.create([signer('Ana', 1), approver('Bob', 2), signer('Cy', 3)]);
    await fixture.sign(id, 'ana@example.org');
    const bob = await fixture.ticket(id, 'bob@example.org');
    await signing.refuse(bob, 'The price is wrong.', ORIGIN);
    const refused = await fixture.get(id);
    t.like(refused, { status: 'Refused', statusUpdateReason: 'The price is wrong.' });
    t.deepEqual(
      refused.flowActions.map(({ status, refusalReason }) => [status, refusalReason]),
      [
        ['Completed', null],
        ['Refused', 'The price is wrong.'],
        ['Created', null],
      ],
    );
    t.is(
      (await fixture.portal.signingPages.page(refused.key, (bob as { ticket: string }).ticket, ORIGIN)).state,
      'refused',
    );
    await refusedAs(t, 'NoPendingActionFoundForEmailAndIdentifier', fixture.ticket(id, 'cy@example.org'));
    await fixture.portal.documentEdits.newVersion(fixture.tenant, id, {
      file: await fixture.file('second.pdf'),
    });
    const again = await fixture.get(id);
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
    await fixture.sign(id, 'ana@example.org');
    await signing.approve(await fixture.ticket(id, 'bob@example.org'), ORIGIN);
    await fixture.sign(id, 'cy@example.org');
    const done = await fixture.until(id, ({ status }) => status === 'Concluded');
    t.is((await fixture.portal.validation.byDocument(fixture.tenant, id)).signers.length, 2);
    t.deepEqual(
      done.flowActions.map(({ isElectronic }) => isElectronic),
      [true, null, true],
    );
    await refusedAs(t, 'InvalidDocumentStatus', documents.cancel(fixture.tenant, id, 'Late.'));
    await refusedAs(t, 'InvalidDocumentStatus', documents.refuse(fixture.tenant, id, 'Late.'));
    const third = { file: await fixture.file() };
    await refusedAs(
      t,
      'InvalidDocumentStatus',
      fixture.portal.documentEdits.newVersion(fixture.tenant, id, third),
    );
    const sequence = fixture.events.map((event) => event.sequence);
    t.deepEqual(
      sequence,
      sequence.map((_, index) => index + 1),
    );
  },
);

test.serial(
  'a rule is complete when enough of its people signed, and continues after a permitted refusal',
  async (t) => {
    const fixture = await portalFixture(t);
    const people = ['Ana', 'Bob', 'Cy'].map((name) => person(name));
    const rule = {
      type: 'SignRule',
      signRuleUsers: people,
      numberRequiredSignatures: 2,
      allowElectronicSignature: true,
      allowRuleFlowToContinueIfRefused: true,
      ruleName: 'Board',
    } as const;
    const id = await fixture.create([rule]);
    await fixture.portal.signing.refuse(await fixture.ticket(id, 'cy@example.org'), 'Not me.', ORIGIN);
    t.is((await fixture.get(id)).status, 'Pending');
    await Promise.all([fixture.sign(id, 'ana@example.org'), fixture.sign(id, 'bob@example.org')]);
    const done = await fixture.until(id, ({ status }) => status === 'Concluded');
    t.deepEqual(
      done.flowActions[0]?.signRuleUsers.map(({ signatureDate, hasRefused }) => [
        signatureDate !== null,
        hasRefused,
      ]),
      [
        [true, false],
        [true, false],
        [false, true],
      ],
    );
    const strict = await fixture.create([{ ...rule, allowRuleFlowToContinueIfRefused: false }]);
    await fixture.portal.signing.refuse(await fixture.ticket(strict, 'cy@example.org'), 'Not me.', ORIGIN);
    t.is((await fixture.get(strict)).status, 'Refused');
  },
);

test.serial('one person counts once among the people that a rule requires', async (t) => {
  const fixture = await portalFixture(t);
  const rule = { type: 'SignRule', numberRequiredSignatures: 2 } as const;
  const of = (...signRuleUsers: readonly ReturnType<typeof person>[]) =>
    fixture.create([{ ...rule, signRuleUsers }]);
  const again = person('Ana', { name: 'Another Ana', email: 'ANA@example.org' });
  await refusedAs(t, 'InvalidFlowAction', of(person('Ana'), person('Bob'), again));
  await t.notThrowsAsync(
    of(person('Ana', { identifier: '1' }), person('Ana', { identifier: '2' })),
    'one mailbox',
  );
  await refusedAs(t, 'InvalidFlowAction', of(person('Ana'), person('Ana', { identifier: '1' })));
  const sameNumber = person('Bob', { identifier: '1' });
  await refusedAs(t, 'InvalidFlowAction', of(person('Ana', { identifier: '1' }), sameNumber));
});

test.serial('an edit of a rule cannot make one person count twice', async (t) => {
  const fixture = await portalFixture(t);
  const signRuleUsers = ['Ana', 'Bob', 'Cy'].map((name) => person(name));
  const id = await fixture.create([{ type: 'SignRule', numberRequiredSignatures: 2, signRuleUsers }]);
  const rule = (await fixture.get(id)).flowActions[0];
  const [ana, bob] = rule?.signRuleUsers ?? [];
  if (rule === undefined || ana === undefined || bob === undefined) throw new Error('a rule of three');
  const edit = (...emails: readonly [typeof ana, string][]) =>
    fixture.portal.documentEdits.editFlow(fixture.tenant, id, {
      editedFlowActions: [
        {
          flowActionId: rule.id,
          signRuleUsers: emails.map(([user, emailAddress]) => ({ userId: user.id, emailAddress })),
        },
      ],
    });
  await refusedAs(t, 'InvalidFlowAction', edit([bob, 'ANA@example.org']));
  await refusedAs(t, 'InvalidFlowAction', edit([ana, 'new@example.org'], [bob, 'new@example.org']));
  const emails = async () => (await fixture.get(id)).flowActions[0]?.signRuleUsers.map(({ email }) => email);
  t.deepEqual(await emails(), ['ana@example.org', 'bob@example.org', 'cy@example.org']);
  await edit([ana, 'bob@example.org'], [bob, 'ana@example.org']);
  t.deepEqual(await emails(), ['bob@example.org', 'ana@example.org', 'cy@example.org'], 'who change places');
});

test.serial('a flow can be edited only before the first action', async (t) => {
  const fixture = await portalFixture(t);
  const id = await fixture.create([signer('Ana', 1), signer('Bob', 2)]);
  const [ana, bob] = (await fixture.get(id)).flowActions;
  if (ana === undefined || bob === undefined) throw new Error('two actions');
  await fixture.portal.documentEdits.editFlow(fixture.tenant, id, {
    addedFlowActions: [signer('Cy', 1)],
    editedFlowActions: [{ flowActionId: bob.id, participantEmailAddress: 'robert@example.org' }],
  });
  t.deepEqual(
    (await fixture.get(id)).flowActions.map(({ user, status }) => [user?.email, status]),
    [
      ['ana@example.org', 'Pending'],
      ['cy@example.org', 'Pending'],
      ['robert@example.org', 'Created'],
    ],
  );
  await fixture.sign(id, 'ana@example.org');
  await fixture.until(id, ({ flowActions: [one] }) => one?.status === 'Completed');
  await refusedAs(
    t,
    'InvalidFlowAction',
    fixture.portal.documentEdits.editFlow(fixture.tenant, id, { deletedFlowActionIds: [ana.id] }),
  );
  const unknown = { deletedFlowActionIds: ['00000000-0000-4000-8000-000000000000'] };
  await refusedAs(
    t,
    'FlowActionNotFound',
    fixture.portal.documentEdits.editFlow(fixture.tenant, id, unknown),
  );
  await refusedAs(
    t,
    'InvalidFlowAction',
    fixture.portal.documentEdits.editFlow(fixture.tenant, id, { addedFlowActions: [signer('Di', 0)] }),
  );
  await fixture.portal.documentEdits.editFlow(fixture.tenant, id, { deletedFlowActionIds: [bob.id] });
  await fixture.sign(id, 'cy@example.org');
  await fixture.until(id, ({ status }) => status === 'Concluded');
});

test.serial('a document has a hundred observers at most, also over several edits', async (t) => {
  const fixture = await portalFixture(t);
  const id = await fixture.create([signer('Ana')]);
  const observers = (from: number, count: number) =>
    Array.from({ length: count }, (_, n) => ({
      user: { name: `O${from + n}`, email: `o${from + n}@example.org` },
    }));
  await fixture.portal.documentEdits.editFlow(fixture.tenant, id, { addedObservers: observers(0, 60) });
  const more = { addedObservers: observers(60, 41) };
  await refusedAs(t, 'LimitExceeded', fixture.portal.documentEdits.editFlow(fixture.tenant, id, more));
  const [first] = (await fixture.get(id)).observers;
  await fixture.portal.documentEdits.editFlow(fixture.tenant, id, {
    ...more,
    deletedObserverIds: [first?.id ?? ''],
  });
  t.is((await fixture.get(id)).observers.length, 100);
});

test.serial(
  'one of thirty signers is replaced by one edit, and none is moved beyond the last step',
  async (t) => {
    const fixture = await portalFixture(t);
    const id = await fixture.create(Array.from({ length: 30 }, (_, at) => signer(`P${at}`)));
    const [first] = (await fixture.get(id)).flowActions;
    const addedFlowActions = [signer('Another')];
    await refusedAs(
      t,
      'LimitExceeded',
      fixture.portal.documentEdits.editFlow(fixture.tenant, id, { addedFlowActions }),
    );
    const deletedFlowActionIds = [first?.id ?? ''];
    await fixture.portal.documentEdits.editFlow(fixture.tenant, id, {
      addedFlowActions,
      deletedFlowActionIds,
    });
    const names = (await fixture.get(id)).flowActions.map(({ user }) => user?.name);
    t.is(names.length, 30);
    t.true(names.includes('Another'));
    t.false(names.includes('P0'));
    const [, second] = (await fixture.get(id)).flowActions;
    const editedFlowActions = [{ flowActionId: second?.id ?? '', step: 1_000_001 }];
    await refusedAs(
      t,
      'InvalidFlowAction',
      fixture.portal.documentEdits.editFlow(fixture.tenant, id, { editedFlowActions }),
    );
  },
);

test.serial(
  'a signature whose sealing fails is kept, shown with its code, and made by the next attempt',
  async (t) => {
    const fixture = await portalFixture(t);
    const { faults } = fixture;
    const id = await fixture.create([signer('Ana')]);
    // The attempt before the acceptance, and the one after it.
    const fail = () => {
      throw new Fatal('seal.broken', 'The seal is broken.');
    };
    faults.arm('portal.signature.kept', () => {
      faults.arm('portal.signature.kept', fail);
      fail();
    });
    await fixture.sign(id, 'ana@example.org');
    const failing = await fixture.get(id);
    t.is(failing.status, 'Pending');
    t.truthy(failing.processingError?.code);
    t.true((failing.processingError?.nextTryAt ?? 0) > (failing.processingError?.since ?? Infinity));
    t.is((await fixture.store.counters('documents-stuck'))['documents-stuck'], 1);
    const stuck = await fixture.store.rows({ view: 'documents-stuck', limit: 10 });
    t.like(stuck[0]?.value, { id, code: failing.processingError?.code });
    await fixture.portal.documents.retryProcessing(fixture.tenant, id);
    const done = await fixture.until(id, ({ status }) => status === 'Concluded');
    t.is(done.processingError, null);
    t.is((await fixture.store.counters('documents-stuck'))['documents-stuck'] ?? 0, 0);
    t.is((await fixture.portal.validation.byDocument(fixture.tenant, id)).signers.length, 1);
  },
);

test.serial('a signature that is made soon takes one step, with its own line in the history', async (t) => {
  const fixture = await portalFixture(t);
  const id = await fixture.create([signer('Ana')]);
  await fixture.sign(id, 'ana@example.org');
  t.is((await fixture.get(id)).status, 'Concluded');
  const { items } = await fixture.portal.documents.history(fixture.tenant, id, { limit: 10, offset: 0 });
  t.deepEqual(
    items
      .filter(({ type, cause }) => type !== 'Mailed' && cause !== 'RECORD')
      .map(({ type, cause, state }) => `${type} ${cause} ${state}`),
    ['Created CREATE Pending', 'Signed SIGN Pending', 'Concluded SIGN Concluded'],
  );
  t.is((await fixture.portal.validation.byDocument(fixture.tenant, id)).signers.length, 1);
});

test.serial('a signature is made again where another one came meanwhile', async (t) => {
  const fixture = await portalFixture(t);
  const { faults } = fixture;
  const id = await fixture.create([signer('Ana'), signer('Ben')]);
  faults.arm('portal.signature.kept', () => fixture.sign(id, 'ben@example.org'));
  await fixture.sign(id, 'ana@example.org');
  await fixture.until(id, ({ status }) => status === 'Concluded');
  t.is((await fixture.portal.validation.byDocument(fixture.tenant, id)).signers.length, 2);
});

test.serial('a document that is canceled while a signature is made takes none', async (t) => {
  const fixture = await portalFixture(t);
  const { faults, tenant } = fixture;
  const id = await fixture.create([signer('Ana')]);
  faults.arm('portal.signature.kept', async () => {
    await fixture.portal.documents.cancel(tenant, id, 'No.');
  });
  await refusedAs(t, 'InvalidDocumentStatus', fixture.sign(id, 'ana@example.org'));
  t.is((await fixture.get(id)).status, 'Canceled');
  await refusedAs(t, 'DocumentHasNoSignatures', fixture.portal.validation.byDocument(tenant, id));
});

test.serial('required initials are requested, and stored with the signature', async (t) => {
  const fixture = await portalFixture(t);
  const id = await fixture.create([signer('Ana', 0, { signatureInitialsMode: 'Required' })]);
  await refusedAs(t, 'InvalidFlowAction', fixture.sign(id, 'ana@example.org'));
  const place = { topLeftX: 5, topLeftY: 5, width: 30, height: 20, pageNumber: 1 };
  await fixture.sign(id, 'ana@example.org', { initialsPositions: [place] });
  await fixture.until(id, ({ status }) => status === 'Concluded');
  const context = (await fixture.store.load({ kind: 'document', id }))?.context as unknown as
    | DocumentContext
    | undefined;
  t.like(context?.made[0]?.marks[0], { ...place, type: 'SignatureInitials' });
});
