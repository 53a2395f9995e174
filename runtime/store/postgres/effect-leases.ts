/**
 * The effects that this node has leased, as far as it knows. When the answer to a lease is lost, the store holds
 * leases of effects that this node does not run: they are given back before the next lease, so that the effects run.
 */
import type { Clock, EffectKey } from '../../model/ports.ts';

/** Time in which the server may still run a statement of a connection that was cut, milliseconds. */
const LATE_MS = 10_000;

export class EffectLeases {
  readonly #held = new Set<EffectKey>();
  /** Those of them that the store has leased once more. */
  readonly #twice = new Set<EffectKey>();
  /** Leases without an answer so far. */
  readonly #pending = new Set<Promise<unknown>>();
  /** Elapsed time at which a lease may have been lost; undefined: nothing can be lost. */
  #failedAt: number | undefined;
  #releasing: Promise<void> | undefined;

  constructor(
    private readonly clock: Pick<Clock, 'elapsed'>,
    /** Gives back the leases of all other effects of this node; resolves with their number. */
    private readonly release: (held: readonly EffectKey[]) => Promise<number>,
    /** Called after leases were given back. */
    private readonly released: () => void,
  ) {}

  /** Runs `lease` and records what it resolves with. Rejects as it does. */
  async add<Leased extends { readonly key: EffectKey }>(
    lease: () => Promise<readonly Leased[]>,
  ): Promise<readonly Leased[]> {
    if (this.#failedAt !== undefined) await this.#releaseLost(this.#failedAt);
    const pending = lease();
    this.#pending.add(pending);
    try {
      const leased = await pending;
      // The server has lost the lease of an effect that runs here (`UNFLUSHED`), or its answer to the end of it is on the way.
      const again = leased.filter(({ key }) => this.#held.has(key));
      for (const { key } of again) this.#twice.add(key);
      for (const { key } of leased) this.#held.add(key);
      return leased.filter((effect) => !again.includes(effect));
    } catch (error) {
      this.#failedAt = this.clock.elapsed();
      throw error;
    } finally {
      this.#pending.delete(pending);
    }
  }

  /** Records that an effect is settled or deferred. */
  end(key: EffectKey): void {
    this.#held.delete(key);
    // The second lease may have followed the end: nothing runs under it.
    if (this.#twice.delete(key)) this.#failedAt = this.clock.elapsed();
  }

  #releaseLost(failedAt: number): Promise<void> {
    this.#releasing ??= this.#release(failedAt).finally(() => {
      this.#releasing = undefined;
    });
    return this.#releasing;
  }

  async #release(failedAt: number): Promise<void> {
    const { clock, release, released } = this;
    // Leases that follow wait for this one, so afterwards every known lease is in `#held`.
    await Promise.allSettled(this.#pending);
    const found = await release([...this.#held]);
    if (this.#failedAt === failedAt && clock.elapsed() - failedAt > LATE_MS) this.#failedAt = undefined;
    if (found > 0) released();
  }
}
