/**
 * Files of documents: as bytes, as Base64, and by a ticket.
 *
 * Source: docs/portal-values.md §0, §13.
 */

import { z } from 'zod';
import type { DocumentService } from '../../../actors/portal/api.ts';
import { members } from '../../../contracts/fields.ts';
import { queryFlag, queryText, queryWord } from '../../../contracts/portal/lists.ts';
import { FILE_HEADERS } from '../../../contracts/portal/operation.ts';
import { UNKNOWN_DOCUMENT } from '../../../contracts/portal/refusals.ts';
import { DOWNLOAD_TYPES } from '../../../contracts/portal/words.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import { json } from '../../core/reply.ts';
import type { AnyRoute } from '../../core/router.ts';
import { attachmentParams, documentId, idParams } from '../input/ids.ts';
import { portalRoute } from '../route.ts';
import { base64Reply, storedFileReply } from '../stored-file.ts';

const type = queryWord(DOWNLOAD_TYPES).meta({ description: 'Which file; `Original` when absent.' });

const REFUSALS = [...UNKNOWN_DOCUMENT, 'DocumentHasNoSignatures', 'DownloadTypeNotAvailable'] as const;

const base64Shape = z.strictObject({
  bytes: z.string().meta({ description: 'Content of the file, Base64.', examples: ['JVBERi0xLjc='] }),
  name: z.string().meta({ description: 'File name with its extension.', examples: ['contract.pdf'] }),
  contentType: z.string(),
});

export function contentRoutes(documents: DocumentService): readonly AnyRoute[] {
  return [
    portalRoute({
      method: 'GET',
      path: '/api/documents/{id}/content',
      group: 'Documents',
      summary: 'Sends a file of the document, whole or one range of it.',
      description:
        '`type` selects the file: the original, the signed file, the printer-friendly version with the signature manifest, and others. All but the original exist from the first signature on (`DocumentHasNoSignatures`). A canceled, expired or refused document has only the original and the printer-friendly version (`DownloadTypeNotAvailable`). The `ETag` is the hash of the file; a request with `Range` is answered with 206.',
      scope: 'Read',
      folderKeys: true,
      headers: FILE_HEADERS,
      params: idParams,
      query: members({ type }),
      responses: { 200: 'file', 206: 'file' },
      refusals: REFUSALS,
      async handle({ tenant, params, query, header }) {
        const file = await documents.content(tenant, documentId(params.id), query.type ?? 'Original');
        return storedFileReply(file, header);
      },
    }),
    portalRoute({
      method: 'GET',
      path: '/api/documents/{id}/attachments/{attachmentId}/content',
      group: 'Documents',
      summary: 'Sends an attachment of the document, whole or one range of it.',
      description:
        'Includes private attachments, which participants do not see. A request with `Range` is answered with 206. An attachment of another document is `AttachmentNotFound`.',
      scope: 'Read',
      folderKeys: true,
      headers: FILE_HEADERS,
      params: attachmentParams,
      responses: { 200: 'file', 206: 'file' },
      refusals: [...UNKNOWN_DOCUMENT, 'AttachmentNotFound'],
      async handle({ tenant, params, header }) {
        const { id, attachmentId } = params;
        return storedFileReply(await documents.attachment(tenant, documentId(id), attachmentId), header);
      },
    }),
    portalRoute({
      method: 'GET',
      path: '/api/documents/{id}/content-b64',
      group: 'Documents',
      summary: 'Sends a file of the document as Base64.',
      description:
        'For clients that can only read JSON; `GET /api/documents/{id}/content` sends the same file as bytes. `DocumentHasNoSignatures` and `DownloadTypeNotAvailable`: this kind of file does not exist in the status of the document.',
      scope: 'Read',
      folderKeys: true,
      params: idParams,
      query: members({ type }),
      responses: { 200: base64Shape },
      refusals: REFUSALS,
      async handle({ tenant, params, query }) {
        return base64Reply(await documents.content(tenant, documentId(params.id), query.type ?? 'Original'));
      },
    }),
    portalRoute({
      method: 'GET',
      path: '/api/documents/{id}/ticket',
      group: 'Documents',
      summary:
        'Returns a path from which a file of the document can be downloaded without a key for one hour.',
      description:
        'For a browser or another program that must not know the key. `location` is a path of this service, such as `/api/documents/…/download?ticket=…`. Anybody who has it can read the file.',
      scope: 'Read',
      folderKeys: true,
      params: idParams,
      query: members({ type, preview: queryFlag }),
      responses: { 200: z.strictObject({ location: z.string() }) },
      refusals: REFUSALS,
      async handle({ tenant, params, query }) {
        const location = await documents.contentTicket(
          tenant,
          documentId(params.id),
          query.type ?? 'Original',
          query.preview ?? false,
        );
        return json(200, { location });
      },
    }),
    portalRoute({
      method: 'GET',
      path: '/api/documents/{id}/download',
      group: 'Documents',
      summary: 'Sends the file of a ticket.',
      description:
        'The path with its ticket comes from `GET /api/documents/{id}/ticket`. Needs no key. An unknown or expired ticket is answered with 404, a document that was deleted meanwhile with `DocumentIsDeleted`.',
      auth: 'anonymous',
      headers: [...FILE_HEADERS, 'user-agent'],
      params: idParams,
      query: members({ ticket: queryText }),
      responses: { 200: 'file', 206: 'file' },
      refusals: ['NotFound', ...REFUSALS],
      async handle({ query, header, caller }) {
        if (query.ticket === undefined) throw new PortalRefusal('NotFound');
        const origin = { ipAddress: caller.address, userAgent: header('user-agent') };
        const file = await documents.ticketContent(query.ticket, origin);
        return storedFileReply(file, header, file.inline);
      },
    }),
  ];
}
