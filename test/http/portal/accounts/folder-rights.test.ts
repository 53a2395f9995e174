/** Rights of senders on folders, over HTTP. Source: docs/decisions/0288-rights-on-folders.md. */
import test from 'ava';
import { startProgram } from '../../../actors/portal/service.ts';
import { ADMINISTRATOR, person } from './users.ts';

const ANA = [{ user: { name: 'Ana', email: 'ana@example.org' }, allowElectronicSignature: true }];
const QUIET = { disablePendingActionNotifications: true };
type Right = 'Read' | 'Send' | 'Manage';

test('a sender sees, creates and changes in folders what the grants permit', async (t) => {
  const program = await startProgram(t);
  const { acme } = program;
  const chief = await person(program, 'chief', ADMINISTRATOR);
  const bo = await person(program, 'bo');
  const folderOf = async (name: string, parentId: string | null = null) =>
    (await acme.post<{ id: string }>('/api/folders', { name, parentId })).id;
  const open = await folderOf('Open');
  const closed = await folderOf('Closed');
  const inner = await folderOf('Inner', closed);
  const loose = await acme.create(ANA, QUIET);
  const shared = await acme.create(ANA, { ...QUIET, folderId: open });
  const secret = await acme.create(ANA, { ...QUIET, folderId: closed });
  const deep = await acme.create(ANA, { ...QUIET, folderId: inner });
  const all = [loose, shared, secret, deep];
  const grant = (id: string, right: Right, folder = closed) =>
    chief.caller.call('PUT', `/api/folders/${folder}/grants`, { grants: [{ type: 'User', id, right }] });
  const status = async (method: string, path: string, body?: unknown) => {
    const { status, code } = await bo.caller.call(method, path, body);
    return `${status} ${code}`.trim();
  };
  const newDocument = async (folderId: string) => {
    const file = await acme.upload();
    return { files: [{ ...file, displayName: 'Own' }], flowActions: ANA, folderId, ...QUIET };
  };

  t.deepEqual(await bo.caller.ids(), all);
  t.is((await bo.caller.call('PUT', `/api/folders/${closed}/grants`, { grants: [] })).status, 403);
  t.is((await grant(chief.id, 'Read')).status, 200);

  // No right: the folder, the one inside and their documents are unknown.
  t.deepEqual(await bo.caller.ids(), [loose, shared]);
  t.is(await bo.caller.total(), 2);
  t.is(await bo.caller.total('&Status=Pending'), 2);
  t.is(await bo.caller.total('&ParticipantQ=ana@example.org&ParticipantQueryType=Email'), 2);
  t.is(await bo.caller.total(`&FolderId=${closed}`), 0);
  t.is(await bo.caller.total('&Q=zzz'), 0);
  for (const id of [secret, deep]) {
    t.is(await status('GET', `/api/documents/${id}`), '422 DocumentNotFound');
    t.is(await status('GET', `/api/documents/${id}/content?type=Original`), '422 DocumentNotFound');
    t.is(await status('DELETE', `/api/documents/${id}`), '422 DocumentNotFound');
    t.is((await bo.caller.browser.fetch(`/account/documents/${id}`)).status, 404);
  }
  for (const id of [closed, inner]) {
    t.is(await status('GET', `/api/folders/${id}`), '422 FolderNotFound');
    t.is(await status('GET', `/api/folders/${id}/grants`), '422 FolderNotFound');
    t.is(await status('POST', '/api/documents', await newDocument(id)), '422 FolderNotFound');
    t.is(await status('POST', `/api/documents/${shared}/folder`, { folderId: id }), '422 FolderNotFound');
  }
  const folders = (await bo.caller.call('GET', '/api/folders')).answer as {
    items: object[];
    totalCount: number;
  };
  t.is(folders.totalCount, 1);
  t.is(folders.items.length, 1);
  t.is(
    await status('POST', '/api/documents', {
      ...(await newDocument(open)),
      folderId: null,
      newFolderName: 'Closed',
    }),
    '403 Forbidden',
  );
  const page = await bo.caller.browser.page('/account/documents');
  t.notRegex(page, /Closed|Inner/);
  t.true(page.includes(shared) && !page.includes(secret));

  // What is kept for the folder, by others and without a document yet.
  const keptIn = async (folderId: string) =>
    (
      await acme.post<{ id: string }>('/api/document-drafts', {
        name: 'Kept',
        document: { ...(await newDocument(folderId)) },
      })
    ).id;
  const hiddenDraft = await keptIn(inner);
  const openDraft = await keptIn(open);
  t.is(await status('GET', `/api/document-drafts/${hiddenDraft}`), '422 DocumentDraftNotFound');
  t.is(await status('DELETE', `/api/document-drafts/${hiddenDraft}`), '422 DocumentDraftNotFound');
  t.is(await status('GET', `/api/document-drafts/${openDraft}`), '200');
  t.like((await bo.caller.call('GET', '/api/document-drafts')).answer, { totalCount: 1 });
  t.is((await acme.get<{ totalCount: number }>('/api/document-drafts')).totalCount, 2);

  // Read.
  t.is((await grant(bo.id, 'Read')).status, 200);
  t.is(await status('GET', `/api/document-drafts/${hiddenDraft}`), '200');
  t.is(await bo.caller.total(), 4);
  t.is(await status('GET', `/api/documents/${deep}`), '200');
  t.is(await status('POST', `/api/documents/${secret}/cancellation`, { reason: 'x' }), '403 Forbidden');
  t.is(await status('POST', `/api/documents/${secret}/folder`, { folderId: open }), '403 Forbidden');
  t.is(await status('POST', '/api/documents', await newDocument(closed)), '403 Forbidden');

  // Send: his own documents.
  await grant(bo.id, 'Send');
  const made = await bo.caller.call('POST', '/api/documents', await newDocument(inner));
  t.is(made.status, 200);
  const [{ documentId: own }] = made.answer as [{ documentId: string }];
  t.is(await status('POST', `/api/documents/${secret}/cancellation`, { reason: 'x' }), '403 Forbidden');
  t.is(await status('POST', `/api/documents/${own}/cancellation`, { reason: 'x' }), '200');
  t.is(await status('POST', '/api/folders', { name: 'More', parentId: closed }), '403 Forbidden');
  t.is(
    await status('POST', `/api/folders/${inner}/delete`, { deleteAction: 'DeleteContent' }),
    '403 Forbidden',
  );
  t.is(await status('PUT', `/api/folders/${closed}/grants`, { grants: [] }), '403 Forbidden');
  const count = async () => {
    const body = { action: 'Cancel', filter: { q: '' }, dryRun: true };
    return (await bo.caller.call('POST', '/api/documents/operations', body)).answer as object;
  };
  t.like(await count(), { matchedCount: 2 });

  // Manage.
  await grant(bo.id, 'Manage');
  t.like(await count(), { matchedCount: 4 });
  t.is(await status('POST', `/api/documents/${secret}/cancellation`, { reason: 'x' }), '200');
  const keep = [{ type: 'User', id: bo.id, right: 'Manage' }];
  t.is(await status('PUT', `/api/folders/${inner}/grants`, { grants: keep }), '200');
  const { answer: found } = await bo.caller.call('GET', `/api/folders/${inner}/grantees?q=chief`);
  t.like(found, { items: [{ type: 'User', id: chief.id, name: 'chief' }] });

  // Own grants of a folder inside end the inheritance, for both directions.
  await grant(chief.id, 'Read');
  t.deepEqual(await bo.caller.ids(), [loose, shared, deep, own]);
  // A later operation on folders that he may not know takes no place on the page.
  const operate = (folderId: string) =>
    acme.post<{ id: string }>('/api/documents/operations', { action: 'Remind', filter: { folderId } });
  const known = await operate(open);
  await operate(closed);
  const { answer: operations } = await bo.caller.call('GET', '/api/documents/operations?limit=1');
  t.like(operations, { totalCount: 1, items: [{ id: known.id }] });
  t.is(
    await status('POST', `/api/folders/${closed}/delete`, { deleteAction: 'DeleteContent' }),
    '422 FolderNotFound',
  );

  // Administrators and keys of applications are not affected.
  t.is(await chief.caller.total(), 5);
  t.is((await acme.get<{ totalCount: number }>('/api/documents')).totalCount, 5);
  await chief.caller.call('PUT', `/api/folders/${closed}/grants`, { grants: [] });
  t.is(await bo.caller.total(), 5);

  // Totals of many hidden folders are read at once.
  const many = await Promise.all(Array.from({ length: 17 }, (_, index) => folderOf(`Many ${index}`)));
  await acme.create(ANA, { ...QUIET, folderId: many[3] });
  for (const folder of many) await grant(chief.id, 'Read', folder);
  t.is(await bo.caller.total(), 5);
  t.is(await bo.caller.total('&Status=Pending'), 3);
  t.is(await chief.caller.total(), 6);
});

test('of two changes of the rights on a folder that read the same ones, the second is refused', async (t) => {
  const program = await startProgram(t);
  const chief = await person(program, 'chief', ADMINISTRATOR);
  const { id } = await program.acme.post<{ id: string }>('/api/folders', { name: 'Closed' });
  const path = `/api/folders/${id}/grants`;
  const read = async () =>
    (await chief.caller.call('GET', path)).answer as { grants: object[]; version: string };
  const { version } = await read();
  const grants = (right: Right) => [{ type: 'User', id: chief.id, right }];
  t.is((await chief.caller.call('PUT', path, { grants: grants('Read'), version })).status, 200);
  const late = await chief.caller.call('PUT', path, { grants: grants('Send'), version });
  t.is(`${late.status} ${late.code}`, '422 GrantsChanged');
  const { grants: kept, version: current } = await read();
  t.like(kept, [{ right: 'Read' }]);
  t.is((await chief.caller.call('PUT', path, { grants: grants('Send'), version: current })).status, 200);
  // Without a version, as programs sent it before.
  t.is((await chief.caller.call('PUT', path, { grants: [] })).status, 200);
});

test('a template of a document in a restricted folder stays unknown to those who do not know the folder', async (t) => {
  const program = await startProgram(t);
  const { acme } = program;
  const chief = await person(program, 'chief', ADMINISTRATOR);
  const bo = await person(program, 'bo');
  const { id: closed } = await acme.post<{ id: string }>('/api/folders', { name: 'Closed' });
  const secret = await acme.create(ANA, { ...QUIET, folderId: closed });
  await chief.caller.call('PUT', `/api/folders/${closed}/grants`, {
    grants: [{ type: 'User', id: chief.id, right: 'Manage' }],
  });
  const made = await chief.caller.call('POST', '/api/templates/from-document', { documentId: secret });
  t.is(made.status, 200);
  const { id } = made.answer as { id: string };
  t.is((await bo.caller.call('GET', `/api/templates/${id}`)).code, 'TemplateNotFound');
  t.like((await bo.caller.call('GET', '/api/templates')).answer, { totalCount: 0 });
  t.is((await chief.caller.call('GET', `/api/templates/${id}`)).status, 200);
});

test('the list of a folder offers its rights to those who may change them', async (t) => {
  const program = await startProgram(t);
  const chief = await person(program, 'chief', ADMINISTRATOR);
  const bo = await person(program, 'bo');
  const audit = await person(program, 'audit', { auditor: true });
  const { id } = await program.acme.post<{ id: string }>('/api/folders', { name: 'Closed' });
  const offers = async ({ caller }: typeof bo, folder = id) =>
    (await caller.browser.page(`/account/documents?folder=${folder}`)).includes('id="folder-access"');
  const grant = (right: Right) =>
    chief.caller.call('PUT', `/api/folders/${id}/grants`, { grants: [{ type: 'User', id: bo.id, right }] });
  const put = async ({ caller }: typeof bo) =>
    (await caller.call('PUT', `/api/folders/${id}/grants`, { grants: [], version: 'other' })).status;

  t.true(await offers(chief));
  t.false(await offers(chief, ''));
  t.deepEqual([await offers(bo), await put(bo)], [false, 403]);
  await grant('Send');
  t.deepEqual([await offers(bo), await put(bo)], [false, 403]);
  await grant('Manage');
  t.deepEqual([await offers(bo), await put(bo)], [true, 422]);
  t.deepEqual([await offers(audit), await put(audit)], [false, 403]);
});
