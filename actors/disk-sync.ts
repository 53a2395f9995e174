/**
 * Makes files and directory entries durable. It waits on libuv's threads, not on the pool's: a sync is waiting
 * and no work, and syncs that wait side by side share the file system's own commits.
 */
import { open } from 'node:fs/promises';

interface Turn {
  readonly running: Promise<void>;
  next: Promise<void> | undefined;
}

export class DiskSync {
  readonly #turns = new Map<string, Turn>();

  /** Resolves once data and length of a written file are durable. */
  async file(path: string): Promise<void> {
    const file = await open(path, 'r');
    try {
      await file.datasync();
    } finally {
      await file.close();
    }
  }

  /**
   * Resolves once every entry made before the call is durable. Those who ask while a sync of the same directory
   * is under way share the next one.
   */
  directory(path: string): Promise<void> {
    const turn = this.#turns.get(path);
    if (!turn) return this.#begin(path);
    turn.next ??= turn.running.catch(() => {}).then(() => this.#begin(path));
    return turn.next;
  }

  #begin(path: string): Promise<void> {
    const running = syncDirectory(path);
    const turn: Turn = { running, next: undefined };
    this.#turns.set(path, turn);
    const forget = () => {
      if (this.#turns.get(path) === turn && turn.next === undefined) this.#turns.delete(path);
    };
    running.then(forget, forget);
    return running;
  }
}

async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
