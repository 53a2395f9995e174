/** Requests that may be sent again under one word of their client (`Idempotency-Key`). */
import type { Tenant } from './callers.ts';

/** A request under a word of its client (`Idempotency-Key`). */
export interface RepeatableRequest {
  /** Method and path of its route: the same word for another route is another word. */
  readonly route: string;
  readonly key: string;
  /** Lower-case hex SHA-256 of what was sent. */
  readonly fingerprint: string;
}

export interface IdempotentRequests {
  /**
   * Does `make` once per word of a client in 24 hours; the same request again is given the first one's answer, which
   * is plain JSON. `make` is given a seed that stays the same when it has to be done again after a crash. What `make`
   * refuses is forgotten. Refusals: `IdempotencyConflict` for another request under the same word.
   */
  answer<Answer>(
    tenant: Tenant,
    request: RepeatableRequest,
    make: (seed: string) => Promise<Answer>,
  ): Promise<Answer>;
}
