/**
 * Watches one input folder, with `recursive` also its subdirectories, and offers each complete file once. Skips ignored
 * names, symbolic links, empty files and the content of ignored directories.
 *
 * Events provide low latency, listings completeness. A listing runs at start, after a burst of events, when events
 * fail, and every `sweepIntervalMs`. A missing folder is not an error: the watcher checks for it until it exists.
 *
 * Source: docs/batch-values.md §7; `docs/decisions/0003-stability.md`.
 */
import type { Stats } from 'node:fs';
import { lstat, stat, statfs } from 'node:fs/promises';
import { relative, resolve } from 'node:path';
import { describeFailure } from '@sealwright/runtime';
import {
  MAX_OFFERED_AGAIN,
  type WatchedFolder,
  type WatchedFolderOptions,
  type WatchedFolderState,
} from './contract.ts';
import { createDirectoryWatches, type DirectoryWatches } from './directory-watches.ts';
import { createEventDebounce, type EventDebounce } from './event-debounce.ts';
import { createFileReader, type FileReader } from './file-reader.ts';
import { stabilityRules } from './file-systems.ts';
import { createIgnoredNames } from './ignored-names.ts';
import { createKnownFiles } from './known-files.ts';
import { listFolder, nameIn, namesNotUtf8 } from './listing.ts';
import { Pickup } from './pickup.ts';
import type { StabilityRules } from './stability.ts';
import { createSweepSchedule, type SweepSchedule } from './sweep-schedule.ts';

/** Interval of checks for a folder that is missing or cannot be read, milliseconds. */
const MISSING_RETRY_MS = 30_000;
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
  return new DirectoryFolder(options);
}

class DirectoryFolder implements WatchedFolder {
  readonly name: string;
  readonly path: string;
  readonly ready: Promise<void>;
  readonly #settings: WatchedFolderOptions['settings'];
  readonly #log: WatchedFolderOptions['log'];
  readonly #onState: WatchedFolderOptions['onState'];
  readonly #ignored: (name: string) => boolean;
  readonly #recursive: boolean;
  readonly #memory = createKnownFiles();
  readonly #fileReader: FileReader;
  readonly #pickup: Pickup;
  readonly #watches: DirectoryWatches;
  readonly #rounds: SweepSchedule;
  readonly #burst: EventDebounce;
  #rules: StabilityRules;
  #state: WatchedFolderState = { phase: 'Initializing', exists: false, notices: 'none', error: null };
  #folderError: string | null = null;
  #listedOnce = false;
  #badNames: ReadonlySet<string> = new Set();
  #stopping: Promise<void> | undefined;
  #announceReady = () => {};

  constructor(options: WatchedFolderOptions) {
    const { name, settings, clock, log } = options;
    const folder = resolve(options.path);
    this.name = name;
    this.path = folder;
    this.#settings = settings;
    this.#log = log;
    this.#onState = options.onState;
    this.#ignored = createIgnoredNames(settings);
    this.#recursive = settings.recursive ?? false;
    this.#fileReader = createFileReader(folder, { limit: settings.concurrency, clock });
    this.#rules = stabilityRules(settings.stability, undefined);
    this.#pickup = new Pickup({
      options,
      folder,
      fileReader: this.#fileReader,
      memory: this.#memory,
      rules: () => this.#rules,
      onDirectory: (directory) => this.#onDirectory(directory),
      onChange: () => this.#changed(),
    });
    this.#watches = createDirectoryWatches({
      folder,
      onName: (directory, fileName) => this.#onName(directory, fileName),
      onError: (directory, error) => this.#onWatchError(directory, error),
      onBusy: () => this.#rounds.request(),
      onRefused: (directory, message) => this.#onWatchRefused(directory, message),
    });
    this.#rounds = createSweepSchedule(
      clock,
      () => this.#survey(),
      () => this.#surveyed(),
    );
    this.#burst = createEventDebounce(clock, this.#rounds.request);
    this.ready = new Promise<void>((settle) => {
      this.#announceReady = settle;
    });
  }

  start(): void {
    this.#rounds.start();
  }

  recheck(path: string): void {
    const names = relative(this.path, resolve(path)).split('/');
    const [first] = names;
    if (first === '' || first === '..' || (names.length > 1 && !this.#recursive)) return;
    if (!names.some(this.#ignored)) this.#pickup.recheck(names.join('/'));
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  state(): WatchedFolderState {
    return this.#state;
  }

  async exists(): Promise<boolean> {
    try {
      return (await stat(this.path)).isDirectory();
    } catch {
      return false;
    }
  }

  #publish(part: Partial<WatchedFolderState>): void {
    const next = { ...this.#state, ...part, error: this.#folderError ?? this.#pickup.failures() };
    const same =
      next.phase === this.#state.phase &&
      next.exists === this.#state.exists &&
      next.notices === this.#state.notices &&
      next.error === this.#state.error;
    this.#state = next;
    if (!same) this.#onState(this.#state);
  }

  #changed(): void {
    if (this.#stopping !== undefined) return;
    const taken =
      this.#state.phase === 'Initializing' && this.#listedOnce && this.#pickup.initialLeft() === 0;
    this.#publish(taken ? { phase: 'Running' } : {});
    if (taken) this.#announceReady();
  }

  #surveyed(): void {
    this.#listedOnce = true;
    this.#changed();
  }

  /** Runs one listing. Resolves with the milliseconds until the next one. */
  async #survey(): Promise<number> {
    try {
      const identity = await this.#identify();
      if (identity === undefined) return await this.#missing();
      // A share may be mounted over a folder at any time.
      this.#rules = stabilityRules(this.#settings.stability, await fileSystemOf(this.path));
      if (!this.#state.exists)
        this.#log.info('A watched folder is there.', {
          Folder: this.name,
          Path: this.path,
          QuietMs: this.#rules.quietMs,
        });
      this.#publish({ exists: true });
      await this.#watches.open('', identity);
      this.#publish({ notices: this.#watches.complete() ? 'events' : 'polling' });
      this.#folderError = await this.#list();
      this.#publish({ notices: this.#watches.complete() ? 'events' : 'polling' });
      return this.#settings.sweepIntervalMs;
    } catch (error) {
      const { code, message } = describeFailure(error);
      if (code === 'ENOENT') return await this.#missing();
      const sentence = `The input folder ${this.path} cannot be read: ${message}`;
      if (this.#folderError !== sentence)
        this.#log.error('A watched folder cannot be read.', { Folder: this.name, Error: message });
      this.#folderError = sentence;
      return this.#missingRetryMs();
    }
  }

  /** Identity of the directory at the path; undefined for none. */
  async #identify(): Promise<string | undefined> {
    try {
      const stats = await stat(this.path);
      if (!stats.isDirectory()) throw new Error('it is not a directory');
      return identityOf(stats);
    } catch (error) {
      const { code } = describeFailure(error);
      if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
      throw error;
    }
  }

  async #missing(): Promise<number> {
    if (this.#state.exists || !this.#listedOnce)
      this.#log.warn('A watched folder is missing.', { Folder: this.name, Path: this.path });
    await this.#watches.retainOnly(NONE);
    this.#pickup.clear();
    this.#folderError = null;
    this.#publish({ exists: false, notices: 'none' });
    return this.#missingRetryMs();
  }

  #missingRetryMs(): number {
    return this.#settings.missingRetryMs ?? MISSING_RETRY_MS;
  }

  /** Returns a message about directories that could not be listed; null when all could. */
  async #list(): Promise<string | null> {
    const askAgain = this.#memory.active(MAX_OFFERED_AGAIN);
    const entered = new Set(['']);
    const unlisted: string[] = [];
    const folder = this.path;
    const doubtful = await listFolder({
      folder,
      rules: {
        recursive: this.#recursive,
        ignored: this.#ignored,
        // Watched before it is listed, so that no later file is missed.
        entering: async (directory) => {
          const stats = await lstat(resolve(folder, directory));
          if (!stats.isDirectory()) throw new Error('it is not a directory any more');
          entered.add(directory);
          await this.#watches.open(directory, identityOf(stats));
        },
        unlistable(directory, error) {
          const { code, message } = describeFailure(error);
          if (code === 'ENOENT' || code === 'ENOTDIR') return;
          unlisted.push(`The directory ${resolve(folder, directory)} cannot be read: ${message}`);
        },
      },
      memory: this.#memory,
      fileReader: this.#fileReader,
      limit: this.#settings.concurrency,
      observe: (fileName) => this.#pickup.observe(fileName, 'sweep', !this.#listedOnce),
      stopped: () => this.#stopping !== undefined,
    });
    await this.#watches.retainOnly(entered);
    this.#pickup.retryUnreadable();
    for (const fileName of askAgain) {
      if (this.#pickup.has(fileName)) continue;
      this.#memory.remove(fileName);
      this.#pickup.observe(fileName, 'sweep');
    }
    const misnamed = await this.#reportBadNames(doubtful);
    return this.#reportUnlisted(unlisted) ?? misnamed;
  }

  #reportUnlisted([first, ...others]: readonly string[]): string | null {
    if (first === undefined) return null;
    if (this.#folderError !== first)
      this.#log.warn('A directory of a watched folder cannot be read; the others go on.', {
        Folder: this.name,
        Error: first,
        Others: others.length,
      });
    return first;
  }

  /** @returns what is said of the folder; null when all names can be read */
  async #reportBadNames(directories: ReadonlySet<string>): Promise<string | null> {
    const found = new Map<string, string>();
    for (const directory of directories)
      for (const { bytes, text } of await namesNotUtf8(this.path, directory)) found.set(bytes, text);
    let logged = 0;
    for (const bytes of found.keys()) {
      if (this.#badNames.has(bytes) || logged === MAX_BAD_NAMES_LOGGED) continue;
      logged += 1;
      this.#log.warn('A file is skipped: its name is not UTF-8.', { Folder: this.name, NameBytes: bytes });
    }
    this.#badNames = new Set(found.keys());
    const [first] = found.values();
    if (first === undefined) return null;
    const others = found.size === 1 ? '' : ` and ${found.size - 1} more`;
    return `Names that are not UTF-8 cannot be read, so these are not signed until they are renamed: ${first}${others}`;
  }

  #onName(directory: string, fileName: string | undefined): void {
    if (fileName === undefined) {
      this.#watches.markUncertain(directory);
      this.#rounds.request();
      return;
    }
    this.#burst.hit();
    if (!this.#ignored(fileName)) this.#pickup.observe(nameIn(directory, fileName), 'event');
  }

  /** The next listing enters a new directory. */
  #onDirectory(directory: string): void {
    if (this.#recursive && !this.#watches.has(directory)) this.#rounds.request();
  }

  #onWatchRefused(directory: string, message: string): void {
    if (this.#state.notices === 'polling') return;
    this.#log.warn(
      'The system gives no change notices for a watched folder; it is listed periodically instead.',
      {
        Folder: this.name,
        Directory: directory,
        Error: message,
        EveryMs: this.#settings.sweepIntervalMs,
      },
    );
    this.#publish({ notices: 'polling' });
  }

  #onWatchError(directory: string, error: Error): void {
    this.#log.warn('Change notices of a watched folder failed; it is listed and watched anew.', {
      Folder: this.name,
      Directory: directory,
      Error: error.message,
    });
    this.#watches.markUncertain(directory);
    this.#rounds.request();
  }

  async #stop(): Promise<void> {
    this.#pickup.stop();
    this.#burst.stop();
    await this.#rounds.stop();
    await this.#watches.retainOnly(NONE);
    await this.#fileReader.idle();
    this.#memory.clear();
    this.#publish({ phase: 'Stopped', notices: 'none' });
    this.#announceReady();
  }
}
