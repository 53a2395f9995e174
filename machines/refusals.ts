import type { RefusalCode } from '../contracts/batch/refusals.ts';

/** A fault of the caller: answered with the status of its code, changes nothing. */
export class Refusal extends Error {
  readonly code: RefusalCode;
  /** Faults by request member; only for status 400. */
  readonly errors: Readonly<Record<string, readonly string[]>> | undefined;
  /** Value of Retry-After, whole seconds. */
  readonly retryAfterSeconds: number | undefined;
  constructor(
    code: RefusalCode,
    message: string,
    more: {
      readonly errors?: Readonly<Record<string, readonly string[]>>;
      readonly retryAfterSeconds?: number;
    } = {},
  ) {
    super(message);
    this.name = 'Refusal';
    this.code = code;
    this.errors = more.errors;
    this.retryAfterSeconds = more.retryAfterSeconds;
  }
}
