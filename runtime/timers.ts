/**
 * Fires stored deadlines. They are points of wall-clock time in the store; one alarm waits for the earliest. The
 * alarm is renewed at least every `LOOK_EVERY`, so that a jump of the wall clock is noticed and never trusted.
 * A deadline stays stored until the step that takes its event disarms it: each fires once, a cancelled one never.
 */
import { describeFailure } from './failures.ts';
import type { Faults } from './faults.ts';
import type { Host } from './host.ts';
import type { ActorAddress, ActorStore, Clock, Log, Millis, Step, StoredTimer } from './ports.ts';

/** Longest time without a look at the wall clock, milliseconds. */
const LOOK_EVERY = 30_000;

/** Deadlines fired together. */
const BATCH = 256;

/** How long a deadline whose actor threw or is stopped is left alone, milliseconds. */
const PARK = 10_000;

export interface TimersParts {
  readonly store: ActorStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly faults: Faults;
  readonly host: Pick<Host, 'deliver'>;
}

export class Timers {
  readonly #parts: TimersParts;
  /** Deadlines that could not be told, until when they are left alone (monotonic milliseconds). */
  readonly #parked = new Map<string, { readonly until: number; readonly actor: ActorAddress }>();
  #started = false;
  #looking: Promise<void> | undefined;
  #lookAgain = false;
  #alarm: { readonly at: Millis; readonly cancel: () => void } | undefined;

  constructor(parts: TimersParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#started = true;
    this.#wake();
  }

  /** Fires nothing more and waits for what is being told. */
  async stop(): Promise<void> {
    this.#started = false;
    this.#alarm?.cancel();
    this.#alarm = undefined;
    await this.#looking;
  }

  /** A step was committed: an earlier deadline may have been armed, a stopped actor restarted. */
  committed(step: Step): void {
    if (!this.#started) return;
    if (this.#looking !== undefined) this.#lookAgain = true;
    for (const { due } of step.timers.arm)
      if (this.#alarm === undefined || due < this.#alarm.at) this.#setAlarm(due);
  }

  /** An actor was brought back: its deadlines need not wait any longer. */
  unpark(actor: ActorAddress): void {
    for (const [key, parked] of this.#parked) {
      if (parked.actor.kind === actor.kind && parked.actor.id === actor.id) this.#parked.delete(key);
    }
    this.#wake();
  }

  #wake(): void {
    if (!this.#started) return;
    if (this.#looking !== undefined) {
      this.#lookAgain = true;
      return;
    }
    this.#looking = this.#look().finally(() => {
      this.#looking = undefined;
      if (this.#lookAgain) this.#wake();
    });
  }

  #setAlarm(due: Millis): void {
    const { clock } = this.#parts;
    this.#alarm?.cancel();
    const delay = Math.max(0, Math.min(LOOK_EVERY, due - clock.now()));
    this.#alarm = { at: due, cancel: clock.after(delay, () => this.#wake()) };
  }

  async #look(): Promise<void> {
    const { store, clock, log } = this.#parts;
    this.#lookAgain = false;
    this.#alarm?.cancel();
    this.#alarm = undefined;
    let next: Millis = clock.now() + LOOK_EVERY;
    try {
      this.#unparkExpired();
      // Parked deadlines come first in the store's order, so they are read along and passed over.
      const fired = new Set<string>();
      for (;;) {
        const due = await store.dueTimers(clock.now(), BATCH + this.#parked.size);
        const ready = due.filter((timer) => !this.#parked.has(keyOf(timer)));
        if (ready.length === 0 || !this.#started) break;
        await Promise.all(ready.map((timer) => this.#fire(timer, fired)));
      }
      const upcoming = await store.dueTimers(clock.now() + LOOK_EVERY, this.#parked.size + 1);
      next = upcoming.find((timer) => !this.#parked.has(keyOf(timer)))?.due ?? next;
      const expiry = [...this.#parked.values()].reduce(
        (first, { until }) => Math.min(first, until),
        Number.POSITIVE_INFINITY,
      );
      next = Math.min(next, clock.now() + Math.max(0, expiry - clock.elapsed()));
    } catch (error) {
      log.error('The deadlines could not be read.', describeFailure(error));
    }
    if (this.#started && !this.#lookAgain) this.#setAlarm(next);
  }

  #unparkExpired(): void {
    const elapsed = this.#parts.clock.elapsed();
    for (const [key, { until }] of this.#parked) if (until <= elapsed) this.#parked.delete(key);
  }

  async #fire(timer: StoredTimer, fired: Set<string>): Promise<void> {
    const { host, clock, log, faults } = this.#parts;
    try {
      if (fired.has(keyOf(timer))) throw new Error('It was told and is still stored.');
      fired.add(keyOf(timer));
      const before = faults.at('timer.due.before-fire');
      if (before !== undefined) await before;
      const { name, due } = timer;
      const outcome = await host.deliver(timer.actor, timer.event, { timer: { name, due } });
      if (outcome.accepted || outcome.because === 'not-accepted') return;
      log.warn('A deadline could not be told; it is tried again.', {
        timer: keyOf(timer),
        because: outcome.because,
      });
    } catch (error) {
      log.warn('A deadline could not be told; it is tried again.', {
        timer: keyOf(timer),
        ...describeFailure(error),
      });
    }
    this.#parked.set(keyOf(timer), { until: clock.elapsed() + PARK, actor: timer.actor });
  }
}

function keyOf(timer: StoredTimer): string {
  return `${timer.actor.kind}/${timer.actor.id}/${timer.due}/${timer.name}`;
}
