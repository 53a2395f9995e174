/** Checks of definitions: whatever the runtime could not carry out later is refused, with kind, state and member. */
import type { AnyStateMachine } from 'xstate';
import type { ActorDefinition } from './definition.ts';
import { Fatal } from './failures.ts';
import { isKey } from './keys.ts';
import { numberProblem } from './options.ts';
import { markOf, SEND_EFFECT } from './requests.ts';

type StateNode = AnyStateMachine['root'];

/** Lists the state names of a machine, as they are stored. */
export function stateNames(definition: ActorDefinition): readonly string[] {
  const names: string[] = [];
  const walk = (node: StateNode): void => {
    const inner = Object.values(node.states) as StateNode[];
    if (inner.length === 0) names.push(node.path.join('.'));
    for (const child of inner) walk(child);
  };
  walk(definition.machine.root);
  return names;
}

/**
 * Checks that the runtime can store an actor and carry out what its machine asks for. Throws `machine.unsupported` for
 * what the machine has, `actor.malformed` for other members.
 */
export function assertStorable(definition: ActorDefinition): void {
  assertMembers(definition);
  const walk = (node: StateNode): void => {
    assertNode(definition, node);
    for (const child of Object.values(node.states)) walk(child as StateNode);
  };
  walk(definition.machine.root);
}

/** Most ids of messages that an actor may remember: they are stored with each step. */
const MAX_ID_WINDOW = 10_000;

const FUNCTIONS = ['rows', 'names', 'counters', 'ends', 'parent', 'children'] as const;

function assertMembers(definition: ActorDefinition): void {
  const { kind, machine, version, migrations, effects } = definition;
  const refuse = (what: string): never => {
    throw new Fatal('actor.malformed', `${String(kind)}: ${what}`);
  };
  if (typeof kind !== 'string' || kind === '' || !isKey([kind]))
    refuse('the kind is a text of at most 400 bytes.');
  if (kind.includes('/')) refuse('the kind holds a slash.');
  if (machine?.root === undefined) refuse('`machine` is no machine of XState.');
  const problem = numberProblem(
    { ...definition, version: version ?? Number.NaN },
    { version: [1], mailboxLimit: [1], idWindow: [1, MAX_ID_WINDOW] },
  );
  if (problem !== undefined) refuse(problem);
  const from = Object.keys(migrations ?? {}).map(Number);
  for (const one of from)
    if (!Number.isInteger(one) || one < 1 || one >= version)
      refuse(`\`migrations\` has one from version ${one}, but \`version\` is ${version}.`);
  for (let one = Math.min(...from, version); one < version; one += 1)
    if (!from.includes(one)) refuse(`\`migrations\` has none from version ${one} to ${one + 1}.`);
  for (const one of from)
    if (typeof migrations?.[one]?.migrate !== 'function')
      refuse(`the migration from version ${one} has no function \`migrate\`.`);
  for (const member of FUNCTIONS)
    if (definition[member] !== undefined && typeof definition[member] !== 'function')
      refuse(`\`${member}\` is no function.`);
  if (!Array.isArray(effects ?? [])) refuse('`effects` is no list.');
  for (const effect of effects ?? []) {
    if (typeof effect !== 'object' || typeof effect?.name !== 'string')
      refuse('`effects` holds what neither `defineEffect` nor `declareEffect` made.');
    if (effect.name === SEND_EFFECT) refuse(`the effect "${effect.name}" is built in.`);
  }
}

/** Remedies for actions that need a running interpreter. */
const INSTEAD: { readonly [type: string]: string } = {
  'xstate.spawnChild': 'spawns an actor; create one in the handler of an effect',
  'xstate.stopChild': 'stops a child; the runtime has none',
  'xstate.sendTo': 'sends to a reference (sendTo, sendParent, forwardTo); use an action made by `tell`',
  'xstate.log': 'logs; use the action `note`, or log in the handler of an effect',
};

/** No implementation of a machine is looked up in its prototype. */
function own<Value>(table: object, name: string): Value | undefined {
  return Object.hasOwn(table, name) ? (table as { readonly [name: string]: Value })[name] : undefined;
}

function assertNode(definition: ActorDefinition, node: StateNode): void {
  const { kind, machine } = definition;
  const where = node.path.length === 0 ? 'the root' : `the state "${node.path.join('.')}"`;
  const refuse = (what: string): never => {
    throw new Fatal('machine.unsupported', `${kind}: ${where} ${what}.`);
  };
  if (node.type === 'parallel') refuse('is parallel; an actor is in one state');
  if (node.type === 'history') refuse('is a history state; history is not stored');
  if (node.invoke.length > 0)
    refuse(
      'invokes an actor (`invoke`). Define an effect instead: `const load = defineEffect("load", { run: async (input) => ({ type: "LOADED" }) })`, name `load.action` in `setup({ actions })`, use it as `entry`, and take LOADED in `on`',
    );
  if (node.path.some((key: string) => key.includes('.'))) refuse('has a dot in its name');
  const check = (member: string): Check => ({ definition, refuse: (what) => refuse(`(${member}) ${what}`) });
  for (const { delay } of node.after) {
    const name = String(delay);
    if (typeof delay === 'string' && own(machine.implementations.delays, name) === undefined)
      refuse(`(after ${name}) names a delay that the machine does not have`);
  }
  for (const action of node.entry) assertAction(check('entry'), action);
  for (const action of node.exit) assertAction(check('exit'), action);
  for (const action of node.initial?.actions ?? []) assertAction(check('initial'), action);
  for (const [event, transitions] of node.transitions)
    for (const { guard, actions } of transitions) {
      const isDelayed = event.startsWith('xstate.after.');
      const at = check(isDelayed ? 'after' : `on ${event}`);
      if (guard !== undefined) assertGuard(at, guard);
      for (const action of actions) assertAction(at, action);
    }
  for (const { guard, actions } of node.always ?? []) {
    if (guard !== undefined) assertGuard(check('always'), guard);
    for (const action of actions) assertAction(check('always'), action);
  }
}

/** True where some state of the machine takes messages of this type. */
export function takes(machine: AnyStateMachine, type: string): boolean {
  return machine.events.some(
    (event) =>
      event === type || event === '*' || (event.endsWith('.*') && type.startsWith(event.slice(0, -1))),
  );
}

/**
 * Checks a definition as a program writes it. Unlike those that earlier programs have written, it has no delay without
 * a name, which a stored deadline could not keep. Throws `machine.unsupported`, `actor.malformed`.
 */
export function assertDefinition(definition: ActorDefinition): void {
  assertStorable(definition);
  const walk = (node: StateNode): void => {
    for (const { delay } of node.after) {
      if (typeof delay !== 'number') continue;
      const where = node.path.length === 0 ? 'the root' : `the state "${node.path.join('.')}"`;
      throw new Fatal(
        'machine.unsupported',
        `${definition.kind}: ${where} (after ${delay}) has a delay without a name. A stored deadline keeps the name of its delay, so that its time can be changed: name it in \`setup({ delays })\`.`,
      );
    }
    for (const child of Object.values(node.states)) walk(child as StateNode);
  };
  walk(definition.machine.root);
}

interface Check {
  readonly definition: ActorDefinition;
  refuse(what: string): never;
}

/** An action or guard of a machine: a name, a name with params, or a function. */
type Reference = string | { readonly type: string } | (((...given: never[]) => unknown) & BuiltIn);

/** Members of the functions of XState's own actions and guards. */
interface BuiltIn {
  readonly type?: unknown;
  readonly resolve?: unknown;
  readonly delay?: unknown;
  readonly guards?: readonly Reference[];
}

function assertAction({ definition, refuse }: Check, action: Reference): void {
  const { actions, delays } = definition.machine.implementations;
  const name = typeof action === 'function' ? undefined : typeof action === 'string' ? action : action.type;
  const found = typeof action === 'function' ? action : own<BuiltIn>(actions, name ?? '');
  const mark = markOf(found);
  if (mark !== undefined) {
    const isGiven = definition.effects?.some((effect) => effect.name === mark.effect);
    if (mark.effect !== undefined && !isGiven)
      refuse(`asks for the effect "${mark.effect}", which is not in \`effects\` of the definition`);
    return;
  }
  if (found === undefined) refuse(`names the action "${name}", which the machine does not have`);
  else if (found.resolve === undefined)
    refuse(
      `has ${name === undefined ? 'a function' : `the function "${name}"`} as action. A step is computed, not carried out: use \`assign\` for the context, and an effect for everything else`,
    );
  const type = String(found?.type);
  if (INSTEAD[type] !== undefined) refuse(`${INSTEAD[type]}`);
  const delay = found?.delay;
  if (typeof delay === 'string' && own(delays, delay) === undefined)
    refuse(`names the delay "${delay}", which the machine does not have`);
}

function assertGuard(check: Check, guard: Reference): void {
  if (typeof guard === 'function') {
    for (const inner of guard.guards ?? []) assertGuard(check, inner);
    return;
  }
  const name = typeof guard === 'string' ? guard : guard.type;
  const found = own<Reference>(check.definition.machine.implementations.guards, name);
  if (found === undefined) check.refuse(`names the guard "${name}", which the machine does not have`);
  else assertGuard(check, found);
}
