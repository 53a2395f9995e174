/** Definitions of actors, and the types of their messages, inputs, states and answers. */
import type { AnyStateMachine, ContextFrom, EventFrom, InputFrom, OutputFrom, StateValueFrom } from 'xstate';
import type { ActorDefinition, ActorView, NamedEffect, WithoutTime } from './definition.ts';
import { Fatal } from './failures.ts';
import { assertDefinition, takes } from './machine-shape.ts';
import type { ActorAddress } from './ports.ts';

/** The actors of a kind, with the machine that types them. */
// biome-ignore lint/suspicious/noExplicitAny: lists hold actors of all machines.
export interface Actor<Machine extends AnyStateMachine = any, Answers = any>
  extends ActorDefinition<ContextFrom<Machine>> {
  readonly machine: Machine;
  readonly answers?: Answers;
}

/**
 * Answers to messages that are asked (`ask`), by the type of the message: pure functions of the stored actor and the message,
 * so that an answer outlives its process. Undefined: there is none yet.
 */
export type AnswersOf<Machine extends AnyStateMachine, Values> = {
  readonly [Type in keyof Values]: (
    actor: ActorView<ContextFrom<Machine>>,
    event: Extract<WithoutTime<EventFrom<Machine>>, { readonly type: Type }>,
  ) => Values[Type];
};

/** Messages that an actor answers. */
export type QuestionOf<Definition extends Actor> = Extract<
  EventOf<Definition>,
  { readonly type: keyof NonNullable<Definition['answers']> & string }
>;

/** Answer of an actor to a message. */
export type AnswerTo<Definition extends Actor, Event extends { readonly type: string }> = NonNullable<
  Definition['answers']
>[Event['type']] extends (...given: never[]) => infer Value
  ? Exclude<Value, undefined>
  : never;

/** Messages that an actor is sent; the runtime adds `at`, the time of the step. */
export type EventOf<Definition extends Actor> = WithoutTime<EventFrom<Definition['machine']>>;

/** Arguments that an actor is created with: none for a machine without input. */
export type CreateInput<Definition extends Actor> =
  unknown extends InputFrom<Definition['machine']>
    ? readonly []
    : readonly [input: InputFrom<Definition['machine']>];

/** Names of states, as they are stored: `a.b` is the state b inside a. */
export type StateOf<Definition extends Actor> = NameOf<StateValueFrom<Definition['machine']>>;

type NameOf<Value> = Value extends string
  ? Value
  : Value extends object
    ? {
        [Name in keyof Value & string]-?: Value[Name] extends undefined
          ? never
          : `${Name}.${NameOf<Exclude<Value[Name], undefined>>}`;
      }[keyof Value & string]
    : never;

/** An actor as its last step has left it. Frozen, with all its parts. */
export interface View<Definition extends Actor = Actor> {
  readonly id: string;
  readonly state: StateOf<Definition>;
  readonly context: ContextFrom<Definition['machine']>;
  /** Tags of the state and of those around it. */
  readonly tags: readonly string[];
  /** Output of a machine in its final state, computed from the context; absent where it needs the last event. */
  readonly output?: OutputFrom<Definition['machine']>;
  /** Number of steps so far. */
  readonly revision: number;
}

/** The answer to a message. An accepted one is durable: it survives a power failure where the store does. */
export type Answer<Definition extends Actor = Actor> =
  | (View<Definition> & { readonly accepted: true })
  /** The actor is unchanged: its state takes no such message, it has had it already, or it is stopped. */
  | (View<Definition> & {
      readonly accepted: false;
      readonly reason: 'not-accepted' | 'duplicate' | 'stopped';
    })
  | { readonly accepted: false; readonly reason: 'unknown-actor' | 'exists' }
  /** Another actor holds a unique name that this one would have taken. */
  | {
      readonly accepted: false;
      readonly reason: 'taken';
      readonly name: string;
      readonly holder: ActorAddress;
    };

type Rules<Machine extends AnyStateMachine> = Omit<
  ActorDefinition<ContextFrom<Machine>>,
  'kind' | 'machine' | 'effects'
>;

/**
 * Defines the actors of a kind. Throws `machine.unsupported`, `actor.malformed`, which name the kind, the state and the
 * member: whatever the runtime could not carry out later is refused here.
 * @param kind name of the kind, stored with each actor: it never changes
 */
export function defineActor<
  Machine extends AnyStateMachine,
  Values extends object = Readonly<Record<never, never>>,
>(
  kind: string,
  definition: Rules<Machine> & {
    readonly machine: Machine;
    readonly effects?: readonly NamedEffect<WithoutTime<EventFrom<Machine>> | null>[];
    readonly answers?: AnswersOf<Machine, Values>;
  },
): Actor<Machine, AnswersOf<Machine, Values>>;
export function defineActor(kind: string, definition: Omit<ActorDefinition, 'kind'>): ActorDefinition {
  const defined = { kind, ...definition };
  assertDefinition(defined);
  assertAnswers(defined);
  return defined;
}

function assertAnswers({ kind, machine, answers = {} }: Actor): void {
  for (const [type, answer] of Object.entries(answers as object)) {
    if (typeof answer !== 'function')
      throw new Fatal('actor.malformed', `${kind}: \`answers\` has no function for "${type}".`);
    if (!takes(machine, type))
      throw new Fatal('actor.malformed', `${kind}: no state takes the message "${type}" of \`answers\`.`);
  }
}
