/**
 * Filters of documents, in queries and in bodies.
 *
 * Source: docs/portal-values.md §12.
 */

import type { DocumentFilter } from '../../../actors/portal/api.ts';
import type { Value } from '../../../contracts/operation.ts';
import { plainLine } from '../../../contracts/plain-text.ts';
import type { listDocuments } from '../../../contracts/portal/document-lists.ts';

/** Maximum number of tags in a filter; further ones are ignored. Source: docs/portal-values.md §12. */
const TAGS_USED = 10;

type Given = Value<typeof listDocuments.query>;
type Filter = { readonly [Member in keyof Given]?: Given[Member] | null };

export function documentFilter(given: Filter): DocumentFilter {
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
