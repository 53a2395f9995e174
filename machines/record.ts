/**
 * Machines of records: actors with one state, whose messages change the stored context and add a journal line.
 *
 * | from  | message            | to    | effects |                                                |
 * |-------|--------------------|-------|---------|------------------------------------------------|
 * | state | one of `changes`   | state |         | unless its function returns undefined          |
 * | state | one of `endedBy`   | ended |         | not stored: the actor ends                     |
 * | state | after `lifetimeMs` | ended |         | not stored: the actor ends                     |
 */
import {
  type NoteParams,
  note,
  type RequestAction,
  type TellParams,
  tell,
} from '@sealwright/runtime/actions';
import { type AnyStateMachine, type EventObject, type StateMachine, type StateValue, setup } from 'xstate';
import type { Millis } from './ids.ts';

/**
 * Computes each decision once: guards and actions of a transition ask for the decision on the same message. Pure functions
 * only, since a decision may be computed without being carried out.
 */
export function decideOnce<Context, Message, Decision>(): (
  decide: (context: Context, message: Message) => Decision,
  context: Context,
  message: Message,
) => Decision {
  let latest:
    | {
        readonly decide: unknown;
        readonly context: Context;
        readonly message: Message;
        readonly decision: Decision;
      }
    | undefined;
  return (decide, context, message) => {
    if (latest?.decide !== decide || latest.context !== context || latest.message !== message)
      latest = { decide, context, message, decision: decide(context, message) };
    return latest.decision;
  };
}

/** Change made by a message: members of the context, and the journal line if there is one. */
export interface RecordChange<Context> {
  readonly context: Partial<Context>;
  readonly note?: string;
  /** Details of the journal line. */
  readonly data?: Readonly<Record<string, string | null>>;
}

/** Messages to actors of another kind, which are stored with the change. */
interface RecordTells<Context, Message> {
  readonly kind: string;
  messages(
    before: Context,
    after: Context,
    message: Message,
  ): readonly TellParams<{ readonly type: string }>[];
}

/** Work that is asked for with a change: the action of its declared effect, and an input for each time. */
interface RecordEffects<Context, Message> {
  readonly action: RequestAction<object>;
  inputs(before: Context, after: Context, message: Message): readonly object[];
}

/** The message that the record gets at a time of its context, with its type alone. */
interface RecordDeadline<Context, Message extends RecordMessage> {
  readonly type: Message['type'];
  /** Milliseconds after the creation, until a change sets another time. @default never */
  readonly firstMs?: Millis;
  /** Null = never. */
  dueAt(context: Context): Millis | null;
}

export interface RecordMessage {
  readonly type: string;
  readonly at: Millis;
  /** Caller; the journal line names it. */
  readonly by?: string | undefined;
}

export interface RecordDefinition<Context, Message extends RecordMessage, Input> {
  readonly id: string;
  readonly state: string;
  readonly context: (input: Input) => Context;
  /** Journal line of the creation. @default none */
  readonly created?: string;
  /** For each message, a function that returns its change; undefined = the message is not accepted. Pure. */
  readonly changes: {
    readonly [Type in Message['type']]?: (
      context: Context,
      message: Extract<Message, { readonly type: Type }>,
    ) => RecordChange<Context> | undefined;
  };
  /** @default none */
  readonly tells?: RecordTells<Context, Message>;
  /** @default none */
  readonly effects?: RecordEffects<Context, Message>;
  /** @default none */
  readonly deadline?: RecordDeadline<Context, Message>;
  /** Name of the state in which the actor ends, and what leads to it. @default never */
  readonly end?: {
    readonly state: string;
    readonly endedBy?: readonly Message['type'][];
    /** Milliseconds after the creation. */
    readonly lifetimeMs?: Millis;
  };
}

const lineOf = (message: string, data?: NoteParams['data']) =>
  ({ type: 'note', params: { message, ...(data !== undefined && { data }) } }) as const;

/** The host adds the time. */
const untimed = (type: string) => ({ type }) as RecordMessage;

type Decide = (context: object, message: RecordMessage) => RecordChange<object> | undefined;

/** A machine as actor kinds read it: context, messages and input. */
export type RecordMachine<Context extends object, Message extends RecordMessage, Input> = StateMachine<
  Context,
  Message,
  Record<string, never>,
  never,
  never,
  never,
  never,
  StateValue,
  string,
  Input,
  unknown,
  EventObject,
  object,
  object
>;

/** Builds the machine of one kind of record. */
export function recordMachine<Context extends object, Message extends RecordMessage, Input = Context>(
  definition: RecordDefinition<Context, Message, Input>,
): RecordMachine<Context, Message, Input>;
// The transitions are the same for all kinds; only the functions of the definition read context and messages.
export function recordMachine({
  id,
  state,
  context,
  created,
  changes,
  tells,
  effects,
  deadline,
  end,
}: RecordDefinition<object, RecordMessage, object>): AnyStateMachine {
  const decide = decideOnce<object, RecordMessage, RecordChange<object> | undefined>();
  const machine = setup({
    types: { context: {} as object, input: {} as object, events: {} as RecordMessage },
    actions: {
      note,
      tell: tell(tells?.kind ?? ''),
      ask: effects?.action ?? (() => {}),
    },
    delays: { lifetime: end?.lifetimeMs ?? 0 },
  });
  const on = Object.entries(changes as { readonly [type: string]: Decide }).map(([type, change]) => {
    const carryOut = machine.enqueueActions(({ context, event, enqueue }) => {
      const decided = decide(change, context, event);
      if (decided === undefined) return;
      enqueue.assign(decided.context);
      const by = event.by === undefined ? '' : ` By ${event.by}.`;
      if (decided.note !== undefined) enqueue(lineOf(`${decided.note}${by}`, decided.data));
      const after = { ...context, ...decided.context };
      for (const params of tells?.messages(context, after, event) ?? []) enqueue({ type: 'tell', params });
      for (const params of effects?.inputs(context, after, event) ?? []) enqueue({ type: 'ask', params });
      const due = deadline?.dueAt(after) ?? null;
      if (deadline === undefined || due === deadline.dueAt(context)) return;
      const { type: id } = deadline;
      if (due === null) enqueue.cancel(id);
      else enqueue.raise(untimed(id), { id, delay: Math.max(0, due - event.at) });
    });
    return [
      type,
      {
        guard: ({ context, event }: { context: object; event: RecordMessage }) =>
          decide(change, context, event) !== undefined,
        actions: carryOut,
      },
    ] as const;
  });
  const first = machine.enqueueActions(({ enqueue }) => {
    const { type = '', firstMs = 0 } = deadline ?? {};
    enqueue.raise(untimed(type), { id: type, delay: firstMs });
  });
  return machine.createMachine({
    id,
    context: ({ input }) => context(input),
    initial: state,
    states: {
      [state]: {
        // Only at the creation: no message enters the state again.
        ...(created !== undefined && { entry: lineOf(created) }),
        ...(deadline?.firstMs !== undefined && { entry: first }),
        on: {
          ...Object.fromEntries(on),
          ...Object.fromEntries((end?.endedBy ?? []).map((type) => [type, end?.state])),
        },
        ...(end?.lifetimeMs !== undefined && { after: { lifetime: end.state } }),
      },
      ...(end !== undefined && { [end.state]: {} }),
    },
  });
}
