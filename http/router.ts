/**
 * The route table: what a service answers, as data. Dispatch, validation, refusals, the tests and the API
 * description read it.
 */
import type { z } from 'zod';
import type { RefusalCode } from '../machines/refusals.ts';
import type { Identity } from './auth.ts';
import type { BodyReader } from './body.ts';
import type { Caller } from './caller.ts';
import type { PageReply, Reply } from './reply.ts';
import type { RequestNames } from './request-ids.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
/**
 * Of the batch service: `operator`, and `page`, which sends a browser that is not logged in to the login page. Of the
 * portal: the roles that an application must have; `known-or-ticket` is answered to anybody, and the handler sees to
 * it that whoever has no key has a ticket.
 */
export type AuthPolicy =
  | 'anonymous'
  | 'operator'
  | 'page'
  | 'application'
  | 'monitor'
  | 'administrator'
  | 'known-or-ticket';
export type RatePolicy = 'none' | 'upload' | 'actions' | 'validation';
/**
 * `json`: an optional JSON object, read whole; `form`: the fields of a small form, urlencoded or multipart, read
 * whole; `stream`: a form that the handler reads; `json-stream`: JSON that the handler reads; `none`: dropped.
 */
export type BodyPolicy = 'none' | 'json' | 'form' | 'stream' | 'json-stream';
/** What an answer holds when it is not JSON: bytes of a file, an HTML page, a part of our pages, plain text, or nothing. */
export type Content = 'file' | 'page' | 'asset' | 'text' | 'empty';

/** A checked request, as handlers see it. `Who`: what the service knows of its callers. */
export interface ApiRequest<Params, Query, Body, Who = Identity> {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  /** For body policy `json`: the body before its schema has read it. */
  readonly given: unknown;
  /** Present for body policies `stream` and `json-stream`. */
  readonly stream: BodyReader | undefined;
  /** One of the route's `headers`; empty when the client did not send it. */
  header(name: string): string;
  /** Undefined on anonymous routes. */
  readonly identity: Who | undefined;
  readonly caller: Caller;
  /** What log lines and problem bodies call the request. */
  names(): RequestNames;
}

/** Why a page could not be made, for people. */
export interface PageFailure {
  readonly status: number;
  /** For whoever looks into it. */
  readonly requestId: string;
  /** What stands behind `?`. */
  readonly query: string | undefined;
  /** One of the route's `headers`; empty when the client did not send it, or nobody asked any more. */
  header(name: string): string;
}

/** `Code`: the codes the service may refuse with. */
export interface Route<
  Params = unknown,
  Query = unknown,
  Body = unknown,
  Who = Identity,
  Code extends string = RefusalCode,
> {
  readonly method: Method;
  /** `{name}` stands for one segment, given to `params` decoded. */
  readonly path: string;
  /** One sentence for people. */
  readonly summary: string;
  readonly auth: AuthPolicy;
  readonly rate: RatePolicy;
  /** Answered however much the service has to do. @default false */
  readonly vital?: boolean;
  readonly bodyPolicy: BodyPolicy;
  /** Lower-case names of the request headers the handler reads. */
  readonly headers: readonly string[];
  readonly params: z.ZodType<Params>;
  /** Values are strings, or arrays of strings where a name is given more than once. Pure: what it makes of no query is made once. */
  readonly query: z.ZodType<Query>;
  readonly body: z.ZodType<Body>;
  /** Codes for requests that do not fit `params`, `query` or `body`. */
  readonly unfit: { readonly params: Code; readonly query: Code; readonly body: Code };
  /** What each status looks like, or all it can look like. Errors are problem bodies and not listed. */
  readonly responses: {
    readonly [status: number]: z.ZodType | Content | readonly (z.ZodType | Content)[];
  };
  /** Every code the handler and its service may refuse with; those of auth and rate policy come on top. */
  readonly refusals: readonly Code[];
  handle(request: ApiRequest<Params, Query, Body, Who>): Reply | Promise<Reply>;
  /** What people see instead of a problem body. @default the problem body */
  readonly failurePage?: ((failure: PageFailure) => PageReply) | undefined;
}

/** A route whose own types are forgotten; the dispatcher checks by its schemas before it calls `handle`. */
export type AnyRoute = Route<never, never, never, never, string>;

/** Ties the schemas of a route of the batch service to the request its handler gets. */
export function route<Params, Query, Body>(definition: Route<Params, Query, Body>): AnyRoute {
  return definition as unknown as AnyRoute;
}

export type Match =
  | {
      readonly found: true;
      readonly route: AnyRoute;
      /** Undefined for a path that has none. */
      readonly params: Readonly<Record<string, string>> | undefined;
    }
  | { readonly found: false; readonly allow: string | undefined };

interface Pattern {
  /** What stands before its first parameter. */
  readonly start: string;
  readonly segments: readonly (string | { readonly name: string })[];
  readonly methods: Map<string, AnyRoute>;
}

/** Finds routes by method and path. Fixed paths win over those with parameters; HEAD is answered by GET. */
export class Router {
  readonly routes: readonly AnyRoute[];
  readonly #slashes: boolean;
  readonly #fixed = new Map<string, Map<string, AnyRoute>>();
  /** By the number of their segments. */
  readonly #patterns: Pattern[][] = [];
  /** What was found at fixed paths, made once. */
  readonly #found = new Map<AnyRoute, Match>();

  /**
   * Throws when two routes share method and path.
   * @param options.trailingSlash whether `/a/` is `/a`. @default false
   */
  constructor(routes: readonly AnyRoute[], options: { readonly trailingSlash?: boolean } = {}) {
    this.routes = routes;
    this.#slashes = options.trailingSlash ?? false;
    for (const entry of routes) {
      const methods = this.#methodsOf(entry.path);
      if (methods.has(entry.method)) throw new Error(`Two routes for ${entry.method} ${entry.path}.`);
      methods.set(entry.method, entry);
      this.#found.set(entry, { found: true, route: entry, params: undefined });
    }
  }

  /** `given` as the client sent it, without the query. */
  find(method: string, given: string): Match {
    const path = this.#slashes && given.length > 1 && given.endsWith('/') ? given.slice(0, -1) : given;
    const wanted = method === 'HEAD' ? 'GET' : method;
    const fixed = this.#fixed.get(path)?.get(wanted);
    const found = fixed && this.#found.get(fixed);
    if (found !== undefined) return found;
    for (const pattern of this.#patterns[countSegments(path)] ?? []) {
      if (!path.startsWith(pattern.start)) continue;
      const matched = pattern.methods.get(wanted);
      if (matched === undefined) continue;
      const params = matchSegments(pattern.segments, path.split('/'));
      if (params !== undefined) return { found: true, route: matched, params };
    }
    return { found: false, allow: this.#allowed(path, path.split('/')) };
  }

  /** The methods a path takes, when it is one of ours. */
  #allowed(path: string, segments: readonly string[]): string | undefined {
    const allowed = new Set(this.#fixed.get(path)?.keys());
    for (const pattern of this.#patterns[segments.length] ?? []) {
      if (matchSegments(pattern.segments, segments) === undefined) continue;
      for (const known of pattern.methods.keys()) allowed.add(known);
    }
    return allowed.size === 0 ? undefined : allowHeader(allowed);
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
    const alike = this.#patterns[segments.length] ?? [];
    this.#patterns[segments.length] = alike;
    const known = alike.find(
      ({ segments: other }) =>
        JSON.stringify(other.map((segment) => (typeof segment === 'string' ? segment : null))) === shape,
    );
    if (known !== undefined) return known.methods;
    const methods = new Map<string, AnyRoute>();
    alike.push({ start: path.slice(0, path.indexOf('{')), segments, methods });
    return methods;
  }
}

/** As many as `split('/')` would give. */
function countSegments(path: string): number {
  let count = 1;
  for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) count += 1;
  return count;
}

function matchSegments(
  segments: Pattern['segments'],
  given: readonly string[],
): Record<string, string> | undefined {
  // From the end, where patterns of one length differ most.
  for (let index = segments.length - 1; index >= 0; index -= 1) {
    const segment = segments[index];
    if (typeof segment === 'string' && segment !== given[index]) return undefined;
  }
  const params: Record<string, string> = {};
  for (let index = 0; index < segments.length; index += 1) {
    const segment = segments[index];
    if (typeof segment !== 'object') continue;
    const value = decodeSegment(given[index] ?? '');
    if (value === undefined || value === '') return undefined;
    params[segment.name] = value;
  }
  return params;
}

function decodeSegment(text: string): string | undefined {
  if (!text.includes('%')) return text;
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
