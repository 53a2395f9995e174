/**
 * Components that run on one node at a time: each has a lease, which lasts as long as its node's session. Without other
 * nodes they start at once.
 */

import { describeFailure, type StoreNodes } from '@sealwright/runtime/core';
import type { ServiceRuntime } from '../../hosting/service-plan.ts';

/** Milliseconds after which the number of nodes is polled, or after a failure the lease is tried again. */
const RETRY_MS = 1000;

/** Polls that find the same number of nodes after which a lease that another node has is tried again. */
const MAX_POLLS = 10;

export class Singletons {
  readonly #cancels = new Map<string, () => void>();
  /** Attempts in progress. */
  readonly #attempts = new Map<string, Promise<void>>();
  readonly #held = new Set<string>();
  #stopped = false;

  constructor(private readonly runtime: Pick<ServiceRuntime, 'store' | 'clock' | 'log'>) {}

  /** True while the component of this name runs here. */
  runsHere(name: string): boolean {
    return this.#held.has(name);
  }

  /** Starts a component once its lease is this node's; resolves after the first attempt. `start` is called once. */
  async run(name: string, start: () => Promise<void> | void): Promise<void> {
    const { nodes } = this.runtime.store;
    if (nodes === undefined) {
      this.#held.add(name);
      await start();
      return;
    }
    const attempt = this.#attempt(name, nodes, start);
    this.#attempts.set(name, attempt);
    await attempt;
  }

  /** Acquires nothing more; waits for components that are starting. */
  async stop(): Promise<void> {
    this.#stopped = true;
    for (const cancel of this.#cancels.values()) cancel();
    await Promise.allSettled(this.#attempts.values());
  }

  /** Releases the leases of stopped components, so that other nodes start them. */
  async release(): Promise<void> {
    const { log, store } = this.runtime;
    for (const name of this.#held) {
      this.#held.delete(name);
      await store.nodes?.release(name).catch((error) =>
        log.warn('A lease could not be released; it ends with this process.', {
          Lease: name,
          ...describeFailure(error),
        }),
      );
    }
  }

  async #attempt(name: string, nodes: StoreNodes, start: () => Promise<void> | void): Promise<void> {
    const { log } = this.runtime;
    if (this.#stopped) return;
    let { count } = nodes;
    try {
      if (!this.#held.has(name) && (await nodes.acquire(name))) {
        this.#held.add(name);
        log.info('This node runs a component that one node runs at a time.', { Lease: name });
      }
      if (this.#held.has(name)) {
        await start();
        return;
      }
    } catch (error) {
      count = 0;
      log.warn('A component could not be started; this is tried again.', {
        Lease: name,
        ...describeFailure(error),
      });
    }
    const poll = (polls: number) => {
      const cancel = this.runtime.clock.after(RETRY_MS, () => {
        if (nodes.count === count && polls < MAX_POLLS) poll(polls + 1);
        else this.#attempts.set(name, this.#attempt(name, nodes, start));
      });
      this.#cancels.set(name, cancel);
    };
    poll(1);
  }
}
