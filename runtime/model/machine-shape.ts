/** Checks of machines that the runtime can store. */
import type { AnyStateMachine } from 'xstate';
import type { ActorDefinition } from './definition.ts';
import { Fatal } from './failures.ts';

/** Lists the state names of a machine, as they are stored. */
export function stateNames(definition: ActorDefinition): readonly string[] {
  const names: string[] = [];
  const walk = (node: AnyStateMachine['root']): void => {
    const inner = Object.values(node.states) as AnyStateMachine['root'][];
    if (inner.length === 0) names.push(node.path.join('.'));
    for (const child of inner) walk(child);
  };
  walk(definition.machine.root);
  return names;
}

/**
 * Checks once, at start, that the runtime can store the states of a machine: no parallel or history states, no invoked
 * actors, no dots in state names. Throws `machine.unsupported`.
 */
export function assertStorable(definition: ActorDefinition): void {
  const refuse = (where: string, what: string): never => {
    throw new Fatal('machine.unsupported', `${definition.kind}: ${where} ${what}`);
  };
  const walk = (node: AnyStateMachine['root']): void => {
    const where = node.path.join('.') || 'the root';
    if (node.type === 'parallel') refuse(where, 'is parallel; an actor is in one state.');
    if (node.type === 'history') refuse(where, 'is a history state; history is not stored.');
    if (node.invoke.length > 0) refuse(where, 'invokes an actor; ask for an effect instead.');
    if (node.path.some((key: string) => key.includes('.'))) refuse(where, 'has a dot in its name.');
    for (const child of Object.values(node.states)) walk(child as AnyStateMachine['root']);
  };
  walk(definition.machine.root);
}
