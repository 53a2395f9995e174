/** Pauses between tries. */
import type { Ids, Millis, StoredEffect } from './ports.ts';

/** Pause after the first failed try, milliseconds. */
const FIRST = 1000;
/** No pause is longer, milliseconds. */
export const LONGEST_PAUSE = 5 * 60_000;

/**
 * The pause after the `failures`-th failure in a row (from 1): 1 s, 2 s, 4 s … 5 min, each up to a quarter shorter,
 * so that what failed together does not come back together.
 */
export function pauseAfter(failures: number, ids: Ids): Millis {
  const full = Math.min(LONGEST_PAUSE, FIRST * 2 ** Math.min(failures - 1, 30));
  return Math.round(full * (1 - ids.bytes(2).readUInt16BE(0) / 0x10000 / 4));
}

/** No effect is due later than this: nobody asks for one that is to begin later, so only what failed has to wait. */
export function latestDue({ failures }: Pick<StoredEffect, 'failures'>, now: Millis): Millis {
  return failures === 0 ? now : now + LONGEST_PAUSE;
}
