/**
 * Refusals that a route of the batch service can send, and the shape of their bodies.
 *
 * Source: RFC 9457; `problem.ts`, which writes them; `request-context.ts` and `access-check.ts`, which refuse before
 * the handler runs.
 */
import { REFUSALS } from '../../contracts/batch/refusals.ts';
import type { RefusalInfo } from '../core/openapi/operation-info.ts';
import type { Schema } from '../core/openapi/schemas.ts';

const STATUS = 'The status of the answer.';
const CODE = 'Says what happened; never renamed, never used for something else.';

/** Members of the body of every refusal. */
const PROBLEM: Schema = {
  type: 'object',
  description: 'Why a request was refused. Programs look at `code`; the texts may change.',
  properties: {
    type: {
      type: 'string',
      format: 'uri',
      description: 'Address of the section that defines the status.',
      examples: ['https://tools.ietf.org/html/rfc9110#section-15.5.5'],
    },
    title: {
      type: 'string',
      description: 'What the code means, for people.',
      examples: ['The job was not found.'],
    },
    status: { type: 'integer', description: STATUS, examples: [404] },
    code: {
      type: 'string',
      description: CODE,
      examples: ['job.not-found'],
    },
    traceId: {
      type: 'string',
      pattern: '^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$',
      description: 'W3C trace context; the trace id is that of the request’s `traceparent`, if it had one.',
      examples: ['00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'],
    },
    requestId: {
      type: 'string',
      pattern: '^0H[0-9A-V]{11}:[0-9A-F]{8}$',
      description: 'Names this request in the logs; also in the header `X-Request-Id`.',
      examples: ['0H00000000001:00000001'],
    },
    errors: {
      type: 'object',
      additionalProperties: { type: 'array', items: { type: 'string' } },
      description: 'With status 400: name of a request member, and what is wrong with it.',
      examples: [{ pageSize: ['must be at most 200'] }],
    },
    detail: {
      type: 'string',
      description: 'What happened this time. Not in Production.',
      examples: ['No job has this id.'],
    },
    instance: {
      type: 'string',
      description: 'The path that was asked for. Not in Production.',
      examples: ['/api/jobs/0d9a7c3e'],
    },
    exception: {
      type: 'string',
      description: 'With status 500: message and stack. Not in Production.',
      examples: ['Error: the disk is full'],
    },
  },
  required: ['type', 'title', 'status', 'code', 'traceId', 'requestId'],
  additionalProperties: false,
};

export const batchRefusals: RefusalInfo = {
  table: REFUSALS,
  mediaType: 'application/problem+json',
  schemas: { Problem: PROBLEM },
  codesOf(route, asked) {
    const codes = new Set<string>(route.refusals);
    // A path with invalid escapes matches no resource.
    if (asked.params) codes.add(route.invalidInput.params).add('route.not-found');
    if (asked.query) codes.add(route.invalidInput.query);
    if (route.bodyPolicy === 'json' || route.bodyPolicy === 'form') codes.add(route.invalidInput.body);
    if (route.bodyPolicy !== 'none') codes.add('validation.encoding-unsupported');
    if (route.auth !== 'anonymous') {
      codes.add('auth.misconfigured').add('auth.invalid-credentials').add('rate-limited');
      codes.add('auth.forbidden');
      if (route.method !== 'GET') codes.add('auth.cross-origin');
    }
    if (route.rate !== 'none') codes.add('rate-limited');
    if (route.headers.includes('range')) codes.add('range.not-satisfiable');
    if (route.method !== 'GET') codes.add('storage.full');
    // An invalid length or transfer coding, on any route.
    return codes.add('validation.body-invalid').add('host.not-allowed').add('service.busy').add('internal');
  },
  schema: (status, codes) => ({
    allOf: [{ $ref: '#/components/schemas/Problem' }],
    properties: { status: { const: status, description: STATUS }, code: { enum: codes, description: CODE } },
  }),
};
