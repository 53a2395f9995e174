/**
 * The outboxes of a runtime: one for messages between actors, one for each handler with partitions, and one for all
 * other effects.
 */

import type { Millis, StoredEffect } from '../model/ports.ts';
import { commonQueue, PartitionedQueue } from '../step/effect-partitions.ts';
import { SEND_EFFECT } from '../step/tell.ts';
import { Outbox, type OutboxDependencies } from './outbox.ts';

export class Outboxes {
  /** Runs the effects without a partition. */
  readonly common: Outbox;
  /** By the name of the handler. */
  readonly #partitioned = new Map<string, Outbox>();
  readonly #all: readonly Outbox[];

  /**
   * @param inFlight effects without a partition in progress at once
   * @param messagesInFlight messages between actors in delivery at once
   */
  constructor(
    dependencies: Omit<OutboxDependencies, 'queue' | 'inFlight'>,
    inFlight: number,
    messagesInFlight: number,
  ) {
    const { store, handlers } = dependencies;
    this.common = new Outbox({ ...dependencies, queue: commonQueue(store), inFlight });
    // One message of a pair at a time, and a failed one before all later ones: so they arrive in order.
    const messages = new PartitionedQueue(store, SEND_EFFECT, 1, true);
    this.#partitioned.set(
      SEND_EFFECT,
      new Outbox({ ...dependencies, queue: messages, inFlight: messagesInFlight }),
    );
    for (const [name, { partitioning }] of Object.entries(handlers)) {
      if (partitioning === undefined) continue;
      const queue = new PartitionedQueue(store, name, partitioning.perPartition);
      this.#partitioned.set(name, new Outbox({ ...dependencies, queue, inFlight: partitioning.atOnce }));
    }
    this.#all = [this.common, ...this.#partitioned.values()];
  }

  /** Wakes the outboxes of the effects of a committed step. */
  committed(effects: readonly StoredEffect[]): void {
    for (const { partition, effect } of effects) {
      (partition === undefined ? this.common : this.#partitioned.get(effect.do))?.wake();
    }
  }

  wake(): void {
    for (const one of this.#all) one.wake();
  }

  wakeAndRearm(): void {
    for (const one of this.#all) one.wakeAndRearm();
  }

  start(): void {
    for (const one of this.#all) one.start();
  }

  async stop(grace: Millis | undefined): Promise<void> {
    await Promise.all(this.#all.map((one) => one.stop(grace)));
  }

  /** Number of effects in progress. */
  get running(): number {
    return this.#all.reduce((sum, { running }) => sum + running, 0);
  }
}
