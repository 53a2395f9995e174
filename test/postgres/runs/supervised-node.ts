/** A node of a long run, which ends and comes back. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Service } from '../../service/service.ts';

/** A node that is started again whenever it ends, as a supervisor of processes does. */
export class SupervisedNode {
  readonly name: string;
  readonly #start: () => Promise<Service>;
  #service: Service | undefined;
  #isOver = false;
  #running: Promise<void> = Promise.resolve();

  constructor(name: string, start: () => Promise<Service>) {
    this.name = name;
    this.#start = start;
  }

  get service(): Service | undefined {
    return this.#service;
  }

  async begin(): Promise<void> {
    await new Promise<void>((started, failed) => {
      this.#running = this.#supervise(started, failed);
    });
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await this.#service?.stop();
    await this.#running;
  }

  async #supervise(started: () => void, failed: (error: unknown) => void): Promise<void> {
    let hasStarted = false;
    while (!this.#isOver) {
      try {
        const service = await this.#start();
        this.#service = service;
        hasStarted = true;
        started();
        if (this.#isOver) await service.stop();
        await service.gone;
      } catch (error) {
        if (!hasStarted) {
          failed(error);
          return;
        }
        // The database may be away; a supervisor tries again.
        await sleep(200);
      }
      this.#service = undefined;
    }
  }
}
