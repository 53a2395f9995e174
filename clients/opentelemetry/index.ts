/** Traces of the runtime by OpenTelemetry: send → step → effect → message; and its metrics. */
import {
  type BatchObservableCallback,
  context,
  type Meter,
  metrics,
  propagation,
  ROOT_CONTEXT,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { describeFailure, type Metrics, type Tracing } from '@sealwright/runtime';

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

/**
 * Metrics for `createRuntime({ metrics })`, of this process: counters of messages, of steps that threw and of attempts of effects, a
 * histogram of their seconds, and gauges of waiting messages and effects in progress.
 * @param options.meter by default that of the registered provider
 */
export function openTelemetryMetrics(options: { readonly meter?: Meter } = {}): Metrics {
  const meter = options.meter ?? metrics.getMeter('@sealwright/runtime');
  const attempts = meter.createCounter('actors.effect.attempts', {
    description: 'Ended attempts of effects, and deliveries of messages between actors (`tell`), by outcome',
  });
  const seconds = meter.createHistogram('actors.effect.duration', {
    description: 'Time of attempts of effects',
    unit: 's',
  });
  const messages = meter.createObservableCounter('actors.messages', {
    description: 'Messages by kind of actor, accepted or refused',
  });
  const restarts = meter.createObservableCounter('actors.restarts', {
    description: 'Steps that threw, by kind of actor',
  });
  const waiting = meter.createObservableGauge('actors.mailbox.messages', {
    description: 'Messages that wait or are in progress, of all actors',
  });
  const deepest = meter.createObservableGauge('actors.mailbox.deepest', {
    description: 'Messages that wait or are in progress, of the actor with the most',
  });
  const inFlight = meter.createObservableGauge('actors.effects.in_flight', {
    description: 'Effects in progress',
  });
  const observed = [messages, restarts, waiting, deepest, inFlight];
  return {
    attempt(effect, outcome, duration) {
      attempts.add(1, { effect, outcome });
      seconds.record(duration / 1000, { effect });
    },
    observe(read) {
      const observe: BatchObservableCallback = async (result) => {
        const { kinds, mailboxes, effectsInFlight } = await read();
        for (const [kind, counts] of Object.entries(kinds)) {
          result.observe(messages, counts.accepted, { kind, outcome: 'accepted' });
          result.observe(messages, counts.refused, { kind, outcome: 'refused' });
          result.observe(restarts, counts.restarts, { kind });
        }
        result.observe(
          waiting,
          mailboxes.reduce((sum, depth) => sum + depth, 0),
        );
        result.observe(
          deepest,
          mailboxes.reduce((most, depth) => Math.max(most, depth), 0),
        );
        result.observe(inFlight, effectsInFlight);
      };
      meter.addBatchObservableCallback(observe, observed);
      return () => meter.removeBatchObservableCallback(observe, observed);
    },
  };
}
