/** Folders on the page of an application: those that a new key can be restricted to, and the names of those of its keys. */
import type { ApplicationView, Folders, FolderView, Tenant } from '../../../actors/portal/api.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type { KeyFolders } from '../../../web/pages/portal/applications-view.ts';
import { folderId } from '../input/ids.ts';

/** Folders offered; an organization may have more. */
const MAX_OFFERED = 200;

/** @param application its keys may have folders that are not among the offered ones */
export async function keyFolders(
  folders: Folders,
  tenant: Tenant,
  { keys }: Pick<ApplicationView, 'keys'>,
): Promise<KeyFolders> {
  const { items, totalCount } = await folders.list(tenant, {
    limit: MAX_OFFERED,
    offset: 0,
    order: 'Desc',
  });
  const known = new Map(items.map((folder) => [String(folder.id), folder]));
  const named = new Set(keys.flatMap((key) => key.folderIds ?? []));
  for (const id of named) {
    const folder = known.has(id) ? undefined : await found(folders, tenant, id);
    if (folder !== undefined) known.set(id, folder);
  }
  const names = new Map([...known].map(([id, folder]) => [id, pathOf(folder, known)]));
  const offered = items
    .map(({ id }) => ({ id, name: names.get(id) ?? '' }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  return { offered, names, hasMore: totalCount > items.length };
}

/** Undefined: the folder was removed. */
async function found(folders: Folders, tenant: Tenant, id: string): Promise<FolderView | undefined> {
  try {
    return await folders.get(tenant, folderId(id));
  } catch (error) {
    if (error instanceof PortalRefusal && error.code === 'FolderNotFound') return undefined;
    throw error;
  }
}

/** Names of the folder and of those around it, outermost first. */
function pathOf(folder: FolderView, known: ReadonlyMap<string, FolderView>): string {
  const names = [folder.name];
  let parent = folder.parentId;
  while (parent !== null && names.length < MAX_NAMES) {
    const around = known.get(parent);
    if (around === undefined) break;
    names.unshift(around.name);
    parent = around.parentId;
  }
  return names.join(' / ');
}

const MAX_NAMES = 8;
