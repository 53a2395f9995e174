/**
 * An hour in which somebody may place marks on the pages of uploaded files.
 *
 * | from | event        | to      | effects |
 * |------|--------------|---------|---------|
 * | Open | after 60 min | Expired |         |
 *
 * Expired is no state that is kept: the actor ends.
 *
 * Source: portal-gaps §20, "Marks session", and §21.
 */
import { setup } from 'xstate';
import type { Millis, OrganizationId, UploadId } from './ids.ts';

export const MARKS_SESSION_EXPIRED = 'Expired';

/** Milliseconds. */
export const MARKS_SESSION_LIFETIME = 60 * 60_000;

export interface MarksSessionContext {
  readonly organizationId: OrganizationId;
  readonly files: readonly {
    readonly id: UploadId;
    readonly name: string;
    readonly contentType: string;
  }[];
  /** The request as it was sent. */
  readonly data: unknown;
  readonly createdAt: Millis;
}

export const marksSessionMachine = setup({
  types: {
    context: {} as MarksSessionContext,
    input: {} as MarksSessionContext,
    events: {} as { readonly type: 'NOTHING'; readonly at: Millis },
  },
}).createMachine({
  id: 'marks-session',
  context: ({ input }) => input,
  initial: 'Open',
  states: {
    Open: { after: { [MARKS_SESSION_LIFETIME]: MARKS_SESSION_EXPIRED } },
    [MARKS_SESSION_EXPIRED]: {},
  },
});
