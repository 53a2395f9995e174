/** FIFO queue with amortized constant cost per item. */
export interface FifoQueue<T> {
  readonly length: number;
  push(item: T): void;
  peek(): T | undefined;
  shift(): T | undefined;
  clear(): void;
}

/** Removed items are cut off in runs: one copy per run, not per item. */
const CUT_AFTER = 4_096;

export function createFifoQueue<T>(): FifoQueue<T> {
  let items: T[] = [];
  let head = 0;
  return {
    get length() {
      return items.length - head;
    },
    push(item) {
      items.push(item);
    },
    peek() {
      return items[head];
    },
    shift() {
      if (head === items.length) return undefined;
      const item = items[head];
      head += 1;
      if (head === items.length) {
        items = [];
        head = 0;
      } else if (head >= CUT_AFTER && head * 2 >= items.length) {
        items = items.slice(head);
        head = 0;
      }
      return item;
    },
    clear() {
      items = [];
      head = 0;
    },
  };
}
