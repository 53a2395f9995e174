/** Folders of an organization (docs/portal-values.md §16). */
import type { Page } from '../../../contracts/portal/lists.ts';
import type { FolderId } from '../../../machines/ids.ts';
import type { Tenant } from './callers.ts';
import type { FolderView } from './documents.ts';

export interface FolderQuery {
  readonly q?: string | undefined;
  /** Undefined: folders of all levels; null: root folders. */
  readonly parent?: FolderId | null | undefined;
  readonly limit: number;
  readonly offset: number;
  readonly newestFirst: boolean;
}

export interface PortalFolders {
  create(tenant: Tenant, name: string, parentId: string | null): Promise<FolderView>;
  /** The root folder of this name, made when there is none: equal names give one folder. */
  named(tenant: Tenant, name: string): Promise<FolderView>;
  get(tenant: Tenant, id: FolderId): Promise<FolderView>;
  list(tenant: Tenant, query: FolderQuery): Promise<Page<FolderView>>;
  remove(
    tenant: Tenant,
    id: FolderId,
    action: 'MoveContent' | 'DeleteContent',
    destination: FolderId | null,
  ): Promise<void>;
}
