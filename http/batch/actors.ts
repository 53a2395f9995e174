/**
 * `/api/actors` and `/api/runtime`: actors and runtime of this process, for operators.
 *
 * Not in docs/batch-values.md §0; additive.
 */
import { z } from 'zod';
import type { ActorInspection, RuntimeView } from '../../actors/batch/api/inspection.ts';
import type { ActorReport, ActorSummary } from '../../actors/batch/api/service.ts';
import { Refusal } from '../../machines/refusals.ts';
import { json } from '../core/reply.ts';
import { type AnyRoute, route } from '../core/router.ts';
import { actorParams, checkReason, noParams, reasonBody } from './queries.ts';
import { withQueryLimit } from './query-limits.ts';
import { isoTime, timestamp } from './shapes.ts';

const MAX_PAGE_SIZE = 500;

const once = z.string({ error: 'must be given once' });
const flag = z
  .enum(['true', 'false'], { error: 'must be true or false' })
  .transform((text) => text === 'true');

const LIMIT = 'must be a whole number of at least 1';

const actorQuery = z.object({
  kind: once.optional().describe('Lists the actors of this kind; without it the kinds are listed.'),
  state: once.optional().describe('Only actors in this state.'),
  stuck: flag
    .optional()
    .describe('Only actors with work that failed and is tried again, or whose task in the pool stalls.'),
  stopped: flag.optional().describe('Only actors that supervision has given up: they failed too often.'),
  id: once.max(200).optional().describe('Only actors whose id begins with this text.'),
  after: once.optional().describe('`next` of the page before.'),
  oldest: flag
    .optional()
    .describe(
      'Sorts by the time of the last line of the history, oldest first, and gives this time. One page. At most 20,000 actors that match are sorted, the first by their id; `complete` is false when there are more.',
    ),
  limit: z.coerce
    .number({ error: LIMIT })
    .int(LIMIT)
    .min(1, LIMIT)
    .transform((limit) => Math.min(limit, MAX_PAGE_SIZE))
    .default(50),
});

const address = z.strictObject({ kind: z.string(), id: z.string() });
const effect = z.strictObject({
  key: z.string(),
  do: z.string(),
  dueAt: timestamp,
  failures: z.number(),
  lastError: z.string().nullable(),
});

const summary = {
  kind: z.string(),
  id: z.string(),
  state: z.string(),
  revision: z.number(),
  mailbox: z.number(),
  stopped: z.strictObject({ at: timestamp, error: z.string() }).nullable(),
  trouble: effect.nullable(),
  since: timestamp
    .nullable()
    .optional()
    .describe('Time of the last line of the history; with `oldest` only.'),
};

const kindShape = z
  .strictObject({
    kind: z.string(),
    version: z.number(),
    count: z.number(),
    states: z.record(z.string(), z.number()),
    stopped: z.number(),
    awake: z.number(),
    deepestMailbox: z.number(),
    accepted: z.number(),
    refused: z.number(),
    restarts: z.number(),
    perSecond: z.number(),
    lastError: z.strictObject({ actor: z.string(), message: z.string() }).nullable(),
  })
  .meta({ id: 'ActorKind' });

const pageShape = z
  .strictObject({
    kinds: z.array(kindShape).optional(),
    items: z.array(z.strictObject(summary)).optional(),
    next: z.string().nullable().optional(),
    complete: z
      .boolean()
      .optional()
      .describe('With `oldest` only: false when more actors match than are sorted.'),
  })
  .meta({ id: 'ActorPage' });

const actorShape = z
  .strictObject({
    ...summary,
    version: z.number(),
    context: z.unknown(),
    accepts: z.array(z.string()),
    timers: z.array(z.strictObject({ name: z.string(), due: timestamp })),
    effects: z.array(z.strictObject({ ...effect.shape, effect: z.unknown() })),
    history: z.array(
      z.strictObject({
        id: z.number(),
        at: timestamp,
        state: z.string(),
        message: z.string(),
        cause: z.string(),
        /** Hash of the line in the chain of its actor; lines of earlier programs have none. */
        hash: z.string().optional(),
      }),
    ),
    parent: address.nullable(),
    children: z.array(address),
    shard: z.number(),
  })
  .meta({ id: 'Actor' });

const chartShape = z
  .strictObject({
    kind: z.string(),
    version: z.number(),
    initial: z.string(),
    states: z.array(z.strictObject({ name: z.string(), final: z.boolean() })).max(1000),
    transitions: z
      .array(z.strictObject({ from: z.string(), to: z.string(), event: z.string() }))
      .max(10_000)
      .describe('A transition with a condition may be refused. Deadlines are named `after <name>`.'),
  })
  .meta({ id: 'ActorChart' });

const quantiles = z.strictObject({ p50Ms: z.number(), p99Ms: z.number(), maxMs: z.number() });

const stalledShape = z.strictObject({
  task: z.string(),
  subject: z.string().describe('Id of the job or document.'),
  state: z.enum(['computing', 'waiting']),
  runningMs: z.number(),
  deadlineMs: z.number(),
});

const nodeShape = z
  .strictObject({
    name: z.string(),
    version: z.string(),
    isThis: z.boolean(),
    startedAt: timestamp,
    silentMs: z.number(),
    leaseMs: z.number(),
    session: z.number(),
    draining: z.boolean(),
    leases: z.array(z.string()),
    effectsInFlight: z.number(),
    lagMs: z.number(),
    storeMs: z.number(),
  })
  .meta({ id: 'Node' });

/** Maximum number of nodes on one store. */
const MAX_NODES = 64;

const runtimeShape = z
  .strictObject({
    nodes: z.array(nodeShape).max(MAX_NODES),
    eventLoopDelay: quantiles,
    effectsInFlight: z.number(),
    shards: z.array(
      z.strictObject({
        shard: z.number(),
        thread: z.string().nullable(),
        losses: z.number(),
        lastLoss: z.strictObject({ at: timestamp, why: z.string(), actor: z.string().nullable() }).nullable(),
        awakeActors: z.number(),
        deepestMailbox: z.number(),
        commit: quantiles,
        eventLoopDelay: quantiles,
      }),
    ),
    pool: z.strictObject({
      threads: z.number(),
      busy: z.number(),
      waiting: z.number(),
      utilisation: z.number(),
      stalled: z.array(stalledShape).max(100),
    }),
    store: z.strictObject({ engine: z.string(), bytes: z.number().nullable() }),
    memory: z.strictObject({ residentBytes: z.number(), heapBytes: z.number() }),
    uptimeSeconds: z.number(),
  })
  .meta({ id: 'Runtime' });

const nodeParams = z.object({ id: z.string().regex(/^[!-~]{1,100}$/) });

const drainShape = z.strictObject({ name: z.string(), draining: z.literal(true) });

const restartShape = z.strictObject({ kind: z.string(), id: z.string(), restarted: z.literal(true) });

const limitedQuery = withQueryLimit('actor.not-found');

const WAIT = 'must be a whole number from 1 to 60';

const changesQuery = z.object({
  after: once.max(64).default('').describe('`version` of the answer before.'),
  wait: z.coerce.number({ error: WAIT }).int(WAIT).min(1, WAIT).max(60, WAIT).default(25),
});

const changesShape = z
  .strictObject({ version: z.string().max(64).describe('Changes with each step of any actor.') })
  .meta({ id: 'Changes' });

export function actorRoutes(inspection: ActorInspection): readonly AnyRoute[] {
  return [
    route({
      ...limitedQuery,
      path: '/api/actors',
      summary: 'Lists the kinds of actors with their counts, or the actors of one kind.',
      params: noParams,
      query: actorQuery,
      responses: { 200: pageShape },
      refusals: ['validation.filter-invalid', 'actor.not-found'],
      async handle({ query }) {
        const { kind, id, ...rest } = query;
        if (kind === undefined) {
          checkKindsOnly({ ...rest, id });
          return json(200, { kinds: await inspection.kinds() });
        }
        checkState(rest.state, inspection.states(kind));
        const page = await inspection.list({ kind, idPrefix: id, ...rest });
        if (page === undefined) throw new Refusal('actor.not-found', `There are no actors of kind ${kind}.`);
        const { items, next = null, complete } = page;
        return json(200, {
          ...{ items: items.map(summaryBody), next },
          ...(complete !== undefined && { complete }),
        });
      },
    }),
    route({
      ...limitedQuery,
      path: '/api/actor-kinds/{kind}',
      summary: 'Shows a kind of actors: the states of its machine and the transitions between them.',
      params: z.object({ kind: z.string() }),
      responses: { 200: chartShape },
      refusals: ['actor.not-found'],
      handle({ params }) {
        const chart = inspection.chart(params.kind);
        if (chart === undefined)
          throw new Refusal('actor.not-found', `There are no actors of kind ${params.kind}.`);
        return json(200, chart);
      },
    }),
    route({
      ...limitedQuery,
      path: '/api/actors/{kind}/{id}',
      summary: 'Shows one actor: state, history, what it waits for and what it would take.',
      params: actorParams,
      responses: { 200: actorShape },
      refusals: ['actor.not-found'],
      async handle({ params }) {
        const actor = await inspection.actor(params);
        if (actor === undefined) throw unknown(params);
        return json(200, actorBody(actor));
      },
    }),
    route({
      ...limitedQuery,
      method: 'POST',
      path: '/api/actors/{kind}/{id}/restart',
      summary:
        'Lets an actor that was given up go on from its last committed state, or runs again what is set aside.',
      rate: 'actions',
      bodyPolicy: 'json',
      params: actorParams,
      body: reasonBody,
      responses: { 200: restartShape },
      refusals: [
        'actor.not-found',
        'actor.not-stopped',
        'validation.reason-too-long',
        'validation.body-invalid',
        'service.busy',
      ],
      async handle({ params, body, identity }) {
        checkReason(body.reason);
        if (body.reason === null) {
          throw new Refusal('validation.body-invalid', 'A restart needs a reason.', {
            errors: { reason: ['must say why'] },
          });
        }
        const by = { operator: identity?.operator ?? '', reason: body.reason };
        const outcome = await inspection.restart(params, by);
        if (outcome === 'unknown') throw unknown(params);
        if (outcome === 'running')
          throw new Refusal('actor.not-stopped', `${params.kind}/${params.id} was not given up: it runs.`);
        return json(200, { ...params, restarted: true });
      },
    }),
    route({
      ...limitedQuery,
      path: '/api/changes',
      summary: 'Answers when something has changed, or after `wait` seconds. Pages refresh by it.',
      params: noParams,
      query: changesQuery,
      responses: { 200: changesShape },
      refusals: ['validation.filter-invalid'],
      handle: async ({ query: { after, wait } }) =>
        json(200, { version: await inspection.changes.wait(after, wait * 1000) }),
    }),
    route({
      ...limitedQuery,
      path: '/api/runtime',
      summary: 'Shows how threads, pool and store are doing.',
      params: noParams,
      responses: { 200: runtimeShape },
      refusals: [],
      handle: async () => json(200, runtimeBody(await inspection.runtime())),
    }),
    route({
      ...limitedQuery,
      method: 'POST',
      path: '/api/runtime/nodes/{id}/drain',
      summary: 'Asks a node to finish its work and end; the others go on.',
      rate: 'actions',
      params: nodeParams,
      responses: { 202: drainShape },
      refusals: ['node.not-found'],
      async handle({ params: { id }, identity }) {
        if (!(await inspection.drain(id, identity?.operator ?? '')))
          throw new Refusal('node.not-found', `There is no node ${id}.`);
        return json(202, { name: id, draining: true });
      },
    }),
  ];
}

/** Refusals: `validation.filter-invalid`. An unknown kind is refused by the list. */
function checkState(state: string | undefined, known: readonly string[] | undefined): void {
  if (state === undefined || known === undefined || known.includes(state)) return;
  const rule = `must be one of ${known.join(', ')}`;
  throw new Refusal('validation.filter-invalid', `state ${rule}`, { errors: { state: [rule] } });
}

/** Listing all kinds would suggest that nothing else matches the filter. */
function checkKindsOnly(
  query: Pick<z.infer<typeof actorQuery>, 'state' | 'stuck' | 'stopped' | 'after' | 'id' | 'oldest'>,
): void {
  const { state, stuck, stopped, after, id, oldest } = query;
  if (state === undefined && !stuck && !stopped && !oldest && after === undefined && id === undefined) return;
  throw new Refusal('validation.filter-invalid', 'Actors are filtered within one kind: kind is missing.', {
    errors: { kind: ['must be given with state, stuck, stopped, oldest, id or after'] },
  });
}

function unknown({ kind, id }: { readonly kind: string; readonly id: string }): Refusal {
  return new Refusal('actor.not-found', `There is no actor ${kind}/${id}.`);
}

function summaryBody({ kind, id, state, revision, mailbox, stopped, trouble, since }: ActorSummary) {
  return {
    kind,
    id,
    state,
    revision,
    mailbox,
    stopped: stopped && { ...stopped, at: isoTime(stopped.at) },
    trouble: trouble && { ...trouble, dueAt: isoTime(trouble.dueAt) },
    ...(since !== undefined && { since: since && isoTime(since) }),
  };
}

function runtimeBody({ nodes, shards, ...rest }: RuntimeView) {
  return {
    ...rest,
    nodes: nodes.map((node) => ({ ...node, startedAt: isoTime(node.startedAt) })),
    shards: shards.map(({ lastLoss, ...shard }) => ({
      ...shard,
      lastLoss: lastLoss && { ...lastLoss, at: isoTime(lastLoss.at) },
    })),
  };
}

function actorBody({ timers, effects, history, ...rest }: ActorReport) {
  return {
    ...rest,
    ...summaryBody(rest),
    timers: timers.map(({ name, due }) => ({ name, due: isoTime(due) })),
    effects: effects.map((one) => ({ ...one, dueAt: isoTime(one.dueAt) })),
    history: history.map((line) => ({ ...line, at: isoTime(line.at) })),
  };
}
