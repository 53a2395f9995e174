/** Traces as a dependency; the entry `otel` makes one. */
import type { ActorAddress, StoredEffect } from './ports.ts';
import { END } from './requests.ts';

/** A trace as text: names and values of the headers that would carry it over HTTP. */
export type TraceContext = { readonly [header: string]: string };

/** Runs work as spans of traces. `openTelemetry` of the entry `otel` makes one. */
export interface Tracing {
  /**
   * Runs work as a span. The work receives the trace that its consequences continue.
   * @param parent the trace that it continues; null: none; `caller`: that which is active where it is called
   */
  span<Result>(
    name: string,
    attributes: { readonly [name: string]: string | number },
    parent: TraceContext | null | 'caller',
    work: (trace: TraceContext) => Promise<Result>,
  ): Promise<Result>;
}

/**
 * Member of a stored effect that holds the trace of the step that asked for it: every store keeps it, and so a trace goes
 * on after a restart. A column would change the schema of three stores.
 */
const TRACE = '@trace';

/** Computes and stores a step, as a span where there are traces. `delivery` carries the trace that the span continues. */
export function tracedStep<Delivery extends { readonly trace?: TraceContext | undefined }, Outcome>(
  tracing: Tracing | undefined,
  { kind, id }: ActorAddress,
  {
    event,
    delivery,
    step,
  }: {
    readonly event: string;
    readonly delivery: Delivery;
    readonly step: (delivery: Delivery) => Promise<Outcome>;
  },
): Promise<Outcome> {
  if (tracing === undefined) return step(delivery);
  const attributes = { 'actor.kind': kind, 'actor.id': id, 'event.type': event };
  return tracing.span(`step ${kind}`, attributes, delivery.trace ?? null, (trace) =>
    step({ ...delivery, trace }),
  );
}

/** Returns the effect with a trace; without one, or with an empty one, as it is: nothing propagates traces then. */
export function withTrace(
  effect: StoredEffect['effect'],
  trace: TraceContext | undefined,
): StoredEffect['effect'] {
  return trace === undefined || Object.keys(trace).length === 0 ? effect : { ...effect, [TRACE]: trace };
}

export function traceOf(effect: StoredEffect['effect']): TraceContext | undefined {
  return effect[TRACE] as TraceContext | undefined;
}

/** Members of a stored effect that no input may have. */
export const RESERVED_MEMBERS: readonly string[] = ['do', TRACE, END];

/** Returns the members of an effect that the machine gave. */
export function inputOf({ do: _, [TRACE]: __, [END]: ___, ...input }: StoredEffect['effect']): object {
  return input;
}
