/**
 * Watches one input folder, with `recursive` also its subdirectories, and offers each complete file once. Skips ignored
 * names, symbolic links, empty files and the content of ignored directories.
 *
 * Events provide low latency, listings completeness. A listing runs at start, after a burst of events, when events
 * fail, and every `sweepIntervalMs`. A missing folder is not an error: the watcher checks for it until it exists.
 *
 * Source: docs/batch-values.md §7; `docs/decisions/0003-stability.md`.
 *
 * Patterns of names that a watched folder ignores.
 */
import type { Stats } from 'node:fs';
import { lstat, stat, statfs } from 'node:fs/promises';
import { relative, resolve } from 'node:path';
import { type Clock, describeFailure } from '@sealwright/runtime';
import type {
  WatchedFolder,
  WatchedFolderOptions,
  WatchedFolderSettings,
  WatchedFolderState,
} from './contract.ts';
import { createDirectoryWatches } from './directory-watches.ts';
import { createFileReader } from './file-reader.ts';
import { stabilityRules } from './file-systems.ts';
import { createKnownFiles } from './known-files.ts';
import { createPickup } from './pickup.ts';
import { nameIn, namesNotUtf8, sweep } from './sweep.ts';

/**
 * True for a name that ends with one of the extensions (`.tmp`, case-insensitive), starts with one of the prefixes
 * (`~$`, case-sensitive) or matches one of the names (`Thumbs.db`, `*.part`, case-insensitive).
 */
export function createIgnoredNames({
  ignoredExtensions,
  ignoredPrefixes,
  ignoredNames,
}: Pick<WatchedFolderSettings, 'ignoredExtensions' | 'ignoredPrefixes' | 'ignoredNames'>): (
  fileName: string,
) => boolean {
  const endings = ignoredExtensions
    .filter((extension) => extension !== '' && extension !== '.')
    .map((extension) => (extension.startsWith('.') ? extension : `.${extension}`).toLowerCase());
  const starts = ignoredPrefixes.filter((prefix) => prefix !== '');
  const whole = new Set(ignoredNames.filter((name) => !name.includes('*')).map(folded));
  const patterns = ignoredNames.filter((name) => name.includes('*')).map(patternOf);
  return (fileName) => {
    // First, because it needs no folding: hidden names of uploads.
    if (starts.some((start) => fileName.startsWith(start))) return true;
    const name = folded(fileName);
    return (
      endings.some((ending) => name.endsWith(ending)) ||
      whole.has(name) ||
      patterns.some((pattern) => matches(name, pattern))
    );
  };
}

function folded(name: string): string {
  return name.normalize('NFC').toLowerCase();
}

/** Parts before, between and after the stars of a name with stars. */
function patternOf(text: string) {
  const [first = '', ...others] = folded(text).split('*');
  return { first, last: others.pop() ?? '', others };
}

function matches(name: string, { first, last, others }: ReturnType<typeof patternOf>): boolean {
  if (!name.startsWith(first)) return false;
  let at = first.length;
  for (const piece of others) {
    const found = name.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return name.length >= at + last.length && name.endsWith(last);
}

/** Schedules repeated sweeps: periodic, sooner on request, with a limited share of time. */
interface SweepSchedule {
  start(): void;
  /** Requests a sweep soon; one in progress does not count. */
  request(): void;
  /** Resolves when no sweep is running and none will start. */
  stop(): Promise<void>;
}

/** A sweep of duration t is followed by a pause of at least this many times t … */
const REST_PER_WORK = 3;
/**
 * … within these limits, milliseconds. A sweep slowed down by a busy machine must not delay the next one, which finds
 * files with lost events.
 */
const MIN_REST_MS = 100;
const MAX_REST_MS = 5_000;

/**
 * @param round never rejects; resolves with the milliseconds until the next periodic round
 * @param done called after each round; its duration does not count
 */
function createSweepSchedule(clock: Clock, round: () => Promise<number>, done: () => void): SweepSchedule {
  let running: Promise<void> | undefined;
  let stopped = false;
  let requested = false;
  let resting = false;
  let endWait: (() => void) | undefined;

  function wait(delay: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = clock.after(delay, () => endWait?.());
      endWait = () => {
        endWait = undefined;
        cancel();
        resolve();
      };
    });
  }

  async function run(): Promise<void> {
    while (!stopped) {
      requested = false;
      const began = clock.elapsed();
      const due = await round();
      const work = REST_PER_WORK * (clock.elapsed() - began);
      const rest = Math.min(Math.max(MIN_REST_MS, work), MAX_REST_MS);
      if (stopped) return;
      done();
      // The callback may have stopped the schedule.
      if (stopped) return;
      resting = true;
      await wait(rest);
      resting = false;
      if (!stopped && !requested && due > rest) await wait(due - rest);
    }
  }

  return {
    start() {
      if (!stopped) running ??= run();
    },
    request() {
      requested = true;
      if (!resting) endWait?.();
    },
    async stop() {
      stopped = true;
      endWait?.();
      await running;
    },
  };
}

/** Interval of checks for a folder that is missing or cannot be read, milliseconds. */
const MISSING_RETRY_MS = 30_000;
/**
 * Files offered again per listing because an active job owned their path, oldest first. A safety net for `recheck`;
 * offering all would cost one store read per queued job and listing.
 */
const ACTIVE_RETRY_MS = 256;
/** Maximum number of logged names that are not UTF-8, per folder. */
const MAX_BAD_NAMES_LOGGED = 1_000;

const NONE: ReadonlySet<string> = new Set();

/** Identity of a directory, distinct from a later one at the same path. */
function identityOf({ dev, ino, birthtimeMs }: Stats): string {
  return `${dev}:${ino}:${birthtimeMs}`;
}

/** `f_type` of the file system of a folder; undefined where only Linux has such numbers. */
async function fileSystemOf(folder: string): Promise<number | undefined> {
  return process.platform === 'linux' ? (await statfs(folder)).type : undefined;
}

/** Creates a watcher without starting it; no disk access. */
export function createWatchedFolder(options: WatchedFolderOptions): WatchedFolder {
  const { name, settings, clock, log } = options;
  const folder = resolve(options.path);
  const ignored = createIgnoredNames(settings);
  const memory = createKnownFiles();
  const fileReader = createFileReader(folder, { limit: settings.concurrency, clock });
  const recursive = settings.recursive ?? false;
  let rules = stabilityRules(settings.stability, undefined);
  const pickup = createPickup({
    options,
    folder,
    fileReader,
    memory,
    rules: () => rules,
    onDirectory,
    onChange: changed,
  });
  const watches = createDirectoryWatches({
    folder,
    onName,
    onError: onWatchError,
    onBusy: () => rounds.request(),
    onRefused: onWatchRefused,
  });
  const rounds = createSweepSchedule(clock, survey, surveyed);
  const burst = createEventDebounce(clock, rounds.request);
  const missingRetry = settings.missingRetryMs ?? MISSING_RETRY_MS;

  let state: WatchedFolderState = { phase: 'Initializing', exists: false, notices: 'none', error: null };
  let folderError: string | null = null;
  let listedOnce = false;
  let badNames: ReadonlySet<string> = new Set();
  let stopping: Promise<void> | undefined;
  let announceReady = () => {};
  const ready = new Promise<void>((settle) => {
    announceReady = settle;
  });

  function publish(part: Partial<WatchedFolderState>): void {
    const next = { ...state, ...part, error: folderError ?? pickup.failures() };
    const same =
      next.phase === state.phase &&
      next.exists === state.exists &&
      next.notices === state.notices &&
      next.error === state.error;
    state = next;
    if (!same) options.onState(state);
  }

  function changed(): void {
    if (stopping !== undefined) return;
    const taken = state.phase === 'Initializing' && listedOnce && pickup.initialLeft() === 0;
    publish(taken ? { phase: 'Running' } : {});
    if (taken) announceReady();
  }

  function surveyed(): void {
    listedOnce = true;
    changed();
  }

  /** Runs one listing. Resolves with the milliseconds until the next one. */
  async function survey(): Promise<number> {
    try {
      const identity = await identify();
      if (identity === undefined) return await missing();
      // A share may be mounted over a folder at any time.
      rules = stabilityRules(settings.stability, await fileSystemOf(folder));
      if (!state.exists)
        log.info('A watched folder is there.', { folder: name, path: folder, quietMs: rules.quietMs });
      publish({ exists: true });
      await watches.open('', identity);
      publish({ notices: watches.complete() ? 'events' : 'polling' });
      folderError = await list();
      publish({ notices: watches.complete() ? 'events' : 'polling' });
      return settings.sweepIntervalMs;
    } catch (error) {
      const { code, message } = describeFailure(error);
      if (code === 'ENOENT') return await missing();
      const sentence = `The input folder ${folder} cannot be read: ${message}`;
      if (folderError !== sentence)
        log.error('A watched folder cannot be read.', { folder: name, error: message });
      folderError = sentence;
      return missingRetry;
    }
  }

  /** Identity of the directory at the path; undefined for none. */
  async function identify(): Promise<string | undefined> {
    try {
      const stats = await stat(folder);
      if (!stats.isDirectory()) throw new Error('it is not a directory');
      return identityOf(stats);
    } catch (error) {
      const { code } = describeFailure(error);
      if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
      throw error;
    }
  }

  async function missing(): Promise<number> {
    if (state.exists || !listedOnce) log.warn('A watched folder is missing.', { folder: name, path: folder });
    await watches.retainOnly(NONE);
    pickup.clear();
    folderError = null;
    publish({ exists: false, notices: 'none' });
    return missingRetry;
  }

  /** Returns a message about directories that could not be listed; null when all could. */
  async function list(): Promise<string | null> {
    const askAgain = memory.active(ACTIVE_RETRY_MS);
    const entered = new Set(['']);
    const unlisted: string[] = [];
    const doubtful = await sweep({
      folder,
      rules: {
        recursive,
        ignored,
        // Watched before it is listed, so that no later file is missed.
        async entering(directory) {
          const stats = await lstat(resolve(folder, directory));
          if (!stats.isDirectory()) throw new Error('it is not a directory any more');
          entered.add(directory);
          await watches.open(directory, identityOf(stats));
        },
        unlistable(directory, error) {
          const { code, message } = describeFailure(error);
          if (code === 'ENOENT' || code === 'ENOTDIR') return;
          unlisted.push(`The directory ${resolve(folder, directory)} cannot be read: ${message}`);
        },
      },
      memory,
      fileReader,
      limit: settings.concurrency,
      observe: (fileName) => pickup.observe(fileName, 'sweep', !listedOnce),
      stopped: () => stopping !== undefined,
    });
    await watches.retainOnly(entered);
    pickup.retryUnreadable();
    for (const fileName of askAgain) {
      if (pickup.has(fileName)) continue;
      memory.remove(fileName);
      pickup.observe(fileName, 'sweep');
    }
    await reportBadNames(doubtful);
    return reportUnlisted(unlisted);
  }

  function reportUnlisted([first, ...others]: readonly string[]): string | null {
    if (first === undefined) return null;
    if (folderError !== first)
      log.warn('A directory of a watched folder cannot be read; the others go on.', {
        folder: name,
        error: first,
        others: others.length,
      });
    return first;
  }

  async function reportBadNames(directories: ReadonlySet<string>): Promise<void> {
    const found = new Set<string>();
    for (const directory of directories)
      for (const bytes of await namesNotUtf8(folder, directory)) found.add(bytes);
    let logged = 0;
    for (const bytes of found) {
      if (badNames.has(bytes) || logged === MAX_BAD_NAMES_LOGGED) continue;
      logged += 1;
      log.warn('A file is skipped: its name is not UTF-8.', { folder: name, nameBytes: bytes });
    }
    badNames = found;
  }

  function onName(directory: string, fileName: string | undefined): void {
    if (fileName === undefined) {
      watches.markUncertain(directory);
      rounds.request();
      return;
    }
    burst.hit();
    if (!ignored(fileName)) pickup.observe(nameIn(directory, fileName), 'event');
  }

  /** The next listing enters a new directory. */
  function onDirectory(directory: string): void {
    if (recursive && !watches.has(directory)) rounds.request();
  }

  function onWatchRefused(directory: string, message: string): void {
    if (state.notices === 'polling') return;
    log.warn('The system gives no change notices for a watched folder; it is listed periodically instead.', {
      folder: name,
      directory,
      error: message,
      everyMs: settings.sweepIntervalMs,
    });
    publish({ notices: 'polling' });
  }

  function onWatchError(directory: string, error: Error): void {
    log.warn('Change notices of a watched folder failed; it is listed and watched anew.', {
      folder: name,
      directory,
      error: error.message,
    });
    watches.markUncertain(directory);
    rounds.request();
  }

  async function stop(): Promise<void> {
    pickup.stop();
    burst.stop();
    await rounds.stop();
    await watches.retainOnly(NONE);
    await fileReader.idle();
    memory.clear();
    publish({ phase: 'Stopped', notices: 'none' });
    announceReady();
  }

  return {
    name,
    path: folder,
    ready,
    start: rounds.start,
    recheck(path) {
      const names = relative(folder, resolve(path)).split('/');
      if (names[0] === '' || names[0] === '..' || (names.length > 1 && !recursive) || names.some(ignored))
        return;
      pickup.recheck(names.join('/'));
    },
    stop() {
      stopping ??= stop();
      return stopping;
    },
    state: () => state,
    async exists() {
      try {
        return (await stat(folder)).isDirectory();
      } catch {
        return false;
      }
    },
  };
}

interface EventDebounce {
  /** Counts one event. */
  hit(): void;
  stop(): void;
}

/** Fewer consecutive events than this cannot have filled the kernel queue (default 16,384 entries). */
const BURST_SIZE = 1_024;
/** Milliseconds without an event that end a burst. */
const QUIET_MS = 500;

/** Global state that mirrors the one kernel queue. */
const shared = { hits: 0, lastHit: 0, folders: new Set<() => void>() };

function createEventDebounce(clock: Clock, onQuiet: () => void): EventDebounce {
  let cancel: (() => void) | undefined;
  let stopped = false;
  shared.folders.add(onQuiet);

  function arm(delay: number): void {
    cancel = clock.after(delay, () => {
      cancel = undefined;
      const left = shared.lastHit + QUIET_MS - clock.elapsed();
      if (left > 0) arm(left);
      else quiet();
    });
  }

  function quiet(): void {
    const burst = shared.hits >= BURST_SIZE;
    shared.hits = 0;
    if (!burst) return;
    for (const tell of shared.folders) tell();
  }

  return {
    hit() {
      shared.hits += 1;
      shared.lastHit = clock.elapsed();
      if (cancel === undefined && !stopped) arm(QUIET_MS);
    },
    stop() {
      stopped = true;
      cancel?.();
      cancel = undefined;
      shared.folders.delete(onQuiet);
    },
  };
}
