/** Flows kept to be used again (docs/portal-values.md §20). */

import type { Principal } from '../../../contracts/portal/entities.ts';
import type { NewField, NewFlowAction, NewParticipant } from '../../../contracts/portal/flow.ts';
import type { Page, RecordQuery } from '../../../contracts/portal/lists.ts';
import type { Millis } from '../../../machines/ids.ts';
import type { Tenant } from './callers.ts';
import type { CreateDocuments, MadeDocument } from './documents.ts';

export interface SavedFlowItem {
  readonly id: string;
  readonly name: string;
  readonly creationDate: Millis;
  readonly updateDate: Millis;
  readonly createdBy: Principal;
}
/** `flowActions` and `observers` as they were sent. */
export interface SavedFlowBody {
  readonly name: string;
  readonly areActionsOrdered: boolean;
  readonly flowActions: readonly unknown[];
  readonly observers: readonly unknown[];
}
export interface SavedFlows {
  list(tenant: Tenant, query: RecordQuery): Promise<Page<SavedFlowItem>>;
  /** @param seed as in `DocumentService.create` */
  create(tenant: Tenant, body: SavedFlowBody, seed?: string): Promise<SavedFlowItem>;
  get(tenant: Tenant, id: string): Promise<SavedFlowItem & SavedFlowBody>;
  replace(tenant: Tenant, id: string, body: SavedFlowBody): Promise<void>;
  remove(tenant: Tenant, id: string): Promise<void>;
  /**
   * Creates documents with the actions of a flow, whose roles (titles) the participants take.
   * @param read reads the kept actions and observers
   * @param seed as in `DocumentService.create`
   */
  createDocuments(
    tenant: Tenant,
    id: string,
    request: Omit<CreateDocuments, 'flowActions'> & {
      readonly participants: readonly { readonly role: string; readonly user: NewParticipant }[];
      readonly fieldValues: Readonly<Record<string, NewField['value']>>;
    },
    read: (saved: Pick<SavedFlowBody, 'flowActions' | 'observers'>) => {
      readonly flowActions: readonly NewFlowAction[];
      readonly observers: NonNullable<CreateDocuments['observers']>;
    },
    seed?: string,
  ): Promise<readonly MadeDocument[]>;
}
