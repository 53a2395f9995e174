/**
 * The description of a service's interface, made from its route table.
 *
 * Source: OpenAPI Specification 3.1.1; architecture §7.
 */
import type { AnyRoute } from '../router.ts';
import type { OperationExamples } from './examples.ts';
import type { RefusalFacts, SecurityFacts } from './facts.ts';
import { RESPONSE_HEADERS } from './headers.ts';
import { operationOf } from './operation.ts';
import { SHARED_RESPONSES } from './responses.ts';
import { SchemaBook } from './schemas.ts';

/** What a route table does not say about its service. */
export interface ApiFacts {
  readonly title: string;
  /** Version of the program. */
  readonly version: string;
  /** CommonMark. */
  readonly description: string;
  /** Groups of operations in reading order; a path belongs to the first that fits, and one must fit. */
  readonly groups: readonly { readonly name: string; readonly description: string; readonly paths: RegExp }[];
  /** Media types of the files that it sends. */
  readonly fileTypes: readonly string[];
  readonly refusals: RefusalFacts;
  readonly security: SecurityFacts;
  /** Method and path, as `GET /api/jobs` → what the operation does, CommonMark. @default none but the summaries */
  readonly words?: { readonly [operation: string]: string };
  /** @default none */
  readonly examples?: OperationExamples;
}

/** An OpenAPI document; its inner objects are as the specification says. */
export interface OpenApiDocument {
  readonly openapi: '3.1.1';
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly jsonSchemaDialect: string;
  readonly servers: readonly { readonly url: string }[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: { readonly [path: string]: { readonly [method: string]: object } };
  readonly components: { readonly [kind: string]: { readonly [name: string]: object } };
}

/** Throws when a path belongs to no group, or two operations would have one id: both are faults of ours. */
export function describeApi(routes: readonly AnyRoute[], facts: ApiFacts): OpenApiDocument {
  const book = new SchemaBook();
  for (const [name, schema] of Object.entries(facts.refusals.schemas)) book.define(name, schema);
  const scene = {
    book,
    fileTypes: facts.fileTypes,
    refusals: facts.refusals,
    security: facts.security,
    words: facts.words ?? {},
    examples: facts.examples ?? {},
    tagOf: (path: string) => {
      const group = facts.groups.find(({ paths }) => paths.test(path));
      if (group === undefined) throw new Error(`${path} belongs to no group of the API description.`);
      return group.name;
    },
  };
  const paths: { [path: string]: { [method: string]: object } } = {};
  const ids = new Set<string>();
  for (const route of routes) {
    const operation = operationOf(route, scene);
    const id = (operation as { readonly operationId: string }).operationId;
    if (ids.has(id)) throw new Error(`Two operations would be called ${id}.`);
    ids.add(id);
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operation };
  }
  const used = new Set(routes.map(({ path }) => scene.tagOf(path)));
  return {
    openapi: '3.1.1',
    info: { title: facts.title, version: facts.version, description: facts.description },
    jsonSchemaDialect: 'https://json-schema.org/draft/2020-12/schema',
    servers: [{ url: '/' }],
    tags: facts.groups
      .filter(({ name }) => used.has(name))
      .map(({ name, description }) => ({ name, description })),
    paths,
    components: {
      securitySchemes: facts.security.schemes,
      headers: RESPONSE_HEADERS,
      responses: SHARED_RESPONSES,
      schemas: book.named,
    },
  };
}
