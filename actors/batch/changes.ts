/** Waits until something in the service has changed, for pages that show its state. */
import type { Clock, Ids, Millis } from '../../runtime/index.ts';

/** Maximum number of waiting requests; further ones are answered at once. */
const MAX_WAITING = 200;

export class Changes {
  readonly #clock: Pick<Clock, 'after'>;
  /** Differs in each process, so that a page notices a restart. */
  readonly #process: string;
  readonly #waiting = new Set<() => void>();
  #steps = 0;
  #stopped = false;

  constructor(clock: Pick<Clock, 'after'>, ids: Pick<Ids, 'uuid'>) {
    this.#clock = clock;
    this.#process = ids.uuid();
  }

  /** Counts a committed step. */
  observe(): void {
    this.#steps += 1;
    for (const tell of [...this.#waiting]) tell();
  }

  /** Text that changes with each step. */
  get version(): string {
    return `${this.#process}.${this.#steps}`;
  }

  /** Resolves when the version differs from `known`, after `within` milliseconds, or at the stop of the service. */
  async wait(known: string, within: Millis): Promise<string> {
    if (known === this.version && !this.#stopped && this.#waiting.size < MAX_WAITING) {
      await new Promise<void>((resolve) => {
        const finish = (): void => {
          cancel();
          this.#waiting.delete(finish);
          resolve();
        };
        const cancel = this.#clock.after(within, finish);
        this.#waiting.add(finish);
      });
    }
    return this.version;
  }

  /** Resolves all waits. */
  stop(): void {
    this.#stopped = true;
    for (const tell of [...this.#waiting]) tell();
  }
}
