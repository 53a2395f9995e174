/**
 * Queues of effects: the common queue, and the partitions of one handler, which take turns and are bounded each. Only
 * effects in progress are held in memory; waiting effects are in the store.
 */
import type { ActorStore, Millis, StoredEffect } from '../ports.ts';
import { compareKeys } from '../store/keys.ts';

/** A source of effects for an outbox. */
export interface EffectQueue {
  /** Leases up to `limit` effects that are due. */
  lease(now: Millis, limit: number): Promise<readonly StoredEffect[]>;
  /** Earliest due time of an unleased effect that may start. */
  nextDue(): Promise<Millis | undefined>;
  /** Releases a leased effect. Returns true when others waited for its slot. */
  ended(effect: StoredEffect): boolean;
}

/** The queue of all effects without a queue key. */
export function commonQueue(store: ActorStore): EffectQueue {
  return {
    lease: (now, limit) => store.leaseEffects(now, limit),
    nextDue: () => store.nextEffectDue(),
    ended: () => false,
  };
}

/** Partitions read at once. */
const PAGE_SIZE = 64;

/** Builds the queue key as stored: unique over all handlers. */
export function partitionName(handler: string, queueKey: string): string {
  return `${handler}/${queueKey}`;
}

export class PartitionedQueue implements EffectQueue {
  readonly #store: ActorStore;
  readonly #prefix: string;
  readonly #perPartition: number;
  /** Effects in progress by queue key. */
  readonly #running = new Map<string, number>();
  /** Queue key of the partition served last; the next round starts after it. */
  #last: string | undefined;

  constructor(store: ActorStore, handler: string, perPartition: number) {
    this.#store = store;
    this.#prefix = partitionName(handler, '');
    this.#perPartition = perPartition;
  }

  /** Serves all partitions once, starting after the one served last. */
  async lease(now: Millis, limit: number): Promise<readonly StoredEffect[]> {
    const leased: StoredEffect[] = [];
    const last = this.#last;
    if (last !== undefined) await this.#leaseBetween(last, undefined, now, limit, leased);
    await this.#leaseBetween(undefined, last, now, limit, leased);
    return leased;
  }

  /** Leases from the partitions after `after`, up to and including `until`. */
  async #leaseBetween(
    after: string | undefined,
    until: string | undefined,
    now: Millis,
    limit: number,
    leased: StoredEffect[],
  ): Promise<void> {
    for await (const { queueKey, due } of this.#partitions(after)) {
      if (leased.length >= limit) return;
      if (until !== undefined && compareKeys([queueKey], [until]) > 0) return;
      const room = Math.min(this.#freeSlots(queueKey), limit - leased.length);
      if (due > now || room <= 0) continue;
      const effects = await this.#store.leaseEffects(now, room, queueKey);
      if (effects.length === 0) continue;
      this.#running.set(queueKey, (this.#running.get(queueKey) ?? 0) + effects.length);
      this.#last = queueKey;
      leased.push(...effects);
    }
  }

  async nextDue(): Promise<Millis | undefined> {
    let earliest: Millis | undefined;
    for await (const { queueKey, due } of this.#partitions(undefined)) {
      // A partition at its limit is read again when one of its effects ends.
      if (this.#freeSlots(queueKey) > 0 && (earliest === undefined || due < earliest)) earliest = due;
    }
    return earliest;
  }

  ended({ lane: queueKey }: StoredEffect): boolean {
    if (queueKey === undefined) return false;
    const running = this.#running.get(queueKey) ?? 0;
    if (running <= 1) this.#running.delete(queueKey);
    else this.#running.set(queueKey, running - 1);
    return running >= this.#perPartition;
  }

  #freeSlots(queueKey: string): number {
    return this.#perPartition - (this.#running.get(queueKey) ?? 0);
  }

  async *#partitions(
    from: string | undefined,
  ): AsyncGenerator<{ readonly queueKey: string; readonly due: Millis }> {
    let after = from;
    for (;;) {
      const page = await this.#store.partitions({
        prefix: this.#prefix,
        ...(after !== undefined && { after }),
        limit: PAGE_SIZE,
      });
      yield* page;
      after = page.at(-1)?.queueKey;
      if (page.length < PAGE_SIZE || after === undefined) return;
    }
  }
}
