/**
 * Errors by their consequence. They are matched on `code`, never on class (identity is lost between threads) and never
 * on text.
 */

/** A transient failure: retry later; the request itself is valid. */
export class Retryable extends Error {
  readonly code: string;
  /**
   * Pause before a retry, milliseconds, at most five minutes; undefined leaves the pause to the caller's schedule.
   */
  readonly retryAfter: number | undefined;
  readonly retryable = true;
  constructor(code: string, message: string, retryAfter?: number) {
    super(message);
    this.name = 'Retryable';
    this.code = code;
    this.retryAfter = retryAfter;
  }
}

/** A permanent failure: give up and record the reason. */
export class Fatal extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.name = 'Fatal';
    this.code = code;
  }
}

/** Text for a refused downgrade: where the copy is that was made before the upgrade. Empty without one. */
export function wayBack(copy: string | undefined): string {
  if (copy === undefined) return '';
  return `\nThe store as it was before the upgrade is in ${copy}. To go back, put its data.mdb in the place of that of the store; what happened since is lost then.`;
}

/** True for a failure to be retried, also after it has crossed a thread. */
export function isRetryable(error: unknown): error is Retryable {
  return typeof error === 'object' && error !== null && (error as { retryable?: unknown }).retryable === true;
}

/** Returns code and message of any thrown value. */
export function describeFailure(error: unknown): { readonly code: string; readonly message: string } {
  if (error instanceof Error) {
    const code = (error as { code?: unknown }).code;
    return { code: typeof code === 'string' ? code : 'internal', message: error.message };
  }
  return { code: 'internal', message: String(error) };
}
