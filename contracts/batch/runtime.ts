/** Threads, pool, store and nodes, for operators. */
import { z } from 'zod';
import { time } from '../fields.ts';
import type { Value } from '../operation.ts';
import { AT, JOB_ID } from './examples.ts';
import { operation } from './operation.ts';
import { sharedQuery } from './requests.ts';

const quantiles = z.strictObject({
  p50Ms: z
    .number()
    .meta({ description: 'Half of the values are at most this, milliseconds.', exampleValue: 3.9 }),
  p99Ms: z
    .number()
    .meta({ description: '99 of 100 values are at most this, milliseconds.', exampleValue: 12.4 }),
  maxMs: z.number().meta({ description: 'Greatest value, milliseconds.', exampleValue: 41 }),
});

const stalled = z.strictObject({
  task: z.string().meta({ description: 'Name of the task.', exampleValue: 'sign' }),
  subject: z.string().meta({ description: 'Id of the job or document.', exampleValue: JOB_ID }),
  state: z.enum(['computing', 'waiting']).meta({ description: 'State of the machine.' }),
  runningMs: z
    .number()
    .meta({ description: 'Duration of the task so far, milliseconds.', exampleValue: 72000 }),
  deadlineMs: z
    .number()
    .meta({ description: 'Time after which the task counts as stalled, milliseconds.', exampleValue: 60000 }),
});

const node = z
  .strictObject({
    name: z.string().meta({ description: 'Name of the node.', exampleValue: 'node-1' }),
    version: z.string().meta({ description: 'Version of the program on the node.', exampleValue: '1.4.0' }),
    isThis: z.boolean().meta({ description: 'Whether this node has answered.' }),
    startedAt: time.meta({ description: 'Time of the start, UTC.' }),
    silentMs: z
      .number()
      .meta({ description: 'Time since its last heartbeat, milliseconds.', exampleValue: 412 }),
    leaseMs: z.number().meta({
      description: 'Time after which a silent node loses its work, milliseconds.',
      exampleValue: 5000,
    }),
    session: z
      .number()
      .meta({ description: 'Fencing token of the node’s session with the store.', exampleValue: 17 }),
    draining: z.boolean().meta({ description: 'Whether the node takes nothing new and will end.' }),
    leases: z
      .array(z.string())
      .meta({ description: 'Tasks that this node alone does.', exampleValue: ['folders', 'history'] }),
    effectsInFlight: z.number().meta({ description: 'Effects in progress.', exampleValue: 3 }),
    lagMs: z.number().meta({
      description:
        'Age of the steps of other nodes that the node had read at its last heartbeat, milliseconds.',
      exampleValue: 41,
    }),
    storeMs: z.number().meta({
      description: 'Duration of its last read of them from the database, milliseconds.',
      exampleValue: 0.9,
    }),
  })
  .meta({ id: 'Node' });

/** Maximum number of nodes on one store. */
const MAX_NODES = 64;

const runtime = z
  .strictObject({
    nodes: z
      .array(node)
      .max(MAX_NODES)
      .meta({ description: 'Nodes that share the store. Empty: one process has it to itself.' }),
    eventLoopDelay: quantiles.meta({ description: 'Delay of the event loop of the thread.' }),
    effectsInFlight: z.number().meta({ description: 'Effects in progress.', exampleValue: 3 }),
    shards: z
      .array(
        z.strictObject({
          shard: z.number().meta({ description: 'Number of the shard, from 0.', exampleValue: 0 }),
          thread: z
            .string()
            .nullable()
            .meta({ description: 'Thread of the shard or task. Null: it has ended.', exampleValue: 'main' }),
          losses: z
            .number()
            .meta({ description: 'How often the thread of the shard ended.', exampleValue: 0 }),
          lastLoss: z
            .strictObject({
              at: time.meta({ description: 'Time of it, UTC.' }),
              why: z.string().meta({ description: 'Cause, for people.', exampleValue: 'out of memory' }),
              actor: z.string().nullable().meta({
                description: 'Id of the actor.',
                exampleValue: 'job/0d9a7c3e-5b1f-4a6d-8c2e-1f3b5d7a9c0e',
              }),
            })
            .nullable()
            .meta({ description: 'Last time that the thread of the shard ended. Null: never.' }),
          awakeActors: z.number().meta({ description: 'Actors in memory.', exampleValue: 2 }),
          deepestMailbox: z
            .number()
            .meta({ description: 'Most messages that wait for one actor.', exampleValue: 1 }),
          commit: quantiles.meta({ description: 'Time to commit a step.' }),
          eventLoopDelay: quantiles.meta({ description: 'Delay of the event loop of the thread.' }),
          utilisation: z.number().meta({
            description:
              'Share of time in which the event loop of the thread was busy, since the read before, 0 to 1.',
            examples: [0.42],
          }),
        }),
      )
      .meta({ description: 'Parts of the actors, each on one thread.' }),
    pool: z
      .strictObject({
        threads: z.number().meta({ description: 'Threads of the pool.', exampleValue: 2 }),
        busy: z.number().meta({ description: 'Threads with a task.', exampleValue: 1 }),
        waiting: z.number().meta({ description: 'Tasks that wait for a thread.', exampleValue: 0 }),
        utilisation: z.number().meta({
          description: 'Share of thread time spent working since the start, 0 to 1.',
          exampleValue: 0.61,
        }),
        stalled: z
          .array(stalled)
          .max(100)
          .meta({ description: 'Tasks that run for longer than their deadline.' }),
      })
      .meta({ description: 'Threads that sign, verify and render.' }),
    store: z
      .strictObject({
        engine: z.string().meta({ description: 'Kind of the store.', exampleValue: 'LMDB' }),
        bytes: z
          .number()
          .nullable()
          .meta({ description: 'Size of the store on the disk. Null: not known.', exampleValue: 1048576 }),
      })
      .meta({ description: 'Where actors are stored.' }),
    memory: z
      .strictObject({
        residentBytes: z
          .number()
          .meta({ description: 'Memory of the process, bytes.', exampleValue: 134217728 }),
        heapBytes: z.number().meta({ description: 'JavaScript heap in use, bytes.', exampleValue: 50331648 }),
      })
      .meta({ description: 'Memory of the process.' }),
    uptimeSeconds: z.number().meta({ description: 'Time since the start, seconds.', exampleValue: 3600 }),
    eventLoopUtilisation: z.number().meta({
      description:
        'Share of time in which the event loop of the main thread was busy, since the read before, 0 to 1.',
      examples: [0.42],
    }),
  })
  .meta({ id: 'Runtime' });

const nodeParams = z.object({
  id: z
    .string()
    .regex(/^[!-~]{1,100}$/)
    .meta({ description: 'Name of the node.', exampleValue: 'node-2' }),
});

const nodeDraining = z
  .strictObject({
    name: z
      .string()
      .meta({ description: 'Name of it in the configuration or the program.', exampleValue: 'node-1' }),
    draining: z.literal(true).meta({ description: 'Whether the node takes nothing new and will end.' }),
  })
  .meta({ id: 'NodeDraining' });

const DELAYS = { p50Ms: 0.4, p99Ms: 3.1, maxMs: 12 };

export const readRuntime = operation({
  method: 'GET',
  unknown: 'actor.not-found',
  path: '/api/runtime',
  group: 'System',
  summary: 'Shows how threads, pool and store are doing.',
  description:
    'Delays and commits are quantiles, in milliseconds. `nodes` is empty where one process has the store to itself.',
  query: sharedQuery,
  reply: runtime,
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
});

export const drainNode = operation({
  method: 'POST',
  unknown: 'actor.not-found',
  path: '/api/runtime/nodes/{id}/drain',
  group: 'System',
  summary: 'Asks a node to finish its work and end; the others go on.',
  description:
    '`id` is the name of the node. It takes nothing new, finishes what is in progress within `Hosting:ShutdownTimeoutSeconds`, and ends with exit code 0.',
  rate: 'actions',
  params: nodeParams,
  status: 202,
  reply: nodeDraining,
  examples: { responses: { 202: { name: 'node-2', draining: true } } },
  refusals: ['node.not-found'],
});

export type RuntimeView = Value<typeof runtime>;

export type NodeView = Value<typeof node>;

export type Quantiles = Value<typeof quantiles>;
