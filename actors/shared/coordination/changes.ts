/**
 * Waits until something in the service has changed, for pages that show its state.
 *
 * Source: docs/decisions/0151-shared-answers-for-pages.md.
 */
import type { Clock, Ids, Millis } from '@sealwright/runtime';

/** Maximum number of waiting requests; further ones are answered at once. */
const MAX_WAITING = 200;

/** Least time between two announced versions, also after a quiet time. */
const LEAST_MS: Millis = 1000;

/** Versions that may follow each other at the least time, after a quiet time of as many intervals. */
const MAX_ALLOWANCE = 3;

/** A version that callers with an interval receive. */
interface Announcement {
  readonly version: string;
  readonly at: Millis;
  /** Further announcements that were allowed at this time; grows by one in each interval. */
  readonly allowance: number;
}

export class Changes {
  /** Differs in each process, so that a page notices a restart. */
  readonly #process: string;
  /** Ends of the waits for a step. */
  readonly #waiting = new Set<() => void>();
  /** Ends of the waits for the next announcement. */
  readonly #pausing = new Set<() => void>();
  #announced: Announcement | undefined;
  #steps = 0;
  #stopped = false;

  constructor(
    private readonly clock: Pick<Clock, 'after' | 'elapsed'>,
    ids: Pick<Ids, 'uuid'>,
  ) {
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
   * As `wait`, and all callers receive the same version at the same time, so that what they read next can be shared.
   * While there are changes, one version is announced in each `interval`; after a quiet time, the first few are announced
   * one second apart. With too many waiting requests the answer comes at once, perhaps with the version `known`.
   */
  async waitShared(known: string, within: Millis, interval: Millis): Promise<string> {
    const end = this.clock.elapsed() + within;
    while (!this.#stopped) {
      const now = this.clock.elapsed();
      if (known !== this.version) {
        const { version } = this.#announce(now, interval);
        if (version !== known) return version;
      }
      if (now >= end || this.#isFull) return known;
      if (known === this.version) await this.#sleep(this.#waiting, end - now);
      else await this.#sleep(this.#pausing, Math.min(end, this.#nextAt(interval)) - now);
    }
    return this.version;
  }

  /** Resolves all waits. */
  stop(): void {
    this.#stopped = true;
    for (const tell of [...this.#waiting, ...this.#pausing]) tell();
  }

  get #isFull(): boolean {
    return this.#waiting.size + this.#pausing.size >= MAX_WAITING;
  }

  /** Time from which the next version may be announced. */
  #nextAt(interval: Millis): Millis {
    const last = this.#announced;
    if (last === undefined) return 0;
    return last.at + Math.max(Math.min(LEAST_MS, interval), Math.round((1 - last.allowance) * interval));
  }

  /** Announces the current version if it is time; returns the announced one. */
  #announce(now: Millis, interval: Millis): Announcement {
    const last = this.#announced;
    if (last !== undefined && (last.version === this.version || now < this.#nextAt(interval))) return last;
    const allowed =
      last === undefined
        ? MAX_ALLOWANCE
        : Math.min(MAX_ALLOWANCE, last.allowance + (now - last.at) / interval);
    const announced = { version: this.version, at: now, allowance: allowed - 1 };
    this.#announced = announced;
    return announced;
  }

  async #sleep(among: Set<() => void>, within: Millis): Promise<void> {
    if (this.#stopped || this.#isFull) return;
    await new Promise<void>((resolve) => {
      const finish = (): void => {
        cancel();
        among.delete(finish);
        resolve();
      };
      const cancel = this.clock.after(within, finish);
      among.add(finish);
    });
  }

  /** Undefined for a version of another process. */
  #stepsOf(version: string): number | undefined {
    const [name, steps = ''] = version.split('.', 2);
    return name === this.#process && /^\d{1,15}$/.test(steps) ? Number(steps) : undefined;
  }
}
