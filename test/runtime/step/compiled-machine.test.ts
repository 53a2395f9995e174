/**
 * Prepared transitions lead where XState's own lead: same state, context, actions and order, and nowhere where XState
 * throws. All machines of the product, and random ones, get random messages.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { seededIds } from '@sealwright/runtime/testing';
import test from 'ava';
import {
  type AnyMachineSnapshot,
  type AnyStateMachine,
  assign,
  createMachine,
  enqueueActions,
  initialTransition,
  transition,
} from 'xstate';
import type { ActorEvent, Json } from '#runtime/model/ports.js';
import { compiledCreation, compiledTransition, type Reached } from '#runtime/step/compiled-machine.js';
import { definitionOf, EVENTS, type Roll, randomChart } from '../crash/random-chart.ts';
import { RandomValues } from './random-values.ts';

const COMPILED = new URL('../../../machines/', import.meta.url);
const SOURCES = new URL('../../../../machines/', import.meta.url);

/** Messages for each kind of message that a machine accepts. */
const MESSAGES = 40;
const CHARTS = 20;

function dice(seed: number): Roll {
  const ids = seededIds(seed);
  return (limit) => ids.bytes(4).readUInt32LE() % limit;
}

function frozen<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null)
    for (const member of Object.values(Object.freeze(value))) frozen(member);
  return value;
}

/** Returns where XState leads; undefined where it throws. */
function asked(
  ask: () => [AnyMachineSnapshot, readonly object[]],
  before?: AnyMachineSnapshot,
): Reached | undefined {
  try {
    const [snapshot, actions] = ask();
    if (snapshot.status !== 'active') return undefined;
    const { value, context } = snapshot;
    return { state: value, context, actions: actions as Reached['actions'], isChanged: snapshot !== before };
  } catch {
    return undefined;
  }
}

/** All that the step reads. Texts, since the order of members is part of it. */
function readable(reached: Reached | undefined): unknown {
  if (reached === undefined) return undefined;
  const { state, context, actions, isChanged } = reached;
  return {
    state,
    isChanged,
    context: JSON.stringify(context),
    actions: actions.map(({ type, params, exec }) => ({
      type,
      params: JSON.stringify(params),
      exec: type.startsWith('xstate.') ? undefined : exec,
    })),
  };
}

interface Walk {
  readonly machine: AnyStateMachine;
  readonly roll: Roll;
  input(): Json;
  event(): ActorEvent;
}

/** Creates actors and sends them events; a third of the events come in a state that the actor did not reach. */
function walk({ machine, roll, input, event }: Walk, turns: number) {
  const states = Object.keys(machine.states);
  const accepted = new Set<string>();
  const differences: object[] = [];
  const compare = (cause: object, expected: Reached | undefined, given: Reached | undefined): void => {
    const left = readable(expected);
    const right = readable(given);
    if (JSON.stringify(left) !== JSON.stringify(right) || !sameFunctions(expected, given))
      differences.push({ machine: machine.id, cause, expected: left, given: right });
  };
  let actor: Reached | undefined;
  for (let turn = 0; turn < turns; turn += 1) {
    if (actor === undefined || roll(30) === 0) {
      const given = frozen(input());
      const expected = asked(() => initialTransition(machine, given as never) as never);
      compare({ input: given }, expected, compiledCreation(machine, given));
      actor = expected;
      continue;
    }
    const state = roll(3) === 0 ? (states[roll(states.length)] as string) : actor.state;
    const context = frozen(actor.context);
    const one = frozen(event());
    const before = machine.resolveState({ value: state, context }) as AnyMachineSnapshot;
    const expected = asked(() => transition(machine, before, one as never) as never, before);
    compare({ state, event: one }, expected, compiledTransition(machine, state, context, one));
    if (expected?.isChanged) accepted.add(one.type);
    actor = expected ?? actor;
  }
  return { accepted, differences };
}

function sameFunctions(expected: Reached | undefined, given: Reached | undefined): boolean {
  return (expected?.actions ?? []).every(
    ({ type, exec }, at) => type.startsWith('xstate.') || exec === given?.actions[at]?.exec,
  );
}

/** Names of the events of a machine, with those of its deadlines. */
function eventsOf({ root }: AnyStateMachine): readonly string[] {
  const nodes = [root, ...Object.values(root.states)] as readonly AnyStateMachine['root'][];
  return [...new Set(nodes.flatMap(({ transitions }) => [...(transitions.keys() as Iterable<string>)]))];
}

/** Names of the types of input and messages, as the source of a machine gives them. */
function typesIn(source: string): { readonly input: string; readonly event: string } {
  const [, context, message, input = context] =
    /recordMachine<(\w+), (\w+)(?:, (\w+))?>/.exec(source) ??
    /deliveryQueueMachine<\s*(\w+)/.exec(source) ??
    [];
  const setup = (member: string) =>
    new RegExp(`^\\s.*\\b${member}: {} as (\\w+|{.*})(?:,| })`, 'm').exec(source)?.[1];
  return {
    input: input ?? setup('input') ?? setup('context') ?? 'object',
    event: message ?? setup('events') ?? 'DeliveryQueueMessage',
  };
}

test('all machines of the product lead where XState leads, on random messages', async (t) => {
  const roll = dice(7);
  const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  );
  const sources = files.map((name) => readFileSync(new URL(name, SOURCES), 'utf8'));
  const values = new RandomValues(sources, roll);
  for (const [at, file] of files.entries()) {
    const source = typesIn(sources[at] ?? '');
    const names = (await import(new URL(file.replace(/ts$/, 'js'), COMPILED).href)) as object;
    for (const [name, found] of Object.entries(names)) {
      const machine = found as AnyStateMachine;
      if (machine?.root?.machine !== machine) continue;
      const deadlines = eventsOf(machine).filter((type) => type.startsWith('xstate.'));
      const event = () => {
        const deadline = roll(8) === 0 ? deadlines[roll(deadlines.length)] : undefined;
        return (
          deadline === undefined ? values.of(source.event) : { type: deadline, at: roll(9) }
        ) as ActorEvent;
      };
      const types = eventsOf(machine);
      const turns = MESSAGES * (types.length + 4);
      const input = () => values.of(source.input) as Json;
      const { accepted, differences } = walk({ machine, roll, input, event }, turns);
      t.deepEqual(differences.slice(0, 3), [], name);
      t.true(4 * accepted.size >= types.length, `${name} accepted only ${[...accepted]}`);
    }
  }
});

test('random machines lead where XState leads', (t) => {
  const roll = dice(3);
  let accepted = 0;
  for (let count = 0; count < CHARTS; count += 1) {
    const { machine } = definitionOf(randomChart(`chart-${count}`, roll));
    const types = [...eventsOf(machine), ...EVENTS];
    const event = () => ({ type: types[roll(types.length)] as string, at: roll(1000) });
    const found = walk({ machine, roll, input: () => null, event }, 100);
    t.deepEqual(found.differences.slice(0, 3), []);
    accepted += found.accepted.size;
  }
  t.true(accepted > 4 * CHARTS, `${accepted} kinds of events were accepted`);
});

test('what is not prepared is left to XState', (t) => {
  const leads = (config: object) => {
    const machine = createMachine({
      context: { size: 1 },
      initial: 'A',
      states: { A: { on: { GO: { target: 'B' } } }, B: {} },
      ...config,
    });
    return compiledTransition(machine, 'A', { size: 1 }, { type: 'GO' })?.state;
  };
  const on = { GO: { target: 'B' } };
  t.is(leads({}), 'B');
  t.is(leads({ states: { A: { on }, B: { type: 'final' } } }), undefined);
  t.is(leads({ states: { A: { on }, B: { initial: 'C', states: { C: {} } } } }), undefined);
  t.is(leads({ states: { A: { on: { '*': 'B' } }, B: {} } }), undefined);
  t.is(leads({ states: { A: { on }, B: { invoke: { src: 'work' } } } }), undefined);
  const raise = (type: string) => enqueueActions(({ enqueue }) => enqueue.raise({ type }));
  t.is(leads({ states: { A: { on }, B: { entry: raise('OTHER') } } }), 'B');
  t.is(
    leads({
      states: { A: { on }, B: { entry: raise('BACK'), on: { BACK: { target: 'B', reenter: true } } } },
    }),
    undefined,
  );
  const renamed = raise('OTHER');
  Reflect.deleteProperty(renamed, 'collect');
  t.is(leads({ states: { A: { on }, B: { entry: renamed } } }), undefined);
  const nothing = enqueueActions(({ enqueue }) => enqueue.raise(undefined as never));
  t.is(leads({ states: { A: { on }, B: { entry: nothing } } }), undefined);
  const spawns = assign(({ spawn }) => {
    try {
      spawn('work' as never);
    } catch {}
    return {};
  });
  t.is(leads({ states: { A: { on: { GO: { target: 'B', actions: spawns } } }, B: {} } }), undefined);
});
