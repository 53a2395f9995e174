/**
 * A session of the document editor in another application. It is made with its link, which opens it once.
 *
 * | from | message     | to    | effects |
 * |------|-------------|-------|---------|
 * | Open | OPEN        | Open  |         |
 * | Open | UPLOADED    | Open  |         |
 * | Open | CLOSE       | Ended |         |
 * | Open | after 135 min | Ended |       |
 *
 * OPEN is accepted once. Ended is not stored: the actor ends.
 *
 * Source: docs/decisions/0119-editor-in-other-applications.md.
 */
import type { ApplicationId, Millis, OrganizationId, UploadId } from '../ids.ts';
import { type RecordMessage, recordMachine } from '../record.ts';

export const EDITOR_SESSION_ENDED = 'Ended';

/** Time in which the link can be used, milliseconds. */
export const EDITOR_LINK_LIFETIME_MS = 15 * 60_000;
/** Time from the use of the link to the end of the session, milliseconds. */
export const EDITOR_SESSION_LIFETIME_MS = 2 * 3_600_000;
/** Files that one session may upload. */
export const MAX_SESSION_UPLOADS = 100;

export interface EditorSessionContext {
  readonly organizationId: OrganizationId;
  /** The application that made the link; for a signed-in user, the user's id and name. */
  readonly application: { readonly id: ApplicationId; readonly name: string };
  /** True: `application` is a user. Absent = false. */
  readonly isUser?: boolean;
  /** Key that made the link: the session ends with it. Absent for users, and in sessions of earlier versions. */
  readonly keyId?: string;
  readonly draftId: string;
  /** Files that the session has uploaded. */
  readonly uploads: readonly UploadId[];
  readonly returnUrl: string | null;
  readonly createdAt: Millis;
  /** Null until the link is used. */
  readonly opened: { readonly sha256: string; readonly at: Millis } | null;
}

export type EditorSessionMessage = RecordMessage &
  (
    | { readonly type: 'OPEN'; readonly sha256: string }
    | { readonly type: 'UPLOADED'; readonly uploadId: UploadId }
    | { readonly type: 'CLOSE' }
  );

export const editorSessionMachine = recordMachine<EditorSessionContext, EditorSessionMessage>({
  id: 'editor-session',
  state: 'Open',
  context: (input) => input,
  created: 'The link to the editor was made.',
  changes: {
    OPEN: ({ opened, createdAt }, { sha256, at }) =>
      opened !== null || at - createdAt >= EDITOR_LINK_LIFETIME_MS
        ? undefined
        : { context: { opened: { sha256, at } }, note: 'The link was used.' },
    UPLOADED: ({ uploads }, { uploadId }) =>
      uploads.length >= MAX_SESSION_UPLOADS ? undefined : { context: { uploads: [...uploads, uploadId] } },
  },
  end: {
    state: EDITOR_SESSION_ENDED,
    endedBy: ['CLOSE'],
    lifetimeMs: EDITOR_LINK_LIFETIME_MS + EDITOR_SESSION_LIFETIME_MS,
  },
});
