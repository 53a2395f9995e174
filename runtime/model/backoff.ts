/** Pauses between attempts of effects. */
import type { Ids, Millis, StoredEffect } from './ports.ts';

/** Start of the stored error of an effect that is set aside. */
export const SET_ASIDE = 'effect.set-aside';

/** Stored error of an effect that was set aside and is asked for. */
export const ASKED = 'It runs again, as an operator asked.';

/** True for an effect that was set aside, and now has one attempt more: after a start, or because it was asked for. */
export function hasOneMoreAttempt({ lastError }: StoredEffect): boolean {
  return lastError === ASKED || lastError?.startsWith(SET_ASIDE) === true;
}

/** Longest pause, milliseconds. */
export const MAX_BACKOFF_MS = 5 * 60_000;

/**
 * Returns the pause after the `failures`-th failure in a row (from 1): 1 s, 2 s, 4 s … 5 min, each shortened at random
 * by up to a quarter, so that what failed together is not retried together.
 */
export function effectPause(failures: number, ids: Ids): Millis {
  const pause = Math.min(MAX_BACKOFF_MS, 1000 * 2 ** (failures - 1));
  return Math.round(pause * (1 - ids.bytes(2).readUInt16BE(0) / 0x40000));
}

/** Returns the latest valid due time of an effect: only failed effects are scheduled in the future. */
export function latestDue({ failures }: Pick<StoredEffect, 'failures'>, now: Millis): Millis {
  return failures === 0 ? now : now + MAX_BACKOFF_MS;
}
