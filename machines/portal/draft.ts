/**
 * A request for documents that is kept, changed and sent later.
 *
 * | from    | event      | to      | effects              | when                                |
 * |---------|------------|---------|----------------------|-------------------------------------|
 * | Unsaved | REPLACE    | Saved   |                      |                                     |
 * | Unsaved | KEEP       | Saved   |                      |                                     |
 * | Unsaved | REMOVE     | Removed |                      |                                     |
 * | Unsaved | SEND       | Sending |                      |                                     |
 * | Unsaved | after 24 h | Removed |                      |                                     |
 * | Saved   | REPLACE    | Saved   |                      |                                     |
 * | Saved   | REMOVE     | Removed |                      |                                     |
 * | Saved   | SEND       | Sending |                      | fewer than 16 are being canceled    |
 * | Saved   | CANCELED   | Saved   |                      |                                     |
 * | Sending | SEND       | Sending |                      | fewer than 16 calls are in progress |
 * | Sending | REFUSED    | Saved   | cancelDraftDocuments | no other call is in progress        |
 * | Sending | REFUSED    | Sending |                      | another call is in progress         |
 * | Sending | FAILED     | Sending |                      |                                     |
 * | Sending | SENT       | Sent    |                      | the call is of this attempt         |
 * | Sending | CANCELED   | Sending |                      |                                     |
 * | Sent    | CANCELED   | Sent    |                      |                                     |
 * | Sent    | after 30 d | Removed |                      |                                     |
 * | Removed | CANCELED   | Removed |                      |                                     |
 *
 * Ids of the documents derive from the id of the draft and the number of the attempt. In Sending nothing is changed, so
 * that SEND after a crash makes the documents that are missing, and no others. REFUSED ends the attempt and cancels what
 * it has made; the next attempt makes other documents. A call that took longer than 30 s may make documents of an ended
 * attempt later: each of them finds this out and is canceled (`confirmDraft` of the document). CANCELED: the documents of
 * an ended attempt are canceled. Removed is stored only until this is done for all attempts; then the actor ends.
 * Unsaved is the first state of a draft that a link to the editor made, Saved that of all others.
 *
 * Each SEND begins a call, which the other events of Sending end; FAILED ends it with no result. A call that has ended
 * without an event, because its process ended, counts as in progress for 30 s.
 *
 * Source: docs/decisions/0122-drafts.md, docs/decisions/0119-editor-in-other-applications.md.
 */

import { declareEffect, type WithoutTime } from '@sealwright/runtime/actions';
import { assign, not, setup } from 'xstate';
import type { Principal } from '../../contracts/portal/entities.ts';
import type { CreatedDocument } from '../../contracts/portal/new-documents.ts';
import type { Millis, OrganizationId, UploadId } from '../ids.ts';
import type { UploadContext } from './upload.ts';

export const DRAFT_REMOVED = 'Removed';

/** Retention of an unsaved draft, milliseconds; longer than a session of the editor. */
const UNSAVED_RETENTION_MS = 24 * 3_600_000;
/** Retention of a sent draft, milliseconds. */
export const SENT_RETENTION_MS = 30 * 24 * 3_600_000;

/** Calls that send one draft at the same time. */
const MAX_CALLS = 16;

/** Ended attempts of one draft whose documents are not canceled yet. */
const MAX_CANCELING = 16;

/** Time after which a call that has not ended no longer counts as in progress, milliseconds. */
const CALL_TIMEOUT_MS = 30_000;

/** A call that sends the draft. */
export interface DraftCall {
  readonly id: string;
  readonly at: Millis;
}

export interface DraftContent {
  readonly name: string;
  /** The creation request as it was sent. */
  readonly document: unknown;
  /** The uploads that it names; their files are kept as long as the draft is not sent. */
  readonly uploads: readonly (UploadContext & { readonly id: UploadId })[];
}

export interface DraftContext extends DraftContent {
  readonly organizationId: OrganizationId;
  readonly createdBy: Principal;
  readonly creationDate: Millis;
  readonly updateDate: Millis;
  /** Null until it is sent. */
  readonly sent: readonly CreatedDocument[] | null;
  /** True: a link to the editor made it. Absent = false. */
  readonly isOfLink?: boolean;
  /** Number of attempts that were refused; absent = 0. */
  readonly attempt?: number;
  /** Calls of this attempt in progress, and those that ended without an event less than `CALL_TIMEOUT_MS` ago. */
  readonly calls: readonly DraftCall[];
  /** Ended attempts whose documents are not canceled yet; absent = none. */
  readonly canceling?: readonly number[];
}

/** The attempt to send a draft that makes a document. */
export interface DraftAttempt {
  readonly id: string;
  readonly attempt: number;
}

export type DraftMessage = { readonly at: Millis } & (
  | { readonly type: 'REPLACE'; readonly content: DraftContent }
  | { readonly type: 'KEEP' | 'REMOVE' }
  | { readonly type: 'SEND' | 'REFUSED' | 'FAILED'; readonly call: string }
  | { readonly type: 'CANCELED'; readonly attempt: number }
  | { readonly type: 'SENT'; readonly attempt: number; readonly documents: readonly CreatedDocument[] }
);

/** Calls in progress other than `call`. */
function otherCalls({ calls }: DraftContext, call: string, at: Millis): readonly DraftCall[] {
  return calls.filter((one) => one.id !== call && at - one.at < CALL_TIMEOUT_MS);
}

/** Cancels the documents that a refused attempt has made. */
export const cancelDraftDocuments = declareEffect('cancelDraftDocuments', {
  types: {} as {
    input: { readonly attempt: number; readonly by: Principal };
    outcome: WithoutTime<DraftMessage>;
  },
});

export const draftMachine = setup({
  delays: { unsaved: UNSAVED_RETENTION_MS, sent: SENT_RETENTION_MS },
  types: { context: {} as DraftContext, input: {} as DraftContext, events: {} as DraftMessage },
  actions: {
    cancelDraftDocuments: cancelDraftDocuments.action,
    replace: assign(({ event }) =>
      event.type === 'REPLACE' ? { ...event.content, updateDate: event.at } : {},
    ),
    beginCall: assign(({ event }) =>
      event.type === 'SEND' ? { calls: [{ id: event.call, at: event.at }] } : {},
    ),
    endCall: assign(({ context, event }) =>
      'call' in event ? { calls: otherCalls(context, event.call, event.at) } : {},
    ),
    endAttempt: assign(({ context: { attempt = 0, canceling = [] } }) => ({
      attempt: attempt + 1,
      calls: [],
      canceling: [...canceling, attempt],
    })),
    canceled: assign(({ context: { canceling = [] }, event }) =>
      event.type === 'CANCELED' ? { canceling: canceling.filter((one) => one !== event.attempt) } : {},
    ),
  },
  guards: {
    isOnlyCall: ({ context, event }) =>
      'call' in event &&
      context.calls.some(({ id }) => id === event.call) &&
      otherCalls(context, event.call, event.at).length === 0,
    isUnsaved: ({ context }) => context.isOfLink === true,
    mayBegin: ({ context: { canceling = [] } }) => canceling.length < MAX_CANCELING,
    hasRoom: ({ context, event }) =>
      'call' in event && otherCalls(context, event.call, event.at).length < MAX_CALLS,
    isOfThisAttempt: ({ context: { attempt = 0 }, event }) =>
      event.type === 'SENT' && event.attempt === attempt,
  },
}).createMachine({
  id: 'draft',
  context: ({ input }) => input,
  initial: 'Unsaved',
  states: {
    Unsaved: {
      always: { target: 'Saved', guard: not('isUnsaved') },
      on: {
        REPLACE: { target: 'Saved', actions: 'replace' },
        KEEP: 'Saved',
        REMOVE: DRAFT_REMOVED,
        SEND: { target: 'Sending', actions: 'beginCall' },
      },
      after: { unsaved: DRAFT_REMOVED },
    },
    Saved: {
      on: {
        REPLACE: { actions: 'replace' },
        REMOVE: DRAFT_REMOVED,
        SEND: { guard: 'mayBegin', target: 'Sending', actions: 'beginCall' },
        CANCELED: { actions: 'canceled' },
      },
    },
    Sending: {
      on: {
        SEND: {
          guard: 'hasRoom',
          actions: assign(({ context, event }) => ({
            updateDate: event.at,
            calls: [...otherCalls(context, event.call, event.at), { id: event.call, at: event.at }],
          })),
        },
        REFUSED: [
          {
            guard: 'isOnlyCall',
            target: 'Saved',
            actions: [
              {
                type: 'cancelDraftDocuments',
                params: ({ context: { attempt = 0, createdBy } }) => ({
                  attempt,
                  by: createdBy,
                }),
              },
              'endAttempt',
            ],
          },
          { actions: 'endCall' },
        ],
        FAILED: { actions: 'endCall' },
        CANCELED: { actions: 'canceled' },
        SENT: {
          guard: 'isOfThisAttempt',
          target: 'Sent',
          actions: assign(({ event }) => ({ sent: event.documents, updateDate: event.at, calls: [] })),
        },
      },
    },
    Sent: {
      on: { CANCELED: { actions: 'canceled' } },
      after: { sent: DRAFT_REMOVED },
    },
    [DRAFT_REMOVED]: { on: { CANCELED: { actions: 'canceled' } } },
  },
});
