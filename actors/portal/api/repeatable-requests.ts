/** Requests that may be sent again under one word of their client (`Idempotency-Key`). */
import type { Tenant } from './callers.ts';

/** A request with an `Idempotency-Key`. */
export interface RepeatableRequest {
  /** Method and path of its route: the same word for another route is another word. */
  readonly route: string;
  readonly key: string;
  /** Lower-case hex SHA-256 of what was sent. */
  readonly fingerprint: string;
}

export interface IdempotentRequests {
  /**
   * Runs `make` once per idempotency key in 24 hours; a repeated request gets the first answer, plain JSON. `make`
   * receives a seed that is the same when it runs again after a crash. Refusals of `make` are not stored. Refusals:
   * `IdempotencyConflict` for another request under the same key.
   */
  answer<Answer>(
    tenant: Tenant,
    request: RepeatableRequest,
    make: (seed: string) => Promise<Answer>,
  ): Promise<Answer>;
}
