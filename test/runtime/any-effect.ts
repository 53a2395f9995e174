/** The table of handlers of a runtime that is built of parts, and an action that asks for whatever effect a test names. */
import type { EffectHandler, HandledEffect } from '@sealwright/runtime';
import type { RequestAction } from '@sealwright/runtime/actions';
import { marked } from '#runtime/model/requests.js';

/** Action whose params are the effect as it is stored. */
export const anyEffect: RequestAction<object> = marked({
  request: (params) => ({ kind: 'effect', effect: params as { readonly do: string } }),
});

export function handlerTable(handled: readonly HandledEffect<unknown>[]): {
  readonly [name: string]: EffectHandler;
} {
  return Object.fromEntries(handled.map(({ name, handler }) => [name, handler]));
}
