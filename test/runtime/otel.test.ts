/** Traces by OpenTelemetry. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import {
  type AttributeValue,
  type Context,
  context,
  propagation,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { type CreateOptions, createRuntime, defineActor, defineEffect, tell } from '@sealwright/runtime';
import { lmdb } from '@sealwright/runtime/lmdb';
import { openTelemetry } from '@sealwright/runtime/otel';
import test from 'ava';
import { assign, setup } from 'xstate';
import { folderFor } from './folder.ts';

/** A span as an exporter receives it. */
interface Ended {
  readonly name: string;
  readonly parent: string | undefined;
  readonly own: SpanContext;
  readonly attributes: { readonly [name: string]: AttributeValue | undefined };
  readonly errors: readonly string[];
}

/** Returns a tracer that keeps ended spans. The interface alone is a package; a program brings an SDK. */
function recorder(ended: Ended[]): Tracer {
  const startSpan: Tracer['startSpan'] = (name, { attributes: given = {} } = {}, from = context.active()) => {
    const before = trace.getSpanContext(from);
    const own: SpanContext = {
      traceId: before?.traceId ?? randomBytes(16).toString('hex'),
      spanId: randomBytes(8).toString('hex'),
      traceFlags: 1,
    };
    const attributes = { ...given };
    const errors: string[] = [];
    return {
      spanContext: () => own,
      setAttribute(key: string, value: AttributeValue) {
        attributes[key] = value;
      },
      recordException: ({ name: code }: { name: string }) => void errors.push(code),
      setStatus() {},
      end: () => void ended.push({ name, parent: before?.spanId, own, attributes, errors }),
    } as unknown as Span;
  };
  return {
    startSpan,
    startActiveSpan: (_: string, work: (span: Span) => unknown) => work(startSpan(_)),
  } as Tracer;
}

test.before(() => {
  const storage = new AsyncLocalStorage<Context>();
  context.setGlobalContextManager({
    active: () => storage.getStore() ?? ROOT_CONTEXT,
    with: (active, work, self, ...rest) => storage.run(active, () => work.call(self as never, ...rest)),
    bind: (_, target) => target,
    enable() {
      return this;
    },
    disable() {
      return this;
    },
  });
  propagation.setGlobalPropagator({
    fields: () => ['traceparent'],
    inject(from, carrier, setter) {
      const { traceId, spanId } = trace.getSpanContext(from) ?? {};
      setter.set(carrier, 'traceparent', `00-${traceId}-${spanId}-01`);
    },
    extract(from, carrier, getter) {
      const [, traceId, spanId] = String(getter.get(carrier, 'traceparent') ?? '').split('-');
      if (traceId === undefined || spanId === undefined) return from;
      return trace.setSpanContext(from, { traceId, spanId, traceFlags: 1, isRemote: true });
    },
  });
});

const ledger = defineActor('ledger', {
  version: 1,
  machine: setup({
    types: {} as { context: { total: number }; events: { type: 'SOLD' } },
    actions: { add: assign({ total: ({ context: { total } }) => total + 1 }) },
  }).createMachine({ context: { total: 0 }, on: { SOLD: { actions: 'add' } } }),
});

/** An order whose charge is in progress when the first runtime stops. */
function orderWith(charge: (signal: AbortSignal) => Promise<void>) {
  const effect = defineEffect('charge', {
    run: async (_: { amount: number }, { signal }) => {
      await charge(signal);
      return { type: 'CHARGED' } as const;
    },
  });
  return defineActor('order', {
    version: 1,
    effects: [effect],
    machine: setup({
      types: {} as { context: object; events: { type: 'PAY' } | { type: 'CHARGED' } },
      actions: { charge: effect.action, report: tell(ledger) },
    }).createMachine({
      context: {},
      initial: 'open',
      states: {
        open: { on: { PAY: 'paying' } },
        paying: { entry: { type: 'charge', params: { amount: 5 } }, on: { CHARGED: 'paid' } },
        paid: { entry: { type: 'report', params: { id: 'all', event: { type: 'SOLD' } } } },
      },
    }),
  });
}

test('one trace leads from a message over an effect that goes on after a restart to the actor that is told', async (t) => {
  const ended: Ended[] = [];
  const tracer = recorder(ended);
  const folder = folderFor(t);
  const open = (order: ReturnType<typeof orderWith>, more: Partial<CreateOptions> = {}) =>
    createRuntime({
      store: lmdb(folder),
      actors: [order, ledger],
      tracing: openTelemetry({ tracer }),
      log: { debug() {}, info() {}, warn() {}, error() {} },
      ...more,
    });
  let hasBegun = (): void => {};
  const begun = new Promise<void>((resolve) => {
    hasBegun = resolve;
  });
  const hanging = orderWith(
    (signal) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
        hasBegun();
      }),
  );
  const first = await open(hanging, { stopGraceMs: 1 });
  await first.create(ledger, 'all');
  await first.create(hanging, 'o-1');
  ended.length = 0;
  const request = tracer.startSpan('request');
  await context.with(trace.setSpan(ROOT_CONTEXT, request), () => first.send(hanging, 'o-1', { type: 'PAY' }));
  request.end();
  await begun;
  await first.stop();

  const inside: (string | undefined)[] = [];
  const order = orderWith(async () => {
    inside.push(trace.getSpanContext(context.active())?.spanId);
  });
  const second = await open(order);
  await second.waitFor(ledger, 'all', ({ context: { total } }) => total === 1, { timeoutMs: 30_000 });
  await second.stop();

  t.deepEqual(new Set(ended.map(({ own }) => own.traceId)).size, 1, 'there is one trace');
  const nameOf = new Map(ended.map(({ own, name }) => [own.spanId, name]));
  t.deepEqual(ended.map(({ name, parent, errors }) => [name, nameOf.get(parent ?? ''), ...errors]).sort(), [
    ['effect charge', 'step order'],
    ['effect charge', 'step order', 'runtime.stopping'],
    ['message', 'step order'],
    ['request', undefined],
    ['send order', 'request'],
    ['step ledger', 'message'],
    ['step order', 'effect charge'],
    ['step order', 'send order'],
  ]);
  const effects = ended.filter(({ name }) => name === 'effect charge');
  t.is(effects[0]?.attributes['effect.key'], effects[1]?.attributes['effect.key']);
  t.deepEqual(inside, [effects[1]?.own.spanId], 'the span of the effect is active in its handler');
});

test('messages of two traces to one actor keep their traces, and a deadline begins one of its own', async (t) => {
  const ended: Ended[] = [];
  const tracer = recorder(ended);
  const bell = defineActor('bell', {
    version: 1,
    machine: setup({
      types: {} as { context: { rung: number }; events: { type: 'RING' } },
      delays: { soon: 1 },
      actions: { count: assign({ rung: ({ context: { rung } }) => rung + 1 }) },
    }).createMachine({
      context: { rung: 0 },
      initial: 'up',
      on: { RING: { actions: 'count' } },
      states: { up: { after: { soon: 'down' } }, down: {} },
    }),
  });
  const runtime = await createRuntime({
    store: lmdb(folderFor(t)),
    actors: [bell],
    tracing: openTelemetry({ tracer }),
  });
  t.teardown(() => runtime.stop());
  await runtime.create(bell, 'b');
  await runtime.waitFor(bell, 'b', ({ state }) => state === 'down', { timeoutMs: 30_000 });
  await Promise.all([1, 2].map(() => runtime.send(bell, 'b', { type: 'RING' })));
  t.true((await runtime.send(bell, 'c', { type: 'RING' })).accepted === false);
  const nameOf = new Map(ended.map(({ own, name }) => [own.spanId, name]));
  t.deepEqual(
    ended
      .map(({ name, parent, attributes }) => [
        ...[name, nameOf.get(parent ?? '')],
        ...[attributes['event.type'], attributes['actor.refusal']].filter((one) => one !== undefined),
      ])
      .sort(),
    [
      ['create bell', undefined],
      ['send bell', undefined, 'RING'],
      ['send bell', undefined, 'RING'],
      ['send bell', undefined, 'RING', 'unknown-actor'],
      ['step bell', undefined, 'xstate.after.soon.(machine).up'],
      ['step bell', 'create bell', 'CREATE'],
      ['step bell', 'send bell', 'RING'],
      ['step bell', 'send bell', 'RING'],
      ['step bell', 'send bell', 'RING', 'unknown-actor'],
    ],
  );
  t.is(new Set(ended.map(({ own }) => own.traceId)).size, 5);
});
