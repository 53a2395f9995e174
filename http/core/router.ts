/**
 * The route table: one descriptor for each operation. Dispatch, access, rate limits, validation, refusals, the API
 * description, the typed client and tests read it; no other table names an operation.
 *
 * Source: docs/decisions/0192-contracts.md.
 */
import { z } from 'zod';
import type { Access } from '../../contracts/batch/access.ts';
import type { RefusalCode } from '../../contracts/batch/refusals.ts';
import type { AnswerHeader, Content, Method, OperationExamples } from '../../contracts/operation.ts';
import type { Identity } from './access/auth.ts';
import type { Caller } from './access/caller.ts';
import type { BodyReader } from './body/body.ts';
import type { Problem } from './problem.ts';
import type { PageReply, Reply, SmallReply } from './reply.ts';
import type { RequestNames } from './request-ids.ts';

/**
 * Batch service: `operator`, and `page`, which redirects a browser without a session to the login page. Portal: the
 * required role of the application; `known-or-ticket` admits every request, and the handler requires a ticket where
 * there is no key; `user` and `user-administrator` require the session of a user, and redirect to the sign-in page;
 * `editor` requires a session of the editor in another application, which no other policy admits; `provisioning` requires
 * a key as a bearer token.
 */
export type AuthPolicy =
  | 'anonymous'
  | 'operator'
  | 'page'
  | 'application'
  | 'monitor'
  | 'administrator'
  | 'known-or-ticket'
  | 'user'
  | 'user-administrator'
  | 'editor'
  | 'provisioning';

/** Rate limit of the caller's address that a request counts against (`RequestContextOptions.limiters`). */
export type RatePolicy = 'none' | 'upload' | 'actions' | 'validation' | 'visit';

/**
 * `json`: an optional JSON object, read whole; `form`: the fields of a small form, urlencoded or multipart, read
 * whole; `stream`: a form that the handler reads; `json-stream`: JSON that the handler reads; `none`: dropped.
 */
type BodyPolicy = 'none' | 'json' | 'form' | 'stream' | 'json-stream';

/** A validated request, as handlers receive it. `CallerIdentity`: the identity of callers in this service. */
export interface ApiRequest<Params, Query, Body, CallerIdentity = Identity> {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  /** For body policy `json`: SHA-256 of the body as sent, before its schema parses it. */
  fingerprint(): string;
  /** Present for body policies `stream` and `json-stream`. */
  readonly stream: BodyReader | undefined;
  /** One of the route's `headers`; empty when the client did not send it. */
  header(name: string): string;
  /** The method is HEAD. */
  readonly headOnly: boolean;
  /** Undefined on anonymous routes. */
  readonly identity: CallerIdentity | undefined;
  readonly caller: Caller;
  /** Ids of the request in log lines and problem bodies. */
  names(): RequestNames;
}

/** Credentials in a body; undefined when absent. */
export interface BodyCredentials {
  readonly ticket: string | undefined;
  readonly token: string | undefined;
}

/** A request whose credentials are read and whose body is not yet validated. */
export interface CredentialRequest<Params, CallerIdentity> {
  readonly params: Params;
  readonly credentials: BodyCredentials;
  /** Undefined when the request has no key. */
  readonly identity: CallerIdentity | undefined;
}

/** Data for the error page of a route for people. */
export interface PageFailure {
  readonly status: number;
  /** Reference for support. */
  readonly requestId: string;
  /** The query string without `?`. */
  readonly query: string | undefined;
  /** One of the route's `headers`; empty when absent or when the request failed before its headers were read. */
  header(name: string): string;
}

/** `Code`: the error codes of the service. */
export interface Route<
  Params = unknown,
  Query = unknown,
  Body = unknown,
  CallerIdentity = Identity,
  Code extends string = RefusalCode,
> {
  readonly method: Method;
  /** `{name}` matches one segment, passed decoded to `params`. */
  readonly path: string;
  /** Name of the operation's group in the API description (`ApiDescription.groups`). */
  readonly group: string;
  /** One sentence for people. */
  readonly summary: string;
  /** Rules and effects that the summary does not tell, CommonMark. */
  readonly description: string;
  readonly auth: AuthPolicy;
  /** Portal: the scope that a key with limited scopes needs. */
  readonly scope?: string;
  /** Batch service: what the caller needs. */
  readonly access?: Access;
  readonly rate: RatePolicy;
  /** Served during overload. @default false */
  readonly exemptFromLoadShedding?: boolean;
  /**
   * Served for any host name, and over http where https is required, so that the health checks of containers and load
   * balancers, which connect by address, work. @default false
   */
  readonly exemptFromEntryRules?: boolean;
  readonly bodyPolicy: BodyPolicy;
  /** Maximum size of a JSON body, bytes. @default `Conventions.bodyLimit` */
  readonly maxBodyBytes?: number;
  /** Name of the schema by which a worker thread parses large bodies. @default none: parsed on the main thread */
  readonly largeBody?: string;
  /**
   * For body policy `json`: checks the credentials in the body before the rest is parsed by `body`. Throws, or
   * rejects with, the refusal to send.
   */
  authorize?(request: CredentialRequest<Params, CallerIdentity>): Promise<void>;
  /** Lower-case names of the request headers the handler reads. */
  readonly headers: readonly string[];
  readonly params: z.ZodType<Params>;
  /**
   * Values are strings, or arrays of strings where a name occurs more than once. Pure: the result for an empty query
   * is computed once.
   */
  readonly query: z.ZodType<Query>;
  readonly body: z.ZodType<Body>;
  /** Codes for requests that do not fit `params`, `query` or `body`. */
  readonly invalidInput: { readonly params: Code; readonly query: Code; readonly body: Code };
  /** Schema or content of each status, or the alternatives. Errors are problem bodies and not listed. */
  readonly responses: {
    readonly [status: number]: z.ZodType | Content | readonly (z.ZodType | Content)[];
  };
  /** Headers of its successful answers beside those that follow from `responses`. @default none */
  readonly answerHeaders?: readonly AnswerHeader[];
  readonly examples?: OperationExamples;
  /** Every error code of the handler and its service; those of authentication and rate limit are added. */
  readonly refusals: readonly Code[];
  handle(request: ApiRequest<Params, Query, Body, CallerIdentity>): SmallReply | Promise<Reply>;
  /** Error page in place of a problem body. @default the problem body */
  readonly failurePage?: ((failure: PageFailure) => PageReply) | undefined;
  /** Form of refusals where another protocol fixes it. @default that of the conventions */
  readonly problems?: {
    /** Value of `WWW-Authenticate`. */
    readonly challenge: string;
    readonly contentType: string;
    body(problem: Problem): object;
  };
}

/** A route with erased types; the dispatcher validates by its schemas before it calls `handle`. */
// biome-ignore lint/suspicious/noExplicitAny: a list of routes holds requests of all types.
export type AnyRoute = Route<any, any, any, any, string>;

/** Members of routes of pages and their parts: they take no input, and have no rate limit. */
export const PLAIN_GET = {
  method: 'GET',
  rate: 'none',
  bodyPolicy: 'none',
  headers: [],
  params: z.object({}),
  query: z.object({}),
  body: z.unknown(),
  invalidInput: {
    params: 'route.not-found',
    query: 'validation.filter-invalid',
    body: 'validation.body-invalid',
  },
  refusals: [],
} as const;

/** Binds the schemas of a batch service route to the request type of its handler. */
export function route<Params, Query, Body>(definition: Route<Params, Query, Body>): AnyRoute {
  return definition;
}

export type Match =
  | {
      readonly found: true;
      readonly route: AnyRoute;
      /** Undefined for a path without parameters. */
      readonly params: Readonly<Record<string, string>> | undefined;
    }
  | { readonly found: false; readonly allow: string | undefined };

interface Pattern {
  /** The fixed prefix before the first parameter. */
  readonly start: string;
  readonly segments: readonly (string | { readonly name: string })[];
  readonly methods: Map<string, AnyRoute>;
}

/** Finds routes by method and path. Fixed paths win over those with parameters; HEAD is answered by GET. */
export class Router {
  readonly routes: readonly AnyRoute[];
  readonly #slashes: boolean;
  readonly #fixed = new Map<string, Map<string, AnyRoute>>();
  /** Routes by the number of path segments. */
  readonly #patterns: Pattern[][] = [];
  /** Matches of fixed paths, computed once. */
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

  /** `given`: path as sent by the client, without the query. */
  find(method: string, given: string): Match {
    const path = this.#slashes && given.length > 1 && given.endsWith('/') ? given.slice(0, -1) : given;
    const lookupMethod = method === 'HEAD' ? 'GET' : method;
    const fixed = this.#fixed.get(path)?.get(lookupMethod);
    const found = fixed && this.#found.get(fixed);
    if (found !== undefined) return found;
    const segments = path.split('/');
    for (const pattern of this.#patterns[segments.length] ?? []) {
      if (!path.startsWith(pattern.start)) continue;
      const params = matchSegments(pattern.segments, segments);
      const matched = params && pattern.methods.get(lookupMethod);
      if (matched !== undefined) return { found: true, route: matched, params };
    }
    return { found: false, allow: this.#allowed(path, segments) };
  }

  /** The methods of a known path. */
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
    const alike = this.#patterns[segments.length] ?? [];
    this.#patterns[segments.length] = alike;
    const shape = shapeOf(segments);
    const known = alike.find((pattern) => shapeOf(pattern.segments) === shape);
    if (known !== undefined) return known.methods;
    const methods = new Map<string, AnyRoute>();
    alike.push({ start: path.slice(0, path.indexOf('{')), segments, methods });
    return methods;
  }
}

/** Text of the segments without the names of parameters: the same for patterns that match the same paths. */
function shapeOf(segments: Pattern['segments']): string {
  return JSON.stringify(segments.map((segment) => (typeof segment === 'string' ? segment : null)));
}

function matchSegments(
  segments: Pattern['segments'],
  given: readonly string[],
): Record<string, string> | undefined {
  // From the end, where patterns of the same length differ most.
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
