/** Parses the actions that XState returns. An unknown action is a fault of the machine. */
import { Fatal } from '../model/failures.ts';
import type { ActorEvent, JournalData, Millis, StoredEffect } from '../model/ports.ts';

export type RequestedAction =
  | { readonly kind: 'effect'; readonly effect: StoredEffect['effect'] }
  /** `state`: an intermediate state of the transition; absent: the state that the step ends in. */
  | {
      readonly kind: 'note';
      readonly message: string;
      readonly state: string | undefined;
      readonly data: JournalData | undefined;
    }
  | { readonly kind: 'drop-effects' }
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
const DROP_EFFECTS: RequestedAction = { kind: 'drop-effects' };

interface Delayed {
  readonly id?: unknown;
  readonly delay?: unknown;
  readonly event?: ActorEvent;
  readonly sendId?: unknown;
}

/** Throws `step.unknown-action` or `step.malformed-action`, which name the action. */
export function readAction(type: string, params: unknown): RequestedAction {
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
    case 'xstate.emit':
      return { kind: 'emit', event: (params as { readonly event: ActorEvent }).event };
    default:
      throw new Fatal(
        'step.unknown-action',
        `The machine asked for "${type}"; only effect, note, dropEffects, emitted events and delayed transitions are possible.`,
      );
  }
}

function readEffect(params: unknown): StoredEffect['effect'] {
  const effect = params as { readonly do?: unknown } | null | undefined;
  if (typeof effect?.do !== 'string') throw malformed('effect', 'its params need a text `do`');
  return effect as StoredEffect['effect'];
}

function readNote(params: unknown): RequestedAction {
  const note = params as
    | { readonly message?: unknown; readonly state?: unknown; readonly data?: unknown }
    | null
    | undefined;
  if (typeof note?.message !== 'string') throw malformed('note', 'its params need a text `message`');
  const { message, state, data } = note;
  return {
    kind: 'note',
    message,
    state: typeof state === 'string' ? state : undefined,
    data: typeof data === 'object' && data !== null ? (data as JournalData) : undefined,
  };
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
