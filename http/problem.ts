/**
 * Problem bodies: every error answer of the service.
 *
 * Source: RFC 9457; Batch Signing Service API, "Errors"; batch-gaps §2.
 */
import { REFUSALS, type Refusal, type RefusalCode } from '../machines/refusals.ts';

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
  429: 'https://tools.ietf.org/html/rfc6585#section-4',
  500: 'https://tools.ietf.org/html/rfc9110#section-15.6.1',
  503: 'https://tools.ietf.org/html/rfc9110#section-15.6.4',
};

/** A problem before it is written: what happened, not yet to which request. */
export interface Problem {
  /** Of the service's own table. */
  readonly code: string;
  readonly status: number;
  readonly title: string;
  readonly detail: string;
  readonly errors: Readonly<Record<string, readonly string[]>> | undefined;
  /** More about it, flat; only some services send it. */
  readonly details?: Readonly<Record<string, string>> | undefined;
  /** Whole seconds, at least 1. */
  readonly retryAfterSeconds: number | undefined;
  /** Only for what nobody expected: message and stack. */
  readonly exception: string | undefined;
}

/** The request a problem answers. */
export interface ProblemScene {
  readonly traceId: string;
  readonly requestId: string;
  readonly path: string;
  readonly production: boolean;
}

/**
 * What a thrown value means to the client: a refusal is answered with its own code, a failure that asks to be
 * tried again with `service.busy`, everything else with `internal`.
 */
export function problemFrom(thrown: unknown): Problem {
  // By shape, not by class: failures also come from worker threads and second copies of a module.
  const failure = thrown as Partial<Refusal> & { retryable?: unknown; retryAfter?: unknown };
  if (typeof thrown === 'object' && thrown !== null) {
    if (failure.retryable === true) {
      const pause = typeof failure.retryAfter === 'number' ? Math.ceil(failure.retryAfter / 1000) : 1;
      return describe('service.busy', failure.message ?? '', { retryAfterSeconds: Math.max(1, pause) });
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

/** A problem made by the HTTP layer itself. */
export function describe(
  code: RefusalCode,
  detail: string,
  more: {
    readonly errors?: Problem['errors'];
    readonly retryAfterSeconds?: number | undefined;
    readonly exception?: string;
  } = {},
): Problem {
  const row = REFUSALS[code];
  // Codes that are only ever recorded (`status: null`) are no answers; throwing one is a fault of ours.
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

/** The body as sent. Production keeps out everything that could tell a stranger about the inside. */
export function problemBody(problem: Problem, scene: ProblemScene): { readonly [member: string]: unknown } {
  const body: { [member: string]: unknown } = {
    type: TYPES[problem.status] ?? 'about:blank',
    title: problem.title,
    status: problem.status,
    code: problem.code,
    traceId: scene.traceId,
    requestId: scene.requestId,
  };
  if (problem.errors !== undefined) body['errors'] = problem.errors;
  if (!scene.production) {
    body['detail'] = problem.detail;
    body['instance'] = scene.path;
    if (problem.exception !== undefined) body['exception'] = problem.exception;
  }
  return body;
}
