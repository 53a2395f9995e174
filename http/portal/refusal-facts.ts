/**
 * Which refusals a route of the portal can answer, and what their bodies look like.
 *
 * Source: portal-gaps §2; `problem.ts`, which writes them; `gate.ts`, which refuses before a handler is asked.
 */
import { PORTAL_REFUSALS, type PortalRefusalCode } from '../../machines/portal-refusals.ts';
import type { RefusalFacts } from '../openapi/facts.ts';
import type { Schema } from '../openapi/schemas.ts';
import { portalCode } from './problem.ts';

const text: Schema = { type: 'string', pattern: '^[ -~]*$' };

const BAD_REQUEST: Schema = {
  type: 'object',
  description: 'A request that is not well formed.',
  properties: {
    code: { type: 'string' },
    message: text,
    errors: {
      type: 'object',
      additionalProperties: { type: 'array', items: { type: 'string' } },
      description: 'Name of a member, and what is wrong with it.',
    },
  },
  required: ['code', 'message', 'errors'],
  additionalProperties: false,
};

const NOT_FOUND: Schema = {
  type: 'object',
  description: 'Nothing is at this path, or the ticket is unknown or has expired.',
  properties: {
    message: text,
    resourceName: { type: ['string', 'null'] },
    resourceId: { type: ['string', 'null'] },
  },
  required: ['message', 'resourceName', 'resourceId'],
  additionalProperties: false,
};

const ERROR: Schema = {
  type: 'object',
  description: 'Why a request was refused. Programs look at `code`; the texts may change.',
  properties: {
    code: {
      type: 'string',
      description: 'Says what happened; never renamed, never used for something else.',
    },
    message: text,
    details: { type: ['object', 'null'], additionalProperties: { type: 'string' } },
  },
  required: ['code', 'message', 'details'],
  additionalProperties: false,
};

export const portalRefusals: RefusalFacts = {
  mediaType: 'application/json',
  schemas: { BadRequest: BAD_REQUEST, NotFound: NOT_FOUND, Error: ERROR },
  codesOf(route, asked) {
    const codes = new Set<string>(route.refusals.map(portalCode));
    if (asked.query) codes.add('BadRequest');
    if (route.bodyPolicy === 'json') {
      codes.add('BadRequest').add('UnsupportedMediaType').add('PayloadTooLarge');
    }
    if (route.auth !== 'anonymous' && route.auth !== 'known-or-ticket') {
      codes.add('Unauthorized').add('Forbidden');
    }
    if (route.rate !== 'none') codes.add('TooManyRequests');
    if (route.headers.includes('range')) codes.add('RangeNotSatisfiable');
    // The wrong host, which is refused whatever the route.
    return codes.add('BadRequest').add('ServiceBusy').add('InternalError');
  },
  statusOf: (code) => PORTAL_REFUSALS[code as PortalRefusalCode].status,
  titleOf: (code) => PORTAL_REFUSALS[code as PortalRefusalCode].message,
  schema(status, codes) {
    if (status === 404) return { $ref: '#/components/schemas/NotFound' };
    const name = status === 400 ? 'BadRequest' : 'Error';
    return {
      allOf: [{ $ref: `#/components/schemas/${name}` }],
      properties: { code: { enum: codes } },
    };
  },
};
