/** Answers of the runtime: actors as their last step has left them, frozen, with tags and output of their states. */
import type { AnyMachineSnapshot, AnyStateMachine, OutputFrom } from 'xstate';
import type { Actor, Answer, View } from './model/actor.ts';
import type { CommittedActor, StepOutcome } from './model/definition.ts';
import { freezeJson, withFrozenContext } from './model/json.ts';
import type { Millis, StoredActor } from './model/ports.ts';
import { migrationOf } from './step/migrate.ts';
import { committedViewOf, resolvedState } from './step/step.ts';

export async function answerOf<Definition extends Actor>(
  definition: Definition,
  sent: Promise<StepOutcome>,
): Promise<Answer<Definition>> {
  const outcome = await sent;
  if (outcome.accepted) {
    const { actor, revision } = outcome;
    return Object.freeze({ ...partsOf(definition, { ...actor, revision }), accepted: true as const });
  }
  if (!('actor' in outcome)) return Object.freeze(outcome);
  const { reason, actor } = outcome;
  return Object.freeze({ ...partsOf(definition, actor), accepted: false as const, reason });
}

/**
 * Returns a stored actor as this program has it: one that a node of an earlier version has stored is migrated. Throws a
 * `Retryable`, `actor.newer-version`.
 */
export function viewOfStored<Definition extends Actor>(
  definition: Definition,
  stored: StoredActor,
  now: Millis,
): View<Definition> {
  return viewOfActor(definition, committedViewOf(migrationOf(definition, stored, now)?.actor ?? stored));
}

export function viewOfActor<Definition extends Actor>(
  definition: Definition,
  actor: Omit<CommittedActor, 'stopped'>,
): View<Definition> {
  return Object.freeze(partsOf(definition, actor));
}

function partsOf<Definition extends Actor>(
  { machine }: Definition,
  // biome-ignore lint/suspicious/noExplicitAny: the definition types it.
  actor: Omit<CommittedActor<any>, 'stopped'>,
): View<Definition> {
  const { id, state, context, revision } = withFrozenContext(actor);
  const output = outputOf(machine, state, context);
  return {
    id,
    state: state as View<Definition>['state'],
    context,
    tags: tagsOf(machine, state),
    ...(output !== undefined && { output: output as OutputFrom<Definition['machine']> }),
    revision,
  };
}

const known = new WeakMap<AnyMachineSnapshot, readonly string[]>();

function tagsOf(machine: AnyStateMachine, state: string): readonly string[] {
  const resolved = resolvedState(machine, state);
  const tags = known.get(resolved) ?? Object.freeze([...resolved.tags]);
  known.set(resolved, tags);
  return tags;
}

type Mapper = (given: {
  readonly context: unknown;
  readonly event: unknown;
  readonly self: object;
}) => unknown;

/**
 * Computes the output of a machine in its final state, which XState gives with the step into it alone. The event of that
 * step is gone: undefined where the output needs it. A message that was consumed must not be rejected for that.
 */
function outputOf(machine: AnyStateMachine, state: string, context: unknown): unknown {
  const { status, _nodes: nodes } = resolvedState(machine, state);
  if (status !== 'done') return undefined;
  const map = (mapper: unknown, event: unknown): unknown =>
    typeof mapper === 'function' ? (mapper as Mapper)({ context, event, self: {} }) : mapper;
  const last = nodes.find(({ type, parent }) => type === 'final' && parent === machine.root);
  try {
    const event = { type: `xstate.done.state.${last?.id}`, output: map(last?.output, undefined) };
    const output = map(machine.root.output, event);
    freezeJson(output, undefined, 'output');
    return output;
  } catch {
    return undefined;
  }
}
