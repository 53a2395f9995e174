/** Every list and text in requests has a maximum size, in both descriptions. */
import test from 'ava';
import type { OpenApiDocument } from '../../../http/core/openapi/document.ts';
import { withPartsInPlace } from '../../../http/core/openapi/shared-parts.ts';
import { batchDocument, portalDocument } from '../descriptions.ts';

type Schema = { readonly [keyword: string]: unknown };

/** Accepted and ignored: only the body bounds its values. Source: docs/portal-values.md §5. */
const IGNORED = /\.templateFieldValues\.\*$/;

interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly schema: Schema }[];
  readonly requestBody?: { readonly content: { readonly [type: string]: { readonly schema: Schema } } };
}

function* unbounded(document: OpenApiDocument): Generator<string> {
  const schemas = (document.components['schemas'] ?? {}) as { readonly [name: string]: Schema };
  for (const [path, methods] of Object.entries(withPartsInPlace(document).paths)) {
    for (const [method, operation] of Object.entries(methods) as [string, Operation][]) {
      const name = `${method.toUpperCase()} ${path}`;
      for (const parameter of operation.parameters ?? []) {
        yield* walk(parameter.schema, `${name} ?${parameter.name}`, schemas);
      }
      for (const { schema } of Object.values(operation.requestBody?.content ?? {})) {
        yield* walk(schema, name, schemas);
      }
    }
  }
}

/** Members without a bound, in a schema and its nested schemas. */
function* walk(
  schema: Schema,
  place: string,
  schemas: { readonly [name: string]: Schema },
): Generator<string> {
  const { $ref } = schema;
  if (typeof $ref === 'string') {
    yield* walk(schemas[$ref.split('/').at(-1) ?? ''] ?? {}, place, schemas);
    return;
  }
  const parts = (['anyOf', 'oneOf', 'allOf'] as const).flatMap(
    (keyword) => (schema[keyword] ?? []) as readonly Schema[],
  );
  for (const part of parts) yield* walk(part, place, schemas);
  if (parts.length > 0) return;
  const types = [schema['type']].flat();
  const isChosen = schema['enum'] !== undefined || schema['const'] !== undefined;
  const isFile = schema['contentMediaType'] === 'application/octet-stream';
  if (types.includes('string') && !isChosen && !isFile && schema['format'] !== 'uuid') {
    if (typeof schema['maxLength'] !== 'number') yield `${place}: a text without maxLength`;
  }
  if (types.includes('array')) {
    if (typeof schema['maxItems'] !== 'number') yield `${place}: a list without maxItems`;
    yield* walk((schema['items'] ?? {}) as Schema, `${place}[]`, schemas);
  }
  for (const [name, inner] of Object.entries((schema['properties'] ?? {}) as { [name: string]: Schema })) {
    yield* walk(inner, `${place}.${name}`, schemas);
  }
  const more = schema['additionalProperties'];
  if (typeof more === 'object' && more !== null && schema['properties'] === undefined) {
    if (typeof schema['maxProperties'] !== 'number') yield `${place}: a map without maxProperties`;
    yield* walk(more as Schema, `${place}.*`, schemas);
  }
  if (types[0] === undefined && !isChosen && !IGNORED.test(place)) yield `${place}: anything at all`;
}

test('every list and text of every request of the batch service has a maximum size', (t) => {
  t.deepEqual([...unbounded(batchDocument())], []);
});

test('every list and text of every request of the portal has a maximum size', (t) => {
  t.deepEqual([...unbounded(portalDocument())], []);
});
