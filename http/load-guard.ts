/**
 * Keeps a service that is asked for too much from drowning: what comes in beyond what it can do is refused at once,
 * before its body is read, so that what was let in is answered about as fast as ever and memory stays flat.
 *
 * Two things are looked at. How many requests are being worked on: those that wait for the disk or other threads
 * while this one has time. And how late this thread is: a timer that should have rung says so, also in the middle of
 * a round of the event loop that brought too many requests. Both may be much for a moment; what lasts is overload.
 * A request whose body is still arriving is not counted, or slow clients could keep everybody out.
 *
 * Source: architecture §3; docs/decisions/0030.
 */
import { Refusal } from '../machines/refusals.ts';
import type { Clock } from '../runtime/index.ts';

export interface LoadLimits {
  /** Requests worked on at once, however short the rush. @default 1024 */
  readonly rush?: number;
  /** Requests worked on at once when that lasts. @default 48 */
  readonly lasting?: number;
}

/** What lasts longer is no rush, in milliseconds. */
const PATIENCE = 200;
/** Without a refusal for so long the overload is over, in milliseconds. */
const CALM = 1000;
/** How often the timer rings while requests come, and how late it may be, in milliseconds. */
const TICK = 5;
const LATE = 10;
/** A thread that was late so many times in a row has too much to do; once may be anything. */
const LATE_RINGS = 5;
/** Requests let in between two rings however late it is: too few to be the reason. */
const FEW = 64;

export interface LoadGuard {
  /** Refusals: `service.busy`. */
  check(): void;
  /** A request is being worked on, until `end`. */
  begin(): void;
  end(): void;
  /** Requests worked on. */
  readonly working: number;
  /** Requests refused so far. */
  readonly refused: number;
}

export function createLoadGuard(
  clock: Pick<Clock, 'elapsed' | 'after'>,
  { rush = 1024, lasting = 48 }: LoadLimits = {},
): LoadGuard {
  let working = 0;
  let refused = 0;
  /** Since when as much is worked on as may last; meaningless while it is less. */
  let muchSince = 0;
  let overloadedUntil = 0;
  /** Undefined while no requests come. */
  let due: number | undefined;
  let lateRings = 0;
  let arrived = 0;

  const arm = (now: number): void => {
    due = now + TICK;
    arrived = 0;
    clock.after(TICK, ring);
  };
  const ring = (): void => {
    const now = clock.elapsed();
    lateRings = due !== undefined && now - due > LATE ? lateRings + 1 : 0;
    if (arrived > 0) arm(now);
    else due = undefined;
  };

  return {
    check() {
      const now = clock.elapsed();
      if (due === undefined) arm(now);
      arrived += 1;
      const lasts = now < overloadedUntil || (working >= lasting && now - muchSince > PATIENCE);
      const late = lateRings >= LATE_RINGS && arrived > FEW && now - (due ?? now) > LATE;
      if (!late && working < (lasts ? Math.min(lasting, rush) : rush)) return;
      overloadedUntil = now + CALM;
      refused += 1;
      throw new Refusal('service.busy', 'The service has more to do than it can.');
    },
    begin() {
      working += 1;
      if (working === lasting) muchSince = clock.elapsed();
    },
    end() {
      working -= 1;
    },
    get working() {
      return working;
    },
    get refused() {
      return refused;
    },
  };
}
