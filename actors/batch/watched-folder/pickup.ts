/**
 * Processes each file of a watched folder: discovered, sampled until complete, offered, remembered. Files are
 * identified by their path relative to the folder.
 */
import { basename, dirname, join } from 'node:path';
import { type Clock, describeFailure, isRetryable } from '@sealwright/runtime';
import { type Backoff, pauseAfter } from '../../../machines/backoff.ts';
import type { WatchedFolderOptions } from './contract.ts';
import { createFifoQueue, type FileReader } from './file-reader.ts';
import type { KnownFiles } from './known-files.ts';
import {
  type FileSample,
  firstSample,
  hasTimedOut,
  isStable,
  isUntouched,
  nextSample,
  type Sample,
  type StabilityRules,
  type StabilityTrack,
} from './stability.ts';

/** Offers complete files with bounded concurrency and backs off while they are rejected. */
interface OfferQueue<T> {
  add(item: T): void;
  stop(): void;
}

interface OfferQueueOptions<T> {
  readonly clock: Clock;
  /** Maximum number of concurrent offers, at least 1. */
  readonly limit: number;
  /** Rejects when the item was not accepted; it is offered again later. */
  readonly deliver: (item: T) => Promise<void>;
  /** Called for the first of consecutive rejections. */
  readonly onFailure: (error: unknown) => void;
}

/** Pauses after rejections. */
const BACKOFF: Backoff = { firstMs: 1_000, maxMs: 30_000 };

/**
 * Creates a queue that pauses after a rejection and then delivers one item at a time until one is accepted: a failing
 * store gets little load, and one incident does not consume the failure budget of the folder.
 */
function createOfferQueue<T>({
  clock,
  limit,
  deliver: hand,
  onFailure: onTrouble,
}: OfferQueueOptions<T>): OfferQueue<T> {
  const queue = createFifoQueue<T>();
  let inFlight = 0;
  let rejections = 0;
  let cancelPause: (() => void) | undefined;
  let stopped = false;

  function pump(): void {
    const allowed = rejections === 0 ? limit : 1;
    while (!stopped && cancelPause === undefined && inFlight < allowed) {
      const item = queue.shift();
      if (item === undefined) return;
      inFlight += 1;
      void deliverNext(item);
    }
  }

  async function deliverNext(item: T): Promise<void> {
    try {
      await hand(item);
      rejections = 0;
    } catch (error) {
      if (!stopped) refused(item, error);
    }
    inFlight -= 1;
    pump();
  }

  function refused(item: T, error: unknown): void {
    queue.push(item);
    // Offers that were pending at the first rejection do not extend the pause.
    if (cancelPause !== undefined) return;
    if (rejections === 0) onTrouble(error);
    rejections += 1;
    const asked = isRetryable(error) ? error.retryAfter : undefined;
    const pause = asked ?? pauseAfter(rejections, BACKOFF);
    cancelPause = clock.after(pause, () => {
      cancelPause = undefined;
      pump();
    });
  }

  return {
    add(item) {
      if (stopped) return;
      queue.push(item);
      pump();
    },
    stop() {
      stopped = true;
      cancelPause?.();
      cancelPause = undefined;
      queue.clear();
    },
  };
}

/** One file between discovery and offer. It is in exactly one queue at a time. */
interface WaitingFile {
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
interface Sampler {
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

function createSampler({ fileReader, clock, intervalMs, limit, onSample }: SamplerOptions): Sampler {
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

/** Maximum number of concurrent warnings about single unreadable files. */
const MAX_UNREADABLE_WARNINGS = 20;

export interface Pickup {
  /** Reports a possible change of this name. The caller filters ignored names. */
  observe(fileName: string, seen: 'event' | 'sweep', initial?: boolean): void;
  /** The same, also for a file unchanged since its last offer. */
  recheck(fileName: string): void;
  has(fileName: string): boolean;
  /** Number of files found at start without a first result. */
  initialLeft(): number;
  /** Message about files that cannot be read; null for none. */
  failures(): string | null;
  /** Samples the unreadable files again. */
  retryUnreadable(): void;
  /** Removes all state: the folder no longer exists. */
  clear(): void;
  stop(): void;
}

export interface PickupDependencies {
  readonly options: WatchedFolderOptions;
  /** Absolute path of the folder. */
  readonly folder: string;
  readonly fileReader: FileReader;
  readonly memory: KnownFiles;
  /** Those of the file system that the folder has now. */
  readonly rules: () => StabilityRules;
  /** Called when a discovered name is a directory. */
  readonly onDirectory: (directory: string) => void;
  /** Called when `initialLeft` or `failures` may have changed. */
  readonly onChange: () => void;
}

export function createPickup({
  options,
  folder,
  fileReader,
  memory,
  rules,
  onDirectory,
  onChange,
}: PickupDependencies): Pickup {
  const { clock, log, settings } = options;
  const prefix = join(folder, '/');
  const waiting = new Map<string, WaitingFile>();
  const unreadable = new Map<string, string>();
  let initialLeft = 0;
  let stopped = false;

  const sampler = createSampler({
    fileReader,
    clock,
    intervalMs: () => rules().intervalMs,
    limit: settings.concurrency,
    onSample: judge,
  });
  const offers = createOfferQueue<WaitingFile>({
    clock,
    limit: settings.concurrency,
    deliver: present,
    onFailure(error) {
      const { message } = describeFailure(error);
      log.warn('Files of a watched folder are not being taken; they are offered again.', {
        folder: options.name,
        error: message,
      });
    },
  });

  /** Evaluates one sample. True = sample again later. */
  function judge(file: WaitingFile, found: FileSample): boolean {
    if (found.is !== 'file') {
      if (found.is === 'unreadable') refuse(file, found.code);
      else removeFile(file.fileName);
      if (found.is === 'directory') onDirectory(file.fileName);
      leave(file);
      return false;
    }
    const elapsed = clock.elapsed();
    if (file.track === undefined) {
      if (memory.containsSample(file.fileName, found.sample)) {
        // Offered before it could not be sampled for a while, for example with the whole folder.
        if (unreadable.delete(file.fileName)) onChange();
        leave(file);
        return false;
      }
      if (!file.recheck && isTaken(file.fileName)) {
        memory.add(file.fileName, found.sample, 'active');
        leave(file);
        return false;
      }
      file.track = firstSample(found.sample, elapsed);
    } else {
      file.track = nextSample(file.track, found.sample, elapsed);
      if (file.track.equal === 1) firstOutcome(file);
    }
    if (isStable(file.track, elapsed, rules())) {
      offers.add(file);
      return false;
    }
    if (!hasTimedOut(file.track, elapsed, rules())) return true;
    log.warn('A file is still changing; it is left until something happens to it or the next listing.', {
      folder: options.name,
      file: file.fileName,
      waitedMs: Math.round(elapsed - file.track.since),
    });
    leave(file);
    return false;
  }

  function isTaken(fileName: string): boolean {
    return options.isTaken?.(prefix + fileName) === true;
  }

  async function present(file: WaitingFile): Promise<void> {
    const sample = file.track?.sample;
    if (stopped || sample === undefined) return;
    if (file.noticed || clock.elapsed() - file.sampledAt > rules().intervalMs) {
      if (!(await isUnchanged(sample, file))) return;
    }
    await offer(file, sample);
  }

  /** Samples a file again before its delayed offer. A changed file returns to sampling. */
  async function isUnchanged(sample: Sample, file: WaitingFile): Promise<boolean> {
    file.noticed = false;
    const found = await fileReader.sample(file.fileName);
    if (stopped) return false;
    file.sampledAt = clock.elapsed();
    if (found.is === 'file' && isUntouched(found.sample, sample)) return true;
    if (judge(file, found)) sampler.resample(file);
    return false;
  }

  async function offer(file: WaitingFile, sample: Sample): Promise<void> {
    let found: FileSample | undefined;
    try {
      const answer = await options.offer({
        path: join(folder, file.fileName),
        fileName: basename(file.fileName),
        subfolder: directoryOf(file.fileName),
        size: sample.size,
        mtimeMs: sample.mtimeMs,
        seen: file.seen,
        async isThere() {
          found = await fileReader.sample(file.fileName);
          return found.is === 'file';
        },
      });
      if (stopped) return;
      // Remembered as declined, a file of a share that fails for a moment would be left until it changes.
      if (answer === 'declined' && found !== undefined && found.is !== 'file') {
        judge(file, found);
        return;
      }
      if (unreadable.delete(file.fileName)) onChange();
      if (!file.recheck) memory.add(file.fileName, sample, answer);
      file.noticed ||= file.recheck;
      leave(file);
    } catch (error) {
      firstOutcome(file);
      throw error;
    }
  }

  function refuse(file: WaitingFile, code: string): void {
    if (unreadable.get(file.fileName) === code) return;
    unreadable.set(file.fileName, code);
    const write = unreadable.size <= MAX_UNREADABLE_WARNINGS ? log.warn : log.debug;
    write('A file of a watched folder cannot be read; the others go on.', {
      folder: options.name,
      file: file.fileName,
      code,
    });
    onChange();
  }

  function removeFile(fileName: string): void {
    memory.remove(fileName);
    if (unreadable.delete(fileName)) onChange();
  }

  function firstOutcome(file: WaitingFile): void {
    if (!file.initial) return;
    file.initial = false;
    initialLeft -= 1;
    onChange();
  }

  function leave(file: WaitingFile): void {
    waiting.delete(file.fileName);
    firstOutcome(file);
    if (file.noticed) enter(file.fileName, 'event', false);
  }

  function enter(fileName: string, seen: 'event' | 'sweep', initial: boolean): void {
    const file = {
      fileName,
      seen,
      initial,
      noticed: false,
      recheck: false,
      track: undefined,
      sampledAt: 0,
    };
    waiting.set(fileName, file);
    if (initial) initialLeft += 1;
    sampler.add(file);
  }

  return {
    observe(fileName, seen, initial = false) {
      if (stopped) return;
      const file = waiting.get(fileName);
      if (file !== undefined) {
        if (seen === 'event') file.noticed = true;
        // A change before its first sample is not missed: while the job owns the path, each listing offers the file again.
      } else if (seen === 'event' && !memory.has(fileName) && isTaken(fileName))
        memory.add(fileName, undefined, 'active');
      else enter(fileName, seen, initial);
    },
    recheck(fileName) {
      if (stopped) return;
      const file = waiting.get(fileName);
      const known = memory.has(fileName);
      memory.remove(fileName);
      if (file !== undefined) file.recheck = true;
      // Never offered, or removed, like the input of most completed jobs: an event will report a new file.
      else if (known) enter(fileName, 'event', false);
    },
    has: (fileName) => waiting.has(fileName),
    initialLeft: () => initialLeft,
    failures: () => describeUnreadable(folder, unreadable),
    retryUnreadable() {
      for (const fileName of unreadable.keys()) if (!waiting.has(fileName)) enter(fileName, 'sweep', false);
    },
    clear() {
      memory.clear();
      unreadable.clear();
    },
    stop() {
      stopped = true;
      sampler.stop();
      offers.stop();
      waiting.clear();
      unreadable.clear();
    },
  };
}

/** Directory of the file, relative to the folder. */
function directoryOf(fileName: string): string {
  const directory = dirname(fileName);
  return directory === '.' ? '' : directory;
}

function describeUnreadable(folder: string, unreadable: ReadonlyMap<string, string>): string | null {
  const first = unreadable.entries().next().value;
  if (first === undefined) return null;
  const [fileName, code] = first;
  const more = unreadable.size - 1;
  const others = more === 0 ? '' : `, and ${more} more in the same folder`;
  return `The file ${join(folder, fileName)} cannot be read (${code})${others}.`;
}
