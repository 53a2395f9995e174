/**
 * Change notices of one directory: the names in it that something happened to.
 *
 * The library underneath sets one watch per file, lists the directory again and again while it changes, and
 * takes the state of every entry each time. Here it holds one watch on the directory and nothing else; listing
 * is this project's own (`sweep.ts`). Figures: `docs/decisions/0003-stability.md`.
 */
import { basename } from 'node:path';
import { FSWatcher } from 'chokidar';

export interface Notices {
  close(): Promise<void>;
}

export interface NoticeReceiver {
  /** Something happened to the entry of this name; undefined when the system does not say which. */
  onName(fileName: string | undefined): void;
  /** No more notices will come, or some may be lost. Not called for what `openNotices` rejects with. */
  onError(error: Error): void;
}

/** Refusing the turn to list is the one public place where the library can be kept from listing. */
class DirectoryWatcher extends FSWatcher {
  override _throttle(...turn: Parameters<FSWatcher['_throttle']>): ReturnType<FSWatcher['_throttle']> {
    return turn[0] === 'readdir' ? false : super._throttle(...turn);
  }
}

/**
 * Starts to watch an existing directory. Rejects with the system's error (`ENOSPC`, `EMFILE`: the limits of its
 * notice queues), or when the library does not find the directory (it reads a backslash as a separator).
 *
 * @param folder Absolute, without a trailing separator.
 */
export async function openNotices(folder: string, receiver: NoticeReceiver): Promise<Notices> {
  const watcher = new DirectoryWatcher({
    atomic: false,
    depth: 0,
    ignoreInitial: true,
    ignored: (path) => path !== folder,
  });
  let failure: Error | undefined;
  let open = false;
  watcher.on('error', (thrown) => {
    const error = thrown instanceof Error ? thrown : new Error(String(thrown));
    failure ??= error;
    if (open) receiver.onError(error);
  });
  const own = basename(folder);
  watcher.on('raw', (_kind, fileName) => {
    // What happens to the directory itself arrives under its own name, as it would for an entry of that name.
    const known =
      typeof fileName === 'string' && fileName !== '' && fileName !== own && !fileName.includes('/');
    receiver.onName(known ? fileName : undefined);
  });
  // Closing before this event would leave a watch behind that was just being set.
  const ready = new Promise<void>((resolve) => watcher.once('ready', resolve));
  watcher.add(folder);
  await ready;
  if (failure === undefined && !(folder in watcher.getWatched())) {
    failure = new Error(`no watch could be set on ${folder}`);
  }
  if (failure !== undefined) {
    await watcher.close();
    throw failure;
  }
  open = true;
  return { close: () => watcher.close() };
}
