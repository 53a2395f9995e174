/**
 * Queues of effects: the common queue, and the partitions of one handler, which take turns and are bounded each. Only
 * effects in progress are held in memory; waiting effects are in the store.
 */
import { createHash } from 'node:crypto';
import { Fatal } from '../model/failures.ts';
import { compareKeys } from '../model/keys.ts';
import type { ActorAddress, ActorStore, Millis, Step, StoredEffect } from '../model/ports.ts';
import { SEND_EFFECT } from '../model/requests.ts';
import { checkedMessage } from './step.ts';

type Effect = StoredEffect['effect'];

/** Leaves out unnecessary effects. @param isNeeded functions by the `do` of an effect */
export function withoutNeedless(
  step: Step,
  isNeeded: ReadonlyMap<string, (effect: Effect) => boolean> | undefined,
): Step {
  if (isNeeded === undefined) return step;
  const needed = ({ effect }: StoredEffect) => isNeeded.get(effect.do)?.(effect) ?? true;
  return step.effects.every(needed) ? step : { ...step, effects: step.effects.filter(needed) };
}

/**
 * Adds the partitions of effects. Refuses, before anything is stored, effects without a handler.
 * @param effects known effects, with the function for the partition where there is one
 */
export function withPartitions(
  step: Step,
  effects: ReadonlyMap<string, ((effect: Effect) => string) | null>,
): Step {
  let partitioned = false;
  const stored = step.effects.map((one) => {
    const partition = partitionOfEffect(one, effects);
    if (partition === undefined) return one;
    partitioned = true;
    return { ...one, partition };
  });
  return partitioned ? { ...step, effects: stored } : step;
}

function partitionOfEffect(
  { actor, effect }: StoredEffect,
  effects: ReadonlyMap<string, ((effect: Effect) => string) | null>,
): string | undefined {
  if (effect.do === SEND_EFFECT) return partitionName(SEND_EFFECT, pairOf(actor, checkedMessage(effect).to));
  const partitionOf = effects.get(effect.do);
  if (partitionOf === undefined)
    throw new Fatal('effect.unknown', `No handler exists for the effect "${effect.do}".`);
  return partitionOf === null ? undefined : partitionName(effect.do, partitionOf(effect));
}

/** Result of one lease. */
export interface Lease {
  readonly effects: readonly StoredEffect[];
  /** True when the limit ended the lease: more effects that may start now can be due. */
  readonly isCut: boolean;
  /** True when the last `nextDue` left out effects that may start now. */
  readonly isPastNextDue: boolean;
}

/** A source of effects for an outbox. */
export interface EffectQueue {
  /** Leases up to `limit` effects that are due. */
  lease(now: Millis, limit: number): Promise<Lease>;
  /** Earliest due time of an unleased effect that may start. */
  nextDue(): Promise<Millis | undefined>;
  /** Releases a leased effect. Returns true when others waited for its slot. */
  ended(effect: StoredEffect): boolean;
  /** Returns the due time to store for an effect that failed and is tried again at `until`. */
  postpone(effect: StoredEffect, until: Millis): Millis;
}

/** The queue of all effects without a partition. */
export function commonQueue(store: ActorStore): EffectQueue {
  return {
    async lease(now, limit) {
      const effects = await store.leaseEffects(now, limit);
      return { effects, isCut: effects.length >= limit, isPastNextDue: false };
    },
    nextDue: () => store.nextEffectDue(),
    ended: () => false,
    postpone: (_, until) => until,
  };
}

/**
 * Pauses before a partition is looked at again whose first effect another node has, milliseconds: for the case that its
 * end is not told.
 */
const BEHIND_MS = { first: 200, longest: 5000 };

/** Such partitions in memory. */
const MAX_BEHIND = 10_000;

/** Partitions read at once. */
const PAGE_SIZE = 64;

/** Name of the partition of the messages from one actor to another. */
function pairOf(sender: ActorAddress, receiver: ActorAddress): string {
  const pair = [sender.kind, sender.id, receiver.kind, receiver.id];
  return createHash('sha256').update(JSON.stringify(pair)).digest('base64url');
}

/** Builds the name of a partition as stored: unique over all handlers. */
function partitionName(handler: string, partition: string): string {
  return `${handler}/${partition}`;
}

export class PartitionedQueue implements EffectQueue {
  readonly #store: ActorStore;
  readonly #prefix: string;
  readonly #perPartition: number;
  /** Effects in progress by partition. */
  readonly #running = new Map<string, number>();
  readonly #keepsOrder: boolean;
  /** Partitions whose first effect failed, and the end of their pauses. */
  readonly #pausedUntil = new Map<string, Millis>();
  /** Partitions that wait for an effect of another node, and their pauses. */
  readonly #behind = new Map<string, Millis>();
  /** Partition served last; the next round starts after it. */
  #last: string | undefined;
  /** Partitions that the last `nextDue` left out, because they were at their limit. */
  readonly #leftOut = new Set<string>();

  /** @param keepsOrder a failed effect keeps its place, and its partition pauses; needs a `perPartition` of 1 */
  constructor(store: ActorStore, handler: string, perPartition: number, keepsOrder = false) {
    this.#store = store;
    this.#prefix = partitionName(handler, '');
    this.#perPartition = perPartition;
    this.#keepsOrder = keepsOrder;
  }

  /** Serves all partitions once, starting after the one served last. */
  async lease(now: Millis, limit: number): Promise<Lease> {
    const effects: StoredEffect[] = [];
    for (const [partition, until] of this.#pausedUntil) if (until <= now) this.#pausedUntil.delete(partition);
    const last = this.#last;
    const cut: string[] = [];
    let hasFailed = false;
    const behind = this.#behind.size;
    try {
      if (last !== undefined)
        cut.push(...(await this.#leaseBetween(last, undefined, { now, limit, leased: effects })));
      cut.push(...(await this.#leaseBetween(undefined, last, { now, limit, leased: effects })));
    } catch (error) {
      // What is leased already must run: nobody else would start it.
      if (effects.length === 0) throw error;
      hasFailed = true;
    }
    // Effects of a partition may have ended since its lease.
    const hasRoom = (partition: string): boolean => this.#freeSlots(partition) > 0;
    const isCut = hasFailed || effects.length >= limit || cut.some(hasRoom);
    const isPastNextDue = this.#behind.size > behind || [...this.#leftOut].some(hasRoom);
    return { effects, isCut, isPastNextDue };
  }

  /** Ends the pauses of what waits for effects of other nodes, of which one has ended. False when nothing waits. */
  endedElsewhere(): boolean {
    if (this.#behind.size === 0) return false;
    for (const partition of this.#behind.keys()) this.#pausedUntil.delete(partition);
    return true;
  }

  /**
   * Leases from the partitions after `after`, up to and including `until`. Returns those of which it leased as many as
   * it could.
   */
  async #leaseBetween(
    after: string | undefined,
    until: string | undefined,
    { now, limit, leased }: { readonly now: Millis; readonly limit: number; readonly leased: StoredEffect[] },
  ): Promise<readonly string[]> {
    const cut: string[] = [];
    for await (const { partition, due } of this.#partitions(after)) {
      if (leased.length >= limit) break;
      if (until !== undefined && compareKeys([partition], [until]) > 0) break;
      const room = Math.min(this.#freeSlots(partition), limit - leased.length);
      if (due > now || room <= 0 || this.#pausedUntil.has(partition)) continue;
      const effects = await this.#store.leaseEffects(now, room, partition, this.#keepsOrder);
      if (effects.length === 0) {
        this.#waitBehind(partition, now);
        continue;
      }
      this.#behind.delete(partition);
      this.#running.set(partition, (this.#running.get(partition) ?? 0) + effects.length);
      this.#last = partition;
      leased.push(...effects);
      if (effects.length === room) cut.push(partition);
    }
    return cut;
  }

  #waitBehind(partition: string, now: Millis): void {
    if (!this.#keepsOrder) return;
    const pause = this.#behind.get(partition) ?? BEHIND_MS.first;
    // Some may have gone without being leased.
    if (this.#behind.size >= MAX_BEHIND) this.#behind.clear();
    this.#behind.set(partition, Math.min(BEHIND_MS.longest, 2 * pause));
    this.#pausedUntil.set(partition, now + pause);
  }

  async nextDue(): Promise<Millis | undefined> {
    let earliest: Millis | undefined;
    this.#leftOut.clear();
    for await (const { partition, due } of this.#partitions(undefined)) {
      // A partition at its limit is read again when one of its effects ends.
      if (this.#freeSlots(partition) <= 0) {
        this.#leftOut.add(partition);
        continue;
      }
      const start = Math.max(due, this.#pausedUntil.get(partition) ?? due);
      if (earliest === undefined || start < earliest) earliest = start;
    }
    return earliest;
  }

  ended({ partition }: StoredEffect): boolean {
    if (partition === undefined) return false;
    const running = this.#running.get(partition) ?? 0;
    if (running <= 1) this.#running.delete(partition);
    else this.#running.set(partition, running - 1);
    return running >= this.#perPartition;
  }

  postpone({ partition, dueAt }: StoredEffect, until: Millis): Millis {
    if (!this.#keepsOrder || partition === undefined) return until;
    this.#pausedUntil.set(partition, until);
    return dueAt;
  }

  #freeSlots(partition: string): number {
    return this.#perPartition - (this.#running.get(partition) ?? 0);
  }

  async *#partitions(
    from: string | undefined,
  ): AsyncGenerator<{ readonly partition: string; readonly due: Millis }> {
    let after = from;
    for (;;) {
      const page = await this.#store.partitions({
        prefix: this.#prefix,
        ...(after !== undefined && { after }),
        limit: PAGE_SIZE,
      });
      yield* page;
      after = page.at(-1)?.partition;
      if (page.length < PAGE_SIZE || after === undefined) return;
    }
  }
}
