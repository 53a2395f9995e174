/** Threads, pool, store and nodes, for operators. */
import { z } from 'zod';
import { entity, maybePart, part, parts, shown, time } from '../fields.ts';
import type { Value } from '../operation.ts';
import { AT, JOB_ID } from './examples.ts';
import { operationsOf } from './operation.ts';
import { sharedQuery } from './requests.ts';

const quantiles = z.strictObject({
  p50Ms: shown(z.number(), 'Half of the values are at most this, milliseconds.', 3.9),
  p99Ms: shown(z.number(), '99 of 100 values are at most this, milliseconds.', 12.4),
  maxMs: shown(z.number(), 'Greatest value, milliseconds.', 41),
});

const stalled = z.strictObject({
  task: shown(z.string(), 'Name of the task.', 'sign'),
  subject: shown(z.string(), 'Id of the job or document.', JOB_ID),
  state: z.enum(['computing', 'waiting']).describe('State of the machine.'),
  runningMs: shown(z.number(), 'Duration of the task so far, milliseconds.', 72000),
  deadlineMs: shown(z.number(), 'Time after which the task counts as stalled, milliseconds.', 60000),
});

const node = entity('Node', {
  name: shown(z.string(), 'Name of the node.', 'node-1'),
  version: shown(z.string(), 'Version of the program on the node.', '1.4.0'),
  isThis: z.boolean().describe('Whether this node has answered.'),
  startedAt: time.describe('Time of the start, UTC.'),
  silentMs: shown(z.number(), 'Time since its last heartbeat, milliseconds.', 412),
  leaseMs: shown(z.number(), 'Time after which a silent node loses its work, milliseconds.', 5000),
  session: shown(z.number(), 'Fencing token of the node’s session with the store.', 17),
  draining: z.boolean().describe('Whether the node takes nothing new and will end.'),
  leases: shown(z.array(z.string()), 'Tasks that this node alone does.', ['folders', 'history']),
  effectsInFlight: shown(z.number(), 'Effects in progress.', 3),
  lagMs: shown(
    z.number(),
    'Age of the steps of other nodes that the node had read at its last heartbeat, milliseconds.',
    41,
  ),
  storeMs: shown(z.number(), 'Duration of its last read of them from the database, milliseconds.', 0.9),
});

/** Maximum number of nodes on one store. */
const MAX_NODES = 64;

const runtime = entity('Runtime', {
  nodes: z
    .array(node)
    .max(MAX_NODES)
    .describe('Nodes that share the store. Empty: one process has it to itself.'),
  eventLoopDelay: quantiles.describe('Delay of the event loop of the thread.'),
  effectsInFlight: shown(z.number(), 'Effects in progress.', 3),
  shards: parts('Parts of the actors, each on one thread.', {
    shard: shown(z.number(), 'Number of the shard, from 0.', 0),
    thread: shown(z.string().nullable(), 'Thread of the shard or task. Null: it has ended.', 'main'),
    losses: shown(z.number(), 'How often the thread of the shard ended.', 0),
    lastLoss: maybePart('Last time that the thread of the shard ended. Null: never.', {
      at: time.describe('Time of it, UTC.'),
      why: shown(z.string(), 'Cause, for people.', 'out of memory'),
      actor: shown(z.string().nullable(), 'Id of the actor.', 'job/0d9a7c3e-5b1f-4a6d-8c2e-1f3b5d7a9c0e'),
    }),
    awakeActors: shown(z.number(), 'Actors in memory.', 2),
    deepestMailbox: shown(z.number(), 'Most messages that wait for one actor.', 1),
    commit: quantiles.describe('Time to commit a step.'),
    eventLoopDelay: quantiles.describe('Delay of the event loop of the thread.'),
    utilisation: z.number().meta({
      description:
        'Share of time in which the event loop of the thread was busy, since the read before, 0 to 1.',
      examples: [0.42],
    }),
  }),
  pool: part('Threads that sign, verify and render.', {
    threads: shown(z.number(), 'Threads of the pool.', 2),
    busy: shown(z.number(), 'Threads with a task.', 1),
    waiting: shown(z.number(), 'Tasks that wait for a thread.', 0),
    utilisation: shown(z.number(), 'Share of thread time spent working since the start, 0 to 1.', 0.61),
    stalled: z.array(stalled).max(100).describe('Tasks that run for longer than their deadline.'),
  }),
  store: part('Where actors are stored.', {
    engine: shown(z.string(), 'Kind of the store.', 'LMDB'),
    bytes: shown(z.number().nullable(), 'Size of the store on the disk. Null: not known.', 1048576),
  }),
  memory: part('Memory of the process.', {
    residentBytes: shown(z.number(), 'Memory of the process, bytes.', 134217728),
    heapBytes: shown(z.number(), 'JavaScript heap in use, bytes.', 50331648),
  }),
  uptimeSeconds: shown(z.number(), 'Time since the start, seconds.', 3600),
  eventLoopUtilisation: z.number().meta({
    description:
      'Share of time in which the event loop of the main thread was busy, since the read before, 0 to 1.',
    examples: [0.42],
  }),
});

const nodeParams = z.object({
  id: shown(z.string().regex(/^[!-~]{1,100}$/), 'Name of the node.', 'node-2'),
});

const nodeDraining = entity('NodeDraining', {
  name: shown(z.string(), 'Name of it in the configuration or the program.', 'node-1'),
  draining: z.literal(true).describe('Whether the node takes nothing new and will end.'),
});

const DELAYS = { p50Ms: 0.4, p99Ms: 3.1, maxMs: 12 };

const operation = operationsOf({ group: 'System', unknown: 'actor.not-found' });

export const readRuntime = operation('GET /api/runtime', {
  summary: 'Shows how threads, pool and store are doing.',
  description:
    'Delays and commits are quantiles, in milliseconds. `nodes` is empty where one process has the store to itself.',
  query: sharedQuery,
  reply: runtime,
  examples: {
    reply: {
      nodes: [
        {
          name: 'node-1',
          version: '1.4.0',
          isThis: true,
          startedAt: AT,
          silentMs: 412,
          leaseMs: 5000,
          session: 17,
          draining: false,
          leases: ['folders', 'history'],
          effectsInFlight: 3,
          lagMs: 41,
          storeMs: 0.9,
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
});

export const drainNode = operation('POST /api/runtime/nodes/{id}/drain', {
  summary: 'Asks a node to finish its work and end; the others go on.',
  description:
    '`id` is the name of the node. It takes nothing new, finishes what is in progress within `Hosting:ShutdownTimeoutSeconds`, and ends with exit code 0.',
  rate: 'actions',
  params: nodeParams,
  status: 202,
  reply: nodeDraining,
  examples: { reply: { name: 'node-2', draining: true } },
  refusals: ['node.not-found'],
});

export type RuntimeView = Value<typeof runtime>;

export type NodeView = Value<typeof node>;
