/** Handlers by the names of their effects, and an action that asks for whatever effect a test names. */
import type { Actor, EffectHandler, HandledEffect } from '@sealwright/runtime';
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

/** @param other handler of the effects that actors declare and `table` does not name. @default they have none */
export function handlersByName(
  actors: readonly Actor[],
  table: { readonly [name: string]: EffectHandler },
  other?: EffectHandler,
): readonly HandledEffect<unknown>[] {
  const declared = new Map(actors.flatMap(({ effects = [] }) => effects).map((one) => [one.name, one]));
  const handlers = other
    ? { ...Object.fromEntries([...declared.keys()].map((name) => [name, other])), ...table }
    : table;
  return Object.entries(handlers).map(([name, handler]) => ({
    name,
    handler,
    partitioning: declared.get(name)?.partitioning,
  }));
}
