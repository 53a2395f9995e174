/** Uploads. Source: docs/batch-values.md §0, §3. */
import { z } from 'zod';
import { entity, shown } from '../fields.ts';
import { JOB_ID } from './examples.ts';
import { JOB_DETAIL_EXAMPLE, JOB_EXAMPLE, jobDetail, jobId, jobMembers } from './jobs.ts';
import { operation } from './operation.ts';
import { single } from './requests.ts';
import { JOB_FORMATS } from './words.ts';

/** Maximum length of a field of the form, bytes. */
export const FIELD_BYTES = 1024;
/** Header with the percent-encoded password of a PDF. */
export const PASSWORD_HEADER = 'x-document-password';
export const UPLOAD_KEY_HEADER = 'idempotency-key';
/** Maximum waiting time of a request, seconds. */
const MAX_WAIT = 60;

const seconds = single
  .max(3)
  .transform((text, context) => {
    const given = /^\d{1,2}$/.test(text) ? Number(text) : 0;
    if (given >= 1 && given <= MAX_WAIT) return given;
    context.addIssue({ code: 'custom', message: `must be a number of seconds from 1 to ${MAX_WAIT}` });
    return z.NEVER;
  })
  .meta({ openapi: { type: 'integer', minimum: 1, maximum: MAX_WAIT } });

/** A member of the profile that `Overrides` may leave to the upload. */
function parameter(name: string, says: string, example: string) {
  return shown(
    single.max(FIELD_BYTES).optional(),
    `${says}, where the profile's \`Overrides\` list \`${name}\`.`,
    example,
  );
}

/** The handler reads the parts; this schema says which it takes. Parts that are members of the query stand there alone. */
const uploadForm = z.object({
  file: z
    .file()
    .describe(
      'The file; the first part that has a file name. With a profile of `Container: AsicE` all parts called `file` go into one container.',
    ),
  reason: parameter('Reason', 'Reason of a PDF signature', 'Approved'),
  location: parameter('Location', 'Place of a PDF signature', 'Lisboa'),
  contactInfo: parameter('ContactInfo', 'Contact information of the signer in a PDF', 'accounts@example.org'),
  fieldName: parameter('FieldName', 'Field of the PDF that is signed, or made', 'Approval'),
  certification: parameter('Certification', 'Changes that a certified PDF permits: 1, 2 or 3', '2'),
  page: parameter('Page', 'Page of the visible signature, or `last`', 'last'),
  left: parameter('Left', 'Its distance from the left: points, or a part of the page', '50%'),
  top: parameter('Top', 'Its distance from the top', '700'),
  width: parameter('Width', 'Its width', '200'),
  height: parameter('Height', 'Its height', '60'),
  lines: parameter('Lines', 'Its lines, with the placeholders of the profile', 'Signed by {signer}'),
  elementId: parameter('ElementId', 'Id of the XML element that is signed', 'invoice-7'),
  place: parameter(
    'Place',
    'Path of the XML element that receives the signature of the whole document',
    '//ext:ExtensionContent',
  ),
  rsaPadding: parameter('RsaPadding', 'Padding of RSA signatures: `Pkcs1` or `Pss`', 'Pss'),
  coSign: parameter('CoSign', 'Whether a signed CMS, XML or ASiC file gets another signature', 'true'),
});

const accepted = entity('UploadAccepted', {
  jobId: shown(jobId, 'Job this is about. Null: none.', JOB_ID),
  fileName: jobMembers.fileName,
  originalPath: jobMembers.originalPath,
  format: jobMembers.format,
  status: z.literal('Queued').describe('State of it.'),
});

export const uploadFile = operation('POST /api/files', {
  group: 'Files',
  summary: 'Takes one file and queues it for signing.',
  description:
    'With `wait` the answer is 200 with the job when that has ended within so many seconds (at most 60), else 202 as without it. A form with one part `file`. `format`, `profile` and `operation` may be fields of the form or members of the query, which win. Further fields set what the `Overrides` of the profile list, and are refused otherwise. The file is stored under a name of its own below `input/`; `fileName` keeps the one it was sent with. With an `Idempotency-Key` (at most 24 hours old) the same upload sent again is answered with the job of the first; another one under the same key (content, file name, format, profile, operation or another field differs) is refused with 422 `idempotency.mismatch`.',
  rate: 'upload',
  bodyPolicy: 'stream',
  headers: ['content-type', 'content-length', UPLOAD_KEY_HEADER, PASSWORD_HEADER],
  query: z.object({
    wait: seconds
      .optional()
      .describe('Seconds to wait for the end of the job. Absent: the answer comes at once.'),
    format: single.optional().meta({
      description:
        'Signature format, without regard to case. Absent: that of the profile, else by the extension `.pdf` or `.xml`, else by the content.',
      openapi: { type: 'string', enum: JOB_FORMATS },
    }),
    profile: shown(
      single.optional(),
      'Profile that signs the file. Absent: the default profile.',
      'contracts',
    ),
    operation: single.optional().meta({
      description:
        '`Extend`: the file is signed already and is raised to the level of the profile. Without regard to case. Absent: `Sign`.',
      openapi: { type: 'string', enum: ['Sign', 'Extend'] },
    }),
  }),
  body: uploadForm,
  replies: { 200: jobDetail, 202: accepted },
  examples: {
    responses: {
      200: JOB_DETAIL_EXAMPLE,
      202: {
        jobId: JOB_ID,
        fileName: 'contract.pdf',
        originalPath: JOB_EXAMPLE.originalPath,
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
});
