/**
 * Headers of requests and replies, each described once.
 *
 * Source: RFC 9110; docs/batch-values.md §2 and §10, for the headers beyond it.
 */
import { MAX_HEAD_BYTES } from '../transport/head-limit.ts';
import type { Schema } from './schemas.ts';

/** Source: OpenAPI 3.1.1 §4.8.12 ("Parameter Object"). */
export interface Parameter {
  readonly in: string;
  readonly name: string;
  readonly description?: string;
  readonly schema: object;
  readonly required: boolean;
  readonly example?: unknown;
}

/** By lower-case name of the header. */
export type Descriptions = { readonly [name: string]: string };

/** Purpose of each request header that handlers read; OpenAPI leaves out those of content and authorization. */
const REQUEST_HEADERS: { readonly [name: string]: { readonly name: string; readonly description: string } } =
  {
    range: { name: 'Range', description: 'One range of bytes, such as `bytes=0-1023`.' },
    'if-range': { name: 'If-Range', description: 'Take the range only while the `ETag` is still this one.' },
    'if-none-match': {
      name: 'If-None-Match',
      description: 'Send nothing while the `ETag` is still this one.',
    },
    'x-document-password': {
      name: 'X-Document-Password',
      description:
        'Opens the file when it is an encrypted PDF: percent-encoded UTF-8. Kept encrypted, and in no log.',
    },
    'idempotency-key': {
      name: 'Idempotency-Key',
      description: 'Text of the client’s choice; the same key brings the same answer and happens once.',
    },
  };

/** Headers that OpenAPI describes elsewhere (OpenAPI 3.1.1 §4.8.12.1, `name`), and lengths. */
const ELSEWHERE = new Set([
  'accept',
  'content-type',
  'authorization',
  'content-length',
  // Headers of browsers and of the security schemes.
  'cookie',
  'origin',
  'sec-fetch-site',
]);

/** @param own descriptions of headers that one service alone reads */
export function headerParameters(names: readonly string[], own: Descriptions): readonly Parameter[] {
  return names
    .filter((name) => !ELSEWHERE.has(name))
    .map((name) => ({
      in: 'header',
      ...(REQUEST_HEADERS[name] ?? described(name, own[name])),
      required: false,
      schema: { type: 'string', maxLength: MAX_HEAD_BYTES },
    }));
}

function described(name: string, description: string | undefined): Pick<Parameter, 'name' | 'description'> {
  return description === undefined ? { name } : { name, description };
}

interface HeaderObject {
  readonly description: string;
  readonly required?: boolean;
  readonly schema: Schema;
}

const text = { type: 'string' } as const;

/** Headers of replies; operations reference them by these names. */
export const RESPONSE_HEADERS = {
  'X-Request-Id': {
    description: 'Names this request in the logs.',
    required: true,
    schema: { type: 'string', pattern: '^0H[0-9A-V]{11}:[0-9A-F]{8}$' },
  },
  'Retry-After': {
    description: 'Whole seconds to wait before trying again.',
    required: true,
    schema: { type: 'string', pattern: '^[1-9][0-9]*$' },
  },
  'WWW-Authenticate': {
    description: 'Names the header that carries the API key, and tells what is wrong with a bearer token.',
    required: true,
    schema: text,
  },
  'Scope-Error': {
    description: 'Of a bearer token that lacks a scope: `insufficient_scope` (RFC 6750).',
    schema: text,
  },
  Location: { description: 'Where to go.', required: true, schema: text },
  'Set-Cookie': { description: 'Begins, prolongs or ends the session.', schema: text },
  ETag: { description: 'Changes with the content.', required: true, schema: text },
  'Content-Disposition': {
    description: 'The name of the file, also in UTF-8.',
    required: true,
    schema: text,
  },
  'X-Run-Id': {
    description:
      'Identifies this start of the program; commands on the same machine recognize the service by it.',
    schema: text,
  },
  'X-Notified-Count': {
    description: 'People to whom the call sends an e-mail; 0: nobody is pending, or has an address.',
    required: true,
    schema: { type: 'string', pattern: '^(?:0|[1-9][0-9]*)$' },
  },
  'X-Ignored-Members': {
    description:
      'Members of the body that are unknown here and were ignored, percent-encoded, such as `name, files[0].size`: at most ten, then `...`. Absent: none.',
    schema: { type: 'string', maxLength: 200 },
  },
  'Content-Range': { description: 'Which bytes of the whole these are.', required: true, schema: text },
} as const satisfies { readonly [name: string]: HeaderObject };

export type ResponseHeader = keyof typeof RESPONSE_HEADERS;

/** References to these headers, and to the one on every answer. */
export function headerRefs(names: readonly ResponseHeader[]): { readonly [name: string]: object } {
  return Object.fromEntries(
    (['X-Request-Id', ...names] as const).map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  );
}

/** Reference to the header that a refused token gets. */
export const SCOPE_ERROR = { 'WWW-Authenticate': { $ref: '#/components/headers/Scope-Error' } } as const;

/** References to headers that a reply carries only in some cases. */
export function optionalHeaders(names: readonly ResponseHeader[]): { readonly [name: string]: object } {
  const optional = names.map((name) => [name, { ...RESPONSE_HEADERS[name], required: false }] as const);
  return { ...headerRefs([]), ...Object.fromEntries(optional) };
}
