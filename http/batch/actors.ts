/**
 * `/api/actors` and `/api/runtime`: what lives in this process, for operators.
 *
 * Not in the Batch Signing Service API; additive.
 */
import { z } from 'zod';
import type { ActorInspection, ActorReport, ActorSummary, RuntimeView } from '../../actors/api.ts';
import { Refusal } from '../../machines/refusals.ts';
import { json } from '../reply.ts';
import { type AnyRoute, route } from '../router.ts';
import { looking } from './looking.ts';
import { checkReason, noParams, reasonBody } from './queries.ts';
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
  stuck: flag.optional().describe('Only actors with work that failed and is tried again.'),
  stopped: flag.optional().describe('Only actors that failed too often and were stopped.'),
  after: once.optional().describe('`next` of the page before.'),
  limit: z.coerce
    .number({ error: LIMIT })
    .int(LIMIT)
    .min(1, LIMIT)
    .transform((limit) => Math.min(limit, MAX_PAGE_SIZE))
    .default(50),
});

const actorParams = z.object({ kind: z.string(), id: z.string() });

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
      }),
    ),
    parent: address.nullable(),
    children: z.array(address),
    shard: z.number(),
  })
  .meta({ id: 'Actor' });

const quantiles = z.strictObject({ p50Ms: z.number(), p99Ms: z.number(), maxMs: z.number() });

const runtimeShape = z
  .strictObject({
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
    }),
    store: z.strictObject({ engine: z.string(), bytes: z.number().nullable() }),
    memory: z.strictObject({ residentBytes: z.number(), heapBytes: z.number() }),
    uptimeSeconds: z.number(),
  })
  .meta({ id: 'Runtime' });

const restartShape = z.strictObject({ kind: z.string(), id: z.string(), restarted: z.literal(true) });

const LOOK = looking('actor.not-found');

export function actorRoutes(inspection: ActorInspection): readonly AnyRoute[] {
  return [
    route({
      ...LOOK,
      path: '/api/actors',
      summary: 'Lists the kinds of actors with their counts, or the actors of one kind.',
      params: noParams,
      query: actorQuery,
      responses: { 200: pageShape },
      refusals: ['validation.filter-invalid', 'actor.not-found'],
      async handle({ query }) {
        const { kind, ...rest } = query;
        if (kind === undefined) {
          checkKindsOnly(rest);
          return json(200, { kinds: await inspection.kinds() });
        }
        const page = await inspection.list({ kind, ...rest });
        if (page === undefined) throw new Refusal('actor.not-found', `There are no actors of kind ${kind}.`);
        return json(200, { items: page.items.map(summaryBody), next: page.next ?? null });
      },
    }),
    route({
      ...LOOK,
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
      ...LOOK,
      method: 'POST',
      path: '/api/actors/{kind}/{id}/restart',
      summary: 'Lets a stopped actor go on from its last committed state.',
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
          throw new Refusal('actor.not-stopped', `${params.kind}/${params.id} is not stopped.`);
        return json(200, { ...params, restarted: true });
      },
    }),
    route({
      ...LOOK,
      path: '/api/runtime',
      summary: 'Shows how threads, pool and store are doing.',
      params: noParams,
      responses: { 200: runtimeShape },
      refusals: [],
      handle: async () => json(200, runtimeBody(await inspection.runtime())),
    }),
  ];
}

/** All kinds would look as if nothing else fitted the filter. */
function checkKindsOnly(
  query: Pick<z.infer<typeof actorQuery>, 'state' | 'stuck' | 'stopped' | 'after'>,
): void {
  const { state, stuck, stopped, after } = query;
  if (state === undefined && !stuck && !stopped && after === undefined) return;
  throw new Refusal('validation.filter-invalid', 'Actors are filtered within one kind: kind is missing.', {
    errors: { kind: ['must be given with state, stuck, stopped or after'] },
  });
}

function unknown({ kind, id }: { readonly kind: string; readonly id: string }): Refusal {
  return new Refusal('actor.not-found', `There is no actor ${kind}/${id}.`);
}

function summaryBody({ kind, id, state, revision, mailbox, stopped, trouble }: ActorSummary) {
  return {
    kind,
    id,
    state,
    revision,
    mailbox,
    stopped: stopped && { ...stopped, at: isoTime(stopped.at) },
    trouble: trouble && { ...trouble, dueAt: isoTime(trouble.dueAt) },
  };
}

function runtimeBody({ shards, ...rest }: RuntimeView) {
  return {
    ...rest,
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
