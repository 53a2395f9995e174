import type { Clock, Millis } from '@sealwright/runtime';

/** Work that is done now and, after each end, again after a pause. */
export class RepeatedWork {
  #isStopped = false;
  #cancelNext: () => void = () => {};
  #running: Promise<void> = Promise.resolve();

  /** @param failed is told of a failure; the work is tried again after the pause */
  constructor(
    private readonly clock: Pick<Clock, 'after'>,
    private readonly pause: Millis,
    private readonly work: () => Promise<unknown>,
    private readonly failed: (error: unknown) => void,
  ) {
    this.#next();
  }

  /** Resolves when the work in progress has ended. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancelNext();
    await this.#running;
  }

  #next(): void {
    this.#running = this.work()
      .catch(this.failed)
      .then(() => {
        if (!this.#isStopped) this.#cancelNext = this.clock.after(this.pause, () => this.#next());
      });
  }
}
