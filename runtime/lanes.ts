/**
 * The queues that effects wait in: the common one, and the lanes of one handler, which take turns, each with a bound
 * of its own. Nothing is kept here but what is in work; what waits, waits in the store.
 */
import type { ActorStore, Millis, StoredEffect } from './ports.ts';
import { compareKeys } from './store/keys.ts';

/** What waits for an outbox. */
export interface EffectQueue {
  /** Leases up to `limit` effects that are due. */
  lease(now: Millis, limit: number): Promise<readonly StoredEffect[]>;
  /** Earliest time at which an unleased effect that may start is due. */
  nextDue(): Promise<Millis | undefined>;
  /** A leased effect is no longer in work. True when others waited for it. */
  ended(effect: StoredEffect): boolean;
}

/** The queue of all effects without a lane. */
export function commonQueue(store: ActorStore): EffectQueue {
  return {
    lease: (now, limit) => store.leaseEffects(now, limit),
    nextDue: () => store.nextEffectDue(),
    ended: () => false,
  };
}

/** Lanes read at once. */
const PIECE = 64;

/** Name of a lane in the store: unique over all handlers. */
export function laneName(handler: string, lane: string): string {
  return `${handler}/${lane}`;
}

export class LaneQueue implements EffectQueue {
  readonly #store: ActorStore;
  readonly #prefix: string;
  readonly #perLane: number;
  /** Effects in work by lane. */
  readonly #running = new Map<string, number>();
  /** The lane that was served last; the next one begins. */
  #last: string | undefined;

  constructor(store: ActorStore, handler: string, perLane: number) {
    this.#store = store;
    this.#prefix = laneName(handler, '');
    this.#perLane = perLane;
  }

  /** Goes round once, from the lane after the one that was served last. */
  async lease(now: Millis, limit: number): Promise<readonly StoredEffect[]> {
    const leased: StoredEffect[] = [];
    const last = this.#last;
    if (last !== undefined) await this.#leaseBetween(last, undefined, now, limit, leased);
    await this.#leaseBetween(undefined, last, now, limit, leased);
    return leased;
  }

  /** From the lanes after `after`, up to and including `until`. */
  async #leaseBetween(
    after: string | undefined,
    until: string | undefined,
    now: Millis,
    limit: number,
    leased: StoredEffect[],
  ): Promise<void> {
    for await (const { lane, due } of this.#lanes(after)) {
      if (leased.length >= limit) return;
      if (until !== undefined && compareKeys([lane], [until]) > 0) return;
      const room = Math.min(this.#room(lane), limit - leased.length);
      if (due > now || room <= 0) continue;
      const effects = await this.#store.leaseEffects(now, room, lane);
      if (effects.length === 0) continue;
      this.#running.set(lane, (this.#running.get(lane) ?? 0) + effects.length);
      this.#last = lane;
      leased.push(...effects);
    }
  }

  async nextDue(): Promise<Millis | undefined> {
    let earliest: Millis | undefined;
    for await (const { lane, due } of this.#lanes(undefined)) {
      // A lane at its bound is looked at again when one of its effects ends.
      if (this.#room(lane) > 0 && (earliest === undefined || due < earliest)) earliest = due;
    }
    return earliest;
  }

  ended({ lane }: StoredEffect): boolean {
    if (lane === undefined) return false;
    const running = this.#running.get(lane) ?? 0;
    if (running <= 1) this.#running.delete(lane);
    else this.#running.set(lane, running - 1);
    return running >= this.#perLane;
  }

  #room(lane: string): number {
    return this.#perLane - (this.#running.get(lane) ?? 0);
  }

  async *#lanes(from: string | undefined): AsyncGenerator<{ readonly lane: string; readonly due: Millis }> {
    let after = from;
    for (;;) {
      const piece = await this.#store.lanes({
        prefix: this.#prefix,
        ...(after !== undefined && { after }),
        limit: PIECE,
      });
      yield* piece;
      after = piece.at(-1)?.lane;
      if (piece.length < PIECE || after === undefined) return;
    }
  }
}
