/**
 * A folder of an organization. Documents and folders refer to their parent folder.
 *
 * | from     | event    | to       | effects     |
 * |----------|----------|----------|-------------|
 * | Active   | REPARENT | Active   |             |
 * | Active   | REMOVE   | Removing | emptyFolder |
 * | Removing | EMPTIED  | Removed  |             |
 *
 * From Removing on it is invisible, while its contents are moved or deleted by an effect. Removed is not
 * stored: the actor ends.
 *
 * Source: docs/portal-values.md §16.
 */

import { assign, setup } from 'xstate';
import type { Principal } from '../../contracts/portal/entities.ts';
import type { FolderId, Millis, OrganizationId } from '../ids.ts';

export const FOLDER_REMOVED = 'Removed';

export interface FolderContext {
  readonly organizationId: OrganizationId;
  readonly name: string;
  /** null = a root folder. */
  readonly parentId: FolderId | null;
  readonly createdAt: Millis;
  /** True: documents that ask for a folder of this name get this one. Of one root folder per name. @default false */
  readonly holdsName?: boolean;
}

/** Fate of the contents of a deleted folder. */
export interface FolderRemoval {
  readonly action: 'MoveContent' | 'DeleteContent';
  /** For MoveContent; null = no folder. */
  readonly destination: FolderId | null;
  readonly by: Principal;
}

export interface EmptyFolderEffect extends FolderRemoval {
  readonly do: 'emptyFolder';
  readonly organizationId: OrganizationId;
}

export type FolderMessage = { readonly at: Millis } & (
  | { readonly type: 'REPARENT'; readonly parentId: FolderId | null }
  | ({ readonly type: 'REMOVE' } & FolderRemoval)
  | { readonly type: 'EMPTIED' }
);

export const folderMachine = setup({
  types: { context: {} as FolderContext, input: {} as FolderContext, events: {} as FolderMessage },
  actions: { effect: (_, _effect: EmptyFolderEffect) => {} },
}).createMachine({
  id: 'folder',
  context: ({ input }) => input,
  initial: 'Active',
  states: {
    Active: {
      on: {
        REPARENT: { actions: assign(({ event }) => ({ parentId: event.parentId })) },
        REMOVE: {
          target: 'Removing',
          actions: {
            type: 'effect',
            params: ({ context, event: { action, destination, by } }) => ({
              do: 'emptyFolder' as const,
              organizationId: context.organizationId,
              action,
              destination,
              by,
            }),
          },
        },
      },
    },
    Removing: { on: { EMPTIED: FOLDER_REMOVED } },
    [FOLDER_REMOVED]: {},
  },
});
