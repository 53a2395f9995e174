/**
 * A request under a word of its client, and its answer for as long as the client may ask again.
 *
 * | from     | event       | to        | effects |
 * |----------|-------------|-----------|---------|
 * | Begun    | ANSWER      | Answered  |         |
 * | Begun    | FORGET      | Forgotten |         |
 * | Begun    | after 24 h  | Forgotten |         |
 * | Answered | after 24 h  | Forgotten |         |
 *
 * Begun after a restart means that the answer was lost: the request is done again under the same seed. Forgotten is no
 * state that is kept: the actor ends.
 *
 * Source: ours (`Idempotency-Key`).
 */
import { assign, setup } from 'xstate';
import type { Millis } from './ids.ts';

export const REQUEST_FORGOTTEN = 'Forgotten';

/** How long the same word gives the same answer, milliseconds. */
export const ANSWER_LIFETIME = 24 * 3_600_000;

export interface IdempotentRequestContext {
  /** Lower-case hex SHA-256 of what was sent. */
  readonly fingerprint: string;
  /** From which the ids are derived of what the request makes. */
  readonly seed: string;
  /** JSON text; null until there is one. */
  readonly answer: string | null;
}

export type IdempotentRequestEvent = { readonly at: Millis } & (
  | { readonly type: 'ANSWER'; readonly answer: string }
  | { readonly type: 'FORGET' }
);

export const idempotentRequestMachine = setup({
  types: {
    context: {} as IdempotentRequestContext,
    input: {} as IdempotentRequestContext,
    events: {} as IdempotentRequestEvent,
  },
}).createMachine({
  id: 'idempotent-request',
  context: ({ input }) => input,
  initial: 'Begun',
  states: {
    Begun: {
      on: {
        ANSWER: { target: 'Answered', actions: assign(({ event: { answer } }) => ({ answer })) },
        FORGET: REQUEST_FORGOTTEN,
      },
      after: { [ANSWER_LIFETIME]: REQUEST_FORGOTTEN },
    },
    Answered: {
      after: { [ANSWER_LIFETIME]: REQUEST_FORGOTTEN },
    },
    [REQUEST_FORGOTTEN]: {},
  },
});
