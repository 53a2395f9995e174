/** Flows kept to be used again (portal-gaps §20). */
import type { Millis } from '../../../machines/ids.ts';
import type { Doer } from '../../../machines/portal-words.ts';
import type { Tenant } from './callers.ts';
import type { Page } from './documents.ts';
import type { FolderQuery } from './folders.ts';

export interface SavedFlowItem {
  readonly id: string;
  readonly name: string;
  readonly creationDate: Millis;
  readonly updateDate: Millis;
  readonly createdBy: Doer;
}
/** `flowActions` and `observers` as they were sent. */
export interface SavedFlowBody {
  readonly name: string;
  readonly areActionsOrdered: boolean;
  readonly flowActions: readonly unknown[];
  readonly observers: readonly unknown[];
}
export interface SavedFlows {
  list(tenant: Tenant, query: Omit<FolderQuery, 'parent'>): Promise<Page<SavedFlowItem>>;
  create(tenant: Tenant, body: SavedFlowBody): Promise<SavedFlowItem>;
  get(tenant: Tenant, id: string): Promise<SavedFlowItem & SavedFlowBody>;
  replace(tenant: Tenant, id: string, body: SavedFlowBody): Promise<void>;
  remove(tenant: Tenant, id: string): Promise<void>;
}
