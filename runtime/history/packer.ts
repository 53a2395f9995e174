/**
 * Makes actors small that have ended, once a checkpoint covers them. Goes through the leaves of the checkpoints in order,
 * and the store keeps how far: so it goes on where a stop, a crash or an earlier version of the store has left it.
 *
 * A turn is as small as a step or two, and each is followed by a pause: the steps of a busy service wait no longer for one,
 * and 1,000 actors a second are more than end in that time.
 */
import { describeFailure } from '../model/failures.ts';
import type { ActorStore, Clock, Log, Millis, RestingActor } from '../model/ports.ts';
import { CHECKPOINTS_VIEW, LEAVES_VIEW, parseLeaf } from './checkpoint.ts';

export interface HistoryPackerOptions {
  readonly store: Pick<ActorStore, 'packing' | 'rows'>;
  readonly clock: Clock;
  readonly log: Log;
  /** By kind the states in which an actor has ended. */
  readonly restsIn: RestingStates;
}

export type RestingStates = ReadonlyMap<string, readonly string[]>;

type Key = readonly (string | number)[];

/** Leaves of a turn: two for each actor. */
const TURN = 32;
const PAUSE: Millis = 10;

export class HistoryPacker {
  readonly #options: HistoryPackerOptions;
  #isRunning = false;
  /** Checkpoints were made since the run began. */
  #isBehind = false;
  #isStopped = false;

  constructor(options: HistoryPackerOptions) {
    this.#options = options;
  }

  /** Begins to pack, in the background. */
  start(): void {
    this.#isBehind = true;
    if (!this.#isRunning && !this.#isStopped && this.#options.store.packing !== undefined) void this.#run();
  }

  /** Ends it; the next start goes on. */
  stop(): void {
    this.#isStopped = true;
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    const { clock, store } = this.#options;
    const { packing } = store;
    try {
      while (this.#isBehind && !this.#isStopped) {
        if ((await packing?.begin?.()) === false) return;
        while (this.#isBehind && !this.#isStopped) {
          this.#isBehind = false;
          for (let node = await this.#nodeAfter([]); node !== undefined; node = await this.#nodeAfter([node]))
            await this.#leavesOf(node);
        }
        await packing?.end?.();
        // It may take longer than the next checkpoint, which is packed then.
        await packing?.refill?.(async () => {
          await clock.sleep(PAUSE);
          return !this.#isStopped;
        });
      }
    } catch (error) {
      if (!this.#isStopped)
        this.#options.log.warn('Ended jobs could not be packed; the next checkpoint repeats it.', {
          ...describeFailure(error),
        });
    } finally {
      this.#isRunning = false;
    }
  }

  /** Nodes that made checkpoints, of earlier keys too. */
  async #nodeAfter(key: Key): Promise<string | undefined> {
    const after = key.length === 0 ? {} : { after: [...key, Number.MAX_SAFE_INTEGER] };
    const [row] = await this.#options.store.rows({ view: CHECKPOINTS_VIEW, ...after, limit: 1 });
    return row === undefined ? undefined : String(row.key[0]);
  }

  async #leavesOf(node: string): Promise<void> {
    const { store, clock } = this.#options;
    let after = await store.packing?.doneUntil(node);
    while (!this.#isStopped) {
      const rows = await store.rows({
        view: LEAVES_VIEW,
        prefix: [node],
        ...(after && { after }),
        limit: TURN,
      });
      const last = rows.at(-1);
      if (last === undefined) return;
      await store.packing?.pack(
        rows.flatMap(({ value }) => this.#restingActor(value)),
        node,
        last.key,
      );
      if (rows.length < TURN) return;
      after = last.key;
      await clock.sleep(PAUSE);
    }
  }

  #restingActor(value: unknown): readonly RestingActor[] {
    const leaf = parseLeaf(value);
    const states = leaf?.type === 'state' ? this.#options.restsIn.get(leaf.kind) : undefined;
    if (leaf === undefined || states === undefined) return [];
    return [{ kind: leaf.kind, id: leaf.id, revision: leaf.line, states }];
  }
}
