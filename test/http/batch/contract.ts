/**
 * Endpoints and codes of docs/batch-values.md §0 document as test data, and the additions of this service.
 * Tests compare both lists with the program in both directions.
 */

/** `login`: anonymous. `metrics`: depends on `Metrics:RequireApiKey`. */
type Access = 'anonymous' | 'authorized' | 'metrics' | 'page';

export interface Endpoint {
  readonly name: string;
  readonly access: Access;
  readonly rate: 'none' | 'upload' | 'actions';
  /** Status of success. */
  readonly success: readonly number[];
  /** Codes named for this endpoint. */
  readonly codes: readonly string[];
}

// biome-ignore lint/complexity/useMaxParams: the columns of a table
const endpoint = (
  name: string,
  access: Access,
  rate: Endpoint['rate'],
  success: readonly number[],
  ...codes: string[]
): Endpoint => ({ name, access, rate, success, codes });

/** The endpoint tables of the document, row by row. */
export const DOCUMENTED: readonly Endpoint[] = [
  endpoint('POST /api/auth/login', 'anonymous', 'none', [302], 'auth.invalid-credentials'),
  endpoint('POST /api/auth/logout', 'anonymous', 'none', [302]),
  endpoint(
    'POST /api/files',
    'authorized',
    'upload',
    // 200 only with `wait`, which is not the document's.
    [200, 202],
    'upload.empty',
    'upload.too-large',
    'upload.invalid-name',
    'upload.too-many-files',
    'upload.format-unsupported',
    'profile.not-found',
    'job.already-processing',
  ),
  endpoint('GET /api/jobs', 'authorized', 'none', [200], 'validation.filter-invalid'),
  endpoint('GET /api/jobs/{id}', 'authorized', 'none', [200], 'job.not-found'),
  endpoint(
    'GET /api/jobs/{id}/output',
    'authorized',
    'none',
    [200],
    'job.not-found',
    'job.output-unavailable',
    'job.output-gone',
  ),
  endpoint(
    'POST /api/jobs/{id}/retry',
    'authorized',
    'actions',
    [200],
    'job.not-found',
    'job.not-failed',
    'job.input-missing',
  ),
  endpoint(
    'POST /api/jobs/{id}/cancel',
    'authorized',
    'actions',
    [200],
    'job.not-found',
    'job.not-queued',
    'job.race-lost',
    'validation.reason-too-long',
  ),
  endpoint('GET /api/pipeline/state', 'authorized', 'actions', [200]),
  endpoint('POST /api/pipeline/pause', 'authorized', 'actions', [200], 'validation.reason-too-long'),
  endpoint('POST /api/pipeline/resume', 'authorized', 'actions', [200]),
  endpoint('POST /api/rescan', 'authorized', 'actions', [200], 'folder.not-found'),
  endpoint('POST /api/cleanup', 'authorized', 'actions', [200]),
  endpoint('GET /api/health', 'anonymous', 'none', [200]),
  endpoint('GET /api/ready', 'anonymous', 'none', [200, 503]),
  endpoint('GET /api/folders', 'authorized', 'none', [200]),
  endpoint('GET /api/metrics', 'metrics', 'none', [200]),
  endpoint('GET /api/whoami', 'authorized', 'none', [200]),
  endpoint('GET /login', 'anonymous', 'none', [200]),
  endpoint('GET /scalar/v1', 'page', 'none', [200]),
];

/** Sign-in at identity providers: without credentials, as every login. Source: docs/decisions/0276-single-sign-on.md. */
export const PROVIDER_LOGIN: readonly string[] = [
  'GET /login/{name}',
  'GET /login/{name}/callback',
  'GET /login/{name}/metadata',
  'POST /login/{name}/acs',
  'POST /login/{name}/logout',
];

/** Paths beyond the document. Source: docs/batch-values.md §2, §10 (operator pages), §§14 and 15. */
export const ADDED: readonly RegExp[] = [
  /^(?:GET \/validate|POST \/api\/validate)$/,
  /^(GET|POST) \/api\/(actors|runtime)\b/,
  /^GET \/openapi\/v1\.json$/,
  /^GET \/api\/events$/,
  /^GET \/api\/profiles$/,
  /^GET \/api\/statistics$/,
  /^GET \/api\/runtime$/,
  /^GET \/api\/mails(?:\/\{id\}(?:\/(?:text|html))?)?$/,
  /^POST \/api\/mails\/(?:\{id\}\/)?resend$/,
  /^POST \/api\/jobs\/(?:retry|cancel)$/,
  /^DELETE \/api\/jobs$/,
  /^(?:GET|POST) \/api\/operations(?:\/\{id\}(?:\/cancel)?)?$/,
  /^(?:GET|POST) \/api\/webhooks\/(?:deliveries(?:\/\{id\}\/resend)?|replay)$/,
  /^(?:GET|POST) \/api\/webhooks\/portal(?:\/\{organizationId\}\/deliveries(?:\/\{id\}\/resend)?)?$/,
  /^GET \/api\/portal\/(?:keys|activity)$/,
  /^(?:(?:GET|POST) \/api\/keys|POST \/api\/keys\/\{name\}\/(?:rotate|revoke))$/,
  /^GET \/api\/(?:actor-kinds\/\{kind\}|changes|failures|statistics\/series)$/,
  /^GET \/(?:jobs|jobs\/\{id\}|input|mails|system)?$/,
  /^GET \/(?:actors|actors\/\{kind\}\/\{id\}|certificates|components|documents|failures|keys|runtime|webhooks)$/,
  /^GET \/assets\/\{name\}$/,
  /^GET \/favicon\.ico$/,
  /^(?:GET \/login\/\{name\}(?:\/callback|\/metadata)?|POST \/login\/\{name\}\/(?:acs|logout))$/,
];

/** The error table of the document: status, or null where a code is only recorded. */
export const CODES: { readonly [code: string]: number | null } = {
  'job.not-found': 404,
  'job.not-queued': 409,
  'job.race-lost': 409,
  'job.not-failed': 409,
  'job.input-missing': 409,
  'job.output-unavailable': 404,
  'job.output-gone': 404,
  'job.already-processing': 409,
  'upload.empty': 400,
  'upload.too-large': 413,
  'upload.invalid-name': 400,
  'upload.too-many-files': 400,
  'upload.format-unsupported': 400,
  'validation.reason-too-long': 400,
  'validation.filter-invalid': 400,
  'auth.misconfigured': 401,
  'auth.invalid-credentials': 401,
  'folder.not-found': 404,
  'profile.not-found': 400,
  'remote.document-rejected': null,
  'remote.timeout': null,
  'remote.unreachable': null,
  'rate-limited': 429,
  internal: 500,
};

/** Codes beyond the document's, with where they come from. Codes are only ever added. */
export const ADDED_CODES: { readonly [code: string]: number | null } = {
  'job.path-too-long': 400, // docs/batch-values.md §3
  'job.input-not-removed': null, // docs/decisions/0162-files-still-written.md
  'job.input-diverged': null, // docs/batch-values.md §7
  'validation.body-invalid': 400, // docs/batch-values.md §2
  'validation.encoding-unsupported': 415, // RFC 9110 §15.5.16
  'auth.cross-origin': 403, // docs/batch-values.md §10
  'auth.forbidden': 403, // ours, scopes and roles
  'key.not-found': 404, // ours, /api/keys
  'key.exists': 409, // ours, /api/keys
  'key.limit-reached': 409, // ours, /api/keys
  'actor.not-found': 404, // ours, /api/actors
  'node.not-found': 404, // ours, /api/runtime
  'actor.not-stopped': 409, // ours, /api/actors
  'mail.not-found': 404, // ours, /api/mails
  'mail.text-unavailable': 404, // ours, /api/mails
  'mail.already-sent': 409, // ours, /api/mails
  'operation.not-found': 404, // ours, /api/operations
  'operation.not-running': 409, // ours, /api/operations
  'operation.limit-reached': 409, // ours, /api/operations
  'webhook.delivery-not-found': 404, // ours, /api/webhooks
  'host.not-allowed': 400, // docs/batch-values.md §5, AllowedHosts
  'range.not-satisfiable': 416, // docs/batch-values.md §3, single ranges; RFC 9110
  'route.not-found': 404, // docs/batch-values.md §2
  'route.method-not-allowed': 405, // docs/batch-values.md §2
  'idempotency.mismatch': 422, // docs/batch-values.md §15
  'storage.full': 503, // docs/decisions/0047-held-pipeline.md
  'service.busy': 503, // docs/batch-values.md §2 (503); architecture
};

/** Codes sent before a route runs, or by its policies; routes send the rest. */
export const PLATFORM_CODES: readonly string[] = [
  'auth.misconfigured',
  'auth.invalid-credentials',
  'auth.forbidden',
  'auth.cross-origin',
  'validation.encoding-unsupported',
  'host.not-allowed',
  'rate-limited',
  'range.not-satisfiable',
  'route.not-found',
  'route.method-not-allowed',
  'storage.full',
  'service.busy',
  'internal',
];
