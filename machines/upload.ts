/**
 * A file somebody gave the portal, until nobody uses it any more.
 *
 * | from   | event       | to      | effects |
 * |--------|-------------|---------|---------|
 * | Unused | USE         | Used    |         |
 * | Unused | FORGET      | Expired |         |
 * | Unused | after 24 h  | Expired |         |
 * | Used   | USE         | Used    |         |
 * | Used   | FORGET      | Expired |         |
 * | Used   | after 7 d   | Expired |         |
 *
 * Each use begins the seven days anew. FORGET comes with the deletion of the last document that was made of it. Expired is no state that is kept: the actor ends. The file itself stays as
 * long as a document refers to it.
 *
 * Source: portal-gaps §4, "Upload lifetime and reuse"; the seven days are ours.
 */
import { setup } from 'xstate';
import type { ApplicationId, Millis, OrganizationId } from './ids.ts';
import type { BlobRef } from './portal-words.ts';

export const UPLOAD_EXPIRED = 'Expired';

/** How long an upload is kept that no call ever named, milliseconds. */
export const UNUSED_LIFETIME = 24 * 3_600_000;
/** How long after its last use, milliseconds. */
export const USED_LIFETIME = 7 * 24 * 3_600_000;

export interface UploadContext {
  readonly organizationId: OrganizationId;
  /** The application that sent it. */
  readonly applicationId: ApplicationId;
  /** Original file name. */
  readonly name: string;
  readonly contentType: string;
  readonly blob: BlobRef;
  /** Base64. */
  readonly md5: string;
  readonly createdAt: Millis;
}

export type UploadEvent = { readonly type: 'USE' | 'FORGET'; readonly at: Millis };

export const uploadMachine = setup({
  types: { context: {} as UploadContext, input: {} as UploadContext, events: {} as UploadEvent },
}).createMachine({
  id: 'upload',
  context: ({ input }) => input,
  initial: 'Unused',
  states: {
    Unused: {
      on: { USE: 'Used', FORGET: UPLOAD_EXPIRED },
      after: { [UNUSED_LIFETIME]: UPLOAD_EXPIRED },
    },
    Used: {
      on: { USE: { target: 'Used', reenter: true }, FORGET: UPLOAD_EXPIRED },
      after: { [USED_LIFETIME]: UPLOAD_EXPIRED },
    },
    [UPLOAD_EXPIRED]: {},
  },
});
