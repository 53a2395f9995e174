/** The actors of this process, for operators. */
import { z } from 'zod';
import { anyObject, entity, maybePart, parts, shown, time } from '../fields.ts';
import { AT, JOB_ID } from './examples.ts';
import { operationsOf } from './operation.ts';
import { queryFlag, reasonBody, sharedQuery, sharedVersion, single, wholeQuery } from './requests.ts';

const MAX_PAGE_SIZE = 500;

const LIMIT = 'must be a whole number of at least 1';

const actorQuery = z.object({
  kind: shown(
    single.optional(),
    'Lists the actors of this kind; without it the kinds are listed. The other parameters but `limit` and `version` need it.',
    'job',
  ),
  state: shown(single.optional(), 'Only actors in this state.', 'Queued'),
  stuck: queryFlag
    .optional()
    .describe('Only actors with work that failed and is tried again, or whose task in the pool stalls.'),
  stopped: queryFlag.optional().describe('Only actors that supervision has given up: they failed too often.'),
  id: shown(single.max(200).optional(), 'Only actors whose id begins with this text.', '2b1c7d8e'),
  after: shown(single.optional(), '`next` of the page before.', JOB_ID),
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
    .describe('Most entries of the answer.'),
  version: sharedVersion,
  text: shown(
    single.max(200).optional(),
    'Only actors that have this text in their id, name, file name or external id, without regard to case. A page reads at most 5,000 actors (`examined`) and may be empty although `next` leads on.',
    'contract',
  ),
});

const address = z.strictObject({
  kind: shown(z.string(), 'Kind of the actor, such as `job`.', 'job'),
  id: shown(z.string(), 'Identifier.', JOB_ID),
});

const effect = z.strictObject({
  key: shown(z.string(), 'Key of the effect: the same effect is never carried out under another.', '4.sign'),
  do: shown(z.string(), 'Effect that failed.', 'sign'),
  dueAt: time.describe('Time of the next try.'),
  failures: shown(z.number(), 'Failed tries in a row.', 2),
  lastError: shown(z.string().nullable(), 'Message of the last failure. Null: none.', 'connect ECONNREFUSED'),
});

const summary = {
  kind: shown(z.string(), 'Kind of the actor, such as `job`.', 'job'),
  id: shown(z.string(), 'Identifier.', JOB_ID),
  state: shown(z.string(), 'State of the machine.', 'Completed'),
  revision: shown(z.number(), 'Number of steps of the actor.', 4),
  mailbox: shown(z.number(), 'Messages that wait.', 0),
  stopped: maybePart('Why supervision stopped the actor. Null: it runs.', {
    at: time.describe('Time of it, UTC.'),
    error: shown(z.string(), 'Why it failed. Null: it did not.', 'connect ECONNREFUSED'),
  }),
  trouble: effect.nullable().describe('Effect that failed and is tried again. Null: none.'),
  since: time.nullable().optional().describe('Time of the last line of the history; with `oldest` only.'),
};

const actorKind = entity('ActorKind', {
  kind: shown(z.string(), 'Kind of the actor, such as `job`.', 'job'),
  version: shown(z.number(), 'Version of the machine.', 1),
  count: shown(z.number(), 'Number of entries that were measured or found.', 3),
  states: shown(z.record(z.string(), z.number()), 'Number of actors in each state.', {
    Completed: 1280,
    Failed: 4,
  }),
  stopped: shown(z.number(), 'Actors that supervision has stopped.', 0),
  awake: shown(z.number(), 'Actors in memory.', 2),
  deepestMailbox: shown(z.number(), 'Most messages that wait for one actor.', 1),
  accepted: shown(z.number(), 'Messages that were accepted since the start.', 412),
  refused: shown(z.number(), 'Messages that were refused since the start.', 3),
  restarts: shown(z.number(), 'How often supervision restarted an actor.', 0),
  perSecond: shown(z.number(), 'Messages per second of the last minute.', 4.2),
  lastError: maybePart('Last failure. Null: none.', {
    actor: shown(z.string(), 'Id of the actor.', 'job/0d9a7c3e-5b1f-4a6d-8c2e-1f3b5d7a9c0e'),
    message: shown(z.string(), 'What happened, for people. The text may change.', 'Verified and published.'),
  }),
});

const actorPage = entity('ActorPage', {
  kinds: z.array(actorKind).optional().describe('Figures for each kind of actor.'),
  items: z.array(z.strictObject(summary)).optional().describe('Entries of this page.'),
  next: shown(
    z.string().nullable().optional(),
    '`after` of the next page. Null: no further page.',
    'job/0d9a7c3e',
  ),
  complete: shown(
    z.boolean().optional(),
    'With `oldest` only: false when more actors match than are sorted.',
    true,
  ),
  examined: shown(z.int().optional(), 'With `text` only: actors that were read for this page.', 42),
});

const actor = entity('Actor', {
  ...summary,
  version: shown(z.number(), 'Version of the machine.', 1),
  context: shown(anyObject, 'Stored state of the actor. Secrets are left out.', {
    fileName: 'contract.pdf',
    attempts: 1,
  }),
  accepts: shown(z.array(z.string()), 'Messages that the actor accepts in its state.', ['CLEAR']),
  timers: parts('Timers that are set.', {
    name: shown(z.string(), 'Name of the timer.', 'deadline'),
    due: time.describe('Time of the timer.'),
  }),
  effects: parts('Effects that are not done yet.', {
    ...effect.shape,
    effect: shown(anyObject, 'Effect as data.', { do: 'sign' }),
  }),
  history: parts('One entry for each transition, oldest first.', {
    id: shown(z.number(), 'Number of the entry, from 1.', 1),
    at: time.describe('Time of it, UTC.'),
    state: shown(z.string(), 'State of the machine.', 'Completed'),
    message: shown(z.string(), 'What happened, for people. The text may change.', 'Verified and published.'),
    cause: shown(z.string(), 'Message that caused the transition.', 'SIGNED'),
    /** Hash of the line in the chain of its actor; lines of earlier programs have none. */
    hash: shown(
      z.string().optional(),
      'SHA-256 of the entry with the one before, lower-case hex.',
      '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    ),
  }),
  parent: address.nullable().describe('Actor that created this one. Null: none.'),
  children: z.array(address).describe('Actors that this one created.'),
  shard: shown(z.number(), 'Number of the shard, from 0.', 0),
});

const actorChart = entity('ActorChart', {
  kind: shown(z.string(), 'Kind of the actor, such as `job`.', 'job'),
  version: shown(z.number(), 'Version of the machine.', 1),
  initial: shown(z.string(), 'State of a new actor.', 'Running'),
  states: z
    .array(
      z.strictObject({
        name: shown(z.string(), 'Name of the state.', 'Running'),
        final: z.boolean().describe('Whether the actor ends in this state.'),
      }),
    )
    .max(1000)
    .describe('States of the machine.'),
  transitions: z
    .array(
      z.strictObject({
        from: shown(z.string(), 'State before the transition.', 'Running'),
        to: shown(z.string(), 'State after the transition.', 'Paused'),
        event: shown(z.string(), 'Message that causes the transition.', 'PAUSE'),
      }),
    )
    .max(10_000)
    .describe('A transition with a condition may be refused. Deadlines are named `after <name>`.'),
});

const restarted = entity('ActorRestart', {
  kind: shown(z.string(), 'Kind of the actor, such as `job`.', 'job'),
  id: shown(z.string(), 'Identifier.', JOB_ID),
  restarted: z.literal(true).describe('Always true.'),
});

const changesQuery = z.object({
  after: single.max(64).default('').describe('`version` of the answer before.'),
  wait: wholeQuery(60).default(25).describe('Seconds to wait for a change.'),
  every: wholeQuery(60)
    .optional()
    .describe(
      'Seconds between two versions while there are changes: all callers receive the same one at the same time, so that the answers that they request by it can be shared. After a quiet time up to three versions are announced one second apart. Absent: each change is answered at once.',
    ),
});

const changes = entity('Changes', {
  version: shown(z.string().max(64), 'Changes with each step of any actor.', '4711'),
});

export const actorParams = z.object({
  kind: shown(z.string(), 'Kind of the actor, such as `job`.', 'job'),
  id: shown(z.string(), 'Id of the actor within its kind.', JOB_ID),
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

const operation = operationsOf({ group: 'System', unknown: 'actor.not-found' });

export const listActors = operation('GET /api/actors', {
  summary: 'Lists the kinds of actors with their counts, or the actors of one kind.',
  description:
    'Without `kind` it counts the actors of each kind; with `kind` it lists them page by page (`after` is the `next` of the previous page).',
  query: actorQuery,
  reply: actorPage,
  examples: { reply: { items: [ACTOR], next: null } },
  refusals: ['validation.filter-invalid', 'actor.not-found'],
});

export const readActorKind = operation('GET /api/actor-kinds/{kind}', {
  summary: 'Shows a kind of actors: the states of its machine and the transitions between them.',
  description:
    'Deadlines are named `after <name>`, transitions without an event `always`. A transition with a condition may be refused.',
  params: actorParams.pick({ kind: true }),
  reply: actorChart,
  examples: {
    reply: {
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
  refusals: ['actor.not-found'],
});

export const readActor = operation('GET /api/actors/{kind}/{id}', {
  summary: 'Shows one actor: state, history, what it waits for and what it would take.',
  description: 'With its pending effects and timers, and the messages that it accepts now.',
  params: actorParams,
  query: sharedQuery,
  reply: actor,
  examples: {
    reply: {
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
  refusals: ['actor.not-found'],
});

export const restartActor = operation('POST /api/actors/{kind}/{id}/restart', {
  summary:
    'Lets an actor that was given up go on from its last committed state, or runs again what is set aside.',
  description: 'For an actor that supervision has stopped after too many failures.',
  rate: 'actions',
  params: actorParams,
  body: reasonBody,
  reply: restarted,
  examples: {
    request: { reason: 'The mail server is reachable again.' },
  },
  refusals: [
    'actor.not-found',
    'actor.not-stopped',
    'validation.reason-too-long',
    'validation.body-invalid',
    'service.busy',
  ],
});

export const waitForChange = operation('GET /api/changes', {
  summary: 'Answers when something has changed, or after `wait` seconds. Pages refresh by it.',
  description:
    'Send the `version` of the answer before as `after`. The answer comes with the next step of any actor, or after `wait` seconds with the same version. Many readers send the same `every`, and then the version with their requests: each answer is computed once for all of them.',
  query: changesQuery,
  reply: changes,
  examples: { reply: { version: '8c1f2a34-5b6d-4e7f-8091-a2b3c4d5e6f7.1042' } },
  refusals: ['validation.filter-invalid'],
});
