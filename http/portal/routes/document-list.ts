/**
 * `GET /api/documents`, and the same list as a CSV file.
 *
 * Source: docs/portal-values.md §12; RFC 4180.
 */

import type { DocumentListItem, PortalDocuments } from '../../../actors/portal/api.ts';
import { members } from '../../../contracts/fields.ts';
import { cursor, pageOf, paging } from '../../../contracts/portal/lists.ts';
import { isoTime } from '../../../contracts/times.ts';
import { contentDisposition } from '../../core/file-reply.ts';
import { json, type StreamReply } from '../../core/reply.ts';
import type { AnyRoute } from '../../core/router.ts';
import { documentFilter, filterQuery } from '../input/document-filter.ts';
import { positionIn } from '../input/query-fields.ts';
import { portalRoute } from '../route.ts';
import { listItemBody, listItemShape } from '../shapes/documents.ts';
import { pageBody } from '../shapes/shared-shapes.ts';

const { order } = paging;

export function documentListRoutes(documents: PortalDocuments): readonly AnyRoute[] {
  return [
    portalRoute({
      method: 'GET',
      path: '/api/documents',
      group: 'Documents',
      summary: 'Lists documents of the organization.',
      description:
        'Oldest first by default. `Offset` is a page number from 0; `Limit` is at most 100, and a larger value is lowered. For long lists send `Cursor=` and then each `nextCursor`: these pages neither skip nor repeat documents while others are created. A key that is restricted to folders finds only the documents in them.',
      scope: 'Read',
      folderKeys: true,
      query: members({ ...filterQuery, ...paging, cursor }),
      responses: { 200: pageOf(listItemShape) },
      refusals: [],
      async handle({ tenant, query }) {
        const { limit, offset, cursor: given } = query;
        const filter = { ...documentFilter(query), newestFirst: query.order === 'Desc' };
        const position = positionIn(given, filter);
        const page = await documents.list(tenant, { ...filter, limit, offset, position });
        return json(200, pageBody(page, listItemBody, filter));
      },
    }),
    portalRoute({
      method: 'GET',
      path: '/api/documents/export',
      group: 'Documents',
      summary: 'Sends the list of documents as a CSV file.',
      description:
        'The filters are those of `GET /api/documents`. The file has at most 100,000 documents (`LimitExceeded`), and an organization has at most two exports at a time (`TooManyRequests`). A cell that begins like a formula starts with an apostrophe.',
      scope: 'Read',
      folderKeys: true,
      query: members({ ...filterQuery, order }),
      responses: { 200: 'csv' },
      refusals: ['LimitExceeded'],
      async handle({ tenant, query }): Promise<StreamReply> {
        const filter = { ...documentFilter(query), newestFirst: query.order === 'Desc' };
        const pages = documents.export(tenant, filter);
        // The first page decides whether there is a file at all.
        const first = await pages.next();
        return {
          kind: 'stream',
          status: 200,
          headers: [
            ['Content-Type', 'text/csv; charset=utf-8'],
            ['Content-Disposition', contentDisposition('documents.csv')],
          ],
          chunks: csvOf(first.done === true ? [] : first.value, pages),
        };
      },
    }),
  ];
}

const COLUMNS = [
  'id',
  'externalId',
  'name',
  'status',
  'type',
  'folder',
  'tags',
  'creationDate',
  'updateDate',
] as const;

/** Tells spreadsheet programs that the file is UTF-8. */
const BYTE_ORDER_MARK = '\ufeff';

async function* csvOf(
  first: readonly DocumentListItem[],
  rest: AsyncGenerator<readonly DocumentListItem[]>,
): AsyncGenerator<Buffer> {
  try {
    yield Buffer.from(`${BYTE_ORDER_MARK}${lineOf(COLUMNS)}${first.map(documentLine).join('')}`);
    for await (const items of rest) yield Buffer.from(items.map(documentLine).join(''));
  } finally {
    await rest.return(undefined);
  }
}

function documentLine(item: DocumentListItem): string {
  const { id, externalId, name, status, type, folder, tags, creationDate, updateDate } = item;
  const labels = tags.map(({ label, value }) => (label === null ? value : `${label}|${value}`)).join(', ');
  return lineOf([
    ...[id, externalId ?? '', name, status, type ?? '', folder?.name ?? '', labels],
    ...[isoTime(creationDate), isoTime(updateDate)],
  ]);
}

function lineOf(cells: readonly string[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

/**
 * A quoted cell. Spreadsheet programs would run a text that begins like a formula; an apostrophe keeps it a text. Some
 * separate cells at semicolons, tabs and line breaks.
 */
export function csvCell(text: string): string {
  const inner = text.replace(/([;\t\r\n][^\S\t\r\n]*)([=+\-@\uff1d\uff0b\uff0d\uff20])/g, "$1'$2");
  const harmless = /^\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r\n]/.test(inner) ? `'${inner}` : inner;
  return `"${harmless.replaceAll('"', '""')}"`;
}
