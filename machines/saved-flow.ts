/**
 * A flow kept under a name, to be used again.
 *
 * | from  | event   | to      | effects |
 * |-------|---------|---------|---------|
 * | Saved | REPLACE | Saved   |         |
 * | Saved | REMOVE  | Removed |         |
 *
 * Removed is no state that is kept: the actor ends.
 *
 * Source: portal-gaps §20, "Saved flows".
 */
import { assign, setup } from 'xstate';
import type { Millis, OrganizationId } from './ids.ts';
import type { Doer } from './portal-words.ts';

export const SAVED_FLOW_REMOVED = 'Removed';

/** `flowActions` and `observers` as they were sent. */
export interface FlowContent {
  readonly name: string;
  readonly areActionsOrdered: boolean;
  readonly flowActions: readonly unknown[];
  readonly observers: readonly unknown[];
}

export interface SavedFlowContext extends FlowContent {
  readonly organizationId: OrganizationId;
  readonly createdBy: Doer;
  readonly creationDate: Millis;
  readonly updateDate: Millis;
}

export type SavedFlowEvent = { readonly at: Millis } & (
  | { readonly type: 'REPLACE'; readonly content: FlowContent }
  | { readonly type: 'REMOVE' }
);

export const savedFlowMachine = setup({
  types: { context: {} as SavedFlowContext, input: {} as SavedFlowContext, events: {} as SavedFlowEvent },
}).createMachine({
  id: 'saved-flow',
  context: ({ input }) => input,
  initial: 'Saved',
  states: {
    Saved: {
      on: {
        REPLACE: { actions: assign(({ event }) => ({ ...event.content, updateDate: event.at })) },
        REMOVE: SAVED_FLOW_REMOVED,
      },
    },
    [SAVED_FLOW_REMOVED]: {},
  },
});
