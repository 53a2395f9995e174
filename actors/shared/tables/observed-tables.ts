/** Tables within a bound of memory: those that were used least recently give way. */
import type { ObservedTable } from './observed-table.ts';

export class ObservedTables<Facts> {
  readonly #maxBytes: number;
  /** The one used last at the end. */
  readonly #tables = new Map<string, ObservedTable<Facts>>();
  #isClosed = false;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get size(): number {
    return this.#tables.size;
  }

  get(key: string): ObservedTable<Facts> | undefined {
    return this.#tables.get(key);
  }

  /** The table of a key, which is now the one that was used last. @param make receives whether it may take so much memory */
  use(
    key: string,
    make: (mayTake: (bytes: number) => boolean) => ObservedTable<Facts>,
  ): ObservedTable<Facts> {
    const table = this.#tables.get(key) ?? make((bytes) => !this.#isClosed && this.#makesRoom(key, bytes));
    this.#tables.delete(key);
    this.#tables.set(key, table);
    return table;
  }

  /** Forgets all: steps of other nodes were missed. */
  reset(): void {
    // One that is being built misses steps too: the list that waits for it reads the rows.
    for (const table of this.#tables.values()) table.reset();
    this.#tables.clear();
  }

  /** Ends what is being built. */
  close(): void {
    this.#isClosed = true;
    for (const table of this.#tables.values()) table.reset();
  }

  /** Gives up tables for this one. @returns false if it is too large without any other */
  #makesRoom(key: string, bytes: number): boolean {
    if (bytes > this.#maxBytes) return false;
    let others = -(this.#tables.get(key)?.bytes ?? 0);
    for (const table of this.#tables.values()) others += table.bytes;
    for (const [oldest, table] of this.#tables) {
      if (others + bytes <= this.#maxBytes) break;
      if (oldest === key) continue;
      others -= table.bytes;
      table.reset();
      this.#tables.delete(oldest);
    }
    return true;
  }
}
