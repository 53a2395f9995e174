/**
 * Moving documents, one or many, into folders and out of them.
 *
 * Source: portal-gaps §16.
 */
import { z } from 'zod';
import type { PortalDocuments, PortalFolders, Tenant } from '../../actors/portal/api.ts';
import { PortalRefusal } from '../../machines/portal-refusals.ts';
import { json } from '../reply.ts';
import type { AnyRoute } from '../router.ts';
import { list, maybeText, maybeUuid, members, uuid } from './fields.ts';
import { documentId, idParams } from './ids.ts';
import { UNKNOWN_DOCUMENT } from './refusal-groups.ts';
import { DONE, portalRoute } from './route.ts';
import { id } from './shapes/parts.ts';

/** Documents moved by one call. */
const MOVED_AT_ONCE = 1000;

const destination = { folderId: maybeUuid, newFolderName: maybeText };

const movedShape = z.strictObject({ id, success: z.boolean(), errorMessage: z.string().nullable() });

export function documentFolderRoutes(
  documents: PortalDocuments,
  folders: PortalFolders,
): readonly AnyRoute[] {
  return [
    portalRoute({
      method: 'POST',
      path: '/api/documents/{id}/folder',
      summary: 'Moves a document into a folder, a new one, or out of any.',
      params: idParams,
      body: members(destination),
      responses: { 200: 'empty' },
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
      summary: 'Moves many documents, and says of each whether it was moved.',
      body: members({ documents: list(uuid), ...destination }),
      responses: { 200: z.array(movedShape) },
      refusals: ['FolderNotFound', 'LimitExceeded'],
      async handle({ tenant, body }) {
        if (body.documents.length > MOVED_AT_ONCE) {
          throw new PortalRefusal('LimitExceeded', `At most ${MOVED_AT_ONCE} documents are moved at once.`);
        }
        const folderId = await folderOf(folders, tenant, body);
        const moved: z.infer<typeof movedShape>[] = [];
        for (const document of body.documents) {
          const errorMessage = await whyNot(() =>
            documents.move(tenant, documentId(document), { folderId, newFolderName: null }),
          );
          moved.push({ id: document, success: errorMessage === null, errorMessage });
        }
        return json(200, moved);
      },
    }),
  ];
}

/** Where many documents are moved to: a new folder is made once for all of them. */
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
  return (await folders.create(tenant, given.newFolderName, null)).id;
}

/** The message of a refusal; null when it was done. */
async function whyNot(work: () => Promise<void>): Promise<string | null> {
  try {
    await work();
    return null;
  } catch (thrown) {
    const { name, message } = thrown as Error;
    if (name !== 'PortalRefusal') throw thrown;
    return message;
  }
}
