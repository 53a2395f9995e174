/** Followers of committed steps. */
import { viewOfStored } from './answers.ts';
import { announce } from './host/host.ts';
import type { Actor, View } from './model/actor.ts';
import type { WaitOptions } from './model/calls.ts';
import { Fatal, Retryable } from './model/failures.ts';
import type { ActorStore, Clock, Log, Millis, Step } from './model/ports.ts';

/** Choice of actors of a kind. @default all */
export interface Followed<State extends string = string> {
  readonly id?: string;
  /** Only steps that end in this state. */
  readonly state?: State;
}

/** A message whose answer is waited for. */
interface Question<Definition extends Actor> {
  /** Undefined: the actor has no answer in this state. */
  answer(view: View<Definition>): unknown;
  /** Resolves with the revision of the step that consumed the message; 0: it was consumed before. */
  deliver(): Promise<number>;
  read(): Promise<View<Definition> | undefined>;
}

interface Wait<Value> {
  give(value: Value): void;
  fail(error: unknown): void;
  readonly undo: (() => void)[];
}

type Follower = (step: Step) => void;

/**
 * Interval at which a wait reads its actor on a store with nodes, milliseconds: a node that was silent for longer than
 * its lease is not told of the steps of that time.
 */
const READ_AGAIN_MS = 30_000;

/** Steps that are kept for the answer to a message which is not yet consumed; 256 messages may be before it. */
const MAX_EARLY = 1000;

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

  waitFor<Definition extends Actor>(
    actor: Definition,
    id: string,
    {
      isWanted,
      options,
      read,
    }: {
      readonly isWanted: (view: View<Definition>) => boolean;
      readonly options: WaitOptions;
      /** The actor as stored now. */
      readonly read: () => Promise<View<Definition> | undefined>;
    },
  ): Promise<View<Definition>> {
    const what = `${actor.kind}/${id}`;
    const late = new Retryable(
      'wait.time-limit',
      `${what} was not as wanted within ${options.timeoutMs} milliseconds.`,
    );
    return this.#until(options, late, ({ give, fail, undo }) => {
      let isKnown = false;
      const look = (view: View<Definition> | undefined): void => {
        if (view === undefined) return;
        isKnown = true;
        if (isWanted(view)) give(view);
      };
      const followed = (step: Step): void => {
        try {
          look(viewOfStored(actor, step.actor, this.clock.now()));
          // The step that ends an actor may be the one that is waited for.
          if (step.ends === true) fail(ended(what));
        } catch (error) {
          fail(error);
        }
      };
      undo.push(this.#follow(actor.kind, id, followed));
      const readAgain = async (): Promise<void> => {
        const wasKnown = isKnown;
        // A store that does not answer is read again later.
        const view = await read().catch(() => null);
        if (view === undefined && wasKnown) fail(ended(what));
        else if (view !== null) look(view);
      };
      undo.push(this.#readAgain(() => void readAgain().catch(fail)));
      read().then(look).catch(fail);
    });
  }

  /** Delivers a message and resolves with the first answer of its actor, from the step on that consumed it. */
  firstAnswer<Definition extends Actor>(
    actor: Definition,
    id: string,
    question: Question<Definition>,
    options: WaitOptions,
  ): Promise<unknown> {
    const what = `${actor.kind}/${id}`;
    const late = new Retryable(
      'ask.time-limit',
      `${what} gave no answer within ${options.timeoutMs} milliseconds; its message may be consumed later.`,
    );
    return this.#until(options, late, ({ give, fail, undo }) => {
      /** Revision of the step that consumed the message, once it is known. */
      let consumed: number | undefined;
      /** Steps that are seen before that; the one that is waited for may be among them. */
      let early: View<Definition>[] = [];
      let isOver = false;
      const look = (view: View<Definition>): boolean => {
        const value = view.revision < (consumed ?? 0) ? undefined : question.answer(view);
        if (value !== undefined) give(value);
        return value !== undefined;
      };
      const followed = (step: Step): void => {
        try {
          const view = viewOfStored(actor, step.actor, this.clock.now());
          if (consumed !== undefined) {
            if (!look(view) && step.ends === true) fail(ended(what));
            return;
          }
          // An actor of this id that has ended is another one.
          if (step.basedOn === 0) early = [];
          early.push(view);
          if (early.length > MAX_EARLY) early.shift();
          isOver = step.ends === true;
        } catch (error) {
          fail(error);
        }
      };
      undo.push(this.#follow(actor.kind, id, followed));
      const readAgain = async (): Promise<void> => {
        const view = await question.read();
        if (view === undefined) fail(ended(what));
        else look(view);
      };
      const ask = async (): Promise<void> => {
        consumed = await question.deliver();
        if (early.some(look)) return;
        if (isOver) fail(ended(what));
        else await readAgain();
      };
      // A store that does not answer is read again later.
      const readIfAsked = (): void => {
        if (consumed !== undefined) void readAgain().catch(() => {});
      };
      undo.push(this.#readAgain(readIfAsked));
      ask().catch(fail);
    });
  }

  /** Settles a promise once, and then undoes what it needed. */
  #until<Value>(
    { timeoutMs, signal }: WaitOptions,
    late: Error,
    begin: (wait: Wait<Value>) => void,
  ): Promise<Value> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    return new Promise((resolve, reject) => {
      const undo: (() => void)[] = [];
      const settle = <Outcome>(end: (value: Outcome) => void) => {
        return (value: Outcome): void => {
          for (const one of undo) one();
          end(value);
        };
      };
      const give = settle(resolve);
      const fail = settle(reject);
      this.#waits.add(fail);
      undo.push(() => this.#waits.delete(fail));
      if (signal !== undefined) {
        const abort = (): void => fail(signal.reason);
        signal.addEventListener('abort', abort, { once: true });
        undo.push(() => signal.removeEventListener('abort', abort));
      }
      if (timeoutMs !== undefined) undo.push(this.clock.after(timeoutMs, () => fail(late)));
      begin({ give, fail, undo });
    });
  }

  /** Runs a task again and again on a store with nodes. */
  #readAgain(task: () => void): () => void {
    return this.store.nodes === undefined ? () => {} : every(this.clock, READ_AGAIN_MS, task);
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
