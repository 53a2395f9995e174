/**
 * What differs between the services' descriptions: how they refuse, and how they know their callers.
 */
import type { AnyRoute } from '../router.ts';
import type { Schema } from './schemas.ts';

/** Whether an operation has path parameters and query parameters. */
export interface Asked {
  readonly params: boolean;
  readonly query: boolean;
}

export interface RefusalFacts {
  /** Media type of every refusal. */
  readonly mediaType: string;
  /** Schemas that `schema` refers to, by name. */
  readonly schemas: { readonly [name: string]: Schema };
  /** Every code that the route can answer: its own, its schemas', those of authentication, rate and server. */
  codesOf(route: AnyRoute, asked: Asked): Iterable<string>;
  /** Null for a code that is no answer. */
  statusOf(code: string): number | null;
  /** One sentence for people. */
  titleOf(code: string): string;
  /** The body of a refusal with this status, which has one of these codes. */
  schema(status: number, codes: readonly string[]): Schema;
}

export interface SecurityFacts {
  /** Source: OpenAPI 3.1.1 §4.8.27. */
  readonly schemes: { readonly [name: string]: object };
  /** What an operation needs; empty = nothing. Source: OpenAPI 3.1.1 §4.8.30. */
  of(route: AnyRoute): readonly object[];
}
