/** Watches of a folder and its subdirectories; replaced when another directory appears at the same path. */
import { join } from 'node:path';
import { describeFailure } from '@sealwright/runtime';
import { type FsEvents, isLargeDirectory, LARGE_DIRECTORY, openFsEvents } from './fs-events.ts';

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
