/** Actions of machines that ask the runtime for something. They are marked; the step reads the mark. */
import type { JournalData, JournalLine, Millis, StoredEffect } from './ports.ts';

/** The built-in effect: `{ do: 'tell', to: { kind, id }, event }`, a message from actor to actor. */
export const SEND_EFFECT = 'tell';

/** Member of a stored effect that holds the end of its time over all attempts: every store keeps it. */
export const END = '@end';

/** Returns the end of the time of an effect over all attempts. */
export function endOf(effect: StoredEffect['effect']): Millis {
  return (effect[END] as Millis | undefined) ?? Number.POSITIVE_INFINITY;
}

/** A request of a machine, made by a marked action. */
export type Request =
  /** `totalMs`: limit over all attempts; absent: none. */
  | {
      readonly kind: 'effect';
      readonly effect: StoredEffect['effect'];
      readonly totalMs?: Millis | undefined;
    }
  /** `state`: an intermediate state of the transition; absent: the state that the step ends in. */
  | {
      readonly kind: 'note';
      readonly message: string;
      readonly data: JournalData | undefined;
      readonly state: string | undefined;
    }
  | { readonly kind: 'erase'; readonly lines: readonly JournalLine[]; readonly record: string }
  | { readonly kind: 'drop-effects' };

const REQUEST = Symbol.for('@sealwright/runtime:request');

interface Mark {
  /** Name of the effect that it asks for; absent: it needs no handler of the program. */
  readonly effect?: string;
  readonly request: (params: unknown) => Request;
}

/**
 * An action for `setup({ actions })` of a machine. It does nothing by itself: the step stores what it asks for.
 * @typeParam Params what the machine gives as `params`
 */
export type RequestAction<Params> = (args: unknown, params: Params) => void;

export function marked<Params>(mark: Mark): RequestAction<Params> {
  return Object.assign(() => {}, { [REQUEST]: mark });
}

/** Returns the mark of an action that asks for something. */
export function markOf(action: unknown): Mark | undefined {
  return (action as { readonly [REQUEST]?: Mark } | null | undefined)?.[REQUEST];
}
