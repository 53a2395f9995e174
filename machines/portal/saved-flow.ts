/**
 * A flow saved under a name, for reuse.
 *
 * | from  | event   | to      | effects |
 * |-------|---------|---------|---------|
 * | Saved | REPLACE | Saved   |         |
 * | Saved | REMOVE  | Removed |         |
 *
 * Removed is not stored: the actor ends.
 *
 * Source: docs/portal-values.md §20.
 */
import type { Principal } from '../../contracts/portal/entities.ts';
import type { Millis, OrganizationId } from '../ids.ts';
import { recordMachine } from '../record.ts';

export const SAVED_FLOW_REMOVED = 'Removed';

/** `flowActions` and `observers` as they were sent. */
interface FlowContent {
  readonly name: string;
  readonly areActionsOrdered: boolean;
  readonly flowActions: readonly unknown[];
  readonly observers: readonly unknown[];
}

export interface SavedFlowContext extends FlowContent {
  readonly organizationId: OrganizationId;
  readonly createdBy: Principal;
  readonly creationDate: Millis;
  readonly updateDate: Millis;
}

export type SavedFlowMessage = { readonly at: Millis } & (
  | { readonly type: 'REPLACE'; readonly content: FlowContent }
  | { readonly type: 'REMOVE' }
);

export const savedFlowMachine = recordMachine<SavedFlowContext, SavedFlowMessage>({
  id: 'saved-flow',
  state: 'Saved',
  context: (input) => input,
  changes: { REPLACE: (_, { content, at }) => ({ context: { ...content, updateDate: at } }) },
  end: { state: SAVED_FLOW_REMOVED, endedBy: ['REMOVE'] },
});
