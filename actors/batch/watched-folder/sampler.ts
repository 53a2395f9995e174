import type { Clock } from '@sealwright/runtime';
import { createFifoQueue, type FileReader } from './file-reader.ts';
import type { FileSample, StabilityTrack } from './stability.ts';

/** One file between discovery and offer. It is in exactly one queue at a time. */
export interface WaitingFile {
  readonly fileName: string;
  readonly seen: 'event' | 'sweep';
  /** True for a file found at start. */
  initial: boolean;
  /** True after an event of the file since its last sample began. */
  noticed: boolean;
  /** True: the result of a pending offer must not be remembered. */
  recheck: boolean;
  track: StabilityTrack | undefined;
  /** Monotonic time of the last sample. */
  sampledAt: number;
}

/**
 * Samples every waiting file at intervals until it is complete. One timer serves all files of a folder; a waiting file
 * holds a small entry and no slot between samples.
 */
export interface Sampler {
  /** Adds a file for its first sample, as soon as a slot is free. */
  add(file: WaitingFile): void;
  /** Schedules a further sample, one interval after the last one (`sampledAt`, which is now). */
  resample(file: WaitingFile): void;
  stop(): void;
}

interface SamplerOptions {
  readonly fileReader: FileReader;
  readonly clock: Clock;
  /** Current interval. */
  readonly intervalMs: () => number;
  readonly limit: number;
  /** Called with each sample; true = sample again after the interval. */
  readonly onSample: (file: WaitingFile, found: FileSample) => boolean;
}

/** Maximum number of timer ticks per interval: files due close together are sampled together. */
const TICKS_PER_INTERVAL = 8;

export function createSampler({ fileReader, clock, intervalMs, limit, onSample }: SamplerOptions): Sampler {
  const first = createFifoQueue<WaitingFile>();
  // All files wait for the same time, so insertion order is due order.
  const again = createFifoQueue<WaitingFile>();
  let inFlight = 0;
  let cancelTick: (() => void) | undefined;
  let favourFirst = false;
  let stopped = false;

  /** Alternates between due and new files, so that neither starves the other. */
  function next(): WaitingFile | undefined {
    const head = again.peek();
    const due = head !== undefined && head.sampledAt + intervalMs() <= clock.elapsed();
    favourFirst = !favourFirst;
    if (!due || (favourFirst && first.length > 0)) return first.shift();
    return again.shift();
  }

  function pump(): void {
    while (!stopped && inFlight < limit) {
      const file = next();
      if (file === undefined) break;
      inFlight += 1;
      void sampleFile(file);
    }
    arm();
  }

  async function sampleFile(file: WaitingFile): Promise<void> {
    file.noticed = false;
    const found = await fileReader.sample(file.fileName);
    inFlight -= 1;
    if (stopped) return;
    file.sampledAt = clock.elapsed();
    if (onSample(file, found)) again.push(file);
    pump();
  }

  function arm(): void {
    const head = again.peek();
    if (stopped || cancelTick !== undefined || head === undefined || inFlight >= limit) return;
    const interval = intervalMs();
    const wait = Math.max(head.sampledAt + interval - clock.elapsed(), interval / TICKS_PER_INTERVAL);
    cancelTick = clock.after(wait, () => {
      cancelTick = undefined;
      pump();
    });
  }

  return {
    add(file) {
      if (stopped) return;
      first.push(file);
      pump();
    },
    resample(file) {
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
