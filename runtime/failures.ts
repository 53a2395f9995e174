/**
 * Failures say what to do next. They are matched on `code`, never on class (identity is lost between threads)
 * and never on text.
 */

/** Try again later; nothing is wrong with the request itself. */
export class Retryable extends Error {
  readonly code: string;
  /** Wait so long, milliseconds, five minutes at most; undefined leaves the pause to the caller's schedule. */
  readonly retryAfter: number | undefined;
  readonly retryable = true;
  constructor(code: string, message: string, retryAfter?: number) {
    super(message);
    this.name = 'Retryable';
    this.code = code;
    this.retryAfter = retryAfter;
  }
}

/** Give up and record why. */
export class Fatal extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.name = 'Fatal';
    this.code = code;
  }
}

/** True for a failure that asks to be tried again, also when it crossed a thread. */
export function isRetryable(error: unknown): error is Retryable {
  return typeof error === 'object' && error !== null && (error as { retryable?: unknown }).retryable === true;
}

/** Code and message of anything that can be thrown. */
export function describeFailure(error: unknown): { readonly code: string; readonly message: string } {
  if (error instanceof Error) {
    const code = (error as { code?: unknown }).code;
    return { code: typeof code === 'string' ? code : 'internal', message: error.message };
  }
  return { code: 'internal', message: String(error) };
}
