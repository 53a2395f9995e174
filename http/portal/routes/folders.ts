/** Folders, and documents that are moved into folders and out of them. */
import type { DocumentService, FolderGrants, Folders, Tenant } from '../../../actors/portal/api.ts';
import type { Value } from '../../../contracts/operation.ts';
import { getFolderGrants, listGrantees, setFolderGrants } from '../../../contracts/portal/folder-grants.ts';
import {
  createFolder,
  type DocumentMove,
  deleteFolder,
  getFolder,
  getFolderAccess,
  listFolders,
  moveDocument,
  moveDocuments,
} from '../../../contracts/portal/folders.ts';
import type { AnyRoute } from '../../core/router.ts';
import { handle } from '../handle.ts';
import { documentId, folderId } from '../input/ids.ts';
import { pageReply } from '../input/query-fields.ts';

export function folderRoutes(folders: Folders, grants: FolderGrants): readonly AnyRoute[] {
  return [
    handle(createFolder, ({ tenant, body }) => folders.create(tenant, body.name, body.parentId ?? null)),
    handle(listFolders, async ({ tenant, query }) => pageReply(await folders.list(tenant, query))),
    handle(getFolder, async ({ tenant, params }) => {
      const folder = await folders.get(tenant, folderId(params.id));
      const { id, name, identifier = null } = tenant.organization;
      return { ...folder, organization: { id, name, identifier, owner: null } };
    }),
    handle(getFolderAccess, async ({ tenant, params }) => {
      const { id, name } = await folders.get(tenant, folderId(params.id));
      return { id, name, folderAccesses: [] };
    }),
    handle(deleteFolder, ({ tenant, params, body }) => folders.remove(tenant, folderId(params.id), body)),
    handle(getFolderGrants, ({ tenant, params }) => grants.get(tenant, folderId(params.id))),
    handle(setFolderGrants, ({ tenant, params, body }) => grants.replace(tenant, folderId(params.id), body)),
    handle(listGrantees, async ({ tenant, params, query }) => ({
      items: [...(await grants.grantees(tenant, folderId(params.id), query.q))],
    })),
  ];
}

export function documentFolderRoutes(documents: DocumentService, folders: Folders): readonly AnyRoute[] {
  return [
    handle(moveDocument, ({ tenant, params, body }) => documents.move(tenant, documentId(params.id), body)),
    handle(moveDocuments, async ({ tenant, body }) => {
      const target = { folderId: await folderOf(folders, tenant, body) };
      const moved: Value<typeof moveDocuments.reply>[number][] = [];
      for (const id of body.documents) {
        const errorMessage = await failureReason(() => documents.move(tenant, documentId(id), target));
        moved.push({ id, success: errorMessage === null, errorMessage });
      }
      return moved;
    }),
  ];
}

/** Target of a move; a new folder is created once for all documents with its name. */
async function folderOf(
  folders: Folders,
  tenant: Tenant,
  { folderId, newFolderName }: DocumentMove,
): Promise<string | null> {
  if (folderId != null) return folderId;
  return newFolderName == null ? null : (await folders.named(tenant, newFolderName)).id;
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
