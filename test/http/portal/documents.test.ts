/**
 * Documents over HTTP: the arguments of the portal, and the full shapes of replies. Source: docs/portal-values.md §§5, 7,
 * 12-16.
 */

import test from 'ava';
import type { DocumentActor } from '../../../actors/portal/document-records/document-index.ts';
import { documentView } from '../../../actors/portal/documents/document-view.ts';
import type { FlowAction } from '../../../machines/portal/portal-types.ts';
import { assertRefused } from '../refused.ts';
import { startPortal } from './harness.ts';
import { ACTION, IDS, PERSON, STORED, THEN } from './memory-portal.ts';

const PATH = `/api/documents/${IDS.document}`;
const FILE = { displayName: 'A', id: IDS.user, name: 'a.pdf', contentType: 'application/pdf' };
const MARK = { topLeftX: 1.5, topLeftY: 2, width: 3, height: 4 };
const WHEN = '2026-05-26T15:42:11.123Z';

test('the detail of a document has every member, with null and [] for absent values', async (t) => {
  const { call } = await startPortal(t);
  t.deepEqual(await (await call(PATH)).json(), {
    id: IDS.document,
    name: 'Contract',
    status: 'Pending',
    key: 'ABCDEFGHIJ0123456789',
    filename: 'contract.pdf',
    fileSize: 1234,
    mimeType: 'application/pdf',
    checksumMd5: '1B2M2Y8AsgTpgAmY7PhCfg==',
    hasSignature: false,
    isConcluded: false,
    isDeleted: false,
    isEnvelope: false,
    isScanned: false,
    creationDate: WHEN,
    updateDate: WHEN,
    createdBy: { id: IDS.application, name: 'My App' },
    organization: { id: IDS.organization, name: 'Org', identifier: null, owner: null },
    folder: null,
    statusUpdatedBy: null,
    statusUpdateReason: null,
    description: null,
    expirationDate: null,
    expirationDateWithoutTime: null,
    reminders: null,
    template: null,
    observers: [],
    attachments: [],
    notifiedEmails: [],
    permissions: { move: true, editFlow: true },
    forceCadesSignature: false,
    tags: [],
    type: null,
    signatureType: null,
    externalId: null,
    securityContext: null,
    requireReading: false,
    hideDownloadOptionForPendingDocuments: false,
    flowActions: [
      {
        id: IDS.action,
        type: 'Signer',
        status: 'Pending',
        step: 1,
        user: PERSON,
        title: null,
        allowElectronicSignature: true,
        allowPassingOn: false,
        passedOn: [],
        creationDate: WHEN,
        updateDate: WHEN,
        pendingDate: WHEN,
        refusalReason: null,
        isElectronic: null,
        marks: [
          {
            type: 'SignatureVisualRepresentation',
            topLeftX: 10,
            topLeftY: 20.5,
            width: 100,
            height: 40,
            pageNumber: 1,
            fontSize: null,
          },
        ],
        ruleName: null,
        numberRequiredSignatures: 1,
        allowRuleFlowToContinueIfRefused: false,
        signRuleUsers: [],
        requireSmsAuthenticationToSignElectronically: true,
        requireWhatsappAuthenticationToSignElectronically: false,
        requireAuthenticatorAppToSignElectronically: false,
        requireSelfieAuthenticationToSignElectronically: false,
        requireDatavalidAuthenticationToSignElectronically: false,
        requirePixAuthenticationToSignElectronically: false,
        requireLivenessAuthenticationToSignElectronically: false,
        requireIdScanAuthenticationToSignElectronically: false,
        requireEmailAuthenticationToSignElectronically: true,
        disableEmailAuthenticationToSignElectronically: false,
        requiredCertificateTypeToSign: null,
        requiredCertificateHolderTypeToSign: null,
        requireCompanyCertificate: null,
        requiredCompanyIdentifier: null,
        signatureInitialsMode: null,
      },
    ],
    processingError: null,
    warnings: [],
  });
});

test('the detail has rules, folders, reasons, attachments and failures', async (t) => {
  const { call, set } = await startPortal(t);
  const rule: FlowAction = {
    ...ACTION,
    type: 'SignRule',
    user: null,
    ruleName: 'Two of three',
    numberRequiredSignatures: 2,
    ruleUsers: [
      {
        ...PERSON,
        signatureDate: THEN,
        isElectronic: true,
        refusalDate: null,
        hasRefused: false,
        refusalReason: null,
      },
    ],
  };
  const stored: DocumentActor = {
    ...STORED,
    state: 'Canceled',
    context: {
      ...STORED.context,
      statusUpdatedBy: { id: IDS.application, type: 'Application', name: 'My App' },
      statusUpdateReason: 'wrong file',
      expirationDate: THEN,
      observers: [{ id: IDS.flow, user: PERSON }],
      attachments: [
        {
          id: IDS.session,
          isPrivate: true,
          creationDate: THEN,
          file: {
            uploadId: null,
            displayName: 'Annex',
            name: 'annex.txt',
            contentType: 'text/plain',
            blob: { sha256: 'ff', length: 7 },
            md5: 'x',
          },
        },
      ],
      tags: [{ id: IDS.flow, label: null, value: 'v' }],
      actions: [rule],
      processingError: { code: 'SigningFailed', message: 'No.', since: THEN, nextTryAt: null, failures: 1 },
    },
  };
  const folder = { id: IDS.folder, name: 'Ordner', parentId: null };
  set('documents.get', () => documentView(stored, folder, undefined));
  t.like(await (await call(PATH)).json(), {
    folder: { id: IDS.folder, name: 'Ordner', parentId: null },
    statusUpdatedBy: { id: IDS.application, type: 'Application', name: 'My App' },
    statusUpdateReason: 'wrong file',
    expirationDate: WHEN,
    expirationDateWithoutTime: '2026-05-26',
    observers: [{ id: IDS.flow, user: PERSON }],
    attachments: [
      {
        id: IDS.session,
        name: 'Annex',
        filename: 'annex.txt',
        fileSize: 7,
        mimeType: 'text/plain',
        createdBy: { id: IDS.application, name: 'My App' },
        isPrivate: true,
      },
    ],
    permissions: { move: true, editFlow: false },
    tags: [{ id: IDS.flow, label: null, value: 'v' }],
    flowActions: [
      {
        user: null,
        ruleName: 'Two of three',
        numberRequiredSignatures: 2,
        signRuleUsers: [{ ...PERSON, signatureDate: WHEN, isElectronic: true, hasRefused: false }],
      },
    ],
    processingError: { code: 'SigningFailed', message: 'No.', since: WHEN, nextTryAt: null },
  });
});

test('all members of a creation request reach the portal', async (t) => {
  const { send, last } = await startPortal(t);
  const answer = await send('/api/documents', {
    files: [FILE],
    flowActions: [
      {
        type: 'SignRule',
        step: 2,
        ruleName: 'R',
        numberRequiredSignatures: 1,
        signRuleUsers: [{ name: 'A', email: 'a@example.com' }],
        prePositionedMarks: [{ ...MARK, type: 'signatureinitials', uploadId: IDS.user, pageNumber: 2 }],
        requireSmsAuthenticationToSignElectronically: true,
        requirePixAuthenticationToSignElectronically: false,
        requiredCertificateTypeToSign: 'a3',
        signatureInitialsMode: 'Optional',
        xadesOptions: { signatureType: 'XmlElement', elementToSignIdentifier: 'x' },
      },
    ],
    folderId: '',
    newFolderName: 'N',
    observers: [{ user: { email: 'o@example.com' } }],
    attachments: [{ ...FILE, isPrivate: true }],
    notifiedEmails: ['n@example.com'],
    tags: [{ label: 'l', value: 'v' }, { value: 'w' }],
    additionalInfo: { fields: { KeepMyCase: 'x' }, metadata: null },
    forceCadesSignature: true,
    timestampEnabled: false,
    signatureType: 'advanced',
    xmlNamespaces: [{ prefix: 'p', uri: 'u' }],
    securityContextId: null,
    templateFieldValues: { a: 1 },
  });
  t.is(answer.status, 200, await answer.text());
  t.like(last('documents.create')?.args[1], {
    flowActions: [
      {
        type: 'SignRule',
        step: 2,
        signRuleUsers: [{ name: 'A', email: 'a@example.com' }],
        prePositionedMarks: [{ ...MARK, type: 'SignatureInitials', uploadId: IDS.user, pageNumber: 2 }],
        requireSmsAuthenticationToSignElectronically: true,
        requiredCertificateTypeToSign: 'A3',
        signatureInitialsMode: 'Optional',
        xadesOptions: { signatureType: 'XmlElement', elementToSignIdentifier: 'x' },
      },
    ],
    folderId: null,
    newFolderName: 'N',
    observers: [{ user: { email: 'o@example.com' } }],
    attachments: [{ ...FILE, isPrivate: true }],
    notifiedEmails: ['n@example.com'],
    tags: [{ label: 'l', value: 'v' }, { value: 'w' }],
    additionalInfo: { fields: { KeepMyCase: 'x' }, metadata: null },
    forceCadesSignature: true,
    signatureType: 'Advanced',
  });
});

test('a creation at its bounds is accepted, and one beyond a bound is refused with the code and text of the bound', async (t) => {
  const { send, last, set } = await startPortal(t);
  const kept = {
    id: IDS.flow,
    name: 'A',
    status: 'Saved',
    creationDate: THEN,
    updateDate: THEN,
    createdBy: { id: IDS.application, name: 'My App' },
  };
  set('drafts.create', () => kept);
  set('savedFlows.create', () => kept);
  const creation = (more: object) => ({ files: [FILE], flowActions: [{ user: { name: 'A' } }], ...more });
  const many = (count: number, item: object | string) => Array.from({ length: count }, () => item);
  const PERSON = { user: { name: 'A' } };
  const draft = (document: object) => ({ name: 'A', document });
  const rule = (count: number) => ({ type: 'ApproverRule', signRuleUsers: many(count, { name: 'A' }) });
  for (const more of [
    { tags: many(100, { value: 'v' }) },
    { attachments: many(20, FILE) },
    { files: many(50, FILE) },
    { flowActions: many(100, PERSON) },
    { observers: many(100, PERSON) },
    { notifiedEmails: many(100, 'n@example.com') },
    { xmlNamespaces: many(50, { prefix: 'a', uri: 'urn:a' }) },
    { flowActions: [rule(100)] },
    { externalId: ` ${'x'.repeat(200)}\u200b ` },
  ])
    t.is((await send('/api/documents', creation(more))).status, 200);
  t.like(last('documents.create')?.args[1], { externalId: 'x'.repeat(200) });
  for (const [more, message] of [
    [{ tags: many(101, { value: 'v' }) }, 'A document has at most 100 tags.'],
    [{ attachments: many(21, FILE) }, 'A document has at most 20 attachments.'],
    [{ files: many(51, FILE) }, 'One call makes at most 50 documents.'],
    [{ flowActions: many(101, PERSON) }, 'There may be at most 100 flow actions.'],
    [{ observers: many(101, PERSON) }, 'There may be at most 100 observers.'],
    [{ notifiedEmails: many(101, 'n@example.com') }, 'There may be at most 100 addresses.'],
    [
      { xmlNamespaces: many(51, { prefix: 'a', uri: 'urn:a' }) },
      'A document takes at most 50 XML namespaces.',
    ],
    [{ flowActions: [rule(101)] }, 'There may be at most 100 users of a rule.'],
  ] as const) {
    const refused = await assertRefused(t, await send('/api/documents', creation(more)), 'LimitExceeded');
    t.is(refused.message, message);
    // A request with another fault is told that one.
    const wrong = { ...creation(more), isEnvelope: 'maybe' };
    await assertRefused(t, await send('/api/documents', wrong), 'BadRequest');
  }
  for (const [path, method, body] of [
    [`${PATH}/notified-emails`, 'PUT', (count: number) => ({ emails: many(count, 'n@example.com') })],
    [`${PATH}/flow`, 'POST', (count: number) => ({ addedObservers: many(count, PERSON) })],
    [`${PATH}/flow`, 'POST', (count: number) => ({ addedFlowActions: many(count, PERSON) })],
    ['/api/document-drafts', 'POST', (count: number) => draft({ flowActions: many(count, PERSON) })],
    ['/api/document-flows', 'POST', (count: number) => ({ name: 'A', flowActions: many(count, PERSON) })],
  ] as const) {
    t.is((await send(path, body(100), { method })).status, 200);
    await assertRefused(t, await send(path, body(101), { method }), 'LimitExceeded');
  }
  t.is((await send('/api/document-drafts', draft({ files: many(50, FILE) }))).status, 200);
  await assertRefused(
    t,
    await send('/api/document-drafts', draft({ files: many(51, FILE) })),
    'LimitExceeded',
  );
  const envelope = (count: number) => send(`${PATH}/envelope/versions`, { files: many(count, FILE) });
  t.is((await envelope(20)).status, 200);
  const { message } = await assertRefused(t, await envelope(21), 'LimitExceeded');
  t.is(message, 'An envelope holds at most 20 files.');
  const long = await send('/api/documents', creation({ externalId: 'x'.repeat(201) }));
  const { errors } = await assertRefused(t, long, 'BadRequest');
  t.deepEqual(errors, { ExternalId: ['The ExternalId field is too long.'] });
  for (const what of ['cancellation', 'refusal']) {
    t.is((await send(`${PATH}/${what}`, { reason: ` ${'x'.repeat(2000)} ` })).status, 200);
    const over = await send(`${PATH}/${what}`, { reason: 'x'.repeat(2001) });
    const { errors: ofReason } = await assertRefused(t, over, 'BadRequest');
    t.deepEqual(ofReason, { Reason: ['The Reason field has more than 2000 characters.'] });
  }
});

test('a creation without files or flow is a bad request', async (t) => {
  const { send } = await startPortal(t);
  const user = { name: 'A' };
  for (const body of [
    {},
    { files: [], flowActions: [{ user }] },
    { files: [FILE], flowActions: [] },
    { files: [{ ...FILE, displayName: '' }], flowActions: [{ user }] },
    { files: [{ ...FILE, contentType: undefined }], flowActions: [{ user }] },
    { files: [FILE], flowActions: [{ user, prePositionedMarks: [{ ...MARK, width: 'wide' }] }] },
  ]) {
    await assertRefused(t, await send('/api/documents', body), 'BadRequest');
  }
});

test('a creation repeated under its Idempotency-Key gets the first answer', async (t) => {
  const { send, set, calls } = await startPortal(t);
  let made = 0;
  set('documents.create', () => {
    made += 1;
    return [{ uploadId: IDS.user, documentId: made === 1 ? IDS.document : IDS.folder, attachments: [] }];
  });
  const headers = { 'idempotency-key': 'mine' };
  const body = { files: [FILE], flowActions: [{ user: { name: 'A' } }] };
  const first = await (await send('/api/documents', body, { headers })).text();
  t.is(await (await send('/api/documents', body, { headers })).text(), first);
  const other = await send('/api/documents', { ...body, description: 'x' }, { headers });
  await assertRefused(t, other, 'IdempotencyConflict');
  t.is(made, 1);
  t.is(calls.find(({ name }) => name === 'documents.create')?.args[2], 'seed mine');
});

test('a list is a page with the total number and no cursor', async (t) => {
  const { call, set } = await startPortal(t);
  set('documents.list', () => ({
    totalCount: 41,
    items: [
      {
        id: IDS.document,
        name: 'A',
        creationDate: THEN,
        updateDate: THEN,
        status: 'FlowConcluded',
        folder: null,
        type: 'Deed',
        tags: [],
        externalId: 'case-1',
      },
    ],
  }));
  t.deepEqual(await (await call('/api/documents')).json(), {
    items: [
      {
        id: IDS.document,
        name: 'A',
        creationDate: WHEN,
        updateDate: WHEN,
        folder: null,
        type: 'Deed',
        tags: [],
        status: 'FlowConcluded',
        externalId: 'case-1',
      },
    ],
    totalCount: 41,
    nextCursor: null,
  });
});

test('every filter of the list reaches the portal', async (t) => {
  const { call, last } = await startPortal(t);
  const query = new URLSearchParams({
    Status: 'pendingOrRefused',
    IsConcluded: 'true',
    FolderId: IDS.folder,
    FolderType: 'WithoutFolder',
    Q: 'ação',
    QueryType: 'creatorname',
    ParticipantQ: 'z@example.com',
    ParticipantQueryType: 'Email',
    FilterByPendingSignature: 'true',
    FilterByDocumentType: 'true',
    DocumentType: 'LabReport',
    Tags: `a|b, c ,${'x,'.repeat(20)}`,
    IsDeleted: 'true',
    ExternalId: ' case-1 ',
    CreatedFrom: '2026-05-01',
    CreatedTo: '2026-05-02',
    Cursor: '',
    Limit: '1000',
    Offset: '3',
    Order: 'desc',
  });
  t.is((await call(`/api/documents?${query}`)).status, 200);
  t.deepEqual(last('documents.list')?.args[1], {
    status: 'PendingOrRefused',
    folderId: IDS.folder,
    withoutFolder: true,
    q: 'ação',
    queryType: 'CreatorName',
    participantQ: 'z@example.com',
    participantQueryType: 'Email',
    pendingSignature: true,
    filterByDocumentType: true,
    documentType: 'LabReport',
    tags: [
      { label: 'a', value: 'b' },
      { label: null, value: 'c' },
      ...Array.from({ length: 8 }, () => ({ label: null, value: 'x' })),
    ],
    deleted: true,
    externalId: 'case-1',
    createdFrom: Date.UTC(2026, 4, 1),
    createdTo: Date.UTC(2026, 4, 3) - 1,
    position: 'start',
    limit: 100,
    offset: 3,
    newestFirst: true,
  });
  for (const [given, status] of [
    ['IsConcluded=true', 'Concluded'],
    ['IsConcluded=False', 'Pending'],
  ]) {
    await call(`/api/documents?${given}`);
    t.like(last('documents.list')?.args[1], { status });
  }
});

test('invalid filters are bad requests', async (t) => {
  const { call } = await startPortal(t);
  for (const query of [
    'Status=Done',
    'FolderId=7',
    'Limit=-1',
    'Limit=ten',
    'Offset=1.5',
    'Offset=99999999999',
    'Order=up',
    'IsDeleted=1',
  ]) {
    await assertRefused(t, await call(`/api/documents?${query}`), 'BadRequest');
  }
});

test('cancellation, refusal, versions, flow, mails and folders reach the portal unchanged', async (t) => {
  const { send, call, last } = await startPortal(t);
  await send(`${PATH}/cancellation`, { Reason: 'because' });
  t.deepEqual(last('documents.cancel')?.args.slice(1), [IDS.document, 'because']);
  await send(`${PATH}/refusal`, { reason: 'no' });
  t.deepEqual(last('documents.refuse')?.args.slice(1), [IDS.document, 'no']);
  await call(PATH, { method: 'DELETE' });
  t.is(last('documents.remove')?.args[1], IDS.document);
  const marks = [{ flowActionId: IDS.action, prePositionedDocumentMarks: [MARK] }];
  const additionalInfo = { fields: { KeepMyCase: 'x' } };
  await send(`${PATH}/versions`, { file: FILE, additionalInfo, prePositionedMarks: marks });
  t.like(last('documentEdits.newVersion')?.args[2], {
    file: FILE,
    additionalInfo,
    prePositionedMarks: marks,
  });
  await send(`${PATH}/envelope/versions`, { files: [FILE, FILE], envelopeName: 'E' });
  t.like(last('documentEdits.newEnvelopeVersion')?.args[2], { files: [FILE, FILE], envelopeName: 'E' });
  const edited = await send(`${PATH}/flow`, {
    addedFlowActions: [{ user: { name: 'N' }, step: 3 }],
    editedFlowActions: [{ flowActionId: IDS.action, step: 2, participantEmailAddress: 'n@example.com' }],
    deletedFlowActionIds: [IDS.user],
    deletedObserverIds: [],
  });
  t.deepEqual(await edited.json(), { rectifiedParticipants: [] });
  t.like(last('documentEdits.editFlow')?.args[2], {
    addedFlowActions: [{ user: { name: 'N' }, step: 3 }],
    editedFlowActions: [{ flowActionId: IDS.action, step: 2, participantEmailAddress: 'n@example.com' }],
    deletedFlowActionIds: [IDS.user],
  });
  await send(`${PATH}/notified-emails`, { emails: ['a@example.com'] }, { method: 'PUT' });
  t.deepEqual(last('documents.setNotifiedEmails')?.args[2], ['a@example.com']);
  await send(`${PATH}/folder`, { folderId: null, newFolderName: null });
  t.deepEqual(last('documents.move')?.args[2], { folderId: null, newFolderName: null });
  await send(`${PATH}/retry`, '');
  t.is(last('documents.retryProcessing')?.args[1], IDS.document);
});

test('many documents are moved into one new folder, with a result for each', async (t) => {
  const { send, set, calls, last } = await startPortal(t);
  set('folders.named', () => ({ id: IDS.folder, name: 'N', parentId: null }));
  set('documents.move', (_: unknown, id: string) => {
    if (id === IDS.user)
      throw Object.assign(new Error('No document has this id.'), { name: 'PortalRefusal' });
  });
  const answer = await send('/api/documents/batch/folder', {
    documents: [IDS.document, IDS.user],
    newFolderName: 'N',
  });
  t.is(answer.status, 200);
  t.deepEqual(await answer.json(), [
    { id: IDS.document, success: true, errorMessage: null },
    { id: IDS.user, success: false, errorMessage: 'No document has this id.' },
  ]);
  t.is(calls.filter(({ name }) => name === 'folders.named').length, 1);
  t.deepEqual(last('documents.move')?.args[2], { folderId: IDS.folder });
  const many = { documents: Array.from({ length: 1001 }, () => IDS.document) };
  await assertRefused(t, await send('/api/documents/batch/folder', many), 'LimitExceeded');
});

test('signing page addresses are requested by identifier, e-mail address or both', async (t) => {
  const { send, last } = await startPortal(t);
  for (const [body, who] of [
    [{ identifier: '123' }, { identifier: '123', emailAddress: undefined }],
    [{ EmailAddress: 'Z@example.com' }, { identifier: undefined, emailAddress: 'Z@example.com' }],
    [
      {
        identifier: '',
        emailAddress: 'z@example.com',
        requireEmailAuthentication: true,
        flowActionId: IDS.action,
      },
      { emailAddress: 'z@example.com', requireEmailAuthentication: true, flowActionId: IDS.action },
    ],
  ] as const) {
    t.is((await send(`${PATH}/action-url`, body)).status, 200);
    t.like(last('documents.actionUrl')?.args[2], who);
  }
});

test('reminders name document and action, and pending mails their recipients', async (t) => {
  const { send, last } = await startPortal(t);
  const ids = { documentId: IDS.document, flowActionId: IDS.action };
  const reminded = await send('/api/notifications/flow-action-reminder', ids);
  t.is(reminded.status, 200);
  t.is(reminded.headers.get('x-notified-count'), '1');
  t.deepEqual(last('documents.remind')?.args.slice(1), [IDS.document, IDS.action]);
  t.is((await send('/api/users/notify-pending', { emails: ['a@example.com', 'b@example.com'] })).status, 200);
  t.deepEqual(last('pendingReminders.notify')?.args[1], ['a@example.com', 'b@example.com']);
  await assertRefused(t, await send('/api/users/notify-pending', {}), 'BadRequest');
  const emails = (count: number) => Array.from({ length: count }, (_, index) => `${index}@example.com`);
  t.is((await send('/api/users/notify-pending', { emails: emails(500) })).status, 200);
  const excess = await send('/api/users/notify-pending', { emails: emails(501) });
  const { message } = await assertRefused(t, excess, 'LimitExceeded');
  t.is(message, 'One call names at most 500 addresses.');
  await assertRefused(
    t,
    await send('/api/notifications/flow-action-reminder', { documentId: IDS.document }),
    'BadRequest',
  );
});
