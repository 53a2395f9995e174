/** Folders of documents. Source: docs/portal-values.md §16. */

import { z } from 'zod';
import { id, list, maybeUuid, members, shown, uuid, word } from '../fields.ts';
import type { Value } from '../operation.ts';
import { organizationReference } from './documents.ts';
import { folder, folderId, identity, newFolderName, recordName } from './entities.ts';
import { EXAMPLE_IDS } from './examples.ts';
import { documentParams, folderParams } from './ids.ts';
import { nameQuery, pageOf, paging, queryFlag } from './lists.ts';
import { operation } from './operation.ts';
import { UNKNOWN_DOCUMENT } from './refusals.ts';

/** Maximum number of documents moved by one call. */
const MAX_DOCUMENTS_MOVED = 1000;

const parentId = maybeUuid.describe('Folder that contains this one. Null: it is at the top.');

const destination = {
  folderId,
  newFolderName,
};

const folderAccess = z.strictObject({
  id: identity,
  userId: shown(
    id,
    'Person of a rule who acts. Required with a key for rules; otherwise ignored.',
    EXAMPLE_IDS.flowAction,
  ),
  folderRoles: z.array(z.enum(['Admin', 'Manager', 'Basic'])).describe('Roles within the folder.'),
  organizationRoles: shown(z.array(z.string()), 'Roles within the organization.', []),
  userName: shown(z.string().nullable(), 'Full name of the person. Null: none.', 'Ana Silva'),
  userIdentifier: shown(z.string().nullable(), 'National number of the person. Null: none.', '52998224725'),
});

export const createFolder = operation('POST /api/folders', {
  group: 'Folders',
  summary: 'Creates a folder.',
  description:
    'The folder is at the top level, or in the folder `parentId`. Several folders may have the same name. Folders are at most 64 levels deep (`LimitExceeded`).',
  scope: 'Create',
  body: members({ name: recordName, parentId }).meta({ id: 'NewFolder' }),
  reply: folder,
  examples: { request: { name: 'Contracts 2027' } },
  refusals: ['FolderNotFound', 'LimitExceeded'],
});

export const listFolders = operation('GET /api/folders', {
  group: 'Folders',
  summary: 'Lists folders of the organization.',
  description:
    'Lists the folders of all levels, or with `filterByParent` those directly in `parentId` (without `parentId`, those at the top level). `q` searches in names. A key that is restricted to folders finds only these.',
  scope: 'Read',
  folderKeys: true,
  query: members({
    q: nameQuery,
    filterByParent: queryFlag.describe(
      'Whether only folders directly in `parentId` are found. Default false: at any depth.',
    ),
    parentId: uuid
      .optional()
      .describe('Folder whose content is listed. Used only with `filterByParent`; absent: the top.'),
    ...paging,
  }),
  reply: pageOf(folder),
});

export const getFolder = operation('GET /api/folders/{id}', {
  group: 'Folders',
  summary: 'Returns a folder with its organization.',
  description: 'A folder of another organization is `FolderNotFound`.',
  scope: 'Read',
  folderKeys: true,
  params: folderParams,
  reply: folder
    .extend({
      organization: organizationReference.describe('Organization to which it belongs.'),
    })
    .meta({ id: 'FolderDetail' }),
  refusals: ['FolderNotFound'],
});

export const getFolderAccess = operation('GET /api/folders/{id}/details', {
  group: 'Folders',
  summary: 'Returns a folder with its access rules, of which there are none.',
  description:
    'Exists for clients that call it: every application of the organization may use every folder. A folder of another organization is `FolderNotFound`.',
  scope: 'Read',
  folderKeys: true,
  params: folderParams,
  reply: folder.omit({ parentId: true }).extend({
    folderAccesses: z
      .array(folderAccess)
      .describe('Access rules. Always empty: every application of the organization may use the folder.'),
  }),
  refusals: ['FolderNotFound'],
});

export const deleteFolder = operation('POST /api/folders/{id}/delete', {
  group: 'Folders',
  summary: 'Deletes a folder, and moves or deletes its content.',
  description:
    '`MoveContent` moves the documents and folders inside to `destinationFolderId`, or to the top level; `DeleteContent` deletes them, which cannot be undone. A large folder is emptied after the reply. Keys that are restricted to folders cannot call it.',
  scope: 'Create',
  params: folderParams,
  body: members({
    deleteAction: word(['MoveContent', 'DeleteContent']).describe(
      '`MoveContent` moves documents and folders to `destinationFolderId`; `DeleteContent` deletes them.',
    ),
    destinationFolderId: maybeUuid.describe(
      'Folder that receives the content. Null: no folder. Only for `MoveContent`.',
    ),
  }).meta({ id: 'FolderDeletion' }),
  reply: 'empty',
  examples: { request: { deleteAction: 'MoveContent' } },
  refusals: ['FolderNotFound', 'LegalHold'],
});

export const moveDocument = operation('POST /api/documents/{id}/folder', {
  group: 'Documents',
  summary: 'Moves a document into a folder, or out of its folder.',
  description:
    '`folderId` takes precedence over `newFolderName`, which finds or creates a folder at the top level; without both the document leaves its folder. Possible in every status; links of participants stay valid. A key that is restricted to folders moves documents only between them.',
  scope: 'Create',
  folderKeys: true,
  params: documentParams,
  body: members(destination).meta({ id: 'DocumentMove' }),
  reply: 'empty',
  examples: { request: { newFolderName: 'Contracts 2026' } },
  refusals: [...UNKNOWN_DOCUMENT, 'FolderNotFound', 'LegalHold'],
});

export const moveDocuments = operation('POST /api/documents/batch/folder', {
  group: 'Documents',
  summary: 'Moves several documents, and returns the result for each.',
  description:
    'As `POST /api/documents/{id}/folder` for each of at most 1,000 documents (`LimitExceeded`). The reply has one result for each id, in the order of the request. A document that cannot be moved does not stop the others; an unknown `folderId` is the `errorMessage` of every result.',
  scope: 'Create',
  folderKeys: true,
  body: members({
    documents: list(uuid, {
      most: MAX_DOCUMENTS_MOVED,
      refusal: {
        code: 'LimitExceeded',
        message: `At most ${MAX_DOCUMENTS_MOVED} documents are moved at once.`,
      },
    }).describe('Ids of the documents.'),
    ...destination,
  }).meta({ id: 'DocumentsMove' }),
  reply: z.array(
    z.strictObject({
      id: identity,
      success: shown(z.boolean(), 'Whether it was done.', true),
      errorMessage: shown(
        z.string().nullable(),
        'Why the document was not moved. Null: it was.',
        'The document was not found.',
      ),
    }),
  ),
  examples: { request: { documents: [EXAMPLE_IDS.document], newFolderName: 'Contracts 2026' } },
  refusals: ['FolderNotFound', 'LimitExceeded'],
});

export type FolderQuery = Value<typeof listFolders.query>;
export type FolderDeletion = Value<typeof deleteFolder.body>;
/** A folder or none; null and absent are the same. */
export type DocumentMove = Value<typeof moveDocument.body>;
