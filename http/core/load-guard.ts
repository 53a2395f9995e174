/**
 * Sheds load: refuses requests beyond the capacity at once, before their body is read, so that admitted requests keep
 * their latency and memory stays flat.
 *
 * Two signals: the number and duration of requests of a kind in progress (they wait for the disk or other threads),
 * and the delay of a timer on this thread, which is also checked inside one turn of the event loop that brings many
 * requests. A short peak of either is no overload. A request whose body is still arriving is not counted; otherwise
 * slow clients could exhaust the limit.
 *
 * Source: docs/decisions/0030-load-shedding.md.
 */
import type { Clock, Log } from '@sealwright/runtime';

/** Smaller numbers are never an overload and never a standing queue. */
const MIN_LIMIT = 8;
const MAX_LIMIT = 64;
/**
 * Ratio of the fastest duration to the unloaded duration in a standing queue, and the interval for which it must
 * hold, milliseconds.
 */
const TARGET_RATIO = 4;
const INTERVAL_MS = 500;
/** Assumed unloaded duration before the first measurement, milliseconds. */
const INITIAL_DELAY_MS = 1000;
/** Ratio of the permitted duration to the unloaded duration during overload. */
const SLOWDOWN_RATIO = 1.6;
/** Weight of the newest unloaded sample in the moving average. */
const SMOOTHING_FACTOR = 0.1;
/** Length of a measurement interval, milliseconds, and the minimum number of requests in it. */
const CHECK_INTERVAL_MS = 100;
const MIN_COMPLETIONS = 5;

/**
 * Tracks the requests of one kind in progress, and limits their number during overload.
 *
 * Overload begins when a queue persists: for half a second, even the fastest request takes about `TARGET_RATIO` times
 * its unloaded duration (CoDel, RFC 8289, tells a standing queue from a burst in this way). A burst, or requests that
 * waited for a disk or a suspended machine, drains in the meantime, and then one request is fast again. During
 * overload the limit is the number of requests that complete within the permitted duration: by Little's law,
 * completions per millisecond times the permitted milliseconds.
 */
class QueueDelay {
  #working = 0;
  #begun = 0;
  /** Requests since the timer that rang last. */
  #arrived = 0;
  #ring = 0;
  /** Unloaded duration, milliseconds; undefined before the first sample. */
  #alone: number | undefined;
  /** Interval since which a queue persists. */
  #standsSince: number | undefined;
  /** Undefined outside overload. */
  #bound: number | undefined;
  /** The current interval: its start, its completions and its minimum duration. */
  #since = 0;
  #done = 0;
  #minDelay = Number.POSITIVE_INFINITY;

  get hasRoom(): boolean {
    return this.#bound === undefined || this.#working < this.#bound;
  }

  /** Counts a request. True: it is one of so few that they cause no delay. @param ring number of the timer that rang last */
  arrivesRarely(ring: number): boolean {
    if (this.#ring !== ring) this.#arrived = 0;
    this.#ring = ring;
    this.#arrived += 1;
    return this.#arrived <= FEW;
  }

  /** @param now `Clock.elapsed`, as in every method */
  requestStarted(now: number): (now: number, isDone: boolean) => void {
    const beganAlone = this.#working === 0;
    this.#working += 1;
    this.#begun += 1;
    const number = this.#begun;
    return (end, isDone) => {
      this.#working -= 1;
      if (this.#working < MAX_LIMIT) this.#standsSince = undefined;
      // A request that is refused or fails for lack of resources is no sample of a duration.
      if (!isDone) return;
      if (beganAlone && this.#begun === number) this.#recordUncontended(end - now);
      this.#done += 1;
      this.#minDelay = Math.min(this.#minDelay, end - now);
      if (this.#done >= MIN_COMPLETIONS && end - this.#since >= CHECK_INTERVAL_MS) this.#check(end);
    };
  }

  /** Ends the overload. */
  endOverload(): void {
    this.#bound = undefined;
  }

  #recordUncontended(millis: number): void {
    // During overload a single request is no unloaded sample: others were refused, and their remains slow it down.
    if (this.#bound !== undefined) return;
    this.#alone =
      this.#alone === undefined ? millis : this.#alone + SMOOTHING_FACTOR * (millis - this.#alone);
  }

  #check(now: number): void {
    const alone = this.#alone ?? INITIAL_DELAY_MS;
    const isSlow = this.#minDelay > TARGET_RATIO * alone;
    const rate = this.#done / (now - this.#since);
    this.#since = now;
    this.#done = 0;
    this.#minDelay = Number.POSITIVE_INFINITY;
    if (this.#bound === undefined) {
      this.#standsSince = isSlow && this.#working >= MAX_LIMIT ? (this.#standsSince ?? now) : undefined;
      if (this.#standsSince === undefined || now - this.#standsSince < INTERVAL_MS) return;
      this.#standsSince = undefined;
    }
    this.#bound = Math.max(MIN_LIMIT, Math.ceil(rate * alone * SLOWDOWN_RATIO));
  }
}

export interface LoadLimits {
  /** Maximum number of requests in progress. Whole number, at least 1. @default 1024 */
  readonly rush?: number;
}

/** Period of the timer while requests arrive, and its permitted delay, milliseconds. */
const TICK_MS = 5;
const LATE_MS = 10;
/** Number of late timers in a row that means overload. */
const LATE_TICKS = 5;
/** Requests admitted between two timers at any delay: too few to cause it. */
const MIN_CONCURRENCY = 64;
/** Requests of one kind between two timers that are admitted at any delay, such as those of an operator who looks on. */
const FEW = 4;
/** Time without a refusal after which the overload ends, milliseconds. */
const RECOVERY_MS = 1000;

export interface LoadGuard {
  /** False for a request to refuse. Call once per request. @param kind requests of the same cost: a route */
  admits(kind: object): boolean;
  /**
   * Counts a request as in progress until the returned function is called once; pass true when the request succeeded.
   */
  requestStarted(kind: object): (isDone: boolean) => void;
  /** Requests in progress. */
  readonly working: number;
  /** Requests refused since the start. */
  readonly refused: number;
}

/** @param log receives the beginning and end of overload, since refused requests have no line of their own */
export function createLoadGuard(
  clock: Pick<Clock, 'elapsed' | 'after'>,
  log: Pick<Log, 'warn' | 'info'>,
  { rush = 1024 }: LoadLimits = {},
): LoadGuard {
  const kinds = new Map<object, QueueDelay>();
  let working = 0;
  let refused = 0;
  /** Time at which the overload ends without further refusals; undefined outside overload. */
  let overloadedUntil: number | undefined;
  let refusedBefore = 0;
  /** Undefined while no requests arrive. */
  let due: number | undefined;
  let rings = 0;
  let lateRings = 0;
  let arrived = 0;

  const workload = (kind: object): QueueDelay => {
    const known = kinds.get(kind);
    if (known !== undefined) return known;
    const made = new QueueDelay();
    kinds.set(kind, made);
    return made;
  };
  const arm = (now: number): void => {
    due = now + TICK_MS;
    arrived = 0;
    clock.after(TICK_MS, ring);
  };
  const ring = (): void => {
    const now = clock.elapsed();
    rings += 1;
    lateRings = due !== undefined && now - due > LATE_MS ? lateRings + 1 : 0;
    if (overloadedUntil !== undefined && now > overloadedUntil) {
      overloadedUntil = undefined;
      for (const kind of kinds.values()) kind.endOverload();
      log.info('What is asked for can be done again.', { Refused: refused - refusedBefore });
    }
    if (arrived > 0 || overloadedUntil !== undefined) arm(now);
    else due = undefined;
  };
  const refuse = (now: number): void => {
    if (overloadedUntil === undefined) {
      refusedBefore = refused;
      log.warn('More is asked for than can be done; what is too much is refused.', { Working: working });
    }
    overloadedUntil = now + RECOVERY_MS;
    refused += 1;
  };

  return {
    admits(kind) {
      const now = clock.elapsed();
      if (due === undefined) arm(now);
      arrived += 1;
      const ofKind = workload(kind);
      const isRare = ofKind.arrivesRarely(rings);
      const late = lateRings >= LATE_TICKS && arrived > MIN_CONCURRENCY && now - (due ?? now) > LATE_MS;
      if ((isRare || !late) && working < rush && ofKind.hasRoom) return true;
      refuse(now);
      return false;
    },
    requestStarted(kind) {
      working += 1;
      const end = workload(kind).requestStarted(clock.elapsed());
      return (isDone) => {
        working -= 1;
        end(clock.elapsed(), isDone);
      };
    },
    get working() {
      return working;
    },
    get refused() {
      return refused;
    },
  };
}
