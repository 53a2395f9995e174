/**
 * Lists of documents, filters of them in queries and bodies, and operations on every document that a filter finds.
 *
 * Source: docs/portal-values.md §12; docs/decisions/0127-operations-on-documents.md.
 */

import { z } from 'zod';
import { end, maybeFlag, maybeText, members, moment, REQUIRED, shown, time, uuid, word } from '../fields.ts';
import type { Value } from '../operation.ts';
import { plainLine } from '../plain-text.ts';
import { documentListItem, maybeReason } from './documents.ts';
import { folderId, identity } from './entities.ts';
import { idIn } from './ids.ts';
import { cursor, nameQuery, pageOf, paging, queryFlag, queryText, queryWord } from './lists.ts';
import { operationsOf } from './operation.ts';
import {
  DOCUMENT_ACTIONS,
  DOCUMENT_OPERATION_STATES,
  DOCUMENT_TYPES,
  LIST_STATUSES,
  PARTICIPANT_QUERY_TYPES,
  QUERY_TYPES,
} from './words.ts';

const FOLDER_TYPES = ['Normal', 'WithoutFolder'] as const;

const EXTERNAL_ID = 'The whole id that the application gave at creation.';
const CREATED_FROM = 'Created at this time or later; a date without a time means its start, UTC.';
const CREATED_TO = 'Created at this time or earlier; a date without a time means its end, UTC.';

/** Maximum number of tags in a filter; further ones are ignored. */
const TAGS_USED = 10;

/** Members of the query. */
const filterMembers = {
  status: queryWord(LIST_STATUSES).describe('Only entries in this state. Absent: in any.'),
  isConcluded: queryFlag.describe(
    'True: only concluded documents; false: only pending ones. Absent: both. `status` takes precedence.',
  ),
  folderId: uuid.optional().describe('Only documents in this folder. Absent: in any.'),
  folderType: queryWord(FOLDER_TYPES).describe(
    '`WithoutFolder` finds documents that are in no folder. Default `Normal`.',
  ),
  q: nameQuery,
  queryType: queryWord(QUERY_TYPES).describe(
    'Where `q` is searched. Default `Name`; `Any` searches all and the external id.',
  ),
  participantQ: shown(
    queryText,
    'Text that a participant must have in the member named by `participantQueryType`.',
    'ana',
  ),
  participantQueryType: queryWord(PARTICIPANT_QUERY_TYPES).describe(
    'Member of participants that `participantQ` is compared with. Absent: all four.',
  ),
  filterByPendingSignature: queryFlag.describe(
    'Whether only documents that wait for a signature are found. Default false.',
  ),
  filterByDocumentType: queryFlag.describe(
    'Whether only documents of `documentType` are found. Default false.',
  ),
  documentType: queryWord(DOCUMENT_TYPES).describe(
    'Kind of document. Used only with `filterByDocumentType`.',
  ),
  tags: shown(
    queryText,
    'Tags that the documents must have, separated by commas; at most ten.',
    'lease,office',
  ),
  isDeleted: queryFlag.describe('True: only deleted documents. Default false.'),
  externalId: shown(queryText, EXTERNAL_ID, 'order-4711'),
  createdFrom: moment.optional().describe(CREATED_FROM),
  createdTo: end.optional().describe(CREATED_TO),
};

/** The same as members of a body; deleted documents cannot be selected. */
const documentFilterBody = members({
  status: word(LIST_STATUSES).nullish().describe('Current state.'),
  folderId,
  folderType: word(FOLDER_TYPES)
    .nullish()
    .describe(
      '`WithoutFolder` finds documents that are in no folder. `Normal`, the default, uses `folderId`.',
    ),
  q: shown(
    maybeText,
    'Text to find, in the member named by `queryType`. Neither case nor accents count.',
    'lease',
  ),
  queryType: word(QUERY_TYPES)
    .nullish()
    .describe('Where `q` is searched. `Any` searches all of them and the external id. Default `Name`.'),
  participantQ: shown(
    maybeText,
    'Text that a participant must have in the member named by `participantQueryType`.',
    'ana',
  ),
  participantQueryType: word(PARTICIPANT_QUERY_TYPES)
    .nullish()
    .describe('Member of participants that `participantQ` is compared with. Absent: all four.'),
  filterByPendingSignature: maybeFlag.describe(
    'Whether only documents that wait for a signature are found; with `participantQ`, for one of these participants. Default false.',
  ),
  filterByDocumentType: maybeFlag.describe(
    'Whether only documents of `documentType` are found. Default false.',
  ),
  documentType: word(DOCUMENT_TYPES)
    .nullish()
    .describe('Kind of document. Used only with `filterByDocumentType`.'),
  tags: shown(maybeText, 'Tags that the documents must have, separated by commas.', 'lease,office'),
  externalId: shown(maybeText, EXTERNAL_ID, 'order-4711'),
  createdFrom: shown(moment.nullish(), CREATED_FROM, '2026-01-01'),
  createdTo: shown(end.nullish(), CREATED_TO, '2026-06-30'),
}).meta({ id: 'DocumentFilter' });

const filterQuery = members(filterMembers);
type FilterQuery = z.output<typeof filterQuery>;

/** As lists take it, and as operations store it; an absent member is no restriction. */
function filterOf(given: { readonly [Member in keyof FilterQuery]?: FilterQuery[Member] | null }) {
  const { isConcluded, status, tags } = given;
  const byOldFlag = typeof isConcluded !== 'boolean' ? undefined : isConcluded ? 'Concluded' : 'Pending';
  // Cursors name a list by these members in this order.
  return {
    status: status ?? byOldFlag,
    folderId: given.folderId ?? undefined,
    withoutFolder: given.folderType === 'WithoutFolder' ? true : undefined,
    q: given.q ?? undefined,
    queryType: given.queryType ?? undefined,
    participantQ: given.participantQ ?? undefined,
    participantQueryType: given.participantQueryType ?? undefined,
    pendingSignature: given.filterByPendingSignature ?? undefined,
    filterByDocumentType: given.filterByDocumentType ?? undefined,
    documentType: given.documentType ?? undefined,
    tags: typeof tags === 'string' ? readTags(tags) : undefined,
    deleted: given.isDeleted ?? undefined,
    externalId: typeof given.externalId === 'string' ? plainLine(given.externalId) : undefined,
    createdFrom: given.createdFrom ?? undefined,
    createdTo: given.createdTo ?? undefined,
  } as const;
}

/** `label|value,value` → the tags. */
function readTags(text: string): readonly { readonly label: string | null; readonly value: string }[] {
  const given = text.split(',').filter((tag) => tag.trim() !== '');
  return given.slice(0, TAGS_USED).map((tag) => {
    const bar = tag.indexOf('|');
    return bar < 0
      ? { label: null, value: tag.trim() }
      : { label: tag.slice(0, bar).trim(), value: tag.slice(bar + 1).trim() };
  });
}

/** Selects documents. */
export interface DocumentFilter extends Partial<ReturnType<typeof filterOf>> {
  /** Folders of a key that is restricted to them; absent = all documents. */
  readonly folders?: readonly string[] | undefined;
  /** Folders whose documents the caller does not find. @default none */
  readonly exceptFolders?: readonly string[] | undefined;
}

const operation = operationsOf({ group: 'Documents' });

export const listDocuments = operation('GET /api/documents', {
  summary: 'Lists documents of the organization.',
  description:
    'Oldest first by default. `Offset` is a page number from 0; `Limit` is at most 100, and a larger value is lowered. For long lists send `Cursor=` and then each `nextCursor`: these pages neither skip nor repeat documents while others are created. A key that is restricted to folders finds only the documents in them.',
  scope: 'Read',
  folderKeys: true,
  query: members({ ...filterMembers, ...paging, cursor }).transform(
    ({ limit, offset, order, cursor: position, ...given }) => ({
      limit,
      offset,
      cursor: position,
      filter: { ...filterOf(given), newestFirst: order === 'Desc' },
    }),
  ),
  reply: pageOf(documentListItem),
});

export const exportDocuments = operation('GET /api/documents/export', {
  summary: 'Sends the list of documents as a CSV file.',
  description:
    'The filters are those of `GET /api/documents`. The file has at most 100,000 documents (`LimitExceeded`), and an organization has at most two exports at a time (`TooManyRequests`). A cell that begins like a formula starts with an apostrophe.',
  scope: 'Read',
  folderKeys: true,
  query: members({ ...filterMembers, order: paging.order }).transform(({ order, ...given }) => ({
    ...filterOf(given),
    newestFirst: order === 'Desc',
  })),
  reply: 'csv',
  refusals: ['LimitExceeded'],
});

const documentOperation = z
  .strictObject({
    id: identity,
    action: z.enum(DOCUMENT_ACTIONS).describe('What is done to each document.'),
    status: z
      .enum(DOCUMENT_OPERATION_STATES)
      .describe(
        '`Canceling`: it ends after the batch in progress. `Completed` and `Canceled` are kept for 30 days.',
      ),
    reason: shown(
      z.string().nullable(),
      'The reason that each canceled document has.',
      'The price has changed.',
    ),
    matchedCount: shown(z.int().min(0), 'Documents that the filter found when the operation was made.', 243),
    doneCount: shown(z.int().min(0), 'Documents that accepted the action so far.', 240),
    skippedCount: shown(z.int().min(0), 'Documents that did not accept it so far.', 3),
    skippedByCode: shown(z.record(z.string(), z.int().min(0)), 'The skipped documents by code of refusal.', {
      InvalidDocumentStatus: 3,
    }),
    creationDate: time.describe('When it was made.'),
    updateDate: time.describe('When it last made progress.'),
    endDate: time.nullable().describe('When it ended; null: it has not.'),
  })
  .meta({ id: 'DocumentOperation', description: 'One action on every document that a filter finds.' });

export type DocumentOperationView = Value<typeof documentOperation>;

const operationCount = z
  .strictObject({
    matchedCount: shown(z.int().min(0), 'Documents that the filter finds now.', 243),
  })
  .meta({ id: 'DocumentOperationCount', description: 'The answer to `dryRun`.' });

const newOperation = members({
  action: word(DOCUMENT_ACTIONS).describe('Operation on each document that `filter` finds.'),
  filter: documentFilterBody.describe(
    'Filter of the documents of the organization. The members are those of the query of `GET /api/documents`.',
  ),
  reason: shown(
    maybeReason,
    'Reason, which participants and the history show. At most 2,000 characters.',
    'The price has changed.',
  ),
  dryRun: maybeFlag.describe('Whether the documents are counted and nothing is changed. Default false.'),
})
  .refine(({ action, reason, dryRun }) => action !== 'Cancel' || dryRun === true || reason != null, {
    path: ['reason'],
    error: REQUIRED,
  })
  .transform(({ filter, ...request }) => ({ ...request, filter: filterOf(filter) }))
  .meta({ id: 'NewDocumentOperation' });

export type NewDocumentOperation = Value<typeof newOperation>;

const operationParams = z.object({ id: idIn('Id of the operation.') });

export const operateDocuments = operation('POST /api/documents/operations', {
  summary:
    'Cancels or deletes all documents that match a filter, reminds their participants, or counts them.',
  description:
    'With `dryRun` the matching documents are only counted. Otherwise the operation acts in batches on the matching documents that were created before the request, and continues after a restart. A cancellation needs a `reason`, a deletion a filter. Documents that cannot be changed are counted by error code. An organization has at most two operations at a time (`TooManyRequests`).',
  scope: 'Create',
  folderKeys: true,
  body: newOperation,
  reply: z.union([documentOperation, operationCount]),
  examples: { request: { action: 'Remind', filter: { status: 'Pending', q: 'lease' }, dryRun: true } },
});

export const listDocumentOperations = operation('GET /api/documents/operations', {
  summary: 'Lists operations on documents, newest first.',
  description:
    'Lists those of the whole organization, so keys that are restricted to folders cannot call it.',
  scope: 'Read',
  query: members({ limit: paging.limit, offset: paging.offset }),
  reply: pageOf(documentOperation),
});

export const getDocumentOperation = operation('GET /api/documents/operations/{id}', {
  summary: 'Returns an operation on documents with its progress.',
  description:
    'The counts grow while it runs; documents that could not be changed are counted by error code. An operation of another organization is `DocumentOperationNotFound`.',
  scope: 'Read',
  folderKeys: true,
  params: operationParams,
  reply: documentOperation,
  refusals: ['DocumentOperationNotFound'],
});

export const cancelDocumentOperation = operation('POST /api/documents/operations/{id}/cancellation', {
  summary: 'Cancels an operation on documents after the batch in progress.',
  description:
    'Documents that were changed already stay changed. `DocumentOperationEnded`: it has ended, or is being canceled.',
  scope: 'Create',
  folderKeys: true,
  params: operationParams,
  reply: documentOperation,
  refusals: ['DocumentOperationNotFound', 'DocumentOperationEnded'],
});
