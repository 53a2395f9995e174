/**
 * Transitions of flat machines, prepared once per machine: which guards and actions an event has in each state, in their
 * order. XState finds them anew for each event, with sets of states that a flat machine does not need, and copies the
 * snapshot at each assignment.
 *
 * XState stays the reference: whatever is not prepared here, and whatever throws, is undefined, and the caller asks
 * XState. Machines are pure, so that asking again changes nothing.
 */
import type { AnyStateMachine } from 'xstate';
import type { ActorEvent, Json } from '../model/ports.ts';

/** One collected action, as XState returns it. */
export interface CollectedAction {
  readonly type: string;
  readonly params: unknown;
  /** The implementation; undefined where the machine has none, or for an action of XState. */
  readonly exec: unknown;
}

/** State and context after an event, and what the machine asks for. */
export interface Reached {
  readonly state: string;
  readonly context: Json;
  readonly actions: readonly CollectedAction[];
  /** False if XState would return the snapshot that it got. */
  readonly isChanged: boolean;
}

type StateNode = AnyStateMachine['root'];
type Call = (given: object, params?: unknown) => unknown;

/** Members of the functions of XState's own actions and guards. */
interface BuiltIn {
  readonly type?: unknown;
  readonly resolve?: unknown;
  readonly assignment?: unknown;
  readonly event?: unknown;
  readonly id?: unknown;
  readonly delay?: unknown;
  readonly sendId?: unknown;
  readonly collect?: Call;
  readonly check?: (snapshot: unknown, given: object, guard: unknown) => boolean;
}

type Reference = string | { readonly type: string; readonly params?: unknown } | (Call & BuiltIn);

interface Guard {
  readonly check: Call & BuiltIn;
  readonly params: unknown;
}

interface Action {
  readonly type: string;
  readonly params: unknown;
  readonly does: BuiltIn | undefined;
  /** Undefined: collected for the caller. */
  readonly run: ((run: Run, does: BuiltIn, given: ActionArguments, params: unknown) => void) | undefined;
}

/** A transition of a state, with the actions of the states that it leaves and enters. */
interface Arrow {
  readonly guard: Guard | undefined;
  readonly actions: readonly Action[];
  readonly to: string | undefined;
}

interface Leaf {
  readonly name: string;
  readonly on: ReadonlyMap<string, readonly Arrow[]>;
  readonly always: readonly Arrow[];
  /** For guards of XState that read the state. */
  readonly snapshot: object;
}

interface Compiled {
  readonly machine: AnyStateMachine;
  readonly leaves: ReadonlyMap<string, Leaf>;
  readonly initial: { readonly state: string; readonly actions: readonly Action[] };
}

interface ActionArguments {
  readonly context: Json;
  readonly event: ActorEvent;
  readonly self: object;
  readonly system: object;
}

const SELF = {};
const SYSTEM = {};

/** More raised events and transitions without an event: XState, which ends what is endless. */
const MAX_TRANSITIONS = 100;

let isRefused = false;

/** Leaves the rest to XState, also if the machine catches the error. */
function refuse(): never {
  isRefused = true;
  throw new Error('This is not prepared.');
}

const compiled = new WeakMap<AnyStateMachine, Compiled | undefined>();

function compiledOf(machine: AnyStateMachine): Compiled | undefined {
  if (!compiled.has(machine))
    compiled.set(
      machine,
      prepared(() => compile(machine)),
    );
  return compiled.get(machine);
}

function prepared<Result>(make: () => Result): Result | undefined {
  isRefused = false;
  try {
    const made = make();
    return isRefused ? undefined : made;
  } catch {
    return undefined;
  }
}

function compile(machine: AnyStateMachine): Compiled {
  const { root } = machine;
  const nodes = Object.values(root.states) as StateNode[];
  const isFlat = root.type === 'compound' && nodes.every(({ type }) => type === 'atomic');
  if (!isFlat || [root, ...nodes].some(({ invoke }) => invoke.length > 0)) refuse();
  const initial = root.initial.target?.[0] as StateNode;
  return {
    machine,
    leaves: new Map(nodes.map((node) => [node.key, leafOf(machine, node)])),
    initial: {
      state: initial.key,
      actions: actionsOf(machine, [...root.entry, ...root.initial.actions, ...initial.entry]),
    },
  };
}

type Transition = NonNullable<StateNode['always']>[number];

function leafOf(machine: AnyStateMachine, node: StateNode): Leaf {
  const arrows = (transitions: readonly Transition[] = []) =>
    transitions.map((transition) => arrowOf(machine, node, transition));
  const on = new Map<string, readonly Arrow[]>();
  for (const { transitions } of [node, machine.root]) {
    for (const [type, found] of transitions as ReadonlyMap<string, readonly Transition[]>) {
      if (type.endsWith('*')) refuse();
      on.set(type, [...(on.get(type) ?? []), ...arrows(found)]);
    }
  }
  return {
    name: node.key,
    on,
    always: [...arrows(node.always), ...arrows(machine.root.always)],
    snapshot: machine.resolveState({ value: node.key, context: {} }),
  };
}

function arrowOf(
  machine: AnyStateMachine,
  node: StateNode,
  { guard, actions, target, source, reenter }: Transition,
): Arrow {
  const [to, ...others] = (target ?? []) as StateNode[];
  const isStep = to === undefined || (to.parent === machine.root && (source !== machine.root || !reenter));
  if (!isStep || others.length > 0) refuse();
  const moves = to !== undefined && (to !== source || reenter);
  const all = moves ? [...node.exit, ...actions, ...to.entry] : actions;
  return {
    guard: guard === undefined ? undefined : guardOf(machine, guard as Reference),
    actions: actionsOf(machine, all),
    to: to?.key,
  };
}

function guardOf(machine: AnyStateMachine, guard: Reference): Guard {
  if (typeof guard === 'function') return { check: guard, params: undefined };
  const name = typeof guard === 'string' ? guard : guard.type;
  const found = machine.implementations.guards[name] as Reference | undefined;
  if (found === undefined) refuse();
  if (typeof found !== 'function') return guardOf(machine, found);
  return { check: found, params: typeof guard === 'string' ? undefined : guard.params };
}

function passes(
  guard: Guard | undefined,
  context: Json,
  event: ActorEvent,
  { snapshot }: Pick<Leaf, 'snapshot'>,
): boolean {
  if (guard === undefined) return true;
  const given = { context, event };
  const { check, params } = guard;
  const value = typeof params === 'function' ? params(given) : params;
  if (check.check === undefined) return Boolean(check(given, value));
  return Boolean(check.check({ ...snapshot, context }, given, check));
}

function actionsOf(machine: AnyStateMachine, actions: readonly unknown[]): readonly Action[] {
  return actions.map((action) => actionOf(machine, action as Reference));
}

function actionOf(machine: AnyStateMachine, action: Reference): Action {
  const name = typeof action === 'function' ? undefined : typeof action === 'string' ? action : action.type;
  const does = (name === undefined ? action : machine.implementations.actions[name]) as
    | (BuiltIn & { readonly name?: string })
    | undefined;
  const params = typeof action === 'object' ? action.params : undefined;
  if (does === undefined || !('resolve' in does))
    return { type: name ?? (does?.name || '(anonymous)'), params, does, run: undefined };
  const type = String(does.type);
  const run = Object.hasOwn(RUN, type) ? RUN[type] : undefined;
  // Another version of XState may name the members otherwise; what they ask for would be left out.
  const isKnown = MEMBERS[type]?.every((member) => member in does) === true;
  return run === undefined || !isKnown ? refuse() : { type, params, does, run };
}

/** Members that are read of the actions of XState, by type. */
const MEMBERS: { readonly [type: string]: readonly (keyof BuiltIn)[] } = {
  'xstate.assign': ['assignment'],
  'xstate.raise': ['event', 'id', 'delay'],
  'xstate.cancel': ['sendId'],
  'xstate.emit': ['event'],
  'xstate.enqueueActions': ['collect'],
};

/** Actions of XState, by type. */
const RUN: { readonly [type: string]: NonNullable<Action['run']> } = {
  'xstate.assign': (run, { assignment }, { context, event }, params) => {
    const given = { context, event, spawn: refuse, self: SELF, system: SYSTEM };
    const values =
      typeof assignment === 'function' ? assignment(given, params) : assigned(assignment, given, params);
    // Copying the members of two large contexts costs as much as the decision.
    run.context = hasAllNames(values, context) ? values : Object.assign({}, context, values);
    run.changes += 1;
  },
  'xstate.raise': (run, { event, id, delay }, given, params) => {
    if (typeof event === 'string') refuse();
    const raised = typeof event === 'function' ? event(given, params) : event;
    const named = typeof delay === 'string' ? run.compiled.machine.implementations.delays[delay] : delay;
    const after = typeof named === 'function' ? named(given, params) : named;
    if (typeof after !== 'number') run.queue.push(raised);
    run.actions.push({ type: 'xstate.raise', params: { event: raised, id, delay: after }, exec: undefined });
  },
  'xstate.cancel': (run, { sendId }, given, params) => {
    const id = typeof sendId === 'function' ? sendId(given, params) : sendId;
    run.actions.push({ type: 'xstate.cancel', params: { sendId: id }, exec: undefined });
  },
  'xstate.emit': (run, { event }, given, params) => {
    const emitted = typeof event === 'function' ? event(given, params) : event;
    run.actions.push({ type: 'xstate.emit', params: { event: emitted }, exec: undefined });
  },
  'xstate.enqueueActions': (run, { collect }, { context, event }, params) => {
    const { compiled } = run;
    const actions: Action[] = [];
    const add = (type: string, does: BuiltIn) =>
      actions.push({ type, params: undefined, does, run: RUN[type] });
    const enqueue = Object.assign(
      (action: unknown) => actions.push(actionOf(compiled.machine, action as Reference)),
      {
        assign: (assignment: unknown) => add('xstate.assign', { assignment }),
        cancel: (sendId: unknown) => add('xstate.cancel', { sendId }),
        raise: (raised: unknown, options?: { readonly id?: unknown; readonly delay?: unknown }) =>
          add('xstate.raise', { event: raised, id: options?.id, delay: options?.delay }),
        emit: (emitted: unknown) => add('xstate.emit', { event: emitted }),
        sendTo: refuse,
        sendParent: refuse,
        spawnChild: refuse,
        stopChild: refuse,
      },
    );
    const check = (guard: unknown) =>
      passes(guardOf(compiled.machine, guard as Reference), context, event, run.leaf ?? refuse());
    collect?.({ context, event, enqueue, check, self: SELF, system: SYSTEM }, params);
    run.perform(actions, event);
  },
};

/** True when an assignment leaves no member of the context, in the same order. */
function hasAllNames(values: object, context: Json): values is { readonly [name: string]: Json } {
  if (Object.getPrototypeOf(values) !== Object.prototype) return false;
  const names = Object.keys(values);
  return Object.keys(context ?? {}).every((name, index) => name === names[index]);
}

function assigned(assignment: unknown, given: object, params: unknown): object {
  const members = assignment as { readonly [name: string]: unknown };
  if (!Object.values(members).some((member) => typeof member === 'function')) return members;
  let values: { [name: string]: unknown } | undefined;
  for (const name of Object.keys(members)) {
    const member = members[name];
    if (typeof member !== 'function') continue;
    values ??= { ...members };
    values[name] = member(given, params);
  }
  return values ?? members;
}

/** The transitions that one event leads through. */
class Run {
  readonly actions: CollectedAction[] = [];
  readonly queue: ActorEvent[] = [];
  /** Number of times that XState would have made another snapshot. */
  changes = 0;

  constructor(
    readonly compiled: Compiled,
    /** Undefined before the initial state. */
    public leaf: Leaf | undefined,
    public context: Json,
  ) {}

  perform(actions: readonly Action[], event: ActorEvent): void {
    for (const { type, params, does, run } of actions) {
      const { context } = this;
      const value = typeof params === 'function' ? params({ context, event }) : params;
      if (run === undefined) this.actions.push({ type, params: value, exec: does });
      else run(this, does as BuiltIn, { context, event, self: SELF, system: SYSTEM }, value);
    }
  }

  take({ actions, to }: Arrow, event: ActorEvent): void {
    this.perform(actions, event);
    if (to !== undefined) this.enter(to);
  }

  enter(state: string): void {
    if (this.leaf?.name === state) return;
    this.leaf = this.compiled.leaves.get(state) ?? refuse();
    this.changes += 1;
  }

  select(arrows: readonly Arrow[] | undefined, event: ActorEvent): Arrow | undefined {
    return arrows?.find(({ guard }) => passes(guard, this.context, event, this.leaf ?? refuse()));
  }

  /** Takes transitions without an event, and raised events, until there are none. */
  settle(cause: ActorEvent): Reached {
    let event = cause;
    let looks = true;
    const limit = Math.min(MAX_TRANSITIONS, this.compiled.machine.options.maxIterations ?? MAX_TRANSITIONS);
    for (let count = 0; count < limit; count += 1) {
      const { leaf = refuse(), context, actions } = this;
      const free: Arrow | undefined = looks ? this.select(leaf.always, event) : undefined;
      if (free === undefined) {
        if (this.queue.length === 0)
          return { state: leaf.name, context, actions, isChanged: this.changes > 0 };
        event = this.queue.shift() as ActorEvent;
      }
      const before = this.changes;
      const arrow = free ?? this.select(leaf.on.get(event.type), event);
      if (arrow !== undefined) this.take(arrow, event);
      looks = free === undefined || this.changes !== before;
    }
    return refuse();
  }
}

/** Creates an actor of the machine; undefined: ask XState. */
export function compiledCreation(machine: AnyStateMachine, input: Json): Reached | undefined {
  const found = compiledOf(machine);
  if (found === undefined) return undefined;
  return prepared(() => {
    const { context } = machine.config as { readonly context?: unknown };
    const event: ActorEvent = { type: 'xstate.init', input };
    const first =
      typeof context === 'function'
        ? Object.assign({}, context({ spawn: refuse, input, self: SELF }))
        : (context ?? {});
    const run = new Run(found, undefined, first);
    run.perform(found.initial.actions, event);
    run.enter(found.initial.state);
    return run.settle(event);
  });
}

/** Applies an event in a state; undefined: ask XState. */
export function compiledTransition(
  machine: AnyStateMachine,
  state: string,
  context: Json,
  event: ActorEvent,
): Reached | undefined {
  const found = compiledOf(machine);
  const leaf = found?.leaves.get(state);
  if (found === undefined || leaf === undefined) return undefined;
  return prepared(() => {
    const run = new Run(found, leaf, context);
    const arrow = run.select(leaf.on.get(event.type), event);
    if (arrow !== undefined) run.take(arrow, event);
    return run.settle(event);
  });
}
