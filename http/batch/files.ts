/**
 * `POST /api/files`.
 *
 * Source: docs/batch-values.md §0, §3.
 */
import type { Jobs, JobView, UploadKey } from '../../actors/batch/api/jobs.ts';
import type { JobFormat } from '../../machines/batch/job-context.ts';
import { Refusal } from '../../machines/refusals.ts';
import { json } from '../core/reply.ts';
import { type AnyRoute, route } from '../core/router.ts';
import { JOB_BODY, JOB_DETAIL, JOB_ID } from './description/example-values.ts';
import { noParams, uploadForm, uploadQuery } from './queries.ts';
import { jobDetailBody, jobDetailShape, jobFormat, uploadAcceptedShape } from './shapes.ts';
import { readUploadForm } from './upload-form.ts';

const UPLOAD_KEY_HEADER = 'idempotency-key';
const MAX_UPLOAD_KEY_LENGTH = 255;
export const PASSWORD_HEADER = 'x-document-password';
/** Maximum length of a password, characters; more has no effect in a PDF (ISO 32000-2 §7.6.4.3.3). */
const MAX_PASSWORD = 127;

const FORMATS = new Map<string, JobFormat>(jobFormat.options.map((format) => [format.toLowerCase(), format]));

export function fileRoutes(jobs: Jobs, limits: { readonly maxUploadBytes: number }): readonly AnyRoute[] {
  return [
    route({
      method: 'POST',
      path: '/api/files',
      group: 'Files',
      summary: 'Takes one file and queues it for signing.',
      description:
        'With `wait` the answer is 200 with the job when that has ended within so many seconds (at most 60), else 202 as without it. A form with one part `file`. `format`, `profile` and `operation` may be fields of the form or members of the query, which win. The file is stored under a name of its own below `input/`; `fileName` keeps the one it was sent with. With an `Idempotency-Key` (at most 24 hours old) the same upload sent again is answered with the job of the first; another one under the same key (content, file name, format, profile or operation differ) is refused with 422 `idempotency.mismatch`.',
      auth: 'operator',
      rate: 'upload',
      bodyPolicy: 'stream',
      headers: ['content-type', 'content-length', UPLOAD_KEY_HEADER, PASSWORD_HEADER],
      params: noParams,
      query: uploadQuery,
      body: uploadForm,
      invalidInput: {
        params: 'route.not-found',
        query: 'validation.filter-invalid',
        body: 'validation.body-invalid',
      },
      responses: { 200: jobDetailShape, 202: uploadAcceptedShape },
      examples: {
        responses: {
          200: JOB_DETAIL,
          202: {
            jobId: JOB_ID,
            fileName: 'contract.pdf',
            originalPath: JOB_BODY.originalPath,
            format: 'Pades',
            status: 'Queued',
          },
        },
      },
      refusals: [
        'upload.empty',
        'upload.too-large',
        'upload.invalid-name',
        'upload.too-many-files',
        'upload.format-unsupported',
        'validation.body-invalid',
        'validation.filter-invalid',
        'profile.not-found',
        'job.path-too-long',
        'job.already-processing',
        'idempotency.mismatch',
        'service.busy',
      ],
      async handle({ query, stream, header, identity }) {
        if (stream === undefined) throw new Error('The route reads its body as a stream.');
        const job = await jobs.receive({
          key: readUploadKey(header(UPLOAD_KEY_HEADER), identity?.operator ?? ''),
          password: readPassword(header(PASSWORD_HEADER)),
          options: (fields) => ({
            format: parseFormat(query.format ?? fields.get('format')),
            profile: blankIsNone(query.profile ?? fields.get('profile')),
            operation: parseOperation(query.operation ?? fields.get('operation')),
          }),
          read: (rules) =>
            readUploadForm(stream, {
              contentType: header('content-type'),
              contentLength: header('content-length'),
              maxBytes: limits.maxUploadBytes,
              fields: ['format', 'profile', 'operation'],
              ...rules,
            }),
        });
        return uploadReply(jobs, job, query.wait);
      },
    }),
  ];
}

/** Returns the job when the client waits for its end and it ends in time; otherwise the acceptance of the upload. */
async function uploadReply(jobs: Jobs, job: JobView, seconds: number | undefined) {
  const ended = seconds === undefined ? undefined : await jobs.whenEnded(job.id, seconds * 1000);
  return ended === undefined ? acceptedReply(job) : json(200, jobDetailBody(ended));
}

/** Returns the same result for every upload with one key, in any state of the job. */
function acceptedReply(job: JobView) {
  return json(202, {
    jobId: job.id,
    fileName: job.fileName,
    originalPath: job.originalPath,
    format: job.format,
    status: 'Queued',
  });
}

/**
 * Returns the client's idempotency key of the upload, bound to its identity; undefined when absent.
 * Refusals: `validation.body-invalid`. Source: docs/batch-values.md §15.
 */
function readUploadKey(key: string, caller: string): UploadKey | undefined {
  if (key === '') return undefined;
  if (key.length <= MAX_UPLOAD_KEY_LENGTH && !/\p{Cc}/u.test(key)) return { caller, key };
  const rule = `must be at most ${MAX_UPLOAD_KEY_LENGTH} characters, none of them a control character`;
  throw new Refusal('validation.body-invalid', `Idempotency-Key ${rule}`, {
    errors: { 'Idempotency-Key': [rule] },
  });
}

/**
 * The password of an encrypted PDF, percent-encoded UTF-8; undefined when absent. Never part of a message.
 * Refusals: `validation.body-invalid`.
 */
export function readPassword(encoded: string): string | undefined {
  if (encoded === '') return undefined;
  try {
    const password = decodeURIComponent(encoded);
    if (password.length <= MAX_PASSWORD) return password;
  } catch {
    // Refused below.
  }
  throw invalidPassword(
    'X-Document-Password',
    `must be percent-encoded UTF-8 of at most ${MAX_PASSWORD} characters`,
  );
}

/**
 * The password that people type into the form of the page `/validate`; undefined when absent. Never part of a message.
 * Refusals: `validation.body-invalid`.
 */
export function readTypedPassword(text: string | undefined): string | undefined {
  if (text === undefined || text === '') return undefined;
  if (text.length <= MAX_PASSWORD) return text;
  throw invalidPassword('password', `must have at most ${MAX_PASSWORD} characters`);
}

function invalidPassword(name: string, rule: string): Refusal {
  return new Refusal('validation.body-invalid', `${name} ${rule}`, { errors: { [name]: [rule] } });
}

/** The requested format, without regard to case; undefined when absent. */
function parseFormat(text: string | undefined): JobFormat | undefined {
  const name = blankIsNone(text);
  if (name === undefined) return undefined;
  const format = FORMATS.get(name.toLowerCase());
  if (format === undefined) {
    throw new Refusal('upload.format-unsupported', `The format ${JSON.stringify(name)} is not known.`, {
      errors: { format: ['must be Pades, Cades or Xades'] },
    });
  }
  return format;
}

/** `Extend`, without regard to case; undefined for `Sign` and when absent. Refusals: `validation.body-invalid`. */
function parseOperation(text: string | undefined): 'Extend' | undefined {
  const name = blankIsNone(text)?.toLowerCase();
  if (name === undefined || name === 'sign') return undefined;
  if (name === 'extend') return 'Extend';
  throw new Refusal('validation.body-invalid', 'The operation is not known.', {
    errors: { operation: ['must be Sign or Extend'] },
  });
}

/** Forms send a blank field as an empty value. */
function blankIsNone(text: string | undefined): string | undefined {
  const trimmed = text?.trim() ?? '';
  return trimmed === '' ? undefined : trimmed;
}
