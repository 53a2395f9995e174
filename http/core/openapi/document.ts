/**
 * Builds the OpenAPI document of a service from its route table.
 *
 * Source: OpenAPI Specification 3.1.1.
 */
import type { AnyRoute } from '../router.ts';
import { MAX_HEAD_BYTES } from '../transport/head-limit.ts';
import { exampleOf } from './example-values.ts';
import { withComposedExamples } from './examples.ts';
import { type Descriptions, RESPONSE_HEADERS } from './headers.ts';
import { operationOf } from './operation.ts';
import type { RefusalInfo, SecurityInfo } from './operation-info.ts';
import { ResponseBook } from './responses.ts';
import { type Schema, SchemaBook } from './schemas.ts';
import { withSharedParts } from './shared-parts.ts';
import { WEBHOOK_HEADERS, type WebhookDescriptions, webhooksOf } from './webhooks.ts';

type Mutable = { [keyword: string]: unknown };

/** Maximum nesting of schemas that get examples. */
const MAX_DEPTH = 40;

/** Texts with these formats have one example each. */
const FORMATS = new Set(['uuid', 'date-time', 'date']);

/**
 * Adds examples in place, at any depth, to properties that have none and whose type determines one: booleans,
 * enumerations with null, ids and times. `flag`: example of a boolean; true in
 * requests, which send a flag to set it. Source: JSON Schema 2020-12 Validation §9.5 (`examples`).
 */
function exemplifyProperties(schema: unknown, flag: boolean, depth = 0): void {
  if (typeof schema !== 'object' || schema === null || depth > MAX_DEPTH) return;
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === 'example' || keyword === 'examples') continue;
    if (keyword === 'properties') exemplifyMembers(value as Mutable, flag, depth);
    else exemplifyProperties(value, flag, depth + 1);
  }
}

function exemplifyMembers(properties: Mutable, flag: boolean, depth: number): void {
  for (const [name, given] of Object.entries(properties)) {
    properties[name] = withExample(given as Schema, flag);
    exemplifyProperties(properties[name], flag, depth + 1);
  }
}

function withExample(schema: Schema, flag: boolean): Schema {
  if (hasExample(schema) || !determinesExample(schema)) return schema;
  return { ...schema, examples: [isFlag(schema) ? flag : exampleOf(schema, {})] };
}

/** True when the schema states an example, or lists its values. */
export function hasExample(schema: Schema): boolean {
  return ['examples', 'example', 'const', 'enum'].some((keyword) => schema[keyword] !== undefined);
}

function isFlag({ type }: Schema): boolean {
  return [type].flat().includes('boolean');
}

function determinesExample(schema: Schema): boolean {
  const { anyOf, type, format, items } = schema;
  if (hasExample(schema) || isFlag(schema)) return true;
  if (Array.isArray(anyOf)) return anyOf.every((one: Schema) => determinesExample(one));
  if (typeof format === 'string') return FORMATS.has(format);
  if (typeof items === 'object' && items !== null) return determinesExample(items as Schema);
  return type === 'null';
}

/** Rules of every operation of both services, CommonMark. */
const EVERYWHERE = `A request whose line and headers have more than ${MAX_HEAD_BYTES} bytes is answered 431 without a body, and the
connection is closed.

Later versions may add operations, optional members and parameters, members of answers, types of events and codes of refusals:
ignore what you do not know, although the schemas of answers, which are those of this version, list all members and codes.
Later versions never rename a member, a code or an \`operationId\`, never narrow a bound of requests, and never remove a value
of answers; what needs that gets a path of its own.`;

/** Properties of the service that its route table does not contain. */
export interface ApiDescription {
  readonly title: string;
  /** Version of the program. */
  readonly version: string;
  /** CommonMark. */
  readonly description: string;
  /** Groups of operations in reading order. */
  readonly groups: readonly { readonly name: string; readonly description: string }[];
  /** Media types of the files that the service sends. */
  readonly fileTypes: readonly string[];
  readonly refusals: RefusalInfo;
  readonly security: SecurityInfo;
  /** Address of the service. One for all addresses of the machine, or with a free port, is a variable. @default a variable */
  readonly address?: string | undefined;
  /** Request headers that this service alone reads. @default none */
  readonly headers?: Descriptions;
  /** Calls that the service makes, by type of event. @default none */
  readonly webhooks?: WebhookDescriptions;
}

interface ServerInfo {
  readonly url: string;
  readonly variables?: { readonly address: { readonly default: string; readonly description: string } };
}

/** Source: OpenAPI 3.1.1, 4.8.5. */
function serverOf(address: string | undefined): ServerInfo {
  const isReached = address !== undefined && !/^\w+:\/\/(0\.0\.0\.0|\[::\])|:0\/?$/.test(address);
  if (isReached) return { url: address.replace(/\/$/, '') };
  const description = 'Address of the service, which its configuration does not name.';
  return { url: '{address}', variables: { address: { default: 'http://127.0.0.1:8080', description } } };
}

/** An OpenAPI document; its inner objects follow the specification. */
export interface OpenApiDocument {
  readonly openapi: '3.1.1';
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly servers: readonly [ServerInfo];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: { readonly [path: string]: { readonly [method: string]: object } };
  readonly webhooks?: { readonly [type: string]: { readonly post: object } };
  readonly components: { readonly [kind: string]: { readonly [name: string]: object } };
}

/**
 * Throws when the group of a route is unknown, or two operations have the same id: both are defects of the route table.
 */
export function describeApi(routes: readonly AnyRoute[], api: ApiDescription): OpenApiDocument {
  const book = new SchemaBook();
  for (const [name, schema] of Object.entries(api.refusals.schemas)) book.define(name, schema);
  const responses = new ResponseBook();
  const context = {
    book,
    responses,
    fileTypes: api.fileTypes,
    refusals: api.refusals,
    security: api.security,
    headers: api.headers ?? {},
  };
  const groups = new Set(api.groups.map(({ name }) => name));
  const paths: { [path: string]: { [method: string]: object } } = {};
  const ids = new Set<string>();
  for (const route of routes) {
    if (!groups.has(route.group))
      throw new Error(`${route.path} belongs to the group ${route.group}, which the API description lacks.`);
    const operation = operationOf(route, context);
    const id = (operation as { readonly operationId: string }).operationId;
    if (ids.has(id)) throw new Error(`Two operations would be called ${id}.`);
    ids.add(id);
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operation };
  }
  const used = new Set(routes.map(({ group }) => group));
  // A copy: the schemas of refusals are constants of the service.
  const document: OpenApiDocument = structuredClone({
    openapi: '3.1.1',
    info: { title: api.title, version: api.version, description: `${api.description}\n\n${EVERYWHERE}` },
    servers: [serverOf(api.address)],
    tags: api.groups.filter(({ name }) => used.has(name)),
    paths,
    ...(api.webhooks !== undefined && { webhooks: webhooksOf(api.webhooks, book) }),
    components: {
      securitySchemes: api.security.schemes,
      headers: RESPONSE_HEADERS,
      ...(api.webhooks !== undefined && { parameters: WEBHOOK_HEADERS }),
      responses: responses.named,
      schemas: book.named,
    },
  });
  addExamples(document, book);
  return withSharedParts(document);
}

function addExamples({ paths, components, webhooks = {} }: OpenApiDocument, book: SchemaBook): void {
  const schemas = components['schemas'] ?? {};
  for (const [name, schema] of Object.entries(schemas)) exemplifyProperties(schema, book.isRequested(name));
  for (const { post } of Object.values(webhooks)) {
    exemplifyProperties(post, false);
    const { requestBody } = post as { readonly requestBody: object };
    withComposedExamples({ 200: requestBody }, schemas);
  }
  for (const methods of Object.values(paths)) {
    for (const operation of Object.values(methods)) {
      const { requestBody, responses } = operation as OperationSchemas;
      exemplifyProperties(requestBody, true);
      exemplifyProperties(responses, false);
      withComposedExamples(responses, schemas);
    }
  }
}

/** The parts of an operation that have schemas. */
interface OperationSchemas {
  readonly requestBody?: object;
  readonly responses: { readonly [status: string]: object };
}
