/**
 * Round-robin queue over partitions, so that a partition with many items does not delay the others. FIFO within a
 * partition.
 */
export class FairQueue<Item> {
  /** The next partition to serve comes first. */
  readonly #partitions = new Map<string, Item[]>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Number of items of one partition. */
  sizeOf(partition: string): number {
    return this.#partitions.get(partition)?.length ?? 0;
  }

  push(partition: string, item: Item): void {
    const items = this.#partitions.get(partition);
    if (items === undefined) this.#partitions.set(partition, [item]);
    else items.push(item);
    this.#size += 1;
  }

  /** Inserts an item at the head of its partition. */
  unshift(partition: string, item: Item): void {
    const items = this.#partitions.get(partition);
    if (items === undefined) this.#partitions.set(partition, [item]);
    else items.unshift(item);
    this.#size += 1;
  }

  /**
   * Removes the first items of the next partition and moves on to the one after it.
   * @param lengthOf number of waiting items that may be taken together; 0 skips the partition
   */
  dequeue(
    lengthOf: (partition: string, items: readonly Item[]) => number,
  ): { readonly partition: string; readonly items: readonly Item[] } | undefined {
    for (const [partition, waiting] of this.#partitions) {
      const length = lengthOf(partition, waiting);
      if (length <= 0) continue;
      const items = waiting.splice(0, length);
      this.#size -= items.length;
      this.#partitions.delete(partition);
      if (waiting.length > 0) this.#partitions.set(partition, waiting);
      return { partition, items };
    }
    return undefined;
  }
}
