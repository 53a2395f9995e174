/**
 * `GET /api/documents`.
 *
 * Source: portal-gaps §12.
 */
import type { z } from 'zod';
import type { DocumentQuery, PortalDocuments } from '../../actors/portal/api.ts';
import { json } from '../reply.ts';
import type { AnyRoute } from '../router.ts';
import { members, uuid } from './fields.ts';
import { paging, queryFlag, queryText, queryWord } from './query-fields.ts';
import { portalRoute } from './route.ts';
import { listItemBody, listItemShape } from './shapes/documents.ts';
import { pageBody, pageShape } from './shapes/parts.ts';
import { DOCUMENT_TYPES, LIST_STATUSES, PARTICIPANT_QUERY_TYPES, QUERY_TYPES } from './words.ts';

/** Tags of a list's filter; more are left out. Source: portal-gaps §12. */
const TAGS_USED = 10;

const listQuery = members({
  status: queryWord(LIST_STATUSES),
  isConcluded: queryFlag,
  folderId: uuid.optional(),
  folderType: queryWord(['Normal', 'WithoutFolder']),
  q: queryText,
  queryType: queryWord(QUERY_TYPES),
  participantQ: queryText,
  participantQueryType: queryWord(PARTICIPANT_QUERY_TYPES),
  filterByPendingSignature: queryFlag,
  filterByDocumentType: queryFlag,
  documentType: queryWord(DOCUMENT_TYPES),
  tags: queryText,
  isDeleted: queryFlag,
  ...paging,
});

export function documentListRoutes(documents: PortalDocuments): readonly AnyRoute[] {
  return [
    portalRoute({
      method: 'GET',
      path: '/api/documents',
      summary: 'Lists documents of the organization.',
      query: listQuery,
      responses: { 200: pageShape(listItemShape) },
      refusals: [],
      async handle({ tenant, query }) {
        return json(200, pageBody(await documents.list(tenant, documentQuery(query)), listItemBody));
      },
    }),
  ];
}

function documentQuery(given: z.infer<typeof listQuery>): DocumentQuery {
  const { isConcluded, status, tags } = given;
  const byOldFlag = isConcluded === undefined ? undefined : isConcluded ? 'Concluded' : 'Pending';
  return {
    status: status ?? byOldFlag,
    folderId: given.folderId,
    withoutFolder: given.folderType === 'WithoutFolder' ? true : undefined,
    q: given.q,
    queryType: given.queryType,
    participantQ: given.participantQ,
    participantQueryType: given.participantQueryType,
    pendingSignature: given.filterByPendingSignature,
    filterByDocumentType: given.filterByDocumentType,
    documentType: given.documentType,
    tags: tags === undefined ? undefined : readTags(tags),
    deleted: given.isDeleted,
    limit: given.limit,
    offset: given.offset,
    newestFirst: given.order === 'Desc',
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
