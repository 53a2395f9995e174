/**
 * `POST /api/files`.
 *
 * Source: docs/batch-values.md §0, §3.
 */
import type { Batch, UploadKey } from '../../actors/index.ts';
import { PASSWORD_HEADER, UPLOAD_KEY_HEADER, uploadFile } from '../../contracts/batch/files.ts';
import { JOB_FORMATS } from '../../contracts/batch/words.ts';
import type { JobFormat } from '../../machines/batch/job-context.ts';
import {
  brokenRule,
  PARAMETER_NAMES,
  type SigningParameters,
} from '../../machines/batch/signing-parameters.ts';
import { Refusal } from '../../machines/refusals.ts';
import { boundProfile } from '../core/access/permission.ts';
import type { AnyRoute } from '../core/router.ts';
import { handle } from './handle.ts';
import { namedOperator } from './operator.ts';
import { readUploadForm } from './upload-form.ts';

const MAX_UPLOAD_KEY_LENGTH = 255;
const FIELDS = ['format', 'profile', 'operation', ...PARAMETER_NAMES];
/** Maximum length of a password, characters; more has no effect in a PDF (ISO 32000-2 §7.6.4.3.3). */
const MAX_PASSWORD = 127;

const FORMATS = new Map<string, JobFormat>(JOB_FORMATS.map((format) => [format.toLowerCase(), format]));

export function fileRoutes(
  jobs: Batch['jobs'],
  limits: { readonly maxUploadBytes: number },
): readonly AnyRoute[] {
  return [
    handle(uploadFile, async ({ query, stream, header, identity }, answer) => {
      if (stream === undefined) throw new Error('The route reads its body as a stream.');
      const job = await jobs.uploads.receive({
        key: readUploadKey(header(UPLOAD_KEY_HEADER), identity?.operator ?? ''),
        by: namedOperator(identity),
        password: readPassword(header(PASSWORD_HEADER)),
        options: (fields) => ({
          format: parseFormat(query.format ?? fields.get('format')),
          profile: boundProfile(identity, blankIsNone(query.profile ?? fields.get('profile'))),
          operation: parseOperation(query.operation ?? fields.get('operation')),
          parameters: readParameters(fields),
        }),
        read: ({ several, open }) =>
          readUploadForm(stream, {
            contentType: header('content-type'),
            contentLength: header('content-length'),
            maxBytes: limits.maxUploadBytes,
            fields: FIELDS,
            several,
            open,
          }),
      });
      const ended = query.wait === undefined ? undefined : await jobs.whenEnded(job.id, query.wait * 1000);
      if (ended !== undefined) return answer(200, ended);
      // The same result for every upload with one key, in any state of the job.
      return answer(202, { jobId: job.id, ...job, status: 'Queued' });
    }),
  ];
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

/** Reads the parameters that the form sets in place of the profile; undefined for nothing. Refusals: `validation.body-invalid`. */
function readParameters(fields: ReadonlyMap<string, string>): SigningParameters | undefined {
  const given = PARAMETER_NAMES.flatMap((name) => {
    const text = blankIsNone(fields.get(name));
    if (text === undefined) return [];
    const rule = brokenRule(name, text);
    if (rule === undefined) return [[name, text] as const];
    throw new Refusal('validation.body-invalid', `${name} ${rule}`, { errors: { [name]: [rule] } });
  });
  return given.length === 0 ? undefined : Object.fromEntries(given);
}

/** Forms send a blank field as an empty value. */
function blankIsNone(text: string | undefined): string | undefined {
  const trimmed = text?.trim() ?? '';
  return trimmed === '' ? undefined : trimmed;
}
