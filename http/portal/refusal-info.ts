/**
 * Refusals that a route of the portal can send, and the shape of their bodies.
 *
 * Source: docs/portal-values.md §2; `problem.ts`, which writes them; `access-check.ts`, which refuses before the handler runs.
 */
import { EXAMPLE_IDS } from '../../contracts/portal/examples.ts';
import { PORTAL_REFUSALS } from '../../contracts/portal/refusals.ts';
import type { RefusalInfo } from '../core/openapi/operation-info.ts';
import type { Schema } from '../core/openapi/schemas.ts';
import { portalCode } from './problem.ts';

const CODE: Schema = {
  type: 'string',
  description: 'Error code, for programs. It is never renamed.',
  examples: ['InvalidDocumentStatus'],
};

function message(characters = ''): Schema {
  return {
    type: 'string',
    pattern: '^[ -~]*$',
    description: `What happened, for people${characters}. The text may change.`,
    examples: ['The document is already concluded.'],
  };
}

const BAD_REQUEST: Schema = {
  type: 'object',
  description: 'A request that is not well formed.',
  properties: {
    code: CODE,
    message: message(),
    errors: {
      type: 'object',
      additionalProperties: { type: 'array', items: { type: 'string' } },
      description: 'Name of a member, and what is wrong with it.',
      examples: [{ email: ['must be an e-mail address'] }],
    },
  },
  required: ['code', 'message', 'errors'],
  additionalProperties: false,
};

const NOT_FOUND: Schema = {
  type: 'object',
  description: 'Nothing is at this path, or the ticket is unknown or has expired.',
  properties: {
    message: message(),
    resourceName: {
      type: ['string', 'null'],
      description: 'Kind of the resource that was not found. Null: a path.',
      examples: ['Ticket'],
    },
    resourceId: {
      type: ['string', 'null'],
      description: 'Id that was not found. Null: none in the request.',
      examples: [EXAMPLE_IDS.document],
    },
  },
  required: ['message', 'resourceName', 'resourceId'],
  additionalProperties: false,
};

const ERROR: Schema = {
  type: 'object',
  description: 'Why a request was refused. Programs look at `code`; the texts may change.',
  properties: {
    code: {
      ...CODE,
      description: 'Says what happened; never renamed, never used for something else.',
    },
    message: message(', ASCII'),
    details: {
      type: ['object', 'null'],
      additionalProperties: { type: 'string' },
      description: 'Further data of the refusal, as texts by name. Null: none.',
      examples: [{ status: 'Concluded' }],
    },
  },
  required: ['code', 'message', 'details'],
  additionalProperties: false,
};

export const portalRefusals: RefusalInfo = {
  table: PORTAL_REFUSALS,
  mediaType: 'application/json',
  schemas: { BadRequest: BAD_REQUEST, NotFound: NOT_FOUND, Error: ERROR },
  codesOf(route, asked) {
    const codes = new Set<string>(route.refusals.map(portalCode));
    if (asked.query) codes.add('BadRequest');
    // A path with invalid escapes matches no resource.
    if (asked.params) codes.add('NotFound');
    if (route.bodyPolicy === 'json') {
      codes.add('BadRequest').add('PayloadTooLarge');
    }
    if (route.bodyPolicy !== 'none') codes.add('UnsupportedMediaType');
    if (route.auth === 'user' || route.auth === 'user-administrator')
      codes.add('Forbidden').add('TooManyRequests');
    else if (route.auth !== 'anonymous' && route.auth !== 'known-or-ticket') {
      codes.add('Unauthorized').add('Forbidden').add('TooManyRequests');
    }
    if (route.rate !== 'none') codes.add('TooManyRequests');
    if (route.headers.includes('range')) codes.add('RangeNotSatisfiable');
    // A host name that is not allowed, on any route.
    return codes.add('BadRequest').add('ServiceBusy').add('InternalError');
  },
  schema(status, codes) {
    if (status === 404) return { $ref: '#/components/schemas/NotFound' };
    const name = status === 400 ? 'BadRequest' : 'Error';
    return {
      allOf: [{ $ref: `#/components/schemas/${name}` }],
      properties: { code: { description: CODE['description'], enum: codes } },
    };
  },
};
