/** Watches of a folder and its subdirectories; replaced when another directory appears at the same path. */

import { watch } from 'node:fs';
import { opendir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { describeFailure } from '@sealwright/runtime';
import { watch as watchWithLibrary } from 'chokidar';

/** Entries above which a directory is large, and events between two listings above which it is busy. */
export const LARGE_DIRECTORY = 64;

/**
 * File-system events of one directory: the names of changed entries; `listing.ts` does the listing.
 *
 * chokidar watches small directories. It lists a directory at its changes and takes the state of each entry
 * (https://github.com/paulmillr/chokidar/issues/1109), so `fs.watch` watches large and busy ones. Figures:
 * `docs/decisions/0003-stability.md`.
 */
interface FsEvents {
  /** True when the directory was large or busy when its watch was set. */
  readonly isLarge: boolean;
  close(): Promise<void>;
}

interface FsEventListener {
  /** Called for an event of this entry; undefined when the system does not report the name. */
  onName(fileName: string | undefined): void;
  /** Called when events end or may be lost. Not called for the rejections of `openFsEvents`. */
  onError(error: Error): void;
}

/**
 * Starts to watch an existing directory. Rejects with the system's error, e.g. `ENOSPC` or `EMFILE` at the limits of
 * the event queues.
 * @param folder absolute path without a trailing separator
 * @param isBusy true: it has many events, and is watched as a large one
 */
async function openFsEvents(folder: string, listener: FsEventListener, isBusy: boolean): Promise<FsEvents> {
  const own = basename(folder);
  const onEvent = (fileName: unknown) => {
    // Events of the directory itself carry its own name, like those of an entry with that name.
    const known =
      typeof fileName === 'string' && fileName !== '' && fileName !== own && !fileName.includes('/');
    listener.onName(known ? fileName : undefined);
  };
  // The library reads a backslash as a separator.
  if (isBusy || folder.includes('\\') || (await isLargeDirectory(folder)))
    return openLarge(folder, onEvent, listener);
  return openOrdinary(folder, onEvent, listener);
}

/** Reads at most `LARGE_DIRECTORY` entries. */
async function isLargeDirectory(folder: string): Promise<boolean> {
  let count = 0;
  for await (const _ of await opendir(folder)) {
    count += 1;
    if (count > LARGE_DIRECTORY) return true;
  }
  return false;
}

function openLarge(
  folder: string,
  onEvent: (fileName: unknown) => void,
  { onError }: FsEventListener,
): FsEvents {
  const watcher = watch(folder, (_kind, fileName) => onEvent(fileName));
  watcher.on('error', onError);
  return { isLarge: true, close: async () => watcher.close() };
}

async function openOrdinary(
  folder: string,
  onEvent: (fileName: unknown) => void,
  { onError }: FsEventListener,
): Promise<FsEvents> {
  // The library sets no watches on entries that it ignores, and reports their events as `raw`.
  const watcher = watchWithLibrary([], {
    atomic: false,
    depth: 0,
    ignoreInitial: true,
    ignored: (path) => path !== folder,
  });
  let failure: Error | undefined;
  let isOpen = false;
  watcher.on('error', (thrown) => {
    const error = thrown instanceof Error ? thrown : new Error(String(thrown));
    failure ??= error;
    if (isOpen) onError(error);
  });
  watcher.on('raw', (_kind, fileName) => onEvent(fileName));
  // Closing before this event would leak a watch that is being set.
  const ready = new Promise<void>((resolve) => watcher.once('ready', resolve));
  watcher.add(folder);
  await ready;
  if (failure === undefined && !(folder in watcher.getWatched()))
    failure = new Error(`no watch could be set on ${folder}`);
  if (failure !== undefined) {
    await watcher.close();
    throw failure;
  }
  isOpen = true;
  return { isLarge: false, close: () => watcher.close() };
}

export interface DirectoryWatchesOptions {
  /** Absolute path of the folder. */
  readonly folder: string;
  /** Called for an event of a name in a directory; undefined when the system does not report the name. */
  readonly onName: (directory: string, fileName: string | undefined) => void;
  /** Called when the events of a directory fail after their start. */
  readonly onError: (directory: string, error: Error) => void;
  /** Called for a directory with so many events that its next `open` gives it the watch of large ones. */
  readonly onBusy: (directory: string) => void;
  /** Called when a watch could not be set. */
  readonly onRefused: (directory: string, message: string) => void;
}

export interface DirectoryWatches {
  /**
   * Watches the directory, unless it is watched already. `''` is the folder itself. Never rejects.
   * @param identity distinguishes directories that follow each other at one path
   */
  open(directory: string, identity: string): Promise<void>;
  has(directory: string): boolean;
  /** True when every directory opened since the last `retainOnly` has its watch. */
  complete(): boolean;
  /** Marks the events of the directory as incomplete: the next `open` replaces its watch. */
  markUncertain(directory: string): void;
  /** Closes the watches of all other directories. */
  retainOnly(directories: ReadonlySet<string>): Promise<void>;
}

interface Watch {
  readonly events: FsEvents;
  readonly identity: string;
  isUncertain: boolean;
  /** Number of events since the last `open`; counted for the watch of small directories. */
  hits: number;
}

export function createDirectoryWatches({
  folder,
  onName,
  onError,
  onBusy,
  onRefused,
}: DirectoryWatchesOptions): DirectoryWatches {
  const watches = new Map<string, Watch>();
  const refused = new Set<string>();

  async function close(directory: string): Promise<void> {
    const watch = watches.get(directory);
    watches.delete(directory);
    await watch?.events.close();
  }

  function countHit(directory: string): void {
    const watch = watches.get(directory);
    if (watch === undefined || watch.events.isLarge) return;
    watch.hits += 1;
    if (watch.hits === LARGE_DIRECTORY + 1) onBusy(directory);
  }

  /** True when the directory has grown too large, or too busy, for its watch. */
  async function hasOutgrown(watch: Watch, directory: string): Promise<boolean> {
    if (watch.events.isLarge) return false;
    if (watch.hits > LARGE_DIRECTORY) return true;
    watch.hits = 0;
    try {
      return await isLargeDirectory(join(folder, directory));
    } catch {
      // A directory that cannot be listed keeps its watch; the listing reports it.
      return false;
    }
  }

  return {
    async open(directory, identity) {
      const known = watches.get(directory);
      if (known?.identity === identity && !known.isUncertain && !(await hasOutgrown(known, directory)))
        return;
      await close(directory);
      try {
        const isBusy = (known?.hits ?? 0) > LARGE_DIRECTORY;
        const listener = {
          onName(fileName: string | undefined) {
            countHit(directory);
            onName(directory, fileName);
          },
          onError: (error: Error) => onError(directory, error),
        };
        const events = await openFsEvents(join(folder, directory), listener, isBusy);
        watches.set(directory, { events, identity, isUncertain: false, hits: 0 });
        refused.delete(directory);
      } catch (error) {
        refused.add(directory);
        onRefused(directory, describeFailure(error).message);
      }
    },
    has: (directory) => watches.has(directory),
    complete: () => refused.size === 0,
    markUncertain(directory) {
      const watch = watches.get(directory);
      if (watch) watch.isUncertain = true;
    },
    async retainOnly(directories) {
      for (const directory of refused) if (!directories.has(directory)) refused.delete(directory);
      const others = [...watches.keys()].filter((directory) => !directories.has(directory));
      await Promise.all(others.map(close));
    },
  };
}
