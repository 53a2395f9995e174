/**
 * File-system events of one directory: the names of changed entries; `sweep.ts` does the listing.
 *
 * chokidar watches small directories. It lists a directory at its changes and takes the state of each entry
 * (https://github.com/paulmillr/chokidar/issues/1109), so `fs.watch` watches large and busy ones. Figures:
 * `docs/decisions/0003-stability.md`.
 */
import { watch } from 'node:fs';
import { opendir } from 'node:fs/promises';
import { basename } from 'node:path';
import { watch as watchWithLibrary } from 'chokidar';

/** Entries above which a directory is large, and events between two listings above which it is busy. */
export const LARGE_DIRECTORY = 64;

export interface FsEvents {
  /** True when the directory was large or busy when its watch was set. */
  readonly isLarge: boolean;
  close(): Promise<void>;
}

export interface FsEventListener {
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
export async function openFsEvents(
  folder: string,
  listener: FsEventListener,
  isBusy: boolean,
): Promise<FsEvents> {
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
export async function isLargeDirectory(folder: string): Promise<boolean> {
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
