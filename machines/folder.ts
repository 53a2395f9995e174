/**
 * A folder of an organization. It holds neither documents nor folders: they say where they lie.
 *
 * | from     | event    | to       | effects     |
 * |----------|----------|----------|-------------|
 * | Active   | REPARENT | Active   |             |
 * | Active   | REMOVE   | Removing | emptyFolder |
 * | Removing | EMPTIED  | Removed  |             |
 *
 * From Removing on it is gone for everybody, while what it held is moved or deleted as stored work. Removed is no
 * state that is kept: the actor ends.
 *
 * Source: portal-gaps §16.
 */
import { assign, setup } from 'xstate';
import type { FolderId, Millis, OrganizationId } from './ids.ts';
import type { Doer } from './portal-words.ts';

export const FOLDER_REMOVED = 'Removed';

export interface FolderContext {
  readonly organizationId: OrganizationId;
  readonly name: string;
  /** null = a root folder. */
  readonly parentId: FolderId | null;
  readonly createdAt: Millis;
}

/** What becomes of what a folder holds. */
export interface FolderRemoval {
  readonly action: 'MoveContent' | 'DeleteContent';
  /** Of MoveContent; null = no folder. */
  readonly destination: FolderId | null;
  readonly by: Doer;
}

export interface EmptyFolderEffect extends FolderRemoval {
  readonly do: 'emptyFolder';
  readonly organizationId: OrganizationId;
}

export type FolderEvent = { readonly at: Millis } & (
  | { readonly type: 'REPARENT'; readonly parentId: FolderId | null }
  | ({ readonly type: 'REMOVE' } & FolderRemoval)
  | { readonly type: 'EMPTIED' }
);

export const folderMachine = setup({
  types: { context: {} as FolderContext, input: {} as FolderContext, events: {} as FolderEvent },
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
