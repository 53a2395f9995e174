/** Differences between the services' descriptions: refusals and authentication. */
import type { AnyRoute } from '../router.ts';
import type { Schema } from './schemas.ts';

/** True for each kind of parameter that the operation has. */
export interface RequestShapes {
  readonly params: boolean;
  readonly query: boolean;
}

export interface RefusalInfo {
  /** Media type of every refusal. */
  readonly mediaType: string;
  /** Schemas that `schema` references, by name. */
  readonly schemas: { readonly [name: string]: Schema };
  /** Every code that the route can return: its own, those of its schemas, authentication, rate limit and server. */
  codesOf(route: AnyRoute, asked: RequestShapes): Iterable<string>;
  /** Status of each code, null for one that no reply carries, and one sentence for people. */
  readonly table: { readonly [code: string]: { readonly status: number | null; readonly title: string } };
  /** Body of a refusal with this status, which has one of these codes. */
  schema(status: number, codes: readonly string[]): Schema;
}

export interface SecurityInfo {
  /** Source: OpenAPI 3.1.1 §4.8.27. */
  readonly schemes: { readonly [name: string]: object };
  /** Security requirements of the operation; empty = none. Source: OpenAPI 3.1.1 §4.8.30. */
  of(route: AnyRoute): readonly object[];
}
