/**
 * The authenticator app of a participant, for all documents of one organization: who set it up returns.
 *
 * | from     | event         | to       | effects | when                                                    |
 * |----------|---------------|----------|---------|---------------------------------------------------------|
 * | Enrolled | PROVE         | Enrolled |         | not locked, and newer than the last code; wrong ones are counted |
 * | Enrolled | RESET         | Over     |         |                                                         |
 * | Enrolled | FORGET        | Over     |         | two years after the last code                           |
 *
 * Over is not stored: the actor ends, and the participant sets up another app.
 *
 * Source: docs/decisions/0290-authenticator-apps-of-participants.md.
 */
import { assign, setup } from 'xstate';
import type { Millis, OrganizationId } from '../ids.ts';
import { afterProof, type FactorProof, type SecondFactor } from './user/second-factor.ts';

export interface AuthenticatorContext {
  readonly organizationId: OrganizationId;
  /** Address whose mailbox was confirmed at the enrolment. */
  readonly email: string;
  readonly factor: SecondFactor;
}

type AuthenticatorMessage = { readonly at: Millis } & (
  | { readonly type: 'PROVE'; readonly proof: Extract<FactorProof, { readonly counter: number }> | null }
  | { readonly type: 'RESET'; readonly by: string }
  | { readonly type: 'FORGET' }
);

/** After so long without a code, the participant sets up the app again, milliseconds. */
const UNUSED_FOR = 730 * 24 * 3_600_000;

const machine = setup({
  types: {
    context: {} as AuthenticatorContext,
    input: {} as AuthenticatorContext,
    events: {} as AuthenticatorMessage,
  },
});

const forgetLater = machine.raise({ type: 'FORGET', at: 0 }, { id: 'forget', delay: UNUSED_FOR });

export const authenticatorMachine = machine.createMachine({
  id: 'authenticator',
  context: ({ input }) => input,
  initial: 'Enrolled',
  states: {
    Enrolled: {
      entry: forgetLater,
      on: {
        PROVE: {
          guard: ({ context, event }) => afterProof(context.factor, event.proof, event.at) !== undefined,
          actions: [
            assign(({ context: { factor }, event }) => ({
              factor: afterProof(factor, event.proof, event.at) ?? factor,
            })),
            forgetLater,
          ],
        },
        RESET: 'Over',
        FORGET: 'Over',
      },
    },
    Over: {},
  },
});
