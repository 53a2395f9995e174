/** Waits for the ends of jobs, for requests that return the result of the job. */

import type { Clock, Millis, Step } from '@sealwright/runtime';
import { type JobState, TERMINAL_STATES } from '../../../machines/batch/job-context.ts';
import { JOB } from '../job-records/kinds.ts';

/** Maximum number of waiting requests; further ones are answered at once. */
const MAX_WAITING = 1000;

export class JobEnds {
  readonly #clock: Pick<Clock, 'after'>;
  /** Callbacks by job id. */
  readonly #listeners = new Map<string, Set<() => void>>();
  #waiting = 0;
  #stopped = false;

  constructor(clock: Pick<Clock, 'after'>) {
    this.#clock = clock;
  }

  /** Processes a committed step. */
  observe({ actor: { address, state } }: Step): void {
    if (this.#waiting === 0 || address.kind !== JOB) return;
    if (!TERMINAL_STATES.includes(state as JobState)) return;
    for (const listener of [...(this.#listeners.get(address.id) ?? [])]) listener();
  }

  /**
   * Resolves at the job's end, after `within` milliseconds, or at the stop of the service. Does not notice an end
   * before the call: the caller reads the job after calling this.
   */
  async wait(id: string, within: Millis): Promise<void> {
    if (this.#stopped || this.#waiting >= MAX_WAITING) return;
    this.#waiting += 1;
    const listeners = this.#listeners.get(id) ?? new Set();
    this.#listeners.set(id, listeners);
    await new Promise<void>((resolve) => {
      const finish = (): void => {
        cancel();
        listeners.delete(finish);
        if (listeners.size === 0) this.#listeners.delete(id);
        resolve();
      };
      const cancel = this.#clock.after(within, finish);
      listeners.add(finish);
    });
    this.#waiting -= 1;
  }

  /** Resolves all waits. */
  stop(): void {
    this.#stopped = true;
    for (const listeners of [...this.#listeners.values()]) for (const listener of [...listeners]) listener();
  }
}
