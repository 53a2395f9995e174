/**
 * `/api/operations`: retry, cancel or clear of every job that matches a filter, with its progress.
 *
 * Source: docs/decisions/0050-large-operations.md.
 */
import { z } from 'zod';
import type { OperationRequest, Operations, OperationView } from '../../actors/batch/api/bulk.ts';
import { JOB_FORMATS, JOB_SOURCES, JOB_STATES, type JobState } from '../../machines/batch/job-context.ts';
import { OPERATION_ACTIONS, OPERATION_STATES, type OperationAction } from '../../machines/batch/operation.ts';
import { parseJobId } from '../../machines/ids.ts';
import { Refusal } from '../../machines/refusals.ts';
import { json } from '../core/reply.ts';
import { type AnyRoute, route } from '../core/router.ts';
import { AT, OTHER_ID } from './description/example-values.ts';
import { checkReason, moment, noBody, noParams, noQuery, operationListQuery, reasonBody } from './queries.ts';
import { isoTime, timestamp } from './shapes.ts';

/** Maximum length of a filter text, characters. */
const MAX_TEXT = 1000;

const text = z
  .string({ error: 'must be a string' })
  .trim()
  .min(1, { error: 'must not be empty' })
  .max(MAX_TEXT, { error: `must be at most ${MAX_TEXT} characters` });

function anyOf<Name extends string>(names: readonly Name[]) {
  const error = `must be one of ${names.join(', ')}, or a list of them`;
  const one = z.enum(names as readonly [Name, ...Name[]], { error });
  return z.union([one, z.array(one).max(names.length)], { error }).nullish();
}

const filterMembers = {
  status: anyOf(JOB_STATES),
  profile: text.nullish(),
  format: anyOf(JOB_FORMATS),
  source: anyOf(JOB_SOURCES),
  folder: text.nullish(),
  fileName: text.nullish(),
  errorCode: text.nullish(),
  parentJobId: z.guid({ error: 'must be the id of a job' }).nullish(),
  createdFrom: moment.nullish(),
  createdTo: moment.nullish(),
};

const operationBody = z.strictObject({
  action: z.enum(OPERATION_ACTIONS, { error: `must be one of ${OPERATION_ACTIONS.join(', ')}` }),
  filter: z.strictObject(filterMembers).default({}),
  reason: reasonBody.shape.reason,
  dryRun: z.boolean({ error: 'must be true or false' }).default(false),
});

const count = z.int().min(0);

const operationShape = z
  .strictObject({
    id: z.guid(),
    action: z.enum(OPERATION_ACTIONS),
    state: z.enum(OPERATION_STATES),
    filter: z.strictObject({
      status: z.array(z.enum(JOB_STATES)),
      profile: z.string().nullable(),
      format: z.array(z.enum(JOB_FORMATS)),
      source: z.array(z.enum(JOB_SOURCES)),
      folder: z.string().nullable(),
      fileName: z.string().nullable(),
      errorCode: z.string().nullable(),
      parentJobId: z.guid().nullable(),
      createdFrom: timestamp.nullable(),
      createdTo: timestamp,
    }),
    reason: z.string().nullable(),
    matched: count,
    done: count,
    skipped: count,
    skippedByCode: z.record(z.string(), count),
    createdAt: timestamp,
    updatedAt: timestamp,
    endedAt: timestamp.nullable(),
  })
  .meta({ id: 'Operation' });

const operationCountShape = z.strictObject({ matched: count }).meta({ id: 'OperationCount' });

const operationListShape = z
  .strictObject({ items: z.array(operationShape), page: z.int(), pageSize: z.int(), totalCount: z.int() })
  .meta({ id: 'OperationList' });

const INVALID_INPUT_CODES = {
  params: 'operation.not-found',
  query: 'validation.filter-invalid',
  body: 'validation.body-invalid',
} as const;

const COMMON = { auth: 'operator', headers: [], invalidInput: INVALID_INPUT_CODES } as const;
const ONE = { ...COMMON, bodyPolicy: 'none', query: noQuery, body: noBody } as const;
const operationParams = z.object({ id: z.string().max(64) });

const OPERATION = {
  id: OTHER_ID,
  action: 'retry',
  state: 'Running',
  filter: {
    status: [],
    profile: 'contracts',
    format: [],
    source: [],
    folder: null,
    fileName: null,
    errorCode: 'remote.unreachable',
    parentJobId: null,
    createdFrom: null,
    createdTo: AT,
  },
  reason: null,
  matched: 12000,
  done: 2560,
  skipped: 3,
  skippedByCode: { 'job.input-missing': 3 },
  createdAt: AT,
  updatedAt: AT,
  endedAt: null,
};

export function operationRoutes(operations: Operations): readonly AnyRoute[] {
  return [
    route({
      ...COMMON,
      method: 'POST',
      path: '/api/operations',
      group: 'System',
      summary: 'Retries, cancels or clears every job that matches a filter, or counts them.',
      description:
        'With `dryRun` the matching jobs are counted and nothing happens. Otherwise the operation acts on the jobs that match and were made before the call, oldest first, in batches; it goes on after a restart. `filter` takes the filters of `GET /api/jobs`, and `errorCode`; `status` is limited to what the action is possible for. Skipped jobs are counted by code. Four operations run at the same time.',
      rate: 'actions',
      bodyPolicy: 'json',
      params: noParams,
      query: noQuery,
      body: operationBody,
      responses: { 200: operationCountShape, 202: operationShape },
      examples: {
        request: { action: 'retry', filter: { profile: 'contracts', errorCode: 'remote.unreachable' } },
        responses: { 200: { matched: 12000 }, 202: OPERATION },
      },
      refusals: [
        'operation.limit-reached',
        'validation.reason-too-long',
        'validation.body-invalid',
        'service.busy',
      ],
      async handle({ body, identity }) {
        checkReason(body.reason);
        const request = requestOf(body);
        if (body.dryRun) return json(200, { matched: await operations.count(request) });
        return json(202, operationBodyOf(await operations.start(request, identity?.operator ?? 'operator')));
      },
    }),
    route({
      ...COMMON,
      method: 'GET',
      path: '/api/operations',
      group: 'System',
      summary: 'Lists large operations, newest first.',
      description: 'Ended operations are kept for 30 days. `pageSize` above 200 is lowered to 200.',
      rate: 'none',
      bodyPolicy: 'none',
      params: noParams,
      query: operationListQuery,
      body: noBody,
      responses: { 200: operationListShape },
      examples: { responses: { 200: { items: [OPERATION], page: 1, pageSize: 50, totalCount: 1 } } },
      refusals: ['validation.filter-invalid'],
      async handle({ query: { page, pageSize } }) {
        const { items, totalCount } = await operations.list(page, pageSize);
        return json(200, { items: items.map(operationBodyOf), page, pageSize, totalCount });
      },
    }),
    route({
      ...ONE,
      method: 'GET',
      path: '/api/operations/{id}',
      group: 'System',
      summary: 'Shows one large operation and its progress.',
      description: '`done` and `skipped` grow while the state is Running or Canceling.',
      rate: 'none',
      params: operationParams,
      responses: { 200: operationShape },
      examples: { responses: { 200: OPERATION } },
      refusals: ['operation.not-found'],
      handle: async ({ params }) => json(200, operationBodyOf(await operations.get(params.id))),
    }),
    route({
      ...ONE,
      method: 'POST',
      path: '/api/operations/{id}/cancel',
      group: 'System',
      summary: 'Ends a large operation after the batch under way.',
      description: 'What was done stays done. The state is Canceling until the batch under way is counted.',
      rate: 'actions',
      params: operationParams,
      responses: { 200: operationShape },
      examples: { responses: { 200: { ...OPERATION, state: 'Canceling' } } },
      refusals: ['operation.not-found', 'operation.not-running', 'service.busy'],
      handle: async ({ params }) => json(200, operationBodyOf(await operations.cancel(params.id))),
    }),
  ];
}

/** Job states that the action accepts. Source: docs/batch-values.md §0. */
const POSSIBLE: { readonly [action in OperationAction]: readonly JobState[] } = {
  retry: ['Failed'],
  cancel: ['Queued', 'AwaitingSigner'],
  clear: ['Completed', 'Failed', 'Canceled'],
};

function requestOf({ action, filter, reason }: z.infer<typeof operationBody>): OperationRequest {
  const statuses = [filter.status ?? []].flat();
  if (statuses.some((status) => !POSSIBLE[action].includes(status))) {
    const rule = `must be ${POSSIBLE[action].join(' or ')} for the action ${action}`;
    throw new Refusal('validation.body-invalid', `filter.status ${rule}`, {
      errors: { 'filter.status': [rule] },
    });
  }
  const { profile, folder, fileName, errorCode, createdFrom, createdTo } = filter;
  const formats = [filter.format ?? []].flat();
  const sources = [filter.source ?? []].flat();
  const parentJobId = filter.parentJobId ? parseJobId(filter.parentJobId.toLowerCase()) : undefined;
  return {
    action,
    reason,
    filter: {
      statuses,
      ...(profile && { profile }),
      ...(formats.length > 0 && { formats }),
      ...(sources.length > 0 && { sources }),
      ...(folder && { folder }),
      ...(fileName && { fileName }),
      ...(errorCode && { errorCode }),
      ...(parentJobId && { parentJobId }),
      ...(typeof createdFrom === 'number' && { createdFrom }),
      ...(typeof createdTo === 'number' && { createdTo }),
    },
  };
}

function operationBodyOf(operation: OperationView): z.infer<typeof operationShape> {
  const { filter } = operation;
  return {
    id: operation.id,
    action: operation.action,
    state: operation.state,
    filter: {
      status: [...filter.statuses],
      profile: filter.profile ?? null,
      format: [...(filter.formats ?? [])],
      source: [...(filter.sources ?? [])],
      folder: filter.folder ?? null,
      fileName: filter.fileName ?? null,
      errorCode: filter.errorCode ?? null,
      parentJobId: filter.parentJobId ?? null,
      createdFrom: filter.createdFrom === undefined ? null : isoTime(filter.createdFrom),
      createdTo: isoTime(filter.createdTo),
    },
    reason: operation.reason,
    matched: operation.matched,
    done: operation.done,
    skipped: operation.skipped,
    skippedByCode: { ...operation.skippedByCode },
    createdAt: isoTime(operation.createdAt),
    updatedAt: isoTime(operation.updatedAt),
    endedAt: operation.endedAt === null ? null : isoTime(operation.endedAt),
  };
}
