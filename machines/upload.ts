/**
 * A file somebody gave the portal, until nobody uses it any more.
 *
 * | from   | event       | to      | effects | when                    |
 * |--------|-------------|---------|---------|-------------------------|
 * | Unused | USE         | Used    |         |                         |
 * | Unused | FORGET      | Expired |         |                         |
 * | Unused | after 24 h  | Expired |         |                         |
 * | Used   | USE         | Used    |         |                         |
 * | Used   | FORGET      | Expired |         | its last use is undone  |
 * | Used   | FORGET      | Used    |         | it was used otherwise   |
 * | Used   | after 7 d   | Expired |         |                         |
 *
 * Each use begins the seven days anew. FORGET comes with the deletion of a document that was made of it and undoes one
 * use. Who else has the same content is not asked: what became of an upload would tell one organization about the files
 * of others. Expired is no state that is kept: the actor ends. The file itself stays as long as a document refers to it.
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
  /** Calls that named it and whose documents were not deleted since; absent where it was kept before they were counted. */
  readonly uses?: number;
}

export type UploadEvent = { readonly type: 'USE' | 'FORGET'; readonly at: Millis };

const machine = setup({
  types: { context: {} as UploadContext, input: {} as UploadContext, events: {} as UploadEvent },
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
      after: { [UNUSED_LIFETIME]: UPLOAD_EXPIRED },
    },
    Used: {
      on: {
        USE: { target: 'Used', reenter: true, actions: use },
        FORGET: [
          { guard: ({ context: { uses = 1 } }) => uses <= 1, target: UPLOAD_EXPIRED },
          { actions: undoUse },
        ],
      },
      after: { [USED_LIFETIME]: UPLOAD_EXPIRED },
    },
    [UPLOAD_EXPIRED]: {},
  },
});
