/**
 * Empties a folder during its removal: moves or deletes its documents and folders in batches. A repeated attempt
 * continues with the rest.
 *
 * Source: docs/portal-values.md §16, and §19 `DeletedByFolder`.
 */

import {
  type ActorStore,
  type ActorSystem,
  type EffectHandler,
  type Faults,
  Retryable,
} from '@sealwright/runtime';
import type { DocumentId, FolderId, OrganizationId } from '../../../machines/ids.ts';
import type { EmptyFolderEffect, FolderGrant, FolderRemoval } from '../../../machines/portal/folder.ts';
import '../../shared/document-faults.ts';
import { FOLDER, foldersIn, MAX_FOLDER_DEPTH } from './folders.ts';

/** Documents and folders processed concurrently. */
const BATCH_SIZE = 64;

/** One kind of content with the message it receives. */
interface Content {
  readonly list: (
    organization: OrganizationId,
    folder: FolderId,
    limit: number,
  ) => Promise<readonly string[]>;
  readonly kind: string;
  readonly event: { readonly type: string };
}

/** Waits until the removal is durable: deleted documents cannot be restored. */
/**
 * @param documentsIn returns documents in the folder that are not deleted, at most `limit`
 * @param documentKind kind of the actors of documents; they know `MOVE` and `DELETE`
 */
export function emptyFolderHandler(
  store: Pick<ActorStore, 'rows'>,
  faults: Faults,
  documentsIn: (
    store: Pick<ActorStore, 'rows'>,
    organization: OrganizationId,
    folder: FolderId,
    limit: number,
  ) => Promise<readonly DocumentId[]>,
  documentKind: string,
): EffectHandler<EmptyFolderEffect> {
  return {
    after: 'durable',
    async run({ organizationId, ...removal }, { actor, signal }, { system }) {
      const folder = actor.id as FolderId;
      const destination = await openDestination(system, organizationId, removal);
      const content: readonly Content[] = [
        {
          list: (organization: OrganizationId, id: FolderId, limit: number) =>
            documentsIn(store, organization, id, limit),
          kind: documentKind,
          event: documentEvent(removal, destination),
        },
        {
          list: (organization: OrganizationId, id: FolderId, limit: number) =>
            foldersIn(store, organization, id, limit),
          kind: FOLDER,
          event: folderEvent(removal, destination, await grantsOf(system, folder)),
        },
      ];
      for (const { list, kind, event } of content) {
        let notified = new Set<string>();
        for (;;) {
          const ids = await list(organizationId, folder, BATCH_SIZE);
          if (ids.length === 0) break;
          // Processed items are not listed again, whether they moved or had left.
          if (ids.some((id) => notified.has(id)))
            throw new Retryable('folder.stuck', 'Entries of a removed folder do not move.');
          if (signal.aborted) throw new Retryable('stopping', 'The service stops; the rest is done later.');
          await Promise.all(ids.map((id) => system.send({ kind, id }, event)));
          await faults.at('portal.folder.some');
          notified = new Set(ids);
        }
      }
      return { type: 'EMPTIED' };
    },
  };
}

/** The destination while it exists; content whose destination is removed gets no folder. */
async function openDestination(
  system: ActorSystem,
  organization: OrganizationId,
  { action, destination }: FolderRemoval,
): Promise<FolderId | null> {
  if (action === 'DeleteContent' || destination === null) return null;
  const folder = await system.read({ kind: FOLDER, id: destination });
  const isOpen = folder?.state === 'Active' && folder.context.organizationId === organization;
  return isOpen ? destination : null;
}

/** Grants that count in a folder. */
async function grantsOf(
  system: Pick<ActorSystem, 'read'>,
  folder: FolderId,
): Promise<readonly FolderGrant[]> {
  let at: FolderId | null = folder;
  for (let depth = 0; at !== null && depth <= MAX_FOLDER_DEPTH; depth++) {
    const { grants = [], parentId = null }: { grants?: readonly FolderGrant[]; parentId?: FolderId | null } =
      (await system.read({ kind: FOLDER, id: at }))?.context ?? {};
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
