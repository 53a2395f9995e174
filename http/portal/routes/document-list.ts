/** The list of documents, and the same list as a CSV file. Source: RFC 4180. */
import type { DocumentExports, DocumentOperations, DocumentService } from '../../../actors/portal/api.ts';
import {
  cancelDocumentOperation,
  exportDocuments,
  getDocumentOperation,
  listDocumentOperations,
  listDocuments,
  operateDocuments,
} from '../../../contracts/portal/document-lists.ts';
import type { DocumentListItem } from '../../../contracts/portal/documents.ts';
import { isoTime } from '../../../contracts/times.ts';
import { contentDisposition } from '../../core/file-reply.ts';
import type { StreamReply } from '../../core/reply.ts';
import type { AnyRoute } from '../../core/router.ts';
import { handle } from '../handle.ts';
import { pageReply, positionIn } from '../input/query-fields.ts';

/** `/api/documents/operations`: cancels, deletes or reminds every document that a filter finds. */
export function documentOperationRoutes(operations: DocumentOperations): readonly AnyRoute[] {
  return [
    handle(operateDocuments, async ({ tenant, body }) =>
      body.dryRun === true
        ? { matchedCount: await operations.count(tenant, body) }
        : operations.start(tenant, body),
    ),
    handle(listDocumentOperations, async ({ tenant, query }) =>
      pageReply(await operations.list(tenant, query)),
    ),
    handle(getDocumentOperation, ({ tenant, params }) => operations.get(tenant, params.id)),
    handle(cancelDocumentOperation, ({ tenant, params }) => operations.cancel(tenant, params.id)),
  ];
}

export function documentListRoutes(
  documents: DocumentService,
  exports: DocumentExports,
): readonly AnyRoute[] {
  return [
    handle(listDocuments, async ({ tenant, query: { filter, limit, offset, cursor } }) => {
      const position = positionIn(cursor, filter);
      return pageReply(await documents.list(tenant, { ...filter, limit, offset, position }), filter);
    }),
    handle(exportDocuments, async ({ tenant, query }): Promise<StreamReply> => {
      const pages = exports.pages(tenant, query);
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
export const BYTE_ORDER_MARK = '\ufeff';

async function* csvOf(
  first: readonly DocumentListItem[],
  rest: AsyncGenerator<readonly DocumentListItem[]>,
): AsyncGenerator<Buffer> {
  try {
    yield Buffer.from(`${BYTE_ORDER_MARK}${csvLine(COLUMNS)}${first.map(documentLine).join('')}`);
    for await (const items of rest) yield Buffer.from(items.map(documentLine).join(''));
  } finally {
    await rest.return(undefined);
  }
}

function documentLine(item: DocumentListItem): string {
  const { id, externalId, name, status, type, folder, tags, creationDate, updateDate } = item;
  const labels = tags.map(({ label, value }) => (label === null ? value : `${label}|${value}`)).join(', ');
  return csvLine([
    id,
    externalId ?? '',
    name,
    status,
    type ?? '',
    folder?.name ?? '',
    labels,
    isoTime(creationDate),
    isoTime(updateDate),
  ]);
}

export function csvLine(cells: readonly string[]): string {
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
