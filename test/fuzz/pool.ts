/** Inputs for further mutation: the seeds, and inputs with new outcomes or coverage. */
import type { Random } from './random.ts';

const MAX_KEPT = 800;
const MAX_BYTES = 8 << 20;

export class Pool {
  readonly #seeds: readonly Buffer[];
  readonly #kept: Buffer[] = [];
  #bytes = 0;

  constructor(seeds: readonly Buffer[]) {
    this.#seeds = seeds;
  }

  get kept(): number {
    return this.#kept.length;
  }

  get bytes(): number {
    return this.#bytes;
  }

  pick(random: Random): Buffer {
    return random.pick(this.#kept.length > 0 && random.once(2) ? this.#kept : this.#seeds);
  }

  keep(input: Buffer, random: Random): void {
    // A copy avoids keeping a larger buffer alive.
    const own = Buffer.from(input);
    this.#bytes += own.length;
    this.#kept.push(own);
    while (this.#kept.length > MAX_KEPT || this.#bytes > MAX_BYTES) {
      const [gone] = this.#kept.splice(random.below(this.#kept.length), 1);
      this.#bytes -= gone?.length ?? 0;
    }
  }
}
