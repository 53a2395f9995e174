/**
 * The route table: what a service answers, as data. Dispatch, validation, refusals, the tests and the API
 * description read it.
 */
import type { z } from 'zod';
import type { RefusalCode } from '../machines/refusals.ts';
import type { Identity } from './auth.ts';
import type { BodyReader } from './body.ts';
import type { Caller } from './caller.ts';
import type { Reply } from './reply.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
/** `page`: like `operator`, but a browser that is not logged in is sent to the login page. */
export type AuthPolicy = 'anonymous' | 'operator' | 'page';
export type RatePolicy = 'none' | 'upload' | 'actions';
/**
 * `json`: an optional JSON object, read whole; `form`: the fields of a small form, urlencoded or multipart, read
 * whole; `stream`: the handler reads it; `none`: dropped.
 */
export type BodyPolicy = 'none' | 'json' | 'form' | 'stream';
/** What an answer holds when it is not JSON: bytes of a file, an HTML page, a part of our pages, plain text, or nothing. */
export type Content = 'file' | 'page' | 'asset' | 'text' | 'empty';

/** A checked request, as handlers see it. */
export interface ApiRequest<Params, Query, Body> {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  /** Present for body policy `stream`. */
  readonly stream: BodyReader | undefined;
  /** One of the route's `headers`; empty when the client did not send it. */
  header(name: string): string;
  /** Undefined on anonymous routes. */
  readonly identity: Identity | undefined;
  readonly caller: Caller;
  readonly requestId: string;
}

export interface Route<Params = unknown, Query = unknown, Body = unknown> {
  readonly method: Method;
  /** `{name}` stands for one segment, given to `params` decoded. */
  readonly path: string;
  /** One sentence for people. */
  readonly summary: string;
  readonly auth: AuthPolicy;
  readonly rate: RatePolicy;
  readonly bodyPolicy: BodyPolicy;
  /** Lower-case names of the request headers the handler reads. */
  readonly headers: readonly string[];
  readonly params: z.ZodType<Params>;
  /** Values are strings, or arrays of strings where a name is given more than once. */
  readonly query: z.ZodType<Query>;
  readonly body: z.ZodType<Body>;
  /** Codes for requests that do not fit `params`, `query` or `body`. */
  readonly unfit: { readonly params: RefusalCode; readonly query: RefusalCode; readonly body: RefusalCode };
  /** What each status looks like, or all it can look like. Errors are problem bodies and not listed. */
  readonly responses: { readonly [status: number]: z.ZodType | Content | readonly Content[] };
  /** Every code the handler and its service may refuse with; those of auth and rate policy come on top. */
  readonly refusals: readonly RefusalCode[];
  handle(request: ApiRequest<Params, Query, Body>): Reply | Promise<Reply>;
}

/** A route whose own types are forgotten; the dispatcher checks by its schemas before it calls `handle`. */
export type AnyRoute = Route<never, never, never>;

/** Ties the schemas of a route to the request its handler gets. */
export function route<Params, Query, Body>(definition: Route<Params, Query, Body>): AnyRoute {
  return definition as unknown as AnyRoute;
}

export type Match =
  | { readonly found: true; readonly route: AnyRoute; readonly params: Readonly<Record<string, string>> }
  | { readonly found: false; readonly allow: string | undefined };

interface Pattern {
  readonly segments: readonly (string | { readonly name: string })[];
  readonly methods: Map<string, AnyRoute>;
}

const NO_PARAMS: Readonly<Record<string, string>> = {};

/** Finds routes by method and path. Fixed paths win over those with parameters; HEAD is answered by GET. */
export class Router {
  readonly routes: readonly AnyRoute[];
  readonly #fixed = new Map<string, Map<string, AnyRoute>>();
  readonly #patterns: Pattern[] = [];

  /** Throws when two routes share method and path. */
  constructor(routes: readonly AnyRoute[]) {
    this.routes = routes;
    for (const entry of routes) {
      const methods = this.#methodsOf(entry.path);
      if (methods.has(entry.method)) throw new Error(`Two routes for ${entry.method} ${entry.path}.`);
      methods.set(entry.method, entry);
    }
  }

  /** `path` as the client sent it, without the query. */
  find(method: string, path: string): Match {
    const wanted = method === 'HEAD' ? 'GET' : method;
    const fixed = this.#fixed.get(path);
    const found = fixed?.get(wanted);
    if (found !== undefined) return { found: true, route: found, params: NO_PARAMS };
    const allowed = new Set(fixed?.keys());
    const given = path.split('/');
    for (const pattern of this.#patterns) {
      const params = matchSegments(pattern.segments, given);
      if (params === undefined) continue;
      const matched = pattern.methods.get(wanted);
      if (matched !== undefined) return { found: true, route: matched, params };
      for (const known of pattern.methods.keys()) allowed.add(known);
    }
    return { found: false, allow: allowed.size === 0 ? undefined : allowHeader(allowed) };
  }

  #methodsOf(path: string): Map<string, AnyRoute> {
    const segments = path.split('/').map((text) => {
      const name = /^\{(\w+)\}$/.exec(text)?.[1];
      return name === undefined ? text : { name };
    });
    if (segments.every((segment) => typeof segment === 'string')) {
      const methods = this.#fixed.get(path) ?? new Map<string, AnyRoute>();
      this.#fixed.set(path, methods);
      return methods;
    }
    const shape = JSON.stringify(segments.map((segment) => (typeof segment === 'string' ? segment : null)));
    const known = this.#patterns.find(
      ({ segments: other }) =>
        JSON.stringify(other.map((segment) => (typeof segment === 'string' ? segment : null))) === shape,
    );
    if (known !== undefined) return known.methods;
    const methods = new Map<string, AnyRoute>();
    this.#patterns.push({ segments, methods });
    return methods;
  }
}

function matchSegments(
  segments: Pattern['segments'],
  given: readonly string[],
): Record<string, string> | undefined {
  if (segments.length !== given.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, segment] of segments.entries()) {
    const text = given[index] ?? '';
    if (typeof segment === 'string') {
      if (segment !== text) return undefined;
    } else {
      const value = decodeSegment(text);
      if (value === undefined || value === '') return undefined;
      params[segment.name] = value;
    }
  }
  return params;
}

function decodeSegment(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

function allowHeader(methods: ReadonlySet<string>): string {
  const all = new Set(methods);
  if (all.has('GET')) all.add('HEAD');
  return [...all].sort().join(', ');
}

/** `a=1&b=2&b=3` → `{ a: '1', b: ['2', '3'] }`. */
export function parseQuery(text: string | undefined): Record<string, string | string[]> {
  const query: Record<string, string | string[]> = Object.create(null);
  if (text === undefined || text === '') return query;
  for (const [name, value] of new URLSearchParams(text)) {
    const known = query[name];
    if (known === undefined) query[name] = value;
    else if (typeof known === 'string') query[name] = [known, value];
    else known.push(value);
  }
  return query;
}
