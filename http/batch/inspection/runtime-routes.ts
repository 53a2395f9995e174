/**
 * `/api/runtime`: threads, pool, store and nodes, for operators.
 *
 * Not in docs/batch-values.md §0; additive.
 */
import { z } from 'zod';
import type { ActorInspection, RuntimeView } from '../../../actors/batch/api/inspection.ts';
import { Refusal } from '../../../machines/refusals.ts';
import { json } from '../../core/reply.ts';
import { type AnyRoute, route } from '../../core/router.ts';
import { AT } from '../description/example-values.ts';
import { noParams } from '../queries.ts';
import { withQueryLimit } from '../query-limits.ts';
import { isoTime, timestamp } from '../shapes.ts';
import { type SharedAnswers, sharedQuery } from './shared-answers.ts';

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
        utilisation: z.number().meta({
          description:
            'Share of time in which the event loop of the thread was busy, since the read before, 0 to 1.',
          examples: [0.42],
        }),
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
    eventLoopUtilisation: z.number().meta({
      description:
        'Share of time in which the event loop of the main thread was busy, since the read before, 0 to 1.',
      examples: [0.42],
    }),
  })
  .meta({ id: 'Runtime' });

const nodeParams = z.object({ id: z.string().regex(/^[!-~]{1,100}$/) });

const drainShape = z.strictObject({ name: z.string(), draining: z.literal(true) });

const limitedQuery = withQueryLimit('actor.not-found');

const DELAYS = { p50Ms: 0.4, p99Ms: 3.1, maxMs: 12 };

export function runtimeRoutes(
  inspection: Pick<ActorInspection, 'runtime' | 'drain'>,
  shared: SharedAnswers,
): readonly AnyRoute[] {
  return [
    route({
      ...limitedQuery,
      path: '/api/runtime',
      group: 'System',
      summary: 'Shows how threads, pool and store are doing.',
      description:
        'Delays and commits are quantiles, in milliseconds. `nodes` is empty where one process has the store to itself.',
      params: noParams,
      query: sharedQuery,
      responses: { 200: runtimeShape },
      examples: {
        responses: {
          200: {
            nodes: [
              {
                ...{ name: 'node-1', version: '1.4.0', isThis: true, startedAt: AT, silentMs: 412 },
                ...{ leaseMs: 5000, session: 17, draining: false, leases: ['folders', 'history'] },
                ...{ effectsInFlight: 3, lagMs: 41, storeMs: 0.9 },
              },
            ],
            eventLoopDelay: DELAYS,
            effectsInFlight: 3,
            shards: [
              {
                shard: 0,
                thread: 'main',
                losses: 0,
                lastLoss: null,
                awakeActors: 2,
                deepestMailbox: 1,
                commit: DELAYS,
                eventLoopDelay: DELAYS,
                utilisation: 0.42,
              },
            ],
            pool: { threads: 2, busy: 1, waiting: 0, utilisation: 0.61, stalled: [] },
            store: { engine: 'LMDB', bytes: 41_943_040 },
            memory: { residentBytes: 187_000_000, heapBytes: 61_000_000 },
            uptimeSeconds: 86_400,
            eventLoopUtilisation: 0.42,
          },
        },
      },
      refusals: [],
      handle: ({ query: { version } }) =>
        shared.answer(version, ['runtime'], async () => runtimeBody(await inspection.runtime())),
    }),
    route({
      ...limitedQuery,
      method: 'POST',
      path: '/api/runtime/nodes/{id}/drain',
      group: 'System',
      summary: 'Asks a node to finish its work and end; the others go on.',
      description:
        '`id` is the name of the node. It takes nothing new, finishes what is in progress within `Hosting:ShutdownTimeoutSeconds`, and ends with exit code 0.',
      rate: 'actions',
      params: nodeParams,
      responses: { 202: drainShape },
      examples: { responses: { 202: { name: 'node-2', draining: true } } },
      refusals: ['node.not-found'],
      async handle({ params: { id }, identity }) {
        if (!(await inspection.drain(id, identity?.operator ?? '')))
          throw new Refusal('node.not-found', `There is no node ${id}.`);
        return json(202, { name: id, draining: true });
      },
    }),
  ];
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
