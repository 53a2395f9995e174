/**
 * Computes a step: event + stored actor → the data to store, or "not accepted".
 *
 * Pure: no clock, no store, no live XState actor. What is not prepared (`compiled-machine.ts`) is asked of
 * `machine.transition`, with one scope that collects the actions instead of running them; only this file depends on that
 * scope.
 */
import type { AnyMachineSnapshot, AnyStateMachine, StateValue } from 'xstate';
import { CHAIN_START, lineHash } from '../history/checkpoint.ts';
import { ERASURE_RECORD } from '../history/erasure.ts';
import type { ActorDefinition, ActorView, CommittedActor } from '../model/definition.ts';
import { Fatal } from '../model/failures.ts';
import { freezeJson, jsonProblem, jsonType } from '../model/json.ts';
import { addressProblem, eventProblem } from '../model/message-checks.ts';
import {
  type ActorAddress,
  type ActorEvent,
  type EffectKey,
  type JournalLine,
  type Json,
  MAX_CONSUMED_IDS,
  type Millis,
  type Step,
  type StoredActor,
  type StoredEffect,
} from '../model/ports.ts';
import { END, markOf, type Request } from '../model/requests.ts';
import { type TraceContext, withTrace } from '../model/tracing.ts';
import {
  type CollectedAction,
  compiledCreation,
  compiledTransition,
  type Reached,
} from './compiled-machine.ts';
import {
  type DerivedRecords,
  deletionRow,
  derive,
  difference,
  NO_DERIVED_RECORDS,
  nameOf,
  type RenamedDeadlines,
  renameDeadlines,
  renamedDeadlines,
  STOPPED_PREFIX,
  STOPPED_VIEW,
  stateMove,
  timerChanges,
} from './derive.ts';

/**
 * Builds a step that changes no state: it settles an effect whose outcome is not accepted, removes a deadline that the
 * machine ignored, or stops and restarts the actor.
 */
export function machinelessStep(
  stored: StoredActor,
  context: StepContext,
  stopped: StoredActor['stopped'] = stored.stopped,
): Step {
  const fired = context.timer !== undefined && stored.timers[context.timer.name] === context.timer.due;
  const timers =
    fired && context.timer !== undefined ? without(stored.timers, context.timer.name) : stored.timers;
  return {
    actor: { ...stored, revision: stored.revision + 1, timers, stopped },
    basedOn: stored.revision,
    journal: [],
    effects: [],
    settles: context.settles ?? null,
    dropsEffects: false,
    timers: { arm: [], disarm: fired && context.timer !== undefined ? [context.timer] : [] },
    names: { take: [], release: [] },
    moved: null,
    ...stoppedRows(stored, stopped),
  };
}

/** Row and counter of stopped actors, for lists of them. */
function stoppedRows({ address, stopped: before }: StoredActor, stopped: StoredActor['stopped']) {
  const { kind, id } = address;
  const key = [kind, id];
  const row = { view: STOPPED_VIEW, key };
  if (stopped !== null && before === null) {
    return {
      rows: { put: [{ ...row, value: { at: stopped.at, error: stopped.error } }], remove: [] },
      counters: { [STOPPED_PREFIX + kind]: 1 },
    };
  }
  if (stopped === null && before !== null)
    return { rows: { put: [], remove: [row] }, counters: { [STOPPED_PREFIX + kind]: -1 } };
  return { rows: { put: [], remove: [] }, counters: {} };
}

function without(timers: StoredActor['timers'], name: string): StoredActor['timers'] {
  const { [name]: _, ...rest } = timers;
  return rest;
}

/** `overlap`: of a run of a schedule. */
const MESSAGE = jsonType<{
  readonly to: ActorAddress;
  readonly event: ActorEvent;
  readonly overlap?: 'skip' | 'queue';
}>();

/** Returns receiver and event of a message. Throws `step.malformed-action`, so that no step stores a malformed one. */
export function checkedMessage(effect: StoredEffect['effect']): ReturnType<typeof MESSAGE.read> {
  const message = MESSAGE.read(effect);
  const problem = addressProblem(message.to) ?? eventProblem(message.event);
  if (problem === undefined) return message;
  throw new Fatal(
    'step.malformed-action',
    `The machine's message to another actor cannot be sent: ${problem}`,
  );
}

/** Parses the actions that XState returns. An unknown action is a fault of the machine. */
type RequestedAction =
  | Request
  /** `name`: undefined for an event that cannot be canceled. */
  | {
      readonly kind: 'arm';
      readonly name: string | undefined;
      readonly delay: Millis;
      readonly event: ActorEvent;
    }
  | { readonly kind: 'disarm'; readonly name: string }
  | { readonly kind: 'emit'; readonly event: ActorEvent }
  | { readonly kind: 'nothing' };

const NOTHING: RequestedAction = { kind: 'nothing' };

interface Delayed {
  readonly id?: unknown;
  readonly delay?: unknown;
  readonly event?: ActorEvent;
  readonly sendId?: unknown;
}

/** Throws `step.unknown-action` or `step.malformed-action`, which name the action. */
function readAction({ type, params, exec }: CollectedAction): RequestedAction {
  const mark = markOf(exec);
  if (mark !== undefined) return mark.request(params);
  switch (type) {
    case 'xstate.raise':
      return readRaise(params as Delayed);
    case 'xstate.cancel':
      return { kind: 'disarm', name: String((params as Delayed).sendId) };
    case 'xstate.emit':
      return { kind: 'emit', event: (params as { readonly event: ActorEvent }).event };
    default:
      throw new Fatal(
        'step.unknown-action',
        `The machine asked for "${type}"; only the actions of effects, tell, note, erase, dropEffects, emitted events and delayed transitions are possible.`,
      );
  }
}

/** An undelayed raise was consumed inside the transition; a delayed one becomes a stored deadline. */
function readRaise({ id, delay, event }: Delayed): RequestedAction {
  if (delay === undefined) return NOTHING;
  if (typeof delay !== 'number' || !Number.isFinite(delay) || delay < 0 || event === undefined) {
    throw malformed('raise', `its delay is ${String(delay)}, not a number of milliseconds`);
  }
  return { kind: 'arm', name: typeof id === 'string' ? id : undefined, delay, event };
}

function malformed(action: string, why: string): Fatal {
  return new Fatal('step.malformed-action', `The machine's action "${action}" cannot be stored: ${why}.`);
}

/** Context of a step besides the event itself. */
export interface StepContext {
  readonly now: Millis;
  /** Id of the message, to be remembered as consumed. */
  readonly messageId?: string | undefined;
  /** The effect whose outcome the event is. */
  readonly settles?: EffectKey | undefined;
  /** The deadline that fired. */
  readonly timer?: { readonly name: string; readonly due: Millis } | undefined;
  /** Chooses the index of the first effect that the step requests; see `EffectKey`. @default 0 */
  readonly firstIndex?: (() => number) | undefined;
  /** Makes the salt of a line whose text can be erased. @default such lines have none */
  readonly salt?: (() => string) | undefined;
  /** Stored with the effects that the step requests. @default none */
  readonly trace?: TraceContext | undefined;
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

/** Most transitions that one event may lead through, without an event of their own or by raised events. */
const MAX_TRANSITIONS = 1000;

/**
 * Runs `ask` of XState and returns where it leads, with the requested actions. Throws `step.endless` instead of blocking
 * the thread, at each start again where a stored deadline leads there.
 * @param cause the event and the state it came in
 */
function withActions(
  { kind, machine }: ActorDefinition,
  cause: string,
  before: AnyMachineSnapshot | undefined,
  ask: () => unknown,
): Reached {
  if (machine.options.maxIterations === Number.POSITIVE_INFINITY)
    machine.options.maxIterations = MAX_TRANSITIONS;
  collected = [];
  try {
    const snapshot = ask() as AnyMachineSnapshot;
    if (snapshot.status === 'error') throw snapshot.error;
    const { context, value } = snapshot;
    return { state: stateName(value), context, actions: collected, isChanged: snapshot !== before };
  } catch (error) {
    // XState has no code for it.
    if (!(error instanceof Error && error.message.startsWith('Infinite loop detected'))) throw error;
    const limit = machine.options.maxIterations;
    throw new Fatal(
      'step.endless',
      `${kind}: ${cause} leads through more than ${limit} transitions. A transition without an event (always) or a raised event repeats itself.`,
    );
  } finally {
    collected = [];
  }
}

const templates = new WeakMap<AnyStateMachine, Map<string, AnyMachineSnapshot>>();

/** Returns the snapshot of a state without its context. */
export function resolvedState(machine: AnyStateMachine, state: string): AnyMachineSnapshot {
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
  return template;
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

/** Type of the initial event, as the journal's cause. */
const CREATED = 'CREATE';

/**
 * Creates an actor in its machine's initial state. Throws errors of the machine, and `step.*` for an unknown action.
 */
export function firstStep(
  definition: ActorDefinition,
  address: ActorAddress,
  input: Json,
  context: StepContext,
): Step {
  const reached =
    compiledCreation(definition.machine, input) ??
    withActions(definition, 'its creation', undefined, () =>
      definition.machine.getInitialSnapshot(SCOPE, input),
    );
  return assemble(definition, address, { stored: undefined, reached, cause: CREATED, context });
}

/**
 * Applies one event to a stored actor. Undefined: the machine does not accept it, nothing changes. A machine in a final
 * state accepts nothing.
 */
export function nextStep(
  definition: ActorDefinition,
  stored: StoredActor,
  event: ActorEvent,
  context: StepContext,
): Step | undefined {
  checkVersion(definition, stored);
  // XState reserves these types; the runtime sends only its `after` events.
  if (event.type.startsWith('xstate.') && !event.type.startsWith('xstate.after.')) {
    throw new Fatal('step.reserved-event', `"${event.type}" is a name XState keeps for itself.`);
  }
  const { machine } = definition;
  const { state } = stored;
  if (resolvedState(machine, state).status !== 'active') return undefined;
  const renamed = renamedDeadlines(machine, stored);
  const type = renamed?.get(context.timer?.name ?? '') ?? event.type;
  const current = type === event.type ? event : { ...event, type };
  const reached =
    compiledTransition(machine, state, stored.context, current) ??
    interpretedTransition(definition, state, stored.context, current);
  if (!reached.isChanged && reached.actions.length === 0) return undefined;
  return assemble(definition, stored.address, { stored, reached, cause: type, context, renamed });
}

/** Asks XState where an event leads. */
function interpretedTransition(
  definition: ActorDefinition,
  state: string,
  context: Json,
  event: ActorEvent,
): Reached {
  // The resolved states of two actors differ only in the context: each state is resolved once per machine and copied.
  const before = { ...resolvedState(definition.machine, state), context } as AnyMachineSnapshot;
  return withActions(definition, `the event "${event.type}" in the state "${state}"`, before, () =>
    definition.machine.transition(before, event, SCOPE),
  );
}

function checkVersion(definition: ActorDefinition, stored: StoredActor): void {
  if (stored.version === definition.version) return;
  throw new Fatal(
    'step.version',
    `${stored.address.kind}/${stored.address.id} was stored by version ${stored.version} of its machine; this is version ${definition.version}.`,
  );
}

/**
 * Derives rows, names and counters of an actor as stored. Caching the "after" of one step as the "before" of the next
 * was measured: the lookup and the garbage collection cost more than computing it.
 */
function derivedRecordsOf(definition: ActorDefinition, actor: StoredActor): DerivedRecords {
  return derive(definition, viewOf(actor));
}

/** An actor as its definition and its callers see it. */
export function viewOf(actor: StoredActor): ActorView {
  return { id: actor.address.id, state: actor.state, context: actor.context };
}

/** An actor as readers of committed state see it. */
export function committedViewOf({ address, state, context, revision, stopped }: StoredActor): CommittedActor {
  return { id: address.id, state, context, revision, stopped: stopped !== null };
}

/** One context of each machine, kept for its shape. */
const shapes = new WeakMap<AnyStateMachine, object>();

/**
 * Assignments copy a context with `Object.assign`, as XState does. V8 makes a slow dictionary of an object that grows this way beyond a
 * dozen properties, unless another object of the same shape exists. A copy of 30 members takes 33 µs in Node 20.20, 30 in 22.23 and 47 in
 * 24.21; with one object of the shape retained, built at once, 2.0, 2.3 and 0.5.
 */
function keepShape(machine: AnyStateMachine, context: Json): void {
  if (typeof context === 'object' && !shapes.has(machine)) shapes.set(machine, { ...context });
}

/** Throws `step.not-json`: what JSON does not keep would change when the actor leaves the cache. */
function assertStorableJson({ kind }: ActorDefinition, problem: string | undefined): void {
  if (problem !== undefined) throw new Fatal('step.not-json', `${kind} cannot be stored: ${problem}`);
}

function withEnd(
  { effect, totalMs }: Extract<RequestedAction, { readonly kind: 'effect' }>,
  now: Millis,
): StoredEffect['effect'] {
  return totalMs === undefined ? effect : { ...effect, [END]: now + totalMs };
}

type Writable<T> = { -readonly [Name in keyof T]: T[Name] };

/** Requests of the actions of a transition, collected. */
interface Requested {
  readonly journal: Step['journal'][number][];
  readonly effects: StoredEffect[];
  readonly armed: Step['timers']['arm'][number][];
  /** All that are armed after the step. */
  readonly timers: Map<string, Millis>;
  dropsEffects: boolean;
  events: ActorEvent[] | undefined;
  journalLength: number;
  journalHash: string;
}

function requestsOf(
  definition: ActorDefinition,
  address: ActorAddress,
  { stored, reached: { state, actions }, cause, context, renamed }: ComputedTransition,
): Requested {
  const requested: Requested = {
    journal: [],
    effects: [],
    armed: [],
    timers: new Map(Object.entries(stored?.timers ?? {})),
    dropsEffects: false,
    events: undefined,
    journalLength: stored?.journalLength ?? 0,
    journalHash: stored?.journalHash ?? CHAIN_START,
  };
  const { effects, armed, timers } = requested;
  const { now, timer } = context;
  const salt = definition.isErasable ? context.salt : undefined;
  if (timer !== undefined && timers.get(timer.name) === timer.due) timers.delete(timer.name);
  if (renamed !== undefined) armed.push(...renameDeadlines(timers, renamed, state !== stored?.state));
  const revision = (stored?.revision ?? 0) + 1;
  let index: number | undefined;
  for (const action of actions) {
    const asked = readAction(action);
    switch (asked.kind) {
      case 'effect':
        assertStorableJson(definition, jsonProblem(asked.effect, `effect "${asked.effect.do}"`));
        index = index === undefined ? (context.firstIndex?.() ?? 0) : index + 1;
        effects.push({
          key: `${address.kind}/${address.id}/${revision}/${index}`,
          actor: address,
          effect: withTrace(withEnd(asked, now), context.trace),
          dueAt: now,
          failures: 0,
          lastError: null,
        });
        break;
      case 'note':
        if (asked.data !== undefined)
          assertStorableJson(definition, jsonProblem(asked.data, 'data of the journal line'));
        addLine(requested, address, {
          at: now,
          state: asked.state ?? state,
          message: asked.message,
          cause,
          data: asked.data,
          salt: salt?.(),
        });
        break;
      case 'erase': {
        requested.journal.push(...asked.lines);
        const data = { [ERASURE_RECORD]: asked.record };
        addLine(requested, address, { at: now, state, message: 'Texts were erased.', cause, data });
        break;
      }
      case 'drop-effects':
        requested.dropsEffects = true;
        break;
      case 'arm': {
        const { name = nameOf(asked.event, timers), delay, event } = asked;
        timers.set(name, now + delay);
        armed.push({ name, due: now + delay, event });
        assertStorableJson(definition, jsonProblem(event, `event "${event.type}"`));
        break;
      }
      case 'disarm':
        timers.delete(asked.name);
        break;
      case 'emit':
        assertStorableJson(definition, jsonProblem(asked.event, `event "${asked.event.type}"`));
        requested.events = [...(requested.events ?? []), asked.event];
        break;
      case 'nothing':
        break;
    }
  }
  return requested;
}

/** Adds a line to the journal, with the hash of the chain up to it. */
function addLine(
  requested: Requested,
  address: ActorAddress,
  given: Pick<JournalLine, 'at' | 'state' | 'message' | 'cause'> & {
    readonly data: JournalLine['data'] | undefined;
    readonly salt?: string | undefined;
  },
): void {
  const { at, state, message, cause, data, salt } = given;
  requested.journalLength += 1;
  const line: Writable<JournalLine> = { id: requested.journalLength, at, state, message, cause };
  if (data !== undefined) line.data = data;
  if (salt !== undefined) line.salt = salt;
  requested.journalHash = lineHash(requested.journalHash, address, line);
  line.hash = requested.journalHash;
  requested.journal.push(line);
}

interface ComputedTransition {
  readonly stored: StoredActor | undefined;
  readonly reached: Reached;
  readonly cause: string;
  readonly context: StepContext;
  readonly renamed?: RenamedDeadlines | undefined;
}

function assemble(definition: ActorDefinition, address: ActorAddress, parts: ComputedTransition): Step {
  const { stored, reached, context } = parts;
  keepShape(definition.machine, reached.context);
  assertStorableJson(definition, freezeJson(reached.context, stored?.context, 'context'));
  const { journal, effects, armed, timers, dropsEffects, events, journalLength, journalHash } = requestsOf(
    definition,
    address,
    parts,
  );
  const actor: StoredActor = {
    address,
    revision: (stored?.revision ?? 0) + 1,
    version: definition.version,
    state: reached.state,
    context: reached.context,
    timers: Object.fromEntries(timers),
    consumed: consume(stored?.consumed ?? [], context.messageId, definition.idWindow),
    journalLength,
    stopped: null,
    ...(journalHash !== CHAIN_START && { journalHash }),
  };
  if (stored !== undefined && definition.ends?.(viewOf(actor)) === true) {
    if (effects.length > 0)
      throw new Fatal('step.effect-of-the-ended', `${address.kind} asks for an effect in its last step.`);
    return lastStep(definition, stored, actor, context);
  }
  const changes = difference(
    stored && derivedRecordsOf(definition, stored),
    derivedRecordsOf(definition, actor),
  );
  for (const { view, value } of changes.rows.put)
    assertStorableJson(definition, jsonProblem(value, `row of "${view}"`));
  return {
    actor,
    basedOn: stored?.revision ?? 0,
    journal,
    effects,
    settles: context.settles ?? null,
    dropsEffects,
    timers: timerChanges(stored?.timers ?? {}, timers, armed),
    ...changes,
    moved: stateMove(stored, actor),
    ...(events !== undefined && { events }),
  };
}

/** Builds the step that ends an actor: only the record of its end remains. */
function lastStep(
  definition: ActorDefinition,
  stored: StoredActor,
  actor: StoredActor,
  context: StepContext,
): Step {
  const changes = difference(derivedRecordsOf(definition, stored), NO_DERIVED_RECORDS);
  const { address, journalHash, journalLength } = stored;
  const ended =
    journalHash === undefined ? [] : [deletionRow(address, journalLength, journalHash, actor.revision)];
  return {
    actor: { ...actor, timers: {} },
    basedOn: stored.revision,
    journal: [],
    effects: [],
    settles: context.settles ?? null,
    dropsEffects: true,
    timers: timerChanges(stored.timers, new Map(), []),
    ...changes,
    rows: { ...changes.rows, put: [...changes.rows.put, ...ended] },
    moved: stateMove(stored, undefined),
    ends: true,
  };
}

/**
 * Builds the step that ends an actor from outside, without its machine. Throws `step.version`.
 */
export function endingStep(definition: ActorDefinition, stored: StoredActor, context: StepContext): Step {
  checkVersion(definition, stored);
  const step = lastStep(definition, stored, { ...stored, revision: stored.revision + 1 }, context);
  const { rows, counters } = stoppedRows(stored, null);
  return {
    ...step,
    rows: { put: step.rows.put, remove: [...step.rows.remove, ...rows.remove] },
    counters: { ...step.counters, ...counters },
  };
}

function consume(
  before: readonly string[],
  id: string | undefined,
  window = MAX_CONSUMED_IDS,
): readonly string[] {
  if (id === undefined) return before;
  const kept = before.length < window ? before : before.slice(before.length - window + 1);
  return [...kept, id];
}
