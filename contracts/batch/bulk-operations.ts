/** Retry, cancel or clear of every job that matches a filter, with its progress. Source: docs/decisions/0050-large-operations.md. */
import { z } from 'zod';
import { entity, shown, time } from '../fields.ts';
import type { Value } from '../operation.ts';
import { AT, JOB_ID, OTHER_ID } from './examples.ts';
import { jobId } from './jobs.ts';
import { operationsOf } from './operation.ts';
import { moment, pageOf, paging, reason } from './requests.ts';
import { JOB_FORMATS, JOB_SOURCES, JOB_STATES, OPERATION_ACTIONS, OPERATION_STATES } from './words.ts';

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
  status: anyOf(JOB_STATES).describe('State of it.'),
  profile: shown(text.nullish(), 'Signature profile. Null: any.', 'contracts'),
  format: anyOf(JOB_FORMATS).describe('Signature format.'),
  source: anyOf(JOB_SOURCES).describe('How the file came in.'),
  folder: shown(text.nullish(), 'Input folder. Null: an upload.', 'invoices'),
  fileName: shown(text.nullish(), 'File name as the client or the folder had it.', 'contract.pdf'),
  errorCode: shown(text.nullish(), 'Error that ended the job. Null: none, or any.', 'pdf.malformed'),
  parentJobId: shown(
    z.guid({ error: 'must be the id of a job' }).toLowerCase().brand<'JobId'>().nullish(),
    'Job of which this is a retry. Null: none.',
    JOB_ID,
  ),
  createdFrom: shown(moment.nullish(), 'Only jobs created at this time or later. Null: no bound.', AT),
  createdTo: shown(moment.nullish(), 'Only jobs created at this time or earlier. Null: no bound.', AT),
};

const newOperation = entity('NewOperation', {
  action: z
    .enum(OPERATION_ACTIONS, { error: `must be one of ${OPERATION_ACTIONS.join(', ')}` })
    .describe('Operation that each matching job goes through.'),
  filter: z
    .strictObject(filterMembers)
    .default({})
    .describe(
      'Which jobs; the members are those of `GET /api/jobs`. Null or absent members do not restrict.',
    ),
  reason,
  dryRun: z
    .boolean({ error: 'must be true or false' })
    .default(false)
    .describe('Whether the jobs are counted and nothing is changed.'),
});

const count = z.int().min(0);

const largeOperation = entity('Operation', {
  id: shown(z.guid(), 'Identifier.', JOB_ID),
  action: z.enum(OPERATION_ACTIONS).describe('Operation that each matching job goes through.'),
  state: z.enum(OPERATION_STATES).describe('State of the machine.'),
  filter: z
    .strictObject({
      status: z.array(z.enum(JOB_STATES)).describe('State of it.'),
      profile: shown(z.string().nullable(), 'Signature profile. Null: any.', 'contracts'),
      format: z.array(z.enum(JOB_FORMATS)).describe('Signature format.'),
      source: z.array(z.enum(JOB_SOURCES)).describe('How the file came in.'),
      folder: shown(z.string().nullable(), 'Input folder. Null: an upload.', 'invoices'),
      fileName: shown(z.string().nullable(), 'File name as the client or the folder had it.', 'contract.pdf'),
      errorCode: shown(
        z.string().nullable(),
        'Error that ended the job. Null: none, or any.',
        'pdf.malformed',
      ),
      parentJobId: shown(jobId.nullable(), 'Job of which this is a retry. Null: none.', JOB_ID),
      createdFrom: time.nullable().describe('Only jobs created at this time or later. Null: no bound.'),
      createdTo: time.describe('Only jobs created at this time or earlier. Null: no bound.'),
    })
    .describe(
      'Which jobs; the members are those of `GET /api/jobs`. Null or absent members do not restrict.',
    ),
  reason: shown(
    z.string().nullable(),
    'Why, as events and the history show it. Null: none was given.',
    'certificate change',
  ),
  matched: shown(count, 'Jobs that the filter found.', 12000),
  done: shown(count, 'Jobs on which the action was carried out so far.', 2560),
  skipped: shown(count, 'Jobs that could not be changed.', 3),
  skippedByCode: shown(z.record(z.string(), count), 'Jobs that could not be changed, by error code.', {
    'job.not-queued': 3,
  }),
  createdAt: time.describe('Time at which it was made, UTC.'),
  updatedAt: time.describe('Time of the last change, UTC.'),
  endedAt: time.nullable().describe('Time of the end. Null: not ended.'),
});

const operationCount = entity('OperationCount', {
  matched: shown(count, 'Jobs that the filter found.', 12000),
});

const operationParams = z.object({
  id: shown(z.string().max(64).toLowerCase(), 'Id of the operation.', OTHER_ID),
});

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

const operation = operationsOf({ group: 'System', unknown: 'operation.not-found' });

export const startOperation = operation('POST /api/operations', {
  summary: 'Retries, cancels or clears every job that matches a filter, or counts them.',
  description:
    'With `dryRun` the matching jobs are counted and nothing happens. Otherwise the operation acts on the jobs that match and were made before the call, oldest first, in batches; it goes on after a restart. `filter` takes the filters of `GET /api/jobs`, and `errorCode`; `status` is limited to what the action is possible for. Skipped jobs are counted by code. Four operations run at the same time.',
  rate: 'actions',
  body: newOperation,
  replies: { 200: operationCount, 202: largeOperation },
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
});

export const listOperations = operation('GET /api/operations', {
  summary: 'Lists large operations, newest first.',
  description: 'Ended operations are kept for 30 days. `pageSize` above 200 is lowered to 200.',
  query: z.object(paging),
  reply: pageOf(largeOperation).meta({ id: 'OperationList' }),
  examples: { reply: { items: [OPERATION], page: 1, pageSize: 50, totalCount: 1 } },
  refusals: ['validation.filter-invalid'],
});

export const readOperation = operation('GET /api/operations/{id}', {
  summary: 'Shows one large operation and its progress.',
  description: '`done` and `skipped` grow while the state is Running or Canceling.',
  params: operationParams,
  reply: largeOperation,
  examples: { reply: OPERATION },
  refusals: ['operation.not-found'],
});

export const cancelOperation = operation('POST /api/operations/{id}/cancel', {
  summary: 'Ends a large operation after the batch under way.',
  description: 'What was done stays done. The state is Canceling until the batch under way is counted.',
  rate: 'actions',
  params: operationParams,
  reply: largeOperation,
  examples: { reply: { ...OPERATION, state: 'Canceling' } },
  refusals: ['operation.not-found', 'operation.not-running', 'service.busy'],
});

export type OperationView = Value<typeof largeOperation>;
