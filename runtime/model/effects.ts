/**
 * Effects as definitions: the name, the types of input and outcome, and the handler in one object, whose `action` a
 * machine names in its `setup`.
 */
import type { Actor, EventOf } from './actor.ts';
import type { Calls } from './calls.ts';
import type {
  EffectAttempt,
  EffectHandler,
  EffectPartitioning,
  HandledEffect,
  NamedEffect,
} from './definition.ts';
import { Fatal } from './failures.ts';
import { numberProblem } from './options.ts';
import type {
  ActorEvent,
  Clock,
  JournalData,
  JournalLine,
  Json,
  Log,
  Millis,
  StoredEffect,
} from './ports.ts';
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

/** Terms of an effect, wherever it is asked for. */
export interface EffectTerms<Input> {
  /**
   * Time limit over all attempts and their pauses, milliseconds, from the step that asks for the effect. Then it is given
   * up (`effect.total-limit`). @default none
   */
  readonly totalMs?: Millis;
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

/** Work of an effect: the function that carries it out, and the limits of its attempts. */
export interface EffectWork<Input, Outcome, Failure = Outcome> {
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
  /** Number of attempts before giving up. @default Infinity */
  readonly tries?: number;
  /** Returns the message for the actor when the effect is given up. @default it is set aside; see `Runtime.retry` */
  failed?(input: Input, failure: { readonly code: string; readonly message: string }): Failure;
  /**
   * Returns the message for the actor in place of another attempt, when the node that ran the effect ended. @default the
   * effect runs again
   */
  interrupted?(): Failure;
  /**
   * Returns false when nobody needs the effect at this moment: the step is then stored without it. Asked where one process
   * and thread computes the steps; true in case of doubt. @default true
   */
  isNeeded?(input: Input): boolean;
  /** State of the step before the effect starts: readable, or safe from a power failure. @default durable */
  readonly after?: 'visible' | 'durable';
}

/**
 * @typeParam Input what the machine gives as `params`: an object without a member `do`
 * @typeParam Outcome the message for the actor, or null when it needs none
 */
export type EffectOptions<Input, Outcome, Failure = Outcome> = EffectTerms<Input> &
  EffectWork<Input, Outcome, Failure>;

/** An effect with its handler; `action` is for the machine. */
export interface Effect<Input, Outcome> extends HandledEffect<Outcome> {
  readonly action: RequestAction<Input>;
}

/** An effect without a handler, which `handledBy` makes for `createRuntime({ handlers })`. */
export interface DeclaredEffect<Name extends string, Input, Outcome> extends NamedEffect<Outcome> {
  readonly name: Name;
  readonly action: RequestAction<Input>;
  /** Throws `effect.malformed`. */
  handledBy(work: EffectWork<Input, Outcome, Exclude<Outcome, null>>): HandledEffect<Outcome>;
}

/** Request of a machine for a declared effect: an action of XState, which a decision may hold before it is carried out. */
export type RequestOf<Declared> =
  Declared extends DeclaredEffect<infer Name, infer Input, unknown>
    ? { readonly type: Name; readonly params: Input }
    : never;

type ObjectInput = (object & { readonly do?: never }) | undefined;
type Message = { readonly type: string } | null;

/** Defines an effect with its handler. The name is stored and never changes. Throws `effect.malformed`. */
export function defineEffect<
  Input extends ObjectInput,
  Outcome extends Message,
  Failure extends { readonly type: string } = never,
>(name: string, options: EffectOptions<Input, Outcome, Failure>): Effect<Input, Outcome | Failure> {
  if (typeof options?.run !== 'function') refuse(name, '`run` is missing.');
  const partitioning = storedPartitioning(name, options);
  const handler = handlerOf(name, options, partitioning);
  return { name, partitioning, handler, action: actionOf(name, options.totalMs) };
}

/**
 * Declares an effect whose handler needs what the machine must not know, as services that are opened with the program: the
 * machine's module declares it, another module handles it. The name is stored and never changes. Throws `effect.malformed`.
 * @typeParam Types as in `setup` of XState: `types: {} as { input: { … }; outcome: … }`; `outcome`: the messages for the actor,
 *   null where it needs none
 */
export function declareEffect<
  const Name extends string,
  Types extends { readonly input?: ObjectInput; readonly outcome?: Message } = Readonly<Record<never, never>>,
>(
  name: Name,
  terms: EffectTerms<InputIn<Types>> & { readonly types?: Types } = {},
): DeclaredEffect<Name, InputIn<Types>, OutcomeIn<Types>> {
  const partitioning = storedPartitioning(name, terms);
  return {
    name,
    partitioning,
    action: actionOf(name, terms.totalMs),
    handledBy: (work) => ({ name, partitioning, handler: handlerOf(name, work, partitioning) }),
  };
}

type InputIn<Types> = Types extends { readonly input: infer Input } ? Input : undefined;
type OutcomeIn<Types> = Types extends { readonly outcome: infer Outcome } ? Outcome : null;

function actionOf<Input>(name: string, totalMs: Millis | undefined): RequestAction<Input> {
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
  return marked({ effect: name, request });
}

function refuse(name: string, what: string): never {
  throw new Fatal('effect.malformed', `effect "${name}": ${what}`);
}

function inputOf<Input>(effect: StoredEffect['effect']): Input {
  return membersOf(effect) as Input;
}

/** Returns the partitioning of effects as they are stored. */
function storedPartitioning<Input>(
  name: string,
  { totalMs, partitioning }: EffectTerms<Input>,
): EffectPartitioning | undefined {
  if (typeof name !== 'string' || name === '') refuse(name, 'its name is a text.');
  const problem =
    numberProblem({ totalMs }, { totalMs: [1] }) ??
    numberProblem(partitioning, { atOnce: [1], perPartition: [1] }, 'partitioning.');
  if (problem !== undefined) refuse(name, problem);
  if (partitioning === undefined) return undefined;
  if (typeof partitioning.partitionOf !== 'function')
    refuse(name, '`partitioning.partitionOf` is no function.');
  return { ...partitioning, partitionOf: (effect) => partitioning.partitionOf(inputOf(effect)) };
}

const NO_HEARTBEAT = (): void => {};

function handlerOf<Input, Outcome>(
  name: string,
  work: EffectWork<Input, Outcome, unknown>,
  partitioning: EffectPartitioning | undefined,
): EffectHandler<StoredEffect['effect'], ActorEvent> {
  if (typeof work?.run !== 'function') refuse(name, '`run` is missing.');
  const { timeoutMs, heartbeatMs, tries, after = 'durable' } = work;
  const problem = numberProblem(work, {
    timeoutMs: [1, Number.POSITIVE_INFINITY],
    heartbeatMs: [1],
    tries: [1, Number.POSITIVE_INFINITY],
  });
  if (problem !== undefined) refuse(name, problem);
  for (const member of ['failed', 'interrupted', 'isNeeded'] as const)
    if (work[member] !== undefined && typeof work[member] !== 'function')
      refuse(name, `\`${member}\` is no function.`);
  if (!['visible', 'durable'].includes(after))
    refuse(name, `\`after\` is ${String(after)}, not visible or durable.`);
  return {
    after,
    run: async (effect, attempt, { calls, clock, log }) => {
      // `signal` is an accessor, which a spread of the attempt would leave out.
      const { key, actor, failures, heartbeat = NO_HEARTBEAT } = attempt;
      const given: EffectRun = {
        key,
        actor,
        failures,
        heartbeat,
        clock,
        log,
        get signal() {
          return attempt.signal;
        },
        runtime: calls as Calls,
      };
      return (await work.run(inputOf(effect), given)) as ActorEvent | null;
    },
    ...(work.failed && {
      failed: (effect, failure) => work.failed?.(inputOf(effect), failure) as ActorEvent,
    }),
    ...(work.interrupted && { interrupted: () => work.interrupted?.() as ActorEvent }),
    ...(work.isNeeded && { isNeeded: (effect) => work.isNeeded?.(inputOf(effect)) ?? true }),
    ...(timeoutMs !== undefined && { timeLimitMs: timeoutMs }),
    ...(heartbeatMs !== undefined && { heartbeatMs }),
    ...(tries !== undefined && { tries }),
    ...(partitioning !== undefined && { partitioning }),
  };
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

/** Params of `note`. */
export interface NoteParams {
  readonly message: string;
  readonly data?: JournalData | undefined;
  /** An intermediate state of the transition. @default the state that the step ends in */
  readonly state?: string | undefined;
}

/** An action that writes a line of the actor's journal. */
export const note: RequestAction<NoteParams> = marked({
  request: (params) => {
    const { message, data, state } = (params ?? {}) as Partial<NoteParams>;
    if (typeof message !== 'string')
      throw new Fatal('step.malformed-action', 'The action `note` needs params with a text `message`.');
    return { kind: 'note', message, data, state };
  },
});

/**
 * An action that erases the texts of lines of the actor's journal, with params made by `erasureOf` of the entry `history`.
 * It writes a line that records which.
 */
export const erase: RequestAction<Erasure> = marked({
  request: (params) => {
    const { lines, record } = params as Erasure;
    return { kind: 'erase', lines, record };
  },
});

/** Lines without their texts, and what the journal records of them. */
export interface Erasure {
  readonly lines: readonly JournalLine[];
  readonly record: string;
}

/** An action that drops the pending effects of the actor. */
export const dropEffects: RequestAction<unknown> = marked({ request: () => ({ kind: 'drop-effects' }) });
