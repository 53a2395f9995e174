/**
 * The right of a job to publish under a name of an object store that cannot refuse a second put.
 *
 * | from | message | to       | effects |                        |
 * |------|---------|----------|---------|------------------------|
 * | Held | RELEASE | Released |         | of the job that has it |
 *
 * Released is not stored: the actor ends.
 *
 * Source: docs/decisions/0285-jobs-in-an-object-store.md.
 */
import { setup } from 'xstate';
import type { Millis } from '../ids.ts';

export const RELEASED_STATE = 'Released';

export interface OutputClaim {
  readonly jobId: string;
}

export type OutputClaimMessage = { readonly at: Millis; readonly type: 'RELEASE'; readonly jobId: string };

export const outputClaimMachine = setup({
  types: {
    context: {} as OutputClaim,
    input: {} as OutputClaim,
    events: {} as OutputClaimMessage,
  },
}).createMachine({
  id: 'output-claim',
  context: ({ input: { jobId } }) => ({ jobId }),
  initial: 'Held',
  states: {
    Held: {
      on: {
        RELEASE: { target: RELEASED_STATE, guard: ({ context, event }) => context.jobId === event.jobId },
      },
    },
    [RELEASED_STATE]: {},
  },
});
