/**
 * Deadlines of states (`after`) of actors that an earlier machine stored: it may have had other names for them, or none.
 * XState names a deadline by its delay and the id of the state's node. Pure.
 * Source: docs/decisions/0159-deadlines-of-changed-machines.md.
 */
import type { AnyStateMachine } from 'xstate';
import { Fatal } from '../model/failures.ts';
import type { ActorEvent, Json, Millis, Step, StoredActor } from '../model/ports.ts';

const PREFIX = 'xstate.after.';
const NO_TIMERS: Step['timers'] = { arm: [], disarm: [] };

interface StateDeadline {
  /** Milliseconds, or the name of the delay. */
  readonly delay: number | string;
  /** True if the state cannot outlast it: a transition without a guard leaves the state. */
  readonly leaves: boolean;
}

/** Deadlines by name. */
type StateDeadlines = ReadonlyMap<string, StateDeadline>;

/** Old names and the current ones; undefined where the machine has none. */
export type RenamedDeadlines = ReadonlyMap<string, string | undefined>;

const known = new WeakMap<AnyStateMachine, Map<string, StateDeadlines>>();

/** Deadlines of a state and of those around it, the outermost first. */
export function deadlinesOf(machine: AnyStateMachine, state: string): StateDeadlines {
  const byState = known.get(machine) ?? new Map<string, StateDeadlines>();
  known.set(machine, byState);
  const deadlines = byState.get(state) ?? readDeadlines(machine, state);
  byState.set(state, deadlines);
  return deadlines;
}

function readDeadlines(machine: AnyStateMachine, state: string): StateDeadlines {
  const deadlines = new Map<string, StateDeadline>();
  let node: AnyStateMachine['root'] | undefined = machine.root;
  const path = state === '' ? [] : state.split('.');
  for (let depth = 0; node !== undefined; depth += 1) {
    for (const { eventType, delay, guard, target } of node.after) {
      const leaves = guard === undefined && target !== undefined;
      const before = deadlines.get(eventType)?.leaves ?? false;
      if (typeof delay === 'number' || typeof delay === 'string')
        deadlines.set(eventType, { delay, leaves: before || leaves });
    }
    node = node.states[path[depth] ?? ''] as typeof node | undefined;
  }
  return deadlines;
}

/**
 * Finds the current names of stored deadlines that the state does not have under their names: the one with the same
 * delay; or else, if one is left on both sides, that one.
 * @returns undefined if all names are current
 */
export function renamedDeadlines(
  machine: AnyStateMachine,
  { state, timers }: Pick<StoredActor, 'state' | 'timers'>,
): RenamedDeadlines | undefined {
  const deadlines = deadlinesOf(machine, state);
  const strays = Object.keys(timers).filter((name) => name.startsWith(PREFIX) && !deadlines.has(name));
  if (strays.length === 0) return undefined;
  const free = new Map([...deadlines].filter(([name]) => timers[name] === undefined));
  const renamed = new Map<string, string | undefined>();
  for (const stray of strays) {
    const [match] = [...free].find(([, { delay }]) => stray.startsWith(`${PREFIX}${delay}.`)) ?? [];
    if (match === undefined) continue;
    renamed.set(stray, match);
    free.delete(match);
  }
  const [last] = free.keys();
  const isOne = free.size === 1 && renamed.size === strays.length - 1;
  for (const stray of strays) if (!renamed.has(stray)) renamed.set(stray, isOne ? last : undefined);
  return renamed;
}

type Armed = Step['timers']['arm'][number];

/** Gives deadlines their current names; those without one go if the state goes. */
export function renameDeadlines(
  timers: Map<string, Millis>,
  renamed: RenamedDeadlines,
  isLeft: boolean,
): readonly Armed[] {
  const armed: Armed[] = [];
  for (const [old, name] of renamed) {
    const due = timers.get(old);
    if (due === undefined || (name === undefined && !isLeft)) continue;
    timers.delete(old);
    if (name === undefined) continue;
    timers.set(name, due);
    armed.push({ name, due, event: { type: name } });
  }
  return armed;
}

/**
 * Computes the deadlines of an actor that an earlier machine stored: each keeps its time; those that the state did not
 * have begin now. Throws `store.no-path` for a delay that is no number.
 */
export function currentDeadlines(
  machine: AnyStateMachine,
  { timers: before, ...actor }: Pick<StoredActor, 'address' | 'state' | 'context' | 'timers'>,
  now: Millis,
): {
  readonly timers: StoredActor['timers'];
  readonly changes: Step['timers'];
  /** Number of deadlines that begin now. */
  readonly begun: number;
} {
  const timers = new Map(Object.entries(before));
  const renamed = renamedDeadlines(machine, { state: actor.state, timers: before });
  const armed = renamed === undefined ? [] : [...renameDeadlines(timers, renamed, true)];
  const moved = armed.length;
  for (const [name, { delay, leaves }] of deadlinesOf(machine, actor.state)) {
    if (!leaves || timers.has(name)) continue;
    const due = now + delayOf(machine, delay, actor, now);
    timers.set(name, due);
    armed.push({ name, due, event: { type: name } });
  }
  return {
    timers: Object.fromEntries(timers),
    changes: timerChanges(before, timers, armed),
    begun: armed.length - moved,
  };
}

function delayOf(
  machine: AnyStateMachine,
  delay: number | string,
  { address, context }: Pick<StoredActor, 'address' | 'context'>,
  now: Millis,
): Millis {
  const found: unknown =
    typeof delay === 'number' ? delay : (machine.implementations.delays as Delays)[delay];
  const value = typeof found === 'function' ? found({ context, event: { type: 'MIGRATE', at: now } }) : found;
  if (typeof value === 'number' && Number.isFinite(value) && value >= 0) return value;
  throw new Fatal(
    'store.no-path',
    `${address.kind}/${address.id}: the delay "${delay}" is ${String(value)}, not a number of milliseconds.`,
  );
}

interface Delays {
  readonly [name: string]:
    | number
    | ((given: { readonly context: Json; readonly event: ActorEvent }) => unknown)
    | undefined;
}

/** Returns a free name for a delayed event without an id: XState keeps several of one type. */
export function nameOf(event: ActorEvent, timers: ReadonlyMap<string, Millis>): string {
  let name = event.type;
  for (let count = 2; timers.has(name); count += 1) name = `${event.type} ${count}`;
  return name;
}

/** Differences of an actor's deadlines between two steps. Arms only deadlines that are valid at the end of the step; disarms those that moved or were removed. */
export function timerChanges(
  before: StoredActor['timers'],
  after: ReadonlyMap<string, Millis>,
  armed: Step['timers']['arm'],
): Step['timers'] {
  if (armed.length === 0 && Object.keys(before).length === 0) return NO_TIMERS;
  const last = new Map(armed.map((timer) => [timer.name, timer]));
  const arm = [...last.values()].filter((timer) => after.get(timer.name) === timer.due);
  const rearmed = new Set(arm.map((timer) => timer.name));
  const disarm = Object.entries(before)
    .filter(([name]) => !after.has(name) || rearmed.has(name))
    .map(([name, due]) => ({ name, due }));
  return { arm, disarm };
}
