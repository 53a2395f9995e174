/**
 * The authenticator app and the passkeys of a participant, for all documents of one organization: who set them up returns.
 *
 * | from     | message       | to       | effects | when                                                    |
 * |----------|---------------|----------|---------|---------------------------------------------------------|
 * | Enrolled | PROVE         | Enrolled |         | not locked, and newer than the last code or challenge; wrong codes are counted, those beside a mailed code apart |
 * | Enrolled | ENROL         | Enrolled |         | there is no app                                         |
 * | Enrolled | ADD_PASSKEY   | Enrolled |         | up to ten; an unanswered challenge                      |
 * | Enrolled | RESET         | Over     |         |                                                         |
 * | Enrolled | FORGET        | Over     |         | two years after the last use                            |
 *
 * Over is not stored: the actor ends, and the participant sets up another.
 *
 * Source: docs/decisions/0291-authenticator-apps-of-participants.md.
 */
import { assign, setup } from 'xstate';
import type { Millis, OrganizationId } from '../ids.ts';
import {
  afterProof,
  type FactorProof,
  type Passkey,
  type PasskeyProof,
  type SecondFactor,
  type UsedChallenge,
  withApp,
  withChallenge,
  withPasskey,
} from './accounts/second-factor.ts';

export interface AuthenticatorContext {
  readonly organizationId: OrganizationId;
  /** Address whose mailbox was confirmed at the enrolment. */
  readonly email: string;
  readonly factor: SecondFactor;
  /** Wrong codes beside a right mailed code: who has a link alone adds none, and so locks nobody out. Absent = none. */
  readonly mailed?: Tries;
  /** Absent: with the factor. */
  readonly appSince?: Millis;
  /** Absent = none. */
  readonly usedChallenges?: readonly UsedChallenge[];
}

type Tries = Pick<SecondFactor, 'failures' | 'lockedUntil'>;

const NO_TRIES: Tries = { failures: 0, lockedUntil: 0 };

type Proof = Extract<FactorProof, { readonly counter: number }> | PasskeyProof | null;

type AuthenticatorMessage = { readonly at: Millis } & (
  | {
      readonly type: 'PROVE';
      readonly proof: Proof;
      /** True: a mailed code was right, too. */
      readonly isMailed?: boolean;
    }
  | { readonly type: 'ENROL'; readonly totp: string; readonly counter: number }
  | { readonly type: 'ADD_PASSKEY'; readonly passkey: Passkey; readonly challenge: UsedChallenge }
  | { readonly type: 'RESET'; readonly by: string }
  | { readonly type: 'FORGET' }
);

type MessageOf<Type> = Extract<AuthenticatorMessage, { readonly type: Type }>;

/** After so long without use, the participant sets up an app or a passkey again, milliseconds. */
const UNUSED_FOR_MS = 730 * 24 * 3_600_000;

const machine = setup({
  types: {
    context: {} as AuthenticatorContext,
    input: {} as AuthenticatorContext,
    events: {} as AuthenticatorMessage,
  },
});

const forgetLater = machine.raise({ type: 'FORGET', at: 0 }, { id: 'forget', delay: UNUSED_FOR_MS });

/** Undefined: not accepted. */
function proven(
  context: AuthenticatorContext,
  { proof, isMailed, at }: Pick<MessageOf<'PROVE'>, 'proof' | 'isMailed' | 'at'>,
): Partial<AuthenticatorContext> | undefined {
  const mailed = isMailed === true ? (context.mailed ?? NO_TRIES) : undefined;
  const factor = afterProof({ ...context.factor, ...mailed }, proof, at);
  if (factor === undefined) return undefined;
  if (proof === null && mailed !== undefined)
    return { mailed: { failures: factor.failures, lockedUntil: factor.lockedUntil } };
  if (proof === null || !('passkey' in proof)) return { factor, ...(mailed && { mailed: NO_TRIES }) };
  const usedChallenges = withChallenge(context.usedChallenges, proof.challenge, at);
  return usedChallenges && { factor, usedChallenges };
}

/** Undefined: not accepted. */
function withNewPasskey(
  context: AuthenticatorContext,
  { passkey, challenge, at }: Pick<MessageOf<'ADD_PASSKEY'>, 'passkey' | 'challenge' | 'at'>,
): Partial<AuthenticatorContext> | undefined {
  const factor = withPasskey(context.factor, { passkey, recovery: [] }, at);
  const usedChallenges = withChallenge(context.usedChallenges, challenge, at);
  return factor && usedChallenges && { factor, usedChallenges };
}

export const authenticatorMachine = machine.createMachine({
  id: 'authenticator',
  context: ({ input }) => input,
  initial: 'Enrolled',
  states: {
    Enrolled: {
      entry: forgetLater,
      on: {
        PROVE: {
          guard: ({ context, event }) => proven(context, event) !== undefined,
          actions: [assign(({ context, event }) => proven(context, event) ?? {}), forgetLater],
        },
        ENROL: {
          guard: ({ context }) => context.factor.totp === undefined,
          actions: [
            assign(({ context: { factor }, event: { totp, counter, at } }) => ({
              factor: withApp(factor, { totp, counter, recovery: [] }, at),
              appSince: at,
            })),
            forgetLater,
          ],
        },
        ADD_PASSKEY: {
          guard: ({ context, event }) => withNewPasskey(context, event) !== undefined,
          actions: [assign(({ context, event }) => withNewPasskey(context, event) ?? {}), forgetLater],
        },
        RESET: 'Over',
        FORGET: 'Over',
      },
    },
    Over: {},
  },
});
