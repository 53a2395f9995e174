/**
 * Problem bodies: every error reply of the service.
 *
 * Source: RFC 9457; docs/batch-values.md §0, §2.
 */
import { REFUSALS, type RefusalCode } from '../../contracts/batch/refusals.ts';
import type { Refusal } from '../../machines/refusals.ts';

/** Section of the HTTP standards that defines each status. */
const TYPES: { readonly [status: number]: string } = {
  400: 'https://tools.ietf.org/html/rfc9110#section-15.5.1',
  401: 'https://tools.ietf.org/html/rfc9110#section-15.5.2',
  403: 'https://tools.ietf.org/html/rfc9110#section-15.5.4',
  404: 'https://tools.ietf.org/html/rfc9110#section-15.5.5',
  405: 'https://tools.ietf.org/html/rfc9110#section-15.5.6',
  409: 'https://tools.ietf.org/html/rfc9110#section-15.5.10',
  413: 'https://tools.ietf.org/html/rfc9110#section-15.5.14',
  415: 'https://tools.ietf.org/html/rfc9110#section-15.5.16',
  416: 'https://tools.ietf.org/html/rfc9110#section-15.5.17',
  422: 'https://tools.ietf.org/html/rfc9110#section-15.5.21',
  429: 'https://tools.ietf.org/html/rfc6585#section-4',
  500: 'https://tools.ietf.org/html/rfc9110#section-15.6.1',
  503: 'https://tools.ietf.org/html/rfc9110#section-15.6.4',
};

/** A problem without the data of its request. */
export interface Problem {
  /** Code of the service's own error table. */
  readonly code: string;
  readonly status: number;
  readonly title: string;
  readonly detail: string;
  readonly errors: Readonly<Record<string, readonly string[]>> | undefined;
  /** Additional members; only some services send them. */
  readonly details?: Readonly<Record<string, string>> | undefined;
  /** Whole seconds, at least 1. */
  readonly retryAfterSeconds: number | undefined;
  /** Message and stack of an unexpected error. */
  readonly exception: string | undefined;
}

/** Codes of failures caused by a full disk. */
const FULL: ReadonlySet<string> = new Set(['storage.full', 'store.full']);

/** The request of a problem. */
export interface ProblemContext {
  readonly traceId: string;
  readonly requestId: string;
  readonly path: string;
  readonly production: boolean;
}

/**
 * Converts a thrown value to a problem: a refusal keeps its own code, a retryable failure becomes `service.busy`, a
 * full disk `storage.full`, everything else `internal`.
 */
export function problemFrom(thrown: unknown): Problem {
  // Detected by shape, not by class: failures also come from worker threads and second copies of a module.
  const failure = thrown as Partial<Refusal> & { retryable?: unknown; retryAfter?: unknown };
  if (typeof thrown === 'object' && thrown !== null) {
    if (failure.retryable === true) {
      const pause = typeof failure.retryAfter === 'number' ? Math.ceil(failure.retryAfter / 1000) : 1;
      const code = FULL.has(String(failure.code)) ? 'storage.full' : 'service.busy';
      return describe(code, failure.message ?? '', { retryAfterSeconds: Math.max(1, pause) });
    }
    if (
      failure.name === 'Refusal' &&
      typeof failure.code === 'string' &&
      Object.hasOwn(REFUSALS, failure.code)
    ) {
      return describe(failure.code, failure.message ?? '', {
        errors: failure.errors,
        retryAfterSeconds: failure.retryAfterSeconds,
      });
    }
  }
  const exception =
    thrown instanceof Error ? (thrown.stack ?? `${thrown.name}: ${thrown.message}`) : String(thrown);
  return describe('internal', 'An unexpected failure; the log has it under the request id.', { exception });
}

/** A problem raised by the HTTP layer itself. */
function describe(
  code: RefusalCode,
  detail: string,
  more: {
    readonly errors?: Problem['errors'];
    readonly retryAfterSeconds?: number | undefined;
    readonly exception?: string;
  } = {},
): Problem {
  const row = REFUSALS[code];
  // Codes that are only recorded (`status: null`) are no replies; throwing one is a defect.
  const status = row.status ?? 500;
  return {
    code,
    status,
    title: row.title,
    detail,
    errors: status === 400 ? more.errors : undefined,
    retryAfterSeconds: more.retryAfterSeconds ?? (status === 429 || status === 503 ? 1 : undefined),
    exception: more.exception,
  };
}

/** The body as sent. Production omits internal details. */
export function problemBody(
  problem: Problem,
  context: ProblemContext,
): { readonly [member: string]: unknown } {
  const body: { [member: string]: unknown } = {
    type: TYPES[problem.status] ?? 'about:blank',
    title: problem.title,
    status: problem.status,
    code: problem.code,
    traceId: context.traceId,
    requestId: context.requestId,
  };
  if (problem.errors !== undefined) body['errors'] = problem.errors;
  if (!context.production) {
    body['detail'] = problem.detail;
    body['instance'] = context.path;
    if (problem.exception !== undefined) body['exception'] = problem.exception;
  }
  return body;
}
