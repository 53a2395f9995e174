/** Hashes that arrive while others are signed are sent together: one authorization serves many. */
import type { RequestLimit } from './key-service.ts';

/** Batches under way at once. */
const MAX_RUNNING = 2;

interface Waiting<Order> {
  readonly order: Order;
  readonly resolve: (value: Buffer) => void;
  readonly reject: (error: unknown) => void;
}

export class HashBatches<Order> {
  #waiting: Waiting<Order>[] = [];
  #running = 0;

  constructor(
    /** Signs orders of one kind, within a limit of its own. @returns the values in their order */
    private readonly signAll: (orders: readonly Order[]) => Promise<readonly Buffer[]>,
    /** Most orders of a batch, and their kind. */
    private readonly rules: { readonly most: () => number; readonly kindOf: (order: Order) => string },
  ) {}

  /** @param limit ends the wait; what is in a batch by then is signed with it */
  sign(order: Order, { signal }: RequestLimit): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const drop = () => {
        this.#waiting = this.#waiting.filter((one) => one !== own);
        reject(signal.reason as Error);
      };
      const own: Waiting<Order> = { order, resolve, reject };
      if (signal.aborted) return drop();
      signal.addEventListener('abort', drop);
      this.#waiting.push(own);
      // After the callers of this turn.
      setImmediate(() => this.#start());
    });
  }

  #start(): void {
    const [first] = this.#waiting;
    if (first === undefined || this.#running >= MAX_RUNNING) return;
    const { most, kindOf } = this.rules;
    const kind = kindOf(first.order);
    const batch = this.#waiting.filter(({ order }) => kindOf(order) === kind).slice(0, most());
    this.#waiting = this.#waiting.filter((one) => !batch.includes(one));
    this.#running += 1;
    void this.#settle(batch).finally(() => {
      this.#running -= 1;
      this.#start();
    });
  }

  async #settle(batch: readonly Waiting<Order>[]): Promise<void> {
    try {
      const values = await this.signAll(batch.map(({ order }) => order));
      for (const [index, { resolve }] of batch.entries()) resolve(values[index] ?? Buffer.alloc(0));
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}
