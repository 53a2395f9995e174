/**
 * Filters of documents, in queries and in bodies.
 *
 * Source: docs/portal-values.md §12.
 */

import type { z } from 'zod';
import type { DocumentFilter } from '../../../actors/portal/api.ts';
import {
  end,
  maybeFlag,
  maybeText,
  maybeUuid,
  members,
  moment,
  uuid,
  word,
} from '../../../contracts/fields.ts';
import { plainLine } from '../../../contracts/plain-text.ts';
import { queryFlag, queryText, queryWord } from '../../../contracts/portal/lists.ts';
import { DOCUMENT_TYPES, LIST_STATUSES, PARTICIPANT_QUERY_TYPES, QUERY_TYPES } from './enumerations.ts';

/** Maximum number of tags in a filter; further ones are ignored. Source: docs/portal-values.md §12. */
const TAGS_USED = 10;

const FOLDER_TYPES = ['Normal', 'WithoutFolder'] as const;

const EXTERNAL_ID = 'The whole id that the application gave at creation.';
const CREATED_FROM = 'Created at this time or later; a date without a time means its start, UTC.';
const CREATED_TO = 'Created at this time or earlier; a date without a time means its end, UTC.';

export const filterQuery = {
  status: queryWord(LIST_STATUSES),
  isConcluded: queryFlag,
  folderId: uuid.optional(),
  folderType: queryWord(FOLDER_TYPES),
  q: queryText,
  queryType: queryWord(QUERY_TYPES),
  participantQ: queryText,
  participantQueryType: queryWord(PARTICIPANT_QUERY_TYPES),
  filterByPendingSignature: queryFlag,
  filterByDocumentType: queryFlag,
  documentType: queryWord(DOCUMENT_TYPES),
  tags: queryText,
  isDeleted: queryFlag,
  externalId: queryText.describe(EXTERNAL_ID),
  createdFrom: moment.optional().describe(CREATED_FROM),
  createdTo: end.optional().describe(CREATED_TO),
};

/** The same as members of a body; deleted documents cannot be selected. */
export const filterInput = members({
  status: word(LIST_STATUSES).nullish(),
  folderId: maybeUuid,
  folderType: word(FOLDER_TYPES).nullish(),
  q: maybeText,
  queryType: word(QUERY_TYPES).nullish(),
  participantQ: maybeText,
  participantQueryType: word(PARTICIPANT_QUERY_TYPES).nullish(),
  filterByPendingSignature: maybeFlag,
  filterByDocumentType: maybeFlag,
  documentType: word(DOCUMENT_TYPES).nullish(),
  tags: maybeText,
  externalId: maybeText.describe(EXTERNAL_ID),
  createdFrom: moment.nullish().describe(CREATED_FROM),
  createdTo: end.nullish().describe(CREATED_TO),
});

type Filter<Value> = { readonly [Member in keyof Value]?: Value[Member] | null };

export function documentFilter(given: Filter<z.infer<z.ZodObject<typeof filterQuery>>>): DocumentFilter {
  const { isConcluded, status, tags } = given;
  const byOldFlag = typeof isConcluded !== 'boolean' ? undefined : isConcluded ? 'Concluded' : 'Pending';
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
  };
}

/** `label|value,value` → the tags. */
function readTags(text: string): { readonly label: string | null; readonly value: string }[] {
  const given = text.split(',').filter((tag) => tag.trim() !== '');
  return given.slice(0, TAGS_USED).map((tag) => {
    const bar = tag.indexOf('|');
    return bar < 0
      ? { label: null, value: tag.trim() }
      : { label: tag.slice(0, bar).trim(), value: tag.slice(bar + 1).trim() };
  });
}
