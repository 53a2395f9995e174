/**
 * Lists of documents, and filters of them in queries and bodies.
 *
 * Source: docs/portal-values.md §12.
 */
import { end, maybeFlag, maybeText, maybeUuid, members, moment, uuid, word } from '../fields.ts';
import { documentListItem } from './documents.ts';
import { cursor, pageOf, paging, queryFlag, queryText, queryWord } from './lists.ts';
import { operation } from './operation.ts';
import { DOCUMENT_TYPES, LIST_STATUSES, PARTICIPANT_QUERY_TYPES, QUERY_TYPES } from './words.ts';

const FOLDER_TYPES = ['Normal', 'WithoutFolder'] as const;

const EXTERNAL_ID = 'The whole id that the application gave at creation.';
const CREATED_FROM = 'Created at this time or later; a date without a time means its start, UTC.';
const CREATED_TO = 'Created at this time or earlier; a date without a time means its end, UTC.';

/** Members of the query. */
export const documentFilter = {
  status: queryWord(LIST_STATUSES).meta({ description: 'Only entries in this state. Absent: in any.' }),
  isConcluded: queryFlag.meta({
    description:
      'True: only concluded documents; false: only pending ones. Absent: both. `status` takes precedence.',
  }),
  folderId: uuid.optional().meta({ description: 'Only documents in this folder. Absent: in any.' }),
  folderType: queryWord(FOLDER_TYPES).meta({
    description: '`WithoutFolder` finds documents that are in no folder. Default `Normal`.',
  }),
  q: queryText.meta({ description: 'Text to find in the name. Case and accents do not count. Absent: all.' }),
  queryType: queryWord(QUERY_TYPES).meta({
    description: 'Where `q` is searched. Default `Name`; `Any` searches all and the external id.',
  }),
  participantQ: queryText.meta({
    description: 'Text that a participant must have in the member named by `participantQueryType`.',
  }),
  participantQueryType: queryWord(PARTICIPANT_QUERY_TYPES).meta({
    description: 'Member of participants that `participantQ` is compared with. Absent: all four.',
  }),
  filterByPendingSignature: queryFlag.meta({
    description: 'Whether only documents that wait for a signature are found. Default false.',
  }),
  filterByDocumentType: queryFlag.meta({
    description: 'Whether only documents of `documentType` are found. Default false.',
  }),
  documentType: queryWord(DOCUMENT_TYPES).meta({
    description: 'Kind of document. Used only with `filterByDocumentType`.',
  }),
  tags: queryText.meta({
    description: 'Tags that the documents must have, separated by commas; at most ten.',
  }),
  isDeleted: queryFlag.meta({ description: 'True: only deleted documents. Default false.' }),
  externalId: queryText.describe(EXTERNAL_ID),
  createdFrom: moment.optional().describe(CREATED_FROM),
  createdTo: end.optional().describe(CREATED_TO),
};

/** The same as members of a body; deleted documents cannot be selected. */
export const documentFilterBody = members({
  status: word(LIST_STATUSES).nullish().meta({ description: 'Current state.' }),
  folderId: maybeUuid.meta({
    description: 'Folder of the document. Null or absent: none. It takes precedence over `newFolderName`.',
  }),
  folderType: word(FOLDER_TYPES).nullish().meta({
    description:
      '`WithoutFolder` finds documents that are in no folder. `Normal`, the default, uses `folderId`.',
  }),
  q: maybeText.meta({
    description: 'Text to find, in the member named by `queryType`. Case and accents do not count.',
    exampleValue: 'lease',
  }),
  queryType: word(QUERY_TYPES).nullish().meta({
    description: 'Where `q` is searched. `Any` searches all of them and the external id. Default `Name`.',
  }),
  participantQ: maybeText.meta({
    description: 'Text that a participant must have in the member named by `participantQueryType`.',
    exampleValue: 'ana',
  }),
  participantQueryType: word(PARTICIPANT_QUERY_TYPES)
    .nullish()
    .meta({ description: 'Member of participants that `participantQ` is compared with. Absent: all four.' }),
  filterByPendingSignature: maybeFlag.meta({
    description:
      'Whether only documents that wait for a signature are found; with `participantQ`, for one of these participants. Default false.',
  }),
  filterByDocumentType: maybeFlag.meta({
    description: 'Whether only documents of `documentType` are found. Default false.',
  }),
  documentType: word(DOCUMENT_TYPES)
    .nullish()
    .meta({ description: 'Kind of document. Used only with `filterByDocumentType`.' }),
  tags: maybeText.meta({
    description: 'Tags that the documents must have, separated by commas.',
    exampleValue: 'lease,office',
  }),
  externalId: maybeText.describe(EXTERNAL_ID),
  createdFrom: moment.nullish().describe(CREATED_FROM),
  createdTo: end.nullish().describe(CREATED_TO),
}).meta({ id: 'DocumentFilter' });

export const listDocuments = operation({
  method: 'GET',
  path: '/api/documents',
  group: 'Documents',
  summary: 'Lists documents of the organization.',
  description:
    'Oldest first by default. `Offset` is a page number from 0; `Limit` is at most 100, and a larger value is lowered. For long lists send `Cursor=` and then each `nextCursor`: these pages neither skip nor repeat documents while others are created. A key that is restricted to folders finds only the documents in them.',
  scope: 'Read',
  folderKeys: true,
  query: members({ ...documentFilter, ...paging, cursor }),
  reply: pageOf(documentListItem),
  refusals: [],
});

export const exportDocuments = operation({
  method: 'GET',
  path: '/api/documents/export',
  group: 'Documents',
  summary: 'Sends the list of documents as a CSV file.',
  description:
    'The filters are those of `GET /api/documents`. The file has at most 100,000 documents (`LimitExceeded`), and an organization has at most two exports at a time (`TooManyRequests`). A cell that begins like a formula starts with an apostrophe.',
  scope: 'Read',
  folderKeys: true,
  query: members({ ...documentFilter, order: paging.order }),
  reply: 'csv',
  refusals: ['LimitExceeded'],
});
