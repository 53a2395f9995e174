/** Traces by OpenTelemetry. */
import {
  type AttributeValue,
  type BatchObservableCallback,
  context,
  type Meter,
  propagation,
  ROOT_CONTEXT,
  trace,
} from '@opentelemetry/api';
import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node';
import { type CreateOptions, createRuntime, defineActor, defineEffect, tell } from '@sealwright/runtime';
import { lmdb } from '@sealwright/runtime/lmdb';
import { shards } from '@sealwright/runtime/shards';
import { testRuntime } from '@sealwright/runtime/testing';
import test from 'ava';
import { assign, setup } from 'xstate';
import { openTelemetry, openTelemetryMetrics } from '../../clients/opentelemetry/index.ts';
import { folderFor } from './folder.ts';
import { bell, clerk, worker } from './shards/public-module.ts';

/** A span as an exporter receives it. */
interface Ended {
  readonly name: string;
  readonly parent: string | undefined;
  readonly traceId: string;
  readonly spanId: string;
  readonly attributes: { readonly [name: string]: AttributeValue | undefined };
  readonly errors: readonly (AttributeValue | undefined)[];
}

/** Returns a tracer of the SDK, and what has ended of its spans. */
function recorder() {
  const exporter = new InMemorySpanExporter();
  const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  const ended = (): readonly Ended[] =>
    exporter.getFinishedSpans().map((span) => ({
      ...span.spanContext(),
      name: span.name,
      parent: span.parentSpanContext?.spanId,
      attributes: span.attributes,
      errors: span.events.map(({ attributes }) => attributes?.['exception.type']),
    }));
  return { tracer: provider.getTracer('test'), ended, reset: () => exporter.reset() };
}

/** Names of spans, each with that of its parent and its errors. */
function parents(ended: readonly Ended[]): readonly (readonly unknown[])[] {
  const nameOf = new Map(ended.map(({ spanId, name }) => [spanId, name]));
  return ended.map(({ name, parent, errors }) => [name, nameOf.get(parent ?? ''), ...errors]).sort();
}

// The context and the propagator of the process; each test has exporters of its own.
test.before(() => new NodeTracerProvider().register());

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

test.serial(
  'one trace leads from a message over an effect that goes on after a restart to the actor that is told',
  async (t) => {
    const { tracer, ended, reset } = recorder();
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
    reset();
    const request = tracer.startSpan('request');
    await context.with(trace.setSpan(ROOT_CONTEXT, request), () =>
      first.send(hanging, 'o-1', { type: 'PAY' }),
    );
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

    t.is(new Set(ended().map(({ traceId }) => traceId)).size, 1, 'there is one trace');
    t.deepEqual(parents(ended()), [
      ['effect charge', 'step order'],
      ['effect charge', 'step order', 'runtime.stopping'],
      ['message', 'step order'],
      ['request', undefined],
      ['send order', 'request'],
      ['step ledger', 'message'],
      ['step order', 'effect charge'],
      ['step order', 'send order'],
    ]);
    const effects = ended().filter(({ name }) => name === 'effect charge');
    t.is(effects[0]?.attributes['effect.key'], effects[1]?.attributes['effect.key']);
    t.deepEqual(inside, [effects[1]?.spanId], 'the span of the effect is active in its handler');
  },
);

test.serial(
  'messages of two traces to one actor keep their traces, and a deadline begins one of its own',
  async (t) => {
    const { tracer, ended } = recorder();
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
    const nameOf = new Map(ended().map(({ spanId, name }) => [spanId, name]));
    t.deepEqual(
      ended()
        .map(({ name, parent, attributes }) => [
          name,
          nameOf.get(parent ?? ''),
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
    t.is(new Set(ended().map(({ traceId }) => traceId)).size, 5);
  },
);

test.serial('one trace leads over actors on threads, which are counted and answer', async (t) => {
  const { tracer, ended, reset } = recorder();
  const { meter, read } = tallies();
  const runtime = await createRuntime({
    store: lmdb(folderFor(t)),
    actors: [clerk, worker, bell],
    metrics: openTelemetryMetrics({ meter }),
    tracing: openTelemetry({ tracer }),
    shards: shards(2, new URL('./shards/public-module.js', import.meta.url)),
  });
  t.teardown(() => runtime.stop());
  await runtime.create(worker, 'w');
  await runtime.create(clerk, 'c');
  reset();
  const request = tracer.startSpan('request');
  await context.with(trace.setSpan(ROOT_CONTEXT, request), () => runtime.send(clerk, 'c', { type: 'FILE' }));
  request.end();
  await runtime.waitFor(worker, 'w', ({ context: { n } }) => n === 1, { timeoutMs: 60_000 });
  // A thread counts a message after its commit was seen here; this call waits behind it in the mailbox.
  t.false((await runtime.restart(worker, 'w')).accepted);
  t.like(await read(), {
    'actors.effect.attempts work done': 2,
    'actors.effect.attempts tell done': 1,
    'actors.messages clerk accepted': 3,
    'actors.messages worker accepted': 3,
    'actors.restarts worker': 0,
  });
  const own = ended();
  await runtime.create(bell, 'b');
  for (const rung of [1, 2]) t.is(await runtime.ask(bell, 'b', { type: 'RING' }), rung);
  await runtime.stop();
  t.is(new Set(own.map(({ traceId }) => traceId)).size, 1, 'there is one trace');
  t.deepEqual(parents(own), [
    ['effect work', 'step clerk'],
    ['effect work', 'step worker'],
    ['message', 'step clerk'],
    ['request', undefined],
    ['send clerk', 'request'],
    ['step clerk', 'effect work'],
    ['step clerk', 'send clerk'],
    ['step worker', 'effect work'],
    ['step worker', 'message'],
  ]);
});

/** A meter that keeps what it is given: text of name and attributes, and the sum or last value. */
function tallies() {
  const sums: { [name: string]: number } = {};
  const add = (name: string, value: number, attributes: object = {}): void => {
    const key = [name, ...Object.values(attributes)].join(' ');
    sums[key] = (sums[key] ?? 0) + value;
  };
  const observers = new Set<BatchObservableCallback>();
  const meter = {
    createCounter: (name: string) => ({ add: (value: number, of: object) => add(name, value, of) }),
    createHistogram: (name: string) => ({ record: (_: number, of: object) => add(name, 1, of) }),
    createObservableCounter: (name: string) => ({ name }),
    createObservableGauge: (name: string) => ({ name }),
    addBatchObservableCallback: (observe: BatchObservableCallback) => observers.add(observe),
    removeBatchObservableCallback: (observe: BatchObservableCallback) => observers.delete(observe),
  } as object as Meter;
  const read = async () => {
    const result = {
      observe: ({ name }: { readonly name: string }, value: number, of?: object) => add(name, value, of),
    };
    for (const observe of observers) await observe(result as never);
    return { ...sums };
  };
  return { meter, read, observers };
}

test.serial('messages, effects, retries, restarts and mailboxes are counted until the stop', async (t) => {
  const { meter, read, observers } = tallies();
  let isBusy = true;
  const order = orderWith(async () => {
    if (isBusy) throw new Error('busy');
  });
  const fragile = defineActor('fragile', {
    version: 1,
    machine: setup({
      types: {} as { events: { type: 'BREAK' } },
      guards: {
        breaks: () => {
          throw new Error('broken');
        },
      },
    }).createMachine({ on: { BREAK: { guard: 'breaks' } } }),
  });
  const kit = await testRuntime([order, ledger, fragile], { metrics: openTelemetryMetrics({ meter }) });
  await kit.runtime.create(ledger, 'all');
  await kit.runtime.create(fragile, 'f');
  await t.throwsAsync(kit.runtime.send(fragile, 'f', { type: 'BREAK' }));
  await kit.runtime.create(order, 'o');
  await kit.runtime.send(order, 'o', { type: 'PAY' });
  await kit.settle();
  isBusy = false;
  await kit.advance(5000);
  await kit.runtime.send(order, 'o', { type: 'PAY' });
  t.like(await read(), {
    'actors.effect.attempts charge retried': 1,
    'actors.effect.attempts charge done': 1,
    'actors.effect.attempts tell done': 1,
    'actors.effect.duration charge': 2,
    'actors.messages order accepted': 3,
    'actors.messages order refused': 1,
    'actors.messages ledger accepted': 2,
    'actors.restarts fragile': 1,
    'actors.restarts order': 0,
    'actors.mailbox.messages': 0,
    'actors.mailbox.deepest': 0,
    'actors.effects.in_flight': 0,
  });
  await kit.runtime.stop();
  t.is(observers.size, 0);
});

// Last: it takes the propagator from the process.
test.serial('effects keep no trace where nothing propagates it', async (t) => {
  propagation.disable();
  const { runtime, settle, steps } = await testRuntime([clerk, worker], {
    tracing: openTelemetry({ tracer: recorder().tracer }),
  });
  await runtime.create(worker, 'w');
  await runtime.create(clerk, 'c');
  await runtime.send(clerk, 'c', { type: 'FILE' });
  await settle();
  t.deepEqual(
    steps.flatMap(({ effects }) => effects.map(({ effect }) => Object.keys(effect).sort())),
    [
      ['do', 'n'],
      ['do', 'event', 'to'],
      ['do', 'n'],
    ].map((names) => names.sort()),
  );
});
