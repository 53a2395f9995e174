/**
 * `POST /api/files`.
 *
 * Source: Batch Signing Service API, "Files"; batch-gaps §3.
 */
import type { Jobs, JobView, UploadKey } from '../../actors/api.ts';
import type { JobFormat } from '../../machines/job-context.ts';
import { Refusal } from '../../machines/refusals.ts';
import { json } from '../reply.ts';
import { type AnyRoute, route } from '../router.ts';
import { readUpload } from '../upload.ts';
import { noParams, uploadForm, uploadQuery } from './queries.ts';
import { jobFormat, uploadAcceptedShape } from './shapes.ts';

const UPLOAD_KEY_HEADER = 'idempotency-key';
const LONGEST_UPLOAD_KEY = 255;

const FORMATS = new Map<string, JobFormat>(jobFormat.options.map((format) => [format.toLowerCase(), format]));

export function fileRoutes(jobs: Jobs, limits: { readonly maxUploadBytes: number }): readonly AnyRoute[] {
  return [
    route({
      method: 'POST',
      path: '/api/files',
      summary: 'Takes one file and queues it for signing.',
      auth: 'operator',
      rate: 'upload',
      bodyPolicy: 'stream',
      headers: ['content-type', 'content-length', UPLOAD_KEY_HEADER],
      params: noParams,
      query: uploadQuery,
      body: uploadForm,
      unfit: {
        params: 'route.not-found',
        query: 'validation.filter-invalid',
        body: 'validation.body-invalid',
      },
      responses: { 202: uploadAcceptedShape },
      refusals: [
        'upload.empty',
        'upload.too-large',
        'upload.invalid-name',
        'upload.format-unsupported',
        'validation.body-invalid',
        'validation.filter-invalid',
        'profile.not-found',
        'job.path-too-long',
        'job.already-processing',
        'service.busy',
      ],
      async handle({ query, stream, header, identity }) {
        if (stream === undefined) throw new Error('The route reads its body as a stream.');
        const key = readUploadKey(header(UPLOAD_KEY_HEADER), identity?.operator ?? '');
        const known = key && (await jobs.uploadedAs(key));
        if (known) return acceptedReply(known);
        const plan = (fileName: string, fields: ReadonlyMap<string, string>) =>
          jobs.plan({
            fileName,
            format: parseFormat(query.format ?? fields.get('format')),
            profile: blankIsNone(query.profile ?? fields.get('profile')),
          });
        const upload = await readUpload(stream, {
          contentType: header('content-type'),
          contentLength: header('content-length'),
          maxBytes: limits.maxUploadBytes,
          fields: ['format', 'profile'],
          open: (fileName, fields) => {
            // What is known already is judged before the file is sent; fields behind it are judged below.
            plan(fileName, fields);
            return jobs.openUpload(fileName);
          },
        });
        try {
          const planned = plan(upload.fileName, upload.fields);
          const job = await jobs.acceptUpload(upload.sink, { fileName: upload.fileName, ...planned, key });
          return acceptedReply(job);
        } catch (error) {
          await upload.sink.abort();
          throw error;
        }
      },
    }),
  ];
}

/** The same for every upload under one key, whatever has become of the job since. */
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
 * The client's own word for the upload, bound to who sent it; undefined when it sent none.
 * Refusals: `validation.body-invalid`. Source: batch-gaps §15, "Idempotent upload".
 */
function readUploadKey(key: string, caller: string): UploadKey | undefined {
  if (key === '') return undefined;
  if (key.length <= LONGEST_UPLOAD_KEY && !/\p{Cc}/u.test(key)) return { caller, key };
  const rule = `must be at most ${LONGEST_UPLOAD_KEY} characters, none of them a control character`;
  throw new Refusal('validation.body-invalid', `Idempotency-Key ${rule}`, {
    errors: { 'Idempotency-Key': [rule] },
  });
}

/** The format a request names, without regard to case; undefined when it names none. */
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

/** Forms send a field that was left blank as an empty value. */
function blankIsNone(text: string | undefined): string | undefined {
  const trimmed = text?.trim() ?? '';
  return trimmed === '' ? undefined : trimmed;
}
