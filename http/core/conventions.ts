/**
 * Conventions of one API: how it reads requests and formats refusals. The rest of HTTP is the same for both services.
 */
import type { z } from 'zod';
import type { Problem, ProblemContext } from './problem.ts';
import type { PageReply, Reply } from './reply.ts';
import type { AnyRoute, PageFailure } from './router.ts';

/** A request whose JSON body is to be read. */
export interface BodyRequest {
  readonly route: AnyRoute;
  /** Result of `route.params`. */
  readonly params: unknown;
  /** Identity of the caller from the access check; undefined on anonymous routes. */
  readonly identity: unknown;
  readonly stream: AsyncIterable<Buffer>;
  /** Headers; empty when absent. */
  readonly contentType: string;
  readonly contentLength: string;
}

/** A JSON body that fits its route. */
export interface CheckedBody {
  /** Result of `route.body`. */
  readonly value: unknown;
  /** SHA-256 of the received JSON value, hex. */
  fingerprint(): string;
  /** Members that were ignored, as `X-Ignored-Members` has them. @default none */
  readonly ignored?: string | undefined;
}

/** A request for a path that does not exist. */
interface UnroutedRequest extends PageFailure {
  /** As sent by the client, without the query. */
  readonly path: string;
}

export interface Conventions {
  /** Media type of every refusal. */
  readonly problemType: string;
  /** Converts a thrown value to a problem. Never throws. */
  problemFrom(thrown: unknown): Problem;
  /** The body of a refusal; JSON-safe. */
  problemBody(problem: Problem, context: ProblemContext): object;
  /** Parses a query string (without `?`) to the input of the routes' schemas. */
  readQuery(text: string | undefined): object;
  /** Maximum size of a route's JSON body or form, bytes. */
  bodyLimit(route: Pick<AnyRoute, 'auth' | 'maxBodyBytes'>): number;
  /**
   * Reads the JSON value in a body and parses it by the route's schema; an empty body is an empty object. Checks
   * credentials in the body before the rest. Throws the refusal to send.
   */
  readJson(request: BodyRequest): Promise<CheckedBody>;
  /** The refusal of a body with a Content-Encoding. Source: RFC 9110 §15.5.16. */
  encodedBody(): Error;
  /** Page for an unknown path that a browser requests; undefined: the problem body. */
  notFoundPage(request: UnroutedRequest): PageReply | undefined;
  /** The reply as clients see it; undefined: as it is. */
  readonly present?: (reply: Reply) => Reply;
  /** Parses a value by `schema`. Throws the refusal to send, with `code` where codes apply. */
  check<T>(schema: z.ZodType<T>, value: unknown, code: string): T;
}
