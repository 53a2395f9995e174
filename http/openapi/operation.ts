/**
 * One route as an operation: what may be sent, and what is answered.
 *
 * Source: OpenAPI 3.1.1 §4.8.10 ("Operation Object").
 */
import type { AnyRoute } from '../router.ts';
import { type OperationExamples, withExample } from './examples.ts';
import type { RefusalFacts, SecurityFacts } from './facts.ts';
import { headerParameters } from './headers.ts';
import { responsesOf } from './responses.ts';
import type { Schema, SchemaBook } from './schemas.ts';

/** What all operations of a service share. */
export interface OperationScene {
  readonly book: SchemaBook;
  readonly fileTypes: readonly string[];
  readonly refusals: RefusalFacts;
  readonly security: SecurityFacts;
  /** Method and path → what the operation does, CommonMark. */
  readonly words: { readonly [operation: string]: string };
  readonly examples: OperationExamples;
  /** Name of the group a path belongs to. */
  tagOf(path: string): string;
}

export function operationOf(route: AnyRoute, scene: OperationScene): object {
  const { book, security, tagOf, words, examples } = scene;
  const name = `${route.method} ${route.path}`;
  const { sends, answers = {} } = examples[name] ?? {};
  const path = members(book.input(route.params));
  const query = members(book.input(route.query));
  const parameters = [
    ...path.map(([name, schema]) => ({ in: 'path', name, required: true, ...described(schema) })),
    ...query.map(([name, schema, required]) => ({ in: 'query', name, required, ...described(schema) })),
    ...headerParameters(route.headers),
  ];
  const requestBody = bodyOf(route, book, sends);
  const asked = { params: path.length > 0, query: query.length > 0 };
  return {
    operationId: operationId(route),
    summary: route.summary,
    ...(words[name] !== undefined && { description: words[name] }),
    tags: [tagOf(route.path)],
    security: security.of(route),
    ...(parameters.length > 0 && { parameters }),
    ...(requestBody !== undefined && { requestBody }),
    responses: exemplified(responsesOf(route, asked, scene), answers),
  };
}

/**
 * `GET /api/jobs/{id}/output` → `getJobsByIdOutput`, `GET /jobs` → `getJobsPage`: made of method and path, and of
 * whether it is a page, which may be called like what it shows.
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
  return `${method.toLowerCase()}${named.map((word) => `${word[0]?.toUpperCase() ?? ''}${word.slice(1)}`).join('')}`;
}

/** Name, schema and whether it must be given, of each member of an object. */
function members(schema: Schema): readonly (readonly [name: string, schema: Schema, required: boolean])[] {
  const properties = (schema['properties'] ?? {}) as { readonly [name: string]: Schema };
  const required = new Set((schema['required'] ?? []) as readonly string[]);
  return Object.entries(properties).map(([name, inner]) => [name, inner, required.has(name)] as const);
}

/** A parameter has its description beside its schema. */
function described({ description, ...schema }: Schema): object {
  return description === undefined ? { schema } : { description, schema };
}

/** Each answer with its example. */
function exemplified(
  responses: ReturnType<typeof responsesOf>,
  answers: { readonly [status: number]: unknown },
): object {
  return Object.fromEntries(
    Object.entries(responses).map(([status, response]) => {
      if (!('content' in response)) return [status, response];
      return [status, { ...response, content: withExample(response.content, answers[Number(status)]) }];
    }),
  );
}

function bodyOf(route: AnyRoute, book: SchemaBook, example: unknown): object | undefined {
  if (route.bodyPolicy === 'none') return undefined;
  const schema = book.input(route.body);
  const required = members(schema).some(([, , needed]) => needed);
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
      return { required: true, content: { 'multipart/form-data': { schema: withFiles(schema) } } };
  }
}

/** Parts of a form that are files have bytes of any type. Source: OpenAPI 3.1.1 §4.8.14.3. */
function withFiles(schema: Schema): Schema {
  const properties = members(schema).map(([name, inner]) => {
    if (inner['format'] !== 'binary') return [name, inner] as const;
    const { description } = inner;
    const bytes = { type: 'string', contentMediaType: 'application/octet-stream' };
    return [name, description === undefined ? bytes : { description, ...bytes }] as const;
  });
  return { ...schema, properties: Object.fromEntries(properties) };
}
