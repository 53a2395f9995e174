/** The actors of this process, for operators. */
import { z } from 'zod';
import { time } from '../fields.ts';
import { AT, JOB_ID } from './examples.ts';
import { operation } from './operation.ts';
import { queryFlag, reasonBody, sharedQuery, sharedVersion, single, wholeQuery } from './requests.ts';

const MAX_PAGE_SIZE = 500;

const LIMIT = 'must be a whole number of at least 1';

const actorQuery = z.object({
  kind: single.optional().describe('Lists the actors of this kind; without it the kinds are listed.'),
  state: single.optional().describe('Only actors in this state.'),
  stuck: queryFlag
    .optional()
    .describe('Only actors with work that failed and is tried again, or whose task in the pool stalls.'),
  stopped: queryFlag.optional().describe('Only actors that supervision has given up: they failed too often.'),
  id: single.max(200).optional().describe('Only actors whose id begins with this text.'),
  after: single.optional().describe('`next` of the page before.'),
  oldest: queryFlag
    .optional()
    .describe(
      'Sorts by the time of the last line of the history, oldest first, and gives this time. One page. At most 20,000 actors that match are sorted, the first by their id; `complete` is false when there are more.',
    ),
  limit: z.coerce
    .number({ error: LIMIT })
    .int(LIMIT)
    .min(1, LIMIT)
    .transform((limit) => Math.min(limit, MAX_PAGE_SIZE))
    .default(50)
    .meta({ description: 'Most entries of the answer.' }),
  version: sharedVersion,
  text: single
    .max(200)
    .optional()
    .describe(
      'Only actors that have this text in their id, name, file name or external id, without regard to case. A page reads at most 5,000 actors (`examined`) and may be empty although `next` leads on.',
    ),
});

const address = z.strictObject({
  kind: z.string().meta({ description: 'Kind of the actor, such as `job`.', exampleValue: 'job' }),
  id: z.string().meta({ description: 'Identifier.', exampleValue: JOB_ID }),
});

const effect = z.strictObject({
  key: z.string().meta({
    description: 'Key of the effect: the same effect is never carried out under another.',
    exampleValue: '4.sign',
  }),
  do: z.string().meta({ description: 'Effect that failed.', exampleValue: 'sign' }),
  dueAt: time.meta({ description: 'Time of the next try.' }),
  failures: z.number().meta({ description: 'Failed tries in a row.', exampleValue: 2 }),
  lastError: z
    .string()
    .nullable()
    .meta({ description: 'Message of the last failure. Null: none.', exampleValue: 'connect ECONNREFUSED' }),
});

const summary = {
  kind: z.string().meta({ description: 'Kind of the actor, such as `job`.', exampleValue: 'job' }),
  id: z.string().meta({ description: 'Identifier.', exampleValue: JOB_ID }),
  state: z.string().meta({ description: 'State of the machine.', exampleValue: 'Completed' }),
  revision: z.number().meta({ description: 'Number of steps of the actor.', exampleValue: 4 }),
  mailbox: z.number().meta({ description: 'Messages that wait.', exampleValue: 0 }),
  stopped: z
    .strictObject({
      at: time.meta({ description: 'Time of it, UTC.' }),
      error: z
        .string()
        .meta({ description: 'Why it failed. Null: it did not.', exampleValue: 'connect ECONNREFUSED' }),
    })
    .nullable()
    .meta({ description: 'Why supervision stopped the actor. Null: it runs.' }),
  trouble: effect.nullable().meta({ description: 'Effect that failed and is tried again. Null: none.' }),
  since: time.nullable().optional().describe('Time of the last line of the history; with `oldest` only.'),
};

const actorKind = z
  .strictObject({
    kind: z.string().meta({ description: 'Kind of the actor, such as `job`.', exampleValue: 'job' }),
    version: z.number().meta({ description: 'Version of the machine.', exampleValue: 1 }),
    count: z
      .number()
      .meta({ description: 'Number of entries that were measured or found.', exampleValue: 3 }),
    states: z
      .record(z.string(), z.number())
      .meta({ description: 'Number of actors in each state.', exampleValue: { Completed: 1280, Failed: 4 } }),
    stopped: z.number().meta({ description: 'Actors that supervision has stopped.', exampleValue: 0 }),
    awake: z.number().meta({ description: 'Actors in memory.', exampleValue: 2 }),
    deepestMailbox: z
      .number()
      .meta({ description: 'Most messages that wait for one actor.', exampleValue: 1 }),
    accepted: z
      .number()
      .meta({ description: 'Messages that were accepted since the start.', exampleValue: 412 }),
    refused: z.number().meta({ description: 'Messages that were refused since the start.', exampleValue: 3 }),
    restarts: z.number().meta({ description: 'How often supervision restarted an actor.', exampleValue: 0 }),
    perSecond: z.number().meta({ description: 'Messages per second of the last minute.', exampleValue: 4.2 }),
    lastError: z
      .strictObject({
        actor: z.string().meta({
          description: 'Id of the actor.',
          exampleValue: 'job/0d9a7c3e-5b1f-4a6d-8c2e-1f3b5d7a9c0e',
        }),
        message: z.string().meta({
          description: 'What happened, for people. The text may change.',
          exampleValue: 'Verified and published.',
        }),
      })
      .nullable()
      .meta({ description: 'Last failure. Null: none.' }),
  })
  .meta({ id: 'ActorKind' });

const actorPage = z
  .strictObject({
    kinds: z.array(actorKind).optional().meta({ description: 'Figures for each kind of actor.' }),
    items: z.array(z.strictObject(summary)).optional().meta({ description: 'Entries of this page.' }),
    next: z.string().nullable().optional().meta({
      description: '`after` of the next page. Null: no further page.',
      exampleValue: 'job/0d9a7c3e',
    }),
    complete: z.boolean().optional().meta({
      description: 'With `oldest` only: false when more actors match than are sorted.',
      exampleValue: true,
    }),
    examined: z
      .int()
      .optional()
      .meta({ description: 'With `text` only: actors that were read for this page.', exampleValue: 42 }),
  })
  .meta({ id: 'ActorPage' });

const actor = z
  .strictObject({
    ...summary,
    version: z.number().meta({ description: 'Version of the machine.', exampleValue: 1 }),
    context: z.unknown().meta({
      description: 'Stored state of the actor. Secrets are left out.',
      exampleValue: { fileName: 'contract.pdf', attempts: 1 },
    }),
    accepts: z
      .array(z.string())
      .meta({ description: 'Messages that the actor accepts in its state.', exampleValue: ['CLEAR'] }),
    timers: z
      .array(
        z.strictObject({
          name: z.string().meta({ description: 'Name of the timer.', exampleValue: 'deadline' }),
          due: time.meta({ description: 'Time of the timer.' }),
        }),
      )
      .meta({ description: 'Timers that are set.' }),
    effects: z
      .array(
        z.strictObject({
          ...effect.shape,
          effect: z.unknown().meta({ description: 'Effect as data.', exampleValue: { do: 'sign' } }),
        }),
      )
      .meta({ description: 'Effects that are not done yet.' }),
    history: z
      .array(
        z.strictObject({
          id: z.number().meta({ description: 'Number of the entry, from 1.', exampleValue: 1 }),
          at: time.meta({ description: 'Time of it, UTC.' }),
          state: z.string().meta({ description: 'State of the machine.', exampleValue: 'Completed' }),
          message: z.string().meta({
            description: 'What happened, for people. The text may change.',
            exampleValue: 'Verified and published.',
          }),
          cause: z
            .string()
            .meta({ description: 'Message that caused the transition.', exampleValue: 'SIGNED' }),
          /** Hash of the line in the chain of its actor; lines of earlier programs have none. */
          hash: z.string().optional().meta({
            description: 'SHA-256 of the entry with the one before, lower-case hex.',
            exampleValue: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
          }),
        }),
      )
      .meta({ description: 'One entry for each transition, oldest first.' }),
    parent: address.nullable().meta({ description: 'Actor that created this one. Null: none.' }),
    children: z.array(address).meta({ description: 'Actors that this one created.' }),
    shard: z.number().meta({ description: 'Number of the shard, from 0.', exampleValue: 0 }),
  })
  .meta({ id: 'Actor' });

const actorChart = z
  .strictObject({
    kind: z.string().meta({ description: 'Kind of the actor, such as `job`.', exampleValue: 'job' }),
    version: z.number().meta({ description: 'Version of the machine.', exampleValue: 1 }),
    initial: z.string().meta({ description: 'State of a new actor.', exampleValue: 'Running' }),
    states: z
      .array(
        z.strictObject({
          name: z.string().meta({ description: 'Name of the state.', exampleValue: 'Running' }),
          final: z.boolean().meta({ description: 'Whether the actor ends in this state.' }),
        }),
      )
      .max(1000)
      .meta({ description: 'States of the machine.' }),
    transitions: z
      .array(
        z.strictObject({
          from: z.string().meta({ description: 'State before the transition.', exampleValue: 'Running' }),
          to: z.string().meta({ description: 'State after the transition.', exampleValue: 'Paused' }),
          event: z
            .string()
            .meta({ description: 'Message that causes the transition.', exampleValue: 'PAUSE' }),
        }),
      )
      .max(10_000)
      .describe('A transition with a condition may be refused. Deadlines are named `after <name>`.'),
  })
  .meta({ id: 'ActorChart' });

const restarted = z
  .strictObject({
    kind: z.string().meta({ description: 'Kind of the actor, such as `job`.', exampleValue: 'job' }),
    id: z.string().meta({ description: 'Identifier.', exampleValue: JOB_ID }),
    restarted: z.literal(true).meta({ description: 'Always true.' }),
  })
  .meta({ id: 'ActorRestart' });

const changesQuery = z.object({
  after: single.max(64).default('').describe('`version` of the answer before.'),
  wait: wholeQuery(60).default(25).describe('Seconds to wait for a change.'),
  every: wholeQuery(60)
    .optional()
    .describe(
      'Seconds between two versions while there are changes: all callers receive the same one at the same time, so that the answers that they request by it can be shared. After a quiet time up to three versions are announced one second apart. Absent: each change is answered at once.',
    ),
});

const changes = z
  .strictObject({
    version: z
      .string()
      .max(64)
      .meta({ description: 'Changes with each step of any actor.', exampleValue: '4711' }),
  })
  .meta({ id: 'Changes' });

export const actorParams = z.object({
  kind: z.string().meta({ description: 'Kind of the actor, such as `job`.', exampleValue: 'job' }),
  id: z.string().meta({ description: 'Id of the actor within its kind.', exampleValue: JOB_ID }),
});

const ACTOR = {
  kind: 'job',
  id: JOB_ID,
  state: 'Completed',
  revision: 4,
  mailbox: 0,
  stopped: null,
  trouble: null,
};

export const listActors = operation({
  method: 'GET',
  unknown: 'actor.not-found',
  path: '/api/actors',
  group: 'System',
  summary: 'Lists the kinds of actors with their counts, or the actors of one kind.',
  description:
    'Without `kind` it counts the actors of each kind; with `kind` it lists them page by page (`after` is the `next` of the previous page).',
  query: actorQuery,
  reply: actorPage,
  examples: { responses: { 200: { items: [ACTOR], next: null } } },
  refusals: ['validation.filter-invalid', 'actor.not-found'],
});

export const readActorKind = operation({
  method: 'GET',
  unknown: 'actor.not-found',
  path: '/api/actor-kinds/{kind}',
  group: 'System',
  summary: 'Shows a kind of actors: the states of its machine and the transitions between them.',
  description:
    'Deadlines are named `after <name>`, transitions without an event `always`. A transition with a condition may be refused.',
  params: actorParams.pick({ kind: true }),
  reply: actorChart,
  examples: {
    responses: {
      200: {
        kind: 'pipeline',
        version: 1,
        initial: 'Running',
        states: [
          { name: 'Running', final: false },
          { name: 'Paused', final: false },
        ],
        transitions: [
          { from: 'Running', to: 'Paused', event: 'PAUSE' },
          { from: 'Paused', to: 'Running', event: 'RESUME' },
        ],
      },
    },
  },
  refusals: ['actor.not-found'],
});

export const readActor = operation({
  method: 'GET',
  unknown: 'actor.not-found',
  path: '/api/actors/{kind}/{id}',
  group: 'System',
  summary: 'Shows one actor: state, history, what it waits for and what it would take.',
  description: 'With its pending effects and timers, and the messages that it accepts now.',
  params: actorParams,
  query: sharedQuery,
  reply: actor,
  examples: {
    responses: {
      200: {
        ...ACTOR,
        version: 1,
        context: { fileName: 'contract.pdf' },
        accepts: ['CLEAR'],
        timers: [],
        effects: [],
        history: [{ id: 1, at: AT, state: 'Queued', message: 'Uploaded.', cause: 'create' }],
        parent: null,
        children: [],
        shard: 0,
      },
    },
  },
  refusals: ['actor.not-found'],
});

export const restartActor = operation({
  method: 'POST',
  unknown: 'actor.not-found',
  path: '/api/actors/{kind}/{id}/restart',
  group: 'System',
  summary:
    'Lets an actor that was given up go on from its last committed state, or runs again what is set aside.',
  description: 'For an actor that supervision has stopped after too many failures.',
  rate: 'actions',
  params: actorParams,
  body: reasonBody,
  reply: restarted,
  examples: {
    request: { reason: 'The mail server is reachable again.' },
    responses: { 200: { kind: 'job', id: JOB_ID, restarted: true } },
  },
  refusals: [
    'actor.not-found',
    'actor.not-stopped',
    'validation.reason-too-long',
    'validation.body-invalid',
    'service.busy',
  ],
});

export const waitForChange = operation({
  method: 'GET',
  unknown: 'actor.not-found',
  path: '/api/changes',
  group: 'System',
  summary: 'Answers when something has changed, or after `wait` seconds. Pages refresh by it.',
  description:
    'Send the `version` of the answer before as `after`. The answer comes with the next step of any actor, or after `wait` seconds with the same version. Many readers send the same `every`, and then the version with their requests: each answer is computed once for all of them.',
  query: changesQuery,
  reply: changes,
  examples: { responses: { 200: { version: '8c1f2a34-5b6d-4e7f-8091-a2b3c4d5e6f7.1042' } } },
  refusals: ['validation.filter-invalid'],
});
