/**
 * Empties a folder during its removal: moves or deletes its documents and folders in batches. A repeated attempt
 * continues with the rest.
 *
 * Source: docs/portal-values.md §16, and §19 `DeletedByFolder`.
 */

import { type Actor, type ActorStore, type Calls, Retryable } from '@sealwright/runtime';
import type { DocumentId, FolderId, OrganizationId } from '../../../machines/ids.ts';
import type { FolderGrant, FolderRemoval } from '../../../machines/portal/folder.ts';
import { emptyFolder } from '../../../machines/portal/folder.ts';
import type { ServiceRuntime } from '../../hosting/service-plan.ts';
import '../../shared/failures/document-fault-points.ts';
import { FOLDER, foldersIn, MAX_FOLDER_DEPTH, pathOf } from './folders.ts';

/** Documents and folders processed concurrently. */
const BATCH_SIZE = 64;

/** One kind of content with the message it receives. */
interface Content {
  readonly list: (
    organization: OrganizationId,
    folder: FolderId,
    limit: number,
  ) => Promise<readonly string[]>;
  readonly receiver: Actor;
  readonly event: { readonly type: string };
}

/**
 * Waits until the removal is durable: deleted documents cannot be restored.
 * @param documentsIn returns documents in the folder that are not deleted, at most `limit`
 * @param documents they know `MOVE` and `DELETE`
 */
export function emptyFolderHandler(
  services: Pick<ServiceRuntime, 'store' | 'faults'>,
  documentsIn: (
    store: Pick<ActorStore, 'rows'>,
    organization: OrganizationId,
    folder: FolderId,
    limit: number,
  ) => Promise<readonly DocumentId[]>,
  documents: Actor,
) {
  return emptyFolder.handledBy({
    async run({ organizationId, ...removal }, { actor, signal, runtime: actors }) {
      const { store, faults } = services;
      const folder = actor.id as FolderId;
      const destination = await openDestination(actors, organizationId, removal);
      const content: readonly Content[] = [
        {
          list: (organization: OrganizationId, id: FolderId, limit: number) =>
            documentsIn(store, organization, id, limit),
          receiver: documents,
          event: documentEvent(removal, destination),
        },
        {
          list: (organization: OrganizationId, id: FolderId, limit: number) =>
            foldersIn(store, organization, id, limit),
          receiver: FOLDER,
          event: folderEvent(removal, destination, await grantsOf(actors, folder)),
        },
      ];
      for (const { list, receiver, event } of content) {
        let notified = new Set<string>();
        for (;;) {
          const ids = await list(organizationId, folder, BATCH_SIZE);
          if (ids.length === 0) break;
          // Processed items are not listed again, whether they moved or had left.
          if (ids.some((id) => notified.has(id)))
            throw new Retryable('folder.stuck', 'Entries of a removed folder do not move.');
          // Since the removal began: what is left stays where it is, with its rights, until the hold ends.
          if ((await pathOf(actors, folder)).isHeld)
            throw new Retryable('folder.held', 'A folder around is under legal hold.');
          if (signal.aborted) throw new Retryable('stopping', 'The service stops; the rest is done later.');
          await Promise.all(ids.map((id) => actors.send(receiver, id, event)));
          await faults.at('portal.folder.some');
          notified = new Set(ids);
        }
      }
      return { type: 'EMPTIED' };
    },
  });
}

/** The destination while it exists; content whose destination is removed gets no folder. */
async function openDestination(
  actors: Calls,
  organization: OrganizationId,
  { action, destination }: FolderRemoval,
): Promise<FolderId | null> {
  if (action === 'DeleteContent' || destination === null) return null;
  const folder = await actors.read(FOLDER, destination);
  const isOpen = folder?.state === 'Active' && folder.context.organizationId === organization;
  return isOpen ? destination : null;
}

/** Grants that count in a folder. */
async function grantsOf(actors: Pick<Calls, 'read'>, folder: FolderId): Promise<readonly FolderGrant[]> {
  let at: FolderId | null = folder;
  for (let depth = 0; at !== null && depth <= MAX_FOLDER_DEPTH; depth++) {
    const { grants = [], parentId = null }: { grants?: readonly FolderGrant[]; parentId?: FolderId | null } =
      (await actors.read(FOLDER, at))?.context ?? {};
    if (grants.length > 0) return grants;
    at = parentId;
  }
  return [];
}

function documentEvent({ action }: FolderRemoval, folderId: FolderId | null) {
  return action === 'MoveContent'
    ? { type: 'MOVE', folderId }
    : { type: 'DELETE', action: 'DeletedByFolder' };
}

function folderEvent(
  { action, by }: FolderRemoval,
  parentId: FolderId | null,
  grants: readonly FolderGrant[],
) {
  return action === 'MoveContent'
    ? { type: 'REPARENT', parentId }
    : { type: 'REMOVE', action, destination: null, by, ...(grants.length > 0 && { grants }) };
}
