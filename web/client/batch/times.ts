/** Clock of the service, and the form of times that the reader chose; this browser keeps the choice. */
import type { TimeMode } from '../../components/time.tsx';
import { currentTime } from '../dom.ts';

const STORED_NAME = 'sealwright.times';
/** The service tells its time in whole seconds, and the answer takes a while. */
const TOLERANCE_MS = 3_000;

/** Correction of this browser's clock, milliseconds. */
let offset = 0;

/** Compares the clocks. @param date header of an answer that has just come */
export function noteServerTime(date: string | null): void {
  const difference = Date.parse(date ?? '') - currentTime();
  if (Number.isNaN(difference)) return;
  offset = Math.abs(difference) > TOLERANCE_MS ? difference : 0;
}

/** Time by the service's clock: a browser whose clock is wrong shows right distances. */
export function serverNow(): number {
  return currentTime() + offset;
}

/** Reads the choice. @default relative */
export function timeMode(): TimeMode {
  try {
    const stored = localStorage.getItem(STORED_NAME);
    return stored === 'utc' || stored === 'local' ? stored : 'relative';
  } catch {
    return 'relative';
  }
}

export function keepTimeMode(mode: TimeMode): void {
  try {
    localStorage.setItem(STORED_NAME, mode);
  } catch {
    // Without storage the choice holds for this page.
  }
}
