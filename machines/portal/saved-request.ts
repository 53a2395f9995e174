/**
 * A request for documents that is kept under a name: a saved flow, a draft or a template. Of a template some versions are
 * kept, of the others the newest one; drafts alone are sent.
 *
 * | from    | message    | to      | effects              | when                                |
 * |---------|------------|---------|----------------------|-------------------------------------|
 * | Unsaved | REPLACE    | Saved   |                      |                                     |
 * | Unsaved | KEEP       | Saved   |                      |                                     |
 * | Unsaved | REMOVE     | Removed |                      |                                     |
 * | Unsaved | SEND       | Sending |                      | a draft                             |
 * | Unsaved | after 24 h | Removed |                      |                                     |
 * | Saved   | REPLACE    | Saved   |                      |                                     |
 * | Saved   | REMOVE     | Removed |                      |                                     |
 * | Saved   | SEND       | Sending |                      | a draft; fewer than 16 are canceled |
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
 * REPLACE adds a version and drops the oldest ones beyond the limits; the same request adds one once.
 *
 * Each SEND begins a call, which the other events of Sending end; FAILED ends it with no result. A call that has ended
 * without an event, because its process ended, counts as in progress for 30 s.
 *
 * Source: docs/decisions/0122-drafts.md, docs/decisions/0120-templates.md, docs/decisions/0380-one-kept-request.md.
 */

import { declareEffect, note, type WithoutTime } from '@sealwright/runtime/actions';
import { and, assign, not, setup } from 'xstate';
import type { Principal } from '../../contracts/portal/entities.ts';
import type { CreatedDocument } from '../../contracts/portal/new-documents.ts';
import type { Millis, OrganizationId, UploadId } from '../ids.ts';
import type { UploadContext } from './upload.ts';

export const REQUEST_REMOVED = 'Removed';

/** Characters of all versions together, as JSON: a step stores all of them. */
const MAX_VERSIONS_LENGTH = 1024 * 1024;

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

export interface RequestContent {
  readonly name: string;
  /** As it was sent: a creation request, or the flow of one. Titles of actions without a person are roles. */
  readonly document: unknown;
  /** The uploads that it names; their files are kept as long as the version is, and is not sent. */
  readonly uploads: readonly (UploadContext & { readonly id: UploadId })[];
  /** For those who choose a template. */
  readonly description?: string | null;
  /** Days from the creation of a document to its expiry; null = `expirationDate` of the request, if any. */
  readonly expirationDays?: number | null;
  /** Roles of a template that somebody must take. */
  readonly roles?: readonly string[];
}

export interface RequestVersion extends RequestContent {
  /** From 1. */
  readonly version: number;
  readonly createdBy: Principal;
  readonly creationDate: Millis;
  /** Names the request with an idempotency key that added it; absent = without a key. */
  readonly request?: string;
}

export interface RequestContext {
  readonly organizationId: OrganizationId;
  /** Order number of a template: sorts templates by creation. */
  readonly order?: number;
  readonly createdBy: Principal;
  readonly creationDate: Millis;
  /** Time of the last change, or of the last call that sent it; absent: that of the newest version. */
  readonly updateDate?: Millis;
  /** Oldest first; at least one. */
  readonly versions: readonly RequestVersion[];
  /** Absent or null: not sent. */
  readonly sent?: readonly CreatedDocument[] | null;
  /** True: a link to the editor made it. Absent = false. */
  readonly isOfLink?: boolean;
  /** Number of attempts that were refused; absent = 0. */
  readonly attempt?: number;
  /** Of a draft: calls of this attempt in progress, and those that ended without an event less than `CALL_TIMEOUT_MS` ago. */
  readonly calls?: readonly DraftCall[];
  /** Ended attempts whose documents are not canceled yet; absent = none. */
  readonly canceling?: readonly number[];
}

/** The attempt to send a draft that makes a document. */
export interface DraftAttempt {
  readonly id: string;
  readonly attempt: number;
}

export type RequestMessage = { readonly at: Millis } & (
  | {
      readonly type: 'REPLACE';
      readonly content: RequestContent;
      readonly createdBy: Principal;
      readonly request?: string;
    }
  | { readonly type: 'KEEP' | 'REMOVE' }
  | { readonly type: 'SEND' | 'REFUSED' | 'FAILED'; readonly call: string }
  | { readonly type: 'CANCELED'; readonly attempt: number }
  | { readonly type: 'SENT'; readonly attempt: number; readonly documents: readonly CreatedDocument[] }
);

/** Calls in progress other than `call`. */
function otherCalls({ calls = [] }: RequestContext, call: string, at: Millis): readonly DraftCall[] {
  return calls.filter((one) => one.id !== call && at - one.at < CALL_TIMEOUT_MS);
}

/** Cancels the documents that a refused attempt has made. */
export const cancelDraftDocuments = declareEffect('cancelDraftDocuments', {
  types: {} as {
    input: { readonly attempt: number; readonly by: Principal };
    outcome: WithoutTime<RequestMessage>;
  },
});

const requests = setup({
  delays: { unsaved: UNSAVED_RETENTION_MS, sent: SENT_RETENTION_MS },
  types: { context: {} as RequestContext, input: {} as RequestContext, events: {} as RequestMessage },
  actions: {
    cancelDraftDocuments: cancelDraftDocuments.action,
    note,
    replace: assign(({ context, event }, { most }: { readonly most: number }) =>
      event.type === 'REPLACE' ? withVersion(context, event, most) : {},
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
      context.calls?.some(({ id }) => id === event.call) === true &&
      otherCalls(context, event.call, event.at).length === 0,
    /** Of a request that is executed again: its answer was not stored before the process ended. */
    isRepeated: ({ context: { versions }, event }) =>
      event.type === 'REPLACE' &&
      event.request !== undefined &&
      versions.some(({ request }) => request === event.request),
    isDraft: ({ context }) => context.calls !== undefined,
    isUnsaved: ({ context }) => context.isOfLink === true,
    mayBegin: ({ context: { canceling = [] } }) => canceling.length < MAX_CANCELING,
    hasRoom: ({ context, event }) =>
      'call' in event && otherCalls(context, event.call, event.at).length < MAX_CALLS,
    isOfThisAttempt: ({ context: { attempt = 0 }, event }) =>
      event.type === 'SENT' && event.attempt === attempt,
  },
});

/** The journal line of a new version. */
function versionLine({ context: { versions } }: { readonly context: RequestContext }) {
  return { message: `Version ${versions.at(-1)?.version}` };
}

function withVersion(
  { versions }: RequestContext,
  { content, createdBy, at, request }: Extract<RequestMessage, { readonly type: 'REPLACE' }>,
  most: number,
): Partial<RequestContext> {
  const version = (versions.at(-1)?.version ?? 0) + 1;
  const next = { ...content, version, createdBy, creationDate: at, ...(request && { request }) };
  return { versions: withinLimits([...versions, next], most), updateDate: at };
}

/** The newest versions within the limits; the newest one in any case. */
function withinLimits(versions: readonly RequestVersion[], most: number): readonly RequestVersion[] {
  let length = 0;
  const tooLong = versions.findLastIndex((version) => {
    length += JSON.stringify(version).length;
    return length > MAX_VERSIONS_LENGTH;
  });
  const first = Math.max(tooLong + 1, versions.length - most);
  return versions.slice(Math.min(first, versions.length - 1));
}

/** The machine of one kind: it keeps `most` versions of a request. */
export function savedRequestMachine({ id, most }: { readonly id: string; readonly most: number }) {
  const replace = [
    { type: 'replace', params: { most } },
    ...(most > 1 ? [{ type: 'note', params: versionLine } as const] : []),
  ] as const;
  return requests.createMachine({
    id,
    context: ({ input }) => input,
    initial: 'Unsaved',
    states: {
      Unsaved: {
        always: { target: 'Saved', guard: not('isUnsaved') },
        on: {
          REPLACE: { target: 'Saved', actions: replace },
          KEEP: 'Saved',
          REMOVE: REQUEST_REMOVED,
          SEND: { guard: 'isDraft', target: 'Sending', actions: 'beginCall' },
        },
        after: { unsaved: REQUEST_REMOVED },
      },
      Saved: {
        on: {
          REPLACE: [{ guard: 'isRepeated', actions: assign({}) }, { actions: replace }],
          REMOVE: REQUEST_REMOVED,
          SEND: { guard: and(['isDraft', 'mayBegin']), target: 'Sending', actions: 'beginCall' },
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
        after: { sent: REQUEST_REMOVED },
      },
      [REQUEST_REMOVED]: { on: { CANCELED: { actions: 'canceled' } } },
    },
  });
}
