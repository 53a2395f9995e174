/**
 * Loads of actors that share statements: while one statement is in progress, the next loads are collected, so that
 * concurrent steps of a node share round trips.
 */
import type { ActorAddress, StoredActor } from '../../ports.ts';
import { actorKey } from './steps-as-arrays.ts';

/** Maximum actors of one statement. */
const BATCH_SIZE = 128;

interface WaitingLoad {
  readonly key: Buffer;
  readonly resolve: (actor: StoredActor | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/** Reads the bodies of actors by their keys, in any order. */
type ReadActors = (
  keys: readonly Buffer[],
) => Promise<readonly { readonly key: Buffer; readonly body: string }[]>;

export class ActorLoads {
  readonly #read: ReadActors;
  #waiting: WaitingLoad[] = [];
  #isBusy = false;

  constructor(read: ReadActors) {
    this.#read = read;
  }

  /** Resolves with the actor as of a moment after the call. Rejects as `read` does. */
  load(address: ActorAddress): Promise<StoredActor | undefined> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ key: actorKey(address), resolve, reject });
      if (!this.#isBusy) void this.#work();
    });
  }

  async #work(): Promise<void> {
    this.#isBusy = true;
    // Loads of the same turn share the first statement.
    await undefined;
    while (this.#waiting.length > 0) await this.#next(this.#waiting.splice(0, BATCH_SIZE));
    this.#isBusy = false;
  }

  /** Never rejects. */
  async #next(batch: readonly WaitingLoad[]): Promise<void> {
    try {
      const rows = await this.#read(batch.map(({ key }) => key));
      const bodies = new Map(rows.map(({ key, body }) => [key.toString('latin1'), body]));
      for (const { key, resolve } of batch) {
        const body = bodies.get(key.toString('latin1'));
        resolve(body === undefined ? undefined : (JSON.parse(body) as StoredActor));
      }
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}
