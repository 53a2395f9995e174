/** Followers of committed steps. */
import { viewOfActor } from './answers.ts';
import type { Actor, View } from './model/actor.ts';
import { Fatal, Retryable } from './model/failures.ts';
import type { Clock, Millis, Step } from './model/ports.ts';
import { committedViewOf } from './step/step.ts';

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

export class Watch {
  readonly #byKind = new Map<string, Set<Follower>>();
  readonly #waits = new Set<(error: Error) => void>();

  constructor(private readonly clock: Pick<Clock, 'after'>) {}

  committed(step: Step): void {
    const followers = this.#byKind.get(step.actor.address.kind);
    if (followers === undefined) return;
    for (const follower of [...followers]) follower(step);
  }

  #follow(kind: string, follower: Follower): () => void {
    const followers = this.#byKind.get(kind) ?? new Set();
    this.#byKind.set(kind, followers.add(follower));
    return () => {
      followers.delete(follower);
      if (followers.size === 0 && this.#byKind.get(kind) === followers) this.#byKind.delete(kind);
    };
  }

  subscribe<Definition extends Actor>(
    actor: Definition,
    { id, state }: Followed,
    listener: (view: View<Definition>) => void,
  ): () => void {
    return this.#follow(actor.kind, (step) => {
      const { address } = step.actor;
      if (step.ends === true || (id !== undefined && address.id !== id)) return;
      if (state === undefined || step.actor.state === state)
        listener(viewOfActor(actor, committedViewOf(step.actor)));
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
      const look = (view: View<Definition> | undefined): void => {
        try {
          if (view !== undefined && isWanted(view)) give(view);
        } catch (error) {
          fail(error);
        }
      };
      this.#waits.add(fail);
      undo.push(() => this.#waits.delete(fail));
      undo.push(
        this.#follow(actor.kind, (step) => {
          if (step.actor.address.id !== id) return;
          if (step.ends === true) fail(new Fatal('actor.ended', `${what} has ended.`));
          else look(viewOfActor(actor, committedViewOf(step.actor)));
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
      read().then(look, fail);
    });
  }

  /** Rejects all waits: the runtime stops. */
  close(): void {
    for (const fail of [...this.#waits])
      fail(new Retryable('runtime.stopping', 'The runtime stopped before the actor was as wanted.'));
    this.#byKind.clear();
  }
}
