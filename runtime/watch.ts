/** Followers of committed steps. */
import { viewOfStored } from './answers.ts';
import { announce } from './host/host.ts';
import type { Actor, View } from './model/actor.ts';
import { Fatal, Retryable } from './model/failures.ts';
import type { ActorStore, Clock, Log, Millis, Step } from './model/ports.ts';

/** Choice of actors of a kind. @default all */
export interface Followed<State extends string = string> {
  readonly id?: string;
  /** Only steps that end in this state. */
  readonly state?: State;
}

export interface WaitOptions {
  /** @default no limit */
  readonly timeoutMs?: Millis;
  readonly signal?: AbortSignal;
}

type Follower = (step: Step) => void;

/**
 * Interval at which a wait reads its actor on a store with nodes, milliseconds: a node that was silent for longer than
 * its lease is not told of the steps of that time.
 */
const READ_AGAIN_MS = 30_000;

export class Watch {
  /** By kind; those of one actor by kind and id. */
  readonly #followers = new Map<string, Set<Follower>>();
  readonly #waits = new Set<(error: Error) => void>();

  constructor(
    private readonly store: Pick<ActorStore, 'nodes'>,
    private readonly clock: Pick<Clock, 'now' | 'after'>,
    private readonly log: Log,
  ) {}

  committed(step: Step): void {
    if (this.#followers.size === 0) return;
    const { kind, id } = step.actor.address;
    for (const key of [kind, keyOf(kind, id)]) {
      const followers = this.#followers.get(key) ?? [];
      // One that throws must not keep the step from the others.
      for (const follower of [...followers]) announce(follower, this.log, step);
    }
  }

  #follow(kind: string, id: string | undefined, follower: Follower): () => void {
    const key = keyOf(kind, id);
    const followers = this.#followers.get(key) ?? new Set();
    this.#followers.set(key, followers.add(follower));
    return () => {
      followers.delete(follower);
      if (followers.size === 0 && this.#followers.get(key) === followers) this.#followers.delete(key);
    };
  }

  subscribe<Definition extends Actor>(
    actor: Definition,
    { id, state }: Followed,
    listener: (view: View<Definition>) => void,
  ): () => void {
    return this.#follow(actor.kind, id, (step) => {
      // Those of a newer version belong to the nodes of that version.
      if (step.ends === true || step.actor.version > actor.version) return;
      const view = viewOfStored(actor, step.actor, this.clock.now());
      if (state === undefined || view.state === state) listener(view);
    });
  }

  /** @param read the actor as stored now */
  waitFor<Definition extends Actor>(
    actor: Definition,
    id: string,
    isWanted: (view: View<Definition>) => boolean,
    { timeoutMs, signal }: WaitOptions,
    read: () => Promise<View<Definition> | undefined>,
  ): Promise<View<Definition>> {
    const what = `${actor.kind}/${id}`;
    if (signal?.aborted) return Promise.reject(signal.reason);
    return new Promise((resolve, reject) => {
      const undo: (() => void)[] = [];
      const settle = <Value>(end: (value: Value) => void) => {
        return (value: Value): void => {
          for (const one of undo) one();
          end(value);
        };
      };
      const give = settle(resolve);
      const fail = settle(reject);
      let isKnown = false;
      const look = (view: View<Definition> | undefined): void => {
        if (view === undefined) return;
        isKnown = true;
        if (isWanted(view)) give(view);
      };
      this.#waits.add(fail);
      undo.push(() => this.#waits.delete(fail));
      undo.push(
        this.#follow(actor.kind, id, (step) => {
          try {
            look(viewOfStored(actor, step.actor, this.clock.now()));
            // The step that ends an actor may be the one that is waited for.
            if (step.ends === true) fail(ended(what));
          } catch (error) {
            fail(error);
          }
        }),
      );
      if (signal !== undefined) {
        const abort = (): void => fail(signal.reason);
        signal.addEventListener('abort', abort, { once: true });
        undo.push(() => signal.removeEventListener('abort', abort));
      }
      if (timeoutMs !== undefined) {
        const late = `${what} was not as wanted within ${timeoutMs} milliseconds.`;
        undo.push(this.clock.after(timeoutMs, () => fail(new Retryable('wait.time-limit', late))));
      }
      if (this.store.nodes !== undefined) {
        const readAgain = async (): Promise<void> => {
          const wasKnown = isKnown;
          // A store that does not answer is read again later.
          const view = await read().catch(() => null);
          if (view === undefined && wasKnown) fail(ended(what));
          else if (view !== null) look(view);
        };
        undo.push(every(this.clock, READ_AGAIN_MS, () => void readAgain().catch(fail)));
      }
      read().then(look).catch(fail);
    });
  }

  /** Rejects all waits: the runtime stops. */
  close(): void {
    for (const fail of [...this.#waits])
      fail(new Retryable('runtime.stopping', 'The runtime stopped before the actor was as wanted.'));
    this.#followers.clear();
  }
}

function keyOf(kind: string, id: string | undefined): string {
  return id === undefined ? kind : `${kind}/${id}`;
}

function ended(what: string): Fatal {
  return new Fatal('actor.ended', `${what} has ended.`);
}

/** Runs a task again and again; the returned function ends it. */
function every(clock: Pick<Clock, 'after'>, interval: Millis, task: () => void): () => void {
  let cancel = (): void => {};
  const arm = (): void => {
    cancel = clock.after(interval, () => {
      arm();
      task();
    });
  };
  arm();
  return () => cancel();
}
