/** Detects a thread whose event loop is blocked. */
import type { Clock, Millis } from '../model/ports.ts';

/**
 * Polls within the time limit. Counted rather than timed, so that a pause of the whole process reports no stuck thread.
 */
const PROBES_PER_TIMEOUT = 8;

export interface Heartbeat {
  readonly clock: Pick<Clock, 'after'>;
  /** Time limit for an answer, milliseconds. A stuck thread is detected at most an eighth of it later. */
  readonly timeoutMs: Millis;
  /** Resolves while the thread is not stuck; rejects when it has ended. */
  readonly ping: () => Promise<unknown>;
  readonly onStuck: () => void;
}

/** Polls until the thread is stuck or has ended. */
export function watchHeartbeat({ clock, timeoutMs, ping: ask, onStuck: stuck }: Heartbeat): void {
  let unanswered = 0;
  let cancel = (): void => {};
  const look = (): void => {
    if (unanswered >= PROBES_PER_TIMEOUT) {
      stuck();
      return;
    }
    if (unanswered === 0) {
      ask().then(
        () => {
          unanswered = 0;
        },
        () => cancel(),
      );
    }
    unanswered += 1;
    cancel = clock.after(timeoutMs / PROBES_PER_TIMEOUT, look);
  };
  look();
}
