/** Notices a thread that does nothing but one thing. */
import type { Clock, Millis } from '../ports.ts';

/** Looks within the patience. Counted rather than timed: a process that was paused as a whole finds nobody stuck. */
const LOOKS = 8;

export interface Heartbeat {
  readonly clock: Pick<Clock, 'after'>;
  /** How long the thread may leave a question unanswered. It is noticed at most an eighth of it later. */
  readonly patience: Millis;
  /** Answers while the thread is not stuck; rejects when it is gone. */
  readonly ask: () => Promise<unknown>;
  readonly stuck: () => void;
}

/** Asks again and again until the thread is stuck or gone. */
export function watchHeartbeat({ clock, patience, ask, stuck }: Heartbeat): void {
  let unanswered = 0;
  let cancel = (): void => {};
  const look = (): void => {
    if (unanswered >= LOOKS) {
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
    cancel = clock.after(patience / LOOKS, look);
  };
  look();
}
