/**
 * The way of a file through a watched folder: noticed, looked at until complete, offered, remembered. A file is known
 * here by its path relative to the folder.
 */
import { basename, dirname, join } from 'node:path';
import { describeFailure } from '../../../runtime/index.ts';
import type { WatchedFolderOptions } from './contract.ts';
import type { Look, Looker } from './look.ts';
import type { OfferMemory } from './memory.ts';
import { createOfferQueue } from './offers.ts';
import { createSampler, type Waiting } from './sampler.ts';
import { firstSight, isHopeless, isStable, nextSight, type Sample, sameSample } from './stability.ts';

/** Files that cannot be read at the same time which are warned about one by one. */
const UNREADABLE_WARNED = 20;

export interface Pickup {
  /** Something may have happened to this name. Ignored names must not get here. */
  notice(fileName: string, seen: 'event' | 'sweep', initial?: boolean): void;
  /** The same, also when the file looks as it did when it was last offered. */
  recheck(fileName: string): void;
  has(fileName: string): boolean;
  /** Files found at start that have had no first outcome yet. */
  initialLeft(): number;
  /** A sentence about files that cannot be read, null when there are none. */
  trouble(): string | null;
  /** Looks anew at the files that could not be read. */
  retryUnreadable(): void;
  /** Nothing of the folder is known any more: it is gone. */
  forgetAll(): void;
  stop(): void;
}

export interface PickupParts {
  readonly options: WatchedFolderOptions;
  /** Absolute path of the folder. */
  readonly folder: string;
  readonly looker: Looker;
  readonly memory: OfferMemory;
  /** What was noticed is a directory. */
  readonly onDirectory: (directory: string) => void;
  /** `initialLeft` or `trouble` may have changed. */
  readonly onChange: () => void;
}

export function createPickup({
  options,
  folder,
  looker,
  memory,
  onDirectory,
  onChange,
}: PickupParts): Pickup {
  const { clock, log, settings } = options;
  const rules = settings.stability;
  const waiting = new Map<string, Waiting>();
  const unreadable = new Map<string, string>();
  let initialLeft = 0;
  let stopped = false;

  const sampler = createSampler({
    looker,
    clock,
    intervalMs: rules.intervalMs,
    limit: settings.concurrency,
    onLook: judge,
  });
  const offers = createOfferQueue<Waiting>({
    clock,
    limit: settings.concurrency,
    hand: present,
    onTrouble(error) {
      const { message } = describeFailure(error);
      log.warn('Files of a watched folder are not being taken; they are offered again.', {
        folder: options.name,
        error: message,
      });
    },
  });

  /** Judges one look. True = the file needs another one later. */
  function judge(file: Waiting, look: Look): boolean {
    if (look.is !== 'file') {
      if (look.is === 'unreadable') refuse(file, look.code);
      else forget(file.fileName);
      if (look.is === 'directory') onDirectory(file.fileName);
      leave(file);
      return false;
    }
    const elapsed = clock.elapsed();
    if (file.track === undefined) {
      if (memory.holds(file.fileName, look.sample)) {
        leave(file);
        return false;
      }
      file.track = firstSight(look.sample, clock.now(), elapsed, rules);
    } else {
      file.track = nextSight(file.track, look.sample, rules);
      if (file.track.equal === 1) firstOutcome(file);
    }
    if (isStable(file.track)) {
      offers.add(file);
      return false;
    }
    if (!isHopeless(file.track, elapsed, rules)) return true;
    log.warn('A file is still changing; it is left until something happens to it or the next listing.', {
      folder: options.name,
      file: file.fileName,
      waitedMs: Math.round(elapsed - file.track.since),
    });
    leave(file);
    return false;
  }

  async function present(file: Waiting): Promise<void> {
    const sample = file.track?.sample;
    if (stopped || sample === undefined) return;
    if (file.noticed || clock.elapsed() - file.lookedAt > rules.intervalMs) {
      if (!(await stillThe(sample, file))) return;
    }
    const code = await looker.refusal(file.fileName);
    if (stopped) return;
    if (code !== undefined) {
      if (code === 'ENOENT') forget(file.fileName);
      else refuse(file, code);
      leave(file);
      return;
    }
    await offer(file, sample);
  }

  /** It had to wait for its offer: one more look. A file that has changed goes back to being looked at. */
  async function stillThe(sample: Sample, file: Waiting): Promise<boolean> {
    file.noticed = false;
    const look = await looker.look(file.fileName);
    if (stopped) return false;
    file.lookedAt = clock.elapsed();
    if (look.is === 'file' && sameSample(look.sample, sample)) return true;
    if (judge(file, look)) sampler.again(file);
    return false;
  }

  async function offer(file: Waiting, sample: Sample): Promise<void> {
    try {
      const answer = await options.offer({
        path: join(folder, file.fileName),
        fileName: basename(file.fileName),
        subfolder: directoryOf(file.fileName),
        size: sample.size,
        mtimeMs: sample.mtimeMs,
        seen: file.seen,
      });
      if (stopped) return;
      if (unreadable.delete(file.fileName)) onChange();
      if (!file.recheck) memory.remember(file.fileName, sample, answer);
      file.noticed ||= file.recheck;
      leave(file);
    } catch (error) {
      firstOutcome(file);
      throw error;
    }
  }

  function refuse(file: Waiting, code: string): void {
    if (unreadable.get(file.fileName) === code) return;
    unreadable.set(file.fileName, code);
    const write = unreadable.size <= UNREADABLE_WARNED ? log.warn : log.debug;
    write('A file of a watched folder cannot be read; the others go on.', {
      folder: options.name,
      file: file.fileName,
      code,
    });
    onChange();
  }

  function forget(fileName: string): void {
    memory.forget(fileName);
    if (unreadable.delete(fileName)) onChange();
  }

  function firstOutcome(file: Waiting): void {
    if (!file.initial) return;
    file.initial = false;
    initialLeft -= 1;
    onChange();
  }

  function leave(file: Waiting): void {
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
      lookedAt: 0,
    };
    waiting.set(fileName, file);
    if (initial) initialLeft += 1;
    sampler.fresh(file);
  }

  return {
    notice(fileName, seen, initial = false) {
      if (stopped) return;
      const file = waiting.get(fileName);
      if (file === undefined) enter(fileName, seen, initial);
      else if (seen === 'event') file.noticed = true;
    },
    recheck(fileName) {
      if (stopped) return;
      const file = waiting.get(fileName);
      const known = memory.has(fileName);
      memory.forget(fileName);
      if (file !== undefined) file.recheck = true;
      // Never offered, or gone since, as the input of nearly every completed job: a file that comes is noticed.
      else if (known) enter(fileName, 'event', false);
    },
    has: (fileName) => waiting.has(fileName),
    initialLeft: () => initialLeft,
    trouble: () => describeUnreadable(folder, unreadable),
    retryUnreadable() {
      for (const fileName of unreadable.keys()) if (!waiting.has(fileName)) enter(fileName, 'sweep', false);
    },
    forgetAll() {
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

/** Where the file lies, relative to the folder. */
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
