/**
 * Keeps a service that is asked for too much from drowning: what comes in beyond what it can do is refused at once,
 * before its body is read, so that what was let in is answered about as fast as ever and memory stays flat.
 *
 * Two things are looked at. How many requests of a kind are being worked on, and for how long: those that wait for the
 * disk or other threads while this one has time. And how late this thread is: a timer that should have rung says so,
 * also in the middle of a round of the event loop that brought too many requests. Both may be much for a moment; what
 * lasts is overload. A request whose body is still arriving is not counted, or slow clients could keep everybody out.
 *
 * Source: architecture §3; docs/decisions/0030.
 */
import type { Clock, Log } from '../runtime/index.ts';
import { Workload } from './workload.ts';

export interface LoadLimits {
  /** Requests worked on at once, however short the rush. Whole number, at least 1. @default 1024 */
  readonly rush?: number;
}

/** How often the timer rings while requests come, and how late it may be, in milliseconds. */
const TICK = 5;
const LATE = 10;
/** A thread that was late so many times in a row has too much to do; once may be anything. */
const LATE_RINGS = 5;
/** Requests let in between two rings however late it is: too few to be the reason. */
const FEW = 64;
/** Without a refusal for so long the overload is over, in milliseconds. */
const CALM = 1000;

export interface LoadGuard {
  /** False for a request that is too much. To be asked once for each. @param kind requests that cost alike, a route */
  admits(kind: object): boolean;
  /** A request is being worked on until what is returned is called, once: with true when what was asked for was done. */
  begin(kind: object): (isDone: boolean) => void;
  /** Requests worked on. */
  readonly working: number;
  /** Requests refused so far. */
  readonly refused: number;
}

/** @param log told when overload begins and ends, since requests that are too much have no line of their own */
export function createLoadGuard(
  clock: Pick<Clock, 'elapsed' | 'after'>,
  log: Pick<Log, 'warn' | 'info'>,
  { rush = 1024 }: LoadLimits = {},
): LoadGuard {
  const kinds = new Map<object, Workload>();
  let working = 0;
  let refused = 0;
  /** When the overload is over if nothing more is refused; undefined while there is none. */
  let overloadedUntil: number | undefined;
  let refusedBefore = 0;
  /** Undefined while no requests come. */
  let due: number | undefined;
  let lateRings = 0;
  let arrived = 0;

  const workload = (kind: object): Workload => {
    const known = kinds.get(kind);
    if (known !== undefined) return known;
    const made = new Workload();
    kinds.set(kind, made);
    return made;
  };
  const arm = (now: number): void => {
    due = now + TICK;
    arrived = 0;
    clock.after(TICK, ring);
  };
  const ring = (): void => {
    const now = clock.elapsed();
    lateRings = due !== undefined && now - due > LATE ? lateRings + 1 : 0;
    if (overloadedUntil !== undefined && now > overloadedUntil) {
      overloadedUntil = undefined;
      for (const kind of kinds.values()) kind.calm();
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
    overloadedUntil = now + CALM;
    refused += 1;
  };

  return {
    admits(kind) {
      const now = clock.elapsed();
      if (due === undefined) arm(now);
      arrived += 1;
      const late = lateRings >= LATE_RINGS && arrived > FEW && now - (due ?? now) > LATE;
      if (!late && working < rush && workload(kind).hasRoom) return true;
      refuse(now);
      return false;
    },
    begin(kind) {
      working += 1;
      const end = workload(kind).begin(clock.elapsed());
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
