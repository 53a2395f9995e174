/**
 * A request for documents that is kept, changed and sent later.
 *
 * | from    | event      | to      | effects |
 * |---------|------------|---------|---------|
 * | Saved   | REPLACE    | Saved   |         |
 * | Saved   | REMOVE     | Removed |         |
 * | Saved   | SEND       | Sending |         |
 * | Sending | SEND       | Sending |         |
 * | Sending | REFUSED    | Saved   |         |
 * | Sending | SENT       | Sent    |         |
 * | Sent    | after 30 d | Removed |         |
 *
 * Ids of the documents derive from the id of the draft. In Sending nothing is changed, so that SEND after a crash makes
 * the documents that are missing, and no others. Removed is not stored: the actor ends.
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
}

export type DraftMessage = { readonly at: Millis } & (
  | { readonly type: 'REPLACE'; readonly content: DraftContent }
  | { readonly type: 'REMOVE' | 'SEND' | 'REFUSED' }
  | { readonly type: 'SENT'; readonly documents: readonly SentDocument[] }
);

export const draftMachine = setup({
  types: { context: {} as DraftContext, input: {} as DraftContext, events: {} as DraftMessage },
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
