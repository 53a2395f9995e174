/**
 * Converts the schemas of the route table to JSON Schema; named schemas become shared components.
 *
 * Source: OpenAPI 3.1.1 §4.8.24 ("Schema Object"), whose dialect is JSON Schema 2020-12.
 */
import { z } from 'zod';

/** A JSON Schema. */
export type Schema = { readonly [keyword: string]: unknown };

/**
 * A schema may carry `.meta({ openapi: … })`: a simpler schema for the description than the accepted input, such as a
 * list of names where the input is a comma-separated text. It, and the values of its keywords, may be Zod schemas.
 */
const OMITTED_KEYWORDS = 'openapi';

/** Zod drops `examples` of transforming schemas in requests, so members carry `.meta({ exampleValue: … })`. */
const EXAMPLE = 'exampleValue';

/** Three digits of a second, and UTC. */
const TIMESTAMP = '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$';

const COMPONENTS = '#/components/schemas/';

type Mutable = { [keyword: string]: unknown };

/** Collects the schemas with a name (`.meta({ id })`). */
export class SchemaBook {
  readonly #named = new Map<string, Schema>();
  readonly #requested = new Set<string>();

  /** Every named schema so far, by name. */
  get named(): { readonly [name: string]: Schema } {
    return Object.fromEntries([...this.#named].sort(([left], [right]) => (left < right ? -1 : 1)));
  }

  /** True for a schema that requests have. */
  isRequested(name: string): boolean {
    return this.#requested.has(name);
  }

  /** A named schema in place of a reference to it. */
  resolved(schema: Schema): Schema {
    const { $ref } = schema;
    if (typeof $ref !== 'string') return schema;
    return this.resolved(this.#named.get($ref.slice(COMPONENTS.length)) ?? {});
  }

  /** Schema of request values. */
  input(schema: z.ZodType): Schema {
    return this.#convert(schema, 'input');
  }

  /** Schema of reply values. */
  output(schema: z.ZodType): Schema {
    return this.#convert(schema, 'output');
  }

  /** Names a schema. */
  define(name: string, schema: Schema): void {
    this.#name(name, schema);
  }

  #name(name: string, schema: Schema): void {
    const known = this.#named.get(name);
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(schema))
      throw new Error(`Two schemas are named ${name}.`);
    this.#named.set(name, schema);
  }

  #convert(schema: z.ZodType, io: 'input' | 'output'): Schema {
    const inner = (nested: unknown) => (nested instanceof z.ZodType ? this.#convert(nested, io) : nested);
    const made: Mutable = {
      ...z.toJSONSchema(schema, {
        io,
        unrepresentable: 'any',
        override: ({ jsonSchema }) => override(jsonSchema, inner),
      }),
    };
    const definitions = (made['$defs'] ?? {}) as { readonly [name: string]: Schema };
    delete made['$defs'];
    delete made['$schema'];
    for (const [name, definition] of Object.entries(definitions)) {
      this.#name(name, pointToComponents(definition) as Schema);
      if (io === 'input') this.#requested.add(name);
    }
    return pointToComponents(made) as Schema;
  }
}

function override(schema: Mutable, inner: (nested: unknown) => unknown): void {
  const keywords = inner(schema[OMITTED_KEYWORDS]);
  if (typeof keywords === 'object' && keywords !== null) {
    const { description } = schema;
    const example = schema[EXAMPLE];
    for (const keyword of Object.keys(schema)) delete schema[keyword];
    const described = Object.entries(keywords).map(([keyword, value]) => [keyword, inner(value)]);
    Object.assign(schema, description === undefined ? {} : { description }, Object.fromEntries(described));
    if (example !== undefined) schema[EXAMPLE] = example;
  }
  if (schema[EXAMPLE] !== undefined) {
    schema['examples'] = [schema[EXAMPLE]];
    delete schema[EXAMPLE];
  }
  // A file: any bytes, for readers of the format and of the media type. Source: OpenAPI 3.1.1 §4.8.14.3.
  if (schema['format'] === 'binary') {
    delete schema['contentEncoding'];
    schema['contentMediaType'] = 'application/octet-stream';
  }
  // `format` is enough; the patterns have hundreds of characters.
  if (schema['format'] === 'uuid') delete schema['pattern'];
  if (schema['format'] === 'date-time') schema['pattern'] = TIMESTAMP;
  // Omits the range of integers that a double represents exactly.
  if (schema['minimum'] === Number.MIN_SAFE_INTEGER) delete schema['minimum'];
  if (schema['maximum'] === Number.MAX_SAFE_INTEGER) delete schema['maximum'];
}

/**
 * Null beside one plain type: `type: [X, "null"]`, which more tools know than `anyOf`. Bounds say nothing about null; the
 * values of an enumeration do.
 */
function withPlainNull({ anyOf, ...schema }: Schema): Schema {
  const [plain, none] = (Array.isArray(anyOf) && anyOf.length === 2 ? anyOf : []) as Schema[];
  if (none?.['type'] !== 'null' || typeof plain?.['type'] !== 'string')
    return anyOf === undefined ? schema : { ...schema, anyOf };
  const { const: only, enum: values = only === undefined ? undefined : [only], ...bounds } = plain;
  return {
    ...bounds,
    ...schema,
    type: [plain['type'], 'null'],
    ...(Array.isArray(values) && { enum: [...values, null] }),
  };
}

/** Converts references into the schema to references into the document. */
function pointToComponents(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(pointToComponents);
  if (typeof value !== 'object' || value === null) return value;
  const converted = Object.fromEntries(
    Object.entries(value).map(([keyword, inner]) => [
      keyword,
      keyword === '$ref' && typeof inner === 'string'
        ? inner.replace(/^#\/\$defs\//, COMPONENTS)
        : pointToComponents(inner),
    ]),
  );
  return withPlainNull(converted);
}
