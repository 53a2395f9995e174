/** Contexts of many members stay objects that are quick to copy; V8 itself is asked. */
import { setFlagsFromString } from 'node:v8';
import type { ActorDefinition, StoredActor } from '@sealwright/runtime';
import test from 'ava';
import { assign, setup } from 'xstate';
import { firstStep, nextStep } from '#runtime/step/step.js';

setFlagsFromString('--allow-natives-syntax');
const isFast = new Function('object', 'return %HasFastProperties(object)') as (object: unknown) => boolean;

/** As many as a job has, each read from outside, as a machine does. */
const MEMBERS = Array.from({ length: 30 }, (_, index) => `member${index}`);

/** Members are called otherwise in each, since V8 shares what it knows of shapes between all objects. */
function definitionWith(prefix: string): ActorDefinition {
  const machine = setup({
    types: { context: {} as Record<string, number> },
  }).createMachine({
    context: () => Object.assign({}, ...MEMBERS.map((name) => ({ [`${prefix}.${name}`]: 0 }))),
    initial: 'Idle',
    states: {
      Idle: { on: { COUNT: { actions: assign({ [`${prefix}.member3`]: ({ event }) => event['at'] }) } } },
    },
  });
  return { kind: prefix, machine, version: 1 };
}

const address = { kind: 'counter', id: '1' };
const context = { now: 1 };

function stepped(definition: ActorDefinition, actor: StoredActor): StoredActor {
  const step = nextStep(definition, actor, { type: 'COUNT', at: 2 }, context);
  if (step === undefined) throw new Error('it was not accepted');
  return step.actor;
}

test('the context of an actor that is created after another one, and of its steps, has fast properties', (t) => {
  const definition = definitionWith('made');
  firstStep(definition, address, {}, context);
  const { actor } = firstStep(definition, address, {}, context);
  t.true(isFast(actor.context));
  t.true(isFast(stepped(definition, actor).context));
});

test('the context of a stored actor has fast properties after its second step', (t) => {
  const definition = definitionWith('read');
  const { actor } = firstStep(definitionWith('read'), address, {}, context);
  const read = JSON.parse(JSON.stringify(actor)) as StoredActor;
  t.true(isFast(stepped(definition, stepped(definition, read)).context));
});
