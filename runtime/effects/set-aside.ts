/**
 * Effects that are set aside: tries do not help. Such an effect stays stored, is listed among the failed ones, and runs
 * again after the next start, which may be of a program without the fault, or when an operator asks.
 */

/** Start of the stored error. */
export const SET_ASIDE = 'effect.set-aside';

/** Pause, milliseconds: ten years. The next start shortens it; see `latestDue`. */
export const SET_ASIDE_MS = 3650 * 24 * 3_600_000;

/** Wraps the error after which an effect is set aside. */
export class SetAside extends Error {
  override readonly cause: unknown;
  constructor(cause: unknown) {
    super('The effect is set aside.');
    this.cause = cause;
  }
}
