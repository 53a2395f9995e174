/**
 * Builds one operation from a route: parameters, request body and responses.
 *
 * Source: OpenAPI 3.1.1 §4.8.10 ("Operation Object").
 */

import type { OperationExamples } from '../../../contracts/operation.ts';
import type { AnyRoute } from '../router.ts';
import { MAX_HEAD_BYTES } from '../transport/head-limit.ts';
import { exampleOf } from './example-values.ts';
import { withExample } from './examples.ts';
import { type Descriptions, headerParameters, type Parameter } from './headers.ts';
import type { SecurityInfo } from './operation-info.ts';
import { type ResponseContext, responsesOf } from './responses.ts';
import type { Schema, SchemaBook } from './schemas.ts';
import { identifier } from './shared-parts.ts';

/** Context shared by all operations of a service. */
export interface OperationContext extends ResponseContext {
  readonly security: SecurityInfo;
  readonly headers: Descriptions;
}

export function operationOf(route: AnyRoute, context: OperationContext): object {
  const { book, security, headers } = context;
  const { description, examples = {} } = route;
  const path = members(book.input(route.params));
  const query = members(book.input(route.query));
  const parameters: readonly Parameter[] = [
    ...path.map(([name, schema]) => ({
      in: 'path',
      name,
      required: true,
      ...withDescription(bounded(schema)),
    })),
    ...query.map(([name, schema, required]) => ({
      in: 'query',
      name,
      required,
      ...withDescription(bounded(schema)),
    })),
    ...headerParameters(route.headers, headers),
  ];
  const requestBody = bodyOf(route, book, examples.request);
  const asked = { params: path.length > 0, query: query.length > 0 };
  return {
    operationId: operationId(route),
    summary: route.summary,
    ...(description !== undefined && { description }),
    tags: [route.group],
    security: security.of(route),
    ...(parameters.length > 0 && { parameters }),
    ...(requestBody !== undefined && { requestBody }),
    responses: exemplified(responsesOf(route, asked, context), examples),
  };
}

/**
 * `GET /api/jobs/{id}/output` → `getJobsByIdOutput`, `GET /jobs` → `getJobsPage`: built from method and path, with a
 * suffix for pages, whose paths may equal those of the API.
 */
export function operationId({ method, path, auth }: Pick<AnyRoute, 'method' | 'path' | 'auth'>): string {
  const words = path
    .split('/')
    .filter((segment) => segment !== '' && segment !== 'api')
    .map((segment) => {
      const name = /^\{(\w+)\}$/.exec(segment)?.[1];
      return name === undefined ? segment : `by-${name}`;
    })
    .join('-')
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word !== '');
  const named = [...(words.length === 0 ? ['root'] : words), ...(auth === 'page' ? ['page'] : [])];
  return `${method.toLowerCase()}${identifier(named)}`;
}

/** Name, schema and required flag of each member of an object. */
function members(schema: Schema): readonly (readonly [name: string, schema: Schema, required: boolean])[] {
  const properties = (schema['properties'] ?? {}) as { readonly [name: string]: Schema };
  const required = new Set((schema['required'] ?? []) as readonly string[]);
  return Object.entries(properties).map(([name, inner]) => [name, inner, required.has(name)] as const);
}

/** A parameter has its description and its example beside its schema. */
function withDescription({
  description,
  ...schema
}: Schema): Pick<Parameter, 'description' | 'example' | 'schema'> {
  const { examples: _, ...bare } = schema;
  const described = typeof description === 'string' && { description };
  return { ...described, example: exampleOf(schema, {}), schema: bare };
}

/** Parameters are bounded by the size limit of the request head. */
function bounded(schema: Schema): Schema {
  const { type, anyOf, items } = schema;
  const types: readonly unknown[] = Array.isArray(type) ? type : [type];
  return {
    ...(types.includes('array') && { maxItems: MAX_HEAD_BYTES }),
    ...schema,
    ...(types.includes('string') && !isBoundedText(schema) && { maxLength: MAX_HEAD_BYTES }),
    ...(Array.isArray(anyOf) && { anyOf: anyOf.map((one: Schema) => bounded(one)) }),
    ...(typeof items === 'object' && items !== null && { items: bounded(items as Schema) }),
  };
}

function isBoundedText(schema: Schema): boolean {
  const rules = ['maxLength', 'enum', 'const'].some((keyword) => schema[keyword] !== undefined);
  return rules || schema['format'] === 'uuid';
}

/** Each reply with its example. */
function exemplified(responses: ReturnType<typeof responsesOf>, examples: OperationExamples): object {
  return Object.fromEntries(
    Object.entries(responses).map(([status, response]) => {
      if (!('content' in response)) return [status, response];
      const example = examples.responses?.[Number(status)] ?? (status < '300' ? examples.reply : undefined);
      return [status, { ...response, content: withExample(response.content, example) }];
    }),
  );
}

function bodyOf(route: AnyRoute, book: SchemaBook, example: unknown): object | undefined {
  if (route.bodyPolicy === 'none') return undefined;
  const schema = book.input(route.body);
  const required = members(book.resolved(schema)).some(([, , needed]) => needed);
  switch (route.bodyPolicy) {
    case 'json':
    case 'json-stream':
      return { required, content: withExample({ 'application/json': { schema } }, example) };
    case 'form':
      return {
        required: true,
        content: { 'application/x-www-form-urlencoded': { schema }, 'multipart/form-data': { schema } },
      };
    case 'stream':
      return { required: true, content: { 'multipart/form-data': { schema } } };
  }
}
