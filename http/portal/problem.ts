/**
 * Problem bodies of the portal.
 *
 * Source: docs/portal-values.md §2.
 */

import type { RefusalCode } from '../../contracts/batch/refusals.ts';
import { PORTAL_REFUSALS, type PortalRefusalCode } from '../../contracts/portal/refusals.ts';
import type { PortalRefusal } from '../../machines/portal/portal-refusals.ts';
import type { Problem, ProblemContext } from '../core/problem.ts';

/** Portal codes of the refusals of the common HTTP core. */
const CORE_REFUSALS: { readonly [code in RefusalCode]?: PortalRefusalCode } = {
  'route.not-found': 'NotFound',
  'route.method-not-allowed': 'MethodNotAllowed',
  'host.not-allowed': 'BadRequest',
  'validation.body-invalid': 'BadRequest',
  'validation.filter-invalid': 'BadRequest',
  'range.not-satisfiable': 'RangeNotSatisfiable',
  'rate-limited': 'TooManyRequests',
  'service.busy': 'ServiceBusy',
};

/**
 * Converts a thrown value to a problem: a refusal keeps its own code, a retryable failure becomes `ServiceBusy`,
 * everything else `InternalError`.
 */
export function portalProblem(thrown: unknown): Problem {
  // Detected by shape, not by class: failures also come from worker threads and second copies of a module.
  const failure = thrown as Partial<PortalRefusal> & { retryable?: unknown; retryAfter?: unknown };
  if (typeof thrown === 'object' && thrown !== null) {
    if (failure.retryable === true) {
      const pause = typeof failure.retryAfter === 'number' ? Math.ceil(failure.retryAfter / 1000) : 1;
      return describe('ServiceBusy', { retryAfterSeconds: Math.max(1, pause) });
    }
    const code = codeOf(failure);
    if (code !== undefined) return describe(code, failure);
  }
  const exception =
    thrown instanceof Error ? (thrown.stack ?? `${thrown.name}: ${thrown.message}`) : String(thrown);
  return { ...describe('InternalError', {}), exception };
}

/** Converts a code of a route or of the common core to a portal code. */
export function portalCode(code: string): PortalRefusalCode {
  return CORE_REFUSALS[code as RefusalCode] ?? (code as PortalRefusalCode);
}

function codeOf({ name, code }: { name?: string; code?: unknown }): PortalRefusalCode | undefined {
  if (typeof code !== 'string') return undefined;
  if (name === 'PortalRefusal' && Object.hasOwn(PORTAL_REFUSALS, code)) return code as PortalRefusalCode;
  if (name === 'Refusal' && Object.hasOwn(CORE_REFUSALS, code)) return CORE_REFUSALS[code as RefusalCode];
  return undefined;
}

function describe(
  code: PortalRefusalCode,
  more: Partial<Pick<PortalRefusal, 'message' | 'details' | 'errors' | 'retryAfterSeconds'>>,
): Problem {
  const { status, title } = PORTAL_REFUSALS[code];
  return {
    code,
    status,
    title,
    detail: more.message ?? title,
    errors: more.errors,
    details: more.details,
    retryAfterSeconds: more.retryAfterSeconds ?? (status === 429 || status === 503 ? 1 : undefined),
    exception: undefined,
  };
}

/** The body as sent: one of three forms, by status. */
export function portalProblemBody(problem: Problem, context: ProblemContext): object {
  const { code, status, details } = problem;
  const message = plain(problem.detail);
  if (status === 400) return { code, message, errors: problem.errors ?? {} };
  if (status === 404) {
    return {
      message,
      resourceName: details?.['resourceName'] ?? null,
      resourceId: details?.['resourceId'] ?? null,
    };
  }
  if (problem.exception !== undefined) {
    return { code, message, details: context.production ? null : { exception: problem.exception } };
  }
  return { code, message, details: details ?? null };
}

/** One line of ASCII: one client decodes messages in the character set of its platform. */
function plain(text: string): string {
  return text.replace(/[^\x20-\x7e]+/g, '?');
}
