/** The states of a machine and the transitions between them, as a list that people and pages can draw. Pure. */
import type { AnyStateMachine } from 'xstate';
import type { ActorDefinition } from '../model/definition.ts';

type Node = AnyStateMachine['root'];

/** Prefix of XState's names of deadlines; the name of the delay follows, then the state. */
const DEADLINE = 'xstate.after.';

export interface ChartState {
  /** Name as it is stored. */
  readonly name: string;
  /** True for a state without a way out. */
  readonly final: boolean;
}

export interface ChartTransition {
  readonly from: string;
  readonly to: string;
  /** Event type; `after <name>` for a deadline, and `always` for a transition without an event. */
  readonly event: string;
}

export interface MachineChart {
  readonly kind: string;
  /** Version of the machine. */
  readonly version: number;
  readonly initial: string;
  /** In the order of the machine's definition. */
  readonly states: readonly ChartState[];
  /** Without duplicates; a transition with a guard may be refused. */
  readonly transitions: readonly ChartTransition[];
}

/** Lists states and transitions; an event of a parent state counts for each state in it. */
export function machineChart({ kind, version, machine }: ActorDefinition): MachineChart {
  const leaves = leavesOf(machine.root);
  const transitions = new Map<string, ChartTransition>();
  for (const leaf of leaves) {
    const from = nameOf(leaf);
    for (const { event, target } of exits(leaf)) {
      const to = target === undefined ? from : nameOf(firstLeaf(target));
      transitions.set(JSON.stringify([from, event, to]), { from, to, event });
    }
  }
  const found = [...transitions.values()];
  const states = leaves.map((leaf) => {
    const name = nameOf(leaf);
    return { name, final: !found.some(({ from, to }) => from === name && to !== name) };
  });
  return { kind, version, initial: nameOf(firstLeaf(machine.root)), states, transitions: found };
}

function leavesOf(node: Node): readonly Node[] {
  const inner = Object.values(node.states) as Node[];
  return inner.length === 0 ? [node] : inner.flatMap(leavesOf);
}

/** Lists events of the state and of its parents, with their targets. */
function exits(leaf: Node): readonly { readonly event: string; readonly target: Node | undefined }[] {
  const found: { event: string; target: Node | undefined }[] = [];
  for (let node: Node | undefined = leaf; node !== undefined; node = node.parent) {
    for (const [name, definitions] of node.transitions) {
      for (const { target } of definitions)
        found.push({ event: eventName(String(name)), target: target?.[0] });
    }
    for (const { target } of node.always ?? []) found.push({ event: 'always', target: target?.[0] });
  }
  return found;
}

function firstLeaf(node: Node): Node {
  const initial: Node | undefined = node.initial?.target?.[0];
  return initial === undefined ? node : firstLeaf(initial);
}

function nameOf(node: Node): string {
  return node.path.join('.');
}

function eventName(name: string): string {
  if (!name.startsWith(DEADLINE)) return name;
  const [deadline = ''] = name.slice(DEADLINE.length).split('.', 1);
  return `after ${deadline}`;
}
