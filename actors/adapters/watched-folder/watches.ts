/** The watches on a folder and on the directories below it, each set anew when another directory is at its path. */
import { join } from 'node:path';
import { describeFailure } from '../../../runtime/index.ts';
import { type Notices, openNotices } from './notices.ts';

export interface WatchesParts {
  /** Absolute path of the folder. */
  readonly folder: string;
  /** Something happened to this name in a directory; undefined when the system does not say which. */
  readonly onName: (directory: string, fileName: string | undefined) => void;
  /** Notices of a directory failed after they had begun. */
  readonly onError: (directory: string, error: Error) => void;
  /** A watch could not be set. */
  readonly onRefused: (directory: string, message: string) => void;
}

export interface Watches {
  /**
   * Watches the directory, unless that is done already. `''` is the folder itself. Never rejects.
   * @param identity tells one directory at the path from the next
   */
  open(directory: string, identity: string): Promise<void>;
  has(directory: string): boolean;
  /** True when every directory opened since the last `keepOnly` has its watch. */
  complete(): boolean;
  /** The directory's watch is set anew when it is opened next: what it reports is incomplete. */
  doubt(directory: string): void;
  /** Ends the watches of all other directories. */
  keepOnly(directories: ReadonlySet<string>): Promise<void>;
}

interface Watch {
  readonly notices: Notices;
  readonly of: string;
  doubtful: boolean;
}

export function createWatches({ folder, onName, onError, onRefused }: WatchesParts): Watches {
  const watches = new Map<string, Watch>();
  const refused = new Set<string>();

  async function close(directory: string): Promise<void> {
    const watch = watches.get(directory);
    watches.delete(directory);
    await watch?.notices.close();
  }

  return {
    async open(directory, identity) {
      const known = watches.get(directory);
      if (known?.of === identity && !known.doubtful) return;
      await close(directory);
      try {
        const notices = await openNotices(join(folder, directory), {
          onName: (fileName) => onName(directory, fileName),
          onError: (error) => onError(directory, error),
        });
        watches.set(directory, { notices, of: identity, doubtful: false });
        refused.delete(directory);
      } catch (error) {
        refused.add(directory);
        onRefused(directory, describeFailure(error).message);
      }
    },
    has: (directory) => watches.has(directory),
    complete: () => refused.size === 0,
    doubt(directory) {
      const watch = watches.get(directory);
      if (watch) watch.doubtful = true;
    },
    async keepOnly(directories) {
      for (const directory of refused) if (!directories.has(directory)) refused.delete(directory);
      const others = [...watches.keys()].filter((directory) => !directories.has(directory));
      await Promise.all(others.map(close));
    },
  };
}
