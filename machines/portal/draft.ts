/**
 * A request for documents that is kept, changed and sent later.
 *
 * | from    | event      | to      | effects             | when                      |
 * |---------|------------|---------|---------------------|---------------------------|
 * | Saved   | REPLACE    | Saved   |                     |                           |
 * | Saved   | REMOVE     | Removed |                     |                           |
 * | Saved   | SEND       | Sending |                     |                           |
 * | Sending | SEND       | Sending |                     |                           |
 * | Sending | REFUSED    | Saved   |                     |                           |
 * | Sending | ABANDONED  | Saved   | cancelDraftDocuments |                           |
 * | Sending | SENT       | Sent    |                     |                           |
 * | Sent    | after 30 d | Removed |                     |                           |
 *
 * Ids of the documents derive from the id of the draft and the number of the attempt. In Sending nothing is changed, so
 * that SEND after a crash makes the documents that are missing, and no others. ABANDONED is a refusal after some
 * documents were made: they are canceled, and the next attempt makes others. Removed is not stored: the actor ends.
 *
 * Source: docs/decisions/0122-drafts.md.
 */
import { assign, setup } from 'xstate';
import type { Millis, OrganizationId, UploadId } from '../ids.ts';
import type { Principal } from './portal-types.ts';
import type { UploadContext } from './upload.ts';

export const DRAFT_REMOVED = 'Removed';

/** Retention of a sent draft, milliseconds. */
const SENT_RETENTION_MS = 30 * 24 * 3_600_000;

export interface DraftContent {
  readonly name: string;
  /** The creation request as it was sent. */
  readonly document: unknown;
  /** The uploads that it names; their files are kept as long as the draft is not sent. */
  readonly uploads: readonly (UploadContext & { readonly id: UploadId })[];
}

/** A document made of a draft, as the reply to the creation names it. */
export interface SentDocument {
  readonly uploadId: string;
  readonly documentId: string;
  readonly attachments: readonly { readonly uploadId: string; readonly attachmentId: string }[];
}

export interface DraftContext extends DraftContent {
  readonly organizationId: OrganizationId;
  readonly createdBy: Principal;
  readonly creationDate: Millis;
  readonly updateDate: Millis;
  /** Null until it is sent. */
  readonly sent: readonly SentDocument[] | null;
  /** Number of attempts that were abandoned; absent = 0. */
  readonly attempt?: number;
}

/** Cancels the documents that an abandoned attempt has made. */
export interface CancelDraftDocumentsEffect {
  readonly do: 'cancelDraftDocuments';
  readonly attempt: number;
  readonly by: Principal;
}

export type DraftMessage = { readonly at: Millis } & (
  | { readonly type: 'REPLACE'; readonly content: DraftContent }
  | { readonly type: 'REMOVE' | 'SEND' | 'REFUSED' | 'ABANDONED' }
  | { readonly type: 'SENT'; readonly documents: readonly SentDocument[] }
);

export const draftMachine = setup({
  types: { context: {} as DraftContext, input: {} as DraftContext, events: {} as DraftMessage },
  actions: { effect: (_, _effect: CancelDraftDocumentsEffect) => {} },
}).createMachine({
  id: 'draft',
  context: ({ input }) => input,
  initial: 'Saved',
  states: {
    Saved: {
      on: {
        REPLACE: { actions: assign(({ event }) => ({ ...event.content, updateDate: event.at })) },
        REMOVE: DRAFT_REMOVED,
        SEND: 'Sending',
      },
    },
    Sending: {
      on: {
        SEND: { actions: assign(({ event }) => ({ updateDate: event.at })) },
        REFUSED: 'Saved',
        ABANDONED: {
          target: 'Saved',
          actions: [
            {
              type: 'effect',
              params: ({ context: { attempt = 0, createdBy } }) => ({
                do: 'cancelDraftDocuments',
                attempt,
                by: createdBy,
              }),
            },
            assign(({ context: { attempt = 0 }, event }) => ({ attempt: attempt + 1, updateDate: event.at })),
          ],
        },
        SENT: {
          target: 'Sent',
          actions: assign(({ event }) => ({ sent: event.documents, updateDate: event.at })),
        },
      },
    },
    Sent: { after: { [SENT_RETENTION_MS]: DRAFT_REMOVED } },
    [DRAFT_REMOVED]: {},
  },
});
