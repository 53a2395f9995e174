/**
 * The step: event + stored actor → everything that has to be stored, or "not accepted".
 *
 * Pure: no clock, no store, no live XState actor. The machine is asked through `machine.transition` with one scope
 * that collects the actions instead of running them; this is the only file that knows that scope.
 */
import type { AnyMachineSnapshot, AnyStateMachine, StateValue } from 'xstate';
import { moveOf } from './census.ts';
import type { ActorDefinition, ActorView } from './definition.ts';
import { type DerivedFacts, derive, difference, NO_FACTS } from './derive.ts';
import { Fatal } from './failures.ts';
import type {
  ActorAddress,
  ActorEvent,
  EffectKey,
  Json,
  Millis,
  Step,
  StoredActor,
  StoredEffect,
} from './ports.ts';
import { CONSUMED_KEPT } from './ports.ts';
import { readAction } from './step-actions.ts';
import { timerChanges } from './timer-changes.ts';

/** What a step needs to know besides the event itself. */
export interface StepContext {
  readonly now: Millis;
  /** Id of the message, to be remembered as consumed. */
  readonly messageId?: string | undefined;
  /** The effect whose outcome this is. */
  readonly settles?: EffectKey | undefined;
  /** The deadline that fired. */
  readonly timer?: { readonly name: string; readonly due: Millis } | undefined;
}

/** One collected action, as XState hands it over. */
interface CollectedAction {
  readonly type: string;
  readonly params: unknown;
}

let collected: CollectedAction[] = [];

const SCOPE = {
  self: {},
  id: 'step',
  sessionId: 'step',
  logger: () => {},
  defer: () => {},
  emit: () => {},
  stopChild: () => {},
  system: { _sendInspectionEvent: () => {} },
  actionExecutor: (action: CollectedAction) => {
    collected.push(action);
  },
} as unknown as Parameters<AnyStateMachine['transition']>[2];

/** Runs `ask` and returns its snapshot with the actions it asked for. */
function withActions(ask: () => unknown): {
  snapshot: AnyMachineSnapshot;
  actions: readonly CollectedAction[];
} {
  collected = [];
  const snapshot = ask() as AnyMachineSnapshot;
  const actions = collected;
  collected = [];
  return { snapshot, actions };
}

const templates = new WeakMap<AnyStateMachine, Map<string, AnyMachineSnapshot>>();

/**
 * The snapshot of a stored actor. A resolved state differs between two actors in nothing but the context, so each
 * state is resolved once per machine and then copied.
 */
function snapshotOf(machine: AnyStateMachine, state: string, context: Json): AnyMachineSnapshot {
  let byState = templates.get(machine);
  if (byState === undefined) {
    byState = new Map();
    templates.set(machine, byState);
  }
  let template = byState.get(state);
  if (template === undefined) {
    template = machine.resolveState({ value: stateValue(state), context: {} }) as AnyMachineSnapshot;
    byState.set(state, template);
  }
  return { ...template, context } as AnyMachineSnapshot;
}

/** `a.b` → `{ a: 'b' }`. */
function stateValue(state: string): StateValue {
  const [first = '', ...rest] = state.split('.');
  if (first === '') return {};
  return rest.length === 0 ? first : { [first]: stateValue(rest.join('.')) };
}

/** `{ a: 'b' }` → `a.b`. */
function stateName(value: unknown): string {
  if (typeof value === 'string') return value;
  const [entry] = Object.entries(value as Record<string, unknown>);
  return entry === undefined ? '' : `${entry[0]}.${stateName(entry[1])}`;
}

/** Type of the event that brings an actor to life, as the journal's cause. */
export const CREATED = 'CREATE';

/**
 * Brings an actor to life from its machine's initial state.
 * Throws what the machine throws, and `step.*` for an action the runtime does not know.
 */
export function firstStep(
  definition: ActorDefinition,
  address: ActorAddress,
  input: Json,
  context: StepContext,
): Step {
  const { snapshot, actions } = withActions(() =>
    definition.machine.getInitialSnapshot(SCOPE, input as never),
  );
  if (snapshot.status === 'error') throw snapshot.error;
  return assemble(definition, address, undefined, snapshot, actions, CREATED, context);
}

/**
 * One event on a stored actor. Undefined: the machine does not want it, nothing changes.
 * A machine in a final state wants nothing.
 */
export function nextStep(
  definition: ActorDefinition,
  stored: StoredActor,
  event: ActorEvent,
  context: StepContext,
): Step | undefined {
  checkVersion(definition, stored);
  // These would be taken for signals of XState's own; only its `after` events are ever sent through here.
  if (event.type.startsWith('xstate.') && !event.type.startsWith('xstate.after.')) {
    throw new Fatal('step.reserved-event', `"${event.type}" is a name XState keeps for itself.`);
  }
  const before = snapshotOf(definition.machine, stored.state, stored.context);
  if (before.status !== 'active') return undefined;
  const { snapshot, actions } = withActions(() => definition.machine.transition(before, event, SCOPE));
  if (snapshot === before && actions.length === 0) return undefined;
  if (snapshot.status === 'error') throw snapshot.error;
  return assemble(definition, stored.address, stored, snapshot, actions, event.type, context);
}

function checkVersion(definition: ActorDefinition, stored: StoredActor): void {
  if (stored.version === definition.version) return;
  throw new Fatal(
    'step.version',
    `${stored.address.kind}/${stored.address.id} was stored by version ${stored.version} of its machine; this is version ${definition.version}.`,
  );
}

/**
 * Rows, names and counters of an actor as stored. Keeping what one step computed "after" for the next one's "before" was
 * tried: finding it again, and what the garbage collector has to do for it, costs more than computing it.
 */
function factsOf(definition: ActorDefinition, actor: StoredActor): DerivedFacts {
  return derive(definition, viewOf(actor));
}

/** An actor as its definition and its callers see it. */
export function viewOf(actor: StoredActor): ActorView {
  return { id: actor.address.id, state: actor.state, context: actor.context };
}

const shapes = new WeakMap<AnyStateMachine, object>();

/**
 * XState copies a context with `Object.assign`. V8 makes a slow dictionary of an object that grows so beyond a dozen
 * properties, unless it knows another of the same shape: ten times the cost of each copy. So one is kept, made in a way
 * that grows fast.
 */
function keepShape(machine: AnyStateMachine, context: object): void {
  if (!shapes.has(machine)) shapes.set(machine, { ...context });
}

function assemble(
  definition: ActorDefinition,
  address: ActorAddress,
  stored: StoredActor | undefined,
  snapshot: AnyMachineSnapshot,
  actions: readonly CollectedAction[],
  cause: string,
  context: StepContext,
): Step {
  keepShape(definition.machine, snapshot.context as object);
  const revision = (stored?.revision ?? 0) + 1;
  const state = stateName(snapshot.value);
  const { now } = context;
  const journal: Step['journal'][number][] = [];
  const effects: StoredEffect[] = [];
  const armed: Step['timers']['arm'][number][] = [];
  const timers = new Map(Object.entries(stored?.timers ?? {}));
  if (context.timer !== undefined && timers.get(context.timer.name) === context.timer.due) {
    timers.delete(context.timer.name);
  }
  let dropsEffects = false;
  let journalLength = stored?.journalLength ?? 0;
  for (const action of actions) {
    const asked = readAction(action.type, action.params);
    switch (asked.kind) {
      case 'effect':
        effects.push({
          key: `${address.kind}/${address.id}/${revision}/${effects.length}`,
          actor: address,
          effect: asked.effect,
          dueAt: now,
          failures: 0,
          lastError: null,
        });
        break;
      case 'note':
        journal.push({
          id: ++journalLength,
          at: now,
          state: asked.state ?? state,
          message: asked.message,
          cause,
        });
        break;
      case 'drop-effects':
        dropsEffects = true;
        break;
      case 'arm':
        timers.set(asked.name, now + asked.delay);
        armed.push({ name: asked.name, due: now + asked.delay, event: asked.event });
        break;
      case 'disarm':
        timers.delete(asked.name);
        break;
      case 'nothing':
        break;
    }
  }
  const actor: StoredActor = {
    address,
    revision,
    version: definition.version,
    state,
    context: snapshot.context as Json,
    timers: Object.fromEntries(timers),
    consumed: consume(stored?.consumed ?? [], context.messageId),
    journalLength,
    stopped: null,
  };
  if (stored !== undefined && definition.ends?.(viewOf(actor)) === true) {
    return lastStep(definition, stored, actor, effects, context);
  }
  const facts = difference(stored && factsOf(definition, stored), factsOf(definition, actor));
  return {
    actor,
    basedOn: stored?.revision ?? 0,
    journal,
    effects,
    settles: context.settles ?? null,
    dropsEffects,
    timers: timerChanges(stored?.timers ?? {}, timers, armed),
    ...facts,
    moved: moveOf(stored, actor),
  };
}

/** The step that ends an actor: nothing of it is left. */
function lastStep(
  definition: ActorDefinition,
  stored: StoredActor,
  actor: StoredActor,
  effects: readonly StoredEffect[],
  context: StepContext,
): Step {
  if (effects.length > 0) {
    throw new Fatal('step.effect-of-the-ended', `${actor.address.kind} asks for an effect in its last step.`);
  }
  const facts = difference(factsOf(definition, stored), NO_FACTS);
  return {
    actor: { ...actor, timers: {} },
    basedOn: stored.revision,
    journal: [],
    effects: [],
    settles: context.settles ?? null,
    dropsEffects: true,
    timers: timerChanges(stored.timers, new Map(), []),
    ...facts,
    moved: moveOf(stored, undefined),
    ends: true,
  };
}

function consume(before: readonly string[], id: string | undefined): readonly string[] {
  if (id === undefined) return before;
  const kept = before.length < CONSUMED_KEPT ? before : before.slice(before.length - CONSUMED_KEPT + 1);
  return [...kept, id];
}
