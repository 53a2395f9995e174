/** The actions a machine may ask for, read from what XState hands over. Anything else is a mistake in the machine. */
import { Fatal } from './failures.ts';
import type { ActorEvent, Millis, StoredEffect } from './ports.ts';

export type AskedAction =
  | { readonly kind: 'effect'; readonly effect: StoredEffect['effect'] }
  /** `state`: passed through on the way to the one the step ends in; left out: that one. */
  | { readonly kind: 'note'; readonly message: string; readonly state?: string }
  | { readonly kind: 'drop-effects' }
  | { readonly kind: 'arm'; readonly name: string; readonly delay: Millis; readonly event: ActorEvent }
  | { readonly kind: 'disarm'; readonly name: string }
  | { readonly kind: 'nothing' };

const NOTHING: AskedAction = { kind: 'nothing' };
const DROP_EFFECTS: AskedAction = { kind: 'drop-effects' };

interface Delayed {
  readonly id?: unknown;
  readonly delay?: unknown;
  readonly event?: ActorEvent;
  readonly sendId?: unknown;
}

/** Throws `step.unknown-action` or `step.malformed-action`, which name the action. */
export function readAction(type: string, params: unknown): AskedAction {
  switch (type) {
    case 'effect':
      return { kind: 'effect', effect: readEffect(params) };
    case 'note':
      return readNote(params);
    case 'dropEffects':
      return DROP_EFFECTS;
    case 'xstate.raise':
      return readRaise(params as Delayed);
    case 'xstate.cancel':
      return { kind: 'disarm', name: String((params as Delayed).sendId) };
    default:
      throw new Fatal(
        'step.unknown-action',
        `The machine asked for "${type}"; only effect, note, dropEffects and delayed transitions can be stored.`,
      );
  }
}

function readEffect(params: unknown): StoredEffect['effect'] {
  const effect = params as { readonly do?: unknown } | null | undefined;
  if (typeof effect?.do !== 'string') throw malformed('effect', 'its params need a text `do`');
  return effect as StoredEffect['effect'];
}

function readNote(params: unknown): AskedAction {
  const note = params as { readonly message?: unknown; readonly state?: unknown } | null | undefined;
  if (typeof note?.message !== 'string') throw malformed('note', 'its params need a text `message`');
  const { message, state } = note;
  return typeof state === 'string' ? { kind: 'note', message, state } : { kind: 'note', message };
}

/** An undelayed raise was consumed inside the transition; a delayed one becomes a stored deadline. */
function readRaise({ id, delay, event }: Delayed): AskedAction {
  if (delay === undefined) return NOTHING;
  if (typeof delay !== 'number' || !Number.isFinite(delay) || delay < 0 || event === undefined) {
    throw malformed('raise', `its delay is ${String(delay)}, not a number of milliseconds`);
  }
  return { kind: 'arm', name: typeof id === 'string' ? id : event.type, delay, event };
}

function malformed(action: string, why: string): Fatal {
  return new Fatal('step.malformed-action', `The machine's action "${action}" cannot be stored: ${why}.`);
}
