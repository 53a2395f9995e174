/** Messages between the fuzzing thread and its monitor. */
import { MAX_INPUT } from './mutate/mutation.ts';

export interface FuzzOptions {
  /** Names of `TARGETS`. */
  readonly targets: readonly string[];
  readonly cases: number;
  readonly seed: number;
  /** True: keeps inputs that reach new code; false: only those with new outcomes. */
  readonly guided: boolean;
  /** Limit of processor time per case, in milliseconds. */
  readonly budget: number;
}

export interface Failure {
  readonly target: string;
  readonly kind: 'crash' | 'promise' | 'slow' | 'memory' | 'hang' | 'growth';
  /** Message and stack position, or the figures. */
  readonly detail: string;
  readonly input: Uint8Array;
}

export interface Progress {
  readonly type: 'progress';
  readonly done: number;
  readonly outcomes: number;
  /** Number of executed engine blocks; 0 without coverage. */
  readonly parts: number;
  readonly kept: number;
  readonly rss: number;
}

export type FromFuzzer =
  | Progress
  | { readonly type: 'failure'; readonly failure: Failure }
  | { readonly type: 'end'; readonly byTarget: { readonly [target: string]: TargetFigures } };

export interface TargetFigures {
  readonly cases: number;
  readonly outcomes: number;
  /** Mean wall-clock time in milliseconds. */
  readonly mean: number;
  readonly slowest: number;
}

/** Current input in shared memory, readable by the monitor when the fuzzing thread hangs. */
export class SharedInput {
  readonly memory: SharedArrayBuffer;
  readonly #numbers: Int32Array;
  readonly #bytes: Uint8Array;

  constructor(memory = new SharedArrayBuffer(16 + MAX_INPUT)) {
    this.memory = memory;
    this.#numbers = new Int32Array(memory, 0, 4);
    this.#bytes = new Uint8Array(memory, 16);
  }

  /** Number of started cases. */
  get count(): number {
    return Atomics.load(this.#numbers, 0);
  }

  /** Index in `FuzzOptions.targets`. */
  get target(): number {
    return Atomics.load(this.#numbers, 1);
  }

  get input(): Buffer {
    return Buffer.from(this.#bytes.slice(0, Atomics.load(this.#numbers, 2)));
  }

  begin(target: number, input: Uint8Array): void {
    this.#bytes.set(input);
    Atomics.store(this.#numbers, 1, target);
    Atomics.store(this.#numbers, 2, input.length);
    Atomics.add(this.#numbers, 0, 1);
  }
}
