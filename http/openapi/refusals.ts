/**
 * Which refusals a route can answer, and what their bodies look like.
 *
 * Source: RFC 9457; `problem.ts`, which writes them; `visit.ts` and `gate.ts`, which refuse before a handler is asked.
 */
import { REFUSALS, type RefusalCode } from '../../machines/refusals.ts';
import type { AnyRoute } from '../router.ts';
import type { Schema } from './schemas.ts';

/** Every code of a route by status, in ascending order; handler, schemas, authentication, rate and server together. */
export function refusalsOf(route: AnyRoute, asked: { readonly params: boolean; readonly query: boolean }) {
  const codes = new Set<RefusalCode>(route.refusals);
  if (asked.params) codes.add(route.unfit.params);
  if (asked.query) codes.add(route.unfit.query);
  if (route.bodyPolicy === 'json' || route.bodyPolicy === 'form') codes.add(route.unfit.body);
  if (route.auth !== 'anonymous') {
    codes.add('auth.misconfigured').add('auth.invalid-credentials');
    if (route.method !== 'GET') codes.add('auth.cross-origin');
  }
  if (route.rate !== 'none') codes.add('rate-limited');
  if (route.headers.includes('range')) codes.add('range.not-satisfiable');
  codes.add('host.not-allowed').add('service.busy').add('internal');
  const byStatus = new Map<number, RefusalCode[]>();
  for (const code of [...codes].sort()) {
    const { status } = REFUSALS[code];
    // Codes that are only recorded are no answers.
    if (status !== null) byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return [...byStatus].sort(([left], [right]) => left - right);
}

/** One line for each code. */
export function refusalText(codes: readonly RefusalCode[]): string {
  return codes.map((code) => `\`${code}\`: ${REFUSALS[code].title}`).join('\n\n');
}

/** Members of the body of every refusal. */
export const PROBLEM: Schema = {
  type: 'object',
  description: 'Why a request was refused. Programs look at `code`; the texts may change.',
  properties: {
    type: { type: 'string', format: 'uri', description: 'Address of the section that defines the status.' },
    title: { type: 'string', description: 'What the code means, for people.' },
    status: { type: 'integer', description: 'The status of the answer.' },
    code: {
      type: 'string',
      description: 'Says what happened; never renamed, never used for something else.',
    },
    traceId: {
      type: 'string',
      pattern: '^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$',
      description: 'W3C trace context; the trace id is that of the request’s `traceparent`, if it had one.',
    },
    requestId: {
      type: 'string',
      pattern: '^0H[0-9A-V]{11}:[0-9A-F]{8}$',
      description: 'Names this request in the logs; also in the header `X-Request-Id`.',
    },
    errors: {
      type: 'object',
      additionalProperties: { type: 'array', items: { type: 'string' } },
      description: 'With status 400: name of a request member, and what is wrong with it.',
    },
    detail: { type: 'string', description: 'What happened this time. Not in Production.' },
    instance: { type: 'string', description: 'The path that was asked for. Not in Production.' },
    exception: { type: 'string', description: 'With status 500: message and stack. Not in Production.' },
  },
  required: ['type', 'title', 'status', 'code', 'traceId', 'requestId'],
  additionalProperties: false,
};

/** The body of a refusal with this status, which has one of these codes. */
export function problemSchema(status: number, codes: readonly RefusalCode[]): Schema {
  return {
    allOf: [{ $ref: '#/components/schemas/Problem' }],
    properties: { status: { const: status }, code: { enum: codes } },
  };
}
