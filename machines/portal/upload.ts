/**
 * An uploaded file, until it is no longer used.
 *
 * | from   | message     | to      | effects | when                     |
 * |--------|-------------|---------|---------|--------------------------|
 * | Unused | USE         | Used    |         |                          |
 * | Unused | FORGET      | Expired |         |                          |
 * | Unused | after 24 h  | Expired |         |                          |
 * | Used   | USE         | Used    |         |                          |
 * | Used   | FORGET      | Expired |         | only use, or participant |
 * | Used   | FORGET      | Used    |         | other uses are left      |
 * | Used   | after 7 d   | Expired |         |                          |
 *
 * Each use restarts the seven days. FORGET follows the deletion of a document that was made of it and undoes one
 * use. It ends the upload of a participant, which only this document could use, and follows each end of that document. Who else has the same content is not
 * asked: what became of an upload would tell one organization about the files of others. Expired is not stored: the
 * actor ends. The file itself stays as long as a document refers to it.
 *
 * Source: docs/portal-values.md §4; the seven days are ours.
 */
import { setup } from 'xstate';
import type { ApplicationId, DocumentId, FlowActionId, Millis, OrganizationId, UserId } from '../ids.ts';
import type { BlobRef } from './portal-types.ts';

export const UPLOAD_EXPIRED = 'Expired';

/** Retention of an unused upload, milliseconds. */
export const UNUSED_LIFETIME_MS = 24 * 3_600_000;
/** Retention after the last use, milliseconds. */
export const USED_LIFETIME_MS = 7 * 24 * 3_600_000;

/** A participant in one action of a document. */
export interface UploadParticipant {
  readonly documentId: DocumentId;
  readonly flowActionId: FlowActionId;
  readonly userId: UserId;
}

export interface UploadContext {
  readonly organizationId: OrganizationId;
  /** The application that uploaded it; null = a participant did. */
  readonly applicationId: ApplicationId | null;
  /** The participant who uploaded it, and who alone may use it; absent = an application did. */
  readonly participant?: UploadParticipant;
  /** Original file name. */
  readonly name: string;
  readonly contentType: string;
  /** The content is a PDF, declared as another type. */
  readonly isPdf?: true;
  readonly blob: BlobRef;
  /** Base64. */
  readonly md5: string;
  readonly createdAt: Millis;
  /**
   * Calls that used it and whose documents were not deleted since; absent for uploads stored before they were counted.
   */
  readonly uses?: number;
}

type UploadMessage = { readonly type: 'USE' | 'FORGET'; readonly at: Millis };

const machine = setup({
  delays: { unused: UNUSED_LIFETIME_MS, used: USED_LIFETIME_MS },
  types: { context: {} as UploadContext, input: {} as UploadContext, events: {} as UploadMessage },
});

const use = machine.assign({ uses: ({ context: { uses = 0 } }) => uses + 1 });
const undoUse = machine.assign({ uses: ({ context: { uses = 1 } }) => uses - 1 });

export const uploadMachine = machine.createMachine({
  id: 'upload',
  context: ({ input }) => input,
  initial: 'Unused',
  states: {
    Unused: {
      on: { USE: { target: 'Used', actions: use }, FORGET: UPLOAD_EXPIRED },
      after: { unused: UPLOAD_EXPIRED },
    },
    Used: {
      on: {
        USE: { target: 'Used', reenter: true, actions: use },
        FORGET: [
          {
            guard: ({ context: { uses = 1, participant } }) => uses <= 1 || participant !== undefined,
            target: UPLOAD_EXPIRED,
          },
          { actions: undoUse },
        ],
      },
      after: { used: UPLOAD_EXPIRED },
    },
    [UPLOAD_EXPIRED]: {},
  },
});
