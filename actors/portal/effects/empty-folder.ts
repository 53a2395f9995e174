/**
 * Empties a folder that is being removed: its documents and folders are moved out or deleted, some at a time. A try
 * that was cut short goes on with what is left.
 *
 * Source: portal-gaps §16, "/delete", and §19 `DeletedByFolder`.
 */
import type { EmptyFolderEffect, FolderRemoval } from '../../../machines/folder.ts';
import type { DocumentId, FolderId, OrganizationId } from '../../../machines/ids.ts';
import { type ActorStore, type ActorSystem, type EffectHandler, Retryable } from '../../../runtime/index.ts';
import { FOLDER, foldersIn } from '../folders.ts';

/** Documents and folders told side by side. */
const PIECE = 64;

export interface EmptyFolderParts {
  readonly store: Pick<ActorStore, 'rows'>;
  /** The runtime's; asked for once it is there. */
  readonly system: () => ActorSystem;
  /** Documents that lie in the folder and are not deleted, at most `limit`. */
  readonly documentsIn: (
    organization: OrganizationId,
    folder: FolderId,
    limit: number,
  ) => Promise<readonly DocumentId[]>;
  /** Kind of the actors of documents; they know `MOVE` and `DELETE`. */
  readonly documentKind: string;
}

/** One kind of things a folder holds, and what each is told. */
interface Content {
  readonly list: (
    organization: OrganizationId,
    folder: FolderId,
    limit: number,
  ) => Promise<readonly string[]>;
  readonly kind: string;
  readonly event: { readonly type: string };
}

/** Waits until the removal is durable: nothing brings deleted documents back. */
export function emptyFolderHandler(parts: EmptyFolderParts): EffectHandler<EmptyFolderEffect> {
  return {
    after: 'durable',
    async run({ organizationId, ...removal }, { actor, signal }) {
      const folder = actor.id as FolderId;
      const destination = await openDestination(parts.system(), organizationId, removal);
      const content: readonly Content[] = [
        { list: parts.documentsIn, kind: parts.documentKind, event: documentEvent(removal, destination) },
        {
          list: (organization: OrganizationId, id: FolderId, limit: number) =>
            foldersIn(parts.store, organization, id, limit),
          kind: FOLDER,
          event: folderEvent(removal, destination),
        },
      ];
      for (const { list, kind, event } of content) {
        let told = new Set<string>();
        for (;;) {
          const ids = await list(organizationId, folder, PIECE);
          if (ids.length === 0) break;
          // What was told is not listed again, whether it moved or had left by itself.
          if (ids.some((id) => told.has(id)))
            throw new Retryable('folder.stuck', 'Entries of a removed folder do not move.');
          if (signal.aborted) throw new Retryable('stopping', 'The service stops; the rest is done later.');
          const system = parts.system();
          await Promise.all(ids.map((id) => system.tell({ kind, id }, event)));
          told = new Set(ids);
        }
      }
      return { type: 'EMPTIED' };
    },
  };
}

/** The destination while it is there; what was to go into a folder that is removed itself goes into none. */
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

function documentEvent({ action }: FolderRemoval, folderId: FolderId | null) {
  return action === 'MoveContent'
    ? { type: 'MOVE', folderId }
    : { type: 'DELETE', action: 'DeletedByFolder' };
}

function folderEvent({ action, by }: FolderRemoval, parentId: FolderId | null) {
  return action === 'MoveContent'
    ? { type: 'REPARENT', parentId }
    : { type: 'REMOVE', action, destination: null, by };
}
