import { type Clock, systemClock } from '@sealwright/runtime';

/** The machine's clock, made to run faster by `haste`: an hour of pauses between tries takes seconds. */
export class HastyClock implements Clock {
  #speed = 1;
  #wall = systemClock.now();
  #elapsed = 0;
  #mark = systemClock.elapsed();

  haste(speed: number): void {
    const passed = this.#passed();
    this.#wall += passed;
    this.#elapsed += passed;
    this.#mark = systemClock.elapsed();
    this.#speed = speed;
  }

  now(): number {
    return Math.floor(this.#wall + this.#passed());
  }

  elapsed(): number {
    return this.#elapsed + this.#passed();
  }

  after(delay: number, task: () => void): () => void {
    return systemClock.after(delay / this.#speed, task);
  }

  sleep(delay: number, signal?: AbortSignal): Promise<void> {
    return systemClock.sleep(delay / this.#speed, signal);
  }

  #passed(): number {
    return (systemClock.elapsed() - this.#mark) * this.#speed;
  }
}
