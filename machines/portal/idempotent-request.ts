/**
 * A request with an idempotency key, and its answer for as long as the client may repeat it.
 *
 * | from     | message     | to        | effects |
 * |----------|-------------|-----------|---------|
 * | Begun    | ANSWER      | Answered  |         |
 * | Begun    | FORGET      | Forgotten |         |
 * | Begun    | after 24 h  | Forgotten |         |
 * | Answered | after 24 h  | Forgotten |         |
 *
 * Begun after a restart means that the answer was lost: the request is repeated with the same seed. Forgotten is not
 * stored: the actor ends.
 *
 * Source: ours (`Idempotency-Key`).
 */
import { assign, setup } from 'xstate';
import type { Millis } from '../ids.ts';

export const REQUEST_EXPIRED = 'Forgotten';

/** Time for which the same key gives the same answer, milliseconds. */
export const ANSWER_LIFETIME_MS = 24 * 3_600_000;

export interface IdempotentRequestContext {
  /** Lower-case hex SHA-256 of the request. */
  readonly fingerprint: string;
  /** Seed of the ids that the request creates. */
  readonly seed: string;
  /** JSON text; null until the answer exists. */
  readonly answer: string | null;
}

export type IdempotentRequestMessage = { readonly at: Millis } & (
  | { readonly type: 'ANSWER'; readonly answer: string }
  | { readonly type: 'FORGET' }
);

export const idempotentRequestMachine = setup({
  delays: { lifetime: ANSWER_LIFETIME_MS },
  types: {
    context: {} as IdempotentRequestContext,
    input: {} as IdempotentRequestContext,
    events: {} as IdempotentRequestMessage,
  },
}).createMachine({
  id: 'idempotent-request',
  context: ({ input }) => input,
  initial: 'Begun',
  states: {
    Begun: {
      on: {
        ANSWER: { target: 'Answered', actions: assign(({ event: { answer } }) => ({ answer })) },
        FORGET: REQUEST_EXPIRED,
      },
      after: { lifetime: REQUEST_EXPIRED },
    },
    Answered: {
      after: { lifetime: REQUEST_EXPIRED },
    },
    [REQUEST_EXPIRED]: {},
  },
});
