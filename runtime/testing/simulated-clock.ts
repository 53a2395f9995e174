/** A clock for tests that advances only through `advance`. */
import { sleepWith } from '../model/clock.ts';
import type { Clock, Millis } from '../model/ports.ts';

interface Alarm {
  readonly at: number;
  readonly order: number;
  readonly task: () => void;
}

/**
 * A clock that advances only through `advance`. Alarms follow elapsed time, so that a jump of the wall clock neither
 * fires nor delays them, as with the system clock.
 */
export class SimulatedClock implements Clock {
  #wall: Millis;
  #elapsed = 0;
  #order = 0;
  #alarms: Alarm[] = [];

  constructor(start: Millis = Date.UTC(2026, 0, 1)) {
    this.#wall = start;
  }

  now(): Millis {
    return this.#wall;
  }

  elapsed(): number {
    return this.#elapsed;
  }

  /** Number of pending alarms. */
  get pending(): number {
    return this.#alarms.length;
  }

  /** Milliseconds until the next alarm; infinite when there is none. */
  get untilNext(): Millis {
    return this.#alarms.reduce((least, { at }) => Math.min(least, at - this.#elapsed), Infinity);
  }

  after(delay: Millis, task: () => void): () => void {
    const alarm: Alarm = { at: this.#elapsed + Math.max(0, delay), order: this.#order++, task };
    this.#alarms.push(alarm);
    return () => {
      this.#alarms = this.#alarms.filter((other) => other !== alarm);
    };
  }

  sleep(delay: Millis, signal?: AbortSignal): Promise<void> {
    return sleepWith((wait, task) => this.after(wait, task), delay, signal);
  }

  /** Advances by `duration` milliseconds: alarms fire in the order of their times, including those set meanwhile. */
  advance(duration: Millis): void {
    const end = this.#elapsed + duration;
    for (;;) {
      const next = this.#earliest(end);
      if (next === undefined) break;
      this.#alarms = this.#alarms.filter((other) => other !== next);
      this.#moveTo(Math.max(next.at, this.#elapsed));
      next.task();
    }
    this.#moveTo(end);
  }

  /** Sets the wall clock forward (or back, if negative) by `difference` milliseconds; no time elapses. */
  setWallClock(difference: Millis): void {
    this.#wall += difference;
  }

  #moveTo(elapsed: number): void {
    this.#wall += elapsed - this.#elapsed;
    this.#elapsed = elapsed;
  }

  #earliest(end: number): Alarm | undefined {
    let best: Alarm | undefined;
    for (const alarm of this.#alarms) {
      if (alarm.at > end) continue;
      if (best === undefined || alarm.at < best.at || (alarm.at === best.at && alarm.order < best.order))
        best = alarm;
    }
    return best;
  }
}
