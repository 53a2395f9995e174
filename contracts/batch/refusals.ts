/**
 * Error codes that the batch service returns or records, with their HTTP status and title. Codes are only ever added.
 * `status: null`: recorded on jobs and in logs, never an HTTP answer.
 *
 * Source: docs/batch-values.md §0; codes beyond it are marked with their source.
 */
export const REFUSALS = {
  'job.not-found': { status: 404, title: 'No job has this id.' },
  'job.not-queued': { status: 409, title: 'Only a queued or waiting job can be canceled.' },
  'job.race-lost': { status: 409, title: 'The worker took the job first.' },
  'job.not-failed': { status: 409, title: 'Only a failed job can be retried.' },
  'job.input-missing': { status: 409, title: 'The original input file is gone.' },
  'job.output-unavailable': { status: 404, title: 'The job has no output yet.' },
  'job.output-gone': { status: 404, title: 'The output file is no longer in the output folder.' },
  'job.already-processing': { status: 409, title: 'An active job already has this file.' },
  'job.path-too-long': { status: 400, title: 'The path of the stored file would be too long.' }, // docs/batch-values.md §3
  'job.input-not-removed': { status: null, title: 'The input of a completed job could not be removed.' },
  'job.input-diverged': { status: null, title: 'The input was rewritten while its job was running.' }, // docs/batch-values.md §7
  'upload.empty': { status: 400, title: 'The file part is missing or empty.' },
  'upload.too-large': { status: 413, title: 'The file is larger than this service accepts.' },
  'upload.invalid-name': { status: 400, title: 'The file part has no usable file name.' },
  'upload.too-many-files': { status: 400, title: 'The form has more files than this upload takes.' },
  'upload.format-unsupported': { status: 400, title: 'The format is not supported here.' },
  'validation.reason-too-long': { status: 400, title: 'The reason is too long.' },
  'validation.filter-invalid': { status: 400, title: 'A query filter is not recognised.' },
  'validation.body-invalid': { status: 400, title: 'The request body cannot be read.' }, // docs/batch-values.md §2
  'validation.encoding-unsupported': { status: 415, title: 'The request body is compressed.' }, // RFC 9110 §15.5.16
  'auth.misconfigured': { status: 401, title: 'The service has no API key configured.' },
  'auth.invalid-credentials': { status: 401, title: 'The credentials are missing, wrong or expired.' },
  'auth.cross-origin': { status: 403, title: 'The session may not be used from another site.' }, // docs/batch-values.md §10
  'auth.forbidden': { status: 403, title: 'The credentials do not permit this.' }, // ours, scopes and roles
  'key.not-found': { status: 404, title: 'No API key has this name.' }, // ours, /api/keys
  'key.exists': { status: 409, title: 'An API key has this name already.' }, // ours, /api/keys
  'key.limit-reached': { status: 409, title: 'There are too many API keys.' }, // ours, /api/keys
  'host.not-allowed': { status: 400, title: 'This service is not reached by this host name.' }, // `AllowedHosts`
  'folder.not-found': { status: 404, title: 'No input folder has this name.' },
  'profile.not-found': { status: 400, title: 'No signing profile has this name.' },
  'remote.document-rejected': {
    status: null,
    title: 'The remote document was refused, expired or canceled.',
  },
  'remote.timeout': { status: null, title: 'The remote document was not signed in time.' },
  'remote.unreachable': { status: null, title: 'The remote portal failed for good.' },
  'range.not-satisfiable': { status: 416, title: 'The range lies outside the file.' }, // RFC 9110 §15.5.17
  'actor.not-found': { status: 404, title: 'There is no such actor.' }, // ours, /api/actors
  'node.not-found': { status: 404, title: 'There is no such node.' }, // ours, /api/runtime
  'actor.not-stopped': { status: 409, title: 'Only a stopped actor can be restarted.' }, // ours, /api/actors
  'mail.not-found': { status: 404, title: 'No e-mail has this id.' }, // ours, /api/mails
  'mail.text-unavailable': { status: 404, title: 'The text of this e-mail cannot be read.' }, // ours, /api/mails
  'mail.already-sent': { status: 409, title: 'The e-mail was sent already.' }, // ours, /api/mails
  'operation.not-found': { status: 404, title: 'No operation has this id.' }, // ours, /api/operations
  'operation.not-running': { status: 409, title: 'Only a running operation can be canceled.' }, // ours, /api/operations
  'operation.limit-reached': { status: 409, title: 'Too many operations are running.' }, // ours, /api/operations
  'webhook.delivery-not-found': { status: 404, title: 'No webhook delivery has this id.' }, // ours, /api/webhooks
  'rate-limited': { status: 429, title: 'Too many requests.' },
  'route.not-found': { status: 404, title: 'Nothing is here.' }, // docs/batch-values.md §2
  'route.method-not-allowed': { status: 405, title: 'This path does not take this method.' }, // docs/batch-values.md §2
  'service.busy': { status: 503, title: 'The service is busy. Try again shortly.' }, // docs/architecture.md
  'idempotency.mismatch': {
    status: 422,
    title: 'The Idempotency-Key was used for another upload.',
  }, // docs/batch-values.md §15
  'storage.full': { status: 503, title: 'The service has no room on its disk. Try again later.' }, // docs/decisions/0047-held-pipeline.md
  internal: { status: 500, title: 'Something went wrong inside the service.' },
} as const satisfies Record<string, { readonly status: number | null; readonly title: string }>;

export type RefusalCode = keyof typeof REFUSALS;
