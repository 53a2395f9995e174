/**
 * Waits until something in the service has changed, for pages that show its state.
 *
 * Source: docs/decisions/0151-shared-answers-for-pages.md.
 */
import type { Clock, Ids, Millis } from '../../runtime/index.ts';

/** Maximum number of waiting requests; further ones are answered at once. */
const MAX_WAITING = 200;

export class Changes {
  readonly #clock: Pick<Clock, 'after' | 'elapsed'>;
  /** Differs in each process, so that a page notices a restart. */
  readonly #process: string;
  /** Ends of the waits for a step. */
  readonly #waiting = new Set<() => void>();
  /** Ends of the waits for the next announcement. */
  readonly #pausing = new Set<() => void>();
  /** Version that callers with an interval receive, and its time. */
  #announced: { readonly version: string; readonly at: Millis } | undefined;
  #steps = 0;
  #stopped = false;

  constructor(clock: Pick<Clock, 'after' | 'elapsed'>, ids: Pick<Ids, 'uuid'>) {
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

  /** True if what was read at the version `read` includes all steps of the version `asked`. Pure. */
  includes(read: string, asked: string): boolean {
    const [at = 0, wanted] = [read, asked].map((version) => this.#stepsOf(version));
    return wanted !== undefined && at >= wanted;
  }

  /** Resolves when the version differs from `known`, after `within` milliseconds, or at the stop of the service. */
  async wait(known: string, within: Millis): Promise<string> {
    if (known === this.version) await this.#sleep(this.#waiting, within);
    return this.version;
  }

  /**
   * As `wait`, and all callers receive the same version for `interval` milliseconds, so that what they read next can be
   * shared.
   */
  async waitShared(known: string, within: Millis, interval: Millis): Promise<string> {
    const end = this.#clock.elapsed() + within;
    while (!this.#stopped && this.#waiting.size + this.#pausing.size < MAX_WAITING) {
      const now = this.#clock.elapsed();
      const last = this.#announced;
      const isRecent = last !== undefined && now - last.at < interval;
      if (isRecent && last.version !== known) return last.version;
      if (now >= end) return known;
      if (isRecent) await this.#sleep(this.#pausing, Math.min(end, last.at + interval) - now);
      else if (known === this.version) await this.#sleep(this.#waiting, end - now);
      else this.#announced = { version: this.version, at: now };
    }
    return this.version;
  }

  /** Resolves all waits. */
  stop(): void {
    this.#stopped = true;
    for (const tell of [...this.#waiting, ...this.#pausing]) tell();
  }

  async #sleep(among: Set<() => void>, within: Millis): Promise<void> {
    if (this.#stopped || this.#waiting.size + this.#pausing.size >= MAX_WAITING) return;
    await new Promise<void>((resolve) => {
      const finish = (): void => {
        cancel();
        among.delete(finish);
        resolve();
      };
      const cancel = this.#clock.after(within, finish);
      among.add(finish);
    });
  }

  /** Undefined for a version of another process. */
  #stepsOf(version: string): number | undefined {
    const [name, steps = ''] = version.split('.', 2);
    return name === this.#process && /^\d{1,15}$/.test(steps) ? Number(steps) : undefined;
  }
}
