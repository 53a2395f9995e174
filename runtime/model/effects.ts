/**
 * Effects as definitions: the name, the types of input and outcome, and the handler in one object, whose `action` a
 * machine names in its `setup`.
 */
import type { Actor, EventOf } from './actor.ts';
import type { Calls } from './calls.ts';
import type { EffectAttempt, EffectHandler, HandledEffect } from './definition.ts';
import { Fatal } from './failures.ts';
import { numberProblem } from './options.ts';
import type { ActorEvent, Clock, JournalData, Json, Log, Millis, StoredEffect } from './ports.ts';
import { marked, type Request, type RequestAction, SEND_EFFECT } from './requests.ts';
import { inputOf as membersOf, RESERVED_MEMBERS } from './tracing.ts';

/** One attempt of an effect, with what its handler may use. */
export interface EffectRun extends EffectAttempt {
  readonly heartbeat: () => void;
  readonly clock: Clock;
  readonly log: Log;
  /** The calls of the program to its actors; they also work while the runtime stops. */
  readonly runtime: Calls;
}

/**
 * @typeParam Input what the machine gives as `params`: an object without a member `do`
 * @typeParam Outcome the message for the actor, or null when it needs none
 */
export interface EffectOptions<Input, Outcome, Failure = Outcome> {
  /**
   * Carries out the effect, at least once per `key`, which is the same for each attempt: whatever must not happen twice
   * takes the key. Resolves with the message for the actor, or with null. Any error is tried again later, up to `tries`
   * and `totalMs`, except a `Fatal`, which gives up at once.
   */
  run(input: Input, attempt: EffectRun): Promise<Outcome>;
  /** Time limit of one attempt, milliseconds; then its signal is aborted. @default that of the runtime, one hour */
  readonly timeoutMs?: Millis;
  /**
   * Longest time between two calls of `heartbeat`, milliseconds; then the attempt ends as at its time limit: a long effect
   * that says that it lives is found dead early. @default none
   */
  readonly heartbeatMs?: Millis;
  /**
   * Time limit over all attempts and their pauses, milliseconds, from the step that asks for the effect. Then it is given
   * up (`effect.total-limit`). @default none
   */
  readonly totalMs?: Millis;
  /** Number of attempts before giving up. @default Infinity */
  readonly tries?: number;
  /** Returns the message for the actor when the effect is given up. @default it is set aside; see `Runtime.retry` */
  failed?(input: Input, failure: { readonly code: string; readonly message: string }): Failure;
  /** State of the step before the effect starts: readable, or safe from a power failure. @default durable */
  readonly after?: 'visible' | 'durable';
  /** Limits for effects that may take long, such as calls to external servers. @default none */
  readonly partitioning?: {
    /** Effects in progress at once, in addition to those of others. */
    readonly atOnce: number;
    /** Effects of one partition in progress at once. */
    readonly perPartition: number;
    /** Returns the partition, at most 200 characters. Pure. */
    partitionOf(input: Input): string;
  };
}

/** An effect with its handler; `action` is for the machine. */
export interface Effect<Input, Outcome> extends HandledEffect<Outcome> {
  readonly action: RequestAction<Input>;
}

const NO_HEARTBEAT = (): void => {};

/** Defines an effect. The name is stored and never changes. Throws `effect.malformed`. */
export function defineEffect<
  Input extends (object & { readonly do?: never }) | undefined,
  Outcome extends { readonly type: string } | null,
  Failure extends { readonly type: string } = never,
>(name: string, options: EffectOptions<Input, Outcome, Failure>): Effect<Input, Outcome | Failure> {
  const refuse = (what: string): never => {
    throw new Fatal('effect.malformed', `effect "${name}": ${what}`);
  };
  if (typeof name !== 'string' || name === '') refuse('its name is a text.');
  if (typeof options?.run !== 'function') refuse('`run` is missing.');
  const { run, failed, timeoutMs, heartbeatMs, totalMs, tries, after = 'durable', partitioning } = options;
  const problem =
    numberProblem(options, {
      timeoutMs: [1],
      heartbeatMs: [1],
      totalMs: [1],
      tries: [1, Number.POSITIVE_INFINITY],
    }) ?? numberProblem(partitioning, { atOnce: [1], perPartition: [1] }, 'partitioning.');
  if (problem !== undefined) refuse(problem);
  if (failed !== undefined && typeof failed !== 'function') refuse('`failed` is no function.');
  if (!['visible', 'durable'].includes(after))
    refuse(`\`after\` is ${String(after)}, not visible or durable.`);
  if (partitioning !== undefined && typeof partitioning.partitionOf !== 'function')
    refuse('`partitioning.partitionOf` is no function.');
  const inputOf = (effect: StoredEffect['effect']): Input => membersOf(effect) as Input;
  const handler: EffectHandler<StoredEffect['effect'], ActorEvent> = {
    after,
    run: async (effect, attempt, { calls, clock, log }) => {
      // `signal` is an accessor, which a spread of the attempt would leave out.
      const { key, actor, failures, signal, heartbeat = NO_HEARTBEAT } = attempt;
      const given: EffectRun = {
        key,
        actor,
        failures,
        signal,
        heartbeat,
        clock,
        log,
        runtime: calls as Calls,
      };
      return (await run(inputOf(effect), given)) as ActorEvent | null;
    },
    ...(failed && {
      failed: (effect, failure) => failed(inputOf(effect), failure) as ActorEvent,
    }),
    ...(timeoutMs !== undefined && { timeLimitMs: timeoutMs }),
    ...(heartbeatMs !== undefined && { heartbeatMs }),
    ...(tries !== undefined && { tries }),
    ...(partitioning && {
      partitioning: { ...partitioning, partitionOf: (effect) => partitioning.partitionOf(inputOf(effect)) },
    }),
  };
  const request = (params: unknown): Request => {
    if (
      params !== undefined &&
      (!isPlainObject(params) || RESERVED_MEMBERS.some((member) => member in params))
    )
      throw new Fatal(
        'step.malformed-action',
        `The effect "${name}" needs params that are a plain object without the members ${RESERVED_MEMBERS.join(', ')}.`,
      );
    const effect = { do: name, ...(params as { readonly [member: string]: Json }) };
    return { kind: 'effect', effect, totalMs };
  };
  return { name, handler, action: marked<Input>({ effect: name, request }) };
}

/** True for an object whose members are all it has: a list or a date would become another value. */
function isPlainObject(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** Params of an action made by `tell`. */
export interface TellParams<Event> {
  readonly id: string;
  readonly event: Event;
}

/**
 * Makes an action that sends a message to an actor of a kind, which consumes it once. Messages of one actor to another
 * arrive in order. The receiver is an actor's definition, whose messages are typed, or the name of a kind.
 */
export function tell<Receiver extends Actor>(
  receiver: Receiver,
): RequestAction<TellParams<EventOf<Receiver>>>;
export function tell(kind: string): RequestAction<TellParams<ActorEvent>>;
export function tell(receiver: string | Actor): RequestAction<TellParams<ActorEvent>> {
  const kind = typeof receiver === 'string' ? receiver : receiver.kind;
  return marked({
    request: (params) => {
      const { id, event } = (params ?? {}) as { readonly id: Json; readonly event: Json };
      return { kind: 'effect', effect: { do: SEND_EFFECT, to: { kind, id }, event } };
    },
  });
}

/** An action that writes a line of the actor's journal. */
export const note: RequestAction<{ readonly message: string; readonly data?: JournalData }> = marked({
  request: (params) => {
    const { message, data } = (params ?? {}) as { readonly message?: unknown; readonly data?: JournalData };
    if (typeof message !== 'string')
      throw new Fatal('step.malformed-action', 'The action `note` needs params with a text `message`.');
    return { kind: 'note', message, data };
  },
});

/** An action that drops the pending effects of the actor. */
export const dropEffects: RequestAction<unknown> = marked({ request: () => ({ kind: 'drop-effects' }) });
