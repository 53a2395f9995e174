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
import type { Clock, Log } from '../../../runtime/index.ts';
import { QueueDelay } from './queue-delay.ts';

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
      const late = lateRings >= LATE_TICKS && arrived > MIN_CONCURRENCY && now - (due ?? now) > LATE_MS;
      if (!late && working < rush && workload(kind).hasRoom) return true;
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
