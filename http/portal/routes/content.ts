/** Files of documents: as bytes, as Base64, by a ticket, and of several documents in one. */
import type { DocumentPackages, DocumentService, TemporaryFile } from '../../../actors/portal/api.ts';
import {
  combineDocuments,
  createContentTicket,
  downloadByTicket,
  getAttachment,
  getContent,
  getContentAsBase64,
  packDocuments,
} from '../../../contracts/portal/document-files.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type { EmptyReply, FileReply } from '../../core/reply.ts';
import type { AnyRoute } from '../../core/router.ts';
import { requestOriginOf } from '../access-check.ts';
import { handle } from '../handle.ts';
import { documentId } from '../input/ids.ts';
import { portalRoute } from '../route.ts';
import { base64Reply, storedFileReply } from '../stored-file.ts';

export function contentRoutes(documents: DocumentService, packages: DocumentPackages): readonly AnyRoute[] {
  return [
    handle(getContent, async ({ tenant, params, query, header }) =>
      storedFileReply(
        await documents.content(tenant, documentId(params.id), query.type ?? 'Original'),
        header,
      ),
    ),
    handle(getAttachment, async ({ tenant, params: { id, attachmentId }, header }) =>
      storedFileReply(await documents.attachment(tenant, documentId(id), attachmentId), header),
    ),
    portalRoute({
      ...getContentAsBase64,
      responses: { 200: getContentAsBase64.reply },
      // The JSON text is made while it is sent.
      handle: async ({ tenant, params, query }) =>
        base64Reply(await documents.content(tenant, documentId(params.id), query.type ?? 'Original')),
    }),
    handle(
      createContentTicket,
      async ({ tenant, params, query: { type = 'Original', preview = false } }) => ({
        location: await documents.contentTicket(tenant, documentId(params.id), type, preview),
      }),
    ),
    handle(downloadByTicket, async ({ query, header, caller }) => {
      if (query.ticket === undefined) throw new PortalRefusal('NotFound');
      const file = await documents.ticketContent(query.ticket, requestOriginOf({ caller, header }));
      return storedFileReply(file, header, file.inline);
    }),
    handle(packDocuments, async ({ tenant, body }) =>
      temporaryFileReply(
        await packages.archive(tenant, body.documents.map(documentId), body.type ?? 'Original'),
      ),
    ),
    handle(combineDocuments, async ({ tenant, body }) =>
      temporaryFileReply(
        await packages.combine(tenant, body.documents.map(documentId), body.type ?? 'Original'),
      ),
    ),
  ];
}

/** The file, which is removed when it has been sent. */
async function temporaryFileReply(stored: TemporaryFile): Promise<FileReply | EmptyReply> {
  try {
    const reply = await storedFileReply(stored, () => '');
    if (reply.kind !== 'file') return reply;
    const { file } = reply;
    const source: FileReply['file'] = {
      read: (...where) => file.read(...where),
      async close() {
        await file.close();
        await stored.remove();
      },
    };
    return { ...reply, file: source };
  } catch (error) {
    await stored.remove();
    throw error;
  }
}
