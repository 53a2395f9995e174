/**
 * `/api/actors`, `/api/actor-kinds` and `/api/changes`: the actors of this process, for operators.
 *
 * Not in docs/batch-values.md §0; additive.
 */
import { z } from 'zod';
import type { ActorInspection } from '../../../actors/batch/api/inspection.ts';
import type { ActorReport, ActorSummary } from '../../../actors/batch/api/service.ts';
import { Refusal } from '../../../machines/refusals.ts';
import { json } from '../../core/reply.ts';
import { type AnyRoute, route } from '../../core/router.ts';
import { AT, JOB_ID } from '../description/example-values.ts';
import { actorParams, checkReason, noParams, reasonBody } from '../queries.ts';
import { withQueryLimit } from '../query-limits.ts';
import { isoTime, timestamp } from '../shapes.ts';
import { type SharedAnswers, sharedQuery, sharedVersion } from './shared-answers.ts';

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
  version: sharedVersion,
  text: once
    .max(200)
    .optional()
    .describe(
      'Only actors that have this text in their id, name, file name or external id, without regard to case. A page reads at most 5,000 actors (`examined`) and may be empty although `next` leads on.',
    ),
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
    examined: z.int().optional().describe('With `text` only: actors that were read for this page.'),
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

const restartShape = z.strictObject({ kind: z.string(), id: z.string(), restarted: z.literal(true) });

const limitedQuery = withQueryLimit('actor.not-found');

const WAIT = 'must be a whole number from 1 to 60';

const changesQuery = z.object({
  after: once.max(64).default('').describe('`version` of the answer before.'),
  wait: z.coerce
    .number({ error: WAIT })
    .int(WAIT)
    .min(1, WAIT)
    .max(60, WAIT)
    .default(25)
    .describe('Seconds to wait for a change.'),
  every: z.coerce
    .number({ error: WAIT })
    .int(WAIT)
    .min(1, WAIT)
    .max(60, WAIT)
    .optional()
    .describe(
      'Seconds between two versions while there are changes: all callers receive the same one at the same time, so that the answers that they request by it can be shared. After a quiet time up to three versions are announced one second apart. Absent: each change is answered at once.',
    ),
});

const changesShape = z
  .strictObject({ version: z.string().max(64).describe('Changes with each step of any actor.') })
  .meta({ id: 'Changes' });

const ACTOR = {
  kind: 'job',
  id: JOB_ID,
  state: 'Completed',
  revision: 4,
  mailbox: 0,
  stopped: null,
  trouble: null,
};

export function actorRoutes(inspection: ActorInspection, shared: SharedAnswers): readonly AnyRoute[] {
  return [
    route({
      ...limitedQuery,
      path: '/api/actors',
      group: 'System',
      summary: 'Lists the kinds of actors with their counts, or the actors of one kind.',
      description:
        'Without `kind` it counts the actors of each kind; with `kind` it lists them page by page (`after` is the `next` of the previous page).',
      params: noParams,
      query: actorQuery,
      responses: { 200: pageShape },
      examples: { responses: { 200: { items: [ACTOR], next: null } } },
      refusals: ['validation.filter-invalid', 'actor.not-found'],
      async handle({ query }) {
        const { kind, id, version, ...rest } = query;
        if (kind === undefined) {
          checkKindsOnly(query);
          return shared.answer(version, ['actors'], async () => ({ kinds: await inspection.kinds() }));
        }
        checkState(rest.state, inspection.states(kind));
        return shared.answer(version, ['actors', kind, id, rest], async () => {
          const page = await inspection.list({ kind, idPrefix: id, ...rest });
          if (page === undefined)
            throw new Refusal('actor.not-found', `There are no actors of kind ${kind}.`);
          const { items, next = null, complete, examined } = page;
          return {
            ...{ items: items.map(summaryBody), next },
            ...(complete !== undefined && { complete }),
            ...(examined !== undefined && { examined }),
          };
        });
      },
    }),
    route({
      ...limitedQuery,
      path: '/api/actor-kinds/{kind}',
      group: 'System',
      summary: 'Shows a kind of actors: the states of its machine and the transitions between them.',
      description:
        'Deadlines are named `after <name>`, transitions without an event `always`. A transition with a condition may be refused.',
      params: z.object({ kind: z.string() }),
      responses: { 200: chartShape },
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
      group: 'System',
      summary: 'Shows one actor: state, history, what it waits for and what it would take.',
      description: 'With its pending effects and timers, and the messages that it accepts now.',
      params: actorParams,
      query: sharedQuery,
      responses: { 200: actorShape },
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
      handle: ({ params, query: { version } }) =>
        shared.answer(version, ['actor', params], async () => {
          const actor = await inspection.actor(params);
          if (actor === undefined) throw unknown(params);
          return actorBody(actor);
        }),
    }),
    route({
      ...limitedQuery,
      method: 'POST',
      path: '/api/actors/{kind}/{id}/restart',
      group: 'System',
      summary:
        'Lets an actor that was given up go on from its last committed state, or runs again what is set aside.',
      description: 'For an actor that supervision has stopped after too many failures.',
      rate: 'actions',
      bodyPolicy: 'json',
      params: actorParams,
      body: reasonBody,
      responses: { 200: restartShape },
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
      group: 'System',
      summary: 'Answers when something has changed, or after `wait` seconds. Pages refresh by it.',
      description:
        'Send the `version` of the answer before as `after`. The answer comes with the next step of any actor, or after `wait` seconds with the same version. Many readers send the same `every`, and then the version with their requests: each answer is computed once for all of them.',
      params: noParams,
      query: changesQuery,
      responses: { 200: changesShape },
      examples: { responses: { 200: { version: '8c1f2a34-5b6d-4e7f-8091-a2b3c4d5e6f7.1042' } } },
      refusals: ['validation.filter-invalid'],
      async handle({ query: { after, wait, every } }) {
        const { changes } = inspection;
        const version =
          every === undefined
            ? await changes.wait(after, wait * 1000)
            : await changes.waitShared(after, wait * 1000, every * 1000);
        return json(200, { version });
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
function checkKindsOnly({ limit: _, kind: _1, version: _2, ...filters }: z.infer<typeof actorQuery>): void {
  if (Object.values(filters).every((value) => value === undefined || value === false)) return;
  throw new Refusal('validation.filter-invalid', 'Actors are filtered within one kind: kind is missing.', {
    errors: { kind: ['must be given with state, stuck, stopped, oldest, id, after or text'] },
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

function actorBody({ timers, effects, history, ...rest }: ActorReport) {
  return {
    ...rest,
    ...summaryBody(rest),
    timers: timers.map(({ name, due }) => ({ name, due: isoTime(due) })),
    effects: effects.map((one) => ({ ...one, dueAt: isoTime(one.dueAt) })),
    history: history.map((line) => ({ ...line, at: isoTime(line.at) })),
  };
}
