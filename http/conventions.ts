/**
 * How one API reads requests and words its refusals. All else of HTTP is the same for both services; this is where
 * they differ.
 */
import type { z } from 'zod';
import type { Problem, ProblemScene } from './problem.ts';

export interface Conventions {
  /** Media type of every refusal. */
  readonly problemType: string;
  /** What a thrown value means to the client. Never throws. */
  problemFrom(thrown: unknown): Problem;
  /** The body of a refusal; JSON-safe. */
  problemBody(problem: Problem, scene: ProblemScene): object;
  /** What stands behind `?`, as the schemas of routes expect it. */
  readQuery(text: string | undefined): object;
  /** The JSON value in a body; an empty body is an empty object. Throws what the client is to be told. */
  readJson(
    body: AsyncIterable<Buffer>,
    head: { readonly contentType: string; readonly contentLength: string },
  ): Promise<unknown>;
  /** The value as `schema` gives it. Throws what the client is to be told, with `code` where codes say so. */
  check<T>(schema: z.ZodType<T>, value: unknown, code: string): T;
}
