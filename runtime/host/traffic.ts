/**
 * Counts the messages of the actors of each kind since the start of the process, and their recent rate. Recording a
 * message costs two increments.
 */
import { performance } from 'node:perf_hooks';

/** Shortest time that is measured: readers within it receive the same share. */
const MIN_WINDOW_MS = 1000;

/** Measures how busy the event loop of the current thread is. */
export class LoopUtilisation {
  #begin = performance.eventLoopUtilization();
  #last: number | undefined;

  /** Share of the time since the read before, 0 to 1; at first since the creation of this object. */
  read(): number {
    const current = performance.eventLoopUtilization();
    const { idle, active } = performance.eventLoopUtilization(current, this.#begin);
    const window = idle + active;
    if (this.#last !== undefined && window < MIN_WINDOW_MS) return this.#last;
    this.#last = window > 0 ? Math.min(1, Math.max(0, active / window)) : 0;
    this.#begin = current;
    return this.#last;
  }
}

/** Seconds that count as recent. */
const WINDOW = 60;

export interface KindTraffic {
  /** Messages that led to a step. */
  readonly accepted: number;
  /** Messages that the machine did not accept, or that were duplicates. */
  readonly refused: number;
  /** Steps that threw; each left its actor in its last committed state. */
  readonly restarts: number;
  /** Messages per second over the last minute, or since the start if that is less. */
  readonly perSecond: number;
  /** Error of the last step that threw; null when none did. */
  readonly lastError: { readonly actor: string; readonly message: string } | null;
}

interface Tally {
  accepted: number;
  refused: number;
  restarts: number;
  lastError: KindTraffic['lastError'];
  /** Messages of each of the last seconds, and the second of each entry. */
  readonly counts: Int32Array;
  readonly seconds: Float64Array;
}

export class Traffic {
  readonly #elapsed: () => number;
  readonly #started: number;
  readonly #kinds = new Map<string, Tally>();

  /** @param elapsed monotonic milliseconds */
  constructor(elapsed: () => number) {
    this.#elapsed = elapsed;
    this.#started = elapsed();
  }

  recordMessage(kind: string, accepted: boolean): void {
    const tally = this.#tally(kind);
    if (accepted) tally.accepted += 1;
    else tally.refused += 1;
    const second = Math.floor(this.#elapsed() / 1000);
    const slot = second % WINDOW;
    if (tally.seconds[slot] !== second) {
      tally.seconds[slot] = second;
      tally.counts[slot] = 0;
    }
    tally.counts[slot] = (tally.counts[slot] ?? 0) + 1;
  }

  recordFailure(kind: string, actor: string, message: string): void {
    const tally = this.#tally(kind);
    tally.restarts += 1;
    tally.lastError = { actor, message };
  }

  /** Returns the traffic by kind, without idle kinds. */
  reports(): { readonly [kind: string]: KindTraffic } {
    return Object.fromEntries([...this.#kinds].map(([kind, tally]) => [kind, this.#report(tally)]));
  }

  #report(tally: Tally): KindTraffic {
    const now = this.#elapsed();
    const second = Math.floor(now / 1000);
    let recent = 0;
    for (const [slot, at] of tally.seconds.entries())
      if (at > second - WINDOW && at <= second) recent += tally.counts[slot] ?? 0;
    const span = Math.min(WINDOW, Math.max(1, (now - this.#started) / 1000));
    const { accepted, refused, restarts, lastError } = tally;
    return { accepted, refused, restarts, lastError, perSecond: recent / span };
  }

  #tally(kind: string): Tally {
    let tally = this.#kinds.get(kind);
    if (tally === undefined) {
      tally = {
        accepted: 0,
        refused: 0,
        restarts: 0,
        lastError: null,
        counts: new Int32Array(WINDOW),
        seconds: new Float64Array(WINDOW).fill(-1),
      };
      this.#kinds.set(kind, tally);
    }
    return tally;
  }
}
