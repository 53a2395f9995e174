/**
 * Makes directory entries durable for many callers at once: those who ask while a sync of the same directory
 * is under way share the next one.
 */
import { open } from 'node:fs/promises';

interface Turn {
  readonly running: Promise<void>;
  next: Promise<void> | undefined;
}

export class DirectorySync {
  readonly #turns = new Map<string, Turn>();

  /** Resolves once every entry made before the call is durable. */
  sync(path: string): Promise<void> {
    const turn = this.#turns.get(path);
    if (!turn) return this.#begin(path);
    turn.next ??= turn.running.catch(() => {}).then(() => this.#begin(path));
    return turn.next;
  }

  #begin(path: string): Promise<void> {
    const running = syncOnce(path);
    const turn: Turn = { running, next: undefined };
    this.#turns.set(path, turn);
    const forget = () => {
      if (this.#turns.get(path) === turn && turn.next === undefined) this.#turns.delete(path);
    };
    running.then(forget, forget);
    return running;
  }
}

async function syncOnce(path: string): Promise<void> {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
