/**
 * Moves documents, one or many, into folders and out of them.
 *
 * Source: docs/portal-values.md §16.
 */
import { z } from 'zod';
import type { DocumentService, PortalFolders, Tenant } from '../../../actors/portal/api.ts';
import { id, list, maybeText, maybeUuid, members, uuid } from '../../../contracts/fields.ts';
import { EXAMPLE_IDS } from '../../../contracts/portal/examples.ts';
import { UNKNOWN_DOCUMENT } from '../../../contracts/portal/refusals.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import { json } from '../../core/reply.ts';
import type { AnyRoute } from '../../core/router.ts';
import { documentId, idParams } from '../input/ids.ts';
import { DONE, portalRoute } from '../route.ts';

/** Maximum number of documents moved by one call. */
const MAX_DOCUMENTS_MOVED = 1000;

const destination = { folderId: maybeUuid, newFolderName: maybeText };

const movedShape = z.strictObject({ id, success: z.boolean(), errorMessage: z.string().nullable() });

export function documentFolderRoutes(
  documents: DocumentService,
  folders: PortalFolders,
): readonly AnyRoute[] {
  return [
    portalRoute({
      method: 'POST',
      path: '/api/documents/{id}/folder',
      group: 'Documents',
      summary: 'Moves a document into a folder, or out of its folder.',
      description:
        '`folderId` takes precedence over `newFolderName`, which finds or creates a folder at the top level; without both the document leaves its folder. Possible in every status; links of participants stay valid. A key that is restricted to folders moves documents only between them.',
      scope: 'Create',
      folderKeys: true,
      params: idParams,
      body: members(destination),
      responses: { 200: 'empty' },
      examples: { request: { newFolderName: 'Contracts 2026' } },
      refusals: [...UNKNOWN_DOCUMENT, 'FolderNotFound'],
      async handle({ tenant, params, body }) {
        await documents.move(tenant, documentId(params.id), {
          folderId: body.folderId ?? null,
          newFolderName: body.newFolderName ?? null,
        });
        return DONE;
      },
    }),
    portalRoute({
      method: 'POST',
      path: '/api/documents/batch/folder',
      group: 'Documents',
      summary: 'Moves several documents, and returns the result for each.',
      description:
        'As `POST /api/documents/{id}/folder` for each of at most 1,000 documents (`LimitExceeded`). The reply has one result for each id, in the order of the request. A document that cannot be moved does not stop the others; an unknown `folderId` is the `errorMessage` of every result.',
      scope: 'Create',
      folderKeys: true,
      body: members({ documents: list(uuid, { most: 5 * MAX_DOCUMENTS_MOVED }), ...destination }),
      responses: { 200: z.array(movedShape) },
      examples: { request: { documents: [EXAMPLE_IDS.document], newFolderName: 'Contracts 2026' } },
      refusals: ['FolderNotFound', 'LimitExceeded'],
      async handle({ tenant, body }) {
        if (body.documents.length > MAX_DOCUMENTS_MOVED) {
          throw new PortalRefusal(
            'LimitExceeded',
            `At most ${MAX_DOCUMENTS_MOVED} documents are moved at once.`,
          );
        }
        const folderId = await folderOf(folders, tenant, body);
        const moved: z.infer<typeof movedShape>[] = [];
        for (const document of body.documents) {
          const errorMessage = await failureReason(() =>
            documents.move(tenant, documentId(document), { folderId, newFolderName: null }),
          );
          moved.push({ id: document, success: errorMessage === null, errorMessage });
        }
        return json(200, moved);
      },
    }),
  ];
}

/** Target of a move; a new folder is created once for all documents with its name. */
async function folderOf(
  folders: PortalFolders,
  tenant: Tenant,
  given: {
    readonly folderId?: string | null | undefined;
    readonly newFolderName?: string | null | undefined;
  },
): Promise<string | null> {
  if (typeof given.folderId === 'string') return given.folderId;
  if (typeof given.newFolderName !== 'string') return null;
  return (await folders.named(tenant, given.newFolderName)).id;
}

/** The message of a refusal; null on success. */
async function failureReason(work: () => Promise<void>): Promise<string | null> {
  try {
    await work();
    return null;
  } catch (thrown) {
    const { name, message } = thrown as Error;
    if (name !== 'PortalRefusal') throw thrown;
    return message;
  }
}
