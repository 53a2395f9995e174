/**
 * Looks at every waiting file again and again until it is complete. One ticker serves all files of a folder;
 * a waiting file costs one small entry and holds no slot between its looks.
 */
import type { Clock } from '../../../runtime/index.ts';
import type { Look, Looker } from './look.ts';
import { createQueue } from './queue.ts';
import type { Track } from './stability.ts';

/** One file on its way from first sight to its offer. It is in exactly one place at a time. */
export interface Waiting {
  readonly fileName: string;
  readonly seen: 'event' | 'sweep';
  /** True while it counts among the files found at start. */
  initial: boolean;
  /** Something happened to the file since its last look began. */
  noticed: boolean;
  /** Its answer, when one comes, must not be remembered. */
  recheck: boolean;
  track: Track | undefined;
  /** Monotonic time of its last look. */
  lookedAt: number;
}

export interface Sampler {
  /** A first look, as soon as a slot is free. */
  fresh(file: Waiting): void;
  /** A further look, one interval after the last one (`lookedAt`, which is now). */
  again(file: Waiting): void;
  stop(): void;
}

export interface SamplerParts {
  readonly looker: Looker;
  readonly clock: Clock;
  readonly intervalMs: number;
  readonly limit: number;
  /** Told each look; true = look again after the interval. */
  readonly onLook: (file: Waiting, look: Look) => boolean;
}

/** The ticker fires at most this often per interval: files due close together are looked at together. */
const TICKS_PER_INTERVAL = 8;

export function createSampler({ looker, clock, intervalMs, limit, onLook }: SamplerParts): Sampler {
  const first = createQueue<Waiting>();
  // Every file waits the same time, so the order of their looks is the order in which they fall due.
  const again = createQueue<Waiting>();
  let inFlight = 0;
  let cancelTick: (() => void) | undefined;
  let favourFirst = false;
  let stopped = false;

  /** Due files and new files take turns, so that neither a flood of new ones nor a long line starves the other. */
  function next(): Waiting | undefined {
    const head = again.peek();
    const due = head !== undefined && head.lookedAt + intervalMs <= clock.elapsed();
    favourFirst = !favourFirst;
    if (!due || (favourFirst && first.length > 0)) return first.shift();
    return again.shift();
  }

  function pump(): void {
    while (!stopped && inFlight < limit) {
      const file = next();
      if (file === undefined) break;
      inFlight += 1;
      void lookAt(file);
    }
    arm();
  }

  async function lookAt(file: Waiting): Promise<void> {
    file.noticed = false;
    const look = await looker.look(file.fileName);
    inFlight -= 1;
    if (stopped) return;
    file.lookedAt = clock.elapsed();
    if (onLook(file, look)) again.push(file);
    pump();
  }

  function arm(): void {
    const head = again.peek();
    if (stopped || cancelTick !== undefined || head === undefined || inFlight >= limit) return;
    const wait = Math.max(head.lookedAt + intervalMs - clock.elapsed(), intervalMs / TICKS_PER_INTERVAL);
    cancelTick = clock.after(wait, () => {
      cancelTick = undefined;
      pump();
    });
  }

  return {
    fresh(file) {
      if (stopped) return;
      first.push(file);
      pump();
    },
    again(file) {
      if (stopped) return;
      again.push(file);
      arm();
    },
    stop() {
      stopped = true;
      cancelTick?.();
      cancelTick = undefined;
      first.clear();
      again.clear();
    },
  };
}
