/** Traces by OpenTelemetry: send → step → effect → message. Needs the package `@opentelemetry/api`. */
import { context, propagation, ROOT_CONTEXT, SpanStatusCode, type Tracer, trace } from '@opentelemetry/api';
import { describeFailure } from './model/failures.ts';
import type { TraceContext, Tracing } from './model/tracing.ts';

export type { TraceContext, Tracing };

/**
 * Traces for `createRuntime({ tracing })`. The trace context is stored with each effect, in the form of the registered
 * propagator, so that a trace goes on after a restart and on other nodes.
 * @param options.tracer by default that of the registered provider
 */
export function openTelemetry(options: { readonly tracer?: Tracer } = {}): Tracing {
  const tracer = options.tracer ?? trace.getTracer('@sealwright/runtime');
  return {
    async span(name, attributes, parent, work) {
      const outer =
        parent === 'caller' ? context.active() : propagation.extract(ROOT_CONTEXT, parent ?? undefined);
      const span = tracer.startSpan(name, { attributes }, outer);
      const own = trace.setSpan(outer, span);
      const carrier: { [header: string]: string } = {};
      propagation.inject(own, carrier);
      try {
        const result = await context.with(own, () => work(carrier));
        const { accepted, reason } = (result ?? {}) as {
          readonly accepted?: boolean;
          readonly reason?: string;
        };
        if (accepted === false && reason !== undefined) span.setAttribute('actor.refusal', reason);
        return result;
      } catch (error) {
        const { code, message } = describeFailure(error);
        span.recordException({ name: code, message });
        span.setStatus({ code: SpanStatusCode.ERROR, message });
        throw error;
      } finally {
        span.end();
      }
    },
  };
}
