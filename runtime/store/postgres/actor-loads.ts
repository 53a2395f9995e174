/**
 * Loads of actors that share statements: while one statement is in progress, the next loads are collected, so that
 * concurrent steps of a node share round trips. A statement that is not answered soon may have lost its connection
 * without a sign: its loads are asked once more on another connection, and others no longer wait for it.
 */
import { systemClock } from '../../model/clock.ts';
import type { ActorAddress, Clock, StoredActor } from '../../model/ports.ts';
import { actorKey } from './steps-as-arrays.ts';

/** Maximum actors of one statement. */
const BATCH_SIZE = 128;

/** Milliseconds after which a statement counts as late. */
const LATE_MS = 1000;

/** Statements in progress at most, late ones included. */
const MAX_STATEMENTS = 3;

/** Statements that ask for one actor at most. */
const ATTEMPTS = 2;

interface WaitingLoad {
  readonly key: Buffer;
  readonly resolve: (actor: StoredActor | undefined) => void;
  readonly reject: (error: unknown) => void;
  /** Statements that have asked for it. */
  attempts: number;
  /** Statements that may still answer, and places in the queue. */
  open: number;
  isAnswered: boolean;
}

/** Reads the bodies of actors by their keys, in any order. */
type ReadActors = (
  keys: readonly Buffer[],
) => Promise<readonly { readonly key: Buffer; readonly body: string }[]>;

export class ActorLoads {
  readonly #read: ReadActors;
  readonly #clock: Pick<Clock, 'after'>;
  #waiting: WaitingLoad[] = [];
  /** Statements in progress, and those of them that are not late. */
  #statements = 0;
  #punctual = 0;
  #isArmed = false;

  constructor(read: ReadActors, clock: Pick<Clock, 'after'> = systemClock) {
    this.#read = read;
    this.#clock = clock;
  }

  /** Resolves with the actor as of a moment after the call. Rejects as `read` does. */
  load(address: ActorAddress): Promise<StoredActor | undefined> {
    return new Promise((resolve, reject) => {
      const key = actorKey(address);
      this.#waiting.push({ key, resolve, reject, attempts: 0, open: 1, isAnswered: false });
      this.#arm();
    });
  }

  /** Loads of the same turn share a statement. */
  #arm(): void {
    if (this.#isArmed || this.#waiting.length === 0) return;
    if (this.#punctual > 0 || this.#statements >= MAX_STATEMENTS) return;
    this.#isArmed = true;
    queueMicrotask(() => {
      this.#isArmed = false;
      void this.#next(this.#waiting.splice(0, BATCH_SIZE));
    });
  }

  /** Never rejects. */
  async #next(batch: readonly WaitingLoad[]): Promise<void> {
    const asked = batch.filter(({ isAnswered }) => !isAnswered);
    if (asked.length === 0) {
      this.#arm();
      return;
    }
    for (const load of asked) load.attempts += 1;
    this.#statements += 1;
    this.#punctual += 1;
    let isLate = false;
    const cancel = this.#clock.after(LATE_MS, () => {
      isLate = true;
      this.#punctual -= 1;
      this.#askAgain(asked);
      this.#arm();
    });
    try {
      const rows = await this.#read(asked.map(({ key }) => key));
      const bodies = new Map(rows.map(({ key, body }) => [key.toString('latin1'), body]));
      for (const load of asked) {
        if (load.isAnswered) continue;
        const body = bodies.get(load.key.toString('latin1'));
        const actor = body === undefined ? undefined : (JSON.parse(body) as StoredActor);
        load.isAnswered = true;
        load.resolve(actor);
      }
    } catch (error) {
      for (const load of asked) {
        load.open -= 1;
        // Another statement may still answer.
        if (load.open === 0 && !load.isAnswered) load.reject(error);
      }
    } finally {
      cancel();
      this.#statements -= 1;
      if (!isLate) this.#punctual -= 1;
      this.#arm();
    }
  }

  #askAgain(loads: readonly WaitingLoad[]): void {
    for (const load of loads) {
      if (load.isAnswered || load.attempts >= ATTEMPTS) continue;
      load.open += 1;
      this.#waiting.push(load);
    }
  }
}
