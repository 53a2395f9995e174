/**
 * Checks of messages before they reach an actor: a malformed one is the fault of its sender, and counts against no
 * actor.
 */
import { Fatal } from './failures.ts';
import { jsonProblem } from './json.ts';
import { isKey } from './keys.ts';
import type { ActorEvent } from './ports.ts';

/** Longest id of a message, UTF-16 units: an actor stores the last ones. */
const MAX_MESSAGE_ID = 400;

/** Returns the error about a malformed address; undefined when there is none. */
export function malformedAddress(address: unknown): Fatal | undefined {
  return fatal('actor.address-malformed', addressProblem(address));
}

/** Returns the error about a malformed event or id of a message, which names the member. */
export function malformedMessage(event: unknown, id: unknown): Fatal | undefined {
  return fatal('message.malformed', eventProblem(event) ?? idProblem(id));
}

/** Returns the error about an input that JSON cannot keep: it may have to cross threads. */
export function malformedInput(input: unknown): Fatal | undefined {
  return fatal('message.malformed', input === undefined ? undefined : jsonProblem(input, 'input'));
}

function fatal(code: string, problem: string | undefined): Fatal | undefined {
  return problem === undefined ? undefined : new Fatal(code, problem);
}

/** Returns why a value is not the address of an actor. */
export function addressProblem(address: unknown): string | undefined {
  const { kind, id } = (address ?? {}) as { readonly kind?: unknown; readonly id?: unknown };
  for (const [name, part] of [['kind', kind] as const, ['id', id] as const])
    if (typeof part !== 'string') return `The ${name} of an actor is a text, not ${describe(part)}.`;
  return isKey([kind, id])
    ? undefined
    : `The id of an actor has at most 400 bytes of UTF-8, in whole characters.`;
}

/** Returns why a value is not an event. */
export function eventProblem(event: unknown): string | undefined {
  if (typeof event !== 'object' || event === null) return `An event is an object, not ${describe(event)}.`;
  const { type } = event as { readonly type?: unknown };
  if (typeof type !== 'string') return `The \`type\` of an event is a text, not ${describe(type)}.`;
  // XState acts on these; only deadlines of the runtime have them.
  if (type.startsWith('xstate.')) return `The \`type\` "${type}" is a name XState keeps for itself.`;
  return jsonProblem(event, `event "${type}"`);
}

function idProblem(id: unknown): string | undefined {
  if (id === undefined) return undefined;
  if (typeof id !== 'string') return `The id of a message is a text, not ${describe(id)}.`;
  return id.length > MAX_MESSAGE_ID
    ? `The id of a message has at most ${MAX_MESSAGE_ID} characters.`
    : undefined;
}

/** Returns what a handler resolved with. Throws `effect.malformed-outcome`, which names the handler. */
export function checkedOutcome(name: string, outcome: unknown): ActorEvent | null {
  if (outcome === null) return null;
  const problem = eventProblem(outcome);
  if (problem === undefined) return outcome as ActorEvent;
  throw new Fatal(
    'effect.malformed-outcome',
    `The handler of "${name}" returned neither null nor an event. ${problem}`,
  );
}

function describe(value: unknown): string {
  return value === undefined ? 'undefined' : `${typeof value} ${JSON.stringify(value)}`;
}
