/**
 * The one place that decides what a caller may do in a folder. To keys that are restricted to folders, and to senders
 * without a right, other folders and their documents are unknown. Roles and scopes are decided before.
 *
 * Source: docs/decisions/0288-rights-on-folders.md, docs/decisions/0129-scopes-and-expiry-of-keys.md.
 */
import { FOLDER_RIGHTS } from '../../../contracts/portal/words.ts';
import type { FolderRight } from '../../../machines/portal/folder.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type { Tenant } from '../api/callers.ts';

type FolderCaller = Pick<Tenant, 'folders' | 'rights'>;

/** Right of the caller in a folder; undefined = the caller does not know the folder. @param folderId null = in none */
function rightIn({ folders, rights }: FolderCaller, folderId: string | null): FolderRight | undefined {
  if (folders !== undefined) return folderId !== null && folders.includes(folderId) ? 'Manage' : undefined;
  const right = folderId === null ? undefined : rights?.get(folderId);
  return right === undefined ? 'Manage' : (right ?? undefined);
}

function isAtLeast(right: FolderRight | null | undefined, least: FolderRight): boolean {
  return right != null && FOLDER_RIGHTS.indexOf(right) >= FOLDER_RIGHTS.indexOf(least);
}

/** True when the caller has at least this right there. @param folderId null = in no folder */
export function reachesFolder(
  caller: FolderCaller,
  folderId: string | null,
  least: FolderRight = 'Read',
): boolean {
  return isAtLeast(rightIn(caller, folderId), least);
}

/** The same for folders that do not exist and for those that the caller must not know. */
export function folderNotFound(id: string): PortalRefusal {
  const shown = id.replace(/[^\x20-\x7e]/g, '?').slice(0, 64);
  return new PortalRefusal('FolderNotFound', undefined, { details: { folderId: shown } });
}

/** Refusals: `FolderNotFound` where the caller must not know the folder, `Forbidden` where it may only be read. */
export function assertRight(caller: FolderCaller, folderId: string, least: FolderRight): void {
  const right = rightIn(caller, folderId);
  if (right === undefined) throw folderNotFound(folderId);
  if (!isAtLeast(right, least))
    throw new PortalRefusal('Forbidden', `In this folder you have the right ${right}; this needs ${least}.`);
}

type Granter = FolderCaller & Pick<Tenant, 'user' | 'scopes'>;

/**
 * True when the caller may change the grants of a folder. A folder without grants is first restricted by an administrator:
 * there all senders manage it.
 */
export function mayGrant(caller: Granter, folderId: string): boolean {
  if (!reachesFolder(caller, folderId, 'Manage')) return false;
  const isAdministrator = caller.user === undefined || caller.scopes?.includes('Administer') === true;
  return isAdministrator || caller.rights?.get(folderId) === 'Manage';
}

/** Refusals: `FolderNotFound`, `Forbidden`. */
export function assertMayGrant(caller: Granter, folderId: string): void {
  assertRight(caller, folderId, 'Manage');
  if (mayGrant(caller, folderId)) return;
  throw new PortalRefusal('Forbidden', 'Only an administrator restricts a folder that has no grants.');
}

/** Refuses a place for a document that the caller could not put there. Refusals: `FolderNotFound`, `Forbidden`. */
export function assertPlace(caller: FolderCaller, folderId: string | null, newName: string | null): void {
  if (folderId !== null) assertRight(caller, folderId.toLowerCase(), 'Send');
  if (folderId !== null || caller.folders === undefined) return;
  throw new PortalRefusal(
    'Forbidden',
    newName === null
      ? 'The key is restricted to folders: give the FolderId of one of them.'
      : 'The key is restricted to folders, and makes no new ones: give the FolderId of one of them.',
  );
}

/** Something in a folder, with its creator. */
interface Placed {
  readonly folderId: string | null;
  readonly createdBy: { readonly id: string };
}

/** True when the caller may change what is there: with `Send`, only what the caller made. */
export function mayChange(
  caller: FolderCaller & Pick<Tenant, 'user'>,
  { folderId, createdBy }: Placed,
): boolean {
  return reachesFolder(caller, folderId, createdBy.id === caller.user?.id ? 'Send' : 'Manage');
}

/** Refusals: `Forbidden`. */
export function assertMayChange(caller: FolderCaller & Pick<Tenant, 'user'>, placed: Placed): void {
  if (mayChange(caller, placed)) return;
  throw new PortalRefusal(
    'Forbidden',
    'Your rights on the folder do not permit this: with Send you change what you have made, with Manage everything.',
  );
}

/** Conditions of a list for what the caller may do at least this with. */
export function filterFor(
  { folders, rights }: FolderCaller,
  least: FolderRight = 'Read',
): { readonly folders?: readonly string[]; readonly exceptFolders?: readonly string[] } {
  if (folders !== undefined) return { folders };
  if (rights === undefined) return {};
  const exceptFolders = [...rights].flatMap(([id, right]) => (isAtLeast(right, least) ? [] : [id]));
  return exceptFolders.length === 0 ? {} : { exceptFolders };
}
