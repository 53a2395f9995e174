/** Definitions of actors, and the types of their messages, inputs, states and answers. */
import type { AnyStateMachine, ContextFrom, EventFrom, InputFrom, OutputFrom, StateValueFrom } from 'xstate';
import type { ActorDefinition, ActorKind, HandledEffect, WithoutTime } from './definition.ts';
import { assertDefinition } from './machine-shape.ts';

/** The actors of a kind, with the machine that types them. */
// biome-ignore lint/suspicious/noExplicitAny: lists hold actors of all machines.
export interface Actor<Machine extends AnyStateMachine = any> extends ActorDefinition<ContextFrom<Machine>> {
  readonly machine: Machine;
}

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

type Rules<Machine extends AnyStateMachine> = Omit<
  ActorDefinition<ContextFrom<Machine>>,
  'kind' | 'machine' | 'effects'
>;

/**
 * Defines the actors of a kind. Throws `machine.unsupported`, `actor.malformed`, which name the kind, the state and the
 * member: whatever the runtime could not carry out later is refused here.
 * @param kind name of the kind, stored with each actor: it never changes
 */
export function defineActor<Machine extends AnyStateMachine, Context extends ContextFrom<Machine>>(
  kind: ActorKind<Context, EventFrom<Machine>, unknown>,
  definition: Omit<ActorDefinition<Context>, 'kind' | 'machine'> & { readonly machine: Machine },
): ActorDefinition<Context>;
export function defineActor<Machine extends AnyStateMachine>(
  kind: string,
  definition: Rules<Machine> & {
    readonly machine: Machine;
    readonly effects?: readonly HandledEffect<WithoutTime<EventFrom<Machine>> | null>[];
  },
): Actor<Machine>;
export function defineActor(kind: string, definition: Omit<ActorDefinition, 'kind'>): ActorDefinition {
  const defined = { kind, ...definition };
  assertDefinition(defined);
  return defined;
}
