/** The calls to actors: the same for a program and for the handlers of effects. */
import type { Actor, Answer, AnswerTo, CreateInput, EventOf, QuestionOf, StateOf, View } from './actor.ts';
import type { SendOptions } from './definition.ts';
import type { Millis, Row, RowQuery } from './ports.ts';

export interface WaitOptions {
  /** @default no limit */
  readonly timeoutMs?: Millis;
  readonly signal?: AbortSignal;
}

export interface AskOptions extends SendOptions {
  /** Time until the answer, milliseconds. From 1 to a day. @default 30,000 */
  readonly timeoutMs?: Millis;
  readonly signal?: AbortSignal;
}

export interface ListQuery<State extends string = string> {
  /** @default all states */
  readonly state?: State;
  /** Only actors with a greater id. @default from the first */
  readonly after?: string;
  /** From 1 to 1000. @default 100 */
  readonly limit?: number;
}

/** Choice of rows: those of a view whose keys start with `prefix`, in the order of their keys. */
export interface RowsQuery extends Pick<RowQuery, 'view' | 'prefix' | 'reverse' | 'after'> {
  /** From 1 to 1000. @default 100 */
  readonly limit?: number;
}

/** They reject with `Retryable` where a later repetition may help, with `Fatal`, and with what a machine throws. */
export interface Calls {
  /** Creates an actor in its machine's initial state. `exists`: there is one of this id already. */
  create<Definition extends Actor>(
    actor: Definition,
    id: string,
    ...input: CreateInput<Definition>
  ): Promise<Answer<Definition>>;
  /** Sends one message, which makes one step. With an `id` it is consumed once, within `Actor.idWindow`. */
  send<Definition extends Actor>(
    actor: Definition,
    id: string,
    event: EventOf<Definition>,
    options?: SendOptions,
  ): Promise<Answer<Definition>>;
  /**
   * Sends one message and resolves with what the `answers` of the actor say to it: in the state after its step, or else
   * after the first later step that has an answer. A message that was consumed before, by its `id`, is answered as the
   * actor is now; so a question that had no answer in time is repeated under its id. Rejects with `ask.no-answer`, `ask.not-accepted`,
   * `ask.unknown-actor`, `ask.taken`, `ask.stopped`, `ask.time-limit`, `ask.too-many`, `actor.ended`, `runtime.stopping`, as `send` does,
   * with what the answer throws, or with the reason of the signal.
   */
  ask<Definition extends Actor, Event extends QuestionOf<Definition>>(
    actor: Definition,
    id: string,
    event: Event,
    options?: AskOptions,
  ): Promise<AnswerTo<Definition, Event>>;
  /** Returns the actor as last committed; undefined when there is none. Never waits for its messages. */
  read<Definition extends Actor>(actor: Definition, id: string): Promise<View<Definition> | undefined>;
  /** Restarts a stopped actor in its last state. */
  restart<Definition extends Actor>(actor: Definition, id: string): Promise<Answer<Definition>>;
  /** Ends an actor in any state: it goes with its history, rows, names, counters, deadlines and effects. */
  end<Definition extends Actor>(actor: Definition, id: string): Promise<Answer<Definition>>;
  /**
   * Resolves with the actor once it is as wanted, at once if it is already. Waits also for one that is not created yet.
   * Rejects with `wait.time-limit`, `actor.ended`, `runtime.stopping`, or with the reason of the signal.
   */
  waitFor<Definition extends Actor>(
    actor: Definition,
    id: string,
    isWanted: (view: View<Definition>) => boolean,
    options?: WaitOptions,
  ): Promise<View<Definition>>;
  /**
   * Lists actors in the order of their ids. A page may hold fewer than `limit`; an empty one is the last. Leaves out
   * actors that nodes of a newer version have stored.
   */
  list<Definition extends Actor>(
    actor: Definition,
    query?: ListQuery<StateOf<Definition>>,
  ): Promise<readonly View<Definition>[]>;
  /** Reads `rows` of actors, in the order of their keys. Pass the key of the last one as `after` of the next page. */
  query(query: RowsQuery): Promise<readonly Row[]>;
}
