/**
 * Builds the responses of a route, status by status.
 *
 * Source: OpenAPI 3.1.1 §4.8.16 ("Responses Object").
 */
import type { z } from 'zod';
import type { Content } from '../../../contracts/operation.ts';
import type { AnyRoute } from '../router.ts';
import { headerRefs, optionalHeaders, type ResponseHeader, SCOPE_ERROR } from './headers.ts';
import type { RefusalInfo, RequestShapes } from './operation-info.ts';
import type { SchemaBook } from './schemas.ts';
import { identifier, nameFor } from './shared-parts.ts';

export interface ResponseObject {
  readonly description: string;
  readonly headers?: { readonly [name: string]: object };
  readonly content?: { readonly [mediaType: string]: { readonly schema?: object } };
  /** Extension: the reply may also have no body. */
  readonly 'x-may-be-empty'?: true;
}

type Responses = { [status: string]: ResponseObject | { readonly $ref: string } };

const MEANINGS: { readonly [status: number]: string } = {
  200: 'Done.',
  202: 'Taken; the rest happens later.',
  206: 'The range that was asked for.',
  302: 'Go on somewhere else.',
  304: 'Nothing new since the `ETag` that was named.',
};

const TO_HTTPS: ResponseObject = {
  description: 'The service is configured to require https, and the request came by http.',
  headers: headerRefs(['Location']),
};

/** Most codes in the name of a refusal. */
const MAX_NAMED_CODES = 2;

/** Replies that several operations share, by name. Source: OpenAPI 3.1.1 §4.8.7 (`responses`). */
export class ResponseBook {
  readonly #named = new Map<string, ResponseObject>([['ToHttps', TO_HTTPS]]);

  get named(): { readonly [name: string]: ResponseObject } {
    return Object.fromEntries([...this.#named].sort(([left], [right]) => (left < right ? -1 : 1)));
  }

  /** A reference to the refusal with this status and these codes. */
  refusal(status: number, codes: readonly string[], make: () => ResponseObject): { readonly $ref: string } {
    const name = refusalName(status, codes);
    if (!this.#named.has(name)) this.#named.set(name, make());
    return { $ref: `#/components/responses/${name}` };
  }
}

/** `JobNotFailed409`; of many codes a digest. */
function refusalName(status: number, codes: readonly string[]): string {
  const isShort = codes.length <= MAX_NAMED_CODES;
  const name = isShort ? identifier(codes.flatMap((code) => code.split(/[.-]/))) : nameFor('any', codes);
  return `${name}${status}`;
}

export interface ResponseContext {
  readonly book: SchemaBook;
  readonly responses: ResponseBook;
  /** Media types of the files that the service sends. */
  readonly fileTypes: readonly string[];
  readonly refusals: RefusalInfo;
}

export function responsesOf(
  route: AnyRoute,
  asked: RequestShapes,
  { book, responses, fileTypes, refusals }: ResponseContext,
): Responses {
  const found: Responses = {};
  for (const [status, given] of Object.entries(route.responses)) {
    found[status] = success(Number(status), listed(given), { route, book, fileTypes });
  }
  if (route.auth === 'page') {
    found['302'] ??= {
      description: 'The browser is not logged in: to the login page.',
      headers: headerRefs(['Location']),
    };
  }
  if (route.headers.includes('if-none-match')) {
    found['304'] ??= { description: MEANINGS[304] ?? '', headers: headerRefs(['ETag']) };
  }
  found['307'] ??= { $ref: '#/components/responses/ToHttps' };
  for (const [status, codes] of byStatus(refusals.codesOf(route, asked), refusals)) {
    // A route may also send such a reply itself: as a page for browsers, or as its result.
    const known = found[status];
    const others = known !== undefined && 'content' in known ? known.content : undefined;
    const headers = refusalHeaders(status);
    const make = () => ({
      description: codes.map((code) => `\`${code}\`: ${refusals.table[code]?.title}`).join('\n\n'),
      headers: {
        ...(others === undefined ? headerRefs(headers) : optionalHeaders(headers)),
        ...(status === 403 && SCOPE_ERROR),
      },
      content: {
        ...others,
        [refusals.mediaType.split(';')[0] ?? '']: { schema: refusals.schema(status, codes) },
      },
    });
    found[status] = others === undefined ? responses.refusal(status, codes, make) : make();
  }
  return found;
}

/** The codes of each status, both in ascending order. */
function byStatus(codes: Iterable<string>, refusals: RefusalInfo): [number, string[]][] {
  const found = new Map<number, string[]>();
  for (const code of [...new Set(codes)].sort()) {
    const status = refusals.table[code]?.status;
    if (status != null) found.set(status, [...(found.get(status) ?? []), code]);
  }
  return [...found].sort(([left], [right]) => left - right);
}

function listed(given: AnyRoute['responses'][number]): readonly (z.ZodType | Content)[] {
  return Array.isArray(given) ? given : [given as z.ZodType | Content];
}

function success(
  status: number,
  given: readonly (z.ZodType | Content)[],
  {
    route,
    book,
    fileTypes,
  }: { readonly route: AnyRoute; readonly book: SchemaBook; readonly fileTypes: readonly string[] },
): ResponseObject {
  const headers: ResponseHeader[] = [];
  const content: { [mediaType: string]: { readonly schema?: object } } = {};
  for (const one of given) {
    if (typeof one !== 'string') content['application/json'] = { schema: book.output(one) };
    else Object.assign(content, contentOf(one, fileTypes));
    if (one === 'file') headers.push('ETag', 'Content-Disposition');
    if (one === 'csv') headers.push('Content-Disposition');
    if (one === 'asset' && given.length === 1) headers.push('ETag');
    if (one === 'empty' && status >= 300) headers.push('Location', 'Set-Cookie');
  }
  if (status === 206) headers.push('Content-Range');
  headers.push(...(route.answerHeaders ?? []));
  if (route.bodyPolicy === 'json' && book.resolved(book.input(route.body))['additionalProperties'] !== false)
    headers.push('X-Ignored-Members');
  const description = MEANINGS[status] ?? route.summary;
  return {
    description,
    headers: headerRefs(headers),
    ...(Object.keys(content).length > 0 && { content }),
    ...(given.length > 1 && given.includes('empty') && status === 200 && { 'x-may-be-empty': true }),
  };
}

function contentOf(
  content: Content,
  fileTypes: readonly string[],
): { readonly [mediaType: string]: { readonly schema?: object } } {
  switch (content) {
    case 'file':
      return binary(fileTypes);
    case 'page':
      return { 'text/html': { schema: { type: 'string' } } };
    case 'asset':
      return {
        'text/css': { schema: { type: 'string' } },
        'text/javascript': { schema: { type: 'string' } },
        'image/svg+xml': { schema: { type: 'string' } },
        ...binary(['image/png', 'image/jpeg', 'font/woff2', 'application/pdf', 'application/wasm']),
      };
    case 'text':
      return { 'text/plain': { schema: { type: 'string' } } };
    case 'csv':
      return { 'text/csv': { schema: { type: 'string' } } };
    case 'xml':
      return { 'application/xml': { schema: { type: 'string' } } };
    case 'empty':
      return {};
  }
}

/** The format is an annotation for generators; OpenAPI 3.1 needs no schema of bytes (3.1.1 §4.8.14.1, "Binary streams"). */
function binary(types: readonly string[]): { readonly [mediaType: string]: { readonly schema: object } } {
  return Object.fromEntries(types.map((type) => [type, { schema: { type: 'string', format: 'binary' } }]));
}

function refusalHeaders(status: number): readonly ResponseHeader[] {
  if (status === 401) return ['WWW-Authenticate'];
  return status === 429 || status === 503 ? ['Retry-After'] : [];
}
