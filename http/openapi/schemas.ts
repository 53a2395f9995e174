/**
 * Schemas of the route table as JSON Schema, with those that have a name put where every operation can refer to them.
 *
 * Source: OpenAPI 3.1.1 §4.8.24 ("Schema Object"), whose dialect is JSON Schema 2020-12.
 */
import { z } from 'zod';

/** A JSON Schema. */
export type Schema = { readonly [keyword: string]: unknown };

/**
 * A schema may carry `.meta({ openapi: … })`: what clients are told to send where that is simpler than what is
 * accepted, such as a list of names for text in which names are separated by commas.
 */
const TOLD_INSTEAD = 'openapi';

/** Three digits of a second, and UTC. */
const TIMESTAMP = '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$';

type Mutable = { [keyword: string]: unknown };

/** Collects the schemas that have a name (`.meta({ id })`). */
export class SchemaBook {
  readonly #named = new Map<string, Schema>();

  /** Every named schema so far, by name. */
  get named(): { readonly [name: string]: Schema } {
    return Object.fromEntries([...this.#named].sort(([left], [right]) => (left < right ? -1 : 1)));
  }

  /** What clients may send. */
  input(schema: z.ZodType): Schema {
    return this.#convert(schema, 'input');
  }

  /** What clients are sent. */
  output(schema: z.ZodType): Schema {
    return this.#convert(schema, 'output');
  }

  /** Gives a schema a name of its own. */
  define(name: string, schema: Schema): void {
    this.#named.set(name, schema);
  }

  #convert(schema: z.ZodType, io: 'input' | 'output'): Schema {
    const made: Mutable = { ...z.toJSONSchema(schema, { io, unrepresentable: 'any', override }) };
    const definitions = (made['$defs'] ?? {}) as { readonly [name: string]: Schema };
    delete made['$defs'];
    delete made['$schema'];
    for (const [name, definition] of Object.entries(definitions)) {
      this.#named.set(name, pointToComponents(definition) as Schema);
    }
    return pointToComponents(made) as Schema;
  }
}

function override({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  const schema = jsonSchema as Mutable;
  const told = schema[TOLD_INSTEAD];
  if (typeof told === 'object' && told !== null) {
    const { description } = schema;
    for (const keyword of Object.keys(schema)) delete schema[keyword];
    Object.assign(schema, description === undefined ? {} : { description }, told);
  }
  // `format` says it; the patterns that go with it run to hundreds of characters.
  if (schema['format'] === 'uuid') delete schema['pattern'];
  if (schema['format'] === 'date-time') schema['pattern'] = TIMESTAMP;
  // The range of whole numbers that a double holds exactly is no rule of ours.
  if (schema['minimum'] === Number.MIN_SAFE_INTEGER) delete schema['minimum'];
  if (schema['maximum'] === Number.MAX_SAFE_INTEGER) delete schema['maximum'];
}

/** References into the schema itself become references into the document. */
function pointToComponents(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(pointToComponents);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([keyword, inner]) => [
      keyword,
      keyword === '$ref' && typeof inner === 'string'
        ? inner.replace(/^#\/\$defs\//, '#/components/schemas/')
        : pointToComponents(inner),
    ]),
  );
}
