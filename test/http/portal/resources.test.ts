/** Signing, validation, folders, saved flows, marks, monitoring, organizations, webhooks and people over HTTP. */
import test from 'ava';
import { assertRefused } from '../refused.ts';
import { startPortal } from './harness.ts';
import { ADMIN_KEY, GOOD, IDS, KEY, MONITOR_KEY, PERSON, SIGNATURE, THEN } from './memory-portal.ts';

const PATH = `/api/documents/${IDS.document}`;
const WHEN = '2026-05-26T15:42:11.123Z';
const BY_KEY = '/api/documents/keys/ABC';
const RECTANGLE = { topLeftX: 1, topLeftY: 2, width: 3, height: 4 };

test('electronic signatures are made by key and action, or by ticket, with the origin of the request', async (t) => {
  const { send, last, url } = await startPortal(t);
  const headers = { 'user-agent': 'Tests/1' };
  const body = {
    evidences: { geolocation: { latitude: 1.5, longitude: -2, accuracy: 10 } },
    emailCode: '123456',
    typedName: 'Zoë',
    userTimeZoneOffset: -180,
    signaturePosition: { page: 2, ...RECTANGLE },
    signatureImage: { id: IDS.user, contentType: 'image/png', save: false },
    smsCode: null,
    authenticationType: 'sms',
  };
  const expected = {
    geolocation: { latitude: 1.5, longitude: -2, accuracy: 10 },
    emailCode: '123456',
    typedName: 'Zoë',
    timeZoneOffset: -180,
    positions: [{ pageNumber: 2, ...RECTANGLE }],
    initialsPositions: [],
    imageUploadId: IDS.user,
  };
  const byKey = { ...body, flowActionId: IDS.action };
  t.is((await send(`${PATH}/electronic-signature`, byKey, { headers })).status, 200);
  const [access, signing, origin] = last('signing.signElectronically')?.args ?? [];
  t.like(access, { by: 'key', documentId: IDS.document, flowActionId: IDS.action });
  t.like(signing, expected);
  t.deepEqual(origin, { ipAddress: '127.0.0.1', userAgent: 'Tests/1' });
  const byTicket = await fetch(`${url}${BY_KEY}/electronic-signature`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...body, ticket: 't', flowActionId: IDS.action }),
  });
  t.deepEqual([byTicket.status, await byTicket.text()], [200, '']);
  t.deepEqual(last('signing.signElectronically')?.args[0], { by: 'ticket', key: 'ABC', ticket: 't' });
  await send(`${BY_KEY}/electronic-signature`, { flowActionId: IDS.action, userId: IDS.user });
  t.like(last('signing.signElectronically')?.args[0], {
    by: 'key-of-document',
    key: 'ABC',
    flowActionId: IDS.action,
    userId: IDS.user,
  });
  const nobody = await fetch(`${url}${BY_KEY}/electronic-signature`, { method: 'POST' });
  await assertRefused(t, nobody, 'Unauthorized');
});

test('coordinates outside the valid range are refused, and those at its limits are accepted', async (t) => {
  const { send } = await startPortal(t);
  const signed = (geolocation: object) =>
    send(`${PATH}/electronic-signature`, { flowActionId: IDS.action, evidences: { geolocation } });
  for (const wrong of [
    { latitude: 1e300 },
    { latitude: -90.1 },
    { longitude: 181 },
    { accuracy: -1 },
    { accuracy: 1e9 },
  ])
    await assertRefused(t, await signed({ latitude: 0, longitude: 0, ...wrong }), 'BadRequest');
  const edge = await signed({ latitude: -90, longitude: 180, accuracy: 0 });
  t.is(edge.status, 200, await edge.text());
});

test('certificate signatures begin with a certificate and end with a signature, both in Base64', async (t) => {
  const { send, set, last } = await startPortal(t);
  set('signing.startCertificate', () => ({
    success: true,
    token: 'tok',
    toSignHash: 'AQI=',
    toSign: null,
    digestAlgorithm: 'SHA-256',
    validationResults: GOOD,
  }));
  const started = await send(`${PATH}/signature/certificate`, {
    flowActionId: IDS.action,
    certificate: 'MAMCAQE=',
    signaturePositions: [{ ...RECTANGLE, pageNumber: 1 }],
  });
  t.deepEqual(await started.json(), {
    success: true,
    token: 'tok',
    toSignHash: 'AQI=',
    toSign: null,
    digestAlgorithm: 'SHA-256',
    validationResults: GOOD,
  });
  t.like(last('signing.startCertificate')?.args[1], {
    certificate: Buffer.from([0x30, 3, 2, 1, 1]),
    positions: [{ ...RECTANGLE, pageNumber: 1 }],
  });
  set('signing.startCertificate', () => ({
    success: false,
    token: null,
    toSignHash: null,
    toSign: null,
    digestAlgorithm: null,
    validationResults: { ...GOOD, isValid: false },
  }));
  const rejected = await send(`${BY_KEY}/signature/certificate`, { ticket: 't', certificate: 'MAMCAQE=' });
  t.like(await rejected.json(), { success: false, token: null, toSignHash: null });
  set('signing.completeCertificate', () => ({ success: true, validationResults: GOOD }));
  const done = await send(`${BY_KEY}/signature`, { ticket: 't', token: 'tok', signature: 'AQI=' });
  t.deepEqual(await done.json(), { success: true, validationResults: GOOD });
  t.like(last('signing.completeCertificate')?.args[1], {
    token: 'tok',
    signature: Buffer.from([1, 2]),
  });
  for (const signature of ['', 'no base64!', null]) {
    const wrong = await send(`${PATH}/signature`, { token: 'tok', signature });
    const body = await assertRefused(t, wrong, 'BadRequest');
    t.deepEqual(Object.keys(body.errors ?? {}), ['Signature']);
  }
});

test('a started signature is completed by its token, without key and ticket', async (t) => {
  const { url, set, last } = await startPortal(t);
  set('signing.completeCertificate', () => ({ success: true, validationResults: GOOD }));
  const done = await fetch(`${url}${BY_KEY}/signature`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token: 'tok', signature: 'AQI=' }),
  });
  t.is(done.status, 200);
  t.deepEqual(last('signing.completeCertificate')?.args[0], { by: 'token', key: 'ABC' });
});

test('participants approve, refuse with a reason, and request a code by mail, by ticket', async (t) => {
  const { send, last } = await startPortal(t);
  const access = { by: 'ticket', key: 'ABC', ticket: 't' };
  await send(`${BY_KEY}/approval`, { ticket: 't' });
  t.deepEqual(last('signing.approve')?.args[0], access);
  await send(`${BY_KEY}/participant-refusal`, { ticket: 't', reason: 'no' });
  t.deepEqual(last('signing.refuse')?.args.slice(0, 2), [access, 'no']);
  await assertRefused(t, await send(`${BY_KEY}/participant-refusal`, { ticket: 't' }), 'BadRequest');
  await send(`${BY_KEY}/email-authentication-code`, { ticket: 't', resend: true });
  t.deepEqual(last('signing.sendCode')?.args, [access, 'Email', true]);
  await send('/api/documents/sms-authentication-code', { flowActionId: IDS.action });
  t.deepEqual(last('signing.sendPhoneCode')?.args.slice(1), [IDS.action, false]);
});

test('validation returns the full records, by key, by document and for files', async (t) => {
  const { call, send, set, last } = await startPortal(t);
  const record = {
    id: IDS.document,
    name: 'A',
    filename: 'a.pdf',
    mimeType: 'application/pdf',
    isConcluded: true,
    status: 'Concluded',
    creationDate: THEN,
    updateDate: THEN,
    createdBy: { id: IDS.application, type: 'Application', name: 'My App' },
    isEnvelope: false,
    isFile: false,
    type: null,
    signatureType: null,
    securityContext: null,
    signers: [{ ...SIGNATURE, isElectronic: true, evidences: { ipAddress: '::1', authenticationTypes: [] } }],
  };
  const signature = {
    subjectName: 'Zoë Müller',
    emailAddress: 'zoe@example.com',
    issuerName: 'CN=Test',
    identifier: null,
    companyName: null,
    companyIdentifier: null,
    isElectronic: false,
    isTimestamp: false,
    signingTime: WHEN,
    certificateThumbprint: 'AAAA',
    validityStart: null,
    validityEnd: null,
    signatureTimestamps: [{ displayName: 'TSA', genTime: WHEN, validityStart: null, validityEnd: WHEN }],
    archiveTimestamps: [],
    attributeCertificates: [],
    qualification: null,
    evidences: null,
    validationResults: GOOD,
  };
  set('validation.byKey', () => record);
  set('validation.byDocument', () => record);
  const expected = {
    id: IDS.document,
    name: 'A',
    filename: 'a.pdf',
    mimeType: 'application/pdf',
    isConcluded: true,
    status: 'Concluded',
    creationDate: WHEN,
    updateDate: WHEN,
    createdBy: { id: IDS.application, name: 'My App' },
    isEnvelope: false,
    isFile: false,
    type: null,
    signatureType: null,
    securityContext: null,
    signers: [{ ...signature, isElectronic: true, evidences: { ipAddress: '::1', authenticationTypes: [] } }],
  };
  t.deepEqual(await (await call('/api/documents/keys/abc-d%20ef/signatures')).json(), expected);
  t.is(last('validation.byKey')?.args[1], 'abc-d ef', 'the portal folds it');
  t.deepEqual(await (await call(`${PATH}/signatures-details`)).json(), expected);
  set('validation.ofUpload', () => [SIGNATURE]);
  const file = { fileId: IDS.user, mimeType: 'application/pdf', securityContextId: null };
  t.deepEqual(await (await send('/api/documents/validate-signatures', file)).json(), [signature]);
  t.deepEqual(last('validation.ofUpload')?.args.slice(1), [file]);
});

test('folders are created, listed, read and removed', async (t) => {
  const { call, send, set, last } = await startPortal(t);
  const folder = { id: IDS.folder, name: 'N', parentId: null };
  set('folders.create', () => folder);
  set('folders.get', () => folder);
  set('folders.list', () => ({ items: [folder], totalCount: 1 }));
  t.deepEqual(await (await send('/api/folders', { name: 'N', parentId: null })).json(), folder);
  t.deepEqual(await (await call('/api/folders?Q=n&Order=Desc')).json(), {
    items: [folder],
    totalCount: 1,
    nextCursor: null,
  });
  t.like(last('folders.list')?.args[1], { q: 'n', filterByParent: undefined, order: 'Desc' });
  await call(`/api/folders?filterByParent=true&parentId=${IDS.folder}`);
  t.like(last('folders.list')?.args[1], { filterByParent: true, parentId: IDS.folder });
  t.deepEqual(await (await call(`/api/folders/${IDS.folder}`)).json(), {
    ...folder,
    organization: { id: IDS.organization, name: 'Org', identifier: null, owner: null },
  });
  t.deepEqual(await (await call(`/api/folders/${IDS.folder}/details`)).json(), {
    id: IDS.folder,
    name: 'N',
    folderAccesses: [],
  });
  const removal = { deleteAction: 'movecontent', destinationFolderId: null };
  t.is((await send(`/api/folders/${IDS.folder}/delete`, removal)).status, 200);
  t.deepEqual(last('folders.remove')?.args.slice(1), [
    IDS.folder,
    { ...removal, deleteAction: 'MoveContent' },
  ]);
  await assertRefused(t, await send(`/api/folders/${IDS.folder}/delete`, {}), 'BadRequest');
});

test('saved flows keep flow actions as sent, and accept the actions that a document accepts', async (t) => {
  const { call, send, set, last } = await startPortal(t);
  const item = {
    id: IDS.flow,
    name: 'F',
    creationDate: THEN,
    updateDate: THEN,
    createdBy: { id: IDS.application, type: 'Application', name: 'My App' },
  };
  const shown = {
    id: IDS.flow,
    name: 'F',
    creationDate: WHEN,
    updateDate: WHEN,
    createdBy: { id: IDS.application, name: 'My App' },
  };
  const flowActions = [{ Type: 'signer', User: { Name: 'A' }, kept: [1] }];
  set('savedFlows.create', () => item);
  t.deepEqual(await (await send('/api/document-flows', { name: 'F', flowActions })).json(), shown);
  t.deepEqual(last('savedFlows.create')?.args[1], {
    name: 'F',
    areActionsOrdered: false,
    flowActions,
    observers: [],
  });
  const wrong = await send('/api/document-flows', { name: 'F', flowActions: [{ type: 'Witness' }] });
  const body = await assertRefused(t, wrong, 'BadRequest');
  t.deepEqual(Object.keys(body.errors ?? {}), ['FlowActions[0].Type']);
  set('savedFlows.get', () => ({ ...item, areActionsOrdered: true, flowActions, observers: [] }));
  t.deepEqual(await (await call(`/api/document-flows/${IDS.flow}`)).json(), {
    ...shown,
    areActionsOrdered: true,
    flowActions,
    observers: [],
  });
  set('savedFlows.list', () => ({ items: [item], totalCount: 1 }));
  t.like(await (await call('/api/document-flows')).json(), { items: [shown], totalCount: 1 });
  const put = { method: 'PUT' };
  t.is((await send(`/api/document-flows/${IDS.flow}`, { name: 'F', flowActions }, put)).status, 200);
  t.is((await call(`/api/document-flows/${IDS.flow}`, { method: 'DELETE' })).status, 200);
  t.is(last('savedFlows.remove')?.args[1], IDS.flow);
});

test('marks sessions keep the request as sent, and are read under both spellings without a key', async (t) => {
  const { url, send, set, last } = await startPortal(t);
  set('marksSessions.create', () => ({ id: IDS.session, embedUrl: 'http://h/position-marks/x?v=1' }));
  const request = {
    Files: [{ id: IDS.user, name: 'a.pdf', contentType: 'application/pdf' }],
    flowActions: [{ type: 'Signer', user: PERSON, theirOwn: { x: 1 } }],
    somethingElse: true,
  };
  const made = await send('/api/marks-sessions', request);
  t.deepEqual(await made.json(), { id: IDS.session, embedUrl: 'http://h/position-marks/x?v=1' });
  t.deepEqual(last('marksSessions.create')?.args.slice(1), [request.Files, request]);
  const files = (count: number) => ({ ...request, Files: Array(count).fill(request.Files[0]) });
  await assertRefused(t, await send('/api/marks-sessions', files(0)), 'BadRequest');
  t.is((await send('/api/marks-sessions', files(50))).status, 200);
  await assertRefused(t, await send('/api/marks-sessions', files(51)), 'LimitExceeded');
  const creation = {
    files: [{ displayName: 'A', id: IDS.user, name: 'a.pdf', contentType: 'application/pdf' }],
    flowActions: [{ user: { name: 'A' } }],
  };
  t.is((await send('/api/marks-sessions/documents', creation)).status, 200);
  t.deepEqual(last('marksSessions.create')?.args[2], creation);
  set('marksSessions.get', () => ({
    id: IDS.session,
    files: [{ id: IDS.user, location: '/api/uploads/x/preview?ticket=t' }],
    data: request,
  }));
  for (const spelling of ['marks-sessions', 'marks-session']) {
    const answer = await fetch(`${url}/api/${spelling}/${IDS.session}`);
    t.deepEqual(await answer.json(), {
      id: IDS.session,
      files: [{ id: IDS.user, location: '/api/uploads/x/preview?ticket=t' }],
      data: request,
    });
  }
});

for (const [start, end, from, to] of [
  ['2026-01-02', '2026-01-03', '2026-01-02T00:00:00.000Z', '2026-01-03T23:59:59.999Z'],
  [
    '2026-01-02T03:04:05Z',
    '2026-01-03T00:00:00+01:00',
    '2026-01-02T03:04:05.000Z',
    '2026-01-02T23:00:00.000Z',
  ],
  [null, '2026-01-03', null, '2026-01-03T23:59:59.999Z'],
  ['2026-01-02', null, '2026-01-02T00:00:00.000Z', null],
] as const) {
  test(`a period from ${start} to ${end} becomes that from ${from} to ${to}`, async (t) => {
    const { send, set, last } = await startPortal(t);
    set('reports.totals', () => ({ totalDocuments: 3, totalEnvelopes: 1 }));
    set('reports.documents', () => ({ location: '/api/reports/x?access_ticket=t' }));
    const headers = { 'x-api-key': MONITOR_KEY };
    const body = { startDateUtc: start, endDateUtc: end };
    const range = { from: from && Date.parse(from), to: to && Date.parse(to) };
    t.deepEqual(await (await send('/api/documents/date', body, { headers })).json(), {
      totalDocuments: 3,
      totalEnvelopes: 1,
    });
    t.deepEqual(last('reports.totals')?.args[0], range);
    t.deepEqual(await (await send('/api/reports/documents/date', body, { headers })).json(), {
      location: '/api/reports/x?access_ticket=t',
    });
    t.deepEqual(last('reports.documents')?.args[0], range);
  });
}

test('a report is an Excel file for callers with its ticket', async (t) => {
  const { url, set, file, last } = await startPortal(t);
  const type = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';
  const stored = await file('PK', type, 'documents.xlsx');
  set('reports.file', () => stored);
  const answer = await fetch(`${url}/api/reports/${IDS.report}?access_ticket=t`);
  t.is(answer.headers.get('content-type'), type);
  t.regex(answer.headers.get('content-disposition') ?? '', /^attachment; filename="documents\.xlsx"/);
  t.deepEqual(last('reports.file')?.args, [IDS.report, 't']);
});

test('webhooks are registered, changed and removed, and their tokens never shown', async (t) => {
  const { call, send, set, last } = await startPortal(t);
  const webhook = {
    id: IDS.webhook,
    url: 'https://x.example',
    authType: 'Bearer',
    isSigned: true,
    isDisabled: false,
    disabledReason: null,
    events: null,
    token: 'my-token',
    secret: 'whsec_x',
  };
  const shown = {
    id: IDS.webhook,
    url: webhook.url,
    authType: 'Bearer',
    isSigned: true,
    isDisabled: false,
    disabledReason: null,
    events: null,
  };
  const own = `/api/organizations/${IDS.organization}`;
  set('webhooks.list', () => [webhook]);
  set('webhooks.create', () => webhook);
  set('webhooks.replace', () => webhook);
  set('administration.organization', () => ({
    id: IDS.organization,
    name: 'Org',
    identifier: 'X',
    createdAt: THEN,
    embedOrigins: [],
    applications: [],
  }));
  const input = { url: webhook.url, authType: 'bearer', token: 'my-token', secret: 'whsec_x' };
  t.deepEqual(await (await send(`${own}/webhooks`, input)).json(), shown);
  t.deepEqual(last('webhooks.create')?.args[1], { ...input, authType: 'Bearer' });
  await send(`${own}/webhooks`, { url: webhook.url, events: ['DocumentOpened', 'documentSigned'] });
  t.like(last('webhooks.create')?.args[1], { events: ['DocumentOpened', 'DocumentSigned'] });
  await send(`${own}/webhooks`, { url: webhook.url });
  t.deepEqual(last('webhooks.create')?.args[1], { url: webhook.url, authType: 'NoAuth' });
  t.deepEqual(await (await call(own)).json(), {
    id: IDS.organization,
    name: 'Org',
    identifier: 'X',
    owner: null,
    webhooks: [shown],
  });
  t.deepEqual(await (await call(`${own}/webhooks`)).json(), [shown]);
  const one = `${own}/webhooks/${IDS.webhook}`;
  t.deepEqual(await (await send(one, input, { method: 'PUT' })).json(), shown);
  t.is((await call(one, { method: 'DELETE' })).status, 200);
  t.is(last('webhooks.remove')?.args[1], IDS.webhook);
});

test('deliveries are listed, repeated, tested and replayed', async (t) => {
  const { call, send, set, last } = await startPortal(t);
  const attempt = {
    date: THEN,
    url: 'https://h.example/in',
    status: 500,
    milliseconds: 12.5,
    error: null,
    response: 'no',
  };
  const delivery = {
    id: 'evt_1',
    webhookId: IDS.webhook,
    documentId: null,
    type: 'DocumentSigned',
    sequence: 2,
    status: 'Failed',
    creationDate: THEN,
    nextTryDate: null,
    body: '{"type":"DocumentSigned"}',
    attempts: [attempt],
  };
  const shown = { ...delivery, creationDate: WHEN, attempts: [{ ...attempt, date: WHEN }] };
  const own = `/api/organizations/${IDS.organization}`;
  set('webhooks.deliveries', () => ({ items: [delivery], totalCount: 1 }));
  set('webhooks.test', () => delivery);
  set('webhooks.replay', () => ({ count: 4 }));
  const listed = await call(`${own}/deliveries?webhookId=${IDS.webhook}&Status=failed&limit=5`);
  t.deepEqual(await listed.json(), { items: [shown], totalCount: 1, nextCursor: null });
  t.deepEqual(last('webhooks.deliveries')?.args[1], {
    webhookId: IDS.webhook,
    status: 'Failed',
    limit: 5,
    offset: 0,
  });
  const tried = await call(`${own}/webhooks/${IDS.webhook}/test`, { method: 'POST' });
  t.deepEqual(await tried.json(), shown);
  t.is((await call(`${own}/deliveries/evt_1/resend`, { method: 'POST' })).status, 200);
  t.is(last('webhooks.resend')?.args[1], 'evt_1');
  const replay = { from: '2026-01-01', to: '2026-01-01', failedOnly: true };
  t.deepEqual(await (await send(`${own}/deliveries/replay`, replay)).json(), { count: 4 });
  t.deepEqual(last('webhooks.replay')?.args[1], {
    from: Date.UTC(2026, 0, 1),
    to: Date.UTC(2026, 0, 2) - 1,
    failedOnly: true,
  });
});

test('administrators read organizations with the prefixes of their keys, and a new key once', async (t) => {
  const { call, send, set, last } = await startPortal(t);
  const headers = { 'x-api-key': ADMIN_KEY };
  const application = {
    id: IDS.application,
    name: 'App',
    role: 'Normal',
    keys: [
      {
        id: 's1',
        prefix: '01234567',
        creationDate: THEN,
        lastUseDate: null,
        sha256: 'never shown',
        scopes: ['Read'],
        expirationDate: null,
        folderIds: null,
        expiry: 'never',
        createdBy: null,
      },
    ],
  };
  const organization = {
    id: IDS.organization,
    name: 'Org',
    identifier: null,
    creationDate: THEN,
    embedOrigins: ['https://a.example'],
    refuseSignedEnvelopeFiles: false,
    requireSecondFactor: false,
    refuseDeputies: false,
    requiredQualification: null,
    reminders: null,
    applications: [application],
  };
  set('administration.organizations', () => ({ items: [organization], totalCount: 1 }));
  set('administration.createOrganization', () => organization);
  set('administration.createApplication', () => application);
  set('administration.createSecret', () => ({ id: 's1', key: KEY }));
  const shown = {
    id: IDS.organization,
    name: 'Org',
    identifier: null,
    creationDate: WHEN,
    embedOrigins: ['https://a.example'],
    refuseSignedEnvelopeFiles: false,
    requireSecondFactor: false,
    refuseDeputies: false,
    requiredQualification: null,
    reminders: null,
    applications: [
      {
        id: IDS.application,
        name: 'App',
        role: 'Normal',
        keys: [
          {
            id: 's1',
            prefix: '01234567',
            creationDate: WHEN,
            lastUseDate: null,
            scopes: ['Read'],
            expirationDate: null,
            folderIds: null,
            createdBy: null,
          },
        ],
      },
    ],
  };
  const all = await call('/api/admin/organizations?q=o', { headers });
  t.deepEqual(await all.json(), { items: [shown], totalCount: 1, nextCursor: null });
  t.deepEqual(await (await send('/api/admin/organizations', { name: 'Org' }, { headers })).json(), shown);
  t.deepEqual(last('administration.createOrganization')?.args[0], { name: 'Org' });
  const applications = `/api/admin/organizations/${IDS.organization}/applications`;
  const made = await send(applications, { name: 'App', role: 'monitor' }, { headers });
  t.like(await made.json(), { id: IDS.application });
  t.deepEqual(last('administration.createApplication')?.args[1], { name: 'App', role: 'Monitor' });
  const key = await send(`${applications}/${IDS.application}/keys`, {}, { headers });
  t.deepEqual(await key.json(), { id: 's1', key: KEY });
  const revoked = await call(`${applications}/${IDS.application}/keys/s1`, { method: 'DELETE', headers });
  t.is(revoked.status, 200);
  t.deepEqual(last('administration.revokeSecret')?.args, [
    IDS.organization,
    IDS.application,
    's1',
    `application ${IDS.application}`,
  ]);
});

test('people are added to the own organization, and by administrators to any', async (t) => {
  const { call, send, set, last } = await startPortal(t);
  const accessProfile = { administrator: false, manager: true, operator: false };
  const member = { ...PERSON, accessProfile, active: true };
  set('users.add', () => member);
  set('users.members', () => ({ items: [member], totalCount: 1 }));
  set('users.find', () => ({ items: [{ ...PERSON, subject: 's' }], totalCount: 1 }));
  set('users.put', () => ({ ...PERSON, subject: 's|1' }));
  set('administration.organization', (id: string) => ({ id }));
  const input = { name: 'Zoë', email: 'zoe@example.com', accessProfile: { Manager: true } };
  t.deepEqual(await (await send('/api/organizations/users', input)).json(), member);
  t.deepEqual(last('users.add')?.args, [
    IDS.organization,
    { name: 'Zoë', identifier: null, email: 'zoe@example.com', phone: null },
    accessProfile,
    `application ${IDS.application}`,
  ]);
  t.like(await (await call('/api/organizations/users')).json(), { items: [member] });
  await call(`/api/organizations/users/${IDS.user}`, { method: 'DELETE' });
  t.deepEqual(last('users.remove')?.args, [IDS.organization, IDS.user, `application ${IDS.application}`]);
  const headers = { 'x-api-key': ADMIN_KEY };
  t.is((await send(`/api/organizations/${IDS.folder}/users`, input, { headers })).status, 200);
  t.is(last('users.add')?.args[0], IDS.folder);
  t.like(await (await call('/api/users?q=zoe', { headers })).json(), { items: [{ subject: 's' }] });
  const put = await send('/api/users/s%7C1', input, { method: 'PUT', headers });
  t.like(await put.json(), { subject: 's|1' });
  t.is(last('users.put')?.args[0], 's|1');
  const removed = await call(`/api/admin/organizations/${IDS.folder}/users/${IDS.user}`, {
    method: 'DELETE',
    headers,
  });
  t.is(removed.status, 200);
});

test('administrators list mails by state with their attempts, and organizations those of a document', async (t) => {
  const { call, send, set, last } = await startPortal(t);
  const mail = {
    id: 'm1',
    organizationId: IDS.organization,
    about: 'pending',
    to: 'a@example.com',
    documentId: IDS.document,
    status: 'Waiting',
    tries: 1,
    creationDate: THEN,
    endDate: null,
    reply: null,
    lastError: { code: 'mail.delayed', message: '451 later' },
    nextTryDate: THEN,
    content: { secret: 'never shown' },
  };
  const { content: _, ...same } = mail;
  const shown = { ...same, creationDate: WHEN, nextTryDate: WHEN };
  set('mails.newest', () => ({ items: [mail], totalCount: 1 }));
  set('mails.get', () => ({
    ...mail,
    failures: [{ date: THEN, code: 'mail.delayed', message: '451 later' }],
  }));
  set('mails.ofDocument', () => [mail]);
  const asAdmin = { headers: { 'x-api-key': ADMIN_KEY } };
  const listed = await call('/api/admin/mails?status=waiting&limit=5&offset=1', asAdmin);
  t.deepEqual(await listed.json(), { items: [shown], totalCount: 1, nextCursor: null });
  t.deepEqual(last('mails.newest')?.args[0], { status: 'Waiting', limit: 5, offset: 1 });
  const one = await call('/api/admin/mails/m1', asAdmin);
  t.deepEqual(await one.json(), {
    ...shown,
    failures: [{ date: WHEN, code: 'mail.delayed', message: '451 later' }],
  });
  const again = await call('/api/admin/mails/m1/retry', { method: 'POST', ...asAdmin });
  t.deepEqual([again.status, await again.text()], [200, '']);
  t.deepEqual(last('mails.sendNow')?.args, ['m1']);
  set('mails.sendFailedAgain', () => ({ count: 3, complete: true }));
  const { headers } = asAdmin;
  const all = await send('/api/admin/mails/retry', { since: '2026-05-26T00:00:00Z' }, { headers });
  t.deepEqual(await all.json(), { count: 3, complete: true });
  t.deepEqual(last('mails.sendFailedAgain')?.args, [Date.UTC(2026, 4, 26)]);
  await assertRefused(t, await send('/api/admin/mails/retry', {}), 'Forbidden');
  await assertRefused(t, await call('/api/admin/mails'), 'Forbidden');
  t.deepEqual(await (await call(`${PATH}/mails`)).json(), [shown]);
  const lastError = { code: 'mail.unreachable', message: 'ECONNREFUSED: connect 10.0.0.9:25' };
  set('mails.ofDocument', () => [{ ...mail, lastError }]);
  const [unreached] = (await (await call(`${PATH}/mails`)).json()) as { lastError: typeof lastError }[];
  t.is(unreached?.lastError.code, lastError.code);
  t.notRegex(
    unreached?.lastError.message ?? '',
    /10\.0\.0\.9/,
    'where the relay is, is for its operator to know',
  );
});
