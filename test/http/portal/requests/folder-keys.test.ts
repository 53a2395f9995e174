/** Keys that are restricted to folders. Source: docs/decisions/0129-scopes-and-expiry-of-keys.md. */
import test from 'ava';
import type { OpenApiDocument } from '../../../../http/core/openapi/document.ts';
import { Client, SAMPLE, until } from '../../../actors/portal/service.ts';
import { assertRefused } from '../../refused.ts';
import { ticketOf } from '../signing/certificate-client.ts';
import { type ClockedPortal, clientOf, clockedPortal } from './clocked-portal.ts';

const ANA = [{ user: { name: 'Ana', email: 'ana@example.org' }, allowElectronicSignature: true }];
const QUIET = { disablePendingActionNotifications: true };

interface Detail {
  readonly id: string;
  readonly key: string;
  readonly updateDate: string;
  readonly status: string;
  readonly organization: { readonly id: string };
  readonly flowActions: readonly { readonly id: string; readonly user: { readonly id: string } }[];
  readonly attachments: readonly { readonly id: string }[];
}

let portal: ClockedPortal;
let own: string;
let foreign: string;
let restricted: Client;
const ends: (() => unknown)[] = [];

test.before(async () => {
  portal = await clockedPortal({ teardown: (end) => ends.push(end) });
  const { client } = portal;
  own = (await client.post<{ id: string }>('/api/folders', { name: 'Sales' })).id;
  foreign = (await client.post<{ id: string }>('/api/folders', { name: 'Secret plans' })).id;
  const id = await client.create(ANA, QUIET);
  const { organization } = await client.get<Detail>(`/api/documents/${id}`);
  const admin = clientOf(portal, 'Admin');
  const path = `/api/admin/organizations/${organization.id}`;
  const { applications } = await admin.get<{ applications: { id: string }[] }>(path);
  const made = await admin.post<{ key: string }>(`${path}/applications/${applications[0]?.id}/keys`, {
    folderIds: [own.toUpperCase()],
  });
  restricted = new Client(client.url, made.key);
});
test.after.always(async () => {
  for (const end of ends.reverse()) await end();
});

const detailOf = (id: string) => portal.client.get<Detail>(`/api/documents/${id}`);

/** @param word in each name of the document and its people */
async function signedIn(folderId: string, word: string): Promise<Detail> {
  const { client } = portal;
  const attachment = { ...(await client.upload()), displayName: `${word} annex` };
  const flow = [{ user: { name: `${word} Ana`, email: 'ana@example.org' }, allowElectronicSignature: true }];
  const file = { ...SAMPLE, name: `${word}.pdf` };
  const more = { ...QUIET, folderId, attachments: [attachment], description: word };
  const id = await client.create(flow, more, file);
  const { key, ticket } = await ticketOf(client, id, 'ana@example.org');
  await client.post(`/api/documents/keys/${key}/electronic-signature`, { ticket });
  return detailOf(id);
}

test.serial('a key restricted to folders reads, creates and signs in these alone', async (t) => {
  const id = await restricted.create(ANA, { ...QUIET, folderId: own });
  const files = [{ ...(await restricted.upload()), displayName: 'A' }];
  const create = (more: object) => restricted.send('/api/documents', { files, flowActions: ANA, ...more });
  await assertRefused(t, await create({}), 'Forbidden');
  await assertRefused(t, await create({ newFolderName: 'Secret plans' }), 'Forbidden');
  await assertRefused(t, await create({ folderId: foreign }), 'FolderNotFound');
  const move = (to: object) => restricted.send(`/api/documents/${id}/folder`, to);
  await assertRefused(t, await move({ folderId: foreign }), 'FolderNotFound');
  await assertRefused(t, await move({}), 'Forbidden');
  const { flowActions, key } = await detailOf(id);
  t.is((await move({ folderId: own })).status, 200);
  const moveMany = { documents: [id], newFolderName: 'Made by the key' };
  await assertRefused(t, await restricted.send('/api/documents/batch/folder', moveMany), 'Forbidden');
  const { items: all } = await portal.client.get<{ items: { name: string }[] }>('/api/folders?limit=100');
  t.false(all.some(({ name }) => name === moveMany.newFolderName));
  const signing = { flowActionId: flowActions[0]?.id };
  t.is((await restricted.send(`/api/documents/${id}/electronic-signature`, signing)).status, 200);
  t.is((await restricted.fetch(`/api/documents/keys/${key}/signatures`)).status, 200);
  t.is((await restricted.fetch(`/api/documents/${id}/content?type=Signatures`)).status, 200);
  const folders = await restricted.get<{ items: { id: string }[]; totalCount: number }>('/api/folders');
  t.deepEqual([folders.items.map((one) => one.id), folders.totalCount], [[own], 1]);
});

test.serial('lists, exports and operations have documents of the folders alone', async (t) => {
  const inside = await restricted.create(ANA, { ...QUIET, folderId: own });
  const outside = await portal.client.create(ANA, { ...QUIET, folderId: foreign });
  for (const query of [
    '',
    '&Status=Pending',
    `&Q=${outside}&QueryType=Id`,
    '&Cursor=',
    '&ParticipantQ=ana',
    `&FolderId=${foreign}`,
    '&FolderType=WithoutFolder',
  ]) {
    const page = await restricted.get<{
      items: { id: string; folder: { id: string } | null }[];
      totalCount: number;
    }>(`/api/documents?Limit=100${query}`);
    t.true(
      page.items.every(({ folder }) => folder?.id === own),
      query,
    );
    t.is(page.totalCount, page.items.length, query);
  }
  const listed = await restricted.get<{ items: { id: string }[] }>('/api/documents?Limit=100');
  t.true(listed.items.some(({ id }) => id === inside));
  t.false((await (await restricted.fetch('/api/documents/export')).text()).includes(outside));
  await assertRefused(
    t,
    await restricted.send('/api/documents/operations', { action: 'Delete', filter: {} }),
    'BadRequest',
  );
  const begun = await restricted.post<{ id: string }>('/api/documents/operations', {
    action: 'Cancel',
    reason: 'over',
    filter: { status: 'Pending' },
  });
  await until(async () => {
    const { status } = await restricted.get<{ status: string }>(`/api/documents/operations/${begun.id}`);
    return status === 'Completed' ? true : undefined;
  });
  t.is((await detailOf(inside)).status, 'Canceled');
  t.is((await detailOf(outside)).status, 'Pending');
});

test.serial('no operation of the API reads or changes a document of another folder', async (t) => {
  const secret = await signedIn(foreign, 'Blueprint');
  const mine = await signedIn(own, 'Offer');
  const signed = await portal.client.fetch(`/api/documents/${secret.id}/content?type=Signatures`);
  const upload = await restricted.upload({
    name: 'signed.pdf',
    type: 'application/pdf',
    content: new Uint8Array(await signed.arrayBuffer()),
  });
  const before = await portal.client.get<Detail>(`/api/documents/${secret.id}`);
  const description = await portal.client.get<OpenApiDocument>('/openapi/v1.json');
  const [action] = secret.flowActions;
  const values: Record<string, string> = {
    id: secret.id,
    key: secret.key,
    attachmentId: secret.attachments[0]?.id ?? '',
    subject: 'x',
  };
  const body = {
    documentId: secret.id,
    documents: [secret.id],
    documentIds: [secret.id],
    ids: [secret.id],
    flowActionId: action?.id,
    userId: action?.user.id,
    reason: 'x',
    emailAddress: 'ana@example.org',
    fileId: upload.id,
    mimeType: 'application/pdf',
    emails: ['ana@example.org'],
    folderId: own,
    action: 'Remind',
    filter: { q: secret.id, queryType: 'Id' },
    token: 'x',
    signature: 'eA==',
    file: { ...upload, displayName: 'x' },
    files: [{ ...upload, displayName: 'x' }],
    name: 'x',
    certificate: 'eA==',
    everyDays: 1,
    maximum: 1,
    url: 'https://example.org',
    authType: 'NoAuth',
  };
  let asked = 0;
  for (const [path, item] of Object.entries(description.paths ?? {}))
    for (const method of Object.keys(item ?? {})) {
      if (!['get', 'post', 'put', 'patch', 'delete'].includes(method)) continue;
      // Folders, templates and others by an id of their own answer the document's id as unknown.
      for (const id of [secret.id, foreign, secret.organization.id]) {
        const filledIn = path.replace(/\{(\w+)\}/g, (_, name: string) =>
          name === 'id' ? id : (values[name] ?? secret.id),
        );
        const query = `?q=${secret.key}&queryType=Key&participantQ=ana&folderId=${foreign}&type=Signatures`;
        const answer = await restricted.fetch(filledIn + (method === 'get' ? query : ''), {
          method: method.toUpperCase(),
          ...(method !== 'get' && {
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify(body),
          }),
        });
        const answerText = await answer.text();
        asked += 1;
        const what = `${method} ${filledIn}: ${answer.status}`;
        // Pages such as the public check of a key are answered to everybody.
        if (method === 'get' && (await fetch(`${restricted.url}${filledIn}${query}`)).status === 200)
          continue;
        for (const word of ['Blueprint', 'Secret plans'])
          t.false(answerText.includes(word), `${what} tells ${word}`);
        if (answer.status === 200 && path.startsWith('/api/') && path.includes('{id}') && id === secret.id)
          t.fail(`${what} is answered`);
        if (answer.status === 200 && path.includes('/keys/{key}')) t.fail(`${what} is answered`);
      }
    }
  t.true(asked > 300, String(asked));
  t.deepEqual(await portal.client.get<Detail>(`/api/documents/${secret.id}`), before);
  const history = await portal.client.get<{ totalCount: number; items: object[] }>(
    `/api/documents/${secret.id}/history?limit=100`,
  );
  t.false(JSON.stringify(history).includes('Refused'));
  const checked = await restricted.send('/api/documents/validate-signatures', {
    fileId: upload.id,
    mimeType: 'application/pdf',
  });
  t.false(
    (await checked.text()).includes('ana@example.org'),
    'an uploaded file of another folder has no person',
  );
  t.is((await restricted.fetch(`/api/documents/${mine.id}`)).status, 200);
});
