/**
 * Makes files and directory entries durable on libuv's threads, not in the pool: a sync only waits, and concurrent
 * syncs share commits of the file system.
 */
import { closeSync, constants, fdatasync, fsync, openSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';

interface Turn {
  readonly running: Promise<void>;
  /** False while requests of this turn of the event loop are collected. */
  isStarted: boolean;
  next: Promise<void> | undefined;
}

export class DiskSync {
  readonly #turns = new Map<string, Turn>();

  /** Resolves once data and length of a written file are durable. */
  file(path: string): Promise<void> {
    return onDescriptor(path, constants.O_NOFOLLOW, fdatasync);
  }

  /**
   * Resolves when every entry created before the call is durable. Callers during a sync of the same directory share the
   * next one.
   */
  directory(path: string): Promise<void> {
    const turn = this.#turns.get(path);
    if (!turn) return this.#begin(path);
    if (!turn.isStarted) return turn.running;
    turn.next ??= turn.running.catch(() => {}).then(() => this.#begin(path));
    return turn.next;
  }

  #begin(path: string): Promise<void> {
    const running = setImmediate().then(() => {
      turn.isStarted = true;
      // Links are followed: a configured folder may be one to another place.
      return onDescriptor(path, constants.O_DIRECTORY, fsync);
    });
    const turn: Turn = { running, isStarted: false, next: undefined };
    this.#turns.set(path, turn);
    const forget = () => {
      if (this.#turns.get(path) === turn && turn.next === undefined) this.#turns.delete(path);
    };
    running.then(forget, forget);
    return running;
  }
}

/**
 * Runs only the sync on another thread. Open and close of a recently used file take microseconds, less than a thread
 * switch.
 */
function onDescriptor(
  path: string,
  flags: number,
  sync: (fd: number, done: (error: Error | null) => void) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const fd = openSync(path, constants.O_RDONLY | flags);
    sync(fd, (error) => {
      closeSync(fd);
      if (error) reject(error);
      else resolve();
    });
  });
}
