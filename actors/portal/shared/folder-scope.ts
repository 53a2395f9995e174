/** Keys that are restricted to folders: documents elsewhere are unknown to them. Source: docs/decisions/0129-scopes-and-expiry-of-keys.md. */
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type { Tenant } from '../api/callers.ts';

type FolderScope = Pick<Tenant, 'folders'>;

/** True when the key may reach what is in this folder; null = in none. */
export function reachesFolder({ folders }: FolderScope, folderId: string | null): boolean {
  return folders === undefined || (folderId !== null && folders.includes(folderId));
}

/** Refuses a place for a document that the key could not reach there. Refusals: `FolderNotFound`, `Forbidden` without a folder. */
export function assertReachable(tenant: FolderScope, folderId: string | null, newName: string | null): void {
  if (tenant.folders === undefined) return;
  if (folderId === null)
    throw new PortalRefusal(
      'Forbidden',
      newName === null
        ? 'The key is restricted to folders: give the FolderId of one of them.'
        : 'The key is restricted to folders, and makes no new ones: give the FolderId of one of them.',
    );
  if (!reachesFolder(tenant, folderId.toLowerCase())) throw new PortalRefusal('FolderNotFound');
}
