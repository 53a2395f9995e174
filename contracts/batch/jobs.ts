/** Jobs. Source: docs/batch-values.md §0, §3 and §4. */
import { z } from 'zod';
import { entity, parts, shown, time } from '../fields.ts';
import { fileWarnings } from '../file-warnings.ts';
import type { Value } from '../operation.ts';
import { AT, JOB_ID, OTHER_ID } from './examples.ts';
import { operationsOf } from './operation.ts';
import { anyOf, moment, pageOf, paging, queryFlag, reasonBody, sharedVersion, single } from './requests.ts';
import { JOB_FORMATS, JOB_SOURCES, JOB_STATES } from './words.ts';

const SHA256 = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08';
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

export const jobId = z.guid().brand<'JobId'>();
/** The id of a job in a request. */
const givenJobId = single
  .toLowerCase()
  .refine((text) => UUID.test(text), { error: 'must be the id of a job' })
  .brand<'JobId'>()
  .meta({ openapi: { type: 'string', format: 'uuid' }, exampleValue: JOB_ID });
export const profileName = z.string().brand<'ProfileName'>();
export const folderName = z.string().brand<'FolderName'>();

export const jobMembers = {
  id: shown(jobId, 'Identifier.', JOB_ID),
  fileName: shown(z.string(), 'File name as the client or the folder had it.', 'contract.pdf'),
  originalPath: shown(
    z.string(),
    'Path of the original on the server, or its place in the object store.',
    '/var/lib/batch/input/contract.pdf',
  ),
  format: z.enum(JOB_FORMATS).describe('Signature format.'),
  source: z.enum(JOB_SOURCES).describe('How the file came in.'),
  status: z.enum(JOB_STATES).describe('State of it.'),
  createdAt: time.describe('Time at which it was made, UTC.'),
  updatedAt: time.describe('Time of the last change, UTC.'),
  parentJobId: shown(jobId.nullable(), 'Job of which this is a retry. Null: none.', JOB_ID),
  errorMessage: shown(
    z.string().nullable(),
    'What ended the job, for people. Null: no error.',
    'The PDF has no header.',
  ),
  errorCode: shown(z.string().nullable(), 'Error that ended the job. Null: none, or any.', 'pdf.malformed'),
  profileName: shown(profileName, 'Signature profile of the job.', 'contracts'),
  folder: shown(folderName.nullable(), 'Input folder. Null: an upload.', 'invoices'),
  outputEncrypted: z.boolean().describe('Whether the published file is encrypted for its recipients.'),
  sizeBytes: shown(z.int().nullable(), 'Length of the original as last seen. Null: not known.', 48_213),
};

/** One job as lists show it. */
const job = entity('Job', jobMembers);
export type JobView = Value<typeof job>;

/** Members that only one job alone has. */
const detailMembers = {
  remoteDocumentId: shown(
    z.string().nullable(),
    'Id of the document on the remote portal. Null: signed here.',
    JOB_ID,
  ),
  awaitingSignerSince: time
    .nullable()
    .describe('Time from which the job waits for a person on the remote portal. Null: it does not.'),
  queuedAt: time.describe('Time from which the job waited to be claimed.'),
  inputSha256: shown(
    z.string().nullable(),
    'SHA-256 of the original, lower-case hex. Null: not yet read.',
    '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  ),
  outputSha256: shown(
    z.string().nullable(),
    'SHA-256 of the output, lower-case hex. Null: none yet.',
    '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  ),
  outputFileName: shown(
    z.string().nullable(),
    'File name of the output. Null: none yet.',
    'contract.signed.pdf',
  ),
  warnings: fileWarnings,
  history: parts('One entry for each transition, oldest first.', {
    id: shown(z.int(), 'Number of the entry, from 1.', 1),
    timestamp: time.describe('Time of the event, UTC.'),
    status: z.enum(JOB_STATES).describe('State of it.'),
    message: shown(z.string(), 'What happened, for people. The text may change.', 'Verified and published.'),
    actor: shown(
      z.string().optional(),
      'Operator who did it, where it was not the holder of `Auth:ApiKey`.',
      'key:billing',
    ),
  }),
};

export const jobDetail = entity('JobWithHistory', { ...jobMembers, ...detailMembers });
export type JobDetail = Value<typeof jobDetail>;

const filter = {
  status: anyOf(JOB_STATES)
    .default([])
    .describe('Any of these: repeated, or separated by commas; without regard to case.'),
  profile: shown(single.optional(), 'Only jobs of this profile.', 'contracts'),
  format: anyOf(JOB_FORMATS)
    .default([])
    .describe('Any of these: repeated, or separated by commas; without regard to case.'),
  source: anyOf(JOB_SOURCES)
    .default([])
    .describe('Any of these: repeated, or separated by commas; without regard to case.'),
  folder: shown(single.optional(), 'Name of an input folder, or `(upload)`. Absent: all.', 'invoices'),
  fileName: shown(
    single.optional(),
    'Text that the file name must contain. Neither case nor accents count.',
    'contract',
  ),
  createdFrom: moment.optional().describe('Only jobs created at this time or later, ISO 8601.'),
  createdTo: moment.optional().describe('Only jobs created at this time or earlier, ISO 8601.'),
  parentJobId: givenJobId.optional().describe('Only retries of this job.'),
};

export const jobFilter = z.object(filter);

const retried = entity('Retry', {
  newJobId: shown(jobId, 'The new job. Null: none was made.', OTHER_ID),
  parentJobId: shown(jobId, 'Job of which this is a retry. Null: none.', JOB_ID),
  status: z.literal('Queued').describe('State of it.'),
});

const canceled = entity('Cancellation', {
  jobId: shown(jobId, 'Job this is about. Null: none.', JOB_ID),
  status: z.literal('Canceled').describe('State of it.'),
});

/** As text, because a malformed id is an unknown job. */
export const jobParams = z.object({
  id: shown(z.string().toLowerCase(), 'Id of the job.', JOB_ID),
});

export const JOB_EXAMPLE = {
  id: JOB_ID,
  fileName: 'contract.pdf',
  originalPath: '/var/lib/batch/input/2b1c7d8e-0f3a-4b5c-9d6e-7f8091a2b3c4.pdf',
  format: 'Pades',
  source: 'Upload',
  status: 'Completed',
  createdAt: '2026-05-26T15:42:10.900Z',
  updatedAt: AT,
  parentJobId: null,
  errorMessage: null,
  errorCode: null,
  profileName: 'contracts',
  folder: null,
  outputEncrypted: false,
  sizeBytes: 48_213,
};

export const JOB_DETAIL_EXAMPLE = {
  ...JOB_EXAMPLE,
  remoteDocumentId: null,
  awaitingSignerSince: null,
  queuedAt: JOB_EXAMPLE.createdAt,
  inputSha256: SHA256,
  outputSha256: SHA256,
  outputFileName: 'contract.signed.pdf',
  warnings: [
    {
      code: 'pdf.look-differs',
      object: 'total',
      message: 'The field total shows something else than its value.',
    },
  ],
  history: [
    { id: 1, timestamp: JOB_EXAMPLE.createdAt, status: 'Queued', message: 'Uploaded.' },
    { id: 2, timestamp: '2026-05-26T15:42:10.950Z', status: 'Processing', message: 'Claimed by worker.' },
    { id: 3, timestamp: '2026-05-26T15:42:11.020Z', status: 'Verifying', message: 'Signed.' },
    { id: 4, timestamp: AT, status: 'Completed', message: 'Verified and published.' },
  ],
};

const operation = operationsOf({ group: 'Jobs', unknown: 'job.not-found' });

export const listJobs = operation('GET /api/jobs', {
  summary: 'Lists jobs, newest first.',
  description:
    'Newest first; `totalCount` is exact. `status`, `format` and `source` may be repeated or separated by commas. `folder` is the name of an input folder or `(upload)`. `pageSize` above 200 is lowered to 200.',
  query: z.object({ ...filter, ...paging, version: sharedVersion }),
  reply: pageOf(job).meta({ id: 'JobList' }),
  examples: { reply: { items: [JOB_EXAMPLE], page: 1, pageSize: 50, totalCount: 1 } },
  refusals: ['validation.filter-invalid'],
});

export const readJob = operation('GET /api/jobs/{id}', {
  summary: 'Shows one job with its history.',
  description: 'The history has one entry for each transition, oldest first.',
  params: jobParams,
  reply: jobDetail,
  examples: { reply: JOB_DETAIL_EXAMPLE },
  refusals: ['job.not-found'],
});

export const readOutput = operation('GET /api/jobs/{id}/output', {
  summary: 'Sends the signed file, whole or one range of it.',
  description:
    'As an attachment with its name. The `ETag` is the SHA-256 of the file. One range may be asked for; several are answered with the whole file.',
  headers: ['range', 'if-range', 'if-none-match'],
  query: z.object({
    redirect: queryFlag
      .optional()
      .describe(
        'With `Storage:Objects:S3:PresignDownloads`, GET is answered with an address in the bucket, valid for a minute. Send it no key: programs that follow redirects may repeat headers.',
      ),
  }),
  params: jobParams,
  replies: { 200: 'file', 206: 'file', 302: 'empty' },
  refusals: ['job.not-found', 'job.output-unavailable', 'job.output-gone'],
});

export const cancelJob = operation('POST /api/jobs/{id}/cancel', {
  summary: 'Cancels a job that is queued or waits for its signer.',
  description:
    'Only a job that is Queued or AwaitingSigner can be canceled. Its input file stays in place, and the watcher does not enqueue it again. For a waiting job the service then notifies the remote portal; the job stays canceled when the portal cannot be reached.',
  rate: 'actions',
  params: jobParams,
  body: reasonBody,
  reply: canceled,
  examples: {
    request: { reason: 'sent twice' },
  },
  refusals: [
    'job.not-found',
    'job.not-queued',
    'job.race-lost',
    'validation.reason-too-long',
    'validation.body-invalid',
    'service.busy',
  ],
});

export const retryJob = operation('POST /api/jobs/{id}/retry', {
  summary: 'Makes a new job of a failed one.',
  description:
    'The failed job stays Failed; the new one names it as its parent. The original input must still be there, and no active job may have it.',
  rate: 'actions',
  params: jobParams,
  reply: retried,
  refusals: [
    'job.not-found',
    'job.not-failed',
    'job.input-missing',
    'job.already-processing',
    'profile.not-found',
    'service.busy',
  ],
});
