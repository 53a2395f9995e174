/**
 * Gives answers that come soon after each other in one turn: what follows them shares steps, transactions, syncs and the
 * next claim. Tasks that wait for the network end one by one, and each would pay for all of that alone.
 */
import type { Clock } from '@sealwright/runtime';

/** Longest wait of an answer, milliseconds; a service takes several times that for a signature. */
const LONGEST_WAIT_MS = 15;
/** As many as the tasks of a batch. */
const MOST = 16;

export class AnswersTogether {
  #waiting: (() => void)[] = [];

  constructor(private readonly clock: Pick<Clock, 'sleep'>) {}

  add(give: () => void): void {
    const group = this.#waiting;
    group.push(give);
    if (group.length >= MOST) this.give();
    else if (group.length === 1)
      void this.clock.sleep(LONGEST_WAIT_MS).then(() => {
        if (this.#waiting === group) this.give();
      });
  }

  /** Gives what waits, at once. */
  give(): void {
    const group = this.#waiting;
    this.#waiting = [];
    for (const give of group) give();
  }
}
