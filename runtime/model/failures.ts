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
  readonly retryable = false;
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

/** True for a failure that asks to be retried, also after it has crossed a thread. */
export function isRetryable(error: unknown): error is Retryable {
  return retryableOf(error) === true;
}

/** True for a failure that no repetition mends, also after it has crossed a thread. Plain errors are none. */
export function isFatal(error: unknown): error is Fatal {
  return retryableOf(error) === false;
}

/** Returns what an error says about its repetition; undefined where it says nothing, or cannot be read. */
export function retryableOf(error: unknown): boolean | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  try {
    const { retryable } = error as { readonly retryable?: unknown };
    return typeof retryable === 'boolean' ? retryable : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the pause that an error asks for, milliseconds from 0; undefined where it asks for none. */
export function retryAfterOf(error: unknown): number | undefined {
  try {
    const { retryAfter } = error as { readonly retryAfter?: unknown };
    return typeof retryAfter === 'number' && retryAfter >= 0 ? retryAfter : undefined;
  } catch {
    return undefined;
  }
}

/** Longest code and message of an error that are kept, UTF-16 units: they are stored with an effect. */
const MAX_CODE = 200;
const MAX_MESSAGE = 8000;

/** Returns code and message of any thrown value, within bounds and as text that every store can keep. */
export function describeFailure(error: unknown): { readonly code: string; readonly message: string } {
  try {
    if (!(error instanceof Error)) return { code: 'internal', message: kept(String(error), MAX_MESSAGE) };
    const { code, message } = error as Error & { readonly code?: unknown };
    return {
      code: typeof code === 'string' ? kept(code, MAX_CODE) : 'internal',
      message: kept(String(message), MAX_MESSAGE),
    };
  } catch {
    return { code: 'internal', message: 'The error cannot be read.' };
  }
}

/** Characters that some stores refuse become U+FFFD: NUL, and halves of surrogate pairs. */
function kept(text: string, longest: number): string {
  const part = text.length > longest ? `${text.slice(0, longest)}…` : text;
  return Buffer.from(part.replaceAll('\0', '\ufffd')).toString();
}
