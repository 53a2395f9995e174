/** Actions of machines that ask the runtime for something. They are marked; the step reads the mark. */
import type { JournalData, StoredEffect } from './ports.ts';

/** The built-in effect: `{ do: 'tell', to: { kind, id }, event }`, a message from actor to actor. */
export const SEND_EFFECT = 'tell';

/** A request of a machine, made by a marked action. */
export type Request =
  | { readonly kind: 'effect'; readonly effect: StoredEffect['effect'] }
  | { readonly kind: 'note'; readonly message: string; readonly data: JournalData | undefined }
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
