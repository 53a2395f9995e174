/**
 * Fires stored deadlines. They are points of wall-clock time in the store; one alarm is set for the earliest. The alarm
 * is renewed at least every `CHECK_INTERVAL_MS`, so that a jump of the wall clock is detected. A deadline stays stored
 * until the step that consumes its event disarms it: each fires once, a canceled one never.
 */

import type { Host } from '../host/host.ts';
import { describeFailure } from '../model/failures.ts';
import type { Faults } from '../model/faults.ts';
import type { ActorAddress, ActorStore, Clock, Log, Millis, Step, StoredTimer } from '../model/ports.ts';

/** Longest interval between two reads of the wall clock, milliseconds. */
const CHECK_INTERVAL_MS = 30_000;

/** Pause before the next read when the store did not answer, milliseconds. */
const STORE_PAUSE_MS = 1000;

/** Deadlines fired together. */
const BATCH = 256;

/** Pause for a deadline whose actor threw or is stopped, milliseconds. */
const PARK_MS = 10_000;

export class Timers {
  /** Paused deadlines and the end of their pauses (monotonic milliseconds). */
  readonly #parked = new Map<string, { readonly until: number; readonly actor: ActorAddress }>();
  #started = false;
  #polling: Promise<void> | undefined;
  #pollAgain = false;
  #alarm: { readonly at: Millis; readonly cancel: () => void } | undefined;

  constructor(
    private readonly needs: {
      readonly store: ActorStore;
      readonly clock: Clock;
      readonly log: Log;
      readonly faults: Faults;
      readonly host: Pick<Host, 'deliver'>;
      /** Called with the actor that did not accept a deadline. */
      readonly onUnaccepted: (actor: ActorAddress, what: 'deadline') => void;
    },
  ) {}

  start(): void {
    this.#started = true;
    this.wake();
  }

  /** Fires nothing more and waits for deliveries in progress. */
  async stop(): Promise<void> {
    this.#started = false;
    this.#alarm?.cancel();
    this.#alarm = undefined;
    await this.#polling;
  }

  /** Handles a committed step: an earlier deadline may have been armed, a stopped actor restarted. */
  committed(step: Step): void {
    if (!this.#started) return;
    if (this.#polling !== undefined) this.#pollAgain = true;
    for (const { due } of step.timers.arm)
      if (this.#alarm === undefined || due < this.#alarm.at) this.#setAlarm(due);
  }

  /** Ends the pauses of the deadlines of a restarted actor. */
  unpark(actor: ActorAddress): void {
    for (const [key, parked] of this.#parked) {
      if (parked.actor.kind === actor.kind && parked.actor.id === actor.id) this.#parked.delete(key);
    }
    this.wake();
  }

  /** Reads the store: deadlines may have been added by others. */
  wake(): void {
    if (!this.#started) return;
    if (this.#polling !== undefined) {
      this.#pollAgain = true;
      return;
    }
    this.#polling = this.#poll().finally(() => {
      this.#polling = undefined;
      if (this.#pollAgain) this.wake();
    });
  }

  #setAlarm(due: Millis): void {
    const { clock } = this.needs;
    this.#alarm?.cancel();
    const delay = Math.max(0, Math.min(CHECK_INTERVAL_MS, due - clock.now()));
    this.#alarm = { at: due, cancel: clock.after(delay, () => this.wake()) };
  }

  async #poll(): Promise<void> {
    const { store, clock, log } = this.needs;
    this.#pollAgain = false;
    this.#alarm?.cancel();
    this.#alarm = undefined;
    let next: Millis = clock.now() + CHECK_INTERVAL_MS;
    try {
      this.#unparkExpired();
      // Paused deadlines come first in the store's order, so they are read and skipped.
      const fired = new Set<string>();
      for (;;) {
        const due = await store.dueTimers(clock.now(), BATCH + this.#parked.size);
        const ready = due.filter((timer) => !this.#parked.has(keyOf(timer)));
        if (ready.length === 0 || !this.#started) break;
        await Promise.all(ready.map((timer) => this.#fire(timer, fired)));
      }
      const upcoming = await store.dueTimers(clock.now() + CHECK_INTERVAL_MS, this.#parked.size + 1);
      next = upcoming.find((timer) => !this.#parked.has(keyOf(timer)))?.due ?? next;
      const expiry = [...this.#parked.values()].reduce(
        (first, { until }) => Math.min(first, until),
        Number.POSITIVE_INFINITY,
      );
      next = Math.min(next, clock.now() + Math.max(0, expiry - clock.elapsed()));
    } catch (error) {
      log.error('The deadlines could not be read.', describeFailure(error));
      next = clock.now() + STORE_PAUSE_MS;
    }
    if (this.#started && !this.#pollAgain) this.#setAlarm(next);
  }

  #unparkExpired(): void {
    const elapsed = this.needs.clock.elapsed();
    for (const [key, { until }] of this.#parked) if (until <= elapsed) this.#parked.delete(key);
  }

  async #fire(timer: StoredTimer, fired: Set<string>): Promise<void> {
    const { host, clock, log, faults } = this.needs;
    try {
      if (fired.has(keyOf(timer))) throw new Error('It was told and is still stored.');
      fired.add(keyOf(timer));
      const before = faults.at('timer.due.before-fire');
      if (before !== undefined) await before;
      const { name, due } = timer;
      const outcome = await host.deliver(timer.actor, timer.event, { timer: { name, due } });
      if (outcome.accepted || outcome.reason === 'duplicate') return;
      if (outcome.reason === 'not-accepted') {
        log.info('The actor did not accept a deadline.', { timer: keyOf(timer), event: timer.event.type });
        this.needs.onUnaccepted(timer.actor, 'deadline');
        return;
      }
      log.warn('A timer could not be delivered; it is tried again.', {
        timer: keyOf(timer),
        because: outcome.reason,
      });
    } catch (error) {
      log.warn('A timer could not be delivered; it is tried again.', {
        timer: keyOf(timer),
        ...describeFailure(error),
      });
    }
    this.#parked.set(keyOf(timer), { until: clock.elapsed() + PARK_MS, actor: timer.actor });
  }
}

function keyOf(timer: StoredTimer): string {
  return `${timer.actor.kind}/${timer.actor.id}/${timer.due}/${timer.name}`;
}
