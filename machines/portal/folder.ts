/**
 * A folder of an organization. Documents and folders refer to their parent folder.
 *
 * | from     | message  | to       | effects     |
 * |----------|----------|----------|-------------|
 * | Active   | REPARENT | Active   |             |
 * | Active   | GRANT    | Active   |             |
 * | Active   | HOLD     | Active   |             |
 * | Active   | REMOVE   | Removing | emptyFolder |
 * | Removing | EMPTIED  | Removed  |             |
 *
 * From Removing on it is invisible, while its contents are moved or deleted by an effect. Removed is not
 * stored: the actor ends. GRANT and HOLD are lines of the journal. A held folder refuses REMOVE.
 *
 * Source: docs/portal-values.md §16; docs/decisions/0288-rights-on-folders.md.
 */

import { declareEffect, note, type WithoutTime } from '@sealwright/runtime/actions';
import { assign, setup } from 'xstate';
import type { Principal } from '../../contracts/portal/entities.ts';
import type { FOLDER_RIGHTS } from '../../contracts/portal/words.ts';
import type { FolderId, Millis, OrganizationId } from '../ids.ts';
import type { LegalHold } from './documents/document-context.ts';

export const FOLDER_REMOVED = 'Removed';

export type FolderRight = (typeof FOLDER_RIGHTS)[number];

/** A right of one user, or of the members of one group. */
export interface FolderGrant {
  readonly type: 'User' | 'Group';
  readonly id: string;
  readonly right: FolderRight;
}

export interface FolderContext {
  readonly organizationId: OrganizationId;
  readonly name: string;
  /** null = a root folder. */
  readonly parentId: FolderId | null;
  readonly createdAt: Millis;
  /** True: documents that ask for a folder of this name get this one. Of one root folder per name. @default false */
  readonly holdsName?: boolean;
  /** Rights here and in the folders inside. Absent or empty = as in the folder around; everybody at the top. */
  readonly grants?: readonly FolderGrant[];
  /** Keeps all documents here and in the folders inside. Absent or null = none. */
  readonly hold?: LegalHold | null;
}

/** Fate of the contents of a deleted folder. */
export interface FolderRemoval {
  readonly action: 'MoveContent' | 'DeleteContent';
  /** For MoveContent; null = no folder. */
  readonly destination: FolderId | null;
  readonly by: Principal;
}

export type FolderMessage = { readonly at: Millis } & (
  | { readonly type: 'REPARENT'; readonly parentId: FolderId | null }
  | {
      readonly type: 'GRANT';
      /** Empty = none of its own. */
      readonly grants: readonly FolderGrant[];
      /** Accepted only while these are the grants. Absent = always. */
      readonly replaced?: readonly FolderGrant[];
      /** Caller, as the journal names it. */
      readonly by: string;
    }
  | { readonly type: 'HOLD'; readonly by: Principal; readonly reason: string | null }
  | ({
      readonly type: 'REMOVE';
      /** Those that counted here by a folder around, which is removed as well: they protect what is left. Absent = none. */
      readonly grants?: readonly FolderGrant[];
    } & FolderRemoval)
  | { readonly type: 'EMPTIED' }
);

/** Moves or deletes what is in the folder. */
export const emptyFolder = declareEffect('emptyFolder', {
  types: {} as {
    input: FolderRemoval & { readonly organizationId: OrganizationId };
    outcome: WithoutTime<FolderMessage>;
  },
});

export const folderMachine = setup({
  types: { context: {} as FolderContext, input: {} as FolderContext, events: {} as FolderMessage },
  actions: {
    emptyFolder: emptyFolder.action,
    note,
  },
}).createMachine({
  id: 'folder',
  context: ({ input }) => input,
  initial: 'Active',
  states: {
    Active: {
      on: {
        REPARENT: { actions: assign(({ event }) => ({ parentId: event.parentId })) },
        GRANT: {
          guard: ({ context: { grants = [] }, event: { replaced } }) =>
            replaced === undefined || JSON.stringify(replaced) === JSON.stringify(grants),
          actions: [
            assign(({ event: { grants } }) => ({ grants })),
            {
              type: 'note',
              params: ({ event: { grants, by } }) => ({
                message: `Rights on the folder changed. By ${by}.`,
                data: { grants: grants.map(({ type, id, right }) => `${type} ${id}: ${right}`).join(', ') },
              }),
            },
          ],
        },
        HOLD: {
          guard: ({ context: { hold }, event: { reason } }) => reason !== null || hold != null,
          actions: [
            assign(({ event: { reason, by, at } }) => ({
              hold: reason === null ? null : { reason, by, at },
            })),
            {
              type: 'note',
              params: ({ event: { reason, by } }) => ({
                message: `${reason === null ? 'The legal hold was ended.' : 'Put under legal hold.'} By ${by.name}.`,
              }),
            },
          ],
        },
        REMOVE: {
          guard: ({ context: { hold } }) => hold == null,
          target: 'Removing',
          actions: [
            assign(({ context, event: { grants } }) =>
              grants === undefined || (context.grants ?? []).length > 0 ? {} : { grants },
            ),
            {
              type: 'emptyFolder',
              params: ({ context, event: { action, destination, by } }) => ({
                organizationId: context.organizationId,
                action,
                destination,
                by,
              }),
            },
          ],
        },
      },
    },
    Removing: { on: { EMPTIED: FOLDER_REMOVED } },
    [FOLDER_REMOVED]: {},
  },
});
